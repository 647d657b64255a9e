//! The calls of HiGHS for both kinds of programs.
//!
//! The safe `highs` crate exposes neither callbacks nor rows that come and go; hence the few unsafe
//! lines here and in [`crate::linear`]. Runs use one thread, a fixed seed and no console output, so
//! a run depends only on its input and its limits.
#![allow(unsafe_code, reason = "HiGHS is stopped through callbacks, which are C function pointers")]

use std::ffi::{c_char, c_int, c_void};

use highs::{Col, Model, RowProblem, Sense, SolvedModel};

use crate::program::{Column, Row};
use crate::{Error, Limits};

pub(crate) fn build(columns: &[Column], rows: &[Row]) -> Option<Model> {
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
    Some(model)
}

pub(crate) fn set(model: &mut Model, option: &str, value: f64) -> Result<(), Error> {
    model.try_set_option(option, value).map_err(|_| Error::Failed)
}

pub(crate) fn check(status: c_int) -> Result<(), Error> {
    if status == highs_sys::STATUS_ERROR { Err(Error::Failed) } else { Ok(()) }
}

pub(crate) fn iterations(solved: &SolvedModel) -> u64 {
    solved.int_info_value(c"simplex_iteration_count").map_or(0, |n| u64::try_from(n).unwrap_or(0))
}

/// Runs HiGHS with the callbacks on.
pub(crate) fn run(mut model: Model, limits: &Limits) -> Result<SolvedModel, Error> {
    if (limits.stop)() {
        return Err(Error::Stopped);
    }
    let user = std::ptr::from_ref::<Limits>(limits).cast_mut().cast::<c_void>();
    // SAFETY: `interrupt` has the type HiGHS expects. `limits` outlives the run, which is the only
    // time it is called; afterwards the callbacks are off.
    unsafe {
        let highs = model.as_mut_ptr();
        highs_sys::Highs_setCallback(highs, Some(interrupt), user);
        for kind in CALLBACKS {
            highs_sys::Highs_startCallback(highs, kind);
        }
        let mut solved = model.try_solve().map_err(|_| Error::Failed)?;
        for kind in CALLBACKS {
            highs_sys::Highs_stopCallback(solved.as_mut_ptr(), kind);
        }
        Ok(solved)
    }
}

const SIMPLEX: c_int = 1;
const INTERIOR: c_int = 2;
const MIP: c_int = 6;

/// Simplex, interior point and branch and bound poll the limits.
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
    // SAFETY: HiGHS passes valid structs for the length of the call, and `user` is the limits of
    // `run`.
    unsafe {
        let limits = &*user.cast_const().cast::<Limits>();
        // NB: HiGHS leaves the counts that do not belong to the kind of callback unset.
        let simplex = match kind {
            SIMPLEX => i64::from((*out).simplex_iteration_count),
            MIP => (*out).mip_total_lp_iterations,
            _ => 0,
        };
        let is_spent = u64::try_from(simplex).unwrap_or(0) > limits.iterations;
        if is_spent || (limits.stop)() {
            (*into).user_interrupt = 1;
        }
    }
}
