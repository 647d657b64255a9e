//! Splitting of carried values: each copy of the body has its own part, and the parts are combined
//! after the loop.
//!
//! *Law.* `a op (b op c) = (a op b) op c` holds exactly for integers only. For `max`, `min`, `and`
//! and `or`, all parts have the initial value of the loop, because these ops are idempotent. For
//! sums and products, all parts but the first have the neutral element. If the result is not used,
//! the initial values do not matter.

use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{AttrData, Ir, OpKind, Sign, TypeData, Value};
use rustc_hash::FxHashSet;

use crate::passes::affine::for_loop::AffineFor;
use crate::rewrite::operands;
use noisy_analyses::facts::effects;

/// The way in which a carried value is split.
#[derive(Clone, Debug)]
pub(super) struct SplitValue {
    /// The op that combines the parts. `None` if the result is not used; then the first part is the
    /// result.
    name: Option<String>,
    /// The initial value of all parts but the first, if it differs from the initial value of the
    /// loop.
    neutral: Option<i128>,
}

const IDEMPOTENT: &[&str] =
    &["arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.andi", "arith.ori"];
/// The ops with their neutral elements.
const SUMS: &[(&str, i128)] = &[("arith.addi", 0), ("arith.xori", 0), ("arith.muli", 1)];
/// Floating-point ops, which are only split if the result is not used.
const ROUNDED: &[&str] = &["arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf"];

/// Returns the split of each value that a loop carries. `None` if a value cannot be split.
pub(super) fn split_values(ir: &Ir, it: &AffineFor) -> Option<Vec<SplitValue>> {
    let yielded = operands(ir, it.terminator(ir));
    let results = &ir.op(it.op).results;
    let all = it.iter_args(ir).into_iter().zip(yielded).zip(results);
    all.map(|((carried, yielded), &result)| split_value(ir, it, carried, yielded, result)).collect()
}

fn split_value(
    ir: &Ir,
    it: &AffineFor,
    carried: Value,
    yielded: Value,
    result: Value,
) -> Option<SplitValue> {
    split_reduction(ir, it, carried, yielded, result)
        .or_else(|| is_dead(ir, carried).then_some(SplitValue { name: None, neutral: None }))
}

/// Splits a value with a single use in the body, by an op whose result is only yielded.
fn split_reduction(
    ir: &Ir,
    it: &AffineFor,
    carried: Value,
    yielded: Value,
    result: Value,
) -> Option<SplitValue> {
    let [(adds, _)] = ir.value(carried).uses[..] else { return None };
    let is_all = ir.op(adds).results[..] == [yielded]
        && ir.value(yielded).uses.len() == 1
        && ir.block_of(adds) == it.body
        && operands(ir, adds).len() == 2;
    let name = ir.op_name(adds).to_owned();
    let is_integer = matches!(
        ir.interner.type_data(ir.value(carried).ty),
        TypeData::Int { sign: Sign::Signless, .. } | TypeData::Index
    );
    let neutral = SUMS.iter().find(|it| it.0 == name && is_integer).map(|it| it.1);
    let is_unread = ir.value(result).uses.is_empty();
    let is_known = neutral.is_some()
        || (is_integer && IDEMPOTENT.contains(&&*name))
        || (is_unread && ROUNDED.contains(&&*name));
    let neutral = neutral.filter(|_| !is_unread);
    (is_all && is_known).then_some(SplitValue { name: Some(name), neutral })
}

/// Returns true if only unused values depend on a value, also through loops and conditions.
fn is_dead(ir: &Ir, value: Value) -> bool {
    let mut seen = FxHashSet::default();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        if !seen.insert(value) {
            continue;
        }
        for &(user, index) in &ir.value(value).uses {
            let data = ir.op(user);
            match data.kind {
                OpKind::AffineFor => {
                    let Some(it) = AffineFor::of(ir, user) else { return false };
                    let first = it.lower.operands.len() + it.upper.operands.len();
                    let Some(at) = (index as usize).checked_sub(first) else { return false };
                    left.push(it.iter_args(ir)[at]);
                    left.push(data.results[at]);
                }
                OpKind::AffineYield => {
                    let Some(parent) = ir.parent_op(user) else { return false };
                    if let Some(it) = AffineFor::of(ir, parent) {
                        left.push(it.iter_args(ir)[index as usize]);
                    } else if ir.op(parent).kind != OpKind::AffineIf {
                        return false;
                    }
                    left.push(ir.op(parent).results[index as usize]);
                }
                _ if data.regions.is_empty() && effects::is_free_of_effects(ir, user) => {
                    left.extend(data.results.iter().copied());
                }
                _ => return false,
            }
        }
    }
    true
}

/// Combines the parts after a loop. The results of the loop are the parts of all values for the
/// first copy, then for the second, and so on.
pub(super) fn combine_parts(ir: &mut Ir, op: noisy_syntax::Op, parts: &[SplitValue]) {
    let results = ir.op(op).results.to_vec();
    let n = parts.len();
    let first_init = operands(ir, op).len() - results.len();
    let mut at = InsertionPoint::After(op);
    for (which, part) in parts.iter().enumerate() {
        let ty = ir.value(results[which]).ty;
        if let Some(value) = part.neutral {
            let attr = ir.interner.intern_attr(AttrData::Int { value, ty });
            let new = NewOp::new("arith.constant").attr("value", attr).results(&[ty]);
            let start = ir.insert(new, InsertionPoint::Before(op));
            let start = ir.op(start).results[0];
            for copy in (which + n..results.len()).step_by(n) {
                ir.set_operand(op, first_init + copy, start);
            }
        }
        let Some(name) = &part.name else { continue };
        let readers = ir.value(results[which]).uses.to_vec();
        let mut sum = results[which];
        // The values of the last copy come first, as in MLIR.
        for copy in (which + n..results.len()).step_by(n).rev() {
            let new = NewOp::new(name).operands(&[sum, results[copy]]).results(&[ty]);
            let new = ir.insert(new, at);
            at = InsertionPoint::After(new);
            sum = ir.op(new).results[0];
        }
        for (user, index) in readers {
            ir.set_operand(user, index as usize, sum);
        }
    }
}
