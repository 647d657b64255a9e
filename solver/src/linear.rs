//! Linear programs that are solved again and again.

#![allow(unsafe_code, reason = "rows, bases and costs are changed through the C interface")]

use std::ffi::c_int;

use highs::{HighsModelStatus, Model};

use crate::highs::{build, check, iterations, run, set};
use crate::program::Column;
use crate::{Error, Limits};

/// A linear program whose rows, costs and bounds change; each solve starts from the basis of the
/// one before.
#[derive(Debug)]
pub struct LinearProgram {
    /// `None` after a run that was stopped or failed: HiGHS cannot go on from there.
    model: Option<Model>,
    n_columns: usize,
    n_rows: usize,
}

/// A basis, from which a simplex run starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// The statuses of the columns, in the encoding of the solver.
    pub columns: Vec<c_int>,
    /// The statuses of the rows, in the encoding of the solver.
    pub rows: Vec<c_int>,
}

impl Basis {
    /// The status "basic".
    pub const BASIC: c_int = 1;
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
    /// Simplex iterations spent.
    pub iterations: u64,
}

impl LinearProgram {
    /// Returns a program without rows.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if HiGHS refuses the columns.
    pub fn new(columns: &[Column]) -> Result<LinearProgram, Error> {
        let model = build(columns, &[]).ok_or(Error::Failed)?;
        Ok(LinearProgram { model: Some(model), n_columns: columns.len(), n_rows: 0 })
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn pointer(&mut self) -> Result<*mut std::ffi::c_void, Error> {
        self.model.as_mut().map(Model::as_mut_ptr).ok_or(Error::Failed)
    }

    /// Adds rows `sum of coefficient * column >= least`, each given as its least value and
    /// its terms.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if HiGHS refuses the rows, or the program was lost.
    pub fn add_rows<'r>(
        &mut self,
        rows: impl Iterator<Item = (f64, &'r [(u32, f64)])>,
    ) -> Result<(), Error> {
        let (mut lower, mut starts) = (Vec::new(), Vec::new());
        let (mut index, mut value): (Vec<c_int>, Vec<f64>) = (Vec::new(), Vec::new());
        for (least, terms) in rows {
            lower.push(least);
            starts.push(c_int::try_from(index.len()).map_err(|_| Error::Failed)?);
            for &(column, coefficient) in terms {
                if column as usize >= self.n_columns {
                    return Err(Error::Failed);
                }
                index.push(column as c_int);
                value.push(coefficient);
            }
        }
        let n_rows = c_int::try_from(lower.len()).map_err(|_| Error::Failed)?;
        let n_terms = c_int::try_from(index.len()).map_err(|_| Error::Failed)?;
        let upper = vec![f64::INFINITY; lower.len()];
        let highs = self.pointer()?;
        // SAFETY: the pointers are to arrays of the lengths passed, which live until the call
        // returns.
        check(unsafe {
            highs_sys::Highs_addRows(
                highs,
                n_rows,
                lower.as_ptr(),
                upper.as_ptr(),
                n_terms,
                starts.as_ptr(),
                index.as_ptr(),
                value.as_ptr(),
            )
        })?;
        self.n_rows += lower.len();
        Ok(())
    }

    /// Removes the rows whose mask is set; the others keep their order.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if the mask does not have one entry per row, or the program was lost.
    pub fn remove_rows(&mut self, mask: &[bool]) -> Result<(), Error> {
        let mut mask: Vec<c_int> = mask.iter().map(|&out| c_int::from(out)).collect();
        if mask.len() != self.n_rows {
            return Err(Error::Failed);
        }
        let n_out = mask.iter().filter(|&&out| out == 1).count();
        let highs = self.pointer()?;
        // SAFETY: the mask has one entry per row and outlives the call.
        check(unsafe { highs_sys::Highs_deleteRowsByMask(highs, mask.as_mut_ptr()) })?;
        self.n_rows -= n_out;
        Ok(())
    }

    /// Sets the bounds of some columns.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if a column does not exist, HiGHS refuses the bounds, or the program was
    /// lost.
    pub fn set_bounds(
        &mut self,
        columns: &[u32],
        lower: &[f64],
        upper: &[f64],
    ) -> Result<(), Error> {
        let index = self.indices(columns, lower.len().min(upper.len()))?;
        let highs = self.pointer()?;
        // SAFETY: the arrays have one entry per index, and the indices are of columns.
        check(unsafe {
            highs_sys::Highs_changeColsBoundsBySet(
                highs,
                index.len() as c_int,
                index.as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
            )
        })
    }

    /// Sets the cost of one unit of each column.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if there is not one cost per column, HiGHS refuses the costs, or the
    /// program was lost.
    pub fn set_costs(&mut self, costs: &[f64]) -> Result<(), Error> {
        let columns: Vec<u32> = (0..self.n_columns as u32).collect();
        let index = self.indices(&columns, costs.len())?;
        let highs = self.pointer()?;
        // SAFETY: the arrays have one entry per column.
        check(unsafe {
            highs_sys::Highs_changeColsCostBySet(
                highs,
                index.len() as c_int,
                index.as_ptr(),
                costs.as_ptr(),
            )
        })
    }

    /// Checks the columns as HiGHS requires them: in increasing order, one per number.
    fn indices(&self, columns: &[u32], n: usize) -> Result<Vec<c_int>, Error> {
        let fits = columns.len() == n
            && columns.windows(2).all(|it| it[0] < it[1])
            && columns.last().is_none_or(|&it| (it as usize) < self.n_columns);
        if fits { Ok(columns.iter().map(|&it| it as c_int).collect()) } else { Err(Error::Failed) }
    }

    /// Returns the basis of the last solution.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if there is none, or the program was lost.
    pub fn basis(&mut self) -> Result<Basis, Error> {
        let mut basis = Basis { columns: vec![0; self.n_columns], rows: vec![0; self.n_rows] };
        let highs = self.pointer()?;
        // SAFETY: the arrays have one entry per column and row, which is what HiGHS writes.
        check(unsafe {
            highs_sys::Highs_getBasis(highs, basis.columns.as_mut_ptr(), basis.rows.as_mut_ptr())
        })?;
        Ok(basis)
    }

    /// Sets the basis from which the next solve starts.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if the basis has another size, or the program was lost.
    pub fn set_basis(&mut self, basis: &Basis) -> Result<(), Error> {
        if basis.columns.len() != self.n_columns || basis.rows.len() != self.n_rows {
            return Err(Error::Failed);
        }
        let highs = self.pointer()?;
        // SAFETY: the arrays have one entry per column and row.
        check(unsafe {
            highs_sys::Highs_setBasis(highs, basis.columns.as_ptr(), basis.rows.as_ptr())
        })
    }

    /// Uses Devex pricing and leaves costs unperturbed. This suits callers that set a basis before
    /// each solve: exact steepest edges of a new basis take as long as a hundred iterations.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if HiGHS refuses, or the program was lost.
    pub fn starts_from_bases(&mut self) -> Result<(), Error> {
        const DEVEX: i32 = 1;
        let model = self.model.as_mut().ok_or(Error::Failed)?;
        model
            .try_set_option("simplex_dual_edge_weight_strategy", DEVEX)
            .map_err(|_| Error::Failed)?;
        set(model, "dual_simplex_cost_perturbation_multiplier", 0.0)
    }

    /// Solves to optimality.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the limits end the run, [`Error::Failed`] if there is no optimum or
    /// HiGHS fails. In both cases the program is lost.
    pub fn solve(&mut self, limits: &Limits) -> Result<Optimum, Error> {
        let solved = run(self.model.take().ok_or(Error::Failed)?, limits)?;
        match solved.status() {
            HighsModelStatus::Optimal => {}
            HighsModelStatus::Infeasible | HighsModelStatus::Unbounded => {
                return Err(Error::Failed);
            }
            _ => return Err(Error::Stopped),
        }
        let solution = solved.get_solution();
        let optimum = Optimum {
            cost: solved.objective_value(),
            values: solution.columns().to_vec(),
            multipliers: solution.dual_rows().to_vec(),
            iterations: iterations(&solved),
        };
        self.model = Some(Model::from(solved));
        let is_whole =
            optimum.values.len() == self.n_columns && optimum.multipliers.len() == self.n_rows;
        if is_whole { Ok(optimum) } else { Err(Error::Failed) }
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
        let all = program.solve(&Limits::none()).unwrap();
        assert!((all.cost - 1.5).abs() < 1e-9 && all.multipliers.len() == 3);
        // An odd cycle needs two nodes.
        program.add_rows([(2.0, &[(0, 1.0), (1, 1.0), (2, 1.0)][..])].into_iter()).unwrap();
        assert!((program.solve(&Limits::none()).unwrap().cost - 2.0).abs() < 1e-9);
        program.remove_rows(&[false, false, false, true]).unwrap();
        let basis = program.basis().unwrap();
        program.set_basis(&basis).unwrap();
        assert!((program.solve(&Limits::none()).unwrap().cost - 1.5).abs() < 1e-9);
        assert_eq!(program.n_rows(), 3);
        // Without the first column both others are needed; then one of them costs more.
        program.set_bounds(&[0], &[0.0], &[0.0]).unwrap();
        assert!((program.solve(&Limits::none()).unwrap().cost - 2.0).abs() < 1e-9);
        program.set_costs(&[1.0, 1.0, 5.0]).unwrap();
        assert!((program.solve(&Limits::none()).unwrap().cost - 6.0).abs() < 1e-9);
        assert_eq!(program.set_bounds(&[1, 1], &[0.0; 2], &[1.0; 2]), Err(Error::Failed));
        assert_eq!(program.set_bounds(&[3], &[0.0], &[1.0]), Err(Error::Failed));
        assert_eq!(program.set_costs(&[1.0]), Err(Error::Failed));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let column = Column { cost: 1.0, lower: 0.0, upper: 1.0, is_integer: false };
        let mut program = LinearProgram::new(&[column]).unwrap();
        assert_eq!(program.add_rows([(1.0, &[(1, 1.0)][..])].into_iter()), Err(Error::Failed));
        assert_eq!(program.remove_rows(&[true]), Err(Error::Failed));
        program.add_rows([(2.0, &[(0, 1.0)][..])].into_iter()).unwrap();
        assert_eq!(program.solve(&Limits::none()), Err(Error::Failed));
        // The program is lost.
        assert_eq!(program.solve(&Limits::none()), Err(Error::Failed));
    }
}
