//! One row of a schedule: an affine function for each statement by which nothing that depends on another thing comes before it.
//!
//! *Program* (P. Feautrier, U. Bondhugula). For each dependence with pairs x in a polyhedron `a_r x + b_r >= 0` and the difference
//! d(x) = (row of the target) - (row of the source), linear in the coefficients sought:
//!
//! - legality: `d(x) >= 0` for all x; by Farkas' lemma `d = l_0 + sum l_r (a_r x + b_r)` with `l >= 0`, which is a linear equation for each variable
//!   of x and one for the constant;
//! - distance: `w + u . p - d(x) >= 0` likewise, where p are symbols and sizes; the sum of all w and u is what is minimized first.
//!
//! Each statement that has not as many independent rows as variables gets one outside of the span of those it has: with the rows of a basis of
//! the orthogonal complement, none of the products is negative and their sum is at least 1. Coefficients are integers of 0 to
//! [`MOST`], the multipliers are not.
//!
//! *Sizes.* Large constants stand for parameters: `b = p + (b - p)` with p at least [`LARGE`]. Coefficients stay small, the row does not depend on the size, and
//! the polyhedron only grows, so what is legal for it is legal.
//!
//! *Law.* What the solver answers is rounded and proves nothing: who calls checks the row exactly.

use noisy_polyhedra::Conjunction;
use noisy_solver::{Column, Limits, Model, Row as Constraint};
use rustc_hash::FxHashSet;

use super::nest::{Edge, Nest};

/// The largest coefficient of a variable.
const MOST: f64 = 4.0;
/// The largest shift.
const MOST_SHIFT: f64 = 64.0;
/// From here on a constant is a size.
const LARGE: i128 = 32;
/// Constants that differ by less are one size and a remainder.
const NEAR: i128 = 16;
/// Larger programs are not solved.
const MOST_COLUMNS: usize = 12_000;

/// A dependence that a row must respect: its pairs, and the columns of both iterations.
#[derive(Clone, Debug)]
pub(super) struct Constrained<'a> {
    pub(super) edge: Edge<'a>,
    /// Conditions under which it counts: earlier rows of source and target that are equal.
    pub(super) equal: Vec<(Vec<i128>, Vec<i128>)>,
}

/// The unknown coefficients of a statement: a column for each variable, then the constant.
struct Unknown {
    first: u32,
    n: usize,
}

/// The rows of a basis of the orthogonal complement of the span of rows, in integers without common divisor.
pub(super) fn complement(rows: &[Vec<i128>], n: usize) -> Option<Vec<Vec<i128>>> {
    // Gauss without fractions; what is left free spans the complement.
    let mut pivots: Vec<(usize, Vec<i128>)> = Vec::new();
    for row in rows {
        let mut row = row[..n].to_vec();
        for (at, pivot) in &pivots {
            row = combined(&row, pivot, *at)?;
        }
        if let Some(at) = row.iter().position(|it| *it != 0) {
            for (_, other) in &mut pivots {
                *other = combined(other, &row, at)?;
            }
            pivots.push((at, row));
        }
    }
    let mut out = Vec::new();
    for free in (0..n).filter(|it| pivots.iter().all(|(at, _)| at != it)) {
        // x_free = l, x_pivot = - l row[free] / row[pivot], with l the product of the pivots.
        let mut l: i128 = 1;
        for (at, row) in &pivots {
            l = l.checked_mul(row[*at].abs() / gcd(l, row[*at]))?;
        }
        let mut x = vec![0; n];
        x[free] = l;
        for (at, row) in &pivots {
            x[*at] = row[free].checked_mul(-(l / row[*at]))?;
        }
        let divisor = x.iter().fold(0, |a, b| gcd(a, *b));
        out.push(x.iter().map(|it| it / divisor).collect());
    }
    Some(out)
}

/// A row without the column of a pivot.
fn combined(row: &[i128], pivot: &[i128], at: usize) -> Option<Vec<i128>> {
    let (a, b) = (row[at], pivot[at]);
    let sum = |(x, y): (&i128, &i128)| x.checked_mul(b)?.checked_sub(y.checked_mul(a)?);
    let out: Vec<i128> = row.iter().zip(pivot).map(sum).collect::<Option<_>>()?;
    let divisor = out.iter().fold(0, |a, b| gcd(a, *b));
    Some(if divisor > 1 { out.iter().map(|it| it / divisor).collect() } else { out })
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// The rows that a program is over.
struct Builder {
    model: Model,
    /// Sizes that stand for parameters.
    sizes: Vec<i128>,
}

impl Builder {
    fn column(&mut self, cost: f64, upper: f64, is_integer: bool) -> u32 {
        self.model.add_column(Column { cost, lower: 0.0, upper, is_integer })
    }

    /// The size that a constant is near to, and by how much it differs.
    fn size(&mut self, constant: i128) -> Option<(usize, i128)> {
        if constant.abs() < LARGE {
            return None;
        }
        // A negative constant is minus a size.
        let near = self.sizes.iter().position(|it| (constant.abs() - it).abs() < NEAR);
        let at = near.unwrap_or_else(|| {
            self.sizes.push(constant.abs());
            self.sizes.len() - 1
        });
        let size = self.sizes[at] * constant.signum();
        Some((at, constant - size))
    }
}

/// Finds a row: for each member of `members` (statements with the rows they have, those without constants), coefficients of its variables and a
/// constant. `sign` turns the directions that are independent.
pub(super) fn row(
    nest: &Nest,
    members: &[usize],
    rows: &[Vec<Vec<i128>>],
    dependences: &[Constrained<'_>],
    sign: i128,
) -> Option<Vec<Vec<i128>>> {
    let mut builder = Builder { model: Model::default(), sizes: Vec::new() };
    let mut unknowns: Vec<Option<Unknown>> = Vec::new();
    unknowns.resize_with(nest.statements.len(), || None);
    for &it in members {
        let n = nest.statements[it].ivs.len();
        let first = builder.model.columns.len() as u32;
        for at in 0..n {
            // Outer loops first.
            builder.column(16.0 + at as f64, MOST, true);
        }
        builder.column(1.0, MOST_SHIFT, true);
        unknowns[it] = Some(Unknown { first, n });
        let complement = complement(&rows[it], n)?;
        if complement.is_empty() {
            continue;
        }
        let mut sum = vec![0_i128; n];
        for row in &complement {
            let terms = terms(first, row, sign);
            builder.model.add_row(Constraint { lower: 0.0, upper: f64::INFINITY, terms });
            for (sum, it) in sum.iter_mut().zip(row) {
                *sum += it;
            }
        }
        let terms = terms(first, &sum, sign);
        builder.model.add_row(Constraint { lower: 1.0, upper: f64::INFINITY, terms });
    }
    let mut seen: FxHashSet<(usize, usize, Conjunction)> = FxHashSet::default();
    for it in dependences {
        for part in it.edge.pairs.parts() {
            let mut points = part.points().clone();
            for (source, target) in &it.equal {
                points.equal(part.difference(&nest.time(source), &nest.time(target))?);
            }
            if !seen.insert((it.edge.source, it.edge.target, points.clone())) {
                continue;
            }
            // How each unknown adds to the difference: its column with a row over the points.
            let mut adds: Vec<(u32, Vec<i128>)> = Vec::new();
            for (statement, is_target) in [(it.edge.source, false), (it.edge.target, true)] {
                let unknown = unknowns[statement].as_ref()?;
                let zero = |n: usize| nest.time(&vec![0; n + 1]);
                for at in 0..=unknown.n {
                    let mut unit = vec![0; unknown.n + 1];
                    unit[at] = 1;
                    let unit = nest.time(&unit);
                    let row = if is_target {
                        let n = nest.statements[it.edge.source].ivs.len();
                        part.difference(&zero(n), &unit)?
                    } else {
                        let n = nest.statements[it.edge.target].ivs.len();
                        part.difference(&unit, &zero(n))?
                    };
                    adds.push((unknown.first + at as u32, row));
                }
            }
            add_dependence(&mut builder, &points, &adds)?;
        }
    }
    if builder.model.columns.len() > MOST_COLUMNS {
        return None;
    }
    let limits = Limits { nodes: 1_000, iterations: 100_000, ..Limits::none() };
    let solution = builder.model.solve(None, &limits).ok()?;
    let values = solution.values?;
    let of = |it: &usize| {
        let unknown = unknowns[*it].as_ref()?;
        let range = unknown.first as usize..=unknown.first as usize + unknown.n;
        Some(values[range].iter().map(|it| it.round() as i128).collect())
    };
    members.iter().map(of).collect()
}

fn terms(first: u32, row: &[i128], sign: i128) -> Vec<(u32, f64)> {
    let used = row.iter().enumerate().filter(|it| *it.1 != 0);
    used.map(|(at, it)| (first + at as u32, (it * sign) as f64)).collect()
}

/// A row: coefficients of variables, of sizes, the constant, whether it is an equality.
type Split = (Vec<i128>, Vec<(usize, i128)>, i128, bool);

/// The equations of one dependence: its difference, and what bounds it.
fn add_dependence(
    builder: &mut Builder,
    points: &Conjunction,
    adds: &[(u32, Vec<i128>)],
) -> Option<()> {
    let n = points.n_vars();
    // Rows over variables, sizes and the constant.
    let mut rows: Vec<Split> = Vec::new();
    let all = points.equalities().iter().map(|it| (it, true));
    for (row, is_equality) in all.chain(points.inequalities().iter().map(|it| (it, false))) {
        let constant = row[n];
        let (sizes, rest) = match builder.size(constant) {
            Some((at, rest)) => (vec![(at, constant.signum())], rest),
            None => (Vec::new(), constant),
        };
        rows.push((row[..n].to_vec(), sizes, rest, is_equality));
    }
    let mut used: Vec<usize> = rows.iter().flat_map(|it| it.1.iter().map(|it| it.0)).collect();
    used.sort_unstable();
    used.dedup();
    // A size is large.
    for &at in &used {
        rows.push((vec![0; n], vec![(at, 1)], -LARGE, false));
    }
    // Variables that are in no iteration's place are symbols as far as the bound goes.
    let is_iteration = |var: usize| adds.iter().any(|it| it.1[var] != 0);
    let w = builder.column(100.0, f64::INFINITY, false);
    let of_sizes: Vec<(usize, u32)> =
        used.iter().map(|&at| (at, builder.column(10_000.0, f64::INFINITY, false))).collect();
    let mut of_symbols: Vec<(usize, u32)> = Vec::new();
    for var in (0..n).filter(|it| !is_iteration(*it)) {
        // Either way round.
        of_symbols.push((var, builder.column(10_000.0, 16.0, false)));
    }
    for is_bound in [false, true] {
        let multipliers: Vec<u32> = rows
            .iter()
            .map(|it| {
                let lower = if it.3 { f64::NEG_INFINITY } else { 0.0 };
                builder.model.add_column(Column {
                    cost: 0.0,
                    lower,
                    upper: f64::INFINITY,
                    is_integer: false,
                })
            })
            .collect();
        let sign = if is_bound { -1.0 } else { 1.0 };
        for var in 0..n {
            let mut terms: Vec<(u32, f64)> = Vec::new();
            for (column, row) in adds {
                push(&mut terms, *column, sign * row[var] as f64);
            }
            if is_bound {
                for (_, column) in of_symbols.iter().filter(|it| it.0 == var) {
                    push(&mut terms, *column, 1.0);
                }
            }
            for (row, column) in rows.iter().zip(&multipliers) {
                push(&mut terms, *column, -(row.0[var] as f64));
            }
            builder.model.add_row(Constraint { lower: 0.0, upper: 0.0, terms });
        }
        for &(at, bound) in &of_sizes {
            let mut terms = Vec::new();
            if is_bound {
                push(&mut terms, bound, 1.0);
            }
            for (row, column) in rows.iter().zip(&multipliers) {
                for (_, by) in row.1.iter().filter(|it| it.0 == at) {
                    push(&mut terms, *column, -(*by as f64));
                }
            }
            builder.model.add_row(Constraint { lower: 0.0, upper: 0.0, terms });
        }
        let mut terms = Vec::new();
        for (column, row) in adds {
            push(&mut terms, *column, sign * row[n] as f64);
        }
        if is_bound {
            push(&mut terms, w, 1.0);
        }
        for (row, column) in rows.iter().zip(&multipliers) {
            push(&mut terms, *column, -(row.2 as f64));
        }
        builder.model.add_row(Constraint { lower: 0.0, upper: f64::INFINITY, terms });
    }
    Some(())
}

/// Adds to the coefficient of a column.
fn push(terms: &mut Vec<(u32, f64)>, column: u32, by: f64) {
    if by == 0.0 {
        return;
    }
    match terms.iter_mut().find(|it| it.0 == column) {
        Some(old) => old.1 += by,
        None => terms.push((column, by)),
    }
}
