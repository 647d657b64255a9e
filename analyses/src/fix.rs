//! Inserting `reduce_noise`: the solver proposes, the analysis disposes.

use std::fmt;

use noisy_syntax::Op;

use crate::placement::Limits;
use crate::{Document, Fix};

/// What became of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is legal as it is; nothing is inserted.
    Legal,
    /// It becomes legal.
    Mended {
        /// How many ops are inserted.
        inserted: usize,
        /// No placement costs less than this.
        lower_bound: u64,
        /// The cost of this one; as many as are inserted when each counts 1.
        cost: u64,
    },
    /// It is left byte for byte as it is, for this reason.
    Refused(String),
}

impl Verdict {
    /// Whether no cheaper placement exists.
    pub fn is_optimal(&self) -> bool {
        match self {
            Verdict::Legal => true,
            Verdict::Mended { lower_bound, cost, .. } => lower_bound >= cost,
            Verdict::Refused(_) => false,
        }
    }
}

/// What became of a function that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionOutcome {
    /// The function.
    pub function: Op,
    /// Its symbol name without `@`, or an empty string.
    pub name: String,
    /// What became of it.
    pub verdict: Verdict,
}

/// The answer of [`insert_reduces`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// One per function that was asked for, in that order.
    pub functions: Vec<FunctionOutcome>,
    /// The edits of all functions together, re-analyzed and found clean; `None` if there is nothing to insert.
    pub fix: Option<Fix>,
}

impl Outcome {
    /// How many ops the fix inserts.
    pub fn inserted(&self) -> usize {
        let counts = self.functions.iter().map(|it| match it.verdict {
            Verdict::Mended { inserted, .. } => inserted,
            Verdict::Legal | Verdict::Refused(_) => 0,
        });
        counts.sum()
    }
}

/// Why there is no answer at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixError {
    /// The edited text was analyzed and is not what was promised; it is not offered. The text says how.
    Unverified(String),
}

impl fmt::Display for FixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FixError::Unverified(how) => {
                write!(f, "the placement did not stand up to re-analysis: {how}")
            }
        }
    }
}

impl std::error::Error for FixError {}

/// Finds the cheapest places for `reduce_noise` in some functions and writes them as edits.
pub fn insert_reduces(
    document: &Document,
    functions: &[Op],
    limits: &Limits,
) -> Result<Outcome, FixError> {
    let _ = limits;
    let functions = functions
        .iter()
        .map(|&function| FunctionOutcome {
            function,
            name: document.function_name(function),
            verdict: Verdict::Refused("placement is not available".into()),
        })
        .collect();
    Ok(Outcome { functions, fix: None })
}
