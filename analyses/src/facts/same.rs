//! Ops that compute the same values as an earlier op: the pass `cse` merges them, and the lint
//! `same-value` reports them.
//!
//! *Law.* Two ops are equal if they have the same name, attributes, operands (in any order, if the
//! op is commutative), result types and regions. An op may be replaced by an equal op that
//! dominates it; a [`DominanceWalk`] keeps the dominating ops. Ops that only read memory are equal
//! only if they are in one block and no op between them may write. *Cost.* Linear in the ops. For
//! equal loads in one block, the ops between them are visited once more.

use std::hash::{Hash as _, Hasher as _};

use hashbrown::HashTable;
use noisy_syntax::{Block, Ir, Op, OpKind, Region, Traits, Value};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::facts::effects;
use noisy_dataflow::cfg::Cfg;

/// The representative op of each equivalence class, in nested scopes.
#[derive(Debug, Default)]
struct ComputedOps {
    /// Each op with the hash of its computation.
    table: HashTable<(u64, Op)>,
    /// The log of insertions: the hash, the op, and the representative that it replaced.
    undo: Vec<(u64, Op, Option<Op>)>,
    /// The index in `undo` at which each open scope starts.
    marks: Vec<usize>,
}

impl ComputedOps {
    fn open(&mut self) {
        self.marks.push(self.undo.len());
    }

    fn find(&self, ir: &Ir, hash: u64, op: Op, number: &impl Fn(Value) -> Value) -> Option<Op> {
        let is_same = |it: &(u64, Op)| it.0 == hash && computes_same(ir, it.1, op, number);
        self.table.find(hash, is_same).map(|it| it.1)
    }

    /// Makes an op the representative of its class in place of `old`.
    fn insert(&mut self, hash: u64, op: Op, old: Option<Op>) {
        self.replace(hash, old, Some(op));
        self.undo.push((hash, op, old));
    }

    fn replace(&mut self, hash: u64, old: Option<Op>, new: Option<Op>) {
        let found = old.and_then(|old| self.table.find_entry(hash, |it| it.1 == old).ok());
        match (found, new) {
            (Some(mut found), Some(new)) => found.get_mut().1 = new,
            (Some(found), None) => {
                found.remove();
            }
            (None, Some(new)) => {
                self.table.insert_unique(hash, (hash, new), |it| it.0);
            }
            (None, None) => {}
        }
    }

    /// Removes the ops of the innermost scope.
    fn close(&mut self) {
        let to = self.marks.pop().unwrap_or(0);
        if self.marks.is_empty() {
            // The outermost scope ends: the table becomes empty.
            self.table.clear();
            self.undo.clear();
        }
        while self.undo.len() > to {
            let Some((hash, op, old)) = self.undo.pop() else { return };
            self.replace(hash, Some(op), old);
        }
    }
}

/// A pending step of a walk. The walk has an explicit stack, since programs may be nested deeply.
#[derive(Debug)]
enum WalkStep {
    Ops(Vec<Op>, usize),
    Region(Region),
    Open,
    Close,
    /// Restores the table from before an isolated op.
    Restore(Box<ComputedOps>),
}

/// An event of a [`DominanceWalk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEvent {
    /// A region. The walk skips it unless [`DominanceWalk::enter_region`] is called.
    Region(Region),
    /// An op. The walk skips its regions unless [`DominanceWalk::enter_op`] is called.
    Op(Op),
}

/// A walk over ops in an order in which dominating ops come first.
#[derive(Debug)]
pub struct DominanceWalk {
    seen: ComputedOps,
    steps: Vec<WalkStep>,
    /// For an op and its block: the last op known to have no possible write between the two.
    unwritten_until: FxHashMap<(Op, Block), Op>,
}

impl DominanceWalk {
    /// Starts a walk over the regions of an op.
    pub fn new(ir: &Ir, op: Op) -> Self {
        let steps = ir.op(op).regions.iter().rev().map(|it| WalkStep::Region(it.1)).collect();
        Self { seen: ComputedOps::default(), steps, unwritten_until: FxHashMap::default() }
    }

    /// Returns the next event; `None` at the end.
    pub fn step(&mut self) -> Option<WalkEvent> {
        loop {
            match self.steps.pop()? {
                WalkStep::Region(region) => return Some(WalkEvent::Region(region)),
                WalkStep::Open => self.seen.open(),
                WalkStep::Close => self.seen.close(),
                WalkStep::Restore(old) => self.seen = *old,
                WalkStep::Ops(ops, at) => {
                    if let Some(&op) = ops.get(at) {
                        self.steps.push(WalkStep::Ops(ops, at + 1));
                        return Some(WalkEvent::Op(op));
                    }
                }
            }
        }
    }

    /// Continues with the ops of a region that [`DominanceWalk::step`] returned.
    pub fn enter_region(&mut self, ir: &Ir, region: Region) {
        enter(ir, region, &mut self.steps);
    }

    /// Continues with the regions of an op that [`DominanceWalk::step`] returned.
    pub fn enter_op(&mut self, ir: &Ir, op: Op) {
        let data = ir.op(op);
        if data.regions.is_empty() {
            return;
        }
        if data.kind.has(Traits::ISOLATED) || data.kind == OpKind::Unknown {
            self.steps.push(WalkStep::Restore(Box::new(std::mem::take(&mut self.seen))));
        }
        self.steps.extend(data.regions.iter().rev().map(|it| WalkStep::Region(it.1)));
    }

    /// Returns a dominating op that computes the same values as `op`. Without one, records `op` for
    /// later calls. `number` maps each value to its representative: equal numbers imply equal
    /// values.
    pub fn find_same(&mut self, ir: &Ir, op: Op, number: &impl Fn(Value) -> Value) -> Option<Op> {
        let data = ir.op(op);
        // Ops with regions of several blocks are not compared.
        let is_simple = data.regions.iter().all(|it| ir.only_block(it.1).is_some());
        let is_plain = effects::is_free_of_effects(ir, op);
        let is_read = !is_plain && effects::only_reads(ir, op);
        if !is_simple || !(is_plain || is_read) || data.results.is_empty() {
            return None;
        }
        let hash = hash(ir, op, number)?;
        let same = self.seen.find(ir, hash, op, number);
        if let Some(same) = same
            && (is_plain || self.is_unwritten(ir, same, op))
        {
            return Some(same);
        }
        self.seen.insert(hash, op, same);
        None
    }

    /// Returns true if two ops are in one block and no op between them may write.
    fn is_unwritten(&mut self, ir: &Ir, first: Op, second: Op) -> bool {
        let block = ir.block_of(second);
        if ir.block_of(first) != block {
            return false;
        }
        let from = self.unwritten_until.get(&(first, block)).copied().unwrap_or(first);
        let mut at = ir.next(from);
        while let Some(it) = at {
            if it == second {
                self.unwritten_until.insert((first, block), second);
                return true;
            }
            if effects::may_write(ir, it) {
                return false;
            }
            at = ir.next(it);
        }
        false
    }
}

/// Adds the steps of a region: its blocks in preorder of the dominator tree. The scope of a block
/// ends after the blocks that it dominates.
fn enter(ir: &Ir, region: Region, steps: &mut Vec<WalkStep>) {
    let blocks = ir.blocks(region);
    let graph = ir
        .region(region)
        .parent
        .is_some_and(|it| ir.op(it).kind.has(Traits::GRAPH_REGION) && blocks.len() <= 1);
    if let [block] = blocks[..] {
        steps.push(WalkStep::Close);
        // In a graph region values may be used before their definition, so no op dominates another.
        let ops: Vec<Op> = ir.block_ops(block).collect();
        if graph {
            for op in ops.into_iter().rev() {
                for &(_, inner) in ir.op(op).regions.iter().rev() {
                    steps.push(WalkStep::Region(inner));
                }
            }
        } else {
            steps.push(WalkStep::Ops(ops, 0));
        }
        steps.push(WalkStep::Open);
        return;
    }
    let cfg = Cfg::new(ir, region);
    let tree = cfg.dominators();
    let n = cfg.blocks.len();
    if n == 0 {
        return;
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    for node in 1..n {
        if let Some(idom) = tree.idom(node) {
            children[idom].push(node);
        }
    }
    // Each block, then the blocks that it dominates, then the end of its scope.
    let mut order: Vec<(usize, bool)> = Vec::new();
    let mut stack = vec![(0, false)];
    while let Some((node, is_end)) = stack.pop() {
        order.push((node, is_end));
        if !is_end {
            stack.push((node, true));
            stack.extend(children[node].iter().rev().map(|&it| (it, false)));
        }
    }
    for (node, is_end) in order.into_iter().rev() {
        if is_end {
            steps.push(WalkStep::Close);
        } else {
            steps.push(WalkStep::Ops(ir.block_ops(cfg.blocks[node]).collect(), 0));
            steps.push(WalkStep::Open);
        }
    }
}

/// Returns the numbers of the operands of an op, sorted if the op is commutative.
fn operands(ir: &Ir, op: Op, number: &impl Fn(Value) -> Value) -> Option<SmallVec<[Value; 4]>> {
    let data = ir.op(op);
    let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
    for operand in &data.operands {
        operands.push(number(operand.value?));
    }
    if data.kind.has(Traits::COMMUTATIVE) {
        operands.sort_unstable();
    }
    Some(operands)
}

/// Returns the hash of an op by which it is compared; `None` if the op is not compared.
fn hash(ir: &Ir, op: Op, number: &impl Fn(Value) -> Value) -> Option<u64> {
    let data = ir.op(op);
    let mut state = FxHasher::default();
    data.name.hash(&mut state);
    for operand in operands(ir, op, number)? {
        operand.hash(&mut state);
    }
    ir.extra(op).attrs.hash(&mut state);
    for &result in &data.results {
        ir.value(result).ty.hash(&mut state);
    }
    if !data.regions.is_empty() {
        encoded_regions(ir, op, number)?.hash(&mut state);
    }
    Some(state.finish())
}

/// Returns true if two ops are equal, regardless of their positions.
fn computes_same(ir: &Ir, a: Op, b: Op, number: &impl Fn(Value) -> Value) -> bool {
    let (x, y) = (ir.op(a), ir.op(b));
    let types = |op: Op| ir.op(op).results.iter().map(|&it| ir.value(it).ty);
    x.name == y.name
        && x.operands.len() == y.operands.len()
        && operands(ir, a, number) == operands(ir, b, number)
        && ir.extra(a).attrs == ir.extra(b).attrs
        && types(a).eq(types(b))
        && x.regions.len() == y.regions.len()
        && (x.regions.is_empty()
            || encoded_regions(ir, a, number)
                .is_some_and(|it| Some(it) == encoded_regions(ir, b, number)))
}

/// Encodes the regions of an op as numbers, so that equal regions have equal lists; `None` if the
/// op is not compared.
fn encoded_regions(ir: &Ir, op: Op, number: &impl Fn(Value) -> Value) -> Option<Vec<u64>> {
    let mut out = Vec::new();
    let mut local: FxHashMap<Value, u64> = FxHashMap::default();
    for &(_, region) in &ir.op(op).regions {
        out.push(u64::MAX);
        for &block in &ir.blocks(region) {
            for &arg in &ir.block(block).args {
                out.push(ir.value(arg).ty.index() as u64);
                local.insert(arg, local.len() as u64);
            }
        }
        let mut ops = Vec::new();
        ir.walk(region, &mut |it| ops.push(it));
        for inner in ops {
            let it = ir.op(inner);
            if !it.regions.is_empty() || !ir.extra(inner).successors.is_empty() {
                return None;
            }
            out.extend([u64::MAX - 1, it.name.index() as u64]);
            for operand in &it.operands {
                let value = operand.value?;
                let own = local.get(&value).map(|it| it << 1 | 1);
                out.push(own.unwrap_or((number(value).index() as u64) << 1));
            }
            out.push(u64::MAX - 2);
            for &(name, attr) in &ir.extra(inner).attrs {
                out.extend([name.index() as u64, attr.index() as u64]);
            }
            out.push(u64::MAX - 3);
            for &result in &it.results {
                out.push(ir.value(result).ty.index() as u64);
                local.insert(result, local.len() as u64);
            }
        }
    }
    Some(out)
}
