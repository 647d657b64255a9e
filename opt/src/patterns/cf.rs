//! Patterns of branches.

use noisy_dataflow::flow;
use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{Block, Ir, Op, OpKind, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::patterns;
use crate::rewrite::Rewriter;
use crate::rewrite::greedy::Pattern;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    CfBr: merge_into_predecessor, pass_through;
    CfCondBr: known_condition, pass_through, same_successors, decided_before, condition_below;
    CfSwitch: known_case, pass_through, cases_of_default, switch_decided_before;
    CfAssert: holds;
};

fn targets(ir: &Ir, op: Op) -> Vec<Block> {
    ir.extra(op).successors.iter().filter_map(|it| it.block).collect()
}

fn target(ir: &Ir, op: Op, at: usize) -> Option<Block> {
    ir.extra(op).successors.get(at)?.block
}

/// Replaces an op by a branch to a block.
fn branch_to(rewriter: &mut Rewriter<'_>, op: Op, block: Block, passed: &[Value]) {
    rewriter.replace_with(op, NewOp::new("cf.br").successor(block, passed));
}

/// Merges a block into its only predecessor.
fn merge_into_predecessor(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(&target) = targets(rewriter.ir, op).first() else { return false };
    let block = rewriter.ir.block_of(op);
    let is_only = rewriter.ir.block(target).preds.len() == 1;
    if !is_only || target == block || is_entry(rewriter.ir, target) {
        return false;
    }
    // In unreachable blocks, a passed value may depend on the argument that it would replace.
    if rewriter.unreachable.contains(&block) {
        return false;
    }
    let passed = rewriter.ir.passed_operands(op, 0);
    rewriter.erase(op);
    rewriter.merge_blocks(target, block, &passed);
    true
}

fn is_entry(ir: &Ir, block: Block) -> bool {
    ir.entry_block(ir.block(block).region) == block
}

/// Returns the target of a block that contains only a branch, and the values passed to the target.
fn target_of_empty_block(ir: &Ir, block: Block, passed: &[Value]) -> Option<(Block, Vec<Value>)> {
    let mut ops = ir.block_ops(block);
    let only = ops.next().filter(|&it| ir.op(it).kind == OpKind::CfBr)?;
    let args = &ir.block(block).args;
    // Only the branch uses the arguments of the block.
    if args.iter().any(|&it| ir.value(it).uses.iter().any(|it| it.0 != only)) {
        return None;
    }
    let target = *targets(ir, only).first()?;
    if target == block {
        return None;
    }
    let replaced = |it: Value| match args.iter().position(|&arg| arg == it) {
        Some(at) => passed[at],
        None => it,
    };
    Some((target, ir.passed_operands(only, 0).into_iter().map(replaced).collect()))
}

/// Redirects a branch to a block that contains only a branch to the target of that block.
fn pass_through(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let mut is_changed = false;
    for at in 0..rewriter.ir.extra(op).successors.len() {
        if let Some(block) = target(rewriter.ir, op, at) {
            is_changed |= shorten_chain(rewriter, block);
            is_changed |= skip_empty_block(rewriter, op, at);
        }
    }
    is_changed
}

/// Redirects a successor past one block that contains only a branch.
fn skip_empty_block(rewriter: &mut Rewriter<'_>, op: Op, at: usize) -> bool {
    let Some(block) = target(rewriter.ir, op, at) else { return false };
    let passed = rewriter.ir.passed_operands(op, at);
    let Some((to, values)) = target_of_empty_block(rewriter.ir, block, &passed) else {
        return false;
    };
    rewriter.set_successor(op, at, to, &values);
    true
}

/// Redirects each block of a chain of blocks that contain only a branch to the end of the chain. In
/// a cycle, one block is redirected to itself and becomes the end. *Cost.* Linear in the length of
/// the chain, once.
fn shorten_chain(rewriter: &mut Rewriter<'_>, first: Block) -> bool {
    let next =
        |ir: &Ir, block: Block| Some(target_of_empty_block(ir, block, &ir.block(block).args)?.0);
    let only = |ir: &Ir, block: Block| ir.block_ops(block).next().expect("behind() found it");
    let (mut chain, mut places) = (Vec::new(), FxHashMap::default());
    let (mut at, mut is_changed) = (first, false);
    while let Some(to) = next(rewriter.ir, at) {
        if let Some(&place) = places.get(&at) {
            // Computes the values passed after one pass around the cycle.
            let mut values = rewriter.ir.block(at).args.to_vec();
            for &it in &chain[place..] {
                values =
                    target_of_empty_block(rewriter.ir, it, &values).expect("it is in the chain").1;
            }
            let op = only(rewriter.ir, at);
            rewriter.set_successor(op, 0, at, &values);
            is_changed = true;
            break;
        }
        places.insert(at, chain.len());
        chain.push(at);
        at = to;
    }
    for &block in chain.iter().rev() {
        let op = only(rewriter.ir, block);
        is_changed |= skip_empty_block(rewriter, op, 0);
    }
    is_changed
}

/// Replaces a branch with a constant condition by an unconditional branch.
fn known_condition(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(condition) = rewriter.int_of(rewriter.operand(op, 0)) else { return false };
    branch_to_successor(rewriter, op, usize::from(condition == 0))
}

/// Replaces a branch by an unconditional branch to its successor number `at`.
fn branch_to_successor(rewriter: &mut Rewriter<'_>, op: Op, at: usize) -> bool {
    let Some(to) = target(rewriter.ir, op, at) else { return false };
    let passed = rewriter.ir.passed_operands(op, at);
    branch_to(rewriter, op, to, &passed);
    true
}

/// Replaces a conditional branch with two equal successors by one branch that passes selected
/// values, if the block has no other predecessors.
fn same_successors(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [yes, no] = targets(rewriter.ir, op)[..] else { return false };
    if yes != no {
        return false;
    }
    let (a, b) = (rewriter.ir.passed_operands(op, 0), rewriter.ir.passed_operands(op, 1));
    if a == b {
        branch_to(rewriter, op, yes, &a);
        return true;
    }
    if rewriter.ir.block(yes).preds.len() != 2 {
        return false;
    }
    let condition = rewriter.operand(op, 0);
    let mut passed = Vec::new();
    for (&x, &y) in a.iter().zip(&b) {
        passed.push(if x == y {
            x
        } else {
            let ty = rewriter.ty(x);
            let new = NewOp::new("arith.select").operands(&[condition, x, y]).results(&[ty]);
            rewriter.insert_value(new, op)
        });
    }
    branch_to(rewriter, op, yes, &passed);
    true
}

/// Returns the only branch to the block of an op, with the number of the successor.
fn predecessor(ir: &Ir, op: Op) -> Option<(Op, usize)> {
    let block = ir.block_of(op);
    match ir.block(block).preds[..] {
        [(branch, at)] if !is_entry(ir, block) => Some((branch, at as usize)),
        _ => None,
    }
}

/// Replaces a branch by an unconditional branch if the only predecessor branches on the same
/// condition.
fn decided_before(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = &*rewriter.ir;
    let Some((before, at)) = predecessor(ir, op) else { return false };
    if ir.op(before).kind != OpKind::CfCondBr {
        return false;
    }
    let [yes, no] = targets(ir, before)[..] else { return false };
    if yes == no || rewriter.operand(before, 0) != rewriter.operand(op, 0) {
        return false;
    }
    branch_to_successor(rewriter, op, at)
}

/// Replaces the condition by a constant in a successor that has no other predecessors.
fn condition_below(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let condition = rewriter.operand(op, 0);
    if rewriter.int_of(condition).is_some() {
        return false;
    }
    let mut is_changed = false;
    for (at, block) in targets(rewriter.ir, op).into_iter().enumerate() {
        let is_only = rewriter.ir.block(block).preds.len() == 1;
        if !is_only {
            continue;
        }
        let uses: Vec<(Op, u32)> = rewriter
            .ir
            .value(condition)
            .uses
            .iter()
            .copied()
            .filter(|it| rewriter.ir.op(it.0).parent == rewriter.ir.op(op).parent)
            .filter(|it| rewriter.ir.block_of(it.0) == block)
            .collect();
        if uses.is_empty() {
            continue;
        }
        let value = i128::from(at == 0);
        let constant = rewriter.int(-value, Type::I1, op);
        for (user, index) in uses {
            rewriter.set_operand(user, index as usize, constant);
        }
        is_changed = true;
    }
    is_changed
}

/// Returns the case values of a switch.
fn cases(ir: &Ir, op: Op) -> Option<Vec<i128>> {
    if targets(ir, op).len() == 1 {
        return Some(Vec::new());
    }
    flow::case_values(ir, op, "case_values").filter(|it| it.len() + 1 == targets(ir, op).len())
}

/// Replaces a switch on a constant, or without cases, by an unconditional branch.
fn known_case(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(cases) = cases(rewriter.ir, op) else { return false };
    if cases.is_empty() {
        return branch_to_successor(rewriter, op, 0);
    }
    let Some(flag) = rewriter.int_of(rewriter.operand(op, 0)) else { return false };
    let at = cases.iter().position(|&it| it == flag).map_or(0, |it| it + 1);
    branch_to_successor(rewriter, op, at)
}

/// Removes cases with the same target and passed values as the default.
fn cases_of_default(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(cases) = cases(rewriter.ir, op) else { return false };
    let targets = targets(rewriter.ir, op);
    let passed = |at: usize| rewriter.ir.passed_operands(op, at);
    let (default, values) = (targets[0], passed(0));
    let kept: Vec<usize> = (0..cases.len())
        .filter(|&at| targets[at + 1] != default || passed(at + 1) != values)
        .collect();
    if kept.len() == cases.len() {
        return false;
    }
    replace_switch(rewriter, op, &cases, &kept)
}

/// Replaces a switch by one with only the cases in `kept`.
fn replace_switch(rewriter: &mut Rewriter<'_>, op: Op, cases: &[i128], kept: &[usize]) -> bool {
    let flag = rewriter.operand(op, 0);
    let ty = rewriter.ty(flag);
    let targets = targets(rewriter.ir, op);
    let passed = |at: usize, it: &Rewriter<'_>| it.ir.passed_operands(op, at);
    let default = passed(0, rewriter);
    if kept.is_empty() {
        branch_to(rewriter, op, targets[0], &default);
        return true;
    }
    let mut new = NewOp::new("cf.switch").operands(&[flag]).successor(targets[0], &default);
    for &at in kept {
        new = new.successor(targets[at + 1], &passed(at + 1, rewriter));
    }
    let words: Vec<String> = kept.iter().map(|&at| cases[at].to_string()).collect();
    let text = match &words[..] {
        [one] => format!("dense<{one}>"),
        _ => format!("dense<[{}]>", words.join(", ")),
    };
    let name = rewriter.ir.interner.intern_name(&text);
    let dims = [noisy_syntax::Dim::Fixed(kept.len() as u64)].into();
    let shape = noisy_syntax::TypeData::Vector { dims, element: ty };
    let shape = rewriter.ir.interner.intern_type(shape);
    let attr = rewriter.ir.interner.intern_attr(noisy_syntax::AttrData::Elements(name, shape));
    rewriter.replace_with(op, new.attr("case_values", attr));
    true
}

/// Replaces a switch by an unconditional branch, or removes cases, if the only predecessor ends
/// with a switch on the same value.
fn switch_decided_before(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = &*rewriter.ir;
    let Some((before, at)) = predecessor(ir, op) else { return false };
    if ir.op(before).kind != OpKind::CfSwitch
        || rewriter.operand(before, 0) != rewriter.operand(op, 0)
    {
        return false;
    }
    let (Some(known), Some(own)) = (cases(ir, before), cases(ir, op)) else { return false };
    // Only one successor leads to the block, as `predecessor` checks.
    match at.checked_sub(1) {
        Some(case) => {
            let number = known[case];
            let at = own.iter().position(|&it| it == number).map_or(0, |it| it + 1);
            branch_to_successor(rewriter, op, at)
        }
        None => {
            let known: FxHashSet<i128> = known.into_iter().collect();
            let kept: Vec<usize> = (0..own.len()).filter(|&at| !known.contains(&own[at])).collect();
            kept.len() != own.len() && replace_switch(rewriter, op, &own, &kept)
        }
    }
}

/// Removes an assertion of a true constant.
fn holds(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    if rewriter.int_of(rewriter.operand(op, 0)) != Some(-1) {
        return false;
    }
    rewriter.erase(op);
    true
}
