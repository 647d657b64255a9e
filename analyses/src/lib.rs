//! Analyses over the ops of `noisy_syntax`: noise by dataflow, the checks on it, and repairs.
//!
//! [`Document`] is the entry point: a text with its IR, facts and diagnostics, which each edit
//! updates. [`repair::repair`] repairs it. No part of this crate depends on an editor.

pub mod checks;
mod document;
pub mod dump;
pub mod explain;
pub mod facts;
mod problems;
pub mod program;
pub mod repair;
pub mod report;

pub use checks::rule::Rule;
pub use document::Document;
pub use explain::{Assumption, Derivation, DerivationStep};
pub use facts::noise::Noise;
pub use facts::noise::model::{Bits, Growth, GrowthKind, ModelError, ModelSpec, NoiseModel};
pub use program::Program;
pub use program::fresh_names::FreshNames;
pub use repair::placement::extract::Objective;
pub use repair::placement::{
    FixedFunction, FunctionGroup, FunctionOutcome, GroupProgress, GroupProof, PlacementError,
    PlacementOptions, PlacementOutcome, PlacementVerdict, Price, ProgressCallback, insert_reduces,
};
pub use report::diagnostic::{
    Applicability, Category, Diagnostic, Fix, MAX_DIAGNOSTICS, RelatedLocation, RepairKind,
    Severity, Tag, TextEdit, combine_fixes, most_severe,
};
pub use report::remarks::Remark;

#[cfg(test)]
#[path = "../tests/laws/mod.rs"]
mod laws;
