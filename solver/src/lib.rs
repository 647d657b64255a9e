#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![allow(clippy::doc_markdown, reason = "HiGHS is a name, not code")]

mod highs;
mod linear;
mod model;
mod program;

pub use self::linear::{Basis, LinearProgram, Optimum};
pub use self::model::{Model, Solution, Status};
pub use self::program::{Column, Row};

/// The limits of a run. The default never asks to stop.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Polled often, on the thread that solves; true ends the run.
    pub stop: &'a dyn Fn() -> bool,
    /// Simplex iterations after which the run ends. Unlike a time, this makes a run repeatable.
    pub iterations: u64,
    /// Nodes of branch and bound after which the run ends.
    pub nodes: u64,
}

impl Limits<'_> {
    /// Returns no limits.
    pub fn none() -> Limits<'static> {
        Limits { stop: &|| false, iterations: u64::MAX, nodes: u64::MAX }
    }
}

impl std::fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("iterations", &self.iterations)
            .field("nodes", &self.nodes)
            .finish_non_exhaustive()
    }
}

/// The reason why a run has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The limits ended the run, or had ended before it began.
    Stopped,
    /// HiGHS refused the input or failed on the way.
    Failed,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Error::Stopped => "the limits ended the run",
            Error::Failed => "the solver failed",
        })
    }
}

impl std::error::Error for Error {}
