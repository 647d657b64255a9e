//! Texts about the quantities of HEIR's ciphertexts. Hints, hovers and lenses share them, so that
//! they agree.

use std::fmt::Write as _;

use noisy_analyses::Document;
use noisy_analyses::explain::{CostTally, EvaluationKeys, OpCount};
use noisy_analyses::program::depth::Depth;
use noisy_heir::{Ciphertext, CiphertextNumbers, SchemeOperation};
use noisy_settings::HintSettings;
use noisy_syntax::{Op, Value};

use crate::features::texts::{self, column_width, op_count_text};

/// The quantities of a ciphertext; `None` for other values.
pub(crate) fn numbers_of(document: &Document, value: Value) -> Option<CiphertextNumbers> {
    document.ciphertexts()?.1.of(value)
}

/// The known quantities that the settings select: `L3 D2 s45 in [-1, 1]`, `L1 D2 29.3 bits, 27.9
/// left`, or `depth 1 D3` before levels are placed. `None` if there are none.
pub(crate) fn hint_text(
    it: &CiphertextNumbers,
    depth: Depth,
    wanted: &HintSettings,
) -> Option<String> {
    let shown = CiphertextNumbers {
        remaining_levels: it.remaining_levels.filter(|_| wanted.levels),
        dimension: it.dimension.filter(|_| wanted.dimensions),
        scale: it.scale.filter(|_| wanted.scales),
        range: it.range.filter(|_| wanted.value_ranges),
        ..CiphertextNumbers::default()
    };
    let mut out = shown.to_string();
    // Levels that are not placed yet follow from the depth.
    if let Some(depth) =
        texts::depth_text(depth).filter(|_| it.is_without_level_uses && wanted.levels)
    {
        out = if out.is_empty() { depth } else { format!("{depth} {out}") };
    }
    if let Some(noise) = it.noise.filter(|_| wanted.noise) {
        let blank = if out.is_empty() { "" } else { " " };
        let _ = match it.budget {
            Some(budget) if noise.is_infinite() => {
                write!(out, "{blank}noise unbounded > {budget:.1} bits")
            }
            Some(budget) if it.is_over_budget() => {
                write!(out, "{blank}{noise:.1} > {budget:.1} bits")
            }
            Some(budget) => write!(out, "{blank}{noise:.1} bits, {:.1} left", budget - noise),
            None if noise.is_infinite() => write!(out, "{blank}noise unbounded"),
            None => write!(out, "{blank}{noise:.1} bits"),
        };
    }
    (!out.is_empty()).then_some(out)
}

/// All quantities of a ciphertext in a line or two; `None` for other values.
pub(crate) fn summary(document: &Document, value: Value) -> Option<String> {
    let (heir, all) = document.ciphertexts()?;
    if !matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. }) {
        return None;
    }
    let it = all.of(value).unwrap_or_default();
    let mut parts = vec![match (it.remaining_levels, it.used_levels) {
        (Some(level), Some(used)) => {
            let all = level.saturating_add(used);
            let most =
                heir.n_available_levels(document.ir(), document.model().heir, value).unwrap_or(all);
            format!("level {level}, {used} of {} used", op_count_text(most.into(), "level"))
        }
        _ if it.is_without_level_uses => match texts::depth_text(document.depth(value)) {
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
            Some(budget) if it.is_over_budget() => format!(
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
pub(crate) fn derivation_table(document: &Document, value: Value) -> Option<String> {
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
            rows.push([ir.value_text(it.value), quantity, it.effect.clone()]);
        } else {
            after = Some(rows.len());
        }
    }
    let (names, quantities) = (column_width(&rows, 0), column_width(&rows, 1));
    let mut out = "```text\n".to_owned();
    if found.is_cut {
        out.push_str("...\n");
    }
    for (at, [name, quantity, what]) in rows.iter().enumerate() {
        if after == Some(at) {
            let left_out = (n - rows.len()) as u64;
            let _ = writeln!(out, "... {} more ...", op_count_text(left_out, "step"));
        }
        let _ = writeln!(out, "{name:names$}  {quantity:quantities$}  {what}");
    }
    out.push_str("```\n\n");
    Some(out)
}

/// The effect of an op on levels and polynomials as a sentence; `None` if there is no effect.
pub(crate) fn effect_sentence(document: &Document, op: Op) -> Option<String> {
    let (heir, _) = document.ciphertexts()?;
    let effect = noisy_heir::describe_effect(document.ir(), heir, op)?;
    let mut chars = effect.chars();
    let first = chars.next()?;
    Some(format!("{}{}.", first.to_uppercase(), chars.as_str()))
}

/// The cost of a function or a `secret.generic` in one line: `depth 2, 2 of 3 levels used, 3
/// relinearizations, 1 rotation, about 600 ms; keys: relinearization, rotation by 1`.
pub(crate) fn cost_text(document: &Document, tally: &CostTally) -> Option<String> {
    let ((heir, all), value) = document.ciphertexts().zip(tally.ciphertext())?;
    let is_unplaced = all.of(value).is_some_and(|it| it.is_without_level_uses);
    let options = document.model().heir;
    let mut parts = Vec::new();
    parts.extend(match tally.depth() {
        Depth::AtMost(n) => Some(format!("depth {n}")),
        Depth::Unbounded => Some("depth without a bound".to_owned()),
        Depth::Unknown => Some("depth unknown".to_owned()),
        Depth::Bottom | Depth::Public => None,
    });
    let available = heir.n_available_levels(document.ir(), options, value);
    parts.push(match (tally.levels(), available) {
        _ if is_unplaced => needed_levels_text(tally.depth(), available),
        (Some(used), Some(most)) => {
            format!("{used} of {} used", op_count_text(most.into(), "level"))
        }
        (Some(used), None) => format!("{} used", op_count_text(used.into(), "level")),
        (None, _) => "levels unknown".to_owned(),
    });
    for (work, noun) in [
        (SchemeOperation::Bootstrap, "bootstrap"),
        (SchemeOperation::Relinearize, "relinearization"),
        (SchemeOperation::Rotate, "rotation"),
    ] {
        parts.extend(count_text(tally.count(work), noun));
    }
    let cost = tally.cost(&options.latency);
    if cost.microseconds > 0 {
        let about = if cost.is_complete { "about" } else { "at least" };
        parts.push(format!("{about} {}", duration_text(cost.microseconds)));
    }
    let keys = keys_text(tally.keys()).map_or_else(String::new, |it| format!("; {it}"));
    Some(format!("{}{keys}", parts.join(", ")))
}

/// Text about the levels that a program needs, before they are placed: one for each product on a
/// path.
fn needed_levels_text(depth: Depth, available: Option<u32>) -> String {
    let available = available.map_or(String::new(), |it| format!(" of {it}"));
    match depth {
        Depth::AtMost(n) => {
            format!("needs up to {}{available}, not placed yet", op_count_text(n.into(), "level"))
        }
        _ => "levels not placed yet".to_owned(),
    }
}

/// Text for a number of ops: `3 rotations`, `12 rotations (3 written)`, `3 rotations in loops`;
/// `None` for no ops.
fn count_text(it: OpCount, noun: &str) -> Option<String> {
    Some(match it.n_executed {
        _ if it.n_written == 0 => return None,
        None => {
            format!("{} in loops with an unknown trip count", op_count_text(it.n_written, noun))
        }
        Some(n) if n == it.n_written => op_count_text(n, noun),
        Some(n) => format!("{} ({} written)", op_count_text(n, noun), it.n_written),
    })
}

/// Maximum number of listed rotation distances.
const MAX_KEYS: usize = 8;

/// The keys that the program needs, if any.
fn keys_text(it: &EvaluationKeys) -> Option<String> {
    let mut all = Vec::new();
    if it.needs_relinearization {
        all.push("relinearization".to_owned());
    }
    if !it.rotation_steps.is_empty() {
        let steps: Vec<String> =
            it.rotation_steps.iter().take(MAX_KEYS).map(ToString::to_string).collect();
        let more = match it.rotation_steps.len() - steps.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        all.push(format!("rotation by {}{more}", steps.join(", ")));
    }
    if it.needs_row_swap {
        all.push("swap of rows".to_owned());
    }
    if it.needs_others {
        all.push("unknown rotations".to_owned());
    }
    (!all.is_empty()).then(|| format!("keys: {}", all.join("; ")))
}

/// Text for a duration: `850 µs`, `12 ms`, `1.2 s`, `35 min`.
fn duration_text(microseconds: u64) -> String {
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
    fn allocated_bytes(document: &Document) -> u64 {
        let value = first(document);
        let ask = || {
            std::hint::black_box(numbers_of(document, value));
        };
        allocation_counter::measure(ask).bytes_total
    }

    #[test]
    fn queries_allocate_nothing_after_the_facts_are_solved() {
        let other = Document::new("func.func @f(%x: !noisy.i32) {\n  return\n}\n");
        assert_eq!((allocated_bytes(&other), other.ciphertexts().is_some()), (0, false));
        let mut document = Document::new(OF_HEIR);
        // The facts are solved at the first query, or before.
        let level = |it: &Document| numbers_of(it, first(it)).and_then(|it| it.remaining_levels);
        let before = level(&document);
        assert_eq!(allocated_bytes(&document), 0);
        let at = OF_HEIR.find("modreduce").expect("an op");
        document.edit(at..at + "modreduce".len(), "relinearize");
        assert_ne!(level(&document), before, "the edit counts");
        assert_eq!(allocated_bytes(&document), 0);
        // The last op that changes the level is removed.
        let text = document.source().text().to_string();
        document.edit(0..text.len(), "func.func @f(%x: f32) {\n  return\n}\n");
        assert_eq!((allocated_bytes(&document), document.ciphertexts().is_some()), (0, false));
    }

    #[test]
    fn hints_show_known_quantities_only() {
        let all = HintSettings::default();
        let of = |it: CiphertextNumbers| hint_text(&it, Depth::AtMost(2), &all);
        assert_eq!(of(CiphertextNumbers::default()), None);
        let it = CiphertextNumbers {
            remaining_levels: Some(3),
            dimension: Some(2),
            scale: Some(45),
            ..CiphertextNumbers::default()
        };
        assert_eq!(of(it).as_deref(), Some("L3 D2 s45"));
        assert_eq!(
            of(CiphertextNumbers { remaining_levels: None, ..it }).as_deref(),
            Some("D2 s45")
        );
        let ranged = CiphertextNumbers { range: RealRange::new(-1.0, 0.5), ..it };
        assert_eq!(of(ranged).as_deref(), Some("L3 D2 s45 in [-1, 0.5]"));
        let without = HintSettings { value_ranges: false, ..all.clone() };
        assert_eq!(hint_text(&ranged, Depth::Unknown, &without).as_deref(), Some("L3 D2 s45"));
        let noise = |noise, budget| CiphertextNumbers {
            noise: Some(noise),
            budget,
            ..CiphertextNumbers::default()
        };
        assert_eq!(of(noise(29.27, Some(57.2))).as_deref(), Some("29.3 bits, 27.9 left"));
        assert_eq!(of(noise(61.0, Some(57.2))).as_deref(), Some("61.0 > 57.2 bits"));
        assert_eq!(of(noise(29.27, None)).as_deref(), Some("29.3 bits"));
        let unbounded = noise(f64::INFINITY, Some(57.2));
        assert_eq!(of(unbounded).as_deref(), Some("noise unbounded > 57.2 bits"));
        assert!(unbounded.is_over_budget());
        let quiet = HintSettings { noise: false, ..all };
        assert_eq!(hint_text(&noise(29.27, Some(57.2)), Depth::Unknown, &quiet), None);
        let unplaced = CiphertextNumbers {
            dimension: Some(3),
            is_without_level_uses: true,
            ..CiphertextNumbers::default()
        };
        assert_eq!(of(unplaced).as_deref(), Some("depth 2 D3"));
    }

    #[test]
    fn counts_show_executions() {
        let count = |written, executed| {
            count_text(OpCount { n_written: written, n_executed: executed }, "rotation")
        };
        assert_eq!(count(0, Some(0)), None);
        assert_eq!(count(1, Some(1)).as_deref(), Some("1 rotation"));
        assert_eq!(count(3, Some(12)).as_deref(), Some("12 rotations (3 written)"));
        let unknown = "3 rotations in loops with an unknown trip count";
        assert_eq!(count(3, None).as_deref(), Some(unknown));
        assert_eq!(keys_text(&EvaluationKeys::default()), None);
        let many = EvaluationKeys {
            rotation_steps: (1..=10).collect(),
            needs_row_swap: true,
            needs_others: true,
            ..EvaluationKeys::default()
        };
        let wanted =
            "keys: rotation by 1, 2, 3, 4, 5, 6, 7, 8 and 2 more; swap of rows; unknown rotations";
        assert_eq!(keys_text(&many).as_deref(), Some(wanted));
        let all = [7, 12_345, 1_250_000, 3_600_000_000].map(duration_text);
        assert_eq!(all, ["7 µs", "12 ms", "1.2 s", "60 min"]);
    }
}
