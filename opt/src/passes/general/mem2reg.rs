//! `mem2reg`: promotes memory slots to values. A slot is a `memref.alloca` of one element that is
//! only loaded and stored.
//!
//! *Law.* A load gets the value of the last store before it. A block that several stores reach, and
//! in which the slot is live, gets an argument. An unwritten slot has any value; as in MLIR, 0 is
//! used. *Method.* Pruned SSA construction (Cytron et al., 1991): arguments are added at the
//! iterated dominance frontier of the blocks with stores, where the slot is live. The operands of
//! branches are written once for all slots. *Cost.* O(n log n) for a slot with n uses in one block;
//! for other slots, also linear in the blocks and branches of the region.

use std::collections::BTreeMap;

use noisy_analyses::facts::values::{element_type, to_attr};
use noisy_dataflow::cfg::Cfg;
use noisy_integers::constant::Constant;
use noisy_integers::elements::ElementLists;
use noisy_syntax::dominance::DominatorTree;
use noisy_syntax::{Attr, Block, Dim, Ir, Op, OpKind, Region, Traits, Type, TypeData, Value};
use rustc_hash::FxHashMap;

use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::regions::first_forwarded_operand;
use crate::rewrite::{Rewriter, nested_ops, operand};

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "mem2reg",
    class: "Mem2Reg",
    anchor: None,
    summary: "Promotes memory slots into values.",
    // The option has no effect, as in LLVM 19.
    options: &[OptionInfo {
        name: "region-simplify",
        default: "true",
        kind: OptionKind::Bool,
        summary: "Perform control flow optimizations to the region tree",
    }],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let mut slots = nested_ops(cx.ir, op);
    slots.retain(|&it| cx.ir.op(it).kind == OpKind::MemrefAlloca);
    let mut graphs = FxHashMap::default();
    let mut passed = PassedValues::default();
    let (mut n_slots, mut n_arguments) = (0, 0);
    for it in slots {
        let Some(slot) = MemorySlot::of(cx.ir, it) else { continue };
        let region = cx.ir.op(it).parent;
        let graph = graphs.entry(region).or_insert_with(|| SlotRegion::new(cx.ir, region));
        let Some(ways) = SlotDataflow::of(cx.ir, graph, &slot) else { continue };
        if !cx.actions.is_within_limit() {
            break;
        }
        let at = cx.actions.target(cx.ir, it);
        n_arguments += ways.merges.len();
        n_slots += 1;
        promote(&mut Rewriter::new(cx.ir), graph, &slot, &ways, &mut passed);
        if cx.actions.is_watched() {
            passed.write(cx.ir);
        }
        cx.actions.record_step(cx.ir, "its loads become the stored values", || at);
    }
    passed.write(cx.ir);
    if n_slots == 0 {
        cx.analyses.preserve_all();
    }
    cx.add_statistic(
        "new block args - Total amount of new block argument inserted in blocks",
        n_arguments,
    );
    cx.add_statistic("promoted slots - Total amount of memory slot promoted", n_slots);
    Ok(())
}

/// A slot: a buffer of one element that is only loaded and stored, by ops in the region of the
/// alloca.
struct MemorySlot {
    alloca: Op,
    element: Type,
    /// The value before the first store.
    zero: Attr,
}

impl MemorySlot {
    fn of(ir: &mut Ir, alloca: Op) -> Option<Self> {
        let data = ir.op(alloca);
        // The ops of a graph region have no order.
        let around = ir.op(ir.parent_op(alloca)?).kind;
        if !around.is_op() || around == OpKind::Unknown || around.has(Traits::GRAPH_REGION) {
            return None;
        }
        let &[buffer] = data.results.as_slice() else { return None };
        let TypeData::MemRef { dims: Some(dims), element, .. } =
            ir.interner.type_data(ir.value(buffer).ty)
        else {
            return None;
        };
        let (element, region) = (*element, data.parent);
        let is_one = dims.iter().all(|it| *it == Dim::Fixed(1));
        let only_accessed = ir.value(buffer).uses.iter().all(|&(user, index)| {
            let user = ir.op(user);
            let is_access = match user.kind {
                OpKind::MemrefLoad => index == 0,
                OpKind::MemrefStore => index == 1,
                _ => false,
            };
            is_access && user.parent == region
        });
        if !is_one || !only_accessed {
            return None;
        }
        let scalar = element_type(ir, element).unwrap_or(element);
        let zero = match ir.interner.type_data(scalar) {
            TypeData::Float(_) => Constant::Float(0),
            _ => Constant::Int(0),
        };
        let zero = to_attr(ir, &ElementLists::default(), zero, element)?;
        Some(Self { alloca, element, zero })
    }
}

/// The control flow graph of a region, and its dominator tree.
struct SlotRegion {
    cfg: Cfg,
    tree: DominatorTree,
    /// The blocks that each block immediately dominates.
    children: Vec<Vec<u32>>,
    /// The dominance frontier of each block.
    frontier: Vec<Vec<u32>>,
}

impl SlotRegion {
    fn new(ir: &Ir, region: Region) -> Self {
        let cfg = Cfg::new(ir, region);
        let tree = cfg.dominators();
        let n = cfg.blocks.len();
        let (mut children, mut frontier) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        for node in 0..n {
            let Some(idom) = tree.idom(node) else { continue };
            children[idom].push(node as u32);
            for &from in &cfg.predecessors[node] {
                let mut at = from as usize;
                while tree.is_reachable(at)
                    && at != idom
                    && frontier[at].last() != Some(&(node as u32))
                {
                    frontier[at].push(node as u32);
                    let Some(next) = tree.idom(at) else { break };
                    at = next;
                }
            }
        }
        Self { cfg, tree, children, frontier }
    }
}

/// The dataflow of a slot.
struct SlotDataflow {
    /// The loads and stores of each block, in order.
    accesses: BTreeMap<u32, Vec<Op>>,
    /// The blocks that get an argument, in order.
    merges: Vec<u32>,
}

impl SlotDataflow {
    /// Returns the dataflow of a slot. `None` if a block needs an argument, but a predecessor
    /// cannot pass it.
    fn of(ir: &Ir, graph: &SlotRegion, slot: &MemorySlot) -> Option<Self> {
        let node = |op: Op| graph.cfg.node(ir.block_of(op)).map(|it| it as u32);
        let home = node(slot.alloca)?;
        let mut accesses: BTreeMap<u32, Vec<Op>> = BTreeMap::new();
        for &(user, _) in &ir.value(ir.op(slot.alloca).results[0]).uses {
            accesses.entry(node(user)?).or_default().push(user);
        }
        for it in accesses.values_mut() {
            it.sort_by_cached_key(|&op| ir.rank(op));
        }
        if accesses.keys().all(|&it| it == home) {
            return Some(Self { accesses, merges: Vec::new() });
        }
        let is_store = |&op: &Op| ir.op(op).kind == OpKind::MemrefStore;
        let n = graph.cfg.blocks.len();
        let mut writes = vec![false; n];
        writes[home as usize] = true;
        let mut is_live = vec![false; n];
        let mut waiting = Vec::new();
        for (&block, ops) in &accesses {
            writes[block as usize] |= ops.iter().any(is_store);
            // In the block of the alloca, the slot has no value before the alloca.
            if block != home && !is_store(&ops[0]) {
                is_live[block as usize] = true;
                waiting.push(block);
            }
        }
        while let Some(block) = waiting.pop() {
            for &from in &graph.cfg.predecessors[block as usize] {
                if !writes[from as usize] && !std::mem::replace(&mut is_live[from as usize], true) {
                    waiting.push(from);
                }
            }
        }
        let mut merges = Vec::new();
        let mut is_merge = vec![false; n];
        let mut waiting: Vec<u32> = (0..n as u32).filter(|&it| writes[it as usize]).collect();
        while let Some(block) = waiting.pop() {
            for &at in &graph.frontier[block as usize] {
                if is_live[at as usize] && !std::mem::replace(&mut is_merge[at as usize], true) {
                    merges.push(at);
                    waiting.push(at);
                }
            }
        }
        merges.sort_unstable();
        let can_pass = |at: u32| {
            let branches = &ir.block(graph.cfg.blocks[at as usize]).preds;
            branches.iter().all(|&(op, _)| first_forwarded_operand(ir.op(op).kind).is_some())
        };
        merges.iter().all(|&it| can_pass(it)).then_some(Self { accesses, merges })
    }
}

/// The additional operands of branches for new arguments of all slots. Writing them for each slot
/// separately would be quadratic in the operands of a branch.
#[derive(Default)]
struct PassedValues {
    /// The operands, in the order of the arguments.
    list: Vec<PassedValue>,
    /// The indices in `list` of results of loads of other slots, which are replaced later.
    loads: FxHashMap<Value, Vec<u32>>,
}

/// An additional operand for a successor of a branch.
struct PassedValue {
    branch: (Op, u32),
    block: Block,
    value: Value,
}

impl PassedValues {
    fn push(&mut self, ir: &Ir, it: PassedValue) {
        if is_loaded(ir, it.value) {
            self.loads.entry(it.value).or_default().push(self.list.len() as u32);
        }
        self.list.push(it);
    }

    /// Replaces the result of a load.
    fn replace(&mut self, ir: &Ir, old: Value, new: Value) {
        let Some(places) = self.loads.remove(&old) else { return };
        for &it in &places {
            self.list[it as usize].value = new;
        }
        if is_loaded(ir, new) {
            self.loads.entry(new).or_default().extend(places);
        }
    }

    fn write(&mut self, ir: &mut Ir) {
        self.loads.clear();
        let mut list = std::mem::take(&mut self.list);
        list.sort_by_key(|it| it.branch);
        for more in list.chunk_by(|a, b| a.branch == b.branch) {
            let ((branch, index), block) = (more[0].branch, more[0].block);
            let mut values = ir.passed_operands(branch, index as usize);
            values.extend(more.iter().map(|it| it.value));
            ir.set_successor(branch, index as usize, block, &values);
        }
    }
}

fn is_loaded(ir: &Ir, value: Value) -> bool {
    ir.defining_op(value).is_some_and(|it| ir.op(it).kind == OpKind::MemrefLoad)
}

/// Replaces the loads of a slot and erases the slot. The operands of branches are written later.
fn promote(
    rewriter: &mut Rewriter<'_>,
    graph: &SlotRegion,
    slot: &MemorySlot,
    ways: &SlotDataflow,
    passed: &mut PassedValues,
) {
    let home = rewriter.ir.block_of(slot.alloca);
    let mut initial = None;
    let mut content = |rewriter: &mut Rewriter<'_>, now: Option<Value>| {
        now.unwrap_or_else(|| {
            *initial.get_or_insert_with(|| {
                let first = rewriter.ir.block_ops(home).next().unwrap_or(slot.alloca);
                let value = rewriter.constant_attr(slot.zero, slot.element, first);
                value.expect("an op says the constant")
            })
        })
    };
    let block_of = |node: u32| -> Block { graph.cfg.blocks[node as usize] };
    let n = graph.cfg.blocks.len();
    let mut arguments = vec![None; n];
    for &it in &ways.merges {
        arguments[it as usize] = Some(rewriter.ir.add_argument(block_of(it), slot.element));
    }
    // The value of the slot at the end of each block, if it was written. Unreachable blocks have no
    // dominators, so the value at their end is unknown.
    let mut at_end = vec![None; n];
    let mut waiting: Vec<(u32, Option<Value>)> = (0..n as u32)
        .filter(|&it| it != 0 && !graph.tree.is_reachable(it as usize))
        .map(|it| (it, None))
        .collect();
    waiting.push((0, None));
    while let Some((node, before)) = waiting.pop() {
        let mut now = arguments[node as usize].or(before);
        for &op in ways.accesses.get(&node).into_iter().flatten() {
            if rewriter.ir.op(op).kind == OpKind::MemrefLoad {
                let value = content(rewriter, now);
                passed.replace(rewriter.ir, rewriter.ir.op(op).results[0], value);
                rewriter.replace(op, &[value]);
            } else {
                now = operand(rewriter.ir, op, 0);
                rewriter.erase(op);
            }
        }
        if graph.tree.is_reachable(node as usize) {
            at_end[node as usize] = now;
        }
        waiting.extend(graph.children[node as usize].iter().map(|&it| (it, now)));
    }
    for &it in &ways.merges {
        let block = block_of(it);
        for branch in rewriter.ir.block(block).preds.clone() {
            let from = graph.cfg.node(rewriter.ir.block_of(branch.0));
            let value = content(rewriter, from.and_then(|it| at_end[it]));
            passed.push(rewriter.ir, PassedValue { branch, block, value });
        }
    }
    rewriter.erase(slot.alloca);
}
