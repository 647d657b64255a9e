//! Sparse forward dataflow: a fact per value, from the definitions to the uses, from scratch or from an edit outward.
//!
//! # Notation
//!
//! An op is *live* if its block is; a block is live if it is the entry of a region that its op enters, or if a live branch
//! may go to it. The solver owns this: dead code has bottom facts, and an analysis cannot be run without it. A *cycle* is a loop
//! op ([`Flow::For`], [`Flow::While`]) or an op with a region in which a branch goes backward in the text; everything
//! else is acyclic in program order, because a use that stands before its definition is not an edge: it reads
//! [`SparseForward::unknown`].
//!
//! # From scratch
//!
//! One sweep over all items in program order (`sweep.rs`): each op is visited after everything that feeds it. Cycles
//! are iterated where they stand, innermost first.
//!
//! # From an edit
//!
//! The changed ops go into a queue ordered by program order, by the place where they start in the text; an op with
//! regions has a second turn at its end, where its results are joined from its yields. A visit that changes a fact enters the
//! users of that value, one that changes whether a block is live enters its ops. Since an acyclic op is
//! visited after everything that feeds it, it is visited once. An op within a cycle stands for the outermost cycle around it,
//! which is reset and iterated as a whole: what was derived round the cycle from a fact that is gone must go with it.
//! When much of the program turns out to be concerned, the sweep takes over.
//!
//! # Law
//!
//! After any edits the facts equal those from scratch (property test in `document`). *Cost.* An edit that changes `k` facts
//! outside of cycles visits in proportion to `k` and their uses, each at O(log n) for its place in the text.

mod sweep;

pub(crate) use sweep::values_within;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Debug;

use noisy_syntax::{Block, Def, Delta, Ir, Op, OpKind, Region, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::flow::{self, Flow};
use crate::lattice::{Changed, Lattice};

/// A turn of a cycle: its op, and which round it is, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The loop, or the op that holds the region with the cycle.
    pub op: Op,
    /// From 1.
    pub number: u64,
}

/// What iterating a loop was like.
#[derive(Debug)]
pub struct LoopTrace<'a, F> {
    /// The carried facts at the start of each round, the first few of them.
    pub starts: &'a [Vec<F>],
    /// Whether they went on changing, in facts that no longer count, when the iteration was ended.
    pub endless: bool,
    /// How often the loop runs, if the text says so.
    pub trip_count: Option<u64>,
}

/// A forward analysis with a fact per value.
///
/// *Law.* `transfer` is monotone in the facts of the operands.
pub trait SparseForward: Debug {
    /// The facts.
    type Fact: Lattice + Debug;

    /// Whether a value has a fact; the others keep bottom.
    fn carries(&self, ir: &Ir, value: Value) -> bool;

    /// The fact of an argument of a function.
    fn entry(&mut self, ir: &Ir, function: Op, index: usize, value: Value) -> Self::Fact;

    /// The fact of what nothing is known about.
    fn unknown(&self) -> Self::Fact;

    /// The fact of a result of an op from those of its operands (unknown for operands that carry none), in a round of the
    /// cycles around, outermost first.
    fn transfer(
        &mut self,
        ir: &Ir,
        op: Op,
        result: usize,
        operands: &[Self::Fact],
        rounds: &[Round],
    ) -> Self::Fact;

    /// Whether larger facts than this say no more; a cycle in which only such facts change is done.
    fn is_settled(&self, fact: &Self::Fact) -> bool;

    /// What stands for a settled fact that would go on to grow.
    fn endless(&self, fact: &Self::Fact) -> Self::Fact;

    /// A loop was iterated, in a round of the cycles around it.
    fn looped(&mut self, ir: &Ir, op: Op, trace: &LoopTrace<'_, Self::Fact>, rounds: &[Round]);

    /// What was noted about an op (or label) on the side is to be forgotten: it is visited anew, it left, or it is dead.
    fn forget(&mut self, op: Op);

    /// Everything is to be forgotten.
    fn clear(&mut self);
}

/// Where a task stands in program order: the place in the text, ends before starts there, inner ends before outer ones.
type Place = (usize, bool, Reverse<usize>);

/// The facts of an analysis, and what keeps them up to date.
#[derive(Debug)]
pub struct Sparse<A: SparseForward> {
    /// The analysis, with what it noted.
    pub analysis: A,
    facts: Vec<A::Fact>,
    /// By block.
    live: Vec<bool>,
    /// By op: a branch or yield that is live.
    reached: Vec<bool>,
    /// By op: when it was last visited, in ticks of `clock`.
    stamp: Vec<u32>,
    clock: u32,
    /// Regions with a branch that goes backward.
    cyclic: FxHashSet<Region>,
    /// Where the branches went when they were last visited.
    targets: FxHashMap<Op, SmallVec<[Block; 2]>>,
    /// The labels that were visited, with the regions they stood in.
    labels: FxHashMap<Op, Region>,
    /// Ops and ends of ops to visit, in program order.
    queue: BinaryHeap<Reverse<(Place, Op)>>,
    queued: FxHashSet<(Op, bool)>,
    /// Values whose facts changed and whose users are not queued yet.
    dirty: Vec<Value>,
    /// Whether definitions must be checked to stand before their uses, because facts of later ones are there.
    checks_order: bool,
    /// Visits before this tick were not part of the cycle that is being iterated.
    cycle_start: u32,
    /// Cycles that are being iterated.
    rounds: SmallVec<[Round; 2]>,
    /// Cyclic regions that are being swept, with the tick at which the current pass started.
    passes: SmallVec<[(Region, u32); 2]>,
    /// Visits that the outermost cycle may still take.
    fuel: u64,
    n_visits: usize,
}

impl<A: SparseForward> Sparse<A> {
    /// Solves from scratch.
    pub fn new(ir: &Ir, analysis: A) -> Self {
        let mut it = Self {
            analysis,
            facts: Vec::new(),
            live: Vec::new(),
            reached: Vec::new(),
            stamp: Vec::new(),
            clock: 1,
            cyclic: FxHashSet::default(),
            targets: FxHashMap::default(),
            labels: FxHashMap::default(),
            queue: BinaryHeap::new(),
            queued: FxHashSet::default(),
            dirty: Vec::new(),
            checks_order: false,
            cycle_start: 0,
            rounds: SmallVec::new(),
            passes: SmallVec::new(),
            fuel: 0,
            n_visits: 0,
        };
        it.solve(ir);
        it
    }

    /// The fact of a value.
    pub fn fact(&self, value: Value) -> Option<&A::Fact> {
        self.facts.get(value.index())
    }

    /// Whether a block can be reached.
    pub fn is_block_live(&self, block: Block) -> bool {
        self.live.get(block.index()).copied().unwrap_or(false)
    }

    /// Whether the block of an op can be reached.
    pub fn is_live(&self, ir: &Ir, op: Op) -> bool {
        if ir.op(op).kind == OpKind::Chunk {
            return true;
        }
        self.is_block_live(ir.block_of(op))
    }

    /// How many ops the last update visited, rounds counted apart.
    pub fn n_visits(&self) -> usize {
        self.n_visits
    }

    /// Solves from scratch.
    pub fn solve(&mut self, ir: &Ir) {
        self.analysis.clear();
        self.facts.clear();
        self.live.clear();
        self.reached.clear();
        self.cyclic.clear();
        self.targets.clear();
        self.labels.clear();
        self.queue.clear();
        self.queued.clear();
        self.dirty.clear();
        self.n_visits = 0;
        self.checks_order = false;
        self.fit(ir);
        self.sweep_region(ir, ir.root(), true);
    }

    /// Makes the tables as large as the arenas.
    fn fit(&mut self, ir: &Ir) {
        let (n_ops, n_values, n_blocks, _) = ir.bounds();
        self.facts.resize(n_values, A::Fact::bottom());
        self.live.resize(n_blocks, false);
        self.reached.resize(n_ops, false);
        self.stamp.resize(n_ops, 0);
    }

    /// Takes in an edit.
    pub fn update(&mut self, ir: &Ir, delta: &Delta) {
        if delta.all {
            self.solve(ir);
            return;
        }
        self.n_visits = 0;
        self.fit(ir);
        self.clock += 1;
        self.checks_order = true;
        for &op in &delta.removed {
            self.analysis.forget(op);
            self.reached[op.index()] = false;
            self.enter_former(ir, op);
            self.enter_around(ir, op);
        }
        for &op in &delta.changed {
            self.analysis.forget(op);
            self.enter_former(ir, op);
            self.enter_around(ir, op);
            self.enter(ir, op);
            if ir.op(op).kind == OpKind::Label {
                self.enter_block(ir, ir.label_block(op));
            }
            self.enter_decided(ir, op);
        }
        // Most of the program: a sweep is cheaper than a queue.
        let many = 1000 + ir.bounds().0 / 16;
        while let Some(Reverse(((_, is_start, _), op))) = self.queue.pop() {
            self.queued.remove(&(op, is_start));
            if !ir.is_alive(op) {
                continue;
            }
            if self.n_visits + self.queue.len() > many {
                self.solve(ir);
                return;
            }
            if !is_start {
                self.join_yields(ir, op, self.is_live(ir, op));
                self.n_visits += 1;
            } else if self.is_cycle(ir, op) {
                self.redo_cycle(ir, op);
            } else {
                self.visit(ir, op);
            }
            self.enter_users(ir);
        }
    }

    /// An op left or changed: whatever its former self fed is entered.
    fn enter_former(&mut self, ir: &Ir, op: Op) {
        if let Some(blocks) = self.targets.remove(&op) {
            for block in blocks {
                self.enter_label_of(ir, block);
            }
        }
        // What followed a label that is gone belongs to the block before it now.
        if let Some(region) = self.labels.remove(&op) {
            self.enter_region(ir, region);
            if let Some(parent) = ir.region(region).parent.filter(|&it| ir.is_alive(it)) {
                self.enter(ir, parent);
            }
        }
    }

    /// Ops and ends of the region that an op stood in may concern the op that holds it.
    fn enter_around(&mut self, ir: &Ir, op: Op) {
        let Some(parent) = ir.region(ir.op(op).parent).parent else { return };
        if !ir.is_alive(parent) {
            return;
        }
        match Flow::of(ir, parent) {
            Flow::Choice => self.enter_end(ir, parent),
            Flow::For { .. } | Flow::While => self.enter(ir, parent),
            // A label may have come or gone at the very start.
            _ if ir.op(op).kind == OpKind::Label => self.enter(ir, parent),
            _ => {}
        }
    }

    /// An op that is or was a constant changed: the branches, choices and loops that it decides.
    fn enter_decided(&mut self, ir: &Ir, op: Op) {
        for &result in &ir.op(op).results {
            if self.analysis.carries(ir, result) {
                continue;
            }
            for &(user, _) in &ir.value(result).uses {
                let data = ir.op(user);
                if !data.regions.is_empty() || data.kind.has(Traits::BRANCH) {
                    self.enter(ir, user);
                }
            }
        }
    }

    /// Queues an op; within a cycle, the outermost cycle around it.
    fn enter(&mut self, ir: &Ir, op: Op) {
        let mut target = op;
        let mut at = op;
        loop {
            if self.is_cycle(ir, at) {
                target = at;
            }
            match ir.parent_op(at) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        if self.queued.insert((target, true)) {
            let place = (ir.start(target), true, Reverse(0));
            self.queue.push(Reverse((place, target)));
        }
    }

    /// Queues the end of an op with regions.
    fn enter_end(&mut self, ir: &Ir, op: Op) {
        if self.outermost_cycle(ir, op).is_some() {
            self.enter(ir, op);
        } else if self.queued.insert((op, false)) {
            let start = ir.start(op);
            let place = (start + ir.len(op), false, Reverse(start));
            self.queue.push(Reverse((place, op)));
        }
    }

    fn outermost_cycle(&self, ir: &Ir, op: Op) -> Option<Op> {
        let mut found = None;
        let mut at = Some(op);
        while let Some(it) = at {
            if self.is_cycle(ir, it) {
                found = Some(it);
            }
            at = ir.parent_op(it);
        }
        found
    }

    fn is_cycle(&self, ir: &Ir, op: Op) -> bool {
        let data = ir.op(op);
        !data.regions.is_empty()
            && (Flow::of(ir, op).is_loop()
                || (!self.cyclic.is_empty()
                    && data.regions.iter().any(|(_, it)| self.cyclic.contains(it))))
    }

    fn enter_block(&mut self, ir: &Ir, block: Block) {
        for op in ir.block_ops(block) {
            self.enter(ir, op);
        }
    }

    fn enter_region(&mut self, ir: &Ir, region: Region) {
        if ir.region(region).parent.is_some_and(|it| ir.is_alive(it)) {
            for op in ir.items(region) {
                self.enter(ir, op);
            }
        }
    }

    fn enter_label_of(&mut self, ir: &Ir, block: Block) {
        if let Some(label) = ir.block(block).label {
            let data = ir.op(label);
            if ir.is_alive(label) && data.kind == OpKind::Label && ir.label_block(label) == block {
                self.enter(ir, label);
            }
        }
    }

    /// Queues the users of what changed.
    fn enter_users(&mut self, ir: &Ir) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for value in dirty.drain(..) {
            for &(user, _) in &ir.value(value).uses {
                self.enter(ir, user);
            }
        }
        self.dirty = dirty;
    }

    /// Visits an op outside of all cycles.
    fn visit(&mut self, ir: &Ir, op: Op) {
        self.n_visits += 1;
        self.stamp[op.index()] = self.clock;
        self.analysis.forget(op);
        let data = ir.op(op);
        if data.kind == OpKind::Label {
            let block = ir.label_block(op);
            let was = self.is_block_live(block);
            if ir.prev(op).is_none() {
                // The entry: its facts come from the op around.
                if let Some(parent) = ir.parent_op(op) {
                    self.enter(ir, parent);
                }
                self.labels.insert(op, data.parent);
            } else {
                let _ = self.visit_label(ir, op);
            }
            if was != self.is_block_live(block) {
                self.enter_block(ir, block);
            }
            return;
        }
        let live = self.is_live(ir, op);
        if data.regions.is_empty() {
            let _ = self.apply(ir, op, live);
        } else {
            for index in 0..data.regions.len() {
                let block = flow::entry_block(ir, data.regions[index].1);
                let was = self.is_block_live(block);
                self.open(ir, op, index, live);
                if was != self.is_block_live(block) {
                    self.enter_block(ir, block);
                }
            }
            self.enter_end(ir, op);
        }
        if self.note_branch(ir, op) {
            // A branch that goes backward makes a cycle of its region.
            self.cyclic.insert(data.parent);
            self.enter(ir, op);
        }
        for successor in &ir.rest(op).successors {
            if let Some(block) = successor.block {
                self.enter_label_of(ir, block);
            }
        }
        if matches!(
            data.kind,
            OpKind::ScfYield | OpKind::AffineYield | OpKind::MemrefAllocaScopeReturn
        ) && let Some(parent) = ir.parent_op(op)
        {
            self.enter_end(ir, parent);
        }
    }

    /// Remembers where a branch goes; whether it goes backward.
    fn note_branch(&mut self, ir: &Ir, op: Op) -> bool {
        let successors = &ir.rest(op).successors;
        if successors.is_empty() {
            return false;
        }
        self.targets.insert(op, successors.iter().filter_map(|it| it.block).collect());
        let labels = successors.iter().filter_map(|it| ir.block(it.block?).label);
        let mut labels = labels.filter(|&label| ir.op(label).parent == ir.op(op).parent);
        labels.any(|label| ir.is_before(label, op))
    }

    /// Iterates an outermost cycle anew, and enters the users of what it gives.
    fn redo_cycle(&mut self, ir: &Ir, op: Op) {
        let results = ir.op(op).results.clone();
        let before: SmallVec<[A::Fact; 2]> =
            results.iter().map(|it| self.facts[it.index()].clone()).collect();
        let live = self.is_live(ir, op);
        self.reset_within(ir, op);
        self.clock += 1;
        self.cycle_start = self.clock;
        let n_dirty = self.dirty.len();
        let _ = self.run(ir, op, live);
        self.cycle_start = 0;
        self.dirty.truncate(n_dirty);
        for (value, before) in results.iter().zip(&before) {
            if self.facts[value.index()] != *before {
                self.dirty.push(*value);
            }
        }
    }

    /// Sets a fact.
    fn set(&mut self, value: Value, fact: A::Fact) -> Changed {
        let slot = &mut self.facts[value.index()];
        if *slot == fact {
            return Changed::No;
        }
        *slot = fact;
        if self.checks_order && self.rounds.is_empty() {
            self.dirty.push(value);
        }
        Changed::Yes
    }

    /// The fact that an operand brings; unknown if it carries none or is not there yet.
    fn read(&self, ir: &Ir, op: Op, index: usize) -> A::Fact {
        self.read_at(ir, op, index, false)
    }

    /// As [`Sparse::read`], for an op that was visited before and passes the value on now.
    fn read_passed(&self, ir: &Ir, op: Op, index: usize) -> A::Fact {
        self.read_at(ir, op, index, true)
    }

    fn read_at(&self, ir: &Ir, op: Op, index: usize, passed: bool) -> A::Fact {
        let value = ir.op(op).operands.get(index).and_then(|it| it.value);
        let Some(value) = value.filter(|&it| self.analysis.carries(ir, it)) else {
            return self.analysis.unknown();
        };
        let fact = &self.facts[value.index()];
        if *fact == A::Fact::bottom() || !self.is_in_order(ir, value, op, passed) {
            return self.analysis.unknown();
        }
        fact.clone()
    }

    /// Whether a value is defined where a use of it may see it, as far as textual order tells. What is `passed` is read later
    /// than the use stands.
    fn is_in_order(&self, ir: &Ir, value: Value, user: Op, passed: bool) -> bool {
        let (definer, region) = match ir.value(value).def {
            Def::Result(op, _) => (op, ir.op(op).parent),
            Def::Argument(block, _) => match ir.block(block).label {
                Some(label) => (label, ir.op(label).parent),
                // In the header of the op around.
                None => return true,
            },
        };
        let is_before = || {
            let user = ancestor_in(ir, user, region);
            user.is_some_and(|it| it != definer && ir.is_before(definer, it))
        };
        let stamp = self.stamp[definer.index()];
        if let Some(&(_, start)) = self.passes.iter().find(|it| it.0 == region) {
            // Later in the text is legal if its block dominates, and never in the same block.
            let in_other_block = || {
                ancestor_in(ir, user, region)
                    .is_some_and(|it| ir.block_of(it) != ir.block_of(definer))
            };
            return (if passed { is_before() } else { stamp >= start }) || in_other_block();
        }
        let is_visited = !self.checks_order || (self.cycle_start > 0 && stamp >= self.cycle_start);
        (is_visited && !passed) || is_before()
    }

    /// Computes the results of an op without regions.
    fn apply(&mut self, ir: &Ir, op: Op, live: bool) -> Changed {
        self.reached[op.index()] = live;
        let results = &ir.op(op).results;
        let mut operands: SmallVec<[A::Fact; 4]> = SmallVec::new();
        let mut changed = Changed::No;
        for (index, &value) in results.iter().enumerate() {
            let fact = if live && self.analysis.carries(ir, value) {
                if operands.is_empty() {
                    let n = ir.op(op).operands.len();
                    operands.extend((0..n).map(|it| self.read(ir, op, it)));
                }
                self.analysis.transfer(ir, op, index, &operands, &self.rounds)
            } else {
                A::Fact::bottom()
            };
            changed = changed.or(self.set(value, fact));
        }
        changed
    }

    /// Sets whether a region of an op (no loop) is entered, and the facts of its arguments.
    fn open(&mut self, ir: &Ir, op: Op, index: usize, live: bool) {
        let region = ir.op(op).regions[index].1;
        let flow = Flow::of(ir, op);
        let live = live && (flow != Flow::Choice || flow::may_enter(ir, op, index));
        let entry = flow::entry_block(ir, region);
        self.live[entry.index()] = live;
        for (index, &value) in ir.block(entry).args.iter().enumerate() {
            let fact = match flow {
                _ if !live || !self.analysis.carries(ir, value) => A::Fact::bottom(),
                Flow::Function => self.analysis.entry(ir, op, index, value),
                _ => self.analysis.unknown(),
            };
            let _ = self.set(value, fact);
        }
        let header = ir.region(region).entry;
        if header != entry {
            self.live[header.index()] = live;
            self.set_unknown(ir, header, live);
        }
    }

    fn set_unknown(&mut self, ir: &Ir, block: Block, live: bool) {
        for &value in &ir.block(block).args {
            let carries = live && self.analysis.carries(ir, value);
            let fact = if carries { self.analysis.unknown() } else { A::Fact::bottom() };
            let _ = self.set(value, fact);
        }
    }

    /// Joins the results of an op with regions (no loop) from its yields.
    fn join_yields(&mut self, ir: &Ir, op: Op, live: bool) {
        let data = ir.op(op);
        if data.results.is_empty() {
            return;
        }
        let is_choice = Flow::of(ir, op) == Flow::Choice;
        let mut ends: SmallVec<[Op; 2]> = SmallVec::new();
        let mut lacking = !is_choice || flow::may_skip(ir, op);
        if is_choice {
            for &(_, region) in &data.regions {
                let of_region = flow::yields(ir, region);
                let entered = self.is_block_live(flow::entry_block(ir, region));
                lacking |= entered && of_region.is_empty();
                ends.extend(of_region);
            }
        }
        ends.retain(|it| self.reached[it.index()]);
        for (index, &value) in data.results.iter().enumerate() {
            let fact = if !live || !self.analysis.carries(ir, value) {
                A::Fact::bottom()
            } else if lacking {
                self.analysis.unknown()
            } else {
                let mut fact = A::Fact::bottom();
                for &end in &ends {
                    let at = flow::yielded(ir, end).start + index;
                    let _ = fact.join(&self.read_passed(ir, end, at));
                }
                fact
            };
            let _ = self.set(value, fact);
        }
    }

    /// Joins the arguments of a block that is no entry from the branches to it, and whether it is live.
    fn visit_label(&mut self, ir: &Ir, label: Op) -> Changed {
        let block = ir.label_block(label);
        self.stamp[label.index()] = self.clock;
        self.labels.insert(label, ir.op(label).parent);
        let data = ir.block(block);
        let live_edges: SmallVec<[(Op, usize); 4]> = data
            .preds
            .iter()
            .map(|&(op, index)| (op, index as usize))
            .filter(|&(op, index)| self.reached[op.index()] && flow::may_branch(ir, op, index))
            .collect();
        let live = !live_edges.is_empty();
        let mut changed = Changed::when(live != self.live[block.index()]);
        self.live[block.index()] = live;
        let in_cycle = self.passes.iter().any(|it| it.0 == data.region);
        for (at, &value) in data.args.iter().enumerate() {
            let mut fact = A::Fact::bottom();
            if live && self.analysis.carries(ir, value) {
                for &(op, index) in &live_edges {
                    match flow::passed(ir, op, index) {
                        Some(range) if range.start + at < range.end => {
                            let _ = fact.join(&self.read_passed(ir, op, range.start + at));
                        }
                        _ => {
                            let _ = fact.join(&self.analysis.unknown());
                        }
                    }
                }
                if in_cycle {
                    let old = &self.facts[value.index()];
                    if self.analysis.is_settled(old) && self.analysis.is_settled(&fact) {
                        continue;
                    }
                    let _ = fact.join(old);
                }
            }
            changed = changed.or(self.set(value, fact));
        }
        changed
    }
}

/// The op itself or the op around it that stands in a region.
fn ancestor_in(ir: &Ir, op: Op, region: Region) -> Option<Op> {
    let mut at = op;
    while ir.op(at).parent != region {
        at = ir.parent_op(at)?;
    }
    Some(at)
}
