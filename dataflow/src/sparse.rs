//! Sparse forward dataflow: a fact per value, from the definitions to the uses, from scratch or
//! from an edit outward.
//!
//! # Notation
//!
//! An op is *live* if its block is; a block is live if it is the entry of a region that its op
//! enters, or if a live branch may go to it. The solver computes liveness itself: dead code has
//! bottom facts, and no analysis can turn this off. A *cycle* is a loop op ([`Flow::For`],
//! [`Flow::While`]) or an op with a region in which a branch goes backward in the text; everything
//! else is acyclic in program order, because a use that precedes its definition is not an edge: it
//! reads [`Domain::unknown`].
//!
//! # From scratch
//!
//! One pass over all items in program order (`traversal.rs`): each op is visited after everything
//! that feeds it. Cycles are iterated where they occur, innermost first (`cycles.rs`).
//!
//! # Layers
//!
//! An analysis may read the facts of analyses that were solved before it (its
//! [`SparseForward::Base`]): noise reads integers, integer ranges read constants. Information flows
//! only upward, so the analyses are solved one after the other, and each passes on the values with
//! new facts ([`Sparse::moved`]). Conditions and bounds of loops decide where control goes: an
//! analysis of integers knows them by its own facts ([`SparseForward::interval`]), the others ask
//! their base ([`Base::interval`]).
//!
//! # From an edit
//!
//! The changed ops go into a queue in program order; an op with regions is visited a second time at
//! its end, where its results are joined from its yields (`update.rs`). A visit that changes a fact
//! queues the users of that value; one that changes the liveness of a block queues its ops. Since
//! an acyclic op is visited after everything that feeds it, it is visited once. If an op within a
//! cycle is queued, the outermost cycle around it is reset and iterated as a whole, because facts
//! that were derived around the cycle from an old fact must not stay. If much of the program turns
//! out to be affected, it is solved from scratch instead.
//!
//! # Calls
//!
//! An analysis may follow calls into their callees, each of which is evaluated for the vectors of
//! arguments that calls pass to it ([`Calls::Followed`], `calls.rs`). An edit that reaches a call
//! evaluates the functions that depend on it again.
//!
//! # Law
//!
//! After any edits the facts equal those from scratch. *Cost.* An edit that changes `k` facts
//! outside of cycles visits in proportion to `k` and their uses, each at O(log n) for its place in
//! the text.

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

pub use analysis::{Calls, Domain, Loops, MAX_APART, SparseForward};
pub use calls::{Context, MAX_DEPTH, followed, is_callable, is_exposed, with_stack};
pub use input::{Base, Input};
pub use observer::{
    Computed, GrowthTrace, LoopTrace, Observer, Round, Visit, VisitPart, VisitRecorder,
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
pub enum Moved {
    /// All values may have new facts.
    #[default]
    All,
    /// Only these values have new facts; some may occur repeatedly.
    These(Vec<Value>),
}

impl Moved {
    /// Returns the values whose facts changed in either update.
    #[must_use]
    pub fn and(&self, other: &Moved) -> Moved {
        match (self, other) {
            (Moved::These(a), Moved::These(b)) => Moved::These([a.as_slice(), b].concat()),
            _ => Moved::All,
        }
    }
}

/// The facts of an analysis, kept up to date edit by edit.
#[derive(Debug)]
pub struct Sparse<A: SparseForward, O = ()> {
    /// The analysis.
    pub analysis: A,
    /// The observer, with the findings that it noted.
    pub observer: O,
    recorder: Option<Box<dyn VisitRecorder<A::Fact>>>,
    facts: Vec<A::Fact>,
    /// By block.
    live: Vec<bool>,
    /// By op: true for a live branch or yield.
    reached: Vec<bool>,
    /// By op: tick of `clock` of its last visit.
    stamp: Vec<u32>,
    clock: u32,
    /// Visits before this tick were not part of the last solution from scratch.
    solve_start: u32,
    branches: Branches,
    queue: Queue,
    /// True if facts of later ops exist, so that definitions must be checked to precede their uses.
    checks_order: bool,
    cycle: CycleState<A::Fact>,
    /// Ops that were iterated as loops, even if they are no loops any more. The ops inside were
    /// visited in each of these rounds.
    iterated: FxHashSet<Op>,
    /// Outermost cycles whose fuel ran out, and calls that nest too deep: see
    /// [`Sparse::undecided`].
    undecided: FxHashSet<Op>,
    n_visits: usize,
    moved: Moved,
    calls: FollowedCalls<A::Fact>,
    /// Reads of the analysis besides facts of operands.
    subscriptions: Subscriptions,
}

impl<A: SparseForward> Sparse<A> {
    /// Solves from scratch.
    pub fn new(ir: &Input<'_, A::Base>, analysis: A) -> Self {
        Self::observed(ir, analysis, ())
    }

    /// Solves one op that is isolated from above, for an analysis that follows no calls. Values
    /// outside of the op have no facts, and the facts are not kept up to date.
    ///
    /// *Cost.* Linear in the op, except for loops, plus tables of the size of the program.
    pub fn of_op(ir: &Input<'_, A::Base>, analysis: A, op: Op) -> Self {
        let mut it = Self::unsolved(analysis, ());
        debug_assert!(!it.calls.is_on(), "calls leave the op");
        it.clock += 1;
        it.solve_start = it.clock;
        it.resize_tables(ir);
        let _ = it.run(ir, op, true);
        it
    }
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Solves from scratch with an observer.
    pub fn observed(ir: &Input<'_, A::Base>, analysis: A, observer: O) -> Self {
        let mut it = Self::unsolved(analysis, observer);
        it.solve(ir);
        it
    }

    /// Solves from scratch and reports each visit to a recorder. Returns the recorder.
    ///
    /// # Panics
    ///
    /// Never: the solver returns the recorder that it was given.
    pub fn recorded_by<V: VisitRecorder<A::Fact>>(
        ir: &Input<'_, A::Base>,
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
            stamp: Vec::new(),
            clock: 1,
            solve_start: 0,
            branches: Branches::default(),
            queue: Queue::default(),
            checks_order: false,
            cycle: CycleState::default(),
            iterated: FxHashSet::default(),
            undecided: FxHashSet::default(),
            n_visits: 0,
            moved: Moved::All,
            subscriptions: Subscriptions::default(),
        }
    }

    /// Returns true if values of this type have facts.
    #[inline]
    fn carries(&self, ir: &Ir, value: Value) -> bool {
        self.analysis.carries(&ir.interner, ir.value(value).ty)
    }

    /// Asks the analysis about an op, about a value that it defines or about an argument of its
    /// regions, and remembers the reads.
    #[inline]
    fn ask<T>(
        &mut self,
        ir: &Input<'_, A::Base>,
        op: Op,
        question: impl FnOnce(&mut A, &AnalysisContext<'_, A::Base>) -> T,
    ) -> T {
        let log = ReadLog::default();
        let cx = AnalysisContext::new(ir.ir, ir.base, op, &log);
        let answer = question(&mut self.analysis, &cx);
        log.flush(op, &mut self.subscriptions);
        answer
    }

    /// Refines a fact of a value by the facts that follow from the program and the base.
    #[inline]
    fn refined(&mut self, ir: &Input<'_, A::Base>, op: Op, value: Value, fact: A::Fact) -> A::Fact {
        self.ask(ir, op, |it, cx| it.refine(cx, value, fact))
    }

    /// Returns true if larger facts carry no more information; a cycle in which only such facts
    /// change is done.
    fn is_saturated(&self, fact: &A::Fact) -> bool {
        self.analysis.unbounded(fact).is_some()
    }

    /// Returns the fact that a saturated fact becomes if it would go on to grow; the fact itself if
    /// it is not saturated.
    fn unbounded(&self, fact: &A::Fact) -> A::Fact {
        self.analysis.unbounded(fact).unwrap_or_else(|| fact.clone())
    }

    /// Returns the fact of a value.
    pub fn fact(&self, value: Value) -> Option<&A::Fact> {
        self.facts.get(value.index())
    }

    /// Returns true if a block can be reached.
    pub fn is_block_live(&self, block: Block) -> bool {
        self.live.get(block.index()).copied().unwrap_or(false)
    }

    /// Returns true if the block of an op can be reached.
    pub fn is_live(&self, ir: &Ir, op: Op) -> bool {
        if ir.op(op).kind == OpKind::Chunk {
            return true;
        }
        self.is_block_live(ir.block_of(op))
    }

    /// Returns the ops at which work ran out, in no particular order: carried facts of an outermost
    /// cycle, or results of a call, were taken to be unknown. The cycle is a loop, an `scf.reduce`,
    /// or the op that holds a region with a cycle of blocks.
    pub fn undecided(&self) -> impl Iterator<Item = Op> {
        self.undecided.iter().copied()
    }

    /// Returns the values whose facts the last update changed.
    pub fn moved(&self) -> &Moved {
        &self.moved
    }

    /// Number of visits of ops in the last update, one for each round of a cycle.
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

    /// Makes the tables as long as the arenas.
    fn resize_tables(&mut self, ir: &Input<'_, A::Base>) {
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

/// Returns the op itself or the op around it that is an item of a region.
fn ancestor_in(ir: &Ir, op: Op, region: Region) -> Option<Op> {
    let mut at = op;
    while ir.op(at).parent != region {
        at = ir.parent_op(at)?;
    }
    Some(at)
}
