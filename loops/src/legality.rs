//! Legality of loop transformations: permutation, tiling, reversal, fusion, parallel execution.
//!
//! *Law.* A transformation is legal only if any two instances that access the same element, one of
//! them a store, keep their order. Unknown facts forbid it: ops with effects, accesses that may
//! share elements, a spent budget. If everything is known, the answer is exact: a forbidden
//! transformation would exchange two of these instances (for tiling, with some tile sizes).
//!
//! Let d be the difference of the iterations of a pair in the common loops, target minus source:
//!
//! | transformation | is illegal if a pair that no enclosing loop carries has |
//! |---|---|
//! | permutation | a negative first nonzero difference in the new order |
//! | tiling with any sizes | a negative difference in any loop of the band |
//! | reversal, parallel iterations | a nonzero difference in that loop |
//! | fusion | its target in the second loop, with a smaller value of the variable than its source |
//!
//! Values that a loop carries from one iteration to the next (`iter_args`) are not covered. Each
//! transformation checks them itself.

use std::cell::Cell;

use noisy_polyhedra::Budget;
use noisy_syntax::Op;

use crate::body::FunctionBody;
use crate::dependence::DependenceLimits;
use crate::instances::{AccessTime, InstancePairs, TimeCondition, TimeDifference, instance_pairs};

/// The reason why a transformation is illegal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The transformation would violate a dependence: an index into [`Legality::dependences`].
    Dependence(usize),
    /// An op has unknown memory effects.
    Effect(Op),
    /// An access is not in all of the loops.
    Imperfect(Op),
}

/// The dependences of a body, and the transformations that they allow.
#[derive(Debug)]
pub struct Legality<'a> {
    body: &'a FunctionBody,
    dependences: Vec<InstancePairs>,
    paths: Vec<Vec<u32>>,
    /// Maximum work for one query, in machine words (see [`Budget`]).
    query_work: u64,
    /// The remaining work for all queries.
    remaining_work: Cell<u64>,
}

impl<'a> Legality<'a> {
    /// Computes the dependences. `None` if there are too many ([`instance_pairs`]).
    pub fn new(body: &'a FunctionBody, limits: &DependenceLimits) -> Option<Self> {
        let all = instance_pairs(body, limits)?;
        let left = Cell::new(limits.total_work);
        Some(Self {
            body,
            dependences: all,
            paths: crate::dependence::loop_paths(body),
            query_work: limits.work_per_pair,
            remaining_work: left,
        })
    }

    /// Runs one query with the remaining work.
    fn with_budget<T>(&self, ask: impl FnOnce(&mut Budget) -> T) -> T {
        let work = self.query_work.min(self.remaining_work.get());
        let mut budget = Budget::new(work);
        let answer = ask(&mut budget);
        self.remaining_work.set(self.remaining_work.get() - (work - budget.remaining()));
        answer
    }

    /// Returns true if a dependence has a pair that satisfies all conditions, or if the budget is
    /// spent first.
    pub fn has_pair(&self, it: &InstancePairs, conditions: &[TimeCondition<'_>]) -> bool {
        self.with_budget(|budget| it.has_pair(conditions, budget))
    }

    /// Returns the dependences, sorted by source, target and level.
    pub fn dependences(&self) -> &[InstancePairs] {
        &self.dependences
    }

    /// Returns the loops around an access, outermost first.
    pub fn loops_around(&self, access: usize) -> &[u32] {
        &self.paths[access]
    }

    /// Returns the index of the loop of an op, the first one if it has several.
    pub fn loop_of(&self, op: Op) -> Option<u32> {
        self.body.loop_of(op)
    }

    /// Returns the dependences from an access in loop `a` to an access in loop `b` that no
    /// enclosing loop carries, with their indices. The loops may be the same.
    fn dependences_between(&self, a: u32, b: u32) -> impl Iterator<Item = (usize, &InstancePairs)> {
        let depth = self.body.loops[a as usize].depth as usize;
        self.dependences.iter().enumerate().filter(move |(_, it)| {
            it.level >= depth
                && self.paths[it.source].contains(&a)
                && self.paths[it.target].contains(&b)
        })
    }

    /// Returns an op with unknown memory effects inside a loop, if there is one.
    pub fn effect_in(&self, loop_: u32) -> Option<Op> {
        self.body.effect_in(loop_)
    }

    /// Returns the variable of an enclosing loop, as a time of an access.
    fn iv_time(&self, access: usize, loop_: u32) -> Option<AccessTime> {
        let path = &self.paths[access];
        let at = path.iter().position(|it| *it == loop_)?;
        let mut out = vec![0; path.len() + 1];
        out[at] = 1;
        Some(out)
    }

    /// Returns the variables of the loops, as times of the source and of the target.
    fn iv_times(
        &self,
        it: &InstancePairs,
        loops: &[u32],
    ) -> Option<(Vec<AccessTime>, Vec<AccessTime>)> {
        let of = |access| {
            loops.iter().map(|&at| self.iv_time(access, at)).collect::<Option<Vec<AccessTime>>>()
        };
        Some((of(it.source)?, of(it.target)?))
    }

    fn check_known_effects(&self, loop_: u32) -> Result<(), Obstacle> {
        self.effect_in(loop_).map_or(Ok(()), |it| Err(Obstacle::Effect(it)))
    }

    /// Checks the permutation of the nested loops of a band, outermost first. `order[k]` is the
    /// index of the loop that moves to position k.
    ///
    /// # Errors
    /// If a dependence or an unknown effect forbids it, or an access is not in all of the loops.
    pub fn check_permutation(&self, band: &[u32], order: &[usize]) -> Result<(), Obstacle> {
        let unit = |it: &usize| (0..band.len()).map(|at| i128::from(at == *it)).collect();
        self.check_reordering(band, &order.iter().map(unit).collect::<Vec<_>>())
    }

    /// Checks a reordering of the iterations of nested loops, outermost first. Each row has the
    /// coefficients of a new variable; the new variables are compared lexicographically.
    ///
    /// # Errors
    /// If a dependence or an unknown effect forbids it, or an access is not in all of the loops.
    pub(crate) fn check_reordering(
        &self,
        band: &[u32],
        rows: &[Vec<i128>],
    ) -> Result<(), Obstacle> {
        let Some(&outermost) = band.first() else { return Ok(()) };
        self.check_known_effects(outermost)?;
        // The sum of times of equal length, weighted by a row.
        let sum = |times: &[AccessTime], row: &Vec<i128>| -> Option<AccessTime> {
            let mut out = vec![0; times.first()?.len()];
            for (time, by) in times.iter().zip(row) {
                for (to, it) in out.iter_mut().zip(time) {
                    *to = it.checked_mul(*by)?.checked_add(*to)?;
                }
            }
            Some(out)
        };
        for (at, it) in self.dependences_between(outermost, outermost) {
            let Some((source, target)) = self.iv_times(it, band) else {
                return Err(Obstacle::Imperfect(self.body.accesses[it.source].op));
            };
            let sums = |times: &[AccessTime]| {
                rows.iter().map(|row| sum(times, row)).collect::<Option<Vec<AccessTime>>>()
            };
            let Some((source, target)) = sums(&source).zip(sums(&target)) else {
                return Err(Obstacle::Dependence(at));
            };
            if self.with_budget(|budget| it.has_overtaking_pair(&source, &target, false, budget)) {
                return Err(Obstacle::Dependence(at));
            }
        }
        Ok(())
    }

    /// Checks the tiling of the nested loops of a band, outermost first, with any tile sizes.
    ///
    /// # Errors
    /// If a dependence or an unknown effect forbids it, or an access is not in all of the loops.
    pub fn check_tiling(&self, band: &[u32]) -> Result<(), Obstacle> {
        let Some(&outermost) = band.first() else { return Ok(()) };
        self.check_known_effects(outermost)?;
        for (at, it) in self.dependences_between(outermost, outermost) {
            let Some((source, target)) = self.iv_times(it, band) else {
                return Err(Obstacle::Imperfect(self.body.accesses[it.source].op));
            };
            for (s, t) in source.iter().zip(&target) {
                if self.has_pair(it, &[(s, t, TimeDifference::AtMost(-1))]) {
                    return Err(Obstacle::Dependence(at));
                }
            }
        }
        Ok(())
    }

    /// Checks unroll and jam. Iterations of the loop `outer` with variables that differ by at most
    /// `span` are jammed into the loops `inner`, innermost last: each iteration of the inner loops
    /// runs them one after the other.
    ///
    /// # Errors
    /// If a dependence or an unknown effect forbids it, or an access is not in all of the loops.
    pub(crate) fn check_unroll_and_jam(
        &self,
        outer: u32,
        inner: &[u32],
        span: i128,
    ) -> Result<(), Obstacle> {
        self.check_known_effects(outer)?;
        for (at, it) in self.dependences_between(outer, outer) {
            let both = self.iv_times(it, &[outer]).zip(self.iv_times(it, inner));
            let Some(((outer_source, outer_target), (source, target))) = both else {
                return Err(Obstacle::Imperfect(self.body.accesses[it.source].op));
            };
            let (from, to) = (&outer_source[0], &outer_target[0]);
            let mut conditions = vec![
                (from, to, TimeDifference::AtLeast(1)),
                (from, to, TimeDifference::AtMost(span)),
            ];
            for (s, t) in source.iter().zip(&target) {
                conditions.push((s, t, TimeDifference::AtMost(-1)));
                if self.has_pair(it, &conditions) {
                    return Err(Obstacle::Dependence(at));
                }
                conditions.pop();
                conditions.push((s, t, TimeDifference::Exactly(0)));
            }
        }
        Ok(())
    }

    /// Checks that the iterations of a loop may run in any order, or in parallel.
    ///
    /// # Errors
    /// If a dependence or an unknown effect forbids it, or an access is not in all of the loops.
    pub fn check_parallel(&self, loop_: u32) -> Result<(), Obstacle> {
        self.check_known_effects(loop_)?;
        let depth = self.body.loops[loop_ as usize].depth as usize;
        match self.dependences_between(loop_, loop_).find(|it| it.1.level == depth) {
            Some((at, _)) => Err(Obstacle::Dependence(at)),
            None => Ok(()),
        }
    }

    /// Checks that the iterations of a loop may run backwards.
    ///
    /// # Errors
    /// If a dependence or an unknown effect forbids it, or an access is not in all of the loops.
    pub(crate) fn check_reversal(&self, loop_: u32) -> Result<(), Obstacle> {
        self.check_parallel(loop_)
    }

    /// Checks the fusion of two consecutive loops in the same enclosing loops. In the fused loop,
    /// the body of the first runs before the body of the second. The caller checks the ops between
    /// the loops.
    ///
    /// # Errors
    /// If a dependence or an unknown effect forbids it, or an access is not in all of the loops.
    pub fn check_fusion(&self, first: u32, second: u32) -> Result<(), Obstacle> {
        self.check_known_effects(first)?;
        self.check_known_effects(second)?;
        for (at, it) in self.dependences_between(first, second) {
            let both = (self.iv_time(it.source, first), self.iv_time(it.target, second));
            let (Some(source), Some(target)) = both else { continue };
            if self.has_pair(it, &[(&source, &target, TimeDifference::AtMost(-1))]) {
                return Err(Obstacle::Dependence(at));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use noisy_syntax::Source;

    use super::*;

    /// Returns true if two iterations of the outermost of three loops may be jammed, for a program
    /// that loads at the given subscripts and stores at `%i, %j, %k`.
    fn check_jam(subscripts: &str) -> bool {
        let text = format!(
            "func.func @f(%A: memref<99x99x99xf32>) {{
  affine.for %i = 1 to 9 {{
    affine.for %j = 1 to 9 {{
      affine.for %k = 1 to 9 {{
        %0 = affine.load %A[{subscripts}] : memref<99x99x99xf32>
        affine.store %0, %A[%i, %j, %k] : memref<99x99x99xf32>
      }}
    }}
  }}
  return
}}
"
        );
        let source = Source::new(&text);
        let ir = source.ir();
        let body = FunctionBody::new(ir, ir.functions()[0]);
        Legality::new(&body, &DependenceLimits::default())
            .is_some_and(|it| it.check_unroll_and_jam(0, &[1, 2], 1).is_ok())
    }

    /// The programs have too many accesses, or few accesses with large systems in 40 loops.
    #[test]
    fn gives_up_on_too_many_dependences() {
        let nest = |depth: usize, n: usize| {
            let head = |it: usize| format!("affine.for %i{it} = 0 to 9 {{\n");
            let store = "affine.store %v, %m[%i0] : memref<?xi32>\n";
            format!(
                "func.func @f(%m: memref<?xi32>, %v: i32) {{\n{}{}{}return\n}}\n",
                (0..depth).map(head).collect::<String>(),
                store.repeat(n),
                "}\n".repeat(depth)
            )
        };
        let is_known = |depth: usize, n: usize| {
            let source = Source::new(&nest(depth, n));
            let ir = source.ir();
            let body = FunctionBody::new(ir, ir.functions()[0]);
            assert_eq!(body.accesses.len(), n);
            Legality::new(&body, &DependenceLimits::default()).is_some()
        };
        assert!(is_known(1, 20) && is_known(40, 4));
        assert!(!is_known(1, crate::MAX_PAIRED_ACCESSES + 1));
        assert!(!is_known(40, 120));
    }

    #[test]
    fn jams_loops_if_the_order_of_dependences_stays() {
        assert!(check_jam("%i - 1, %j, %k"));
        assert!(!check_jam("%i - 1, %j + 1, %k"));
        assert!(!check_jam("%i - 1, %j, %k + 1"));
        // The instances are in different iterations of the middle loop, so the innermost loop does
        // not matter.
        assert!(check_jam("%i - 1, %j - 1, %k + 1"));
        // Iterations at distance two are not jammed together.
        assert!(check_jam("%i - 2, %j + 1, %k"));
    }
}
