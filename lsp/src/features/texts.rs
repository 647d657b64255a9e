//! Texts about noise. Hints, hovers and lenses share them, so that they agree.

use noisy_analyses::explain::{SaturationCache, saturates};
use noisy_analyses::program::depth::Depth;
use noisy_analyses::{Bits, Document, Noise};
use noisy_syntax::{MAX_PADDING, Value};

/// Short text for the noise of a value: `[0, 24]`, `unbounded`, `over 2^32 bits`, `noise unknown`;
/// `None` in unreachable code.
pub(crate) fn noise_text(
    document: &Document,
    value: Value,
    known: &mut SaturationCache,
) -> Option<String> {
    Some(match *document.noise(value) {
        Noise::AtMost(Bits::MAX) => largest_noise_text(document, value, known).to_owned(),
        noise @ Noise::AtMost(_) => noise.to_string(),
        Noise::Unknown => "noise unknown".to_owned(),
        Noise::Bottom => return None,
    })
}

/// Text for the largest number of bits, which means noise without a bound, or a bound too large to
/// represent.
fn largest_noise_text(
    document: &Document,
    value: Value,
    known: &mut SaturationCache,
) -> &'static str {
    if saturates(document, value, known) { "over 2^32 bits" } else { "unbounded" }
}

/// Text about the maximum noise of a value and the budget: `noise may reach 48 bits, **22 over the
/// 26-bit budget**`.
pub(crate) fn noise_summary(document: &Document, value: Value) -> Option<String> {
    let budget = document.model().budget;
    Some(match *document.noise(value) {
        Noise::AtMost(Bits::MAX) if saturates(document, value, &mut SaturationCache::default()) => {
            format!("noise may reach more than 2^32 bits, **over the {budget}-bit budget**")
        }
        Noise::AtMost(Bits::MAX) => {
            format!(
                "noise grows with each iteration, without a bound: **over the {budget}-bit budget**"
            )
        }
        Noise::AtMost(hi) if hi > budget => {
            format!("noise may reach {hi} bits, **{} over the {budget}-bit budget**", hi - budget)
        }
        Noise::AtMost(hi) => {
            format!("noise 0 to {hi} bits, {} left of the {budget}-bit budget", budget - hi)
        }
        Noise::Unknown => "noise unknown".to_owned(),
        Noise::Bottom => return None,
    })
}

/// Text about noise and the budget, for the lens of a function: `max noise 48 of 26 bits`.
pub(crate) fn max_noise_text(
    document: &Document,
    value: Value,
    known: &mut SaturationCache,
) -> String {
    let budget = document.model().budget;
    match document.noise(value).hi() {
        Some(Bits::MAX) => {
            let noise = largest_noise_text(document, value, known);
            format!("max noise {noise} (budget {budget})")
        }
        hi => format!("max noise {} of {budget} bits", hi.unwrap_or_default()),
    }
}

/// Short text for the multiplicative depth: `depth 2`, `depth without a bound`; `None` for
/// unencrypted or unknown values.
pub(crate) fn depth_text(depth: Depth) -> Option<String> {
    match depth {
        Depth::AtMost(n) => Some(format!("depth {n}")),
        Depth::Unbounded => Some("depth without a bound".to_owned()),
        Depth::Bottom | Depth::Public | Depth::Unknown => None,
    }
}

/// A count with its noun: `1 iteration`, `8 iterations`.
pub(crate) fn op_count_text(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Width of a column of a table, at most the maximum that `format!` can pad to.
pub(crate) fn column_width<const N: usize>(rows: &[[String; N]], column: usize) -> usize {
    let widest = rows.iter().map(|it| it[column].chars().count()).max().unwrap_or(0);
    widest.min(MAX_PADDING)
}

/// Joins the lines of each paragraph of a documentation.
pub(crate) fn join_lines(doc: &str) -> String {
    let paragraph = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
    doc.trim().split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::column_width;

    #[test]
    fn a_name_may_be_longer_than_the_padding() {
        let rows = [["%a".to_owned()], ["%".repeat(100_000)]];
        let names = column_width(&rows, 0);
        assert_eq!(format!("{:names$}", rows[0][0]).len(), usize::from(u16::MAX));
        assert_eq!(column_width(&rows[..1], 0), 2);
    }
}
