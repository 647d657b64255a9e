//! Patterns of nested `scf.parallel` loops and of `scf.forall`.

use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Op, OpKind, Type, Value};

use super::memref::{DYNAMIC, i64_array_attr, int_array, segments_attr};
use super::patterns;
use super::scf::{only_block, regions, results, terminator, types};
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, operands};
use noisy_analyses::facts::effects;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    ScfParallel: nested_parallel;
    ScfForall: known_forall, short_forall;
};

/// Returns the ops in the body of a loop, without the terminator.
fn body_ops(rewriter: &Rewriter<'_>, op: Op) -> Option<Vec<Op>> {
    let [region] = regions(rewriter.ir, op)[..] else { return None };
    let mut ops: Vec<Op> = rewriter.ir.block_ops(only_block(rewriter.ir, region)?).collect();
    ops.pop()?;
    Some(ops)
}

/// Merges a parallel loop with the only op in it, another parallel loop.
fn nested_parallel(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(&[inner]) = body_ops(rewriter, op).as_deref() else { return false };
    let kinds = [op, inner].map(|it| rewriter.ir.op(it).kind);
    if kinds != [OpKind::ScfParallel; 2] {
        return false;
    }
    let has_results = [op, inner].iter().any(|&it| !rewriter.ir.op(it).results.is_empty());
    let [outer_region] = regions(rewriter.ir, op)[..] else { return false };
    let [inner_region] = regions(rewriter.ir, inner)[..] else { return false };
    let (Some(outer_block), Some(inner_block)) =
        (only_block(rewriter.ir, outer_region), only_block(rewriter.ir, inner_region))
    else {
        return false;
    };
    let (outer, own) = (operands(rewriter.ir, op), operands(rewriter.ir, inner));
    let is_fixed = own.iter().all(|&it| effects::is_outside(rewriter.ir, it, outer_region));
    if has_results || !is_fixed || outer.len() % 3 != 0 || own.len() % 3 != 0 {
        return false;
    }
    let mut inputs: Vec<Value> = Vec::new();
    for part in 0..3 {
        for list in [&outer, &own] {
            let n = list.len() / 3;
            inputs.extend(&list[part * n..(part + 1) * n]);
        }
    }
    let n = (outer.len() + own.len()) / 3;
    let sizes = segments_attr(rewriter.ir, &[n, n, n, 0]);
    let new = NewOp::new("scf.parallel").operands(&inputs).attr("operandSegmentSizes", sizes);
    let new = rewriter.insert(new.regions(1), InsertionPoint::Before(op));
    let region = regions(rewriter.ir, new)[0];
    let block = rewriter.ir.add_block(region, &vec![Type::INDEX; n]);
    let args = rewriter.ir.block(block).args.to_vec();
    let olds = [outer_block, inner_block].map(|it| rewriter.ir.block(it).args.to_vec());
    for (&old, &new) in olds.iter().flatten().zip(&args) {
        rewriter.replace_uses(old, new);
    }
    let ops: Vec<Op> = rewriter.ir.block_ops(inner_block).collect();
    for it in ops {
        rewriter.move_op(it, InsertionPoint::End(block));
    }
    rewriter.erase(op);
    true
}

/// The lower bounds, upper bounds and steps of a loop (the static lists, and the operands for
/// dynamic entries), and its outputs.
type ForallBounds = ([Vec<i64>; 3], [Vec<Option<Value>>; 3], Vec<Value>);

const STATIC_BOUNDS: [&str; 3] = ["staticLowerBound", "staticUpperBound", "staticStep"];

fn forall_bounds(rewriter: &Rewriter<'_>, op: Op) -> Option<ForallBounds> {
    let mut all = operands(rewriter.ir, op).into_iter();
    let mut lists: [Vec<i64>; 3] = Default::default();
    let mut values: [Vec<Option<Value>>; 3] = Default::default();
    for (at, name) in STATIC_BOUNDS.iter().enumerate() {
        lists[at] = int_array(rewriter.ir, op, name)?;
        for &it in &lists[at] {
            values[at].push(if it == DYNAMIC { Some(all.next()?) } else { None });
        }
    }
    let n = lists[0].len();
    lists.iter().all(|it| it.len() == n).then(|| (lists, values, all.collect()))
}

/// Replaces a loop by a loop with other bounds and the same regions.
fn rebuild_with_bounds(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    (lists, values, outputs): &ForallBounds,
) -> Op {
    let dynamic = values.clone().map(|it| it.into_iter().flatten().collect::<Vec<Value>>());
    let sizes = [dynamic[0].len(), dynamic[1].len(), dynamic[2].len(), outputs.len()];
    let inputs: Vec<Value> = dynamic.iter().flatten().chain(outputs).copied().collect();
    let types = types(rewriter.ir, &results(rewriter.ir, op));
    let new = rewriter.rebuild(op, &inputs, &types);
    for (name, list) in STATIC_BOUNDS.iter().zip(lists) {
        let attr = i64_array_attr(rewriter.ir, list);
        rewriter.set_attr(new, name, attr);
    }
    let sizes = segments_attr(rewriter.ir, &sizes);
    rewriter.set_attr(new, "operandSegmentSizes", sizes);
    let values = results(rewriter.ir, new);
    rewriter.replace(op, &values);
    new
}

/// Makes constant bounds and steps static.
fn known_forall(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(mut all) = forall_bounds(rewriter, op) else { return false };
    let mut is_changed = false;
    for (list, values) in all.0.iter_mut().zip(&mut all.1) {
        for (number, value) in list.iter_mut().zip(values) {
            let known =
                value.and_then(|it| rewriter.int_of(it)).and_then(|it| i64::try_from(it).ok());
            if let Some(known) = known.filter(|it| *it != DYNAMIC) {
                (*number, *value) = (known, None);
                is_changed = true;
            }
        }
    }
    if is_changed {
        rebuild_with_bounds(rewriter, op, &all);
    }
    is_changed
}

/// Removes dimensions of one iteration. Replaces a loop with a dimension of no iterations by its
/// outputs. Loops with a processor mapping are not changed.
fn short_forall(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let is_mapped = rewriter.ir.attr(op, "mapping").is_some_and(|it| {
        !matches!(rewriter.ir.interner.attr_data(it), noisy_syntax::AttrData::Array(list) if list.is_empty())
    });
    let Some((lists, values, outputs)) = forall_bounds(rewriter, op).filter(|_| !is_mapped) else {
        return false;
    };
    let mut short = Vec::new();
    for (at, ((&low, &high), &step)) in lists[0].iter().zip(&lists[1]).zip(&lists[2]).enumerate() {
        if [low, high, step].contains(&DYNAMIC) || step <= 0 {
            continue;
        }
        let distance = i128::from(high) - i128::from(low);
        if distance <= 0 {
            rewriter.replace(op, &outputs);
            return true;
        }
        if distance <= i128::from(step) {
            short.push(at);
        }
    }
    let [region] = regions(rewriter.ir, op)[..] else { return false };
    let Some(block) = only_block(rewriter.ir, region).filter(|_| !short.is_empty()) else {
        return false;
    };
    let args = rewriter.ir.block(block).args.to_vec();
    let n = lists[0].len();
    if args.len() < n {
        return false;
    }
    if short.len() == n {
        // The ops that combine outputs are invalid outside a loop.
        let Some(end) = terminator(rewriter.ir, region) else { return false };
        let does_nothing = regions(rewriter.ir, end)
            .into_iter()
            .all(|it| !rewriter.ir.items(it).any(|it| rewriter.ir.op(it).kind.is_op()));
        if !outputs.is_empty() || !does_nothing {
            return false;
        }
        let lows: Vec<Value> =
            lists[0].iter().map(|&it| rewriter.int(it.into(), Type::INDEX, op)).collect();
        rewriter.erase(end);
        rewriter.inline_block(block, op, &lows);
        rewriter.erase(op);
        return true;
    }
    for &at in short.iter().rev() {
        let low = rewriter.int(lists[0][at].into(), Type::INDEX, op);
        rewriter.replace_uses(args[at], low);
        rewriter.ir.erase_argument(block, at).expect("nothing uses it any more");
    }
    let keep = |it: usize| !short.contains(&it);
    let kept_lists = lists.map(|it| {
        it.into_iter().enumerate().filter(|it| keep(it.0)).map(|it| it.1).collect::<Vec<i64>>()
    });
    let kept_values = values.map(|it| {
        it.into_iter().enumerate().filter(|it| keep(it.0)).map(|it| it.1).collect::<Vec<_>>()
    });
    rebuild_with_bounds(rewriter, op, &(kept_lists, kept_values, outputs));
    true
}
