//! Elimination of a variable: real and dark shadows, and splinters.
//!
//! *Elimination* of a variable x pairs each lower bound `b x >= -l` with each upper bound `a x <=
//! u`. The *real shadow* has the row `a l + b u >= 0` for each pair. It contains the projection of
//! every integer point. If a or b is 1 in each pair, each of its points is the projection of an
//! integer point. Otherwise the *dark shadow*, with the rows `a l + b u >= (a - 1)(b - 1)`, has
//! this property. Each point whose projection is not in the dark shadow satisfies `b x = -l + i`
//! for some lower bound and `0 <= i <= (A b - A - b) / A`, where A is the largest a (or `a x = u -
//! i` for some upper bound, with the largest b). The *splinters* are the systems with one of these
//! equalities added (W. Pugh, 1991).
//!
//! *Cost.* An elimination adds one row per pair of a lower and an upper bound. If there are many
//! rows, implied rows are removed.

use crate::budget::{Budget, QueryFailure};
use crate::number::Number;
use crate::rows::Rows;
use crate::system::{Feasibility, System, times};

/// A callback for each splinter of a system. It returns true if no further splinter is needed.
pub(crate) type SplinterVisitor<'a, T> =
    &'a mut dyn FnMut(System<T>, &mut Budget) -> Result<bool, QueryFailure>;

/// Implied inequalities are removed only if the inequalities exceed both limits.
const FEW_ROWS: usize = 24;
const ROWS_PER_VARIABLE: usize = 6;

/// The occurrences of a variable in the inequalities.
pub(crate) struct VariableBounds<T> {
    pub(crate) var: usize,
    pub(crate) n_lower: usize,
    pub(crate) n_upper: usize,
    pub(crate) largest_lower: T,
    pub(crate) largest_upper: T,
    /// Number of splinters made from the lower bounds, and made from the upper bounds.
    pub(crate) n_splinters: [u64; 2],
}

impl<T: Number> VariableBounds<T> {
    /// Returns true if the splinters are made from the lower bounds, false if from the upper
    /// bounds.
    pub(crate) fn is_split_below(&self) -> bool {
        self.n_splinters[0] <= self.n_splinters[1]
    }

    pub(crate) fn is_unbounded(&self) -> bool {
        self.n_lower == 0 || self.n_upper == 0
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.is_unbounded() || self.largest_lower.is_unit() || self.largest_upper.is_unit()
    }

    /// Returns the number of rows that elimination adds, minus the number of rows that it removes.
    pub(crate) fn row_growth(&self) -> isize {
        (self.n_lower * self.n_upper) as isize - (self.n_lower + self.n_upper) as isize
    }
}

impl<T: Number> System<T> {
    pub(crate) fn bounds_on(&self, var: usize) -> Result<VariableBounds<T>, QueryFailure> {
        let zero = Self::number(0)?;
        let mut out = VariableBounds {
            var,
            n_lower: 0,
            n_upper: 0,
            largest_lower: zero.clone(),
            largest_upper: zero,
            n_splinters: [0, 0],
        };
        for row in self.inequalities.iter() {
            match row[var].sign() {
                1 => {
                    out.n_lower += 1;
                    out.largest_lower = out.largest_lower.max(row[var].clone());
                }
                -1 => {
                    out.n_upper += 1;
                    out.largest_upper = out.largest_upper.max(row[var].negated());
                }
                _ => {}
            }
        }
        if !out.is_exact() {
            for row in self.inequalities.iter() {
                let (side, opposite) = match row[var].sign() {
                    1 => (0, &out.largest_upper),
                    -1 => (1, &out.largest_lower),
                    _ => continue,
                };
                let n = last_splinter(row[var].magnitude(), opposite.magnitude());
                let n = n.map_or(0, |it| it.saturating_add(1));
                out.n_splinters[side] = out.n_splinters[side].saturating_add(n);
            }
        }
        Ok(out)
    }

    /// Returns the variable to eliminate next, or `None` if only variables with `keep` remain.
    /// First come variables without lower or without upper bounds, then exact eliminations that add
    /// few rows.
    pub(crate) fn cheapest_elimination(
        &self,
        keep: &dyn Fn(usize) -> bool,
    ) -> Result<Option<VariableBounds<T>>, QueryFailure> {
        let mut best: Option<((bool, u64, isize), VariableBounds<T>)> = None;
        for var in 0..self.n_vars {
            if keep(var) {
                continue;
            }
            let it = self.bounds_on(var)?;
            if it.n_lower + it.n_upper == 0 {
                continue;
            }
            if it.is_unbounded() {
                return Ok(Some(it));
            }
            let splinters = it.n_splinters[0].min(it.n_splinters[1]);
            let cost = (!it.is_exact(), splinters, it.row_growth());
            if best.as_ref().is_none_or(|best| cost < best.0) {
                best = Some((cost, it));
            }
        }
        Ok(best.map(|it| it.1))
    }

    /// Replaces the rows of a variable by its real or dark shadow.
    pub(crate) fn eliminate(
        &mut self,
        var: usize,
        is_dark: bool,
        budget: &mut Budget,
    ) -> Result<(), QueryFailure> {
        let width = self.n_vars + 1;
        let mut rows = Rows::new(width);
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for (at, row) in self.inequalities.iter().enumerate() {
            match row[var].sign() {
                1 => lower.push(at),
                -1 => upper.push(at),
                _ => rows.push(row),
            }
        }
        budget.spend(((lower.len() * upper.len() + self.inequalities.len()) * width) * T::WORK)?;
        let minus = Self::number(-1)?;
        for &low in &lower {
            for &high in &upper {
                let (low, high) = (self.inequalities.row(low), self.inequalities.row(high));
                let (b, a) = (&low[var], high[var].negated());
                let mut row = Vec::with_capacity(width);
                for (l, u) in low.iter().zip(high) {
                    row.push(T::combined(&a, l, b, u).ok_or(QueryFailure::Overflow)?);
                }
                if is_dark {
                    let gap = times(
                        &a.plus(&minus).ok_or(QueryFailure::Overflow)?,
                        &b.plus(&minus).ok_or(QueryFailure::Overflow)?,
                    )?;
                    row[width - 1] =
                        row[width - 1].plus(&gap.negated()).ok_or(QueryFailure::Overflow)?;
                }
                rows.extend(row.into_iter());
            }
        }
        self.inequalities = rows;
        // Most rows of a large system are redundant. `normalize_inequalities` may find a
        // contradiction; the next `solve` reports it.
        if self.inequalities.len() > FEW_ROWS
            && self.normalize_inequalities(budget)? == Feasibility::Open
        {
            let is_used = |var: &usize| self.inequalities.iter().any(|it| !it[*var].is_zero());
            let n_used = (0..self.n_vars).filter(is_used).count();
            if self.inequalities.len() > FEW_ROWS.max(ROWS_PER_VARIABLE * n_used) {
                self.drop_implied(budget)?;
            }
        }
        Ok(())
    }

    /// Removes the rows of a variable that has no lower or no upper bounds.
    pub(crate) fn drop_rows(&mut self, var: usize) {
        for at in (0..self.inequalities.len()).rev() {
            if !self.inequalities.row(at)[var].is_zero() {
                self.inequalities.swap_remove(at);
            }
        }
    }

    /// Calls `visit` with each splinter of a variable until a call returns true.
    pub(crate) fn for_each_splinter(
        &self,
        it: &VariableBounds<T>,
        budget: &mut Budget,
        visit: SplinterVisitor<'_, T>,
    ) -> Result<(), QueryFailure> {
        let is_lower = it.is_split_below();
        let largest = if is_lower { &it.largest_upper } else { &it.largest_lower };
        let minus = Self::number(-1)?;
        for at in 0..self.inequalities.len() {
            let row = self.inequalities.row(at);
            if row[it.var].sign() != if is_lower { 1 } else { -1 } {
                continue;
            }
            let Some(last) = last_splinter(row[it.var].magnitude(), largest.magnitude()) else {
                continue;
            };
            let mut row = row.to_vec();
            for _ in 0..=last {
                budget.spend((self.n_vars + 1) * T::WORK)?;
                let mut splinter = self.clone();
                splinter.equalities.push(&row);
                if visit(splinter, budget)? {
                    return Ok(());
                }
                let end = row.len() - 1;
                row[end] = row[end].plus(&minus).ok_or(QueryFailure::Overflow)?;
            }
        }
        Ok(())
    }

    /// Eliminates the variables that no output contains, where the real shadow is exact and has no
    /// more rows than it replaces. Answers about outputs stay the same.
    pub(crate) fn simplify(&mut self, budget: &mut Budget) -> Result<Feasibility, QueryFailure> {
        loop {
            if self.solve(budget)? == Feasibility::Empty {
                return Ok(Feasibility::Empty);
            }
            let outputs = &self.outputs;
            let is_output = |var: usize| outputs.iter().any(|it| !it[var].is_zero());
            let mut next = None;
            for var in 0..self.n_vars {
                if is_output(var) {
                    continue;
                }
                let it = self.bounds_on(var)?;
                let is_there = it.n_lower + it.n_upper > 0;
                if is_there && (it.is_unbounded() || it.is_exact() && it.row_growth() <= 0) {
                    next = Some(it);
                    break;
                }
            }
            match next {
                None => return Ok(Feasibility::Open),
                Some(it) if it.is_unbounded() => self.drop_rows(it.var),
                Some(it) => self.eliminate(it.var, false, budget)?,
            }
        }
    }

    /// Eliminates one variable by a real or dark shadow. Clears `is_exact` if the elimination is
    /// not exact.
    pub(crate) fn eliminate_by_shadow(
        &mut self,
        next: &VariableBounds<T>,
        is_dark: bool,
        is_exact: &mut bool,
        budget: &mut Budget,
    ) -> Result<(), QueryFailure> {
        if next.is_unbounded() {
            self.drop_rows(next.var);
            return Ok(());
        }
        *is_exact &= next.is_exact();
        self.eliminate(next.var, is_dark && !next.is_exact(), budget)
    }

    /// Returns true if the elimination of all variables by shadows of one kind finds no
    /// contradiction.
    pub(crate) fn has_shadow(
        &mut self,
        is_dark: bool,
        is_exact: &mut bool,
        budget: &mut Budget,
    ) -> Result<bool, QueryFailure> {
        loop {
            if self.solve(budget)? == Feasibility::Empty {
                return Ok(false);
            }
            match self.cheapest_elimination(&|_| false)? {
                None => return Ok(true),
                Some(next) => self.eliminate_by_shadow(&next, is_dark, is_exact, budget)?,
            }
        }
    }
}

/// Returns the largest i of the splinters `b x = -l + i`: (A b - A - b) / A, rounded down. `None`
/// if there is no splinter. Magnitudes that saturate give more splinters than any budget allows.
fn last_splinter(b: u64, largest: u64) -> Option<u64> {
    let (b, largest) = (u128::from(b), u128::from(largest));
    let numerator = (largest * b).checked_sub(largest + b)?;
    Some(u64::try_from(numerator / largest).unwrap_or(u64::MAX))
}
