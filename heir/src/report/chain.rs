//! The chain of ops that determined the level, the polynomials or the range of a value.

use noisy_syntax::{Def, Ir, Value};
use rustc_hash::FxHashSet;

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::{Ciphertext, Dimension, Level};
use crate::facts::value_range::ValueRangeFacts;
use crate::ops::rules;
use crate::real_range::RealRange;
use crate::report::origins::source_values;
use noisy_dataflow::flow;

/// The largest number of steps of a chain in a report.
const MAX_STEPS: usize = 8;

/// The number that a chain explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// Levels.
    Level,
    /// Polynomials.
    Dimension,
}

/// Returns the ops that changed the level or the polynomials of a value, with the number after
/// each. Only the nearest few are returned; the op of the value is the last.
pub fn number_chain(
    ir: &Ir,
    heir: &CiphertextFacts,
    value: Value,
    of: NumberKind,
) -> Vec<(Value, String)> {
    let rank = |value: Value| match (heir.ciphertext(value), of) {
        (Ciphertext::Encrypted { level, .. }, NumberKind::Level) => Some(match level {
            Level::Used(n) => u64::from(n),
            Level::All => u64::MAX - 1,
            Level::Invalid => u64::MAX,
        }),
        (Ciphertext::Encrypted { dimension, .. }, NumberKind::Dimension) => Some(match dimension {
            Dimension::Assumed => 2,
            Dimension::Known(n) => u64::from(n),
            Dimension::Unknown => u64::MAX,
        }),
        _ => None,
    };
    let mut out = Vec::new();
    let mut seen = FxHashSet::default();
    let mut at = Some(value);
    while let Some(value) = at.filter(|it| out.len() < MAX_STEPS && seen.insert(*it)) {
        let mut from: Vec<Value> =
            flow::feeding_values(ir, value).into_iter().map(|it| it.1).collect();
        if let Def::Result(op, _) = ir.value(value).def
            && ir.op(op).regions.is_empty()
        {
            let name = ir.op_name(op);
            let moves = match of {
                NumberKind::Level => rules::has_level_rule(name),
                NumberKind::Dimension => rules::dimension_rule(name).is_some(),
            };
            if moves {
                let what = match (heir.ciphertext(value), of) {
                    (it @ Ciphertext::Encrypted { .. }, NumberKind::Level) => match it.level() {
                        Some(Level::Used(1)) => "1 level is used".to_owned(),
                        Some(Level::Used(n)) => format!("{n} levels are used"),
                        Some(Level::All) => "all levels are used".to_owned(),
                        _ => "no level is left".to_owned(),
                    },
                    (Ciphertext::Encrypted { dimension: Dimension::Known(n), .. }, _) => {
                        format!("{n} polynomials")
                    }
                    _ => "unknown".to_owned(),
                };
                out.push((value, format!("{}: {name}, {what}", ir.value_text(value))));
            }
            from.extend(ir.op(op).operands.iter().filter_map(|it| it.value));
        }
        // Follows the first of the largest operands.
        at = from.into_iter().filter(|it| rank(*it).is_some() && !seen.contains(it)).fold(
            None,
            |best: Option<Value>, it| match best {
                Some(best) if rank(best) >= rank(it) => Some(best),
                _ => Some(it),
            },
        );
    }
    out.reverse();
    out
}

/// Returns the ops that changed the range of a value, with the range after each. Only the nearest
/// few are returned; the op of the value is the last. Of several operands, the one with the largest
/// magnitude is followed.
pub fn range_chain(ir: &Ir, ranges: ValueRangeFacts<'_>, value: Value) -> Vec<(Value, String)> {
    let magnitude = |it: Value| ranges.of(it).map(RealRange::magnitude);
    let mut out = Vec::new();
    let mut seen = FxHashSet::default();
    let mut at = Some(value);
    while let Some(value) = at.filter(|it| out.len() < MAX_STEPS && seen.insert(*it)) {
        let from = source_values(ir, value).into_iter().filter(|it| !seen.contains(it));
        let from = from.filter_map(|it| Some((it, magnitude(it)?)));
        let from = from.reduce(|best, it| if it.1 > best.1 { it } else { best }).map(|it| it.0);
        let (range, before) = (ranges.of(value), from.and_then(|it| ranges.of(it)));
        if let Some(range) = range.filter(|_| range != before) {
            let what = match ir.value(value).def {
                Def::Result(op, _) => ir.op_name(op),
                Def::Argument(..) => "argument",
            };
            out.push((value, format!("{}: {what}, in {range}", ir.value_text(value))));
        }
        at = from;
    }
    out.reverse();
    out
}
