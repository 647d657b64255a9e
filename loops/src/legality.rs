//! Legality of transformations: permutation, tiling, reversal, fusion, parallel execution.
//!
//! *Law.* A transformation is allowed only if every two instances that touch the same element, one
//! of them a store, keep their order. Anything unknown forbids it: ops with effects, accesses that
//! may share elements, a spent budget. If everything is known the answer is exact: a refused
//! transformation would exchange two such instances for some tile sizes.
//!
//! With d the difference of the iterations of a pair over the common loops:
//!
//! | transformation | is refused if a pair that the loops around do not carry has |
//! |---|---|
//! | a permutation | a first difference below 0 in the new order |
//! | tiles of any size | a difference below 0 in any loop of the band |
//! | a reversal, iterations in parallel | a difference in that loop, and none in those around |
//! | a fusion | its target in the second loop, at a smaller value of the variable than its source |
//!
//! Values that a loop carries from one iteration to the next (`iter_args`) are not covered; the
//! author of a transformation checks them.

use std::cell::Cell;

use noisy_polyhedra::Budget;
use noisy_syntax::Op;

use crate::body::Body;
use crate::dependence::Limits;
use crate::instances::{Condition, Differs, Instances, Time, instances};

/// The reason against a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It would violate this dependence: an index into [`Legality::dependences`].
    Dependence(usize),
    /// This op has unknown effects.
    Effect(Op),
    /// An access is in some of the loops only.
    Imperfect(Op),
}

/// The dependences of a body, and the transformations that they allow.
#[derive(Debug)]
pub struct Legality<'a> {
    body: &'a Body,
    all: Vec<Instances>,
    paths: Vec<Vec<u32>>,
    /// The most work on one question, in numbers touched.
    work: u64,
    /// The work that is left for all questions.
    left: Cell<u64>,
}

impl<'a> Legality<'a> {
    /// Finds the dependences. `None` if there are too many ([`instances`]).
    pub fn new(body: &'a Body, limits: &Limits) -> Option<Self> {
        let all = instances(body, limits)?;
        let left = Cell::new(limits.total);
        Some(Self { body, all, paths: crate::dependence::paths(body), work: limits.pair, left })
    }

    /// Runs one question within the work that is left.
    fn within<T>(&self, ask: impl FnOnce(&mut Budget) -> T) -> T {
        let work = self.work.min(self.left.get());
        let mut budget = Budget::new(work);
        let answer = ask(&mut budget);
        self.left.set(self.left.get() - (work - budget.left()));
        answer
    }

    /// Returns true if a dependence has a pair that meets all conditions, or if the work ends
    /// first.
    pub fn exist(&self, it: &Instances, conditions: &[Condition<'_>]) -> bool {
        self.within(|budget| it.exist(conditions, budget))
    }

    /// Returns the dependences, by source, target and level.
    pub fn dependences(&self) -> &[Instances] {
        &self.all
    }

    /// Returns the loops around an access, outermost first.
    pub fn path(&self, access: usize) -> &[u32] {
        &self.paths[access]
    }

    /// Returns the index of the loop of an op, the first one if it has several.
    pub fn loop_of(&self, op: Op) -> Option<u32> {
        self.body.loop_of(op)
    }

    /// Returns the dependences between accesses in two loops (or one) that the loops around them do
    /// not carry, with their indices.
    fn between(&self, a: u32, b: u32) -> impl Iterator<Item = (usize, &Instances)> {
        let depth = self.body.loops[a as usize].depth as usize;
        self.all.iter().enumerate().filter(move |(_, it)| {
            it.level >= depth
                && self.paths[it.source].contains(&a)
                && self.paths[it.target].contains(&b)
        })
    }

    /// Returns an op in a loop with unknown effects.
    pub fn effect_in(&self, loop_: u32) -> Option<Op> {
        self.body.effect_in(loop_)
    }

    /// Returns the time of an access that is the variable of one of its enclosing loops.
    fn variable(&self, access: usize, loop_: u32) -> Option<Time> {
        let path = &self.paths[access];
        let at = path.iter().position(|it| *it == loop_)?;
        let mut out = vec![0; path.len() + 1];
        out[at] = 1;
        Some(out)
    }

    /// Returns the times of both accesses of a dependence that are the variables of these loops.
    fn variables(&self, it: &Instances, loops: &[u32]) -> Option<(Vec<Time>, Vec<Time>)> {
        let of = |access| {
            loops.iter().map(|&at| self.variable(access, at)).collect::<Option<Vec<Time>>>()
        };
        Some((of(it.source)?, of(it.target)?))
    }

    fn known(&self, loop_: u32) -> Result<(), Obstacle> {
        self.effect_in(loop_).map_or(Ok(()), |it| Err(Obstacle::Effect(it)))
    }

    /// Checks the permutation of nested loops, outermost first: `order[k]` is the loop at position
    /// k.
    ///
    /// # Errors
    /// The obstacle.
    pub fn permutes(&self, band: &[u32], order: &[usize]) -> Result<(), Obstacle> {
        let unit = |it: &usize| (0..band.len()).map(|at| i128::from(at == *it)).collect();
        self.reorders(band, &order.iter().map(unit).collect::<Vec<_>>())
    }

    /// Checks the order of the iterations of nested loops, outermost first, by these sums of their
    /// variables, compared from the first sum on.
    ///
    /// # Errors
    /// The obstacle.
    pub(crate) fn reorders(&self, band: &[u32], rows: &[Vec<i128>]) -> Result<(), Obstacle> {
        let Some(&outermost) = band.first() else { return Ok(()) };
        self.known(outermost)?;
        // Adds up times of equal length.
        let sum = |times: &[Time], row: &Vec<i128>| -> Option<Time> {
            let mut out = vec![0; times.first()?.len()];
            for (time, by) in times.iter().zip(row) {
                for (to, it) in out.iter_mut().zip(time) {
                    *to = it.checked_mul(*by)?.checked_add(*to)?;
                }
            }
            Some(out)
        };
        for (at, it) in self.between(outermost, outermost) {
            let Some((source, target)) = self.variables(it, band) else {
                return Err(Obstacle::Imperfect(self.body.accesses[it.source].op));
            };
            let sums = |times: &[Time]| {
                rows.iter().map(|row| sum(times, row)).collect::<Option<Vec<Time>>>()
            };
            let Some((source, target)) = sums(&source).zip(sums(&target)) else {
                return Err(Obstacle::Dependence(at));
            };
            if self.within(|budget| it.overtake(&source, &target, false, budget)) {
                return Err(Obstacle::Dependence(at));
            }
        }
        Ok(())
    }

    /// Checks the tiling of nested loops, outermost first, with any tile sizes.
    ///
    /// # Errors
    /// The obstacle.
    pub fn tiles(&self, band: &[u32]) -> Result<(), Obstacle> {
        let Some(&outermost) = band.first() else { return Ok(()) };
        self.known(outermost)?;
        for (at, it) in self.between(outermost, outermost) {
            let Some((source, target)) = self.variables(it, band) else {
                return Err(Obstacle::Imperfect(self.body.accesses[it.source].op));
            };
            for (s, t) in source.iter().zip(&target) {
                if self.exist(it, &[(s, t, Differs::AtMost(-1))]) {
                    return Err(Obstacle::Dependence(at));
                }
            }
        }
        Ok(())
    }

    /// Checks unroll and jam: iterations of a loop whose variables differ by at most `span` share
    /// the loops inside it, innermost last; in one iteration of those they run one after the other.
    ///
    /// # Errors
    /// The obstacle.
    pub(crate) fn jams(&self, outer: u32, inner: &[u32], span: i128) -> Result<(), Obstacle> {
        self.known(outer)?;
        for (at, it) in self.between(outer, outer) {
            let both = self.variables(it, &[outer]).zip(self.variables(it, inner));
            let Some(((outer_source, outer_target), (source, target))) = both else {
                return Err(Obstacle::Imperfect(self.body.accesses[it.source].op));
            };
            let (from, to) = (&outer_source[0], &outer_target[0]);
            let mut conditions =
                vec![(from, to, Differs::AtLeast(1)), (from, to, Differs::AtMost(span))];
            for (s, t) in source.iter().zip(&target) {
                conditions.push((s, t, Differs::AtMost(-1)));
                if self.exist(it, &conditions) {
                    return Err(Obstacle::Dependence(at));
                }
                conditions.pop();
                conditions.push((s, t, Differs::By(0)));
            }
        }
        Ok(())
    }

    /// Checks that the iterations of a loop may run in any order, or at once.
    ///
    /// # Errors
    /// The obstacle.
    pub fn is_parallel(&self, loop_: u32) -> Result<(), Obstacle> {
        self.known(loop_)?;
        let depth = self.body.loops[loop_ as usize].depth as usize;
        match self.between(loop_, loop_).find(|it| it.1.level == depth) {
            Some((at, _)) => Err(Obstacle::Dependence(at)),
            None => Ok(()),
        }
    }

    /// Checks that the iterations of a loop may run backwards.
    ///
    /// # Errors
    /// The obstacle.
    pub(crate) fn reverses(&self, loop_: u32) -> Result<(), Obstacle> {
        self.is_parallel(loop_)
    }

    /// Checks the fusion of two loops under the same loops, one after the other: where their
    /// variables are equal, the body of the first one runs first. The caller checks the ops between
    /// them.
    ///
    /// # Errors
    /// The obstacle.
    pub fn fuses(&self, first: u32, second: u32) -> Result<(), Obstacle> {
        self.known(first)?;
        self.known(second)?;
        for (at, it) in self.between(first, second) {
            let both = (self.variable(it.source, first), self.variable(it.target, second));
            let (Some(source), Some(target)) = both else { continue };
            if self.exist(it, &[(&source, &target, Differs::AtMost(-1))]) {
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

    /// Returns true if two iterations of the outermost of three loops may share the others, for a
    /// program that stores one element and loads another.
    fn jams(subscripts: &str) -> bool {
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
        let body = Body::new(ir, ir.functions()[0]);
        Legality::new(&body, &Limits::default()).is_some_and(|it| it.jams(0, &[1, 2], 1).is_ok())
    }

    /// More accesses than are paired, and few that give large pairs, under 40 loops.
    #[test]
    fn knows_nothing_about_too_many_dependences() {
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
            let body = Body::new(ir, ir.functions()[0]);
            assert_eq!(body.accesses.len(), n);
            Legality::new(&body, &Limits::default()).is_some()
        };
        assert!(is_known(1, 20) && is_known(40, 4));
        assert!(!is_known(1, crate::MOST_PAIRED + 1));
        assert!(!is_known(40, 120));
    }

    #[test]
    fn jams_loops_if_the_order_of_dependences_stays() {
        assert!(jams("%i - 1, %j, %k"));
        assert!(!jams("%i - 1, %j + 1, %k"));
        assert!(!jams("%i - 1, %j, %k + 1"));
        // They meet in a later iteration of the enclosing loop, whatever the innermost one does.
        assert!(jams("%i - 1, %j - 1, %k + 1"));
        // Iterations with distance two are not adjacent.
        assert!(jams("%i - 2, %j + 1, %k"));
    }
}
