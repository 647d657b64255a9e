//! What may be done with loops: permuted, tiled, reversed, fused, run in parallel.
//!
//! *Law.* A transformation is allowed only if of each two instances that touch the same element, one of them a store, the one that ran
//! first still does. What is not understood forbids: ops with effects, accesses that may share elements, a budget that is spent. Where all
//! is understood the answer is exact: what is refused would exchange two such instances for some size of tiles.
//!
//! With d the difference of the iterations of a pair over the common loops:
//!
//! | what | is refused if a pair that the loops around do not carry has |
//! |---|---|
//! | a permutation | a first difference below 0 in the new order |
//! | tiles of any size | a difference below 0 in any loop of the band |
//! | a reversal, iterations in parallel | a difference in that loop, and none in those around |
//! | a fusion | its source in the first loop and its target, at a smaller value of the variable, in the second |
//!
//! Values that a loop carries from one iteration to the next (`iter_args`) are not seen here: who changes a loop looks at them.

use std::cell::Cell;

use noisy_polyhedra::Budget;
use noisy_syntax::Op;

use crate::body::Body;
use crate::dependence::Limits;
use crate::instances::{Condition, Differs, Instances, Time, instances};

/// Why something may not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// This dependence would be violated; an index into [`Legality::dependences`].
    Dependence(usize),
    /// This op has effects that are not understood.
    Effect(Op),
    /// An access stands in some of the loops only.
    Imperfect(Op),
}

/// The dependences of a body, and what they allow.
#[derive(Debug)]
pub struct Legality<'a> {
    body: &'a Body,
    all: Vec<Instances>,
    paths: Vec<Vec<u32>>,
    /// The most work on one question, in numbers touched.
    work: u64,
    /// What is left for all questions.
    left: Cell<u64>,
}

impl<'a> Legality<'a> {
    /// Finds the dependences; `None` if they are too many to be kept ([`instances`]).
    pub fn new(body: &'a Body, limits: &Limits) -> Option<Self> {
        let all = instances(body, limits)?;
        let left = Cell::new(limits.total);
        Some(Self { body, all, paths: crate::dependence::paths(body), work: limits.pair, left })
    }

    /// Does some of the work that is left for all questions together.
    fn within<T>(&self, ask: impl FnOnce(&mut Budget) -> T) -> T {
        let work = self.work.min(self.left.get());
        let mut budget = Budget::new(work);
        let answer = ask(&mut budget);
        self.left.set(self.left.get() - (work - budget.left()));
        answer
    }

    /// Whether there is a pair of a dependence of which all conditions hold; if the work that is left ends first, there may be, and that
    /// counts.
    pub fn exist(&self, it: &Instances, conditions: &[Condition<'_>]) -> bool {
        self.within(|budget| it.exist(conditions, budget))
    }

    /// The dependences, by source, target and level.
    pub fn dependences(&self) -> &[Instances] {
        &self.all
    }

    /// The loops around an access, outermost first.
    pub fn path(&self, access: usize) -> &[u32] {
        &self.paths[access]
    }

    /// The loop of the body that is this op, the first of several.
    pub fn loop_of(&self, op: Op) -> Option<u32> {
        self.body.loop_of(op)
    }

    /// Dependences between accesses in two loops (or one) that the loops around them do not carry, with their numbers.
    fn between(&self, a: u32, b: u32) -> impl Iterator<Item = (usize, &Instances)> {
        let depth = self.body.loops[a as usize].depth as usize;
        self.all.iter().enumerate().filter(move |(_, it)| {
            it.level >= depth
                && self.paths[it.source].contains(&a)
                && self.paths[it.target].contains(&b)
        })
    }

    /// An op in a loop whose effects are not understood.
    pub fn effect_in(&self, loop_: u32) -> Option<Op> {
        self.body.effect_in(loop_)
    }

    /// The time of an access that is the variable of one of the loops around it.
    fn variable(&self, access: usize, loop_: u32) -> Option<Time> {
        let path = &self.paths[access];
        let at = path.iter().position(|it| *it == loop_)?;
        let mut out = vec![0; path.len() + 1];
        out[at] = 1;
        Some(out)
    }

    /// The times of both accesses of a dependence that are the variables of these loops.
    fn variables(&self, it: &Instances, loops: &[u32]) -> Option<(Vec<Time>, Vec<Time>)> {
        let of = |access| {
            loops.iter().map(|&at| self.variable(access, at)).collect::<Option<Vec<Time>>>()
        };
        Some((of(it.source)?, of(it.target)?))
    }

    fn known(&self, loop_: u32) -> Result<(), Obstacle> {
        self.effect_in(loop_).map_or(Ok(()), |it| Err(Obstacle::Effect(it)))
    }

    /// Whether loops that are nested in each other, outermost first, may run in this order: `order[k]` is which of them is at place k.
    ///
    /// # Errors
    /// What is in the way.
    pub fn permutes(&self, band: &[u32], order: &[usize]) -> Result<(), Obstacle> {
        let unit = |it: &usize| (0..band.len()).map(|at| i128::from(at == *it)).collect();
        self.reorders(band, &order.iter().map(unit).collect::<Vec<_>>())
    }

    /// Whether the iterations of loops that are nested in each other, outermost first, may run in the order of these sums of their
    /// variables, compared from the first sum on.
    ///
    /// # Errors
    /// What is in the way.
    pub(crate) fn reorders(&self, band: &[u32], rows: &[Vec<i128>]) -> Result<(), Obstacle> {
        let Some(&outermost) = band.first() else { return Ok(()) };
        self.known(outermost)?;
        // A sum of times, which are all of the same length.
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

    /// Whether loops that are nested in each other, outermost first, may be tiled, by any sizes.
    ///
    /// # Errors
    /// What is in the way.
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

    /// Whether iterations of a loop whose variables differ by at most `span` may share the loops right in it, innermost last: in the same
    /// iteration of those, one behind the other.
    ///
    /// # Errors
    /// What is in the way.
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

    /// Whether the iterations of a loop may run in any order, or at once.
    ///
    /// # Errors
    /// What is in the way.
    pub fn is_parallel(&self, loop_: u32) -> Result<(), Obstacle> {
        self.known(loop_)?;
        let depth = self.body.loops[loop_ as usize].depth as usize;
        match self.between(loop_, loop_).find(|it| it.1.level == depth) {
            Some((at, _)) => Err(Obstacle::Dependence(at)),
            None => Ok(()),
        }
    }

    /// Whether the iterations of a loop may run backwards.
    ///
    /// # Errors
    /// What is in the way.
    pub(crate) fn reverses(&self, loop_: u32) -> Result<(), Obstacle> {
        self.is_parallel(loop_)
    }

    /// Whether two loops under the same loops, one behind the other, may be one: where the variable has the same value, first what is in
    /// the first one. What stands between them is for others to look at.
    ///
    /// # Errors
    /// What is in the way.
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

    /// Whether two iterations of the outermost of three loops may share the others, where an element is stored that these subscripts load.
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

    /// More accesses than pairs are kept of, and few of which each pair is large, with 40 loops around.
    #[test]
    fn nothing_is_known_of_too_many_dependences() {
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
    fn loops_are_jammed_where_nothing_overtakes() {
        assert!(jams("%i - 1, %j, %k"));
        assert!(!jams("%i - 1, %j + 1, %k"));
        assert!(!jams("%i - 1, %j, %k + 1"));
        // In a later iteration of the loop around, whatever the innermost one does.
        assert!(jams("%i - 1, %j - 1, %k + 1"));
        // Two iterations apart are not side by side.
        assert!(jams("%i - 2, %j + 1, %k"));
    }
}
