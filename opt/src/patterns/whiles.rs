//! Patterns of `scf.while`: conditions that are known in the body, and carried values that are not
//! needed.

use noisy_syntax::{Block, Ir, Op, OpKind, Type, Value};

use super::patterns;
use super::scf::{only_block, regions, results, terminator, types};
use crate::predicate::inverted;
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, operands};
use noisy_analyses::facts::effects;
use noisy_integers::compare::predicate;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    ScfWhile: carried_unchanged, passed_from_outside, condition_in_body, compare_in_body, unused_while_results,
        repeated_while_results, unused_while_args, aligned_args;
};

/// Returns the `scf.condition` of a loop, and the blocks of both regions.
fn while_parts(ir: &Ir, op: Op) -> Option<(Op, Block, Block)> {
    let [before, after] = regions(ir, op)[..] else { return None };
    let condition = terminator(ir, before).filter(|&it| ir.op(it).kind == OpKind::ScfCondition)?;
    Some((condition, only_block(ir, before)?, only_block(ir, after)?))
}

/// Replaces the condition of a loop by true in its body.
fn condition_in_body(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((end, _, body)) = while_parts(rewriter.ir, op) else { return false };
    let passed = operands(rewriter.ir, end);
    let args = rewriter.ir.block(body).args.to_vec();
    let mut is_changed = false;
    for (&value, &arg) in passed[1..].iter().zip(&args) {
        if value == passed[0] && !rewriter.ir.value(arg).uses.is_empty() {
            let yes = rewriter.int(-1, Type::I1, op);
            rewriter.replace_uses(arg, yes);
            is_changed = true;
        }
    }
    is_changed
}

/// Replaces a comparison in the body that is equal or opposite to the condition by a constant.
fn compare_in_body(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((end, _, body)) = while_parts(rewriter.ir, op) else { return false };
    let passed = operands(rewriter.ir, end);
    let Some(compare) = rewriter.defined_by(passed[0], OpKind::ArithCmpi) else { return false };
    let Some(known) = predicate(rewriter.ir, compare) else { return false };
    let compared = operands(rewriter.ir, compare);
    let [before, _] = regions(rewriter.ir, op)[..] else { return false };
    let args = rewriter.ir.block(body).args.to_vec();
    let mut is_changed = false;
    for (&value, &arg) in passed[1..].iter().zip(&args) {
        for at in 0..2 {
            let other = compared[1 - at];
            if compared[at] != value || !effects::is_outside(rewriter.ir, other, before) {
                continue;
            }
            let uses = rewriter.ir.value(arg).uses.clone();
            for (user, index) in uses {
                if index as usize != at || rewriter.ir.op(user).kind != OpKind::ArithCmpi {
                    continue;
                }
                let both = operands(rewriter.ir, user);
                let Some(it) = predicate(rewriter.ir, user) else { continue };
                let holds = match it {
                    _ if both[1 - at] != other => continue,
                    it if it == known => true,
                    it if it == inverted(known) => false,
                    _ => continue,
                };
                let value = rewriter.int(-i128::from(holds), Type::I1, user);
                rewriter.replace(user, &[value]);
                is_changed = true;
            }
        }
    }
    is_changed
}

/// Passes only the values in `kept` to the body and the results of a loop. `of` returns the kept
/// value that replaces another value.
fn keep_passed_values(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    end: Op,
    kept: &[usize],
    of: &dyn Fn(usize) -> Option<usize>,
) {
    let Some((_, _, body)) = while_parts(rewriter.ir, op) else { return };
    let passed = operands(rewriter.ir, end);
    let old = results(rewriter.ir, op);
    let args = rewriter.ir.block(body).args.to_vec();
    let inputs = operands(rewriter.ir, op);
    let types: Vec<Type> = kept.iter().map(|&at| rewriter.ty(old[at])).collect();
    let new = rewriter.rebuild(op, &inputs, &types);
    let values: Vec<Value> =
        std::iter::once(passed[0]).chain(kept.iter().map(|&at| passed[at + 1])).collect();
    rewriter.set_operands(end, &values);
    let new_results = results(rewriter.ir, new);
    for at in (0..old.len()).rev() {
        if kept.contains(&at) {
            continue;
        }
        if let Some(same) = of(at) {
            rewriter.replace_uses(args[at], args[same]);
        }
        rewriter.ir.erase_argument(body, at).expect("nothing uses it any more");
    }
    for (at, &result) in old.iter().enumerate() {
        let by = if kept.contains(&at) { Some(at) } else { of(at) };
        let by = by.and_then(|it| kept.iter().position(|&kept| kept == it));
        if let Some(by) = by {
            rewriter.replace_uses(result, new_results[by]);
        }
    }
    rewriter.erase(op);
}

/// Removes passed values that are used neither in the body nor after the loop.
fn unused_while_results(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((end, _, body)) = while_parts(rewriter.ir, op) else { return false };
    let old = results(rewriter.ir, op);
    let args = rewriter.ir.block(body).args.to_vec();
    if args.len() != old.len() {
        return false;
    }
    let is_unused = |it: Value| rewriter.ir.value(it).uses.is_empty();
    let kept: Vec<usize> =
        (0..old.len()).filter(|&at| !is_unused(old[at]) || !is_unused(args[at])).collect();
    if kept.len() == old.len() {
        return false;
    }
    keep_passed_values(rewriter, op, end, &kept, &|_| None);
    true
}

/// Removes passed values that are equal to other passed values.
fn repeated_while_results(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((end, _, body)) = while_parts(rewriter.ir, op) else { return false };
    let passed = operands(rewriter.ir, end)[1..].to_vec();
    if rewriter.ir.block(body).args.len() != passed.len() {
        return false;
    }
    let first = |at: usize| passed.iter().position(|&it| it == passed[at]);
    let kept: Vec<usize> = (0..passed.len()).filter(|&at| first(at) == Some(at)).collect();
    if kept.len() == passed.len() {
        return false;
    }
    keep_passed_values(rewriter, op, end, &kept, &first);
    true
}

/// Removes carried values that the condition block does not use.
fn unused_while_args(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((_, before, body)) = while_parts(rewriter.ir, op) else { return false };
    let args = rewriter.ir.block(before).args.to_vec();
    let kept: Vec<usize> =
        (0..args.len()).filter(|&at| !rewriter.ir.value(args[at]).uses.is_empty()).collect();
    let Some(end) = rewriter.ir.last_op(body) else { return false };
    let yielded = operands(rewriter.ir, end);
    if kept.len() == args.len() || yielded.len() != args.len() {
        return false;
    }
    let inputs = operands(rewriter.ir, op);
    let inputs: Vec<Value> = kept.iter().map(|&at| inputs[at]).collect();
    let old = results(rewriter.ir, op);
    let types = types(rewriter.ir, &old);
    let new = rewriter.rebuild(op, &inputs, &types);
    let yielded: Vec<Value> = kept.iter().map(|&at| yielded[at]).collect();
    rewriter.set_operands(end, &yielded);
    for at in (0..args.len()).rev() {
        if !kept.contains(&at) {
            rewriter.ir.erase_argument(before, at).expect("nothing uses it");
        }
    }
    let values = results(rewriter.ir, new);
    rewriter.replace(op, &values);
    true
}

/// Replaces carried values that never change by the initial values.
fn carried_unchanged(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((end, before, body)) = while_parts(rewriter.ir, op) else { return false };
    let inits = operands(rewriter.ir, op);
    let args = rewriter.ir.block(before).args.to_vec();
    let passed = operands(rewriter.ir, end)[1..].to_vec();
    let inner = rewriter.ir.block(body).args.to_vec();
    let Some(last) = rewriter.ir.last_op(body) else { return false };
    let yielded = operands(rewriter.ir, last);
    if inits.len() != args.len() || yielded.len() != args.len() || inner.len() != passed.len() {
        return false;
    }
    let mut is_changed = false;
    for at in 0..args.len() {
        let is_passed_on =
            inner.iter().position(|&it| it == yielded[at]).is_some_and(|it| passed[it] == args[at]);
        let is_fixed = yielded[at] == inits[at] || is_passed_on;
        if is_fixed && !rewriter.ir.value(args[at]).uses.is_empty() {
            rewriter.replace_uses(args[at], inits[at]);
            is_changed = true;
        }
    }
    is_changed
}

/// Replaces passed values that are defined outside the loop, in the body and after the loop.
fn passed_from_outside(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((end, _, body)) = while_parts(rewriter.ir, op) else { return false };
    let [before, _] = regions(rewriter.ir, op)[..] else { return false };
    let passed = operands(rewriter.ir, end)[1..].to_vec();
    let (args, old) = (rewriter.ir.block(body).args.to_vec(), results(rewriter.ir, op));
    let mut is_changed = false;
    for ((&value, &arg), &result) in passed.iter().zip(&args).zip(&old) {
        if !effects::is_outside(rewriter.ir, value, before) {
            continue;
        }
        for it in [arg, result] {
            if !rewriter.ir.value(it).uses.is_empty() {
                rewriter.replace_uses(it, value);
                is_changed = true;
            }
        }
    }
    is_changed
}

/// Reorders the passed values of a loop that passes a permutation of its carried values.
fn aligned_args(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((end, before, body)) = while_parts(rewriter.ir, op) else { return false };
    let args = rewriter.ir.block(before).args.to_vec();
    let all = operands(rewriter.ir, end);
    let passed = &all[1..];
    let place = |it: &Value| passed.iter().position(|passed| passed == it);
    let Some(places) = args.iter().map(place).collect::<Option<Vec<usize>>>() else { return false };
    if passed.len() != args.len() || places.is_sorted() {
        return false;
    }
    let (old, inner) = (results(rewriter.ir, op), rewriter.ir.block(body).args.to_vec());
    let types = types(rewriter.ir, &args);
    let inputs = operands(rewriter.ir, op);
    let new = rewriter.rebuild(op, &inputs, &types);
    let ordered: Vec<Value> = all[..1].iter().chain(&args).copied().collect();
    rewriter.set_operands(end, &ordered);
    for (&ty, &at) in types.iter().zip(&places) {
        let arg = rewriter.ir.add_argument(body, ty);
        rewriter.replace_uses(inner[at], arg);
    }
    for at in (0..inner.len()).rev() {
        rewriter.ir.erase_argument(body, at).expect("nothing uses it any more");
    }
    let new_results = results(rewriter.ir, new);
    let mut values = new_results.clone();
    for (&value, &at) in new_results.iter().zip(&places) {
        values[at] = value;
    }
    debug_assert_eq!(values.len(), old.len());
    rewriter.replace(op, &values);
    true
}
