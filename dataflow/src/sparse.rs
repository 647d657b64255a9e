//! Sparse forward dataflow: a fact per value, from the definitions to the uses, from scratch or from an edit outward.
//!
//! # Notation
//!
//! An op is *live* if its block is; a block is live if it is the entry of a region that its op enters, or if a live branch
//! may go to it. The solver owns this: dead code has bottom facts, and an analysis cannot be run without it. A *cycle* is a loop
//! op ([`Flow::For`], [`Flow::While`]) or an op with a region in which a branch goes backward in the text; everything
//! else is acyclic in program order, because a use that stands before its definition is not an edge: it reads
//! [`Domain::unknown`].
//!
//! # From scratch
//!
//! One pass over all items in program order (`pass.rs`): each op is visited after everything that feeds it. Cycles
//! are iterated where they stand, innermost first.
//!
//! # Layers
//!
//! An analysis may stand on what was solved before it (its [`SparseForward::Base`]): noise on integers, integer ranges on constants.
//! Nothing flows the other way, so each is solved by itself, one after the other, and each tells the next which values have new facts
//! ([`Sparse::moved`]). Conditions and bounds of loops decide where control goes: an analysis of integers knows them by its own facts
//! ([`SparseForward::interval`]), the others ask their base ([`Base::interval`]).
//!
//! # From an edit
//!
//! The changed ops go into a queue in program order, by the place where they start in the text; an op with
//! regions has a second turn at its end, where its results are joined from its yields. A visit that changes a fact queues the
//! users of that value; one that changes whether a block is live queues its ops. Since an acyclic op is
//! visited after everything that feeds it, it is visited once. If an op within a cycle is queued, the outermost cycle around it
//! is reset and iterated as a whole, because facts that were derived around the cycle from an old fact must not stay.
//! When much of the program turns out to be affected, the pass over everything takes over.
//!
//! # Calls
//!
//! An analysis may follow calls into their callees, each of which is evaluated for the vectors of arguments that it is passed
//! ([`Calls::Followed`], `contexts.rs`). An edit that reaches a call evaluates the functions that depend on it again (`call_edit.rs`).
//!
//! # Law
//!
//! After any edits the facts equal those from scratch (property test in `document`). *Cost.* An edit that changes `k` facts
//! outside of cycles visits in proportion to `k` and their uses, each at O(log n) for its place in the text.

mod analysis;
mod base;
mod block_cycles;
mod call_edit;
mod call_graph;
mod call_index;
mod component;
mod context;
mod contexts;
mod edit;
mod evaluation;
mod few;
mod loops;
mod observer;
mod ordered;
mod pass;
mod reads;
mod recursion;
mod recursion_edit;
mod replay;
mod rounds;
mod transcript;
mod visit;

pub use analysis::{Calls, Domain, Loops, MAX_APART, SparseForward};
pub use base::{Base, Input};
pub use context::{Context, MAX_DEPTH, followed, is_callable, is_exposed, with_stack};
pub use observer::{Computed, GrowthTrace, LoopTrace, Observer, Part, Round, Visit, Visitor};
pub use pass::values_within;
pub use reads::AnalysisContext;

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use noisy_syntax::{Block, Ir, Op, OpKind, Region, Value, reserve_with_slack};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::flow;
#[cfg(doc)]
use crate::flow::Flow;
use crate::lattice::Lattice;
use block_cycles::CyclePass;
use call_graph::CallGraph;
use call_index::CallIndex;
use component::Group;
use contexts::Contexts;
use reads::{Log, Subscriptions};

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
pub struct Sparse<A: SparseForward, O = ()> {
    /// The analysis.
    pub analysis: A,
    /// Who watches, with what it noted.
    pub observer: O,
    /// Who is told of the visits.
    visitor: Option<Box<dyn Visitor<A::Fact>>>,
    /// What the analysis says.
    calls: Calls,
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
    /// The labels that were visited, with the regions they stood in and their blocks.
    labels: FxHashMap<Op, (Region, Block)>,
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
    /// Cyclic regions that are being passed over.
    passes: SmallVec<[Pass; 2]>,
    /// What these passes were like, innermost last.
    cycle_passes: Vec<CyclePass<A::Fact>>,
    /// Visits that the outermost cycle may still take.
    fuel: u64,
    n_visits: usize,
    moved: Moved,
    contexts: Contexts<A::Fact>,
    /// Who calls whom, if that matters.
    call_index: CallIndex,
    /// Who may come to call itself, as far as calls are followed.
    call_graph: CallGraph,
    /// What ops outside of functions say that concerns calls.
    groups: FxHashMap<Op, Group>,
    /// Units in the queue that are to be solved with all that they are connected to.
    whole: FxHashSet<Op>,
    /// Loops that were iterated. What is inside has seen each of their rounds, also once they are no loops any more.
    iterated: FxHashSet<Op>,
    /// Whether what cycles carry is taken to be unknown, because the fuel of the outermost one ran out.
    is_degraded: bool,
    /// Outermost cycles whose fuel ran out, and calls of a recursion that nest too deep: see [`Sparse::undecided`].
    undecided: FxHashSet<Op>,
    /// What was read besides operands.
    subscriptions: Subscriptions,
}

impl<A: SparseForward> Sparse<A> {
    /// Solves from scratch.
    pub fn new(ir: &Input<'_, A::Base>, analysis: A) -> Self {
        Self::observed(ir, analysis, ())
    }

    /// Solves one op that is isolated from above, by itself, for an analysis that follows no calls: nothing outside of it has a fact. Not
    /// kept up to date.
    ///
    /// *Cost.* Linear in the op but for loops, besides tables as long as those of the program.
    pub fn of_op(ir: &Input<'_, A::Base>, analysis: A, op: Op) -> Self {
        let mut it = Self::unsolved(analysis, ());
        debug_assert!(!it.follows_calls(), "what calls give stands outside of the op");
        it.clock += 1;
        it.solve_start = it.clock;
        it.fit(ir);
        let _ = it.run(ir, op, true);
        it
    }
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Solves from scratch, watched.
    pub fn observed(ir: &Input<'_, A::Base>, analysis: A, observer: O) -> Self {
        let mut it = Self::unsolved(analysis, observer);
        it.solve(ir);
        it
    }

    /// Solves from scratch, and tells of each visit; who was told, with what it noted.
    ///
    /// # Panics
    ///
    /// Never: the visitor is the one that is given.
    pub fn visited_by<V: Visitor<A::Fact>>(ir: &Input<'_, A::Base>, analysis: A, visitor: V) -> V
    where
        O: Default,
    {
        let mut it = Self::unsolved(analysis, O::default());
        it.visitor = Some(Box::new(visitor));
        it.solve(ir);
        let visitor: Option<Box<dyn Any>> = it.visitor.map(|it| it as _);
        *visitor.and_then(|it| it.downcast().ok()).expect("the visitor that was given")
    }

    fn unsolved(analysis: A, observer: O) -> Self {
        Self {
            calls: analysis.calls(),
            analysis,
            observer,
            visitor: None,
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
            cycle_passes: Vec::new(),
            fuel: 0,
            n_visits: 0,
            groups: FxHashMap::default(),
            moved: Moved::All,
            contexts: Contexts::default(),
            call_index: CallIndex::default(),
            call_graph: CallGraph::default(),
            whole: FxHashSet::default(),
            iterated: FxHashSet::default(),
            is_degraded: false,
            undecided: FxHashSet::default(),
            subscriptions: Subscriptions::default(),
        }
    }

    /// Whether a value has a fact.
    #[inline]
    fn carries(&self, ir: &Ir, value: Value) -> bool {
        self.analysis.carries(&ir.interner, ir.value(value).ty)
    }

    /// Asks the analysis something about an op, or about a value that it defines or that its regions start with, and remembers what it
    /// reads.
    #[inline]
    fn ask<T>(
        &mut self,
        ir: &Input<'_, A::Base>,
        op: Op,
        question: impl FnOnce(&mut A, &AnalysisContext<'_, A::Base>) -> T,
    ) -> T {
        let log = Log::default();
        let cx = AnalysisContext::new(ir.ir, ir.base, op, &log);
        let answer = question(&mut self.analysis, &cx);
        log.flush(op, &mut self.subscriptions);
        answer
    }

    /// A fact, refined by what is known of its value.
    #[inline]
    fn refined(&mut self, ir: &Input<'_, A::Base>, op: Op, value: Value, fact: A::Fact) -> A::Fact {
        self.ask(ir, op, |it, cx| it.refine(cx, value, fact))
    }

    /// Whether larger facts than this say no more; a cycle in which only such facts change is done.
    fn is_saturated(&self, fact: &A::Fact) -> bool {
        self.analysis.unbounded(fact).is_some()
    }

    /// What stands for a saturated fact that would go on to grow; the fact itself if it is not saturated.
    fn unbounded(&self, fact: &A::Fact) -> A::Fact {
        self.analysis.unbounded(fact).unwrap_or_else(|| fact.clone())
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

    /// The ops at which work ran out, in no particular order: what an outermost cycle carries, or what a call gives, was taken to be
    /// unknown. The cycle is a loop, an `scf.reduce`, or the op that holds a region with a cycle of blocks.
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
    pub fn solve(&mut self, ir: &Input<'_, A::Base>) {
        self.moved = Moved::All;
        self.observer.clear();
        self.subscriptions = Subscriptions::default();
        self.facts.clear();
        self.live.clear();
        self.reached.clear();
        self.cyclic.clear();
        self.targets.clear();
        self.labels.clear();
        self.first_labels.clear();
        self.undecided.clear();
        self.iterated.clear();
        self.queue.clear();
        self.queued.clear();
        self.dirty.clear();
        self.whole.clear();
        self.clear_contexts();
        if self.follows_calls() {
            self.call_index = CallIndex::new(ir);
            self.call_graph = CallGraph::new(ir, &self.call_index, self.apart() == 0);
            self.note_groups(ir);
        }
        self.n_visits = 0;
        self.checks_order = false;
        self.clock += 1;
        self.solve_start = self.clock;
        self.fit(ir);
        self.run_region(ir, ir.root(), true);
        if self.follows_calls() {
            let functions = flow::functions(ir);
            self.contexts.reserve(functions.len(), self.call_index.n_units());
            self.run_functions(ir, functions);
        }
        if let Some(visitor) = &mut self.visitor {
            visitor.solved(&self.facts, &self.live);
        }
    }

    /// Makes the tables as large as the arenas.
    fn fit(&mut self, ir: &Input<'_, A::Base>) {
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

#[cfg(test)]
mod reads_laws;
