//! Bounds of a form over a union of conjunctions, as forms of kept terms. Shadows propose bounds,
//! which are then checked exactly.
//!
//! *Proposals.* The form is a column. Shadows along all other columns that are not kept leave
//! inequalities between this column and the kept ones. An inequality with coefficient c of the
//! column gives a bound: the rest divided by c, rounded. *Law.* A bound is used only if no point of
//! any conjunction violates it.

use noisy_loops::{FunctionBody, JointSystem, LinearForm, LinearTerm, Quotients};
use noisy_polyhedra::{Budget, Conjunction};

/// A query for the bounds of a form over the points of a conjunction. The form is a column.
pub(super) struct BoundQuery<'a> {
    pub(super) joint: JointSystem<'a>,
    pub(super) column: usize,
    /// The kept columns, with their terms.
    pub(super) kept: Vec<(usize, LinearTerm)>,
}

/// A proposed bound: a form and a divisor. The quotient is rounded down.
pub(super) type ProposedBound = (LinearForm, i128);

impl BoundQuery<'_> {
    /// Returns a query that keeps the terms of `side` with `is_kept`, and quotients of these terms.
    pub(super) fn new<'a>(
        joint: JointSystem<'a>,
        column: usize,
        side: usize,
        body: &FunctionBody,
        is_kept: &dyn Fn(LinearTerm) -> bool,
    ) -> BoundQuery<'a> {
        let kept = joint.terms_of(side).into_iter();
        let kept = kept.filter(|it| is_known(body, it.1, is_kept)).collect();
        BoundQuery { joint, column, kept }
    }

    /// Returns the lower and the upper bounds that shadows propose.
    fn proposed(&self) -> Option<[Vec<ProposedBound>; 2]> {
        let points = self.joint.conjunction()?;
        let is_gone = |at: &usize| *at != self.column && !self.kept.iter().any(|it| it.0 == *at);
        let gone: Vec<usize> = (0..points.n_vars()).filter(is_gone).collect();
        let points = eliminated(&points, &gone, false)?;
        let mut out = [Vec::new(), Vec::new()];
        let negated = |row: &Vec<i128>| row.iter().map(|it| -it).collect::<Vec<i128>>();
        let halves = points.equalities().iter().flat_map(|it| [it.clone(), negated(it)]);
        for row in halves.chain(points.inequalities().iter().cloned()) {
            let by = row[self.column];
            if by == 0 {
                continue;
            }
            // The row is by * column + rest >= 0.
            let sign = -by.signum();
            let mut rest = LinearForm::constant(row[points.n_vars()].checked_mul(sign)?);
            for &(at, term) in &self.kept {
                rest = rest.plus(&LinearForm::term(term), row[at].checked_mul(sign)?).ok()?;
            }
            if by > 0 {
                // Round up.
                out[0].push((rest.offset(by - 1).ok()?, by));
            } else {
                out[1].push((rest, -by));
            }
        }
        Some(out)
    }
}

/// Returns true if a term is kept, or is a quotient of kept terms.
fn is_known(body: &FunctionBody, term: LinearTerm, is_kept: &dyn Fn(LinearTerm) -> bool) -> bool {
    match term {
        LinearTerm::Quotient(at) => {
            body.quotients.get(at).form.terms.iter().all(|it| is_known(body, it.0, is_kept))
        }
        _ => is_kept(term),
    }
}

/// Returns the lower and the upper bounds that shadows propose for all queries, without duplicates.
/// Bounds without divisions come first.
pub(super) fn proposed(asked: &[BoundQuery<'_>]) -> Option<[Vec<ProposedBound>; 2]> {
    let mut out = [Vec::new(), Vec::new()];
    for it in asked {
        for (all, more) in out.iter_mut().zip(it.proposed()?) {
            all.extend(more);
        }
    }
    for all in &mut out {
        all.sort_by_key(|it| it.1);
        let mut seen = Vec::new();
        all.retain(|it| {
            !seen.contains(it) && {
                seen.push(it.clone());
                true
            }
        });
    }
    Some(out)
}

/// Converts proposed bounds to forms, with quotients where the divisor is not 1.
pub(super) fn to_forms(
    all: Vec<ProposedBound>,
    quotients: &mut Quotients,
) -> Option<Vec<LinearForm>> {
    let mut out = Vec::new();
    for (form, by) in all {
        let form = if by == 1 { form } else { quotients.floor_div(&form, by).ok()? };
        if !out.contains(&form) {
            out.push(form);
        }
    }
    Some(out)
}

/// Returns true if a form is a lower (`is_low`) or an upper bound for all queries. The terms of the
/// form are those of `side`.
pub(super) fn is_bound(
    asked: &[BoundQuery<'_>],
    side: usize,
    form: &LinearForm,
    is_low: bool,
    budget: &mut Budget,
) -> bool {
    asked.iter().all(|it| {
        let mut joint = it.joint.clone();
        let beyond = joint.add_column();
        // A violation is form - column >= 1, or column - form >= 1.
        let is_named = joint.add_definition(beyond, side, form).is_some();
        is_named && joint.is_column_bounded(it.column, beyond, is_low, budget)
    })
}

/// Returns the lower bound of the closest pair of bounds with a constant difference, and the number
/// of values from the lower to the upper bound.
pub(super) fn closest<'f>(
    lows: &'f [LinearForm],
    highs: &'f [LinearForm],
) -> Option<(&'f LinearForm, i128)> {
    let mut best: Option<(&LinearForm, i128)> = None;
    for low in lows {
        for high in highs {
            let apart = high.plus(low, -1).ok().and_then(|it| it.as_constant());
            let Some(n) = apart.and_then(|it| it.checked_add(1)) else { continue };
            if best.is_none_or(|it| n < it.1) {
                best = Some((low, n));
            }
        }
    }
    best
}

/// Returns true if the projection of the points of all rows to a side contains all points of the
/// first `n_rows` rows.
pub(super) fn projection_contains(
    joint: &JointSystem<'_>,
    n_rows: usize,
    side: usize,
    budget: impl Fn() -> Budget,
) -> Option<bool> {
    let (all, points) = (joint.conjunction()?, joint.conjunction_of(n_rows)?);
    let left = eliminated(&all, &joint.columns_without(side), true)?;
    let holds = |row: &[i128]| points.implies(row, &mut budget());
    let is_zero =
        |row: &Vec<i128>| holds(row) && holds(&row.iter().map(|it| -it).collect::<Vec<_>>());
    Some(left.inequalities().iter().all(|it| holds(it)) && left.equalities().iter().all(is_zero))
}

/// Eliminates columns of a conjunction. The rational shadow is a superset of the projection, the
/// dark shadow is a subset. `None` if there are too many rows, or on overflow.
fn eliminated(points: &Conjunction, columns: &[usize], is_dark: bool) -> Option<Conjunction> {
    const MAX_ROWS: usize = 300;
    let mut out = points.clone();
    let mut left = columns.to_vec();
    while !left.is_empty() {
        // Choose the column whose elimination gives the fewest rows.
        let cost = |&var: &usize| {
            let count = |is: fn(&i128) -> bool| {
                let all = out.inequalities().iter().filter(|it| is(&it[var])).count();
                all + out.equalities().iter().filter(|it| it[var] != 0).count()
            };
            count(|it| *it > 0) * count(|it| *it < 0)
        };
        let at = (0..left.len()).min_by_key(|&it| cost(&left[it]))?;
        let var = left.swap_remove(at);
        out = if is_dark { out.dark_shadow(var)? } else { out.rational_shadow(var)? };
        if out.inequalities().len() > MAX_ROWS {
            return None;
        }
    }
    Some(out)
}
