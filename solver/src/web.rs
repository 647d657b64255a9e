//! Calls HiGHS as the WebAssembly of the npm package `highs`, which the page loads beside this
//! program. `playground/src/highs.ts` implements the functions of [`host`].
//!
//! This build of HiGHS has a single thread. As in `highs.rs`, the seed is fixed and the limits are
//! polled.
#![allow(unsafe_code, reason = "numbers go to the other WebAssembly as pointers and lengths")]

use std::cell::Cell;
use std::ffi::c_int;

use crate::program::{Basis, Column, Row};
use crate::{RowBatch, SolveOutcome, SolverError, SolverLimits};

/// The functions that the page provides. Arrays are passed as pointers into the memory of this
/// program; the status -1 means an error.
mod host {
    use std::ffi::c_int;

    #[link(wasm_import_module = "highs")]
    unsafe extern "C" {
        /// Returns the number of a new program without rows, or -1.
        pub(super) fn create(
            n_columns: usize,
            costs: *const f64,
            lower: *const f64,
            upper: *const f64,
            is_integer: *const c_int,
        ) -> c_int;
        pub(super) fn drop_program(program: c_int);
        pub(super) fn set_option(
            program: c_int,
            name: *const u8,
            name_length: usize,
            value: f64,
        ) -> c_int;
        pub(super) fn set_start(program: c_int, values: *const f64, n: usize) -> c_int;
        pub(super) fn add_rows(
            program: c_int,
            n_rows: usize,
            lower: *const f64,
            upper: *const f64,
            n_terms: usize,
            starts: *const c_int,
            index: *const c_int,
            value: *const f64,
        ) -> c_int;
        pub(super) fn remove_rows(program: c_int, mask: *const c_int, n_rows: usize) -> c_int;
        pub(super) fn set_bounds(
            program: c_int,
            n: usize,
            index: *const c_int,
            lower: *const f64,
            upper: *const f64,
        ) -> c_int;
        pub(super) fn set_costs(
            program: c_int,
            n: usize,
            index: *const c_int,
            costs: *const f64,
        ) -> c_int;
        pub(super) fn basis(
            program: c_int,
            columns: *mut c_int,
            n_columns: usize,
            rows: *mut c_int,
            n_rows: usize,
        ) -> c_int;
        pub(super) fn set_basis(
            program: c_int,
            columns: *const c_int,
            n_columns: usize,
            rows: *const c_int,
            n_rows: usize,
        ) -> c_int;
        /// Runs HiGHS, which calls [`super::is_over`] during the run.
        pub(super) fn run(program: c_int) -> c_int;
        /// Returns the status of the model, as a number of HiGHS.
        pub(super) fn status(program: c_int) -> c_int;
        /// Returns an information value about the last run; NaN if there is none.
        pub(super) fn info(program: c_int, name: *const u8, name_length: usize) -> f64;
        pub(super) fn point(
            program: c_int,
            columns: *mut f64,
            n_columns: usize,
            multipliers: *mut f64,
            n_rows: usize,
        ) -> c_int;
    }
}

thread_local! {
    /// The limits of the current run; null between runs.
    static LIMITS: Cell<*const SolverLimits<'static>> = const { Cell::new(std::ptr::null()) };
}

/// Returns true if the current run must end. HiGHS calls it during a run, through the page, with
/// the number of simplex iterations so far.
pub fn is_over(iterations: f64) -> bool {
    let limits = LIMITS.get();
    if limits.is_null() {
        return false;
    }
    // SAFETY: `run` sets the pointer to limits that outlive the run, and clears it afterwards.
    let limits = unsafe { &*limits };
    iterations as u64 > limits.max_iterations || (limits.should_stop)()
}

/// A program in HiGHS.
#[derive(Debug)]
pub(crate) struct Engine {
    program: c_int,
    n_columns: usize,
    n_rows: usize,
}

/// A program after a run.
#[derive(Debug)]
pub(crate) struct Solved(Engine);

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: the number is that of a program that only this value drops.
        unsafe { host::drop_program(self.program) }
    }
}

impl Engine {
    /// Creates a program to minimize; `None` if HiGHS rejects it.
    pub(crate) fn build(columns: &[Column], rows: &[Row]) -> Option<Engine> {
        let costs: Vec<f64> = columns.iter().map(|it| it.cost).collect();
        let lower: Vec<f64> = columns.iter().map(|it| it.lower).collect();
        let upper: Vec<f64> = columns.iter().map(|it| it.upper).collect();
        let is_integer: Vec<c_int> = columns.iter().map(|it| c_int::from(it.is_integer)).collect();
        let n_columns = columns.len();
        // SAFETY: the arrays have one entry per column.
        let program = unsafe {
            host::create(
                n_columns,
                costs.as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                is_integer.as_ptr(),
            )
        };
        if program < 0 {
            return None;
        }
        let mut engine = Engine { program, n_columns, n_rows: 0 };
        let mut all = RowBatch::default();
        let mut above = Vec::new();
        for row in rows {
            if row.terms.iter().any(|it| it.0 as usize >= n_columns) {
                return None;
            }
            all.add(row.lower, &row.terms).ok()?;
            above.push(row.upper);
        }
        engine.add(&all, &above).ok()?;
        engine.set_count("random_seed", 1).ok()?;
        Some(engine)
    }

    pub(crate) fn set_number(&mut self, option: &str, value: f64) -> Result<(), SolverError> {
        // SAFETY: the name lives until the call returns.
        check(unsafe { host::set_option(self.program, option.as_ptr(), option.len(), value) })
    }

    pub(crate) fn set_count(&mut self, option: &str, value: i32) -> Result<(), SolverError> {
        self.set_number(option, f64::from(value))
    }

    /// Sets the starting point, with one value per column.
    pub(crate) fn set_start(&mut self, values: &[f64]) -> Result<(), SolverError> {
        // SAFETY: the array lives until the call returns.
        check(unsafe { host::set_start(self.program, values.as_ptr(), values.len()) })
    }

    /// Adds rows without upper bounds. The columns of their terms must exist.
    pub(crate) fn add_rows(&mut self, rows: &RowBatch) -> Result<(), SolverError> {
        self.add(rows, &vec![f64::INFINITY; rows.lower.len()])
    }

    fn add(&mut self, rows: &RowBatch, upper: &[f64]) -> Result<(), SolverError> {
        if rows.lower.is_empty() {
            return Ok(());
        }
        // SAFETY: the pointers are to arrays of the lengths passed.
        check(unsafe {
            host::add_rows(
                self.program,
                rows.lower.len(),
                rows.lower.as_ptr(),
                upper.as_ptr(),
                rows.index.len(),
                rows.starts.as_ptr(),
                rows.index.as_ptr(),
                rows.value.as_ptr(),
            )
        })?;
        self.n_rows += rows.lower.len();
        Ok(())
    }

    /// Removes the rows with mask 1. The mask has one number per row.
    pub(crate) fn remove_rows(&mut self, mask: Vec<c_int>) -> Result<(), SolverError> {
        // SAFETY: the mask has one entry per row.
        check(unsafe { host::remove_rows(self.program, mask.as_ptr(), mask.len()) })?;
        self.n_rows -= mask.iter().filter(|it| **it == 1).count();
        Ok(())
    }

    /// Sets the bounds of columns, which are in increasing order. There is one number of each kind
    /// per column.
    pub(crate) fn set_bounds(
        &mut self,
        index: &[c_int],
        lower: &[f64],
        upper: &[f64],
    ) -> Result<(), SolverError> {
        let (lower, upper) = (lower.as_ptr(), upper.as_ptr());
        // SAFETY: the arrays have one entry per index.
        check(unsafe { host::set_bounds(self.program, index.len(), index.as_ptr(), lower, upper) })
    }

    /// Sets the costs of columns, which are in increasing order. There is one number per column.
    pub(crate) fn set_costs(&mut self, index: &[c_int], costs: &[f64]) -> Result<(), SolverError> {
        // SAFETY: the arrays have one entry per index.
        check(unsafe { host::set_costs(self.program, index.len(), index.as_ptr(), costs.as_ptr()) })
    }

    /// Writes the current basis to `basis`, which has one number per column and row.
    pub(crate) fn basis(&mut self, basis: &mut Basis) -> Result<(), SolverError> {
        let (columns, rows) = (&mut basis.columns, &mut basis.rows);
        // SAFETY: the arrays are written up to their lengths.
        check(unsafe {
            host::basis(
                self.program,
                columns.as_mut_ptr(),
                columns.len(),
                rows.as_mut_ptr(),
                rows.len(),
            )
        })
    }

    /// Sets a basis, which has one number per column and row.
    pub(crate) fn set_basis(&mut self, basis: &Basis) -> Result<(), SolverError> {
        let (columns, rows) = (&basis.columns, &basis.rows);
        // SAFETY: the arrays live until the call returns.
        check(unsafe {
            host::set_basis(
                self.program,
                columns.as_ptr(),
                columns.len(),
                rows.as_ptr(),
                rows.len(),
            )
        })
    }

    /// Runs HiGHS, which polls the limits.
    pub(crate) fn run(self, limits: &SolverLimits) -> Result<Solved, SolverError> {
        if (limits.should_stop)() {
            return Err(SolverError::Stopped);
        }
        LIMITS.set(std::ptr::from_ref(limits).cast());
        // SAFETY: the number is of a program that was not dropped.
        let status = unsafe { host::run(self.program) };
        LIMITS.set(std::ptr::null());
        check(status)?;
        Ok(Solved(self))
    }
}

impl Solved {
    fn info(&self, name: &str) -> Result<f64, SolverError> {
        // SAFETY: the name lives until the call returns.
        let it = unsafe { host::info(self.0.program, name.as_ptr(), name.len()) };
        if it.is_nan() { Err(SolverError::Failed) } else { Ok(it) }
    }

    pub(crate) fn outcome(&self) -> SolveOutcome {
        // SAFETY: the number is of a program that was not dropped.
        match unsafe { host::status(self.0.program) } {
            7 => SolveOutcome::Optimal,
            8 => SolveOutcome::Infeasible,
            10 => SolveOutcome::Unbounded,
            _ => SolveOutcome::Stopped,
        }
    }

    /// Returns true if the point of the solution is feasible.
    pub(crate) fn is_feasible(&self) -> bool {
        const FEASIBLE: f64 = 2.0;
        self.info("primal_solution_status") == Ok(FEASIBLE)
    }

    /// Returns the value of each column and the multiplier of each row.
    pub(crate) fn point(&self) -> (Vec<f64>, Vec<f64>) {
        let mut columns = vec![0.0; self.0.n_columns];
        let mut multipliers = vec![0.0; self.0.n_rows];
        // SAFETY: the arrays are written up to their lengths.
        let status = unsafe {
            host::point(
                self.0.program,
                columns.as_mut_ptr(),
                columns.len(),
                multipliers.as_mut_ptr(),
                multipliers.len(),
            )
        };
        if check(status).is_err() { (Vec::new(), Vec::new()) } else { (columns, multipliers) }
    }

    pub(crate) fn cost(&self) -> f64 {
        self.info("objective_function_value").unwrap_or(f64::NAN)
    }

    /// Returns the lower bound that branch and bound has proven.
    pub(crate) fn bound(&self) -> Result<f64, SolverError> {
        self.info("mip_dual_bound")
    }

    pub(crate) fn iterations(&self) -> u64 {
        self.info("simplex_iteration_count").map_or(0, |it| it as u64)
    }

    /// Returns the program. Its next run starts from the basis of this one.
    pub(crate) fn again(self) -> Engine {
        self.0
    }
}

fn check(status: c_int) -> Result<(), SolverError> {
    if status < 0 { Err(SolverError::Failed) } else { Ok(()) }
}
