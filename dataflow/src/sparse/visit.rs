//! One visit of an op: the facts that it reads and sets, and its control flow.

use noisy_syntax::{Block, Def, Op, OpKind, Value};
use smallvec::SmallVec;

use super::cycles::{BlockPass, EXACT_ROUNDS, SaturatedPolicy};
use super::reads::ReadLog;
use super::{
    AnalysisContext, AnalysisInput, BaseAnalyses, ChangedValues, ComputedResult, Domain,
    LoopPolicy, Observer, SparseForward, SparseSolver, Visit, VisitPart, ancestor_in,
};
use crate::flow::{self, Flow, Interval, TripCount};
use crate::lattice::{Changed, Lattice};

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Sets the fact of a value that an op defines, or of an argument of its regions.
    pub(super) fn set(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        value: Value,
        fact: A::Fact,
    ) -> Changed {
        let fact = if fact == A::Fact::bottom() { fact } else { self.refined(ir, op, value, fact) };
        self.put(value, fact)
    }

    /// Sets a fact without refining it.
    #[inline]
    fn put(&mut self, value: Value, fact: A::Fact) -> Changed {
        let slot = &mut self.facts[value.index()];
        if *slot == fact {
            return Changed::No;
        }
        *slot = fact;
        if self.checks_order && self.cycle.rounds.is_empty() {
            self.queue.dirty.push(value);
            if let ChangedValues::These(moved) = &mut self.moved {
                moved.push(value);
            }
        }
        Changed::Yes
    }

    /// Returns the fact of an operand; unknown if the operand carries no fact or its definition
    /// does not precede the op.
    pub(super) fn read(&self, ir: &AnalysisInput<'_, A::Base>, op: Op, index: usize) -> A::Fact {
        self.read_at(ir, op, index, false)
    }

    /// Like [`SparseSolver::read`], for a yield or branch that was visited before and passes the
    /// value now.
    pub(super) fn read_passed(
        &self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        index: usize,
    ) -> A::Fact {
        self.read_at(ir, op, index, true)
    }

    fn read_at(
        &self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        index: usize,
        passed: bool,
    ) -> A::Fact {
        let value = ir.op(op).operands.get(index).and_then(|it| it.value);
        let Some(value) = value.filter(|&it| self.carries(ir, it)) else {
            return A::Fact::unknown();
        };
        if !self.is_in_order(ir, value, op, passed) {
            return A::Fact::unknown();
        }
        let fact = &self.facts[value.index()];
        if A::LOOPS == LoopPolicy::Replayed
            && *fact == A::Fact::bottom()
            && !self.is_computed(ir, value)
        {
            return A::Fact::unknown();
        }
        fact.clone()
    }

    /// Returns true if the definition of a value precedes a use. If `passed`, the value is read
    /// later than at the position of the use in the text.
    fn is_in_order(
        &self,
        ir: &AnalysisInput<'_, A::Base>,
        value: Value,
        user: Op,
        passed: bool,
    ) -> bool {
        let (defining_op, region) = match ir.value(value).def {
            Def::Result(op, _) => (op, ir.op(op).parent),
            Def::Argument(block, _) => match ir.block(block).label {
                Some(label) => (label, ir.op(label).parent),
                // An argument in the header of the enclosing op.
                None => return true,
            },
        };
        // Functions are isolated from above: they do not see values of the enclosing module.
        let holder = ir.region(region).parent.map(|it| ir.op(it).kind);
        if matches!(holder, Some(OpKind::Chunk | OpKind::BuiltinModule))
            && ir.op(user).parent != region
            && ir.function_of(user).is_some()
        {
            return false;
        }
        let is_before = || {
            let user = ancestor_in(ir, user, region);
            user.is_some_and(|it| it != defining_op && ir.is_before(defining_op, it))
        };
        let stamp = self.last_visit[defining_op.index()];
        if let Some(&BlockPass { start, .. }) =
            self.cycle.passes.iter().find(|it| it.region == region)
        {
            // A definition later in the text is legal if its block dominates the use, but never in
            // the same block.
            let in_other_block = || {
                ancestor_in(ir, user, region)
                    .is_some_and(|it| ir.block_of(it) != ir.block_of(defining_op))
            };
            return (if passed { is_before() } else { stamp >= start }) || in_other_block();
        }
        let since = match self.cycle.start {
            0 if self.checks_order => u32::MAX,
            0 => self.solve_start,
            start => start,
        };
        let is_visited = stamp >= since;
        (is_visited && !passed) || is_before()
    }

    /// Computes the results of an op without regions.
    pub(super) fn apply(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op, live: bool) -> Changed {
        self.reached[op.index()] = live;
        self.recorded(ir, op, VisitPart::Op, live, |it| match it.run_call(ir, op, live) {
            Some(given) => it.set_results(ir, op, given, live),
            None => it.transfer(ir, op, live),
        })
    }

    /// Sets the results of an op to the facts that the analysis computes.
    #[inline(never)]
    fn transfer(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op, live: bool) -> Changed {
        let mut operands: Option<SmallVec<[A::Fact; 4]>> = None;
        let mut changed = Changed::No;
        let log = ReadLog::default();
        let cx = AnalysisContext::new(ir.ir, ir.base, op, &log);
        for (index, &value) in ir.op(op).results.iter().enumerate() {
            let mut fact = A::Fact::bottom();
            if live && self.carries(ir, value) {
                let operands = operands.get_or_insert_with(|| self.operands(ir, op));
                fact = self.analysis.transfer(&cx, op, index, operands);
                let computed = ComputedResult { op, result: index, operands, fact: &fact };
                self.observer.computed(&self.analysis, ir, computed, &self.cycle.rounds);
                if fact != A::Fact::bottom() {
                    fact = self.analysis.refine(&cx, value, fact);
                }
            }
            changed = changed.or(self.put(value, fact));
        }
        log.flush(op, &mut self.subscriptions);
        changed
    }

    /// Runs `visit`, and calls the recorder before and after it.
    pub(super) fn recorded<T>(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        part: VisitPart,
        is_live: bool,
        visit: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let Self { recorder: Some(recorder), facts, live, cycle, .. } = self else {
            return visit(self);
        };
        recorder.visits(ir, Visit { op, part, is_live, facts, live, rounds: &cycle.rounds });
        let out = visit(self);
        let reads = if part == VisitPart::Op { self.operands(ir, op) } else { SmallVec::new() };
        let Self { recorder, facts, live, cycle, .. } = self;
        if let Some(recorder) = recorder {
            recorder.visited(
                ir,
                Visit { op, part, is_live, facts, live, rounds: &cycle.rounds },
                &reads,
            );
        }
        out
    }

    /// Announces that the next visits are in one context of a function, which is evaluated for the
    /// `turn`-th time, from 1; or in all contexts of the function if `None`.
    pub(super) fn enter_context(&mut self, context: Option<u32>, turn: u64) {
        self.observer.enter(context, turn);
        if let Some(recorder) = &mut self.recorder {
            recorder.enter(context);
        }
    }

    /// Announces the end of the visits of the last `enter_context`.
    pub(super) fn leave_context(&mut self) {
        self.observer.leave();
        if let Some(recorder) = &mut self.recorder {
            recorder.leave();
        }
    }

    /// Returns true if control may go from an op to its successor or region number `index`,
    /// according to the facts.
    pub(super) fn may_take(&self, ir: &AnalysisInput<'_, A::Base>, op: Op, index: usize) -> bool {
        match flow::controlling_operand(ir, op) {
            Some(at) => flow::may_take(ir, op, index, self.interval(ir, op, at, true)),
            None => true,
        }
    }

    /// Returns the range of an integer operand; `passed` as in [`SparseSolver::read_passed`].
    fn interval(
        &self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        index: usize,
        passed: bool,
    ) -> Interval {
        let value = ir.op(op).operands.get(index).and_then(|it| it.value);
        let Some(value) = value else { return Interval::Unknown };
        let fact = self.read_at(ir, op, index, passed);
        let (interner, ty) = (&ir.interner, ir.value(value).ty);
        let known = self.analysis.interval(interner, ty, &fact);
        known.unwrap_or_else(|| ir.base.interval(interner, ty, value))
    }

    /// Returns the trip count of a loop.
    pub(super) fn trips(&self, ir: &AnalysisInput<'_, A::Base>, op: Op) -> TripCount {
        flow::trip_count(ir, op, &|at| self.interval(ir, op, at, false).bounds())
    }

    /// Sets the liveness and the arguments of the entry of a region of an op that is not a loop.
    pub(super) fn open(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        index: usize,
        live: bool,
    ) {
        self.recorded(ir, op, VisitPart::Region(index), live, |it| {
            it.open_region(ir, op, index, live);
        });
    }

    fn open_region(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op, index: usize, live: bool) {
        let region = ir.op(op).regions[index].1;
        let flow = Flow::of(ir, op);
        let live = live
            && match flow {
                Flow::Choice => self.may_take(ir, op, index),
                Flow::For { .. } | Flow::Parallel { .. } => self.trips(ir, op).most != Some(0),
                Flow::Function => self.calls.is_entered(ir, op),
                _ => true,
            };
        let entry = flow::entry_block(ir, region);
        self.live[entry.index()] = live;
        let args = &ir.block(entry).args;
        for (index, &value) in args.iter().enumerate() {
            let fact = match flow {
                _ if !live || !self.carries(ir, value) => A::Fact::bottom(),
                Flow::Forall { first } => {
                    let n_points = args.len() - (ir.op(op).operands.len() - first);
                    match index.checked_sub(n_points) {
                        Some(at) => self.read(ir, op, first + at),
                        None => self.entry(ir, op, index, value),
                    }
                }
                _ => match flow::forwarded_operand(ir, op, index) {
                    Some(at) => self.read(ir, op, at),
                    None => self.entry(ir, op, index, value),
                },
            };
            let _ = self.set(ir, op, value, fact);
        }
        let header = ir.region(region).entry;
        if header != entry {
            self.live[header.index()] = live;
            self.set_unknown(ir, op, header, live);
        }
    }

    /// Returns the fact of a region argument into which no operand flows.
    pub(super) fn entry(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        index: usize,
        value: Value,
    ) -> A::Fact {
        let flow = Flow::of(ir, op);
        let n =
            if flow == Flow::Function { 0 } else { flow.n_own_operands(ir.op(op).operands.len()) };
        let operands: SmallVec<[A::Fact; 4]> = (0..n).map(|it| self.read(ir, op, it)).collect();
        self.query_analysis(ir, op, |it, cx| {
            it.entry_argument_fact(cx, op, index, value, &operands)
        })
    }

    /// Returns the facts of the operands of an op.
    fn operands(&self, ir: &AnalysisInput<'_, A::Base>, op: Op) -> SmallVec<[A::Fact; 4]> {
        (0..ir.op(op).operands.len()).map(|it| self.read(ir, op, it)).collect()
    }

    /// Sets the arguments of a block of a region of an op to unknown.
    pub(super) fn set_unknown(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        block: Block,
        live: bool,
    ) {
        for &value in &ir.block(block).args {
            let carries = live && self.carries(ir, value);
            let fact = if carries { A::Fact::unknown() } else { A::Fact::bottom() };
            let _ = self.set(ir, op, value, fact);
        }
    }

    /// Joins the results of an op with regions from its yields. The op is not a loop.
    pub(super) fn join_yields(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op, live: bool) {
        if ir.op(op).results.is_empty() {
            return;
        }
        if self.calls.is_followed_function(ir, op) {
            // A function has no results, but a type after a premature `}` may be parsed as results.
            for &value in &ir.op(op).results {
                let _ = self.set(ir, op, value, A::Fact::bottom());
            }
            return;
        }
        if Flow::of(ir, op) == Flow::Opaque {
            // The results of an op with opaque regions depend only on its operands.
            let _ = self.apply(ir, op, live);
            return;
        }
        self.recorded(ir, op, VisitPart::Results, live, |it| it.join_ends(ir, op, live));
    }

    fn join_ends(&mut self, ir: &AnalysisInput<'_, A::Base>, op: Op, live: bool) {
        let data = ir.op(op);
        let flow = Flow::of(ir, op);
        if let Flow::Forall { first } = flow {
            let insertions = flow::insertions(ir, op).unwrap_or_default();
            for (index, &value) in data.results.iter().enumerate() {
                let mut fact = A::Fact::bottom();
                if live && self.carries(ir, value) {
                    fact = self.read(ir, op, first + index);
                    let reached = insertions.iter().filter(|it| self.reached[it.0.index()]);
                    for &(insertion, _) in reached.filter(|it| it.1 == index) {
                        let _ = fact.join(&self.read_passed(ir, insertion, 0));
                    }
                }
                let _ = self.set(ir, op, value, fact);
            }
            return;
        }
        let is_choice = flow == Flow::Choice;
        let mut ends: SmallVec<[Op; 2]> = SmallVec::new();
        let mut lacking = !is_choice || flow::may_skip(ir, op);
        if is_choice {
            for &(_, region) in &data.regions {
                let of_region = flow::yield_ops(ir, region);
                let entered = self.is_block_live(flow::entry_block(ir, region));
                lacking |= entered && of_region.is_empty();
                ends.extend(of_region);
            }
        }
        ends.retain(|it| self.reached[it.index()]);
        for (index, &value) in data.results.iter().enumerate() {
            let fact = if !live || !self.carries(ir, value) {
                A::Fact::bottom()
            } else if lacking {
                A::Fact::unknown()
            } else {
                let mut fact = A::Fact::bottom();
                for &end in &ends {
                    let at = flow::yielded_operands(ir, end).start + index;
                    let _ = fact.join(&self.read_passed(ir, end, at));
                }
                fact
            };
            let _ = self.set(ir, op, value, fact);
        }
    }

    /// Computes the liveness and the arguments of a non-entry block from the branches to it.
    pub(super) fn visit_label(&mut self, ir: &AnalysisInput<'_, A::Base>, label: Op) -> Changed {
        self.recorded(ir, label, VisitPart::Block, true, |it| it.join_branches(ir, label))
    }

    fn join_branches(&mut self, ir: &AnalysisInput<'_, A::Base>, label: Op) -> Changed {
        let block = ir.label_block(label);
        self.last_visit[label.index()] = self.clock;
        self.branches.labels.insert(label, (ir.op(label).parent, ir.label_block(label)));
        let data = ir.block(block);
        let live_edges: SmallVec<[(Op, usize); 4]> = data
            .preds
            .iter()
            .map(|&(op, index)| (op, index as usize))
            .filter(|&(op, index)| self.reached[op.index()] && self.may_take(ir, op, index))
            .collect();
        let live = !live_edges.is_empty();
        let mut changed = Changed::when(live != self.live[block.index()]);
        self.live[block.index()] = live;
        let pass = self.cycle.passes.iter().find(|it| it.region == data.region).map(|it| it.number);
        let pass = pass.filter(|&it| it > 0);
        for (at, &value) in data.args.iter().enumerate() {
            let mut fact = A::Fact::bottom();
            if live && self.carries(ir, value) {
                for &(op, index) in &live_edges {
                    match flow::successor_operands(ir, op, index) {
                        Some(range) if range.start + at < range.end => {
                            let _ = fact.join(&self.read_passed(ir, op, range.start + at));
                        }
                        _ => {
                            let _ = fact.join(&A::Fact::unknown());
                        }
                    }
                }
                if pass.is_some() && self.cycle.is_degraded {
                    fact = A::Fact::unknown();
                } else if let Some(number) = pass {
                    let old = &self.facts[value.index()];
                    let is_saturated = self.is_saturated(old) && self.is_saturated(&fact);
                    let _ = fact.join(old);
                    let block_cycles = self.cycle.block_cycles.iter_mut();
                    let block_cycle = block_cycles.rev().find(|it| it.region == data.region);
                    if let Some(block_cycle) = block_cycle.filter(|_| fact != *old) {
                        if is_saturated {
                            block_cycle.open.push((label, at));
                            match block_cycle.saturated {
                                SaturatedPolicy::Fixed => continue,
                                SaturatedPolicy::Free => {}
                                SaturatedPolicy::Unbounded => {
                                    fact = self.analysis.unbounded(&fact).unwrap_or(fact);
                                }
                            }
                        }
                        if block_cycle.is_head(ir, block, &live_edges) {
                            if number > EXACT_ROUNDS && !is_saturated {
                                fact = old.widened(fact);
                            }
                            block_cycle.moves.push((label, at, number, fact.clone()));
                        }
                    }
                }
            }
            changed = changed.or(self.set(ir, label, value, fact));
        }
        changed
    }

    /// Returns true if the op that computes a value was reached. The fact bottom then means that
    /// the op never ends.
    fn is_computed(&self, ir: &AnalysisInput<'_, A::Base>, value: Value) -> bool {
        match ir.value(value).def {
            Def::Result(op, _) => self.reached[op.index()],
            Def::Argument(block, _) => self.live[block.index()],
        }
    }
}
