//! Patterns of structured control flow: `scf.if`, `scf.index_switch` and `scf.execute_region`.

use noisy_dataflow::flow;
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Block, Ir, Op, OpKind, Region, Traits, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::compare::operand_of_not;
use super::patterns;
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, operands};
use noisy_analyses::facts::effects;
use noisy_analyses::facts::values::is_number;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    ScfIf: swap_of_not, known_if, combine_neighbours, combine_nested, condition_inside,
        if_to_select, empty_else, empty_if, unused_results, known_result;
    ScfExecuteRegion: run_once, blocks_of_function;
    ScfIndexSwitch: known_switch, unused_results;
    AffineIf: empty_else;
};

/// Returns the only block of a region; `None` if the region is empty.
pub(super) fn only_block(ir: &Ir, region: Region) -> Option<Block> {
    ir.only_block(region).filter(|_| ir.items(region).next().is_some())
}

/// Returns the regions of an op.
pub(super) fn regions(ir: &Ir, op: Op) -> Vec<Region> {
    ir.op(op).regions.iter().map(|it| it.1).collect()
}

/// Returns the last op of the only block of a region.
pub(super) fn terminator(ir: &Ir, region: Region) -> Option<Op> {
    ir.last_op(only_block(ir, region)?)
}

/// Returns the types of values.
pub(super) fn types(ir: &Ir, values: &[Value]) -> Vec<Type> {
    values.iter().map(|&it| ir.value(it).ty).collect()
}

/// Returns the results of an op.
pub(super) fn results(ir: &Ir, op: Op) -> Vec<Value> {
    ir.op(op).results.to_vec()
}

/// Replaces an op by the ops of the only block of a region. The operands of the terminator replace
/// the results.
pub(super) fn inline_region(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    region: Region,
    args: &[Value],
) -> bool {
    let Some(block) = only_block(rewriter.ir, region) else { return false };
    let Some(end) = rewriter.ir.last_op(block) else { return false };
    let values = operands(rewriter.ir, end);
    let inner = rewriter.ir.block(block).args.clone();
    // The terminator may return a block argument.
    let values: Vec<Value> = values
        .into_iter()
        .map(|it| inner.iter().position(|&arg| arg == it).map_or(it, |at| args[at]))
        .collect();
    rewriter.erase(end);
    rewriter.inline_block(block, op, args);
    rewriter.replace(op, &values);
    true
}

/// Rewrites `if !c` to `if c` with swapped regions.
fn swap_of_not(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(condition) = operand_of_not(rewriter, rewriter.operand(op, 0)) else { return false };
    let all = regions(rewriter.ir, op);
    // Without an else region, the regions cannot be swapped.
    if all.len() != 2 || all.iter().any(|&it| only_block(rewriter.ir, it).is_none()) {
        return false;
    }
    let types = types(rewriter.ir, &results(rewriter.ir, op));
    let new = NewOp::new("scf.if").operands(&[condition]).results(&types).regions(2);
    let new = rewriter.insert(new, InsertionPoint::Before(op));
    let to = regions(rewriter.ir, new);
    for (from, to) in all.into_iter().zip(to.into_iter().rev()) {
        move_block(rewriter, from, to);
    }
    let values = results(rewriter.ir, new);
    rewriter.replace(op, &values);
    true
}

/// Moves the ops of the only block of a region to a new block of another region.
fn move_block(rewriter: &mut Rewriter<'_>, from: Region, to: Region) {
    let Some(block) = only_block(rewriter.ir, from) else { return };
    let target = rewriter.ir.add_block(to, &[]);
    let ops: Vec<Op> = rewriter.ir.block_ops(block).collect();
    for op in ops {
        rewriter.move_op(op, InsertionPoint::End(target));
    }
}

/// Replaces an `scf.if` with a constant condition by the selected region.
fn known_if(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(condition) = rewriter.int_of(rewriter.operand(op, 0)) else { return false };
    let all = regions(rewriter.ir, op);
    let region = all.get(usize::from(condition == 0)).copied();
    match region.filter(|&it| only_block(rewriter.ir, it).is_some()) {
        Some(region) => inline_region(rewriter, op, region, &[]),
        None if rewriter.ir.op(op).results.is_empty() => {
            rewriter.erase(op);
            true
        }
        None => false,
    }
}

/// Replaces the condition by a constant in the regions of an `scf.if`.
fn condition_inside(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let condition = rewriter.operand(op, 0);
    if rewriter.int_of(condition).is_some() {
        return false;
    }
    let mut is_changed = false;
    // The last region comes first, as in MLIR.
    for (at, region) in regions(rewriter.ir, op).into_iter().enumerate().rev() {
        let inside = uses_inside(rewriter.ir, condition, region);
        if inside.is_empty() {
            continue;
        }
        let constant = rewriter.int(-i128::from(at == 0), Type::I1, op);
        for (user, index) in inside {
            rewriter.set_operand(user, index as usize, constant);
        }
        is_changed = true;
    }
    is_changed
}

/// Returns the uses of a value in a region. *Cost.* Linear in the size of the region or the number
/// of uses, whichever is smaller, because many ops may share a condition.
fn uses_inside(ir: &Ir, value: Value, region: Region) -> Vec<(Op, u32)> {
    let uses = &ir.value(value).uses;
    let mut inside = Vec::new();
    let mut n_seen = 0;
    let mut open = vec![region];
    while let Some(at) = open.pop() {
        for op in ir.items(at) {
            n_seen += 1;
            if n_seen > uses.len() {
                return uses.iter().copied().filter(|it| ir.encloses(region, it.0)).collect();
            }
            let operands = ir.op(op).operands.iter().zip(0..);
            inside.extend(operands.filter(|it| it.0.value == Some(value)).map(|it| (op, it.1)));
            open.extend(ir.op(op).regions.iter().map(|it| it.1));
        }
    }
    inside
}

/// Replaces results of an `scf.if` by `arith.select` if both regions yield values that are defined
/// outside.
fn if_to_select(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [yes, no] = regions(rewriter.ir, op)[..] else { return false };
    let (Some(yes_end), Some(no_end)) = (terminator(rewriter.ir, yes), terminator(rewriter.ir, no))
    else {
        return false;
    };
    let (a, b) = (operands(rewriter.ir, yes_end), operands(rewriter.ir, no_end));
    let results = results(rewriter.ir, op);
    if results.is_empty() {
        return false;
    }
    let is_ready = |it: Value| {
        effects::is_outside(rewriter.ir, it, yes) && effects::is_outside(rewriter.ir, it, no)
    };
    let ready: Vec<bool> = a.iter().zip(&b).map(|(&x, &y)| is_ready(x) && is_ready(y)).collect();
    if !ready.contains(&true) {
        return false;
    }
    let condition = rewriter.operand(op, 0);
    let kept: Vec<usize> = (0..results.len()).filter(|&at| !ready[at]).collect();
    let new = keep_results(rewriter, op, &kept);
    let new_results = self::results(rewriter.ir, new);
    let mut values = vec![None; results.len()];
    for (&at, &value) in kept.iter().zip(&new_results) {
        values[at] = Some(value);
    }
    let mut all = Vec::new();
    for (at, value) in values.into_iter().enumerate() {
        all.push(match value {
            Some(value) => value,
            None if a[at] == b[at] => a[at],
            None => {
                let ty = rewriter.ty(a[at]);
                let select = NewOp::new("arith.select").operands(&[condition, a[at], b[at]]);
                rewriter.insert_value(select.results(&[ty]), new)
            }
        });
    }
    rewriter.replace(op, &all);
    true
}

/// Creates an op that has only the results in `kept`, and moves the regions to it. The old op
/// remains, without regions.
fn keep_results(rewriter: &mut Rewriter<'_>, op: Op, kept: &[usize]) -> Op {
    let all = results(rewriter.ir, op);
    let types: Vec<Type> = kept.iter().map(|&at| rewriter.ty(all[at])).collect();
    let operands = operands(rewriter.ir, op);
    let new = rewriter.rebuild(op, &operands, &types);
    for region in regions(rewriter.ir, new) {
        if let Some(end) = terminator(rewriter.ir, region) {
            let yielded = self::operands(rewriter.ir, end);
            let yielded: Vec<Value> = kept.iter().map(|&at| yielded[at]).collect();
            rewriter.set_operands(end, &yielded);
        }
    }
    new
}

/// Removes unused results.
fn unused_results(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let all = results(rewriter.ir, op);
    let kept: Vec<usize> =
        (0..all.len()).filter(|&at| !rewriter.ir.value(all[at]).uses.is_empty()).collect();
    let is_plain = regions(rewriter.ir, op)
        .into_iter()
        .all(|it| rewriter.ir.items(it).next().is_none() || only_block(rewriter.ir, it).is_some());
    if kept.len() == all.len() || !is_plain {
        return false;
    }
    let new = keep_results(rewriter, op, &kept);
    for (&at, value) in kept.iter().zip(results(rewriter.ir, new)) {
        rewriter.replace_uses(all[at], value);
    }
    rewriter.erase(op);
    true
}

/// Removes an empty else region.
fn empty_else(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [_, no] = regions(rewriter.ir, op)[..] else { return false };
    if !rewriter.ir.op(op).results.is_empty() {
        return false;
    }
    let Some(block) = only_block(rewriter.ir, no) else { return false };
    if rewriter.ir.block_ops(block).take(2).count() != 1 {
        return false;
    }
    rewriter.erase_block(block);
    rewriter.mark_changed(op);
    true
}

/// Removes an `scf.if` without results whose regions are empty.
fn empty_if(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let is_empty = |it: Region| {
        rewriter.ir.items(it).filter(|&it| rewriter.ir.op(it).kind.is_op()).nth(1).is_none()
    };
    let can_go =
        rewriter.ir.op(op).results.is_empty() && regions(rewriter.ir, op).into_iter().all(is_empty);
    if can_go {
        rewriter.erase(op);
    }
    can_go
}

/// Replaces a boolean result that is true in one region and false in the other by the condition or
/// its negation.
fn known_result(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [yes, no] = regions(rewriter.ir, op)[..] else { return false };
    let (Some(yes_end), Some(no_end)) = (terminator(rewriter.ir, yes), terminator(rewriter.ir, no))
    else {
        return false;
    };
    let (a, b) = (operands(rewriter.ir, yes_end), operands(rewriter.ir, no_end));
    let condition = rewriter.operand(op, 0);
    let mut is_changed = false;
    for (at, result) in results(rewriter.ir, op).into_iter().enumerate() {
        if rewriter.ir.value(result).uses.is_empty() || rewriter.ty(result) != Type::I1 {
            continue;
        }
        match (rewriter.int_of(a[at]), rewriter.int_of(b[at])) {
            (Some(-1), Some(0)) => rewriter.replace_uses(result, condition),
            (Some(0), Some(-1)) => {
                let ones = rewriter.int(-1, Type::I1, op);
                let not = rewriter.insert_binary("arith.xori", condition, ones, op);
                rewriter.replace_uses(result, not);
            }
            _ => continue,
        }
        is_changed = true;
    }
    is_changed
}

/// Merges two adjacent `scf.if` ops with equal or opposite conditions.
fn combine_neighbours(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(before) = rewriter.ir.prev(op).filter(|&it| rewriter.ir.op(it).kind == OpKind::ScfIf)
    else {
        return false;
    };
    let (c, d) = (rewriter.operand(before, 0), rewriter.operand(op, 0));
    let is_same = c == d;
    let is_opposite =
        operand_of_not(rewriter, d) == Some(c) || operand_of_not(rewriter, c) == Some(d);
    if !is_same && !is_opposite {
        return false;
    }
    let first = regions(rewriter.ir, before);
    let mut second = regions(rewriter.ir, op);
    if !is_same {
        second.reverse();
    }
    if first.len() != 2 || second.len() != 2 {
        return false;
    }
    let has = |it: Region, rewriter: &Rewriter<'_>| only_block(rewriter.ir, it).is_some();
    // The results of the first op. In the regions of the second op, yielded values replace them.
    let old: Vec<Value> = results(rewriter.ir, before);
    let own: Vec<Value> = results(rewriter.ir, op);
    if (!old.is_empty() || !own.is_empty())
        && !first.iter().chain(&second).all(|&it| has(it, rewriter))
    {
        // An `scf.if` with results has both regions. Without results, the else region may be empty.
        let first_fine = old.is_empty() || first.iter().all(|&it| has(it, rewriter));
        let second_fine = own.is_empty() || second.iter().all(|&it| has(it, rewriter));
        if !first_fine || !second_fine {
            return false;
        }
    }
    // The ops of the shorter one are moved, so that merging a sequence has linear cost.
    let is_first_kept = !is_same || !is_longer(rewriter.ir, &second, &first);
    let (kept, other) = if is_first_kept { (before, &second) } else { (op, &first) };
    let mut yielded = [Vec::new(), Vec::new()];
    for (at, yielded) in yielded.iter_mut().enumerate() {
        if let Some(end) = terminator(rewriter.ir, first[at]) {
            yielded.extend(operands(rewriter.ir, end));
            for (&result, &value) in old.iter().zip(&*yielded) {
                let uses: Vec<(Op, u32)> = rewriter.ir.value(result).uses.to_vec();
                for (user, index) in uses {
                    if rewriter.ir.encloses(second[at], user) {
                        rewriter.set_operand(user, index as usize, value);
                    }
                }
            }
        }
        if let Some(end) = terminator(rewriter.ir, second[at]) {
            yielded.extend(operands(rewriter.ir, end));
        }
    }
    let types = types(rewriter.ir, &[old.clone(), own.clone()].concat());
    let new = NewOp::new("scf.if").operands(&[c]).results(&types);
    // The merged op is inserted at the second one. No ops are between them.
    let new = rewriter.insert(new, InsertionPoint::Before(op));
    rewriter.ir.move_regions(kept, new);
    let targets = regions(rewriter.ir, new);
    for at in 0..2 {
        let (target, from) = (targets[at], only_block(rewriter.ir, other[at]));
        let block = match (only_block(rewriter.ir, target), from) {
            (None, None) if at > 0 && types.is_empty() => continue,
            (None, _) => rewriter.ir.add_block(target, &[]),
            (Some(block), _) => {
                let end = rewriter.ir.last_op(block).expect("a block ends with a terminator");
                rewriter.erase(end);
                block
            }
        };
        if let Some(from) = from {
            let first = rewriter.ir.block_ops(block).next().filter(|_| !is_first_kept);
            let to = first.map_or(InsertionPoint::End(block), InsertionPoint::Before);
            let ops: Vec<Op> = rewriter.ir.block_ops(from).collect();
            let (_, ops) = ops.split_last().expect("a block ends with a terminator");
            for &it in ops {
                rewriter.move_op(it, to);
            }
        }
        rewriter.insert(NewOp::new("scf.yield").operands(&yielded[at]), InsertionPoint::End(block));
    }
    let values = results(rewriter.ir, new);
    let (a, b) = values.split_at(old.len());
    rewriter.replace(op, b);
    rewriter.replace(before, a);
    true
}

/// Returns true if `regions` have more items in total than `others`. *Cost.* Linear in the smaller
/// number of items.
fn is_longer(ir: &Ir, regions: &[Region], others: &[Region]) -> bool {
    let mut items = regions.iter().flat_map(|&it| ir.items(it));
    let mut others = others.iter().flat_map(|&it| ir.items(it));
    loop {
        match (items.next(), others.next()) {
            (Some(_), Some(_)) => {}
            (more, _) => return more.is_some(),
        }
    }
}

/// Merges an `scf.if` with the only op in it, another `scf.if`. The new condition is the
/// conjunction of both. If the inner one may be poison, a select is built: unlike `andi`, it is not
/// poison if the outer condition is false.
fn combine_nested(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [yes, no] = regions(rewriter.ir, op)[..] else { return false };
    let Some(block) = only_block(rewriter.ir, yes) else { return false };
    let ops: SmallVec<[Op; 3]> = rewriter.ir.block_ops(block).take(3).collect();
    let [inner, end] = ops[..] else { return false };
    if rewriter.ir.op(inner).kind != OpKind::ScfIf {
        return false;
    }
    let [inner_yes, inner_no] = regions(rewriter.ir, inner)[..] else { return false };
    let is_bare = |it: Region| {
        rewriter.ir.items(it).filter(|&it| rewriter.ir.op(it).kind.is_op()).nth(1).is_none()
    };
    if !is_bare(no) || !is_bare(inner_no) || only_block(rewriter.ir, inner_yes).is_none() {
        return false;
    }
    let yielded = operands(rewriter.ir, end);
    let otherwise =
        terminator(rewriter.ir, no).map(|it| operands(rewriter.ir, it)).unwrap_or_default();
    let inner_results = results(rewriter.ir, inner);
    let inner_otherwise =
        terminator(rewriter.ir, inner_no).map(|it| operands(rewriter.ir, it)).unwrap_or_default();
    // Each result is a result of the inner op for which both else regions yield the same value, or
    // it is a value defined outside.
    enum From {
        Inner(usize),
        Outside(Value, Value),
    }
    let mut from = Vec::new();
    for (at, &value) in yielded.iter().enumerate() {
        match inner_results.iter().position(|&it| it == value) {
            Some(number) => {
                if inner_otherwise[number] != otherwise[at] {
                    return false;
                }
                from.push(From::Inner(number));
            }
            None => {
                if !effects::is_outside(rewriter.ir, value, yes) {
                    return false;
                }
                from.push(From::Outside(value, otherwise[at]));
            }
        }
    }
    let condition = rewriter.operand(op, 0);
    let inner_condition = rewriter.operand(inner, 0);
    if !effects::is_outside(rewriter.ir, inner_condition, yes) {
        return false;
    }
    let both = if is_number(rewriter.ir, inner_condition) {
        rewriter.insert_binary("arith.andi", condition, inner_condition, op)
    } else {
        let no = rewriter.int(0, Type::I1, op);
        let select = NewOp::new("arith.select").operands(&[condition, inner_condition, no]);
        rewriter.insert_value(select.results(&[Type::I1]), op)
    };
    let all = results(rewriter.ir, op);
    let kept: Vec<(usize, usize)> = from
        .iter()
        .enumerate()
        .filter_map(|(at, it)| match it {
            From::Inner(number) => Some((at, *number)),
            From::Outside(..) => None,
        })
        .collect();
    let types: Vec<Type> = kept.iter().map(|&(at, _)| rewriter.ty(all[at])).collect();
    let new = NewOp::new("scf.if").operands(&[both]).results(&types).regions(2);
    let new = rewriter.insert(new, InsertionPoint::Before(op));
    let [to_yes, to_no] = regions(rewriter.ir, new)[..] else { return false };
    let inner_yields =
        terminator(rewriter.ir, inner_yes).map(|it| operands(rewriter.ir, it)).unwrap_or_default();
    move_block(rewriter, inner_yes, to_yes);
    if let Some(end) = terminator(rewriter.ir, to_yes) {
        let values: Vec<Value> = kept.iter().map(|&(_, number)| inner_yields[number]).collect();
        rewriter.set_operands(end, &values);
    }
    if !kept.is_empty() {
        let block = rewriter.ir.add_block(to_no, &[]);
        let values: Vec<Value> = kept.iter().map(|&(at, _)| otherwise[at]).collect();
        rewriter.insert(NewOp::new("scf.yield").operands(&values), InsertionPoint::End(block));
    }
    let new_results = results(rewriter.ir, new);
    let mut next = new_results.into_iter();
    let mut values = Vec::new();
    for it in from {
        values.push(match it {
            From::Inner(_) => next.next().expect("a result for each"),
            From::Outside(a, b) if a == b => a,
            From::Outside(a, b) => {
                let ty = rewriter.ty(a);
                let select = NewOp::new("arith.select").operands(&[condition, a, b]);
                rewriter.insert_value(select.results(&[ty]), new)
            }
        });
    }
    rewriter.replace(op, &values);
    true
}

/// Inlines an `scf.execute_region` of one block, unless it is marked `no_inline`.
fn run_once(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [region] = regions(rewriter.ir, op)[..] else { return false };
    let ends = terminator(rewriter.ir, region);
    let is_yield = ends.is_some_and(|it| rewriter.ir.op(it).kind == OpKind::ScfYield);
    let may_inline = rewriter.ir.attr(op, "no_inline").is_none();
    is_yield && may_inline && inline_region(rewriter, op, region, &[])
}

/// Inlines an `scf.execute_region` of several blocks whose parent is a function, unless it is
/// marked `no_inline`.
fn blocks_of_function(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [region] = regions(rewriter.ir, op)[..] else { return false };
    let around = rewriter.ir.parent_op(op).map(|it| rewriter.ir.op(it).kind);
    let blocks = rewriter.ir.blocks(region);
    let ends: Vec<Op> = blocks.iter().filter_map(|&it| rewriter.ir.last_op(it)).collect();
    let is_plain = ends.len() == blocks.len()
        && ends.iter().all(|&it| rewriter.ir.op(it).kind.has(Traits::TERMINATOR));
    let may_inline = rewriter.ir.attr(op, "no_inline").is_none();
    if !may_inline || !is_plain || blocks.len() < 2 || around != Some(OpKind::FuncFunc) {
        return false;
    }
    let before = rewriter.ir.block_of(op);
    let types = types(rewriter.ir, &results(rewriter.ir, op));
    let behind = rewriter.ir.split_before(op, &types);
    let mut moved: FxHashMap<Block, Block> = FxHashMap::default();
    let mut last = before;
    for &block in &blocks {
        let args = rewriter.ir.block(block).args.to_vec();
        let types = self::types(rewriter.ir, &args);
        last = rewriter.ir.add_block_after(last, &types);
        for (arg, new) in args.into_iter().zip(rewriter.ir.block(last).args.to_vec()) {
            rewriter.replace_uses(arg, new);
        }
        moved.insert(block, last);
        let ops: Vec<Op> = rewriter.ir.block_ops(block).collect();
        for op in ops {
            rewriter.move_op(op, InsertionPoint::End(last));
        }
    }
    for end in ends {
        if rewriter.ir.op(end).kind == OpKind::ScfYield {
            let values = operands(rewriter.ir, end);
            let branch = NewOp::new("cf.br").successor(behind, &values);
            rewriter.replace_with(end, branch);
            continue;
        }
        let targets: Vec<Option<Block>> =
            rewriter.ir.extra(end).successors.iter().map(|it| it.block).collect();
        for (at, target) in targets.into_iter().enumerate() {
            if let Some(&target) = target.and_then(|it| moved.get(&it)) {
                let passed = rewriter.ir.passed_operands(end, at);
                rewriter.set_successor(end, at, target, &passed);
            }
        }
    }
    let args = rewriter.ir.block(behind).args.to_vec();
    rewriter.replace(op, &args);
    // The entry block of a region has no predecessors.
    rewriter.merge_blocks(moved[&blocks[0]], before, &[]);
    true
}

/// Replaces a switch on a constant by the selected region.
fn known_switch(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(value) = rewriter.int_of(rewriter.operand(op, 0)) else { return false };
    let Some(cases) = flow::case_values(rewriter.ir, op, "cases") else { return false };
    // The default region comes first.
    let at = cases.iter().position(|&it| it == value).map_or(0, |it| it + 1);
    let Some(&region) = regions(rewriter.ir, op).get(at) else { return false };
    inline_region(rewriter, op, region, &[])
}
