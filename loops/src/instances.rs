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

use noisy_polyhedra::{Asked, Budget, Conjunction, Relation};

use crate::body::Body;
use crate::dependence::{Limits, MOST_PAIRED, OwnColumns, Question, each_pair, n_numbers, paths};

/// The pairs of instances of a dependence: the source runs before the target, and both access the
/// same element.
#[derive(Clone, Debug)]
pub struct Instances {
    /// The access that runs first: an index into [`Body::accesses`].
    pub source: usize,
    /// The access that runs later: an index into [`Body::accesses`].
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
    /// See [`Question::locals`].
    locals: Vec<(usize, usize, u32)>,
    /// For both accesses and each variable of the enclosing loops, outermost first: the columns
    /// whose sum is the variable.
    sides: [Vec<Vec<usize>>; 2],
}

/// An affine function of the variables of the loops around an access: the coefficients, outermost
/// loop first, and then the constant.
pub type Time = Vec<i128>;

/// A condition on the time of the target minus the time of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// At least this number.
    AtLeast(i128),
    /// At most this number.
    AtMost(i128),
    /// Exactly this number.
    By(i128),
}

/// A condition on a pair: the time of the source, the time of the target, and their difference.
pub type Condition<'a> = (&'a Time, &'a Time, Differs);

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
            points.equal(row(&[(n + at, 1)], 0));
        }
        if self.level <= n {
            let sign = if self.is_forward { 1 } else { -1 };
            points.at_least(row(&[(n + self.level - 1, sign)], -1));
        }
        for &(a, b, depth) in &self.piece.locals {
            if (depth as usize) < self.level {
                points.equal(row(&[(a, 1), (b, -1)], 0));
            }
        }
        points
    }

    /// Returns the time of the target minus the time of the source, as a row over the points.
    /// `None` on overflow.
    pub fn difference(&self, source: &Time, target: &Time) -> Option<Vec<i128>> {
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

impl Instances {
    /// Returns the conjunctions whose union is the set of pairs.
    pub fn parts(&self) -> &[InstancePart] {
        &self.parts
    }

    /// Returns true if there is a pair that satisfies all conditions, or if the budget is spent
    /// first.
    pub fn exist(&self, conditions: &[Condition<'_>], budget: &mut Budget) -> bool {
        self.parts.iter().any(|part| {
            let mut rows = Vec::with_capacity(conditions.len());
            let mut asked = Vec::with_capacity(conditions.len());
            for (at, (source, target, differs)) in conditions.iter().enumerate() {
                let Some(row) = part.difference(source, target) else { return true };
                rows.push(row);
                asked.push(match *differs {
                    Differs::AtLeast(it) => Asked::AtLeast(at, it),
                    Differs::AtMost(it) => Asked::AtMost(at, it),
                    Differs::By(it) => Asked::Is(at, it),
                });
            }
            !matches!(Relation::new(part.points(), rows).is_empty(&asked, budget), Ok(true))
        })
    }

    /// Returns true if there is a pair whose target precedes its source in the lexicographic order
    /// of the times. With `equal_counts`, a pair with equal times counts, too.
    pub(crate) fn overtake(
        &self,
        source: &[Time],
        target: &[Time],
        equal_counts: bool,
        budget: &mut Budget,
    ) -> bool {
        let mut conditions: Vec<Condition<'_>> = Vec::new();
        for (s, t) in source.iter().zip(target) {
            conditions.push((s, t, Differs::AtMost(-1)));
            if self.exist(&conditions, budget) {
                return true;
            }
            conditions.pop();
            conditions.push((s, t, Differs::By(0)));
        }
        equal_counts && self.exist(&conditions, budget)
    }
}

/// Maximum size of the dependences of a body, in numbers of 16 bytes.
const MOST_KEPT: usize = 20_000_000;
/// Approximate size of an [`InstancePart`], in numbers of 16 bytes.
const PART: usize = 16;

/// Returns the pairs of all dependences of a body, sorted by source, target and level. `None` if
/// there are more than [`MOST_PAIRED`] accesses, or if the result needs more than about 300 MB.
pub fn instances(body: &Body, limits: &Limits) -> Option<Vec<Instances>> {
    if body.accesses.len() > MOST_PAIRED {
        return None;
    }
    let mut out = Vec::new();
    let mut n_kept = 0;
    let mut left = limits.total;
    let paths = paths(body);
    each_pair(body, &paths, limits, |i, j, pair| {
        if n_kept > MOST_KEPT {
            return;
        }
        let known = pair.and_then(|it| it.question_with_ivs());
        let n_common = paths[i].iter().zip(&paths[j]).take_while(|(a, b)| a == b).count();
        let (question, own, is_exact) = match known {
            Ok(it) => it,
            // All pairs that the order of iterations allows.
            Err(_) => unknown(n_common, [paths[i].len(), paths[j].len()], i == j),
        };
        let work = limits.pair.min(left);
        let mut budget = Budget::new(work);
        let relations: Vec<Relation> =
            question.pieces.iter().map(|it| question.relation(it)).collect();
        let pieces = pieces(&question, own);
        let n_before = out.len();
        for level in question.depth as usize + 1..=n_common + 1 {
            for is_forward in [true, false] {
                let is_last = level == n_common + 1;
                if (is_last && !(is_forward && question.is_ordered))
                    || (!is_forward && question.is_self)
                {
                    continue;
                }
                let asked = question.asked(level, is_forward);
                let mut parts = Vec::new();
                for (piece, relation) in pieces.iter().zip(&relations) {
                    if !matches!(relation.is_empty(&asked, &mut budget), Ok(true)) {
                        parts.push(InstancePart { piece: piece.clone(), level, is_forward });
                        n_kept += PART;
                    }
                }
                if parts.is_empty() {
                    continue;
                }
                let (source, target) = if is_forward { (i, j) } else { (j, i) };
                let is_exact = is_exact && budget.left() > 0;
                out.push(Instances { source, target, level, n_common, is_exact, parts });
            }
        }
        if out.len() > n_before {
            n_kept += pieces.iter().map(|it| n_numbers(&it.points)).sum::<usize>();
        }
        left -= work - budget.left();
    });
    out.sort_by_key(|it: &Instances| (it.source, it.target, it.level));
    (n_kept <= MOST_KEPT).then_some(out)
}

/// Returns the system of a pair of accesses that could not be analyzed: without constraints.
fn unknown(n_common: usize, n_loops: [usize; 2], is_self: bool) -> (Question, OwnColumns, bool) {
    let n = [n_loops[0] - n_common, n_loops[1] - n_common];
    let first = 2 * n_common;
    let own = [(first..first + n[0]).collect(), (first + n[0]..first + n[0] + n[1]).collect()];
    let pieces = vec![Conjunction::new(first + n[0] + n[1])];
    let locals = Vec::new();
    let question = Question { pieces, n_common, locals, depth: 0, is_ordered: !is_self, is_self };
    (question, vec![own], false)
}

/// Returns the data that all levels share, for each piece of a system.
fn pieces(question: &Question, own: OwnColumns) -> Vec<Arc<DomainPiece>> {
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
