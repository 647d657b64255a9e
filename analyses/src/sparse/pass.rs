//! Passes in program order: the solution from scratch, and the iteration of cycles.
//!
//! *Loops.* A loop is iterated round by round. With a known trip count each round starts from exactly what the round before yielded,
//! and the results are those of the last round, so that the answer equals that of the unrolled program; the facts of
//! the values inside are joined over all rounds. Rounds that repeat an earlier start are skipped (Brent's cycle
//! detection), and when only saturated facts still change the rest is left out. With an unknown trip count each
//! round starts from the join of all rounds so far: the least fixpoint.
//!
//! *Regions with backward branches* have an order of their own (`block_cycles.rs`).
//!
//! *Cost.* The outermost cycle has fuel for a number of visits linear in its size, each counted with its operands. If it runs out, the cycle is swept once
//! more with everything that it carries unknown and is told to be [undecided](Sparse::undecided): no error about what it carries, and no hang.

use noisy_syntax::{Ir, Op, OpKind, Region, Value};
use smallvec::SmallVec;

use super::visit::EXACT_ROUNDS;
use super::{Domain, Input, LoopTrace, Loops, Observer, Round, Sparse, SparseForward};
use crate::flow::{self, Flow, Trips};
use crate::lattice::{Changed, Lattice};

/// Starts of rounds that are kept for [`LoopTrace`].
const KEPT_ROUNDS: usize = 64;

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// Visits all items of a region whose entry is set, in order; in passes if it has a cycle.
    pub(super) fn run_region(&mut self, ir: &Input<'_, A::Base>, region: Region, live: bool) {
        self.contexts.depth += 1;
        self.run_items(ir, region, live);
        self.contexts.depth -= 1;
    }

    fn run_items(&mut self, ir: &Input<'_, A::Base>, region: Region, live: bool) {
        match ir.region(region).parent.filter(|_| has_backward_branch(ir, region)) {
            Some(holder) => {
                self.cyclic.insert(region);
                self.run_blocks(ir, holder, region, live);
            }
            None => {
                self.cyclic.remove(&region);
                if !self.rounds.is_empty() || !self.passes.is_empty() {
                    self.begin(ir.items(region));
                } else {
                    self.clock += 1;
                }
                let _ = self.pass(ir, region, ir.items(region), live);
            }
        }
    }

    /// Begins a pass over items that may have been visited before: a use before its definition must not take it for visited.
    pub(super) fn begin(&mut self, items: impl Iterator<Item = Op>) {
        self.clock += 1;
        for op in items {
            self.stamp[op.index()] = 0;
        }
    }

    /// Visits whole blocks of a region. `live` says whether its entry is.
    pub(super) fn pass(
        &mut self,
        ir: &Input<'_, A::Base>,
        region: Region,
        items: impl Iterator<Item = Op>,
        live: bool,
    ) -> Changed {
        let mut out = Changed::No;
        let mut live = live;
        let first = ir.items(region).next();
        for op in items {
            let data = ir.op(op);
            if data.kind == OpKind::Label {
                let block = ir.label_block(op);
                self.stamp[op.index()] = self.clock;
                if Some(op) == first {
                    self.labels.insert(op, region);
                    self.first_labels.insert(region, op);
                } else {
                    out = out.or(self.visit_label(ir, op));
                }
                live = self.live[block.index()];
                continue;
            }
            out = out.or(self.run(ir, op, live));
            if data.extra.is_some() {
                let successors = &ir.extra(op).successors;
                if !successors.is_empty() {
                    let blocks: SmallVec<[_; 2]> =
                        successors.iter().filter_map(|it| it.block).collect();
                    self.targets.insert(op, blocks);
                }
            }
        }
        out
    }

    /// Visits an op and everything inside.
    pub(super) fn run(&mut self, ir: &Input<'_, A::Base>, op: Op, live: bool) -> Changed {
        self.n_visits += 1;
        self.fuel = self.fuel.saturating_sub(cost(ir, op));
        let data = ir.op(op);
        if data.regions.is_empty() {
            let changed = self.apply(ir, op, live);
            self.stamp[op.index()] = self.clock;
            return changed;
        }
        self.reached[op.index()] = live;
        let before: SmallVec<[A::Fact; 2]> =
            data.results.iter().map(|it| self.facts[it.index()].clone()).collect();
        match Flow::of(ir, op) {
            Flow::For { first } if self.is_loop(ir, op) => self.run_for(ir, op, first, live),
            Flow::While => self.run_while(ir, op, live),
            Flow::Parallel { first } if self.is_loop(ir, op) => {
                self.run_parallel(ir, op, first, live);
            }
            // When all runs are done.
            Flow::Reduce if live && ir.parent_op(op).is_some_and(|it| self.is_loop(ir, it)) => {}
            Flow::Function if self.run_function(ir, op, live) => {}
            _ => {
                for index in 0..data.regions.len() {
                    self.open(ir, op, index, live);
                    let region = data.regions[index].1;
                    let live = self.live[flow::entry_block(ir, region).index()];
                    self.run_region(ir, region, live);
                }
                self.join_yields(ir, op, live);
            }
        }
        // Stamps say when an op was done; uses inside of it see none of its results.
        self.stamp[op.index()] = self.clock;
        Changed::when(
            data.results.iter().zip(&before).any(|(it, before)| self.facts[it.index()] != *before),
        )
    }

    /// Gives the outermost cycle its fuel; whether this is the outermost.
    pub(super) fn refuel(&mut self, ir: &Input<'_, A::Base>, op: Op) -> bool {
        if !self.rounds.is_empty() || !self.passes.is_empty() || self.is_degraded {
            return false;
        }
        let mut n = 0_u64;
        for &(_, region) in &ir.op(op).regions {
            ir.walk(region, &mut |it| n += cost(ir, it));
        }
        self.fuel = 200_000 + 64 * n;
        true
    }

    /// Ends the outermost cycle. If its fuel ran out, it is passed over once more with nothing known of what it carries: any number of rounds
    /// stays below that.
    pub(super) fn give_up_if_spent(&mut self, ir: &Input<'_, A::Base>, op: Op) {
        if self.fuel == 0 && !self.is_degraded {
            self.degrade(ir, op, |it| {
                let live = it.is_live(ir, op);
                let _ = it.run(ir, op, live);
            });
        }
    }

    /// Runs a cycle again, with nothing known of what it carries.
    fn degrade(&mut self, ir: &Input<'_, A::Base>, op: Op, run: impl FnOnce(&mut Self)) {
        self.reset_within(ir, op);
        self.undecided.insert(op);
        self.is_degraded = true;
        run(self);
        self.is_degraded = false;
    }

    /// Sets everything inside an op, and its results, back to bottom.
    pub(super) fn reset_within(&mut self, ir: &Input<'_, A::Base>, op: Op) {
        self.observer.forget(op);
        self.undecided.remove(&op);
        for &value in &ir.op(op).results {
            self.facts[value.index()] = A::Fact::bottom();
        }
        for &(_, region) in &ir.op(op).regions {
            for block in [ir.region(region).entry, flow::entry_block(ir, region)] {
                self.live[block.index()] = false;
                for &value in &ir.block(block).args {
                    self.facts[value.index()] = A::Fact::bottom();
                }
            }
            self.reset_items(ir, region);
        }
    }

    fn reset_items(&mut self, ir: &Input<'_, A::Base>, region: Region) {
        for (n, inner) in ir.items(region).enumerate() {
            self.reached[inner.index()] = false;
            let is_label = ir.op(inner).kind == OpKind::Label;
            if is_label {
                if n == 0 {
                    // The entry belongs to the op around.
                    self.observer.forget(inner);
                    continue;
                }
                self.live[ir.label_block(inner).index()] = false;
            }
            self.reset_within(ir, inner);
        }
    }

    /// Sets the facts of carried arguments; other arguments of the region are unknown.
    fn bind(&mut self, ir: &Input<'_, A::Base>, region: Region, carried: &[A::Fact], live: bool) {
        let Some(op) = ir.region(region).parent else { return };
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
        for (value, fact) in flow::carried_args(ir, region, carried.len()).into_iter().zip(carried)
        {
            if self.carries(ir, value) {
                let _ = self.set(ir, op, value, fact.clone());
            }
        }
    }

    /// The facts that the yields of a region give that are reached and may take their way number `way` (0 out of the loop, 1
    /// around), joined; bottom if there is none.
    fn yield_facts(
        &self,
        ir: &Input<'_, A::Base>,
        region: Region,
        n: usize,
        way: usize,
    ) -> Vec<A::Fact> {
        let mut out = vec![A::Fact::bottom(); n];
        let ends = flow::yields(ir, region);
        if ends.is_empty() && n > 0 {
            return vec![A::Fact::unknown(); n];
        }
        for end in ends {
            if !self.reached[end.index()] || !self.may_take(ir, end, way) {
                continue;
            }
            let start = flow::yielded(ir, end).start;
            for (index, fact) in out.iter_mut().enumerate() {
                let _ = fact.join(&self.read_passed(ir, end, start + index));
            }
        }
        out
    }

    fn run_for(&mut self, ir: &Input<'_, A::Base>, op: Op, first: usize, live: bool) {
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
                let _ = self.set_results(ir, op, results, live);
                self.give_up_if_spent(ir, op);
                return;
            }
        } else {
            self.bind(ir, region, &[], false);
            self.run_region(ir, region, false);
        }
        let _ = self.set_results(ir, op, results, live);
    }

    /// Iterates a loop that runs at least once; what its last round yields.
    fn run_counted(
        &mut self,
        ir: &Input<'_, A::Base>,
        op: Op,
        inits: Vec<A::Fact>,
        trips: Trips,
        body: Body<'_, Self, A::Fact>,
    ) -> Vec<A::Fact> {
        if A::LOOPS == Loops::Replayed {
            let trip_count = trips.count();
            let trace = self.iterate(ir, op, inits, trip_count, body);
            let info =
                LoopTrace { starts: &trace.starts, is_unbounded: trace.is_unbounded, trip_count };
            self.observer.looped(&self.analysis, ir, op, &info, &self.rounds);
            return trace.result;
        }
        let mut results = inits.clone();
        let yielded = self.reach_fixpoint(op, inits, trips.most == Some(1), body);
        if trips.least > 0 {
            return yielded;
        }
        for (result, yielded) in results.iter_mut().zip(&yielded) {
            let _ = result.join(yielded);
        }
        results
    }

    /// Passes over the region once, for all runs are alike, and then the reduction as a loop over what they give.
    fn run_parallel(&mut self, ir: &Input<'_, A::Base>, op: Op, first: usize, live: bool) {
        let data = ir.op(op);
        let region = data.regions[0].1;
        let inits: Vec<A::Fact> =
            (first..data.operands.len()).map(|it| self.read(ir, op, it)).collect();
        let trips = self.trips(ir, op);
        let enters = live && trips.most != Some(0);
        self.bind(ir, region, &[], enters);
        self.run_region(ir, region, enters);
        let end = flow::reduction(ir, op).filter(|_| enters);
        let Some(end) = end.filter(|it| self.reached[it.index()]) else {
            // Without a run that ends, the initial values are all there is.
            let results = if enters { vec![A::Fact::bottom(); inits.len()] } else { inits };
            let _ = self.set_results(ir, op, results, live);
            return;
        };
        self.reductions.insert(op, end);
        let values: Vec<A::Fact> =
            (0..inits.len()).map(|it| self.read_passed(ir, end, it)).collect();
        let owner = self.refuel(ir, end);
        let mut combine = |it: &mut Self, so_far: &[A::Fact]| -> Vec<A::Fact> {
            let pairs = so_far.iter().zip(&values).enumerate();
            pairs.map(|(at, (a, b))| it.combine(ir, end, at, a, b)).collect()
        };
        let mut results = self.run_counted(ir, end, inits.clone(), trips, &mut combine);
        if owner && self.fuel == 0 {
            self.degrade(ir, end, |it| {
                results = it.run_counted(ir, end, inits, trips, &mut combine);
            });
        }
        let _ = self.set_results(ir, op, results, live);
    }

    /// What a region of a reduction gives for two values, whichever comes first.
    fn combine(
        &mut self,
        ir: &Input<'_, A::Base>,
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
        ir: &Input<'_, A::Base>,
        region: Region,
        a: &A::Fact,
        b: &A::Fact,
    ) -> A::Fact {
        self.bind(ir, region, &[a.clone(), b.clone()], true);
        self.run_region(ir, region, true);
        self.yield_facts(ir, region, 1, 0).pop().unwrap_or_else(A::Fact::unknown)
    }

    fn run_while(&mut self, ir: &Input<'_, A::Base>, op: Op, live: bool) {
        let data = ir.op(op);
        let (before, after) = (data.regions[0].1, data.regions[1].1);
        let n = data.operands.len();
        if !live {
            for region in [before, after] {
                self.bind(ir, region, &[], false);
                self.run_region(ir, region, false);
            }
            let _ = self.set_results(ir, op, Vec::new(), false);
            return;
        }
        let inits: Vec<A::Fact> = (0..n).map(|it| self.read(ir, op, it)).collect();
        let n_passed = data.results.len();
        let owner = self.refuel(ir, op);
        let mut body = |it: &mut Self, start: &[A::Fact]| {
            it.bind(ir, before, start, true);
            it.run_region(ir, before, true);
            let passed = it.yield_facts(ir, before, n_passed, 1);
            let ends = flow::yields(ir, before);
            let goes_on = |end: &Op| it.reached[end.index()] && it.may_take(ir, *end, 1);
            let goes_on = ends.is_empty() || ends.iter().any(goes_on);
            it.bind(ir, after, &passed, goes_on);
            it.run_region(ir, after, goes_on);
            it.yield_facts(ir, after, n, 0)
        };
        if A::LOOPS == Loops::Replayed {
            let trace = self.iterate(ir, op, inits, None, &mut body);
            let info = LoopTrace {
                starts: &trace.starts,
                is_unbounded: trace.is_unbounded,
                trip_count: None,
            };
            self.observer.looped(&self.analysis, ir, op, &info, &self.rounds);
        } else {
            let _ = self.reach_fixpoint(op, inits, false, &mut body);
        }
        // Once more: what grows without end is marked now.
        let passed = self.yield_facts(ir, before, n_passed, 0);
        let _ = self.set_results(ir, op, passed, live);
        if owner {
            self.give_up_if_spent(ir, op);
        }
    }

    /// Sets the results of an op; what is not given is unknown.
    pub(super) fn set_results(
        &mut self,
        ir: &Input<'_, A::Base>,
        op: Op,
        facts: Vec<A::Fact>,
        live: bool,
    ) -> Changed {
        let mut facts = facts.into_iter();
        let mut changed = Changed::No;
        for &value in &ir.op(op).results {
            let fact = facts.next().unwrap_or_else(A::Fact::unknown);
            let carries = live && self.carries(ir, value);
            let fact = if carries { fact } else { A::Fact::bottom() };
            changed = changed.or(self.set(ir, op, value, fact));
        }
        changed
    }

    /// Passes over a loop until what it carries is stable (widened after a few rounds, and then brought down once); what it
    /// yields then.
    fn reach_fixpoint(
        &mut self,
        op: Op,
        inits: Vec<A::Fact>,
        once: bool,
        body: Body<'_, Self, A::Fact>,
    ) -> Vec<A::Fact> {
        if self.is_degraded {
            return self.run_unknown(op, inits.len(), body);
        }
        let mut start = inits.clone();
        let mut number = 0;
        let mut is_widened = false;
        loop {
            number += 1;
            self.rounds.push(Round { op, number });
            let yielded = body(self, &start);
            self.rounds.pop();
            if once || self.fuel == 0 {
                return yielded;
            }
            let mut next = yielded.clone();
            for (next, init) in next.iter_mut().zip(&inits) {
                let _ = next.join(init);
            }
            let rises = |(next, start): (&A::Fact, &A::Fact)| !next.is_at_most(start);
            if !next.iter().zip(&start).any(rises) {
                if is_widened && next != start {
                    // Any number of rounds from the inits stays below what one round from a bound on them gives.
                    self.rounds.push(Round { op, number: number + 1 });
                    let yielded = body(self, &next);
                    self.rounds.pop();
                    return yielded;
                }
                return yielded;
            }
            for (next, start) in next.iter_mut().zip(&start) {
                let _ = next.join(start);
                if number > EXACT_ROUNDS && next != start {
                    is_widened = true;
                    *next = start.widened(next.clone());
                }
            }
            start = next;
        }
    }

    /// Passes over a loop once with nothing known of what it carries; what it yields, at least, after any number of rounds.
    fn run_unknown(
        &mut self,
        op: Op,
        n_carried: usize,
        body: Body<'_, Self, A::Fact>,
    ) -> Vec<A::Fact> {
        let start = vec![A::Fact::unknown(); n_carried];
        self.rounds.push(Round { op, number: 1 });
        let yielded = body(self, &start);
        self.rounds.pop();
        yielded
    }

    /// Iterates a loop.
    fn iterate(
        &mut self,
        ir: &Input<'_, A::Base>,
        op: Op,
        inits: Vec<A::Fact>,
        trip_count: Option<u64>,
        body: Body<'_, Self, A::Fact>,
    ) -> Trace<A::Fact> {
        if self.is_degraded {
            let runs = trip_count.is_some_and(|it| it > 0);
            let mut result = self.run_unknown(op, inits.len(), body);
            for (result, init) in result.iter_mut().zip(&inits).filter(|_| !runs) {
                let _ = result.join(init);
            }
            return Trace { starts: Vec::new(), is_unbounded: false, result };
        }
        let mut values = Vec::new();
        values_within(ir, op, &mut values);
        let mut joined = vec![A::Fact::bottom(); values.len()];
        let mut start = inits;
        let mut starts = Vec::new();
        let mut is_unbounded = false;
        // The facts of the round before.
        let mut before = Vec::with_capacity(values.len());
        // Rounds in which nothing changed but facts that no longer count.
        let mut saturated = 0;
        // Brent: the start of a round whose number is a power of two.
        let mut kept = start.clone();
        let mut kept_at = 1_u64;
        let mut number = 0_u64;
        let mut left = trip_count;
        let result = loop {
            number += 1;
            if starts.len() < KEPT_ROUNDS {
                starts.push(start.clone());
            }
            self.rounds.push(Round { op, number });
            let yielded = body(self, &start);
            self.rounds.pop();
            for (value, joined) in values.iter().zip(&mut joined) {
                let _ = joined.join(&self.facts[value.index()]);
            }
            if let Some(left) = &mut left {
                *left -= 1;
            }
            let mut next = yielded.clone();
            if trip_count.is_none() {
                for (next, start) in next.iter_mut().zip(&start) {
                    let _ = next.join(start);
                    if number > EXACT_ROUNDS && next != start {
                        *next = start.widened(next.clone());
                    }
                }
            }
            if left == Some(0) || next == start || self.fuel == 0 {
                break next;
            }
            let pairs = || start.iter().zip(&next);
            let counts = |(a, b): (&A::Fact, &A::Fact)| {
                a != b && !(self.is_saturated(a) && self.is_saturated(b))
            };
            saturated = if pairs().any(counts) { 0 } else { saturated + 1 };
            if saturated > start.len() + 2 {
                is_unbounded = true;
                // What still changes has no last value.
                for (at, value) in values.iter().enumerate() {
                    let fact = &self.facts[value.index()];
                    if before.get(at).is_some_and(|it| it != fact) {
                        joined[at] = self.unbounded(&joined[at]);
                    }
                }
                for (next, start) in next.iter_mut().zip(&start) {
                    if next != start {
                        *next = self.unbounded(next);
                    }
                }
                break next;
            }
            if let Some(left) = &mut left {
                if next == kept {
                    // The starts from `kept_at` on repeat.
                    *left %= number + 1 - kept_at;
                    if *left == 0 {
                        break next;
                    }
                } else if number.is_power_of_two() {
                    (kept, kept_at) = (next.clone(), number + 1);
                }
            }
            start = next;
            // A use before its definition must not see the round before.
            before.clear();
            for value in &values {
                let fact = &mut self.facts[value.index()];
                before.push(std::mem::replace(fact, A::Fact::bottom()));
            }
        };
        for (value, joined) in values.iter().zip(joined) {
            self.facts[value.index()] = joined;
        }
        Trace { starts, is_unbounded, result }
    }
}

/// Passes over one round of a loop from the carried facts at its start, and returns what it yields.
type Body<'a, S, F> = &'a mut dyn FnMut(&mut S, &[F]) -> Vec<F>;

struct Trace<F> {
    starts: Vec<Vec<F>>,
    is_unbounded: bool,
    result: Vec<F>,
}

/// What a visit of an op costs in fuel: a round of a loop that carries a thousand values is more than one step.
fn cost(ir: &Ir, op: Op) -> u64 {
    1 + ir.op(op).operands.len() as u64 / 4
}

/// Whether a branch in a region goes to a label that stands before it.
fn has_backward_branch(ir: &Ir, region: Region) -> bool {
    let goes_back = |label: Op, op: Op| ir.op(op).parent == region && !ir.is_before(op, label);
    ir.labels(region).any(|label| {
        let preds = &ir.block(ir.label_block(label)).preds;
        preds.iter().any(|&(op, _)| goes_back(label, op))
    })
}

/// All values defined inside an op: arguments of its regions, results and arguments of what stands in them.
pub(crate) fn values_within(ir: &Ir, op: Op, out: &mut Vec<Value>) {
    for &(_, region) in &ir.op(op).regions {
        values_in(ir, region, out);
    }
}

fn values_in(ir: &Ir, region: Region, out: &mut Vec<Value>) {
    out.extend(ir.block(ir.region(region).entry).args.iter().copied());
    for inner in ir.items(region) {
        out.extend(ir.op(inner).results.iter().copied());
        values_within(ir, inner, out);
    }
}
