//! Patterns of `scf` loops.

use noisy_syntax::{Op, OpKind, Type, Value};

use super::patterns;
use super::scf::{only_block, regions, results, terminator, types};
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, operands};
use noisy_analyses::facts::effects;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    ScfFor: trivial_for, fixed_iter_args;
    ScfParallel: short_dimensions;
};

/// Returns the difference of the bounds of a loop if it is constant.
fn bound_distance(rewriter: &Rewriter<'_>, low: Value, high: Value) -> Option<i128> {
    if let (Some(a), Some(b)) = (rewriter.int_of(low), rewriter.int_of(high)) {
        return Some(b - a);
    }
    if low == high {
        return Some(0);
    }
    // The difference of `x + c` and `x` is `c` only if the sum does not wrap.
    let sum = rewriter.defined_by(high, OpKind::ArithAddi)?;
    let by = rewriter.int_of(rewriter.operand(sum, 1))?;
    let (nsw, _) = super::arith::overflow_flags(rewriter.ir, sum);
    (rewriter.operand(sum, 0) == low && nsw).then_some(by)
}

/// Replaces a loop without iterations by its initial values, a loop with one iteration by its body,
/// and a loop with an empty body by its yielded values.
fn trivial_for(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    if rewriter.ir.attr(op, "unsignedCmp").is_some() {
        return false;
    }
    let all = operands(rewriter.ir, op);
    let [low, high, step, inits @ ..] = &all[..] else { return false };
    let Some(distance) = bound_distance(rewriter, *low, *high) else { return false };
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
    // With constant bounds, the loop has at least one iteration.
    let is_known = rewriter.int_of(*low).is_some() && rewriter.int_of(*high).is_some();
    if is_outside && is_known {
        rewriter.replace(op, &yielded);
    }
    is_outside && is_known
}

/// Removes carried values that are unchanged or unused.
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

/// Removes dimensions of one iteration. Replaces a loop with a dimension of no iterations by its
/// initial values.
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
        let Some(distance) = bound_distance(rewriter, all[at], all[n + at]) else { continue };
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
        return inline_parallel_body(rewriter, op, block, end, &all[..n], &inits);
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
    let attr = super::memref::segments_attr(rewriter.ir, &sizes);
    rewriter.set_attr(new, "operandSegmentSizes", attr);
    for &at in short.iter().rev() {
        rewriter.replace_uses(args[at], all[at]);
        rewriter.ir.erase_argument(block, at).expect("nothing uses it any more");
    }
    let values = results(rewriter.ir, new);
    rewriter.replace(op, &values);
    true
}

/// Replaces a loop of one iteration by its body. Each result is the reduction of the initial value
/// and the value of that iteration.
fn inline_parallel_body(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    block: noisy_syntax::Block,
    end: Op,
    lows: &[Value],
    inits: &[Value],
) -> bool {
    let reductions = regions(rewriter.ir, end);
    let is_whole = reductions.len() == inits.len()
        && operands(rewriter.ir, end).len() == inits.len()
        && reductions.iter().all(|&it| {
            let args = only_block(rewriter.ir, it).map(|it| rewriter.ir.block(it).args.len());
            args == Some(2)
                && terminator(rewriter.ir, it)
                    .is_some_and(|it| operands(rewriter.ir, it).len() == 1)
        });
    if !is_whole {
        return false;
    }
    rewriter.inline_block_without_terminator(block, op, lows);
    let mut values = Vec::new();
    for ((region, &init), value) in
        reductions.into_iter().zip(inits).zip(operands(rewriter.ir, end))
    {
        let Some(inner) = only_block(rewriter.ir, region) else { return false };
        let Some(returns) = terminator(rewriter.ir, region) else { return false };
        let args = rewriter.ir.block(inner).args.to_vec();
        let result = operands(rewriter.ir, returns)[0];
        rewriter.erase(returns);
        rewriter.inline_block(inner, op, &[init, value]);
        values.push(match args.iter().position(|&it| it == result) {
            Some(0) => init,
            Some(_) => value,
            None => result,
        });
    }
    rewriter.replace(op, &values);
    true
}
