//! Ops that run their regions more than once: the facts that flow into the regions, from round to
//! round, and to the results.
//!
//! *Law.* A body is a function from the facts at the start of a round to its yields; `iteration.rs`
//! chooses the number of rounds. All runs of an `scf.parallel` have the same facts, so its region
//! is visited once. Its reduction is iterated like a loop over the operands of the `scf.reduce`,
//! with the two arguments in either order.

use noisy_syntax::{Op, Region};

use super::iteration::{LoopBody, join_all};
use crate::flow::{self, Flow, TripCount};
use crate::lattice::Lattice;
use crate::sparse::traversal::values_in;
use crate::sparse::{
    AnalysisInput, Domain, LoopPolicy, LoopTrace, Observer, SparseForward, SparseSolver, VisitPart,
};

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Sets the arguments of a region of a loop at the start of a round. `carried` are the facts of
    /// the carried arguments.
    fn bind(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        region: Region,
        carried: &[A::Fact],
        live: bool,
    ) {
        let Some(op) = ir.region(region).parent else { return };
        let index = ir.op(op).regions.iter().position(|it| it.1 == region).unwrap_or(0);
        self.recorded(ir, op, VisitPart::Region(index), live, |it| {
            it.bind_carried(ir, op, region, carried, live);
        });
    }

    fn bind_carried(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        region: Region,
        carried: &[A::Fact],
        live: bool,
    ) {
        let entry = flow::entry_block(ir, region);
        self.live[entry.index()] = live;
        self.set_unknown(ir, op, entry, live);
        let header = ir.region(region).entry;
        if header != entry {
            self.live[header.index()] = live;
            self.set_unknown(ir, op, header, live);
        }
        if !live {
            return;
        }
        if let Flow::For { .. } | Flow::Parallel { .. } = Flow::of(ir, op) {
            let args = &ir.block(entry).args;
            let n_own = args.len().saturating_sub(carried.len());
            for (index, &value) in args.iter().enumerate().take(n_own) {
                if self.carries(ir, value) {
                    let fact = self.entry(ir, op, index, value);
                    let _ = self.set(ir, op, value, fact);
                }
            }
        }
        for (&value, fact) in flow::carried_args(ir, region, carried.len()).iter().zip(carried) {
            if self.carries(ir, value) {
                let _ = self.set(ir, op, value, fact.clone());
            }
        }
    }

    /// Sets the results of a loop after its rounds.
    fn set_loop_results(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        results: Vec<A::Fact>,
        live: bool,
    ) {
        self.recorded(ir, op, VisitPart::Results, live, |it| {
            let _ = it.set_results(ir, op, results, live);
        });
    }

    /// Returns the join of the reached yields of a region that may take the exit number `way` (0
    /// leaves the loop, 1 enters the next iteration); bottom if there is no such yield.
    fn yield_facts(
        &self,
        ir: &AnalysisInput<'_, A::Base>,
        region: Region,
        n: usize,
        way: usize,
    ) -> Vec<A::Fact> {
        let mut out = vec![A::Fact::bottom(); n];
        let ends = flow::yield_ops(ir, region);
        if ends.is_empty() && n > 0 {
            return vec![A::Fact::unknown(); n];
        }
        for end in ends {
            if !self.reached[end.index()] || !self.may_take(ir, end, way) {
                continue;
            }
            let start = flow::yielded_operands(ir, end).start;
            for (index, fact) in out.iter_mut().enumerate() {
                let _ = fact.join(&self.read_passed(ir, end, start + index));
            }
        }
        out
    }

    #[inline(never)]
    pub(in crate::sparse) fn run_for(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        first: usize,
        live: bool,
    ) {
        let data = ir.op(op);
        let region = data.regions[0].1;
        let n = data.operands.len() - first;
        let inits: Vec<A::Fact> = (first..first + n).map(|it| self.read(ir, op, it)).collect();
        let trips = self.trips(ir, op);
        let mut results = inits.clone();
        if live && trips.most != Some(0) {
            let owner = self.refuel(ir, op);
            let mut body = |it: &mut Self, start: &[A::Fact]| {
                it.bind(ir, region, start, true);
                it.run_region(ir, region, true);
                it.yield_facts(ir, region, n, 0)
            };
            results = self.run_counted(ir, op, inits, trips, &mut body);
            if owner {
                self.set_loop_results(ir, op, results, live);
                self.give_up_if_spent(ir, op);
                return;
            }
        } else {
            self.bind(ir, region, &[], false);
            self.run_region(ir, region, false);
        }
        self.set_loop_results(ir, op, results, live);
    }

    /// Iterates a loop with a trip count that may be greater than 0. Returns its results.
    fn run_counted(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        inits: Vec<A::Fact>,
        trips: TripCount,
        body: LoopBody<'_, Self, A::Fact>,
    ) -> Vec<A::Fact> {
        if A::LOOPS == LoopPolicy::Replayed {
            let trips = trips.for_replay();
            let trace = self.iterate(ir, op, inits, trips, body);
            let info = LoopTrace {
                starts: &trace.starts,
                is_unbounded: trace.is_unbounded,
                most: trips.most,
            };
            self.observer.looped(&self.analysis, ir, op, &info, &self.cycle.rounds);
            return trace.result;
        }
        let mut results = self.reach_fixpoint(ir, op, inits.clone(), trips.most == Some(1), body);
        if trips.least == 0 {
            join_all(&mut results, &inits);
        }
        self.carry(ir, op, &inits, &mut results);
        results
    }

    /// Visits the region once, because all runs have the same facts, and then iterates the
    /// reduction.
    #[inline(never)]
    pub(in crate::sparse) fn run_parallel(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        first: usize,
        live: bool,
    ) {
        let data = ir.op(op);
        let region = data.regions[0].1;
        let inits: Vec<A::Fact> =
            (first..data.operands.len()).map(|it| self.read(ir, op, it)).collect();
        let trips = self.trips(ir, op);
        let enters = live && trips.most != Some(0);
        self.bind(ir, region, &[], enters);
        self.run_region(ir, region, enters);
        let end = flow::reduce_op(ir, op).filter(|_| enters);
        let Some(end) = end.filter(|it| self.reached[it.index()]) else {
            // Without runs, the results are the initial values; if no run ends, they are never
            // computed.
            let results = if enters { vec![A::Fact::bottom(); inits.len()] } else { inits };
            self.set_loop_results(ir, op, results, live);
            return;
        };
        let values: Vec<A::Fact> =
            (0..inits.len()).map(|it| self.read_passed(ir, end, it)).collect();
        let owner = self.refuel(ir, end);
        let mut combine = |it: &mut Self, so_far: &[A::Fact]| -> Vec<A::Fact> {
            let pairs = so_far.iter().zip(&values).enumerate();
            pairs.map(|(at, (a, b))| it.combine(ir, end, at, a, b)).collect()
        };
        let mut results = self.run_counted(ir, end, inits.clone(), trips, &mut combine);
        if owner && self.cycle.fuel == 0 {
            self.degrade(ir, end, |it| {
                results = it.run_counted(ir, end, inits, trips, &mut combine);
            });
        }
        self.set_loop_results(ir, op, results, live);
    }

    /// Returns the yield of a region of a reduction for two facts, joined over both orders.
    fn combine(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        reduce: Op,
        index: usize,
        a: &A::Fact,
        b: &A::Fact,
    ) -> A::Fact {
        let region = ir.op(reduce).regions[index].1;
        let mut given = self.combine_once(ir, region, a, b);
        if a == b {
            return given;
        }
        let mut values = Vec::new();
        values_in(ir, region, &mut values);
        let before: Vec<A::Fact> = values
            .iter()
            .map(|it| std::mem::replace(&mut self.facts[it.index()], A::Fact::bottom()))
            .collect();
        let _ = given.join(&self.combine_once(ir, region, b, a));
        for (value, before) in values.iter().zip(&before) {
            let _ = self.facts[value.index()].join(before);
        }
        given
    }

    fn combine_once(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        region: Region,
        a: &A::Fact,
        b: &A::Fact,
    ) -> A::Fact {
        self.bind(ir, region, &[a.clone(), b.clone()], true);
        self.run_region(ir, region, true);
        self.yield_facts(ir, region, 1, 0).pop().unwrap_or_else(A::Fact::unknown)
    }

    #[inline(never)]
    pub(in crate::sparse) fn run_while(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        live: bool,
    ) {
        let data = ir.op(op);
        let (before, after) = (data.regions[0].1, data.regions[1].1);
        let n = data.operands.len();
        if !live {
            for region in [before, after] {
                self.bind(ir, region, &[], false);
                self.run_region(ir, region, false);
            }
            self.set_loop_results(ir, op, Vec::new(), false);
            return;
        }
        let inits: Vec<A::Fact> = (0..n).map(|it| self.read(ir, op, it)).collect();
        let n_passed = data.results.len();
        let owner = self.refuel(ir, op);
        let mut body = |it: &mut Self, start: &[A::Fact]| {
            it.bind(ir, before, start, true);
            it.run_region(ir, before, true);
            let passed = it.yield_facts(ir, before, n_passed, 1);
            let ends = flow::yield_ops(ir, before);
            let goes_on = |end: &Op| it.reached[end.index()] && it.may_take(ir, *end, 1);
            let goes_on = ends.is_empty() || ends.iter().any(goes_on);
            it.bind(ir, after, &passed, goes_on);
            it.run_region(ir, after, goes_on);
            it.yield_facts(ir, after, n, 0)
        };
        if A::LOOPS == LoopPolicy::Replayed {
            let trace = self.iterate(ir, op, inits, TripCount::ANY, &mut body);
            let info =
                LoopTrace { starts: &trace.starts, is_unbounded: trace.is_unbounded, most: None };
            self.observer.looped(&self.analysis, ir, op, &info, &self.cycle.rounds);
        } else {
            let _ = self.reach_fixpoint(ir, op, inits, false, &mut body);
        }
        // The results are read after the last round, because only then are the facts final.
        let passed = self.yield_facts(ir, before, n_passed, 0);
        self.set_loop_results(ir, op, passed, live);
        if owner {
            self.give_up_if_spent(ir, op);
        }
    }
}
