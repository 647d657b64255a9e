//! Search of one row of a schedule: an affine function for each statement that respects all
//! dependences.
//!
//! *Integer program* (P. Feautrier, U. Bondhugula). Let the pairs x of a dependence be a polyhedron
//! `a_r x + b_r >= 0`, and let d(x) = (row of the target) - (row of the source), which is linear in
//! the unknown coefficients:
//!
//! - legality: `d(x) >= 0` for all x. By Farkas' lemma, this is `d = l_0 + sum l_r (a_r x + b_r)`
//!   with `l >= 0`: a linear equation for each variable of x, and one for the constant;
//! - distance: `w + u . p - d(x) >= 0` in the same way, where p are symbols and sizes. The sum of
//!   all w and u has the largest weight in the objective.
//!
//! Each statement with fewer independent rows than variables gets a row outside the span of its
//! rows: the products with a basis of the orthogonal complement are nonnegative, and their sum is
//! at least 1. Coefficients are integers from 0 to [`MAX_COEFFICIENT`]; the multipliers are
//! rational. If there is no row, the search space grows ([`SEARCH_SPACES`]): statements may be
//! shifted by multiples of the sizes, and loops may run backwards, with the difference of two
//! integers as a coefficient. In the end, statements in few loops may get their independent rows
//! later ([`directions`]).
//!
//! *Sizes.* Large constants are replaced by parameters: `b = p + (b - p)` with p at least
//! [`MIN_SIZE`]. So coefficients are small, and the row does not depend on the size. The polyhedron
//! becomes larger, so a row that is legal for it is legal.
//!
//! *Law.* The answer of the solver is rounded, so it is only a proposal. The caller checks the row
//! exactly.

use noisy_loops::InstancePart;
use noisy_polyhedra::{Conjunction, gcd};
use noisy_solver::{Column, MixedIntegerProgram, Row as Constraint, SolverLimits};
use rustc_hash::FxHashSet;

use super::nest::{StatementDependence, StatementNest};

/// The largest coefficient of a variable.
const MAX_COEFFICIENT: f64 = 16.0;
/// The largest shift.
const MAX_SHIFT: f64 = 64.0;
/// The least constant that is treated as a size.
const MIN_SIZE: i128 = 32;
/// Constants with a smaller difference share a size.
const MAX_SIZE_DIFFERENCE: i128 = 16;
/// Maximum number of dependences for which statements are shifted by sizes.
const MAX_SHIFTED_DEPENDENCES: usize = 120;
/// Maximum number of columns of an integer program.
const MAX_COLUMNS: usize = 12_000;

/// A dependence that a row must respect.
#[derive(Clone, Debug)]
pub(super) struct ConstrainedEdge<'a> {
    pub(super) edge: StatementDependence<'a>,
    /// The earlier rows of the source and of the target that must be equal for the dependence to be
    /// still unsatisfied.
    pub(super) equal: Vec<(Vec<i128>, Vec<i128>)>,
}

/// A search space for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SearchSpace {
    /// The sign of the independent directions: 1 or -1.
    pub(super) sign: i128,
    /// True if statements may be shifted by multiples of the sizes.
    pub(super) may_shift_by_sizes: bool,
    /// True if loops may run backwards.
    pub(super) may_run_backwards: bool,
    /// True if statements in few loops may get their independent rows later.
    pub(super) may_wait: bool,
}

/// The search spaces, in the order in which they are tried.
pub(super) const SEARCH_SPACES: [SearchSpace; 8] = {
    let all = SearchSpace {
        sign: 1,
        may_shift_by_sizes: false,
        may_run_backwards: false,
        may_wait: false,
    };
    [
        all,
        SearchSpace { sign: -1, ..all },
        SearchSpace { may_shift_by_sizes: true, ..all },
        SearchSpace { may_shift_by_sizes: true, may_run_backwards: true, ..all },
        SearchSpace { sign: -1, may_shift_by_sizes: true, may_run_backwards: true, ..all },
        SearchSpace { may_wait: true, ..all },
        SearchSpace { may_shift_by_sizes: true, may_wait: true, ..all },
        SearchSpace { may_shift_by_sizes: true, may_run_backwards: true, may_wait: true, ..all },
    ]
};

/// The columns of the unknown coefficients of a statement: one for each variable, one for the
/// constant, one for the shift by each size, and if loops may run backwards, one for the negative
/// part of each variable.
struct StatementColumns {
    first: u32,
    n: usize,
    n_sizes: usize,
    backwards: bool,
}

impl StatementColumns {
    fn size_column(&self, size: usize) -> u32 {
        self.first + (self.n + 1 + size) as u32
    }

    fn negative_column(&self, at: usize) -> Option<u32> {
        self.backwards.then(|| self.size_column(self.n_sizes) + at as u32)
    }

    /// Returns the product of a row with the coefficients of the variables, as terms of a
    /// constraint.
    fn terms(&self, row: &[i128], sign: i128) -> Vec<(u32, f64)> {
        let mut out = Vec::new();
        for (at, it) in row.iter().enumerate().filter(|it| *it.1 != 0) {
            out.push((self.first + at as u32, (it * sign) as f64));
            out.extend(self.negative_column(at).map(|column| (column, -(it * sign) as f64)));
        }
        out
    }
}

/// The points of a dependence, and the contributions of each unknown to the difference: `adds` has
/// a column and a row over the points, `of_sizes` has a column, a size and a sign.
struct DependenceDifference {
    points: Conjunction,
    adds: Vec<(u32, Vec<i128>)>,
    of_sizes: Vec<(u32, usize, f64)>,
}

/// Returns a basis of the orthogonal complement of the span of rows. Each vector has integers
/// without a common divisor.
pub(super) fn orthogonal_complement(rows: &[Vec<i128>], n: usize) -> Option<Vec<Vec<i128>>> {
    // Fraction-free Gaussian elimination; the free columns span the complement.
    let mut pivots: Vec<(usize, Vec<i128>)> = Vec::new();
    for row in rows {
        let mut row = row[..n].to_vec();
        for (at, pivot) in &pivots {
            row = eliminate(&row, pivot, *at)?;
        }
        if let Some(at) = row.iter().position(|it| *it != 0) {
            for (_, other) in &mut pivots {
                *other = eliminate(other, &row, at)?;
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

/// Returns the independent directions for each member: a basis of the complement of its rows. With
/// `may_wait`, the list is empty for members that can still get all of their independent rows
/// before the deepest member has its rows.
pub(super) fn directions(
    nest: &StatementNest,
    members: &[usize],
    rows: &[Vec<Vec<i128>>],
    may_wait: bool,
) -> Option<Vec<Vec<Vec<i128>>>> {
    let depth = |it: usize| nest.statements[it].ivs.len();
    let deepest = members.iter().map(|&it| depth(it)).max()?;
    let of = |&it: &usize| {
        let free = orthogonal_complement(&rows[it], depth(it))?;
        let waits = may_wait && free.len() < deepest.saturating_sub(rows[it].len());
        Some(if waits { Vec::new() } else { free })
    };
    members.iter().map(of).collect()
}

/// Eliminates the column of a pivot.
fn eliminate(row: &[i128], pivot: &[i128], at: usize) -> Option<Vec<i128>> {
    let (a, b) = (row[at], pivot[at]);
    let sum = |(x, y): (&i128, &i128)| x.checked_mul(b)?.checked_sub(y.checked_mul(a)?);
    let out: Vec<i128> = row.iter().zip(pivot).map(sum).collect::<Option<_>>()?;
    let divisor = out.iter().fold(0, |a, b| gcd(a, *b));
    Some(if divisor > 1 { out.iter().map(|it| it / divisor).collect() } else { out })
}

/// An integer program under construction.
struct IntegerProgramBuilder {
    model: MixedIntegerProgram,
    /// Sizes that are treated as parameters.
    sizes: Vec<i128>,
}

impl IntegerProgramBuilder {
    fn column(&mut self, cost: f64, upper: f64, is_integer: bool) -> u32 {
        self.model.add_column(Column { cost, lower: 0.0, upper, is_integer })
    }

    /// Returns the size that replaces a large constant, and the difference.
    fn size(&mut self, constant: i128) -> Option<(usize, i128)> {
        if constant.abs() < MIN_SIZE {
            return None;
        }
        // A negative constant is a negative size.
        let near =
            self.sizes.iter().position(|it| (constant.abs() - it).abs() < MAX_SIZE_DIFFERENCE);
        let at = near.unwrap_or_else(|| {
            self.sizes.push(constant.abs());
            self.sizes.len() - 1
        });
        let size = self.sizes[at] * constant.signum();
        Some((at, constant - size))
    }
}

/// Finds a row for the statements `members`: the coefficients of the variables and a constant for
/// each. `rows` has the earlier rows of each statement, without constants.
pub(super) fn find_row(
    nest: &StatementNest,
    members: &[usize],
    rows: &[Vec<Vec<i128>>],
    dependences: &[ConstrainedEdge<'_>],
    space: SearchSpace,
) -> Option<Vec<Vec<i128>>> {
    let mut builder =
        IntegerProgramBuilder { model: MixedIntegerProgram::default(), sizes: Vec::new() };
    let all = distinct_parts(nest, dependences)?;
    for constant in all.iter().flat_map(|it| constants(&it.2)) {
        builder.size(constant);
    }
    if space.may_shift_by_sizes && (builder.sizes.is_empty() || all.len() > MAX_SHIFTED_DEPENDENCES)
    {
        return None;
    }
    let n_sizes = if space.may_shift_by_sizes { builder.sizes.len() } else { 0 };
    let wanted = directions(nest, members, rows, space.may_wait)?;
    if space.may_wait && wanted == directions(nest, members, rows, false)? {
        // The program is the same as without `may_wait`, which had no solution.
        return None;
    }
    let mut unknowns: Vec<Option<StatementColumns>> = Vec::new();
    unknowns.resize_with(nest.statements.len(), || None);
    for (&it, directions) in members.iter().zip(&wanted) {
        let n = nest.statements[it].ivs.len();
        let first = builder.model.columns.len() as u32;
        let backwards = space.may_run_backwards;
        for at in 0..n {
            // Outer loops first.
            builder.column(16.0 + at as f64, MAX_COEFFICIENT, true);
        }
        builder.column(1.0, MAX_SHIFT, true);
        for _ in 0..n_sizes {
            builder.column(200.0, MAX_COEFFICIENT, true);
        }
        for at in 0..if backwards { n } else { 0 } {
            builder.column(32.0 + at as f64, MAX_COEFFICIENT, true);
        }
        let unknown = StatementColumns { first, n, n_sizes, backwards };
        if !directions.is_empty() {
            let mut sum = vec![0_i128; n];
            for row in directions {
                let terms = unknown.terms(row, space.sign);
                builder.model.add_row(Constraint { lower: 0.0, upper: f64::INFINITY, terms });
                for (sum, it) in sum.iter_mut().zip(row) {
                    *sum += it;
                }
            }
            let terms = unknown.terms(&sum, space.sign);
            builder.model.add_row(Constraint { lower: 1.0, upper: f64::INFINITY, terms });
        }
        unknowns[it] = Some(unknown);
    }
    for (it, part, points) in all {
        let mut adds: Vec<(u32, Vec<i128>)> = Vec::new();
        let mut of_sizes = Vec::new();
        for (statement, is_target) in [(it.edge.source, false), (it.edge.target, true)] {
            let unknown = unknowns[statement].as_ref()?;
            let zero = |n: usize| nest.to_time(&vec![0; n + 1]);
            for at in 0..=unknown.n {
                let mut unit = vec![0; unknown.n + 1];
                unit[at] = 1;
                let unit = nest.to_time(&unit);
                let row = if is_target {
                    let n = nest.statements[it.edge.source].ivs.len();
                    part.difference(&zero(n), &unit)?
                } else {
                    let n = nest.statements[it.edge.target].ivs.len();
                    part.difference(&unit, &zero(n))?
                };
                if let Some(column) = unknown.negative_column(at).filter(|_| at < unknown.n) {
                    adds.push((column, row.iter().map(|it| -it).collect()));
                }
                adds.push((unknown.first + at as u32, row));
            }
            let sign = if is_target { 1.0 } else { -1.0 };
            of_sizes.extend((0..n_sizes).map(|size| (unknown.size_column(size), size, sign)));
        }
        add_dependence(&mut builder, &DependenceDifference { points, adds, of_sizes })?;
    }
    if builder.model.columns.len() > MAX_COLUMNS {
        return None;
    }
    let limits = SolverLimits { max_nodes: 1_000, max_iterations: 100_000, ..SolverLimits::none() };
    let solution = builder.model.solve(None, &limits).ok()?;
    let values = solution.values?;
    let value = |column: u32| values[column as usize].round() as i128;
    let of = |it: &usize| -> Option<Vec<i128>> {
        let unknown = unknowns[*it].as_ref()?;
        let mut row: Vec<i128> = (0..unknown.n)
            .map(|at| {
                value(unknown.first + at as u32) - unknown.negative_column(at).map_or(0, value)
            })
            .collect();
        let mut shift = value(unknown.first + unknown.n as u32);
        for (at, size) in builder.sizes.iter().enumerate().take(n_sizes) {
            shift = shift.checked_add(size.checked_mul(value(unknown.size_column(at)))?)?;
        }
        row.push(shift);
        Some(row)
    };
    members.iter().map(of).collect()
}

/// Returns the parts of dependences with their points, without duplicates.
fn distinct_parts<'a>(
    nest: &StatementNest,
    dependences: &'a [ConstrainedEdge<'a>],
) -> Option<Vec<(&'a ConstrainedEdge<'a>, &'a InstancePart, Conjunction)>> {
    let mut seen: FxHashSet<(usize, usize, Conjunction)> = FxHashSet::default();
    let mut out = Vec::new();
    for it in dependences {
        for part in it.edge.pairs.parts() {
            let mut points = part.points();
            for (source, target) in &it.equal {
                points.add_equality(part.difference(&nest.to_time(source), &nest.to_time(target))?);
            }
            if seen.insert((it.edge.source, it.edge.target, points.clone())) {
                out.push((it, part, points));
            }
        }
    }
    Some(out)
}

/// Returns the constants of all rows.
fn constants(points: &Conjunction) -> impl Iterator<Item = i128> + '_ {
    let all = points.equalities().iter().chain(points.inequalities());
    all.filter_map(|it| it.last().copied())
}

/// A row: coefficients of variables, coefficients of sizes, the constant, and true for an equality.
type SplitRow = (Vec<i128>, Vec<(usize, i128)>, i128, bool);

/// Adds the constraints of one dependence: legality, and the bound of the distance.
fn add_dependence(
    builder: &mut IntegerProgramBuilder,
    difference: &DependenceDifference,
) -> Option<()> {
    let DependenceDifference { points, adds, of_sizes: shifts } = difference;
    let n = points.n_vars();
    // Rows over variables, sizes and the constant.
    let mut rows: Vec<SplitRow> = Vec::new();
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
    used.extend(shifts.iter().map(|it| it.1));
    used.sort_unstable();
    used.dedup();
    // Sizes are at least [`MIN_SIZE`].
    for &at in &used {
        rows.push((vec![0; n], vec![(at, 1)], -MIN_SIZE, false));
    }
    // Variables that are in no iteration are symbols, which the bound may use.
    let is_iteration = |var: usize| adds.iter().any(|it| it.1[var] != 0);
    let w = builder.column(100.0, f64::INFINITY, false);
    let of_sizes: Vec<(usize, u32)> =
        used.iter().map(|&at| (at, builder.column(10_000.0, f64::INFINITY, false))).collect();
    let mut of_symbols: Vec<(usize, u32)> = Vec::new();
    for var in (0..n).filter(|it| !is_iteration(*it)) {
        // One column bounds the distance with the symbol.
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
                add_term(&mut terms, *column, sign * row[var] as f64);
            }
            if is_bound {
                for (_, column) in of_symbols.iter().filter(|it| it.0 == var) {
                    add_term(&mut terms, *column, 1.0);
                }
            }
            for (row, column) in rows.iter().zip(&multipliers) {
                add_term(&mut terms, *column, -(row.0[var] as f64));
            }
            builder.model.add_row(Constraint { lower: 0.0, upper: 0.0, terms });
        }
        for &(at, bound) in &of_sizes {
            let mut terms = Vec::new();
            if is_bound {
                add_term(&mut terms, bound, 1.0);
            }
            for &(column, _, by) in shifts.iter().filter(|it| it.1 == at) {
                add_term(&mut terms, column, sign * by);
            }
            for (row, column) in rows.iter().zip(&multipliers) {
                for (_, by) in row.1.iter().filter(|it| it.0 == at) {
                    add_term(&mut terms, *column, -(*by as f64));
                }
            }
            builder.model.add_row(Constraint { lower: 0.0, upper: 0.0, terms });
        }
        let mut terms = Vec::new();
        for (column, row) in adds {
            add_term(&mut terms, *column, sign * row[n] as f64);
        }
        if is_bound {
            add_term(&mut terms, w, 1.0);
        }
        for (row, column) in rows.iter().zip(&multipliers) {
            add_term(&mut terms, *column, -(row.2 as f64));
        }
        builder.model.add_row(Constraint { lower: 0.0, upper: f64::INFINITY, terms });
    }
    Some(())
}

/// Adds to the coefficient of a column.
fn add_term(terms: &mut Vec<(u32, f64)>, column: u32, by: f64) {
    if by == 0.0 {
        return;
    }
    match terms.iter_mut().find(|it| it.0 == column) {
        Some(old) => old.1 += by,
        None => terms.push((column, by)),
    }
}
