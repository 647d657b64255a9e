//! What is reported beyond the grammar, one file per code. Each file opens with the code, its documentation and an example;
//! `docs/diagnostics.md` is made from those comments.

mod noise_grows;
mod noise_overflow;
mod redundant_reduce;

use crate::{Category, Diagnostic, Document, Severity};

/// A check.
#[derive(Debug)]
pub struct Check {
    /// The code of its diagnostics.
    pub code: &'static str,
    /// Their family.
    pub category: Category,
    /// How bad they are.
    pub severity: Severity,
    /// Adds what it finds.
    pub run: fn(&Document, &mut Vec<Diagnostic>),
}

/// All checks.
pub const ALL: &[Check] = &[noise_overflow::CHECK, noise_grows::CHECK, redundant_reduce::CHECK];
