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
//! # Layers
//!
//! An analysis may stand on what was solved before it (its [`SparseForward::Base`]): noise on integers, integer ranges on constants.
//! Nothing flows the other way, so each is solved by itself, one after the other, and each tells the next which values
//! moved ([`Sparse::moved`]). A condition or a bound decides where control goes ([`SparseForward::may_take`],
//! [`SparseForward::trips`]): the analysis that knows it says so from its own facts, the others ask their base.
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
//! # Calls
//!
//! An analysis of finite height may let facts flow into functions and back ([`SparseForward::LINKS`], `calls.rs`).
//! Or it may follow calls, each context of a callee apart ([`SparseForward::FOLLOWS`], `contexts.rs`). After an edit, functions
//! that call each other, directly or through others, are solved as a whole where it comes to a call (`ties.rs`).
//!
//! # Law
//!
//! After any edits the facts equal those from scratch (property test in `document`). *Cost.* An edit that changes `k` facts
//! outside of cycles visits in proportion to `k` and their uses, each at O(log n) for its place in the text.

mod calls;
mod circle;
mod contexts;
mod edit;
mod sweep;
mod tied;
mod ties;
mod visit;

pub use contexts::{Context, MAX_APART, is_exposed};
pub(crate) use contexts::{followed, is_callable};
pub(crate) use sweep::values_within;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::{Debug, Display};
use std::ops::Deref;

use noisy_syntax::{Block, Ir, Op, OpKind, Region, Value, reserve_with_slack};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::flow;
#[cfg(doc)]
use crate::flow::Flow;
use crate::lattice::Lattice;
use calls::Port;
use circle::Circuit;
use contexts::Contexts;
use ties::Ties;

/// What an analysis looks at: the program, and what was solved before. It reads as the [`Ir`].
#[derive(Debug)]
pub struct Scene<'a, B> {
    /// The program.
    pub ir: &'a Ir,
    /// What the analysis stands on.
    pub base: &'a B,
}

impl<B> Deref for Scene<'_, B> {
    type Target = Ir;

    fn deref(&self) -> &Ir {
        self.ir
    }
}

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

/// An argument of a block that went on to change, in facts that no longer count, when the passes over its cycle were ended.
#[derive(Debug)]
pub struct Climb<F> {
    /// The label of the block.
    pub label: Op,
    /// Which argument.
    pub index: usize,
    /// The operand of the first branch in the text that goes back to the block, for this argument.
    pub carrier: Option<(Op, usize)>,
    /// The place of the block in the order of the cycle.
    pub start: u32,
    /// The last place from which a branch goes back to it.
    pub end: u32,
    /// The passes in which its fact changed, from 1, with what it became.
    pub moves: Vec<(u64, F)>,
}

/// A forward analysis with a fact per value.
///
/// *Law.* `transfer` is monotone in the facts of the operands.
pub trait SparseForward: Debug {
    /// The facts.
    type Fact: Lattice + Debug + Display;

    /// What it stands on, solved before.
    type Base;

    /// Whether a loop with a known trip count is iterated that often, each round from what the one before yielded. Otherwise
    /// all loops go to the fixpoint of any number of rounds.
    const REPLAYS: bool;

    /// Whether facts do not flow through calls although [`Self::LINKS`] says that they may.
    fn is_local(&self) -> bool {
        false
    }

    /// Whether facts flow through calls: into private functions from those who call them, and back from what they return. The lattice
    /// must then be of finite height and `widen` do nothing.
    const LINKS: bool;

    /// Whether calls are followed into their callees, which are then analyzed in each context apart (`contexts.rs`).
    const FOLLOWS: bool = false;

    /// Whether a value has a fact; the others keep bottom.
    fn carries(&self, ir: &Ir, value: Value) -> bool;

    /// The fact of an argument of a function.
    fn entry(
        &mut self,
        on: &Scene<'_, Self::Base>,
        function: Op,
        index: usize,
        value: Value,
    ) -> Self::Fact;

    /// The fact of what nothing is known about.
    fn unknown(&self) -> Self::Fact;

    /// The fact of a result of an op from those of its operands (unknown for operands that carry none), in a round of the
    /// cycles around, outermost first.
    fn transfer(
        &mut self,
        on: &Scene<'_, Self::Base>,
        op: Op,
        result: usize,
        operands: &[Self::Fact],
        rounds: &[Round],
    ) -> Self::Fact;

    /// Whether a branch may go to its successor number `index`, or a choice run its region number `index`, or
    /// `scf.condition` leave the loop (0) or go on (1), by the fact of the operand that decides.
    fn may_take(
        &self,
        on: &Scene<'_, Self::Base>,
        op: Op,
        index: usize,
        decider: &Self::Fact,
    ) -> bool;

    /// How often a [`Flow::For`] runs its region, by the facts of its operands, at least and at most; at most `None` if that
    /// is not known.
    fn trips(
        &self,
        on: &Scene<'_, Self::Base>,
        op: Op,
        operands: &dyn Fn(usize) -> Self::Fact,
    ) -> Trips;

    /// The fact of an argument that a loop sets itself, by the facts of the loop's operands.
    fn induction(
        &self,
        _on: &Scene<'_, Self::Base>,
        _op: Op,
        _index: usize,
        _operands: &dyn Fn(usize) -> Self::Fact,
    ) -> Self::Fact {
        self.unknown()
    }

    /// What a fact is said to be that went on changing in a cycle; at least `new`, such that no chain of these is endless.
    fn widen(&self, _old: &Self::Fact, new: Self::Fact) -> Self::Fact {
        new
    }

    /// What is known of a value by its base, once it is computed: the lower of both.
    fn refine(&self, _on: &Scene<'_, Self::Base>, _value: Value, fact: Self::Fact) -> Self::Fact {
        fact
    }

    /// The ops to visit again when a value moved in the base.
    fn concerned(&self, _on: &Scene<'_, Self::Base>, _moved: Value, _enter: &mut dyn FnMut(Op)) {}

    /// The ops that look at what an op is made of, or was before an edit, not only at the facts of its results.
    fn looked_through(&self, _on: &Scene<'_, Self::Base>, _op: Op, _enter: &mut dyn FnMut(Op)) {}

    /// The ops that read what this op said when they were visited, not by its results; it may have left.
    fn readers(&self, _op: Op, _enter: &mut dyn FnMut(Op)) {}

    /// How much it keeps besides facts that grows with edits, until it is told to clear.
    fn weight(&self) -> usize {
        0
    }

    /// What a call passes, as the callee takes it.
    fn pass(
        &self,
        _on: &Scene<'_, Self::Base>,
        _function: Op,
        _index: usize,
        fact: Self::Fact,
    ) -> Self::Fact {
        fact
    }

    /// What a function returns, as its callers take it.
    fn give(
        &self,
        _on: &Scene<'_, Self::Base>,
        _function: Op,
        _index: usize,
        fact: Self::Fact,
    ) -> Self::Fact {
        fact
    }

    /// What follows is about a function in one of its contexts, in a turn of its recursion, from 1.
    fn enter(&mut self, _function: Op, _context: u32, _number: u64) {}

    /// What was entered last is done.
    fn leave(&mut self) {}

    /// Whether larger facts than this say no more; a cycle in which only such facts change is done.
    fn is_settled(&self, _fact: &Self::Fact) -> bool {
        false
    }

    /// What stands for a settled fact that would go on to grow.
    fn endless(&self, fact: &Self::Fact) -> Self::Fact {
        fact.clone()
    }

    /// A loop was iterated, in a round of the cycles around it.
    fn looped(
        &mut self,
        _on: &Scene<'_, Self::Base>,
        _op: Op,
        _trace: &LoopTrace<'_, Self::Fact>,
        _rounds: &[Round],
    ) {
    }

    /// A cycle of blocks was passed over until only these arguments of its heads changed, in textual order; in a round of the cycles around its op. The
    /// place of an op is that of its block in the order of the cycle, if it is in there.
    fn circled(
        &mut self,
        _on: &Scene<'_, Self::Base>,
        _op: Op,
        _climbs: &[Climb<Self::Fact>],
        _place: &dyn Fn(Op) -> Option<u32>,
        _rounds: &[Round],
    ) {
    }

    /// What was noted about an op (or label) on the side is to be forgotten: it is visited anew, it left, or it is dead.
    fn forget(&mut self, _op: Op) {}

    /// Everything is to be forgotten.
    fn clear(&mut self) {}
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trips {
    /// At least.
    pub least: u64,
    /// At most, if there is a limit that the facts give.
    pub most: Option<u64>,
}

impl Trips {
    /// Nothing is known.
    pub const ANY: Trips = Trips { least: 0, most: None };

    /// Just so often.
    pub fn exactly(n: u64) -> Self {
        Trips { least: n, most: Some(n) }
    }

    /// The number, if there is only one.
    pub fn count(self) -> Option<u64> {
        self.most.filter(|&it| it == self.least)
    }
}

/// The values whose facts an update changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Moved {
    /// All may have.
    #[default]
    All,
    /// These, some perhaps repeatedly.
    These(Vec<Value>),
}

impl Moved {
    /// What moved in either.
    #[must_use]
    pub fn and(&self, other: &Moved) -> Moved {
        match (self, other) {
            (Moved::These(a), Moved::These(b)) => Moved::These([a.as_slice(), b].concat()),
            _ => Moved::All,
        }
    }
}

/// A pass over blocks of a cyclic region.
#[derive(Clone, Copy, Debug)]
struct Pass {
    region: Region,
    /// The tick at which it started.
    start: u32,
    /// From 1; 0 over a block that is in no cycle.
    number: u64,
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
    /// The labels that regions started with when these were last visited.
    first_labels: FxHashMap<Region, Op>,
    /// Ops and ends of ops to visit, in program order.
    queue: BinaryHeap<Reverse<(Place, Op)>>,
    queued: FxHashSet<(Op, bool)>,
    /// Values whose facts changed and whose users are not queued yet.
    dirty: Vec<Value>,
    /// Whether definitions must be checked to stand before their uses, because facts of later ones are there.
    checks_order: bool,
    /// Visits before this tick were not part of the last solution from scratch.
    solve_start: u32,
    /// Visits before this tick were not part of the cycle that is being iterated.
    cycle_start: u32,
    /// Cycles that are being iterated.
    rounds: SmallVec<[Round; 2]>,
    /// Cyclic regions that are being swept.
    passes: SmallVec<[Pass; 2]>,
    /// What these passes were like, innermost last.
    circuits: Vec<Circuit<A::Fact>>,
    /// Visits that the outermost cycle may still take.
    fuel: u64,
    n_visits: usize,
    moved: Moved,
    /// What functions are called with and return.
    ports: FxHashMap<Op, Port<A::Fact>>,
    contexts: Contexts<A::Fact>,
    /// Who calls whom, if that matters.
    ties: Ties,
    /// Units in the queue that are to be solved with all that they are tied to.
    whole: FxHashSet<Op>,
    /// What ends an `scf.parallel` that was last run as a loop.
    reductions: FxHashMap<Op, Op>,
    /// Ops in the queue that are to be swept anew with all inside.
    anew: FxHashSet<Op>,
    /// Whether what cycles carry is taken to be unknown, because the fuel of the outermost one ran out.
    is_degraded: bool,
    /// Outermost cycles whose fuel ran out, and calls that nest too deep: see [`Sparse::undecided`].
    undecided: FxHashSet<Op>,
    /// What the analysis weighed when it was last solved from scratch.
    solved_weight: usize,
    /// The visits, as text, if they are recorded.
    trace: Option<String>,
}

impl<A: SparseForward> Sparse<A> {
    /// Solves from scratch.
    pub fn new(ir: &Scene<'_, A::Base>, analysis: A) -> Self {
        let mut it = Self::unsolved(analysis);
        it.solve(ir);
        it
    }

    /// Solves from scratch and tells each visit: the op, the facts of its operands, those of its results before and after.
    pub fn traced(ir: &Scene<'_, A::Base>, analysis: A) -> (Self, String) {
        let mut it = Self::unsolved(analysis);
        it.trace = Some(String::new());
        it.solve(ir);
        let trace = it.trace.take().unwrap_or_default();
        (it, trace)
    }

    fn unsolved(analysis: A) -> Self {
        Self {
            analysis,
            facts: Vec::new(),
            live: Vec::new(),
            reached: Vec::new(),
            stamp: Vec::new(),
            clock: 1,
            cyclic: FxHashSet::default(),
            targets: FxHashMap::default(),
            labels: FxHashMap::default(),
            first_labels: FxHashMap::default(),
            queue: BinaryHeap::new(),
            queued: FxHashSet::default(),
            dirty: Vec::new(),
            checks_order: false,
            solve_start: 0,
            cycle_start: 0,
            rounds: SmallVec::new(),
            passes: SmallVec::new(),
            circuits: Vec::new(),
            fuel: 0,
            n_visits: 0,
            moved: Moved::All,
            ports: FxHashMap::default(),
            contexts: Contexts::default(),
            ties: Ties::default(),
            whole: FxHashSet::default(),
            reductions: FxHashMap::default(),
            anew: FxHashSet::default(),
            is_degraded: false,
            undecided: FxHashSet::default(),
            solved_weight: 0,
            trace: None,
        }
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

    /// The ops at which work ran out, in no particular order: what an outermost cycle carries, or what a call gives, was taken to be unknown. The
    /// cycle is a loop, an `scf.reduce`, or the op that holds a region with a cycle of blocks.
    pub fn undecided(&self) -> impl Iterator<Item = Op> {
        self.undecided.iter().copied()
    }

    /// The values whose facts the last update changed.
    pub fn moved(&self) -> &Moved {
        &self.moved
    }

    /// How many ops the last update visited, rounds counted apart.
    pub fn n_visits(&self) -> usize {
        self.n_visits
    }

    /// Solves from scratch.
    pub fn solve(&mut self, ir: &Scene<'_, A::Base>) {
        self.moved = Moved::All;
        self.analysis.clear();
        self.facts.clear();
        self.live.clear();
        self.reached.clear();
        self.cyclic.clear();
        self.targets.clear();
        self.labels.clear();
        self.first_labels.clear();
        self.reductions.clear();
        self.undecided.clear();
        self.anew.clear();
        self.queue.clear();
        self.queued.clear();
        self.dirty.clear();
        self.whole.clear();
        self.ports.clear();
        self.clear_contexts();
        if A::LINKS || A::FOLLOWS {
            self.ties = Ties::new(ir);
        }
        self.n_visits = 0;
        self.checks_order = false;
        self.clock += 1;
        self.solve_start = self.clock;
        self.fit(ir);
        let functions = if self.has_links() { flow::functions(ir) } else { Vec::new() };
        self.find_ports(ir, &functions);
        self.sweep_region(ir, ir.root(), true);
        self.settle_calls(ir, &functions);
        self.solved_weight = self.analysis.weight();
    }

    /// Whether facts may flow through some call.
    fn has_links(&self) -> bool {
        A::LINKS && !self.ties.is_empty()
    }

    /// Makes the tables as large as the arenas.
    fn fit(&mut self, ir: &Scene<'_, A::Base>) {
        let (n_ops, n_values, n_blocks, _) = ir.bounds();
        fit(&mut self.facts, n_values, A::Fact::bottom());
        fit(&mut self.live, n_blocks, false);
        fit(&mut self.reached, n_ops, false);
        fit(&mut self.stamp, n_ops, 0);
    }
}

fn fit<T: Clone>(table: &mut Vec<T>, n: usize, new: T) {
    reserve_with_slack(table, n);
    table.resize(n, new);
}

/// The op itself or the op around it that stands in a region.
fn ancestor_in(ir: &Ir, op: Op, region: Region) -> Option<Op> {
    let mut at = op;
    while ir.op(at).parent != region {
        at = ir.parent_op(at)?;
    }
    Some(at)
}
