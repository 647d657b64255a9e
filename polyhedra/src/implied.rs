//! Removal of inequalities that the others imply over the rationals.
//!
//! *Law* (Farkas). If there is a point, `r x + c >= 0` follows from `a_i x + c_i >= 0` exactly if
//! there are `l_i >= 0` with `sum l_i a_i = r` and `sum l_i c_i <= c`. The least `sum l_i c_i` is a
//! linear program with a row per variable. The simplex method solves it in integers: all entries
//! share one denominator, the last pivot, and division by it is exact (J. Edmonds).
//!
//! An inequality is kept if the test overflows 128 bits or needs too many pivots, so no result is
//! wrong.

use crate::budget::{Budget, QueryFailure};
use crate::number::Number;
use crate::system::System;

/// Maximum number of pivots of one test.
const MAX_PIVOTS: usize = 60;

impl<T: Number> System<T> {
    /// Drops inequalities that the others imply.
    pub(crate) fn drop_implied(&mut self, budget: &mut Budget) -> Result<(), QueryFailure> {
        let used: Vec<usize> = (0..self.n_vars)
            .filter(|&it| self.inequalities.iter().any(|row| !row[it].is_zero()))
            .collect();
        let narrow = |row: &[T]| -> Option<Vec<i128>> {
            used.iter().chain([&self.n_vars]).map(|&it| row[it].get()).collect()
        };
        let Some(mut rows) = self.inequalities.iter().map(narrow).collect::<Option<Vec<_>>>()
        else {
            return Ok(());
        };
        let mut at = rows.len();
        while at > 0 {
            at -= 1;
            let last = rows.len() - 1;
            rows.swap(at, last);
            let (row, others) = rows.split_last().expect("there is a row at `at`");
            let mut n_pivots = 0;
            let is_implied = is_implied(others, row, &mut n_pivots);
            budget.spend((n_pivots + 1) * (used.len() + 1) * (others.len() + used.len()))?;
            if is_implied == Some(true) {
                rows.pop();
                self.inequalities.swap_remove(at);
            } else {
                rows.swap(at, last);
            }
        }
        Ok(())
    }
}

/// A linear program in standard form: a row per equality with the right-hand side last, then the
/// row of costs.
struct Tableau {
    rows: Vec<Vec<i128>>,
    basis: Vec<usize>,
    denominator: i128,
}

impl Tableau {
    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        let by = self.rows[row][column];
        let pivot = std::mem::take(&mut self.rows[row]);
        for it in self.rows.iter_mut().filter(|it| !it.is_empty()) {
            let factor = it[column];
            for (x, p) in it.iter_mut().zip(&pivot) {
                let product = x.checked_mul(by)?.checked_sub(factor.checked_mul(*p)?)?;
                *x = product / self.denominator;
            }
        }
        self.rows[row] = pivot;
        self.basis[row] = column;
        self.denominator = by;
        Some(())
    }

    /// Minimizes the costs (the last row) over the first `n` columns. Returns false if the costs
    /// are unbounded, and `None` on overflow or after too many pivots.
    fn minimize(&mut self, n: usize, n_pivots: &mut usize) -> Option<bool> {
        let n_rows = self.basis.len();
        loop {
            // Bland's rule: the first column that lowers the costs. It avoids cycles.
            let costs = &self.rows[n_rows];
            let Some(column) = (0..n).find(|&it| costs[it] < 0) else { return Some(true) };
            let end = costs.len() - 1;
            let mut best: Option<usize> = None;
            for row in 0..n_rows {
                let (by, right) = (self.rows[row][column], self.rows[row][end]);
                if by <= 0 {
                    continue;
                }
                let is_better = match best {
                    None => true,
                    Some(it) => {
                        let best = &self.rows[it];
                        let mine = right.checked_mul(best[column])?;
                        let other = best[end].checked_mul(by)?;
                        mine < other || mine == other && self.basis[row] < self.basis[it]
                    }
                };
                if is_better {
                    best = Some(row);
                }
            }
            let Some(row) = best else { return Some(false) };
            *n_pivots += 1;
            if *n_pivots > MAX_PIVOTS {
                return None;
            }
            self.pivot(row, column)?;
        }
    }
}

/// Returns true if a row follows from the others; `None` if the test did not finish.
fn is_implied(others: &[Vec<i128>], row: &[i128], n_pivots: &mut usize) -> Option<bool> {
    let (n, n_vars) = (others.len(), row.len() - 1);
    let width = n + n_vars + 1;
    let mut rows = Vec::with_capacity(n_vars + 1);
    let mut costs = vec![0_i128; width];
    for var in 0..n_vars {
        let sign = if row[var] < 0 { -1 } else { 1 };
        let mut it = vec![0_i128; width];
        for (at, other) in others.iter().enumerate() {
            it[at] = other[var].checked_mul(sign)?;
            costs[at] = costs[at].checked_sub(it[at])?;
        }
        it[n + var] = 1;
        it[width - 1] = row[var].checked_mul(sign)?;
        costs[width - 1] = costs[width - 1].checked_sub(it[width - 1])?;
        rows.push(it);
    }
    rows.push(costs);
    let basis = (n..n + n_vars).collect();
    let mut tableau = Tableau { rows, basis, denominator: 1 };
    // Phase 1: the coefficients, without the constants.
    tableau.minimize(n, n_pivots)?;
    if tableau.rows[n_vars][width - 1] != 0 {
        return Some(false);
    }
    // The remaining artificial variables are 0. They leave the basis, or their row is redundant.
    for at in 0..n_vars {
        if tableau.basis[at] < n {
            continue;
        }
        if let Some(column) = (0..n).find(|&it| tableau.rows[at][it] != 0) {
            if tableau.rows[at][column] < 0 {
                tableau.rows[at].iter_mut().for_each(|it| *it = -*it);
            }
            *n_pivots += 1;
            tableau.pivot(at, column)?;
        }
    }
    // Phase 2: the constants. The reduced costs, multiplied by the denominator.
    let mut costs = vec![0_i128; width];
    for (at, other) in others.iter().enumerate() {
        costs[at] = other[n_vars].checked_mul(tableau.denominator)?;
    }
    for at in 0..n_vars {
        let basis = tableau.basis[at];
        let cost = if basis < n { others[basis][n_vars] } else { 0 };
        for (it, x) in costs.iter_mut().zip(&tableau.rows[at]) {
            *it = it.checked_sub(cost.checked_mul(*x)?)?;
        }
    }
    tableau.rows[n_vars] = costs;
    if !tableau.minimize(n, n_pivots)? {
        // The others have no common point, so they imply every row.
        return Some(true);
    }
    // The last entry is the negated minimum, multiplied by the denominator.
    let least = tableau.rows[n_vars][width - 1].checked_neg()?;
    Some(least <= row[n_vars].checked_mul(tableau.denominator)?)
}
