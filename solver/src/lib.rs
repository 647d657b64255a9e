#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![allow(clippy::doc_markdown, reason = "HiGHS is a name, not code")]

mod highs;
mod linear;
mod model;
mod program;

use std::time::{Duration, Instant};

pub use self::linear::{Basis, LinearProgram, Optimum};
pub use self::model::{Model, Solution, Status};
pub use self::program::{Column, Row};

/// When a run ends early. The default never asks to stop.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Asked often, from the thread that solves; true ends the run.
    pub stop: &'a dyn Fn() -> bool,
    /// The moment at which the run ends.
    pub deadline: Option<Instant>,
    /// Simplex iterations after which the run ends. Unlike a time, this makes a run repeatable.
    pub iterations: u64,
    /// Nodes of branch and bound after which the run ends.
    pub nodes: u64,
}

impl Limits<'_> {
    /// No limits.
    pub fn none() -> Limits<'static> {
        Limits { stop: &|| false, deadline: None, iterations: u64::MAX, nodes: u64::MAX }
    }

    /// A limit in time, from now. A time too far away to be told is no limit.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), ..self }
    }

    fn is_over(&self) -> bool {
        (self.stop)() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl std::fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("deadline", &self.deadline)
            .field("iterations", &self.iterations)
            .field("nodes", &self.nodes)
            .finish_non_exhaustive()
    }
}

/// Why a run gave nothing.
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
