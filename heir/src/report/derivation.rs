//! The derivation of a ciphertext: the ops that changed its level, its polynomials, its scale or
//! its noise, and their effects.
//!
//! *Law.* Each step is a value that feeds the next step: the one with the most used levels, then
//! the most polynomials, noise and scale. *Cost.* One backward walk along one path.

use noisy_syntax::{Def, Ir, Op, Value};
use rustc_hash::FxHashSet;

use crate::facts::ciphertext::LevelChange;
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::Ciphertext;
use crate::ops::rules::{self, DimensionRule};
use crate::report::quantities::{CiphertextNumbers, ProgramNumbers};
use noisy_dataflow::flow;

/// The largest number of values on the path; a longer path is cut off.
const MAX_VALUES: usize = 100_000;

/// A value on the path.
#[derive(Clone, Debug, PartialEq)]
pub struct CiphertextStep {
    /// The value.
    pub value: Value,
    /// The numbers of the value.
    pub quantity: CiphertextNumbers,
    /// The effect of the op that defines the value, in words.
    pub effect: String,
}

/// The steps to a value; the value itself is the last step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CiphertextDerivation {
    /// The first value, each value at which a number changed, and the value itself.
    pub steps: Vec<CiphertextStep>,
    /// True if the beginning of the path is missing.
    pub is_cut: bool,
}

/// Derives the numbers of a ciphertext step by step; returns no steps for other values.
pub fn derivation(
    ir: &Ir,
    heir: &CiphertextFacts,
    known: ProgramNumbers<'_>,
    value: Value,
) -> CiphertextDerivation {
    let of = |it: Value| known.of(it).unwrap_or_default();
    let mut out = CiphertextDerivation::default();
    if !is_encrypted(heir, value) {
        return out;
    }
    let mut seen = FxHashSet::default();
    let mut at = value;
    loop {
        seen.insert(at);
        let before = ciphertext_sources(ir, heir, at).into_iter().filter(|it| !seen.contains(it));
        let before = before.reduce(|a, b| if rank(&of(b)) > rank(&of(a)) { b } else { a });
        let has_changed = before.is_none_or(|it| of(it) != of(at));
        if at == value || has_changed {
            let what = describe_step(ir, heir, at, before);
            out.steps.push(CiphertextStep { value: at, quantity: of(at), effect: what });
        }
        match before {
            Some(before) if seen.len() < MAX_VALUES => at = before,
            Some(_) => {
                out.is_cut = true;
                break;
            }
            None => break,
        }
    }
    out.steps.reverse();
    out
}

fn is_encrypted(heir: &CiphertextFacts, value: Value) -> bool {
    matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. })
}

/// Returns a key: the operand with the largest key has the most influence on the result.
fn rank(it: &CiphertextNumbers) -> (Option<u32>, Option<u32>, u64, Option<i64>) {
    // Noise is negative only for a fresh ciphertext without any. Non-negative floats have the order
    // of their bits.
    let noise = it.noise.map_or(0, |it| it.max(0.0).to_bits());
    (it.used_levels, it.dimension, noise, it.scale)
}

/// Returns the ciphertexts that a value is computed from or fed by, in textual order.
fn ciphertext_sources(ir: &Ir, heir: &CiphertextFacts, value: Value) -> Vec<Value> {
    let mut out: Vec<Value> = flow::feeding_values(ir, value).into_iter().map(|it| it.1).collect();
    if let Def::Result(op, _) = ir.value(value).def
        && ir.op(op).regions.is_empty()
        && !rules::is_encryption(ir.op_name(op))
    {
        out.extend(ir.op(op).operands.iter().filter_map(|it| it.value));
    }
    out.retain(|&it| is_encrypted(heir, it));
    out
}

/// Describes how a value was computed from the preceding one.
fn describe_step(ir: &Ir, heir: &CiphertextFacts, value: Value, before: Option<Value>) -> String {
    let (op, is_result) = match ir.value(value).def {
        Def::Result(op, _) => (Some(op), true),
        Def::Argument(block, _) => (ir.region(ir.block(block).region).parent, false),
    };
    let Some(op) = op else { return "argument".to_owned() };
    let name = ir.op_name(op);
    match before {
        None if !is_result => {
            let symbol = ir.extra(op).symbol.map(|it| format!("@{}", ir.interner.str(it.0)));
            let holder = symbol.unwrap_or_else(|| name.to_owned());
            // The level may also follow from a result of another function.
            match heir.level(ir, value) {
                Some(0) => format!("argument of {holder}, assumed fresh"),
                _ => format!("argument of {holder}"),
            }
        }
        None if rules::is_encryption(name) => format!("{name}: fresh"),
        Some(_) if !is_result => format!("passed to {name}"),
        _ if !ir.op(op).regions.is_empty() => format!("result of {name}"),
        _ => match describe_effect(ir, heir, op) {
            Some(effect) => format!("{name}: {effect}"),
            None => name.to_owned(),
        },
    }
}

/// Describes the effect of an op on the level and the polynomials of its operands; `None` if it
/// passes them on.
pub fn describe_effect(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<String> {
    let name = ir.op_name(op);
    let is_secret = |it: &Value| is_encrypted(heir, *it);
    let secret: Vec<Value> =
        ir.op(op).operands.iter().filter_map(|it| it.value).filter(is_secret).collect();
    if rules::is_encryption(name) {
        return Some("a fresh ciphertext".to_owned());
    }
    let moved = heir.level_change(ir, op);
    let level = match moved {
        Some(LevelChange::Uses(0)) => None,
        Some(LevelChange::Uses(1)) => Some("uses 1 level".to_owned()),
        Some(LevelChange::Uses(n)) => Some(format!("uses {n} levels")),
        Some(LevelChange::UsesAll) => Some("uses all remaining levels".to_owned()),
        Some(LevelChange::Bootstrapped) => {
            let n = heir.setting().bootstrap_level;
            Some(format!("refreshes: {n} levels are used after it"))
        }
        None => Some("uses an unknown number of levels".to_owned()),
    };
    let dimension = match rules::dimension_rule(name) {
        Some(DimensionRule::Relinearize) => Some("2 polynomials after it".to_owned()),
        Some(DimensionRule::Product) if secret.len() > 1 => {
            let dimension = |it: &Value| match heir.ciphertext(*it) {
                Ciphertext::Encrypted {
                    dimension: crate::facts::fact::Dimension::Known(n),
                    ..
                } => Some(n),
                _ => None,
            };
            let all: Option<Vec<String>> =
                secret.iter().map(|it| Some(dimension(it)?.to_string())).collect();
            let factors = all.map_or(String::new(), |it| format!(" of {}", it.join(" and ")));
            Some(format!("product{factors} polynomials"))
        }
        Some(DimensionRule::Product) => Some("product with a plaintext".to_owned()),
        None => None,
    };
    match (level, dimension) {
        (Some(level), Some(dimension)) => Some(format!("{level}, {dimension}")),
        (level, dimension) => level.or(dimension),
    }
}
