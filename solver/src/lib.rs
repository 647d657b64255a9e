#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![allow(clippy::doc_markdown, reason = "HiGHS is a name, not code")]

#[cfg(not(target_family = "wasm"))]
mod highs;
mod linear;
mod model;
mod program;
#[cfg(target_family = "wasm")]
mod web;

use std::ffi::c_int;

pub use self::linear::{LinearProgram, Optimum};
pub use self::model::{MixedIntegerProgram, Solution, SolveStatus};
pub use self::program::{Basis, Column, Row};
#[cfg(target_family = "wasm")]
pub use self::web::is_over;

#[cfg(not(target_family = "wasm"))]
use self::highs as engine;
#[cfg(target_family = "wasm")]
use self::web as engine;

/// The limits of a run. The default has no limits.
#[derive(Clone, Copy)]
pub struct SolverLimits<'a> {
    /// Returns true to end the run. It is called often, on the solving thread.
    pub should_stop: &'a dyn Fn() -> bool,
    /// Maximum number of simplex iterations. Unlike a time limit, it makes a run reproducible.
    pub max_iterations: u64,
    /// Maximum number of nodes of branch and bound.
    pub max_nodes: u64,
}

impl SolverLimits<'_> {
    /// Returns limits that never end a run.
    pub fn none() -> SolverLimits<'static> {
        SolverLimits { should_stop: &|| false, max_iterations: u64::MAX, max_nodes: u64::MAX }
    }
}

impl std::fmt::Debug for SolverLimits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("iterations", &self.max_iterations)
            .field("nodes", &self.max_nodes)
            .finish_non_exhaustive()
    }
}

/// The outcome of a run, as HiGHS reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SolveOutcome {
    Optimal,
    Infeasible,
    Unbounded,
    /// The limits ended the run.
    Stopped,
}

/// Rows in the layout of HiGHS: the least value and the start of the terms of each row, and the
/// terms of all rows.
#[derive(Debug, Default)]
struct RowBatch {
    lower: Vec<f64>,
    starts: Vec<c_int>,
    index: Vec<c_int>,
    value: Vec<f64>,
}

impl RowBatch {
    fn add(&mut self, least: f64, terms: &[(u32, f64)]) -> Result<(), SolverError> {
        self.lower.push(least);
        self.starts.push(c_int::try_from(self.index.len()).map_err(|_| SolverError::Failed)?);
        self.index.extend(terms.iter().map(|it| it.0 as c_int));
        self.value.extend(terms.iter().map(|it| it.1));
        c_int::try_from(self.index.len().max(self.lower.len())).map_err(|_| SolverError::Failed)?;
        Ok(())
    }
}

/// The reason for a run without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolverError {
    /// The limits ended the run, or were reached before it started.
    Stopped,
    /// HiGHS rejected the input or failed during the run.
    Failed,
}

impl std::fmt::Display for SolverError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SolverError::Stopped => "the limits ended the run",
            SolverError::Failed => "the solver failed",
        })
    }
}

impl std::error::Error for SolverError {}
