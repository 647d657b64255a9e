//! Analyses over the ops of `noisy_syntax`: noise by dataflow, the checks on it, and repairs.
//!
//! [`Document`] is the entry: a text with its IR, facts and diagnostics, kept up to date edit by
//! edit. [`repair::repair`] repairs it. Nothing here depends on an editor.

pub mod checks;
pub mod depth;
mod diagnostic;
pub mod diff;
mod document;
pub mod dump;
pub mod effects;
pub mod explain;
pub mod heir;
pub mod integers;
pub mod invariant;
pub mod liveness;
pub mod noise;
mod program;
mod remarks;
pub mod repair;
mod rule;
pub mod same;
pub mod secretness;
pub mod values;

pub use diagnostic::{
    Applicability, Category, Diagnostic, Fix, MAX_DIAGNOSTICS, Related, Repair, Severity, Tag,
    TextEdit, combine, worst,
};
pub use document::Document;
pub use explain::{Assumption, Derivation, Step};
pub use integers::Integers;
pub use integers::constant::Constant;
pub use integers::range::{Bounds, Range};
pub use noise::Noise;
pub use noise::model::{Bits, Growth, GrowthKind, ModelError, ModelSpec, NoiseModel};
pub use noisy_dataflow::{cfg, dense, flow, lattice, sparse, view};
pub use noisy_placement as placement;
pub use placement::Limits;
pub use program::Program;
pub use remarks::Remark;
pub use repair::placement::extract::Objective;
pub use repair::placement::{
    FixError, Fixed, FunctionGroup, FunctionOutcome, GroupProof, Options, Outcome, Price, Standing,
    Verdict, Watch, insert_reduces,
};
pub use rule::Rule;

#[cfg(test)]
mod budget_laws;
#[cfg(test)]
mod call_edit_laws;
#[cfg(test)]
mod call_laws;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod loop_laws;
#[cfg(test)]
mod order_laws;
#[cfg(test)]
mod ordered_edit_laws;
#[cfg(test)]
mod recursion_edit_laws;
#[cfg(test)]
mod recursion_laws;
#[cfg(test)]
mod twin_laws;
