//! Dependences as sets of pairs of instances, for queries that distances cannot answer.
//!
//! *Data.* The set of two accesses and a level is a union of conjunctions over the iterations of
//! both. An order of execution is given by a *time* of each access: affine functions of the
//! variables of its enclosing loops. Each query asks if there is a pair whose times have a given
//! difference.
//!
//! *Law.* The pairs are those of [`crate::dependences`], or a superset if something is unknown. For
//! accesses that could not be analyzed, the set contains all pairs that the order of iterations
//! allows. If the budget is spent, the answer is "there is a pair". So a transformation without a
//! pair against it is legal. *Cost.* A query is one emptiness test per conjunction.

use std::sync::Arc;

use noisy_polyhedra::{Budget, Conjunction, OutputCondition, Relation};

use crate::body::FunctionBody;
use crate::dependence::{
    DependenceLimits, DependenceSystem, MAX_PAIRED_ACCESSES, UncommonColumns, for_each_pair,
    loop_paths, n_numbers,
};

/// The pairs of instances of a dependence: the source runs before the target, and both access the
/// same element.
#[derive(Clone, Debug)]
pub struct InstancePairs {
    /// The access that runs first: an index into [`FunctionBody::accesses`].
    pub source: usize,
    /// The access that runs later: an index into [`FunctionBody::accesses`].
    pub target: usize,
    /// The common loop that carries it, from 1; their number + 1 if it is independent of all.
    pub level: usize,
    /// Number of common loops.
    pub n_common: usize,
    /// True if the set is exact, false if it is a superset.
    pub is_exact: bool,
    parts: Vec<InstancePart>,
}

/// One conjunction of the union. The data that the parts of all levels share is stored once.
#[derive(Clone, Debug)]
pub struct InstancePart {
    piece: Arc<DomainPiece>,
    level: usize,
    is_forward: bool,
}

/// The data of one conjunction of a pair of accesses that all levels share.
#[derive(Debug)]
struct DomainPiece {
    points: Conjunction,
    n_common: usize,
    /// See [`DependenceSystem::locals`].
    locals: Vec<(usize, usize, u32)>,
    /// For both accesses and each variable of the enclosing loops, outermost first: the columns
    /// whose sum is the variable.
    sides: [Vec<Vec<usize>>; 2],
}

/// An affine function of the variables of the loops around an access: the coefficients, outermost
/// loop first, and then the constant.
pub type AccessTime = Vec<i128>;

/// A condition on the time of the target minus the time of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeDifference {
    /// At least this number.
    AtLeast(i128),
    /// At most this number.
    AtMost(i128),
    /// Exactly this number.
    Exactly(i128),
}

/// A condition on a pair: the time of the source, the time of the target, and their difference.
pub type TimeCondition<'a> = (&'a AccessTime, &'a AccessTime, TimeDifference);

impl InstancePart {
    pub fn points(&self) -> Conjunction {
        let (n, n_vars) = (self.piece.n_common, self.piece.points.n_vars());
        let mut points = self.piece.points.clone();
        let row = |columns: &[(usize, i128)], constant: i128| {
            let mut row = vec![0; n_vars + 1];
            for &(at, by) in columns {
                row[at] = by;
            }
            row[n_vars] = constant;
            row
        };
        for at in 0..(self.level - 1).min(n) {
            points.add_equality(row(&[(n + at, 1)], 0));
        }
        if self.level <= n {
            let sign = if self.is_forward { 1 } else { -1 };
            points.add_inequality(row(&[(n + self.level - 1, sign)], -1));
        }
        for &(a, b, depth) in &self.piece.locals {
            if (depth as usize) < self.level {
                points.add_equality(row(&[(a, 1), (b, -1)], 0));
            }
        }
        points
    }

    /// Returns the time of the target minus the time of the source, as a row over the points.
    /// `None` on overflow.
    pub fn difference(&self, source: &AccessTime, target: &AccessTime) -> Option<Vec<i128>> {
        let mut row = vec![0_i128; self.piece.points.n_vars() + 1];
        let [first, second] = &self.piece.sides;
        let (from, to) = if self.is_forward { (first, second) } else { (second, first) };
        for (sides, time, sign) in [(from, source, -1), (to, target, 1)] {
            let (constant, coefficients) = time.split_last()?;
            for (columns, coefficient) in sides.iter().zip(coefficients) {
                for &at in columns {
                    row[at] = row[at].checked_add(coefficient.checked_mul(sign)?)?;
                }
            }
            let end = row.len() - 1;
            row[end] = row[end].checked_add(constant.checked_mul(sign)?)?;
        }
        Some(row)
    }
}

impl InstancePairs {
    /// Returns the conjunctions whose union is the set of pairs.
    pub fn parts(&self) -> &[InstancePart] {
        &self.parts
    }

    /// Returns true if there is a pair that satisfies all conditions, or if the budget is spent
    /// first.
    pub fn has_pair(&self, conditions: &[TimeCondition<'_>], budget: &mut Budget) -> bool {
        self.parts.iter().any(|part| {
            let mut rows = Vec::with_capacity(conditions.len());
            let mut asked = Vec::with_capacity(conditions.len());
            for (at, (source, target, differs)) in conditions.iter().enumerate() {
                let Some(row) = part.difference(source, target) else { return true };
                rows.push(row);
                asked.push(match *differs {
                    TimeDifference::AtLeast(it) => OutputCondition::AtLeast(at, it),
                    TimeDifference::AtMost(it) => OutputCondition::AtMost(at, it),
                    TimeDifference::Exactly(it) => OutputCondition::Equals(at, it),
                });
            }
            !matches!(Relation::new(part.points(), rows).is_empty(&asked, budget), Ok(true))
        })
    }

    /// Returns true if there is a pair whose target precedes its source in the lexicographic order
    /// of the times. With `equal_counts`, a pair with equal times counts, too.
    pub(crate) fn has_overtaking_pair(
        &self,
        source: &[AccessTime],
        target: &[AccessTime],
        equal_counts: bool,
        budget: &mut Budget,
    ) -> bool {
        let mut conditions: Vec<TimeCondition<'_>> = Vec::new();
        for (s, t) in source.iter().zip(target) {
            conditions.push((s, t, TimeDifference::AtMost(-1)));
            if self.has_pair(&conditions, budget) {
                return true;
            }
            conditions.pop();
            conditions.push((s, t, TimeDifference::Exactly(0)));
        }
        equal_counts && self.has_pair(&conditions, budget)
    }
}

/// Maximum size of the dependences of a body, in numbers of 16 bytes.
const MAX_KEPT_NUMBERS: usize = 20_000_000;
/// Approximate size of an [`InstancePart`], in numbers of 16 bytes.
const PART_NUMBERS: usize = 16;

/// Returns the pairs of all dependences of a body, sorted by source, target and level. `None` if
/// there are more than [`MAX_PAIRED_ACCESSES`] accesses, or if the result needs more than about 300
/// MB.
pub fn instance_pairs(
    body: &FunctionBody,
    limits: &DependenceLimits,
) -> Option<Vec<InstancePairs>> {
    if body.accesses.len() > MAX_PAIRED_ACCESSES {
        return None;
    }
    let mut out = Vec::new();
    let mut n_kept = 0;
    let mut left = limits.total_work;
    let paths = loop_paths(body);
    for_each_pair(body, &paths, limits, |i, j, pair| {
        if n_kept > MAX_KEPT_NUMBERS {
            return;
        }
        let known = pair.and_then(|it| it.system_with_columns());
        let n_common = paths[i].iter().zip(&paths[j]).take_while(|(a, b)| a == b).count();
        let (question, own, is_exact) = match known {
            Ok(it) => it,
            // All pairs that the order of iterations allows.
            Err(_) => unconstrained_system(n_common, [paths[i].len(), paths[j].len()], i == j),
        };
        let work = limits.work_per_pair.min(left);
        let mut budget = Budget::new(work);
        let relations: Vec<Relation> =
            question.pieces.iter().map(|it| question.relation(it)).collect();
        let pieces = domain_pieces(&question, own);
        let n_before = out.len();
        for level in question.depth as usize + 1..=n_common + 1 {
            for is_forward in [true, false] {
                let is_last = level == n_common + 1;
                if (is_last && !(is_forward && question.is_ordered))
                    || (!is_forward && question.is_self)
                {
                    continue;
                }
                let asked = question.conditions_at(level, is_forward);
                let mut parts = Vec::new();
                for (piece, relation) in pieces.iter().zip(&relations) {
                    if !matches!(relation.is_empty(&asked, &mut budget), Ok(true)) {
                        parts.push(InstancePart { piece: piece.clone(), level, is_forward });
                        n_kept += PART_NUMBERS;
                    }
                }
                if parts.is_empty() {
                    continue;
                }
                let (source, target) = if is_forward { (i, j) } else { (j, i) };
                let is_exact = is_exact && budget.remaining() > 0;
                out.push(InstancePairs { source, target, level, n_common, is_exact, parts });
            }
        }
        if out.len() > n_before {
            n_kept += pieces.iter().map(|it| n_numbers(&it.points)).sum::<usize>();
        }
        left -= work - budget.remaining();
    });
    out.sort_by_key(|it: &InstancePairs| (it.source, it.target, it.level));
    (n_kept <= MAX_KEPT_NUMBERS).then_some(out)
}

/// Returns the system of a pair of accesses that could not be analyzed: without constraints.
fn unconstrained_system(
    n_common: usize,
    n_loops: [usize; 2],
    is_self: bool,
) -> (DependenceSystem, UncommonColumns, bool) {
    let n = [n_loops[0] - n_common, n_loops[1] - n_common];
    let first = 2 * n_common;
    let own = [(first..first + n[0]).collect(), (first + n[0]..first + n[0] + n[1]).collect()];
    let pieces = vec![Conjunction::new(first + n[0] + n[1])];
    let locals = Vec::new();
    let question =
        DependenceSystem { pieces, n_common, locals, depth: 0, is_ordered: !is_self, is_self };
    (question, vec![own], false)
}

/// Returns the data that all levels share, for each piece of a system.
fn domain_pieces(question: &DependenceSystem, own: UncommonColumns) -> Vec<Arc<DomainPiece>> {
    let n = question.n_common;
    let of = |(points, own): (&Conjunction, [Vec<usize>; 2])| {
        let side = |is_second: bool| {
            let common = (0..n).map(|at| if is_second { vec![at, n + at] } else { vec![at] });
            common.chain(own[usize::from(is_second)].iter().map(|&at| vec![at])).collect()
        };
        let (points, locals) = (points.clone(), question.locals.clone());
        Arc::new(DomainPiece { points, n_common: n, locals, sides: [side(false), side(true)] })
    };
    question.pieces.iter().zip(own).map(of).collect()
}
