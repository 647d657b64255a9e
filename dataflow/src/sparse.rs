//! Sparse forward dataflow: a fact per value, propagated from definitions to uses. The solver runs
//! from scratch, or incrementally from an edit.
//!
//! # Notation
//!
//! An op is *live* (reachable) if its block is live. A block is live if it is the entry of a region
//! that is entered, or if a live branch may go to it. The solver computes liveness itself: values
//! in dead code have the fact bottom, for every analysis. A *cycle* is a loop op ([`Flow::For`],
//! [`Flow::While`]) or an op with a region in which a branch goes backward in the text. Everything
//! else is acyclic in program order, because a use that precedes its definition reads
//! [`Domain::unknown`] and creates no edge.
//!
//! # From scratch
//!
//! One pass visits all items in program order (`traversal.rs`), so each op is visited after the ops
//! that feed it. Cycles are iterated where they occur, innermost first (`cycles.rs`).
//!
//! # Layers
//!
//! An analysis may read the facts of analyses that were solved before it (its
//! [`SparseForward::Base`]): noise reads integers, integer ranges read constants. No analysis reads
//! facts of a later one, so the analyses are solved one after the other, and each passes on the
//! values with changed facts ([`SparseSolver::changed_values`]). Conditions and loop bounds
//! determine control flow: an analysis of integers takes them from its own facts
//! ([`SparseForward::interval`]), the others from their base ([`BaseAnalyses::interval`]).
//!
//! # From an edit
//!
//! The changed ops go into a queue in program order. An op with regions is visited a second time at
//! its end, where its results are joined from its yields (`update.rs`). A visit that changes a fact
//! queues the users of that value, and a visit that changes the liveness of a block queues the ops
//! of the block. An acyclic op is visited after the ops that feed it, so it is visited once. If an
//! op within a cycle is queued, the outermost cycle around it is reset and iterated as a whole,
//! because facts that were derived around the cycle from an old fact must not remain. If a large
//! part of the program is affected, the program is solved from scratch instead.
//!
//! # Calls
//!
//! An analysis may follow calls into their callees. Each callee is evaluated once for each vector
//! of argument facts that calls pass to it ([`CallPolicy::Followed`], `calls.rs`). If an edit
//! affects a call, the functions that depend on the call are evaluated again.
//!
//! # Law
//!
//! After any edits the facts equal those from scratch. *Cost.* An edit that changes `k` facts
//! outside of cycles causes visits in proportion to `k` and the uses of these facts. Each visit
//! costs O(log n) for its position in the queue.

mod analysis;
mod branches;
mod calls;
mod cycles;
mod input;
mod observer;
mod queue;
mod reads;
mod traversal;
mod update;
mod visit;

pub use analysis::{CallPolicy, DEFAULT_MAX_CONTEXTS, Domain, LoopPolicy, SparseForward};
pub use calls::{
    CallContext, MAX_CALL_DEPTH, followed_callee, is_callable, may_have_unknown_callers,
    with_growing_stack,
};
pub use input::{AnalysisInput, BaseAnalyses};
pub use observer::{
    ComputedResult, CycleRound, GrowthTrace, LoopTrace, Observer, Visit, VisitPart, VisitRecorder,
};
pub use reads::AnalysisContext;
pub use traversal::values_within;

use std::any::Any;

use noisy_syntax::{Block, Ir, Op, OpKind, Region, Value, reserve_with_slack};
use rustc_hash::FxHashSet;

#[cfg(doc)]
use crate::flow::Flow;
use crate::lattice::Lattice;
use branches::Branches;
use calls::FollowedCalls;
use cycles::CycleState;
use queue::Queue;
use reads::{ReadLog, Subscriptions};

/// The values whose facts an update changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ChangedValues {
    /// All values may have new facts.
    #[default]
    All,
    /// Only these values may have new facts. A value may occur repeatedly.
    These(Vec<Value>),
}

impl ChangedValues {
    /// Returns the values whose facts changed in either update.
    #[must_use]
    pub fn union(&self, other: &ChangedValues) -> ChangedValues {
        match (self, other) {
            (ChangedValues::These(a), ChangedValues::These(b)) => {
                ChangedValues::These([a.as_slice(), b].concat())
            }
            _ => ChangedValues::All,
        }
    }
}

/// The incremental solver of an analysis, with its facts.
#[derive(Debug)]
pub struct SparseSolver<A: SparseForward, O = ()> {
    /// The analysis.
    pub analysis: A,
    /// The observer, with its findings.
    pub observer: O,
    recorder: Option<Box<dyn VisitRecorder<A::Fact>>>,
    facts: Vec<A::Fact>,
    /// By block.
    live: Vec<bool>,
    /// By op: true for a live branch or yield.
    reached: Vec<bool>,
    /// By op: tick of `clock` of its last visit.
    last_visit: Vec<u32>,
    clock: u32,
    /// Visits before this tick were not part of the last solution from scratch.
    solve_start: u32,
    branches: Branches,
    queue: Queue,
    /// True during updates: facts of later ops exist then, so each use must check that its
    /// definition precedes it.
    checks_order: bool,
    cycle: CycleState<A::Fact>,
    /// Ops that were iterated as loops when they were last visited, even if an edit has changed
    /// them since. The facts inside come from these iterations.
    iterated: FxHashSet<Op>,
    /// Outermost cycles whose fuel ran out, and calls that nest too deeply: see
    /// [`SparseSolver::undecided`].
    undecided: FxHashSet<Op>,
    n_visits: usize,
    moved: ChangedValues,
    calls: FollowedCalls<A::Fact>,
    /// Reads of the analysis besides facts of operands.
    subscriptions: Subscriptions,
}

impl<A: SparseForward> SparseSolver<A> {
    /// Solves from scratch.
    pub fn new(ir: &AnalysisInput<'_, A::Base>, analysis: A) -> Self {
        Self::with_observer(ir, analysis, ())
    }

    /// Solves one op that is isolated from above, for an analysis that does not follow calls.
    /// Values outside of the op have no facts, and the facts must not be updated.
    ///
    /// *Cost.* Linear in the size of the op, except for loops, plus tables of the size of the
    /// program.
    pub fn of_op(ir: &AnalysisInput<'_, A::Base>, analysis: A, op: Op) -> Self {
        let mut it = Self::unsolved(analysis, ());
        debug_assert!(!it.calls.is_on(), "calls leave the op");
        it.clock += 1;
        it.solve_start = it.clock;
        it.resize_tables(ir);
        let _ = it.run(ir, op, true);
        it
    }
}

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Solves from scratch with an observer.
    pub fn with_observer(ir: &AnalysisInput<'_, A::Base>, analysis: A, observer: O) -> Self {
        let mut it = Self::unsolved(analysis, observer);
        it.solve(ir);
        it
    }

    /// Solves from scratch and reports each visit to a recorder. Returns the recorder.
    ///
    /// # Panics
    ///
    /// Never: the solver returns the recorder that it was given.
    pub fn solve_recorded<V: VisitRecorder<A::Fact>>(
        ir: &AnalysisInput<'_, A::Base>,
        analysis: A,
        recorder: V,
    ) -> V
    where
        O: Default,
    {
        let mut it = Self::unsolved(analysis, O::default());
        it.recorder = Some(Box::new(recorder));
        it.solve(ir);
        let recorder: Option<Box<dyn Any>> = it.recorder.map(|it| it as _);
        *recorder.and_then(|it| it.downcast().ok()).expect("the recorder that was given")
    }

    fn unsolved(analysis: A, observer: O) -> Self {
        Self {
            calls: FollowedCalls::new(analysis.calls()),
            analysis,
            observer,
            recorder: None,
            facts: Vec::new(),
            live: Vec::new(),
            reached: Vec::new(),
            last_visit: Vec::new(),
            clock: 1,
            solve_start: 0,
            branches: Branches::default(),
            queue: Queue::default(),
            checks_order: false,
            cycle: CycleState::default(),
            iterated: FxHashSet::default(),
            undecided: FxHashSet::default(),
            n_visits: 0,
            moved: ChangedValues::All,
            subscriptions: Subscriptions::default(),
        }
    }

    /// Returns true if values of this type have facts.
    #[inline]
    fn carries(&self, ir: &Ir, value: Value) -> bool {
        self.analysis.has_fact(&ir.interner, ir.value(value).ty)
    }

    /// Calls the analysis for an op, for a value that the op defines, or for an argument of its
    /// regions. Records the reads.
    #[inline]
    fn query_analysis<T>(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        question: impl FnOnce(&mut A, &AnalysisContext<'_, A::Base>) -> T,
    ) -> T {
        let log = ReadLog::default();
        let cx = AnalysisContext::new(ir.ir, ir.base, op, &log);
        let answer = question(&mut self.analysis, &cx);
        log.flush(op, &mut self.subscriptions);
        answer
    }

    /// Lets the analysis refine the fact of a value ([`SparseForward::refine`]).
    #[inline]
    fn refined(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        value: Value,
        fact: A::Fact,
    ) -> A::Fact {
        self.query_analysis(ir, op, |it, cx| it.refine(cx, value, fact))
    }

    /// Returns true if larger facts carry no more information. A cycle in which only such facts
    /// change is finished.
    fn is_saturated(&self, fact: &A::Fact) -> bool {
        self.analysis.unbounded(fact).is_some()
    }

    /// Returns the fact that replaces a saturated fact if it would grow further; the fact itself if
    /// it is not saturated.
    fn unbounded(&self, fact: &A::Fact) -> A::Fact {
        self.analysis.unbounded(fact).unwrap_or_else(|| fact.clone())
    }

    /// Returns the fact of a value; `None` if the value is newer than the last update.
    pub fn fact(&self, value: Value) -> Option<&A::Fact> {
        self.facts.get(value.index())
    }

    /// Returns true if a block is reachable.
    pub fn is_block_live(&self, block: Block) -> bool {
        self.live.get(block.index()).copied().unwrap_or(false)
    }

    /// Returns true if the block of an op is reachable.
    pub fn is_live(&self, ir: &Ir, op: Op) -> bool {
        if ir.op(op).kind == OpKind::Chunk {
            return true;
        }
        self.is_block_live(ir.block_of(op))
    }

    /// Returns the ops at which the budget of visits or the nesting limit was exceeded, in no
    /// particular order. The solver made the carried facts of an outermost cycle, or the results of
    /// a call, unknown there. The op of a cycle is a loop, an `scf.reduce`, or the op around a
    /// region with a cycle of blocks.
    pub fn undecided(&self) -> impl Iterator<Item = Op> {
        self.undecided.iter().copied()
    }

    /// Returns the values whose facts the last update changed.
    pub fn changed_values(&self) -> &ChangedValues {
        &self.moved
    }

    /// Number of visits of ops in the last update; each round of a cycle counts.
    pub fn n_visits(&self) -> usize {
        self.n_visits
    }

    /// Solves from scratch.
    pub fn solve(&mut self, ir: &AnalysisInput<'_, A::Base>) {
        self.moved = ChangedValues::All;
        self.observer.clear();
        self.subscriptions = Subscriptions::default();
        self.facts.clear();
        self.live.clear();
        self.reached.clear();
        self.branches = Branches::default();
        self.queue = Queue::default();
        self.undecided.clear();
        self.iterated.clear();
        self.calls.restart(ir);
        self.n_visits = 0;
        self.checks_order = false;
        self.clock += 1;
        self.solve_start = self.clock;
        self.resize_tables(ir);
        self.run_region(ir, ir.root(), true);
        self.solve_functions(ir);
        if let Some(recorder) = &mut self.recorder {
            recorder.solved(&self.facts, &self.live);
        }
    }

    /// Extends the tables to the lengths of the arenas.
    fn resize_tables(&mut self, ir: &AnalysisInput<'_, A::Base>) {
        let (n_ops, n_values, n_blocks, _) = ir.n_slots();
        resize_table(&mut self.facts, n_values, A::Fact::bottom());
        resize_table(&mut self.live, n_blocks, false);
        resize_table(&mut self.reached, n_ops, false);
        resize_table(&mut self.last_visit, n_ops, 0);
    }
}

fn resize_table<T: Clone>(table: &mut Vec<T>, n: usize, new: T) {
    reserve_with_slack(table, n);
    table.resize(n, new);
}

/// Returns the ancestor of an op (or the op itself) that is an item of a region.
fn ancestor_in(ir: &Ir, op: Op, region: Region) -> Option<Op> {
    let mut at = op;
    while ir.op(at).parent != region {
        at = ir.parent_op(at)?;
    }
    Some(at)
}
