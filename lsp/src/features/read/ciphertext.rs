//! Texts about the quantities of HEIR's ciphertexts. Hints, hovers and lenses share them, so that
//! they agree.

use std::fmt::Write as _;

use noisy_analyses::Document;
use noisy_analyses::explain::{Count, Keys, Tally};
use noisy_analyses::program::depth::Depth;
use noisy_heir::{Ciphertext, Operation, Quantity};
use noisy_settings::Hints;
use noisy_syntax::{Op, Value};

use crate::features::words::{self, count, width};

/// The quantities of a ciphertext; `None` for other values.
pub(crate) fn known(document: &Document, value: Value) -> Option<Quantity> {
    document.ciphertexts()?.1.of(value)
}

/// The known quantities that the settings select: `L3 D2 s45 in [-1, 1]`, `L1 D2 29.3 bits, 27.9
/// left`, or `depth 1 D3` before levels are placed. `None` if there are none.
pub(crate) fn hint(it: &Quantity, depth: Depth, wanted: &Hints) -> Option<String> {
    let shown = Quantity {
        level: it.level.filter(|_| wanted.levels),
        dimension: it.dimension.filter(|_| wanted.dimensions),
        scale: it.scale.filter(|_| wanted.scales),
        range: it.range.filter(|_| wanted.value_ranges),
        ..Quantity::default()
    };
    let mut out = shown.to_string();
    // Levels that are not placed yet follow from the depth.
    if let Some(depth) = words::depth(depth).filter(|_| it.is_unplaced && wanted.levels) {
        out = if out.is_empty() { depth } else { format!("{depth} {out}") };
    }
    if let Some(noise) = it.noise.filter(|_| wanted.noise) {
        let blank = if out.is_empty() { "" } else { " " };
        let _ = match it.budget {
            Some(budget) if noise.is_infinite() => {
                write!(out, "{blank}noise unbounded > {budget:.1} bits")
            }
            Some(budget) if it.is_over() => write!(out, "{blank}{noise:.1} > {budget:.1} bits"),
            Some(budget) => write!(out, "{blank}{noise:.1} bits, {:.1} left", budget - noise),
            None if noise.is_infinite() => write!(out, "{blank}noise unbounded"),
            None => write!(out, "{blank}{noise:.1} bits"),
        };
    }
    (!out.is_empty()).then_some(out)
}

/// All quantities of a ciphertext in a line or two; `None` for other values.
pub(crate) fn verdict(document: &Document, value: Value) -> Option<String> {
    let (heir, all) = document.ciphertexts()?;
    if !matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. }) {
        return None;
    }
    let it = all.of(value).unwrap_or_default();
    let mut parts = vec![match (it.level, it.used) {
        (Some(level), Some(used)) => {
            let all = level.saturating_add(used);
            let most = heir.available(document.ir(), document.model().heir, value).unwrap_or(all);
            format!("level {level}, {used} of {} used", count(most.into(), "level"))
        }
        _ if it.is_unplaced => match words::depth(document.depth(value)) {
            Some(depth) => format!("multiplicative {depth} so far, levels not placed yet"),
            None => "levels not placed yet".to_owned(),
        },
        _ => "level unknown".to_owned(),
    }];
    parts.push(match it.dimension {
        Some(n) => format!("{n} polynomials"),
        None => "polynomials unknown".to_owned(),
    });
    parts.extend(it.scale.map(|it| format!("scale 2^{it}")));
    parts.extend(it.range.map(|it| format!("numbers in {it}")));
    let mut out = parts.join(", ");
    if let Some(noise) = it.noise {
        let model = all.model().unwrap_or_default();
        let told = match it.budget {
            _ if noise.is_infinite() => "noise grows without a bound".to_owned(),
            Some(budget) if it.is_over() => format!(
                "noise {noise:.2} bits, **{:.2} over the {budget:.2} bits of its level**",
                noise - budget
            ),
            Some(budget) => format!(
                "noise {noise:.2} bits, {:.2} left of the {budget:.2} bits of its level",
                budget - noise
            ),
            None => format!("noise {noise:.2} bits"),
        };
        let _ = write!(out, "  \n{told} ({model})");
    }
    Some(out)
}

/// Maximum number of shown steps. Longer derivations are shown without their middle.
const MAX_STEPS: usize = 12;

/// The derivation of a ciphertext as a table; `None` for other values.
pub(crate) fn chain(document: &Document, value: Value) -> Option<String> {
    let ir = document.ir();
    let (heir, known) = document.ciphertexts()?;
    let found = noisy_heir::derivation(ir, heir, known, value);
    if found.steps.len() < 2 {
        return None;
    }
    let (mut rows, mut after) = (Vec::new(), None);
    let n = found.steps.len();
    for (at, it) in found.steps.iter().enumerate() {
        let is_shown = n <= MAX_STEPS || at < MAX_STEPS / 2 || n - at <= MAX_STEPS / 2;
        if is_shown {
            let mut quantity = it.quantity.to_string();
            if let Some(noise) = it.quantity.noise.filter(|it| it.is_finite()) {
                let blank = if quantity.is_empty() { "" } else { " " };
                let _ = write!(quantity, "{blank}{noise:.2} bits");
            }
            rows.push([ir.value_text(it.value), quantity, it.what.clone()]);
        } else {
            after = Some(rows.len());
        }
    }
    let (names, quantities) = (width(&rows, 0), width(&rows, 1));
    let mut out = "```text\n".to_owned();
    if found.is_cut {
        out.push_str("...\n");
    }
    for (at, [name, quantity, what]) in rows.iter().enumerate() {
        if after == Some(at) {
            let left_out = (n - rows.len()) as u64;
            let _ = writeln!(out, "... {} more ...", count(left_out, "step"));
        }
        let _ = writeln!(out, "{name:names$}  {quantity:quantities$}  {what}");
    }
    out.push_str("```\n\n");
    Some(out)
}

/// The effect of an op on levels and polynomials as a sentence; `None` if there is no effect.
pub(crate) fn effect(document: &Document, op: Op) -> Option<String> {
    let (heir, _) = document.ciphertexts()?;
    let effect = noisy_heir::effect(document.ir(), heir, op)?;
    let mut chars = effect.chars();
    let first = chars.next()?;
    Some(format!("{}{}.", first.to_uppercase(), chars.as_str()))
}

/// The cost of a function or a `secret.generic` in one line: `depth 2, 2 of 3 levels used, 3
/// relinearizations, 1 rotation, about 600 ms; keys: relinearization, rotation by 1`.
pub(crate) fn cost(document: &Document, tally: &Tally) -> Option<String> {
    let ((heir, all), value) = document.ciphertexts().zip(tally.ciphertext())?;
    let is_unplaced = all.of(value).is_some_and(|it| it.is_unplaced);
    let options = document.model().heir;
    let mut parts = Vec::new();
    parts.extend(match tally.depth() {
        Depth::AtMost(n) => Some(format!("depth {n}")),
        Depth::Unbounded => Some("depth without a bound".to_owned()),
        Depth::Unknown => Some("depth unknown".to_owned()),
        Depth::Bottom | Depth::Public => None,
    });
    let available = heir.available(document.ir(), options, value);
    parts.push(match (tally.levels(), available) {
        _ if is_unplaced => unplaced(tally.depth(), available),
        (Some(used), Some(most)) => format!("{used} of {} used", count(most.into(), "level")),
        (Some(used), None) => format!("{} used", count(used.into(), "level")),
        (None, _) => "levels unknown".to_owned(),
    });
    for (work, noun) in [
        (Operation::Bootstrap, "bootstrap"),
        (Operation::Relinearize, "relinearization"),
        (Operation::Rotate, "rotation"),
    ] {
        parts.extend(times(tally.count(work), noun));
    }
    let cost = tally.cost(&options.latency);
    if cost.microseconds > 0 {
        let about = if cost.is_whole { "about" } else { "at least" };
        parts.push(format!("{about} {}", duration(cost.microseconds)));
    }
    let keys = keys(tally.keys()).map_or_else(String::new, |it| format!("; {it}"));
    Some(format!("{}{keys}", parts.join(", ")))
}

/// Text about the levels that a program needs, before they are placed: one for each product on a
/// path.
fn unplaced(depth: Depth, available: Option<u32>) -> String {
    let available = available.map_or(String::new(), |it| format!(" of {it}"));
    match depth {
        Depth::AtMost(n) => {
            format!("needs up to {}{available}, not placed yet", count(n.into(), "level"))
        }
        _ => "levels not placed yet".to_owned(),
    }
}

/// Text for a number of ops: `3 rotations`, `12 rotations (3 written)`, `3 rotations in loops`;
/// `None` for no ops.
fn times(it: Count, noun: &str) -> Option<String> {
    Some(match it.executed {
        _ if it.written == 0 => return None,
        None => format!("{} in loops with an unknown trip count", count(it.written, noun)),
        Some(n) if n == it.written => count(n, noun),
        Some(n) => format!("{} ({} written)", count(n, noun), it.written),
    })
}

/// Maximum number of listed rotation distances.
const MAX_KEYS: usize = 8;

/// The keys that the program needs, if any.
fn keys(it: &Keys) -> Option<String> {
    let mut all = Vec::new();
    if it.relinearization {
        all.push("relinearization".to_owned());
    }
    if !it.steps.is_empty() {
        let steps: Vec<String> = it.steps.iter().take(MAX_KEYS).map(ToString::to_string).collect();
        let more = match it.steps.len() - steps.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        all.push(format!("rotation by {}{more}", steps.join(", ")));
    }
    if it.rows {
        all.push("swap of rows".to_owned());
    }
    if it.others {
        all.push("unknown rotations".to_owned());
    }
    (!all.is_empty()).then(|| format!("keys: {}", all.join("; ")))
}

/// Text for a duration: `850 µs`, `12 ms`, `1.2 s`, `35 min`.
fn duration(microseconds: u64) -> String {
    match microseconds {
        0..1_000 => format!("{microseconds} µs"),
        1_000..1_000_000 => format!("{} ms", microseconds / 1_000),
        1_000_000..600_000_000 => format!("{:.1} s", microseconds as f64 / 1e6),
        _ => format!("{} min", microseconds / 60_000_000),
    }
}

#[cfg(test)]
mod tests {
    use noisy_heir::RealRange;

    use super::*;

    const OF_HEIR: &str = "module attributes {scheme.ckks} {
  func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
    %0 = secret.generic(%x: !secret.secret<f32>) {
    ^body(%a: f32):
      %1 = mgmt.modreduce %a : f32
      secret.yield %1 : f32
    } -> !secret.secret<f32>
    return %0 : !secret.secret<f32>
  }
}
";

    fn first(document: &Document) -> Value {
        let ir = document.ir();
        let function = ir.functions()[0];
        crate::features::find::cursor::arguments_in(ir, function).next().expect("an argument")
    }

    /// Bytes allocated by a query for the quantities of the first value.
    fn price(document: &Document) -> u64 {
        let value = first(document);
        let ask = || {
            std::hint::black_box(known(document, value));
        };
        allocation_counter::measure(ask).bytes_total
    }

    #[test]
    fn programs_of_others_pay_nothing_and_those_of_heir_once_for_each_edit() {
        let other = Document::new("func.func @f(%x: !noisy.i32) {\n  return\n}\n");
        assert_eq!((price(&other), other.ciphertexts().is_some()), (0, false));
        let mut document = Document::new(OF_HEIR);
        // The facts are solved at the first query, or before.
        let level = |it: &Document| known(it, first(it)).and_then(|it| it.level);
        let before = level(&document);
        assert_eq!(price(&document), 0);
        let at = OF_HEIR.find("modreduce").expect("an op");
        document.edit(at..at + "modreduce".len(), "relinearize");
        assert_ne!(level(&document), before, "the edit counts");
        assert_eq!(price(&document), 0);
        // The last op that changes the level is removed.
        let text = document.source().text().to_string();
        document.edit(0..text.len(), "func.func @f(%x: f32) {\n  return\n}\n");
        assert_eq!((price(&document), document.ciphertexts().is_some()), (0, false));
    }

    #[test]
    fn what_is_known_is_said_and_nothing_else() {
        let all = Hints::default();
        let of = |it: Quantity| hint(&it, Depth::AtMost(2), &all);
        assert_eq!(of(Quantity::default()), None);
        let it =
            Quantity { level: Some(3), dimension: Some(2), scale: Some(45), ..Quantity::default() };
        assert_eq!(of(it).as_deref(), Some("L3 D2 s45"));
        assert_eq!(of(Quantity { level: None, ..it }).as_deref(), Some("D2 s45"));
        let ranged = Quantity { range: RealRange::new(-1.0, 0.5), ..it };
        assert_eq!(of(ranged).as_deref(), Some("L3 D2 s45 in [-1, 0.5]"));
        let without = Hints { value_ranges: false, ..all.clone() };
        assert_eq!(hint(&ranged, Depth::Unknown, &without).as_deref(), Some("L3 D2 s45"));
        let noise = |noise, budget| Quantity { noise: Some(noise), budget, ..Quantity::default() };
        assert_eq!(of(noise(29.27, Some(57.2))).as_deref(), Some("29.3 bits, 27.9 left"));
        assert_eq!(of(noise(61.0, Some(57.2))).as_deref(), Some("61.0 > 57.2 bits"));
        assert_eq!(of(noise(29.27, None)).as_deref(), Some("29.3 bits"));
        let unbounded = noise(f64::INFINITY, Some(57.2));
        assert_eq!(of(unbounded).as_deref(), Some("noise unbounded > 57.2 bits"));
        assert!(unbounded.is_over());
        let quiet = Hints { noise: false, ..all };
        assert_eq!(hint(&noise(29.27, Some(57.2)), Depth::Unknown, &quiet), None);
        let unplaced = Quantity { dimension: Some(3), is_unplaced: true, ..Quantity::default() };
        assert_eq!(of(unplaced).as_deref(), Some("depth 2 D3"));
    }

    #[test]
    fn counts_say_what_is_executed() {
        let count = |written, executed| times(Count { written, executed }, "rotation");
        assert_eq!(count(0, Some(0)), None);
        assert_eq!(count(1, Some(1)).as_deref(), Some("1 rotation"));
        assert_eq!(count(3, Some(12)).as_deref(), Some("12 rotations (3 written)"));
        let unknown = "3 rotations in loops with an unknown trip count";
        assert_eq!(count(3, None).as_deref(), Some(unknown));
        assert_eq!(keys(&Keys::default()), None);
        let many = Keys { steps: (1..=10).collect(), rows: true, others: true, ..Keys::default() };
        let wanted =
            "keys: rotation by 1, 2, 3, 4, 5, 6, 7, 8 and 2 more; swap of rows; unknown rotations";
        assert_eq!(keys(&many).as_deref(), Some(wanted));
        let all = [7, 12_345, 1_250_000, 3_600_000_000].map(duration);
        assert_eq!(all, ["7 µs", "12 ms", "1.2 s", "60 min"]);
    }
}
