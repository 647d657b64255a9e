//! Programs that are solved once.

use crate::engine::Engine;
use crate::program::{Column, Row};
use crate::{SolveOutcome, SolverError, SolverLimits};

/// A linear or mixed integer program that is solved once; the cost is minimized.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixedIntegerProgram {
    /// The variables.
    pub columns: Vec<Column>,
    /// The constraints.
    pub rows: Vec<Row>,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolveStatus {
    /// The point is optimal.
    Optimal,
    /// No point is feasible.
    Infeasible,
    /// The limits ended the run. The solution has a bound and may have a point.
    Stopped,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The outcome.
    pub status: SolveStatus,
    /// The best point that was found, with one value per column.
    pub values: Option<Vec<f64>>,
    /// A lower bound of the cost, up to rounding; negative infinity if no bound is known.
    pub bound: f64,
    /// Number of simplex iterations.
    pub iterations: u64,
}

impl MixedIntegerProgram {
    /// Adds a variable and returns its index.
    pub fn add_column(&mut self, column: Column) -> u32 {
        self.columns.push(column);
        self.columns.len() as u32 - 1
    }

    /// Adds a constraint.
    pub fn add_row(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Minimizes the cost, starting from `start` if it is given. If all costs and columns are
    /// integers, a gap below 1 counts as closed.
    ///
    /// # Errors
    ///
    /// [`SolverError::Stopped`] if the limits were reached before the run, [`SolverError::Failed`]
    /// if HiGHS rejects the program or fails.
    pub fn solve(
        &self,
        start: Option<&[f64]>,
        limits: &SolverLimits,
    ) -> Result<Solution, SolverError> {
        let mut model = Engine::build(&self.columns, &self.rows).ok_or(SolverError::Failed)?;
        let is_mixed = self.columns.iter().any(|it| it.is_integer);
        if is_mixed {
            // The default relative gap, 1e-4, would not prove optimality.
            model.set_number("mip_rel_gap", 0.0)?;
            let is_whole = |it: &Column| it.cost == 0.0 || it.is_integer && it.cost.fract() == 0.0;
            let gap = if self.columns.iter().all(is_whole) { 0.99 } else { 1e-6 };
            model.set_number("mip_abs_gap", gap)?;
            model.set_number("mip_feasibility_tolerance", 1e-7)?;
            model
                .set_count("mip_max_nodes", i32::try_from(limits.max_nodes).unwrap_or(i32::MAX))?;
        }
        if let Some(start) = start {
            model.set_start(start)?;
        }
        let solved = model.run(limits)?;
        let values = solved
            .is_feasible()
            .then(|| solved.point().0)
            .filter(|values| values.len() == self.columns.len());
        let status = match solved.outcome() {
            SolveOutcome::Optimal if values.is_some() => SolveStatus::Optimal,
            SolveOutcome::Infeasible => SolveStatus::Infeasible,
            _ => SolveStatus::Stopped,
        };
        let bound = match status {
            _ if is_mixed => solved.bound()?,
            SolveStatus::Optimal => solved.cost(),
            SolveStatus::Infeasible | SolveStatus::Stopped => f64::NEG_INFINITY,
        };
        Ok(Solution { status, values, bound, iterations: solved.iterations() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knapsack(n: u32) -> MixedIntegerProgram {
        let mut model = MixedIntegerProgram::default();
        let cost = |i: u32| f64::from(7 + i * i % 11);
        for i in 0..n {
            model.add_column(Column { cost: cost(i), lower: 0.0, upper: 1.0, is_integer: true });
        }
        let terms: Vec<(u32, f64)> = (0..n).map(|i| (i, f64::from(3 + i * 5 % 7))).collect();
        let whole: f64 = terms.iter().map(|it| it.1).sum();
        model.add_row(Row { lower: (whole / 2.0).floor(), upper: f64::INFINITY, terms });
        model
    }

    /// Finds the optimal cost by trying all points.
    fn exhaustive(model: &MixedIntegerProgram) -> f64 {
        let n = model.columns.len();
        let is_in = |bits: u32, i: usize| bits >> i & 1 == 1;
        (0..1_u32 << n)
            .filter(|&bits| {
                model.rows.iter().all(|row| {
                    let terms = row.terms.iter().filter(|it| is_in(bits, it.0 as usize));
                    let sum: f64 = terms.map(|it| it.1).sum();
                    (row.lower..=row.upper).contains(&sum)
                })
            })
            .map(|bits| {
                (0..n).filter(|&i| is_in(bits, i)).map(|i| model.columns[i].cost).sum::<f64>()
            })
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn branch_and_bound_equals_exhaustive_search() {
        for n in 3..12 {
            let model = knapsack(n);
            let solution = model.solve(None, &SolverLimits::none()).unwrap();
            assert_eq!(solution.status, SolveStatus::Optimal);
            assert!((solution.bound - exhaustive(&model)).abs() < 1e-6, "{n}");
        }
    }

    #[test]
    fn equalities_and_upper_bounds_hold() {
        let mut model = MixedIntegerProgram::default();
        let column = Column { cost: -1.0, lower: -5.0, upper: 5.0, is_integer: false };
        let (x, y) = (model.add_column(column), model.add_column(column));
        model.add_row(Row { lower: 1.0, upper: 1.0, terms: vec![(x, 1.0), (y, -1.0)] });
        model.add_row(Row { lower: f64::NEG_INFINITY, upper: 4.0, terms: vec![(x, 1.0)] });
        let solution = model.solve(None, &SolverLimits::none()).unwrap();
        assert_eq!(solution.values.unwrap(), [4.0, 3.0]);
        model.add_row(Row { lower: 9.0, upper: f64::INFINITY, terms: vec![(y, 1.0)] });
        let solution = model.solve(None, &SolverLimits::none()).unwrap();
        assert_eq!((solution.status, solution.values), (SolveStatus::Infeasible, None));
    }

    #[test]
    fn stops_a_run_on_request() {
        let always = SolverLimits { should_stop: &|| true, ..SolverLimits::none() };
        assert_eq!(knapsack(10).solve(None, &always).unwrap_err(), SolverError::Stopped);
    }
}
