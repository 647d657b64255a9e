//! Linear programs that are solved repeatedly.

use std::ffi::c_int;

use crate::engine::Engine;
use crate::program::{Basis, Column};
use crate::{RowBatch, SolveOutcome, SolverError, SolverLimits};

/// A linear program with rows, costs and bounds that can change. Each run starts from the basis of
/// the previous one.
#[derive(Debug)]
pub struct LinearProgram {
    /// `None` after a run that was stopped or failed: HiGHS cannot continue from there.
    model: Option<Engine>,
    n_columns: usize,
    n_rows: usize,
}

/// An optimal point.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The cost of the point.
    pub cost: f64,
    /// The value of each column.
    pub values: Vec<f64>,
    /// The multiplier of each row.
    pub multipliers: Vec<f64>,
    /// Number of simplex iterations.
    pub iterations: u64,
}

impl LinearProgram {
    /// Creates a program without rows.
    ///
    /// # Errors
    ///
    /// [`SolverError::Failed`] if HiGHS rejects the columns.
    pub fn new(columns: &[Column]) -> Result<LinearProgram, SolverError> {
        let model = Engine::build(columns, &[]).ok_or(SolverError::Failed)?;
        Ok(LinearProgram { model: Some(model), n_columns: columns.len(), n_rows: 0 })
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn model(&mut self) -> Result<&mut Engine, SolverError> {
        self.model.as_mut().ok_or(SolverError::Failed)
    }

    /// Adds rows `sum of coefficient * column >= least`. Each row consists of `least` and its
    /// terms.
    ///
    /// # Errors
    ///
    /// [`SolverError::Failed`] if HiGHS rejects the rows, or an earlier run was stopped or failed.
    pub fn add_rows<'r>(
        &mut self,
        rows: impl Iterator<Item = (f64, &'r [(u32, f64)])>,
    ) -> Result<(), SolverError> {
        let mut added = RowBatch::default();
        for (least, terms) in rows {
            if terms.iter().any(|it| it.0 as usize >= self.n_columns) {
                return Err(SolverError::Failed);
            }
            added.add(least, terms)?;
        }
        self.model()?.add_rows(&added)?;
        self.n_rows += added.lower.len();
        Ok(())
    }

    /// Removes the rows with a set mask; the others keep their order.
    ///
    /// # Errors
    ///
    /// [`SolverError::Failed`] if the mask does not have one entry per row, or an earlier run was
    /// stopped or failed.
    pub fn remove_rows(&mut self, mask: &[bool]) -> Result<(), SolverError> {
        let mask: Vec<c_int> = mask.iter().map(|&out| c_int::from(out)).collect();
        if mask.len() != self.n_rows {
            return Err(SolverError::Failed);
        }
        let n_out = mask.iter().filter(|&&out| out == 1).count();
        self.model()?.remove_rows(mask)?;
        self.n_rows -= n_out;
        Ok(())
    }

    /// Sets the bounds of some columns.
    ///
    /// # Errors
    ///
    /// [`SolverError::Failed`] if a column does not exist, HiGHS rejects the bounds, or an earlier
    /// run was stopped or failed.
    pub fn set_bounds(
        &mut self,
        columns: &[u32],
        lower: &[f64],
        upper: &[f64],
    ) -> Result<(), SolverError> {
        let index = self.indices(columns, lower.len().min(upper.len()))?;
        self.model()?.set_bounds(&index, lower, upper)
    }

    /// Sets the cost of one unit of each column.
    ///
    /// # Errors
    ///
    /// [`SolverError::Failed`] if there is not one cost per column, HiGHS rejects the costs, or an
    /// earlier run was stopped or failed.
    pub fn set_costs(&mut self, costs: &[f64]) -> Result<(), SolverError> {
        let columns: Vec<u32> = (0..self.n_columns as u32).collect();
        let index = self.indices(&columns, costs.len())?;
        self.model()?.set_costs(&index, costs)
    }

    /// Checks that the columns are in increasing order, as HiGHS requires, and that there are `n`.
    fn indices(&self, columns: &[u32], n: usize) -> Result<Vec<c_int>, SolverError> {
        let fits = columns.len() == n
            && columns.windows(2).all(|it| it[0] < it[1])
            && columns.last().is_none_or(|&it| (it as usize) < self.n_columns);
        if fits {
            Ok(columns.iter().map(|&it| it as c_int).collect())
        } else {
            Err(SolverError::Failed)
        }
    }

    /// Returns the basis of the last solution.
    ///
    /// # Errors
    ///
    /// [`SolverError::Failed`] if there is no solution, or an earlier run was stopped or failed.
    pub fn basis(&mut self) -> Result<Basis, SolverError> {
        let mut basis = Basis { columns: vec![0; self.n_columns], rows: vec![0; self.n_rows] };
        self.model()?.basis(&mut basis)?;
        Ok(basis)
    }

    /// Sets the basis from which the next run starts.
    ///
    /// # Errors
    ///
    /// [`SolverError::Failed`] if the basis has another size, or an earlier run was stopped or
    /// failed.
    pub fn set_basis(&mut self, basis: &Basis) -> Result<(), SolverError> {
        if basis.columns.len() != self.n_columns || basis.rows.len() != self.n_rows {
            return Err(SolverError::Failed);
        }
        self.model()?.set_basis(basis)
    }

    /// Uses Devex pricing without cost perturbation, for callers that set a basis before each run:
    /// the exact weights of steepest-edge pricing for a new basis cost as much as a hundred
    /// iterations.
    ///
    /// # Errors
    ///
    /// [`SolverError::Failed`] if HiGHS rejects an option, or an earlier run was stopped or failed.
    pub fn expect_given_bases(&mut self) -> Result<(), SolverError> {
        const DEVEX: i32 = 1;
        let model = self.model()?;
        model.set_count("simplex_dual_edge_weight_strategy", DEVEX)?;
        model.set_number("dual_simplex_cost_perturbation_multiplier", 0.0)
    }

    /// Solves the program to optimality.
    ///
    /// # Errors
    ///
    /// [`SolverError::Stopped`] if the limits end the run, [`SolverError::Failed`] if there is no
    /// optimum or HiGHS fails. In both cases the program cannot be used any more.
    pub fn solve(&mut self, limits: &SolverLimits) -> Result<Optimum, SolverError> {
        let solved = self.model.take().ok_or(SolverError::Failed)?.run(limits)?;
        match solved.outcome() {
            SolveOutcome::Optimal => {}
            SolveOutcome::Infeasible | SolveOutcome::Unbounded => return Err(SolverError::Failed),
            SolveOutcome::Stopped => return Err(SolverError::Stopped),
        }
        let (values, multipliers) = solved.point();
        let (cost, iterations) = (solved.cost(), solved.iterations());
        let optimum = Optimum { cost, values, multipliers, iterations };
        self.model = Some(solved.again());
        let is_whole =
            optimum.values.len() == self.n_columns && optimum.multipliers.len() == self.n_rows;
        if is_whole { Ok(optimum) } else { Err(SolverError::Failed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_basis_while_rows_change() {
        let column = Column { cost: 1.0, lower: 0.0, upper: 1.0, is_integer: false };
        let mut program = LinearProgram::new(&[column; 3]).unwrap();
        let pairs = [[(0, 1.0), (1, 1.0)], [(1, 1.0), (2, 1.0)], [(0, 1.0), (2, 1.0)]];
        program.add_rows(pairs.iter().map(|it| (1.0, &it[..]))).unwrap();
        let all = program.solve(&SolverLimits::none()).unwrap();
        assert!((all.cost - 1.5).abs() < 1e-9 && all.multipliers.len() == 3);
        // A cover of an odd cycle needs two nodes.
        program.add_rows([(2.0, &[(0, 1.0), (1, 1.0), (2, 1.0)][..])].into_iter()).unwrap();
        assert!((program.solve(&SolverLimits::none()).unwrap().cost - 2.0).abs() < 1e-9);
        program.remove_rows(&[false, false, false, true]).unwrap();
        let basis = program.basis().unwrap();
        program.set_basis(&basis).unwrap();
        assert!((program.solve(&SolverLimits::none()).unwrap().cost - 1.5).abs() < 1e-9);
        assert_eq!(program.n_rows(), 3);
        // Without the first column both others are needed; one of them then gets more expensive.
        program.set_bounds(&[0], &[0.0], &[0.0]).unwrap();
        assert!((program.solve(&SolverLimits::none()).unwrap().cost - 2.0).abs() < 1e-9);
        program.set_costs(&[1.0, 1.0, 5.0]).unwrap();
        assert!((program.solve(&SolverLimits::none()).unwrap().cost - 6.0).abs() < 1e-9);
        assert_eq!(program.set_bounds(&[1, 1], &[0.0; 2], &[1.0; 2]), Err(SolverError::Failed));
        assert_eq!(program.set_bounds(&[3], &[0.0], &[1.0]), Err(SolverError::Failed));
        assert_eq!(program.set_costs(&[1.0]), Err(SolverError::Failed));
    }

    #[test]
    fn invalid_input_is_rejected() {
        let column = Column { cost: 1.0, lower: 0.0, upper: 1.0, is_integer: false };
        let mut program = LinearProgram::new(&[column]).unwrap();
        assert_eq!(
            program.add_rows([(1.0, &[(1, 1.0)][..])].into_iter()),
            Err(SolverError::Failed)
        );
        assert_eq!(program.remove_rows(&[true]), Err(SolverError::Failed));
        program.add_rows([(2.0, &[(0, 1.0)][..])].into_iter()).unwrap();
        assert_eq!(program.solve(&SolverLimits::none()), Err(SolverError::Failed));
        // The program cannot be used any more.
        assert_eq!(program.solve(&SolverLimits::none()), Err(SolverError::Failed));
    }
}
