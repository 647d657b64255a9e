//! Calls the C library of HiGHS.
//!
//! The safe `highs` crate supports neither callbacks nor adding and removing rows, so this file
//! contains unsafe calls. Runs use one thread, a fixed seed and no console output: a run depends
//! only on its input and its limits.
#![allow(unsafe_code, reason = "rows, bases and callbacks go through the C interface")]

use std::ffi::{c_char, c_int, c_void};

use highs::{Col, HighsModelStatus, HighsSolutionStatus, Model, RowProblem, Sense, SolvedModel};

use crate::program::{Basis, Column, Row};
use crate::{RowBatch, SolveOutcome, SolverError, SolverLimits};

/// A program in HiGHS.
#[derive(Debug)]
pub(crate) struct Engine(Model);

/// A program after a run.
#[derive(Debug)]
pub(crate) struct Solved(SolvedModel);

impl Engine {
    /// Creates a program to minimize; `None` if HiGHS rejects it.
    pub(crate) fn build(columns: &[Column], rows: &[Row]) -> Option<Engine> {
        let mut problem = RowProblem::new();
        let cols: Vec<Col> = columns
            .iter()
            .map(|column| {
                let bounds = column.lower..=column.upper;
                if column.is_integer {
                    problem.add_integer_column(column.cost, bounds)
                } else {
                    problem.add_column(column.cost, bounds)
                }
            })
            .collect();
        for row in rows {
            let terms = row.terms.iter().map(|&(at, it)| Some((*cols.get(at as usize)?, it)));
            problem.add_row(row.lower..=row.upper, terms.collect::<Option<Vec<_>>>()?);
        }
        let mut model = problem.try_optimise(Sense::Minimise).ok()?;
        model.make_quiet();
        model.try_set_option("threads", 1).ok()?;
        model.try_set_option("parallel", "off").ok()?;
        model.try_set_option("random_seed", 1).ok()?;
        Some(Engine(model))
    }

    pub(crate) fn set_number(&mut self, option: &str, value: f64) -> Result<(), SolverError> {
        self.0.try_set_option(option, value).map_err(|_| SolverError::Failed)
    }

    pub(crate) fn set_count(&mut self, option: &str, value: i32) -> Result<(), SolverError> {
        self.0.try_set_option(option, value).map_err(|_| SolverError::Failed)
    }

    /// Sets the starting point, with one value per column.
    pub(crate) fn set_start(&mut self, values: &[f64]) -> Result<(), SolverError> {
        self.0.try_set_solution(Some(values), None, None, None).map_err(|_| SolverError::Failed)
    }

    /// Adds rows without upper bounds. The columns of their terms must exist.
    pub(crate) fn add_rows(&mut self, rows: &RowBatch) -> Result<(), SolverError> {
        let upper = vec![f64::INFINITY; rows.lower.len()];
        // SAFETY: the pointers are to arrays of the lengths passed, which live until the call
        // returns.
        check(unsafe {
            highs_sys::Highs_addRows(
                self.0.as_mut_ptr(),
                rows.lower.len() as c_int,
                rows.lower.as_ptr(),
                upper.as_ptr(),
                rows.index.len() as c_int,
                rows.starts.as_ptr(),
                rows.index.as_ptr(),
                rows.value.as_ptr(),
            )
        })
    }

    /// Removes the rows with mask 1. The mask has one number per row.
    pub(crate) fn remove_rows(&mut self, mut mask: Vec<c_int>) -> Result<(), SolverError> {
        // SAFETY: the mask has one entry per row and outlives the call.
        check(unsafe { highs_sys::Highs_deleteRowsByMask(self.0.as_mut_ptr(), mask.as_mut_ptr()) })
    }

    /// Sets the bounds of columns, which are in increasing order. There is one number of each kind
    /// per column.
    pub(crate) fn set_bounds(
        &mut self,
        index: &[c_int],
        lower: &[f64],
        upper: &[f64],
    ) -> Result<(), SolverError> {
        // SAFETY: the arrays have one entry per index, and the indices are of columns.
        check(unsafe {
            highs_sys::Highs_changeColsBoundsBySet(
                self.0.as_mut_ptr(),
                index.len() as c_int,
                index.as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
            )
        })
    }

    /// Sets the costs of columns, which are in increasing order. There is one number per column.
    pub(crate) fn set_costs(&mut self, index: &[c_int], costs: &[f64]) -> Result<(), SolverError> {
        // SAFETY: the arrays have one entry per column.
        check(unsafe {
            highs_sys::Highs_changeColsCostBySet(
                self.0.as_mut_ptr(),
                index.len() as c_int,
                index.as_ptr(),
                costs.as_ptr(),
            )
        })
    }

    /// Writes the current basis to `basis`, which has one number per column and row.
    pub(crate) fn basis(&mut self, basis: &mut Basis) -> Result<(), SolverError> {
        let (columns, rows) = (basis.columns.as_mut_ptr(), basis.rows.as_mut_ptr());
        // SAFETY: the arrays have one entry per column and row, and HiGHS writes that many.
        check(unsafe { highs_sys::Highs_getBasis(self.0.as_mut_ptr(), columns, rows) })
    }

    /// Sets a basis, which has one number per column and row.
    pub(crate) fn set_basis(&mut self, basis: &Basis) -> Result<(), SolverError> {
        let (columns, rows) = (basis.columns.as_ptr(), basis.rows.as_ptr());
        // SAFETY: the arrays have one entry per column and row.
        check(unsafe { highs_sys::Highs_setBasis(self.0.as_mut_ptr(), columns, rows) })
    }

    /// Runs HiGHS with enabled callbacks.
    pub(crate) fn run(mut self, limits: &SolverLimits) -> Result<Solved, SolverError> {
        if (limits.should_stop)() {
            return Err(SolverError::Stopped);
        }
        let user = std::ptr::from_ref::<SolverLimits>(limits).cast_mut().cast::<c_void>();
        // SAFETY: `interrupt` has the type that HiGHS expects. It is called only during the run,
        // and `limits` outlives the run. Afterwards the callbacks are disabled.
        unsafe {
            let highs = self.0.as_mut_ptr();
            highs_sys::Highs_setCallback(highs, Some(interrupt), user);
            for kind in CALLBACKS {
                highs_sys::Highs_startCallback(highs, kind);
            }
            let mut solved = self.0.try_solve().map_err(|_| SolverError::Failed)?;
            for kind in CALLBACKS {
                highs_sys::Highs_stopCallback(solved.as_mut_ptr(), kind);
            }
            Ok(Solved(solved))
        }
    }
}

impl Solved {
    pub(crate) fn outcome(&self) -> SolveOutcome {
        match self.0.status() {
            HighsModelStatus::Optimal => SolveOutcome::Optimal,
            HighsModelStatus::Infeasible => SolveOutcome::Infeasible,
            HighsModelStatus::Unbounded => SolveOutcome::Unbounded,
            _ => SolveOutcome::Stopped,
        }
    }

    /// Returns true if the point of the solution is feasible.
    pub(crate) fn is_feasible(&self) -> bool {
        self.0.primal_solution_status() == HighsSolutionStatus::Feasible
    }

    /// Returns the value of each column and the multiplier of each row.
    pub(crate) fn point(&self) -> (Vec<f64>, Vec<f64>) {
        let solution = self.0.get_solution();
        (solution.columns().to_vec(), solution.dual_rows().to_vec())
    }

    pub(crate) fn cost(&self) -> f64 {
        self.0.objective_value()
    }

    /// Returns the lower bound that branch and bound has proven.
    pub(crate) fn bound(&self) -> Result<f64, SolverError> {
        self.0.double_info_value(c"mip_dual_bound").map_err(|_| SolverError::Failed)
    }

    pub(crate) fn iterations(&self) -> u64 {
        let n = self.0.int_info_value(c"simplex_iteration_count");
        n.map_or(0, |n| u64::try_from(n).unwrap_or(0))
    }

    /// Returns the program. Its next run starts from the basis of this one.
    pub(crate) fn again(self) -> Engine {
        Engine(Model::from(self.0))
    }
}

fn check(status: c_int) -> Result<(), SolverError> {
    if status == highs_sys::STATUS_ERROR { Err(SolverError::Failed) } else { Ok(()) }
}

const SIMPLEX: c_int = 1;
const INTERIOR: c_int = 2;
const MIP: c_int = 6;

/// Simplex, interior point, and branch and bound poll the limits.
const CALLBACKS: [c_int; 3] = [SIMPLEX, INTERIOR, MIP];

unsafe extern "C" fn interrupt(
    kind: c_int,
    _message: *const c_char,
    out: *const highs_sys::HighsCallbackDataOut,
    into: *mut highs_sys::HighsCallbackDataIn,
    user: *mut c_void,
) {
    if out.is_null() || into.is_null() || user.is_null() {
        return;
    }
    // SAFETY: HiGHS passes structs that are valid during the call, and `user` is the `limits` of
    // `run`.
    unsafe {
        let limits = &*user.cast_const().cast::<SolverLimits>();
        // HiGHS sets only the counts that belong to this kind of callback.
        let simplex = match kind {
            SIMPLEX => i64::from((*out).simplex_iteration_count),
            MIP => (*out).mip_total_lp_iterations,
            _ => 0,
        };
        let is_spent = u64::try_from(simplex).unwrap_or(0) > limits.max_iterations;
        if is_spent || (limits.should_stop)() {
            (*into).user_interrupt = 1;
        }
    }
}
