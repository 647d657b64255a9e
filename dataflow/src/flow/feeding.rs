//! Operands that flow into other values without a computation: through branches, yields and loop
//! inits. Both directions are supported.

use noisy_syntax::{Def, Ir, Op, OpKind, Region, Value};
use smallvec::SmallVec;

use super::{
    Flow, carried_args, entry_block, forwarded_operand, insertions, is_insertion, is_yield,
    reduce_op, successor_operands, yield_ops, yielded_operands,
};

/// Returns the values that take their contents from operand number `index` of an op: block
/// arguments fed by a branch, and results and region arguments fed by a yield or by loop inits.
/// Results that the op computes are not included.
pub fn fed_values(ir: &Ir, op: Op, index: usize) -> SmallVec<[Value; 2]> {
    let mut out = SmallVec::new();
    for (n, successor) in ir.extra(op).successors.iter().enumerate() {
        let (Some(range), Some(block)) = (successor_operands(ir, op, n), successor.block) else {
            continue;
        };
        if range.contains(&index) {
            out.extend(ir.block(block).args.get(index - range.start).copied());
        }
    }
    match Flow::of(ir, op) {
        Flow::For { first } | Flow::Forall { first } if index >= first => {
            let n = ir.op(op).operands.len() - first;
            out.extend(carried_args(ir, ir.op(op).regions[0].1, n).get(index - first).copied());
            out.extend(ir.op(op).results.get(index - first).copied());
        }
        Flow::While => {
            let n = ir.op(op).operands.len();
            out.extend(carried_args(ir, ir.op(op).regions[0].1, n).get(index).copied());
        }
        Flow::Parallel { first } if index >= first => {
            out.extend(ir.op(op).results.get(index - first).copied());
            out.extend(
                reduce_op(ir, op)
                    .into_iter()
                    .flat_map(|it| reduce_arguments(ir, it, index - first)),
            );
        }
        Flow::Reduce => out.extend(reduce_arguments(ir, op, index)),
        Flow::Choice if forwarded_operand(ir, op, index).is_some() => {
            let args = &ir.block(entry_block(ir, ir.op(op).regions[0].1)).args;
            out.extend(args.get(index).copied());
        }
        _ => {}
    }
    if index == 0 && is_insertion(ir, op) {
        let forall = ir.parent_op(op).and_then(|it| ir.parent_op(it));
        let into = forall.and_then(|it| Some((it, insertions(ir, it)?)));
        if let Some((forall, all)) = into {
            let into = all.iter().filter(|it| it.0 == op);
            out.extend(into.filter_map(|it| ir.op(forall).results.get(it.1).copied()));
        }
    }
    if is_yield(ir, op) && yielded_operands(ir, op).contains(&index) {
        let at = index - yielded_operands(ir, op).start;
        if let Some(parent) = ir.parent_op(op) {
            let data = ir.op(parent);
            match Flow::of(ir, parent) {
                Flow::Choice => out.extend(data.results.get(at).copied()),
                Flow::For { first } => {
                    let n = data.operands.len() - first;
                    out.extend(data.results.get(at).copied());
                    out.extend(carried_args(ir, data.regions[0].1, n).get(at).copied());
                }
                Flow::While if ir.op(op).kind == OpKind::ScfCondition => {
                    out.extend(data.results.get(at).copied());
                    let args = &ir.block(entry_block(ir, data.regions[1].1)).args;
                    out.extend(args.get(at).copied());
                }
                Flow::While => {
                    let n = data.operands.len();
                    out.extend(carried_args(ir, data.regions[0].1, n).get(at).copied());
                }
                Flow::Reduce => {
                    let which = data.regions.iter().position(|it| it.1 == ir.op(op).parent);
                    let which = which.filter(|_| at == 0).unwrap_or(usize::MAX);
                    let results = ir.parent_op(parent).map(|it| &ir.op(it).results);
                    out.extend(results.and_then(|it| it.get(which)).copied());
                    out.extend(reduce_arguments(ir, parent, which));
                }
                _ => {}
            }
        }
    }
    out
}

/// Returns the arguments of a region of a [`Flow::Reduce`].
fn reduce_arguments(ir: &Ir, reduce: Op, index: usize) -> SmallVec<[Value; 2]> {
    let region = ir.op(reduce).regions.get(index);
    region.map_or(SmallVec::new(), |it| carried_args(ir, it.1, 2).into())
}

/// Returns the values that flow into a value without a computation, each with the op that passes
/// it: see [`feeding_operands`].
pub fn feeding_values(ir: &Ir, value: Value) -> Vec<(Op, Value)> {
    let operands = feeding_operands(ir, value).into_iter();
    operands.filter_map(|(op, index)| Some((op, ir.op(op).operands[index].value?))).collect()
}

/// Returns the operands that flow into a value without a computation: operands that branches pass
/// to a block argument, and yields and inits of results and carried arguments. Empty for all other
/// values.
pub fn feeding_operands(ir: &Ir, value: Value) -> Vec<(Op, usize)> {
    let mut out = Vec::new();
    let mut push = |op: Op, index: usize| {
        if index < ir.op(op).operands.len() {
            out.push((op, index));
        }
    };
    let yielded_at = |region: Region, at: usize, push: &mut dyn FnMut(Op, usize)| {
        for op in yield_ops(ir, region) {
            push(op, yielded_operands(ir, op).start + at);
        }
    };
    match ir.value(value).def {
        Def::Result(op, index) => {
            let (data, index) = (ir.op(op), index as usize);
            match Flow::of(ir, op) {
                Flow::Choice => {
                    for &(_, region) in &data.regions {
                        yielded_at(region, index, &mut push);
                    }
                }
                Flow::For { first } => {
                    push(op, first + index);
                    yielded_at(data.regions[0].1, index, &mut push);
                }
                Flow::While => yielded_at(data.regions[0].1, index, &mut push),
                Flow::Parallel { first } => {
                    push(op, first + index);
                    let region = reduce_op(ir, op).map(|it| ir.op(it).regions[index].1);
                    if let Some(region) = region {
                        yielded_at(region, 0, &mut push);
                    }
                }
                Flow::Forall { first } => {
                    push(op, first + index);
                    let all = insertions(ir, op).unwrap_or_default();
                    all.iter().filter(|it| it.1 == index).for_each(|it| push(it.0, 0));
                }
                _ => {}
            }
        }
        Def::Argument(block, index) => {
            let (data, index) = (ir.block(block), index as usize);
            // The arena keeps branches in the order of their creation; callers want textual order.
            let mut preds = data.preds.clone();
            if preds.len() > 1 {
                preds.sort_by_cached_key(|&(op, successor)| (ir.start(op), successor));
            }
            for &(op, successor) in &preds {
                if let Some(range) = successor_operands(ir, op, successor as usize)
                    && range.start + index < range.end
                {
                    push(op, range.start + index);
                }
            }
            let Some(parent) = ir.region(data.region).parent else { return out };
            if entry_block(ir, data.region) != block {
                return out;
            }
            let holder = ir.op(parent);
            match Flow::of(ir, parent) {
                Flow::For { first } => {
                    let n = holder.operands.len() - first;
                    if let Some(at) = index.checked_sub(data.args.len().saturating_sub(n)) {
                        push(parent, first + at);
                        yielded_at(data.region, at, &mut push);
                    }
                }
                Flow::While if holder.regions[0].1 == data.region => {
                    push(parent, index);
                    yielded_at(holder.regions[1].1, index, &mut push);
                }
                Flow::While => yielded_at(holder.regions[0].1, index, &mut push),
                Flow::Reduce => {
                    let which = holder.regions.iter().position(|it| it.1 == data.region);
                    let around = ir.parent_op(parent);
                    let (Some(which), Some(around)) = (which, around) else { return out };
                    push(around, ir.op(around).operands.len() - holder.regions.len() + which);
                    push(parent, which);
                    yielded_at(data.region, 0, &mut push);
                }
                Flow::Forall { first } => {
                    let n = holder.operands.len() - first;
                    if let Some(at) = index.checked_sub(data.args.len().saturating_sub(n)) {
                        push(parent, first + at);
                    }
                }
                Flow::Choice => {
                    if let Some(at) = forwarded_operand(ir, parent, index) {
                        push(parent, at);
                    }
                }
                _ => {}
            }
        }
    }
    out
}
