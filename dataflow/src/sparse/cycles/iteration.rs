//! The rounds of a loop.
//!
//! With a known limit of the trip count, each round starts from exactly the yields of the preceding
//! round, and the results are joined over the rounds that may be the last one, so they equal those
//! of the unrolled program. The facts of the values inside are joined over all rounds. Rounds that
//! repeat an earlier start are skipped (Brent's cycle detection). Without a limit, each round
//! starts from the join of all earlier rounds, which gives the least fixpoint. In either case, if
//! only saturated facts have changed for as many rounds as there are carried values, and more than
//! a few rounds are left, facts that still change become unbounded, and rounds are joined until
//! nothing changes. Their starts are then at least those of any omitted round.

use noisy_syntax::Op;

use super::EXACT_ROUNDS;
use crate::flow::TripCount;
use crate::lattice::Lattice;
use crate::sparse::{
    AnalysisInput, CycleRound, Domain, Observer, SparseForward, SparseSolver, values_within,
};

/// Number of round starts that are kept for [`LoopTrace`](crate::sparse::LoopTrace).
const KEPT_ROUNDS: usize = 64;

/// Evaluates one round of a loop from the carried facts at its start, and returns its yields.
pub(super) type LoopBody<'a, S, F> = &'a mut dyn FnMut(&mut S, &[F]) -> Vec<F>;

/// If at most this number of rounds is left, they are evaluated even if only saturated facts
/// change, because the exact facts are reported to users.
const MAX_SATURATED_TAIL: u64 = 64;

/// The rounds of a loop, as in [`LoopTrace`](crate::sparse::LoopTrace), and its results.
pub(super) struct IterationTrace<F> {
    pub(super) starts: Vec<Vec<F>>,
    pub(super) is_unbounded: bool,
    pub(super) result: Vec<F>,
}

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Iterates a loop until its carried facts are stable. They are widened after a few rounds, and
    /// narrowed once at the end. Returns the yields of the last round.
    pub(super) fn reach_fixpoint(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        inits: Vec<A::Fact>,
        once: bool,
        body: LoopBody<'_, Self, A::Fact>,
    ) -> Vec<A::Fact> {
        if self.cycle.is_degraded {
            return self.run_unknown(op, inits.len(), body);
        }
        let mut start = inits.clone();
        let mut number = 0;
        let mut is_widened = false;
        loop {
            number += 1;
            self.cycle.rounds.push(CycleRound { op, number });
            let yielded = body(self, &start);
            self.cycle.rounds.pop();
            if once || self.cycle.fuel == 0 {
                return yielded;
            }
            let mut next = yielded.clone();
            join_all(&mut next, &inits);
            self.carry(ir, op, &inits, &mut next);
            let rises = |(next, start): (&A::Fact, &A::Fact)| !next.is_at_most(start);
            if !next.iter().zip(&start).any(rises) {
                if is_widened && next != start {
                    // Narrowing: the yields of one round from an upper bound of all starts are
                    // still an upper bound.
                    self.cycle.rounds.push(CycleRound { op, number: number + 1 });
                    let yielded = body(self, &next);
                    self.cycle.rounds.pop();
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

    /// Lets the analysis adjust the facts that a loop carries ([`SparseForward::carried_fact`]).
    pub(super) fn carry(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        inits: &[A::Fact],
        joined: &mut [A::Fact],
    ) {
        for (taken, joined) in inits.iter().zip(joined) {
            *joined = self
                .query_analysis(ir, op, |it, cx| it.carried_fact(cx, op, taken, joined.clone()));
        }
    }

    /// Evaluates a loop once with unknown carried facts. Returns its yields, which are at least
    /// those of any round.
    fn run_unknown(
        &mut self,
        op: Op,
        n_carried: usize,
        body: LoopBody<'_, Self, A::Fact>,
    ) -> Vec<A::Fact> {
        let start = vec![A::Fact::unknown(); n_carried];
        self.cycle.rounds.push(CycleRound { op, number: 1 });
        let yielded = body(self, &start);
        self.cycle.rounds.pop();
        yielded
    }

    /// Iterates a loop with a trip count that may be greater than 0.
    pub(super) fn iterate(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        op: Op,
        inits: Vec<A::Fact>,
        trips: TripCount,
        body: LoopBody<'_, Self, A::Fact>,
    ) -> IterationTrace<A::Fact> {
        if self.cycle.is_degraded {
            let mut result = self.run_unknown(op, inits.len(), body);
            if trips.least == 0 || trips.most.is_none() {
                join_all(&mut result, &inits);
            }
            return IterationTrace { starts: Vec::new(), is_unbounded: false, result };
        }
        let mut values = Vec::new();
        values_within(ir, op, &mut values);
        let mut joined = vec![A::Fact::bottom(); values.len()];
        let mut start = inits;
        let mut starts = Vec::new();
        // True as soon as facts that still change become unbounded.
        let mut is_unbounded = false;
        // Number of consecutive rounds, up to now, in which only saturated facts changed.
        let mut saturated = 0;
        // Brent's algorithm: the start of a round after a power of two.
        let mut kept = start.clone();
        let mut kept_at = 1_u64;
        let mut number = 0_u64;
        // Least and greatest number of remaining rounds.
        let (mut least, mut most) = (trips.least, trips.most);
        // Join of the yields of all rounds up to now that may be the last one.
        let mut given = vec![A::Fact::bottom(); start.len()];
        if least == 0 && most.is_some() {
            given.clone_from(&start);
        }
        let mut result = loop {
            number += 1;
            if starts.len() < KEPT_ROUNDS && !is_unbounded {
                starts.push(start.clone());
            }
            self.cycle.rounds.push(CycleRound { op, number });
            let yielded = body(self, &start);
            self.cycle.rounds.pop();
            for (value, joined) in values.iter().zip(&mut joined) {
                let _ = joined.join(&self.facts[value.index()]);
            }
            let mut next = yielded;
            if let Some(most) = &mut most {
                (least, *most) = (least.saturating_sub(1), *most - 1);
            } else {
                self.ascend(&mut next, &start, number, is_unbounded);
            }
            if most == Some(0) || next == start || self.cycle.fuel == 0 {
                break next;
            }
            let counts = |(a, b): (&A::Fact, &A::Fact)| {
                a != b && !(self.is_saturated(a) && self.is_saturated(b))
            };
            saturated = if start.iter().zip(&next).any(counts) { 0 } else { saturated + 1 };
            let is_far = most.is_none_or(|it| it > MAX_SATURATED_TAIL);
            if saturated > start.len() + 2 && !is_unbounded && is_far {
                is_unbounded = true;
                // The remaining rounds are treated as any number of rounds.
                most = None;
                self.ascend(&mut next, &start, number, is_unbounded);
            }
            if let Some(most) = &mut most {
                if next == kept {
                    // The starts from `kept_at` on repeat, so one period contains all starts that
                    // may follow.
                    let period = number + 1 - kept_at;
                    let ways = (*most - least).min(period - 1);
                    least %= period;
                    *most = least + ways;
                    if *most == 0 {
                        break next;
                    }
                } else if number.is_power_of_two() {
                    (kept, kept_at) = (next.clone(), number + 1);
                }
            }
            if least == 0 && most.is_some() {
                join_all(&mut given, &next);
            }
            start = next;
            // A cycle of blocks joins new facts with old ones, which must not come from the
            // preceding round.
            for value in &values {
                self.facts[value.index()] = A::Fact::bottom();
            }
        };
        join_all(&mut result, &given);
        for (value, joined) in values.iter().zip(joined) {
            self.facts[value.index()] = joined;
        }
        IterationTrace { starts, is_unbounded, result }
    }

    /// Joins the yields of a round with its start; the next round starts from the join. Changed
    /// facts are widened after a few rounds. If `is_unbounded`, changed saturated facts become
    /// unbounded.
    fn ascend(&self, next: &mut [A::Fact], start: &[A::Fact], number: u64, is_unbounded: bool) {
        for (next, start) in next.iter_mut().zip(start) {
            let _ = next.join(start);
            if number > EXACT_ROUNDS && next != start {
                *next = start.widened(next.clone());
            }
            if is_unbounded && next != start {
                *next = self.unbounded(next);
            }
        }
    }
}

/// Joins two lists of facts element by element.
pub(super) fn join_all<F: Lattice>(to: &mut [F], from: &[F]) {
    for (to, from) in to.iter_mut().zip(from) {
        let _ = to.join(from);
    }
}
