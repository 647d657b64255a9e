//! `inline`: replaces calls by the bodies of their callees.
//!
//! Callees are processed before their callers, so that copied bodies are final. *Law.* Directly and
//! indirectly recursive functions are not inlined. Private functions without uses are erased.
//! *Cost.* Linear in the number of copied ops. It may grow exponentially: if each function calls
//! the previous one twice, it doubles per function. Calls beyond a limit are kept, and the first of
//! them is reported.

use noisy_dataflow::flow;
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Block, Ir, Op, OpKind, Region, Traits, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::passes::general::canonicalize::rewrite;
use crate::passes::general::symbols::{Visibility, is_owned, symbol_name, visibility};
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns;
use crate::rewrite::greedy::{GreedyConfig, Patterns};
use crate::rewrite::{Rewriter, nested_ops, operands, preorder};

/// Maximum number of copied ops: the larger one of a constant, and of a multiple of the ops of the
/// program.
const MAX_OPS: usize = 400_000;
const MAX_GROWTH: usize = 8;

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "inline",
    class: "Inliner",
    anchor: None,
    summary: "Inline function calls",
    options: &[
        OptionInfo {
            name: "default-pipeline",
            default: "canonicalize",
            kind: OptionKind::Text,
            summary: "The optimizer pipeline used for callables that do not have a dedicated optimizer pipeline in opPipelineList",
        },
        OptionInfo {
            name: "max-iterations",
            default: "4",
            kind: OptionKind::Int,
            summary: "Maximum number of iterations when inlining within an SCC",
        },
    ],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let mut functions = nested_ops(cx.ir, op);
    let room = MAX_OPS.max(MAX_GROWTH * functions.len());
    functions.retain(|&it| cx.ir.op(it).kind == OpKind::FuncFunc);
    let (order, circular) = bottom_up(cx.ir, &functions);
    let pipeline = options.text("default-pipeline").to_owned();
    let patterns = Patterns::new(patterns::all());
    let is_other = !matches!(&*pipeline, "" | "canonicalize");
    let run = is_other.then(|| (cx.parse_nested)(&format!("func.func({pipeline})"))).transpose()?;
    let mut n_copied = 0;
    let mut has_left = false;
    // Number of ops of each finished function.
    let mut sizes: FxHashMap<Op, usize> = FxHashMap::default();
    let mut n = 0;
    for function in order {
        loop {
            let calls: Vec<Op> = nested_ops(cx.ir, function)
                .into_iter()
                .filter(|&it| cx.ir.op(it).kind == OpKind::FuncCall)
                .collect();
            let mut is_changed = false;
            for call in calls {
                let Some(callee) = flow::callee(cx.ir, call) else { continue };
                // Calls of recursive functions are not inlined.
                let may_inline = !circular.contains(&callee)
                    && flow::function_body(cx.ir, callee).is_some()
                    && cx.ir.attr(call, "no_inline").is_none()
                    && cx.ir.attr(callee, "no_inline").is_none()
                    // Symbols in the body resolve to the same ops at the call.
                    && cx.ir.symbol_table_around(call) == cx.ir.parent_op(callee);
                if !may_inline {
                    continue;
                }
                let size = *sizes.entry(callee).or_insert_with(|| nested_ops(cx.ir, callee).len());
                if size > room - n_copied {
                    if !std::mem::replace(&mut has_left, true) {
                        let text = format!(
                            "the {size} ops of the callee are not copied: {n_copied} ops were copied already, and at most {room} are allowed"
                        );
                        cx.remark(call, &text);
                    }
                    continue;
                }
                if cx.actions.is_within_limit() {
                    let at = cx.actions.target(cx.ir, call);
                    if inline_call(cx.ir, call, callee) {
                        is_changed = true;
                        n_copied += size;
                        n += 1;
                        cx.actions.record_step(
                            cx.ir,
                            "the body of the callee replaces the call",
                            || at,
                        );
                    }
                }
            }
            if !is_changed {
                break;
            }
        }
        if pipeline == "canonicalize" {
            rewrite(cx, function, &patterns, GreedyConfig::default(), false)?;
        } else if let Some(run) = &run {
            run(cx, function)?;
        }
    }
    // Erase functions without uses.
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for &function in &functions {
            if !cx.ir.is_alive(function)
                || visibility(cx.ir, function) != Visibility::Private
                || !is_owned(cx.ir, function)
                || !cx.actions.is_within_limit()
            {
                continue;
            }
            let Some(name) = symbol_name(cx.ir, function) else { continue };
            let is_used = cx.ir.symbol_users(name).iter().any(|&it| it != function);
            let at = cx.actions.target(cx.ir, function);
            if !is_used
                && flow::function_body(cx.ir, function).is_some()
                && cx.ir.erase(function).is_ok()
            {
                is_changed = true;
                cx.actions.record_step(cx.ir, "nothing calls it", || at);
            }
        }
    }
    cx.add_statistic("num-inlined - Number of calls inlined", n);
    Ok(())
}

/// Returns the functions that a function calls.
fn callees(ir: &Ir, function: Op) -> Vec<Op> {
    let calls =
        nested_ops(ir, function).into_iter().filter(|&it| ir.op(it).kind == OpKind::FuncCall);
    calls.filter_map(|it| flow::callee(ir, it)).collect()
}

/// Returns the functions, callees before callers, and the set of recursive functions.
fn bottom_up(ir: &Ir, functions: &[Op]) -> (Vec<Op>, FxHashSet<Op>) {
    let calls: FxHashMap<Op, Vec<Op>> = functions.iter().map(|&it| (it, callees(ir, it))).collect();
    let of = |it: Op| calls.get(&it).map_or(&[][..], Vec::as_slice);
    let mut order = Vec::new();
    let mut seen: FxHashSet<Op> = FxHashSet::default();
    for &function in functions {
        let mut stack = vec![(function, false)];
        while let Some((it, is_done)) = stack.pop() {
            if is_done {
                order.push(it);
            } else if seen.insert(it) {
                stack.push((it, true));
                stack.extend(of(it).iter().rev().map(|&it| (it, false)));
            }
        }
    }
    // The strongly connected components of the call graph, by Kosaraju's algorithm.
    let mut callers: FxHashMap<Op, Vec<Op>> = FxHashMap::default();
    for &function in functions {
        for &callee in of(function) {
            callers.entry(callee).or_default().push(function);
        }
    }
    let mut done: FxHashSet<Op> = FxHashSet::default();
    let mut circular: FxHashSet<Op> = FxHashSet::default();
    for &root in order.iter().rev() {
        if !done.insert(root) {
            continue;
        }
        let mut component = vec![root];
        let mut at = 0;
        while let Some(&it) = component.get(at) {
            at += 1;
            for &caller in callers.get(&it).map_or(&[][..], Vec::as_slice) {
                if done.insert(caller) {
                    component.push(caller);
                }
            }
        }
        if component.len() > 1 || of(root).contains(&root) {
            circular.extend(component);
        }
    }
    (order, circular)
}

/// Inlines a call. Returns false if that is impossible.
fn inline_call(ir: &mut Ir, call: Op, callee: Op) -> bool {
    let Some(body) = flow::function_body(ir, callee) else { return false };
    let blocks = ir.blocks(body);
    let inputs = operands(ir, call);
    let Some(&entry) = blocks.first() else { return false };
    let args = &ir.block(entry).args;
    let is_same = |a: &[Value], b: &[Value]| {
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| ir.value(a).ty == ir.value(b).ty)
    };
    if !is_same(args, &inputs) {
        return false;
    }
    let ends: Vec<Op> = blocks.iter().filter_map(|&it| ir.last_op(it)).collect();
    let is_plain = ends.len() == blocks.len()
        && ends.iter().all(|&it| ir.op(it).kind.has(Traits::TERMINATOR))
        && blocks.iter().all(|&it| {
            let region = ir.block(it).region;
            region == body
        });
    let returns = ends.iter().filter(|&&it| ir.op(it).kind == OpKind::FuncReturn).count();
    if !is_plain || returns == 0 {
        return false;
    }
    let around = ir.parent_op(call).map(|it| ir.op(it).kind);
    // Only some regions may have several blocks.
    if blocks.len() > 1 && !matches!(around, Some(OpKind::FuncFunc | OpKind::ScfExecuteRegion)) {
        return false;
    }
    let mut values: FxHashMap<Value, Value> = FxHashMap::default();
    values.extend(ir.block(entry).args.iter().copied().zip(inputs));
    let mut rewriter = Rewriter::new(ir);
    if blocks.len() == 1 {
        let ops: Vec<Op> = rewriter.ir.block_ops(entry).collect();
        let (&end, ops) = ops.split_last().expect("a block that ends has ops");
        if rewriter.ir.op(end).kind != OpKind::FuncReturn {
            return false;
        }
        for &op in ops {
            rewriter.clone_op(op, InsertionPoint::Before(call), &mut values);
        }
        let results: Vec<Value> = operands(rewriter.ir, end)
            .into_iter()
            .map(|it| values.get(&it).copied().unwrap_or(it))
            .collect();
        rewriter.replace(call, &results);
        return true;
    }
    inline_blocks(&mut rewriter, call, &blocks, values);
    true
}

/// Splits the block of a call, inserts copies of the blocks of the callee, and replaces returns by
/// branches to the second half.
fn inline_blocks(
    rewriter: &mut Rewriter<'_>,
    call: Op,
    blocks: &[Block],
    mut values: FxHashMap<Value, Value>,
) {
    let block = rewriter.ir.block_of(call);
    let results = rewriter.ir.op(call).results.to_vec();
    let types: Vec<Type> = results.iter().map(|&it| rewriter.ty(it)).collect();
    let behind = rewriter.ir.split_before(call, &types);
    let args = rewriter.ir.block(behind).args.to_vec();
    rewriter.replace(call, &args);
    let mut copies: FxHashMap<Block, Block> = FxHashMap::default();
    let mut last = block;
    for &from in blocks {
        let inner = rewriter.ir.block(from).args.to_vec();
        let types: Vec<Type> = inner.iter().map(|&it| rewriter.ty(it)).collect();
        let is_entry = from == blocks[0];
        let copy = rewriter.ir.add_block_after(last, if is_entry { &[] } else { &types });
        if !is_entry {
            values.extend(inner.into_iter().zip(rewriter.ir.block(copy).args.to_vec()));
        }
        copies.insert(from, copy);
        last = copy;
    }
    // Blocks may use values of later blocks, so copy all ops first, then set all operands.
    let mut copied: Vec<Op> = Vec::new();
    let mut branches: Vec<(Op, Block)> = Vec::new();
    for &from in blocks {
        let to = copies[&from];
        let ops: Vec<Op> = rewriter.ir.block_ops(from).collect();
        for op in ops {
            if rewriter.ir.op(op).kind.has(Traits::TERMINATOR) {
                branches.push((op, to));
            } else {
                copied.push(rewriter.clone_op(op, InsertionPoint::End(to), &mut values));
            }
        }
    }
    let of = |it: Value, values: &FxHashMap<Value, Value>| values.get(&it).copied().unwrap_or(it);
    for op in copied {
        let mut stack = vec![op];
        while let Some(op) = stack.pop() {
            for at in 0..rewriter.ir.op(op).operands.len() {
                let old = rewriter.operand(op, at);
                let new = of(old, &values);
                if new != old {
                    rewriter.set_operand(op, at, new);
                }
            }
            let regions: Vec<Region> = rewriter.ir.op(op).regions.iter().map(|it| it.1).collect();
            for region in regions {
                stack.extend(preorder(rewriter.ir, region));
            }
        }
    }
    for (op, to) in branches {
        let own: Vec<Value> =
            rewriter.ir.own_operands(op).into_iter().map(|it| of(it, &values)).collect();
        if rewriter.ir.op(op).kind == OpKind::FuncReturn {
            rewriter.insert(NewOp::new("cf.br").successor(behind, &own), InsertionPoint::End(to));
            continue;
        }
        let mut new = NewOp::new(rewriter.ir.op_name(op)).operands(&own);
        for &(name, attr) in &rewriter.ir.extra(op).attrs {
            new = new.attr(rewriter.ir.interner.str(name), attr);
        }
        let targets: Vec<Option<Block>> =
            rewriter.ir.extra(op).successors.iter().map(|it| it.block).collect();
        for (at, target) in targets.into_iter().enumerate() {
            let Some(target) = target.and_then(|it| copies.get(&it)) else { continue };
            let passed: Vec<Value> =
                rewriter.ir.passed_operands(op, at).into_iter().map(|it| of(it, &values)).collect();
            new = new.successor(*target, &passed);
        }
        rewriter.insert(new, InsertionPoint::End(to));
    }
    let entry = copies[&blocks[0]];
    // The entry block of a function has no predecessors.
    rewriter.merge_blocks(entry, block, &[]);
}
