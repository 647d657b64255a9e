//! Rules of loops of `scf`.

use noisy_analyses::integers::compare::predicate;
use noisy_syntax::{Ir, Op, OpKind, Type, Value};

use super::patterns;
use super::scf::{only_block, regions, results, terminator, types};
use crate::effects;
use crate::predicate::inverted;
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, operands};

pub(super) const PATTERNS: &[Pattern] = patterns! {
    ScfFor: trivial_for, fixed_iter_args;
    ScfWhile: condition_in_body, compare_in_body, unused_while_results, repeated_while_results,
        unused_while_args;
    ScfParallel: short_dimensions;
};

/// By how much the upper bound of a loop exceeds the lower one, if that is a constant.
fn distance(rewriter: &Rewriter<'_>, low: Value, high: Value) -> Option<i128> {
    if let (Some(a), Some(b)) = (rewriter.int_of(low), rewriter.int_of(high)) {
        return Some(b - a);
    }
    if low == high {
        return Some(0);
    }
    // `x + c` exceeds `x` by `c` only if it does not wrap: where it does the loop never runs.
    let sum = rewriter.defined_by(high, OpKind::ArithAddi)?;
    let by = rewriter.int_of(rewriter.operand(sum, 1))?;
    let (nsw, _) = super::arith::overflow(rewriter.ir, sum);
    (rewriter.operand(sum, 0) == low && nsw).then_some(by)
}

/// A loop that never runs gives what it starts with; one that runs once is its body; one that does nothing gives what it yields.
fn trivial_for(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    if rewriter.ir.attr(op, "unsignedCmp").is_some() {
        return false;
    }
    let all = operands(rewriter.ir, op);
    let [low, high, step, inits @ ..] = &all[..] else { return false };
    let Some(distance) = distance(rewriter, *low, *high) else { return false };
    if distance <= 0 {
        rewriter.replace(op, inits);
        return true;
    }
    let [region] = regions(rewriter.ir, op)[..] else { return false };
    let Some(step) = rewriter.int_of(*step).filter(|&it| it > 0) else { return false };
    let Some(block) = only_block(rewriter.ir, region) else { return false };
    if distance <= step {
        let args: Vec<Value> = std::iter::once(*low).chain(inits.iter().copied()).collect();
        return super::scf::inline_region(rewriter, op, region, &args);
    }
    if rewriter.ir.block_ops(block).count() != 1 {
        return false;
    }
    let Some(end) = rewriter.ir.last_op(block) else { return false };
    let yielded = operands(rewriter.ir, end);
    let is_outside = yielded.iter().all(|&it| effects::is_outside(rewriter.ir, it, region));
    // With both bounds known it surely runs.
    let is_known = rewriter.int_of(*low).is_some() && rewriter.int_of(*high).is_some();
    if is_outside && is_known {
        rewriter.replace(op, &yielded);
    }
    is_outside && is_known
}

/// A value that a loop carries unchanged, or that nobody reads, need not be carried.
fn fixed_iter_args(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [region] = regions(rewriter.ir, op)[..] else { return false };
    let (Some(block), Some(end)) =
        (only_block(rewriter.ir, region), terminator(rewriter.ir, region))
    else {
        return false;
    };
    let all = operands(rewriter.ir, op);
    let yielded = operands(rewriter.ir, end);
    let args = rewriter.ir.block(block).args.to_vec();
    let old = results(rewriter.ir, op);
    if args.len() != old.len() + 1 || all.len() != old.len() + 3 || yielded.len() != old.len() {
        return false;
    }
    let is_unused = |it: Value| rewriter.ir.value(it).uses.is_empty();
    let goes = |at: usize| {
        let (arg, init) = (args[at + 1], all[at + 3]);
        yielded[at] == arg || is_unused(arg) && (yielded[at] == init || is_unused(old[at]))
    };
    let kept: Vec<usize> = (0..old.len()).filter(|&at| !goes(at)).collect();
    if kept.len() == old.len() {
        return false;
    }
    let mut inputs = all[..3].to_vec();
    inputs.extend(kept.iter().map(|&at| all[at + 3]));
    let types: Vec<Type> = kept.iter().map(|&at| rewriter.ty(old[at])).collect();
    let new = rewriter.rebuild(op, &inputs, &types);
    let kept_yields: Vec<Value> = kept.iter().map(|&at| yielded[at]).collect();
    rewriter.set_operands(end, &kept_yields);
    for at in (0..old.len()).rev() {
        if !kept.contains(&at) {
            rewriter.replace_uses(args[at + 1], all[at + 3]);
            rewriter.ir.erase_argument(block, at + 1).expect("nothing uses it any more");
        }
    }
    let mut next = results(rewriter.ir, new).into_iter();
    let values: Vec<Value> = (0..old.len())
        .map(|at| if kept.contains(&at) { next.next().expect("kept") } else { all[at + 3] })
        .collect();
    rewriter.replace(op, &values);
    true
}

/// The condition op of a loop, and both blocks.
fn while_parts(ir: &Ir, op: Op) -> Option<(Op, noisy_syntax::Block, noisy_syntax::Block)> {
    let [before, after] = regions(ir, op)[..] else { return None };
    let condition = terminator(ir, before).filter(|&it| ir.op(it).kind == OpKind::ScfCondition)?;
    Some((condition, only_block(ir, before)?, only_block(ir, after)?))
}

/// In the body of a loop its condition is true.
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

/// What the condition of a loop compared compares the same in its body.
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

/// Passes only some of the values of a loop on to its body and its results; `of` says by which of the kept ones each is replaced.
fn keep_passed(
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

/// Values that neither the body nor anyone behind a loop reads are not passed on.
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
    keep_passed(rewriter, op, end, &kept, &|_| None);
    true
}

/// A value is passed on once.
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
    keep_passed(rewriter, op, end, &kept, &first);
    true
}

/// What a loop starts with and nobody reads before its condition need not be carried.
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

/// Dimensions of one iteration are none; a loop with one of no iterations gives what it starts with.
fn short_dimensions(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [region] = regions(rewriter.ir, op)[..] else { return false };
    let Some(block) = only_block(rewriter.ir, region) else { return false };
    let all = operands(rewriter.ir, op);
    let n_results = rewriter.ir.op(op).results.len();
    let Some(n) = all.len().checked_sub(n_results).filter(|it| it % 3 == 0).map(|it| it / 3) else {
        return false;
    };
    let args = rewriter.ir.block(block).args.to_vec();
    if args.len() != n {
        return false;
    }
    let inits = all[3 * n..].to_vec();
    let mut short = Vec::new();
    for at in 0..n {
        let Some(distance) = distance(rewriter, all[at], all[n + at]) else { continue };
        if distance <= 0 {
            rewriter.replace(op, &inits);
            return true;
        }
        if rewriter.int_of(all[2 * n + at]).is_some_and(|step| distance <= step) {
            short.push(at);
        }
    }
    if short.is_empty() {
        return false;
    }
    let Some(end) = rewriter.ir.last_op(block) else { return false };
    if short.len() == n {
        // All of one iteration: only without results, whose combination would be left to do.
        if n_results > 0 || !regions(rewriter.ir, end).is_empty() {
            return false;
        }
        let lows = all[..n].to_vec();
        rewriter.erase(end);
        rewriter.inline_block(block, op, &lows);
        rewriter.erase(op);
        return true;
    }
    let kept: Vec<usize> = (0..n).filter(|it| !short.contains(it)).collect();
    let mut inputs = Vec::new();
    for part in 0..3 {
        inputs.extend(kept.iter().map(|&at| all[part * n + at]));
    }
    inputs.extend(&inits);
    let types = types(rewriter.ir, &results(rewriter.ir, op));
    let new = rewriter.rebuild(op, &inputs, &types);
    let sizes = [kept.len(), kept.len(), kept.len(), inits.len()];
    let attr = super::memref::segments(rewriter.ir, &sizes);
    rewriter.set_attr(new, "operandSegmentSizes", attr);
    for &at in short.iter().rev() {
        rewriter.replace_uses(args[at], all[at]);
        rewriter.ir.erase_argument(block, at).expect("nothing uses it any more");
    }
    let values = results(rewriter.ir, new);
    rewriter.replace(op, &values);
    true
}
