//! Analyses of HEIR programs: levels, polynomials, scales and noise of ciphertexts, in bodies of
//! `secret.generic` and after lowering to `bgv`, `ckks` and `lwe`.
//!
//! [`LowerLayers`] holds the facts of integers and of levels and updates them after edits;
//! [`CiphertextFacts`] answers questions about levels. Each folder uses only those above it in this
//! table:
//!
//! | folder | content |
//! |---|---|
//! | `options.rs` | options of the user |
//! | `real_range.rs` | intervals of real numbers |
//! | `text/` | reads annotations, types and the attributes of modules |
//! | `ops/` | the ops of HEIR and their rules |
//! | `facts/` | the analyses: levels and polynomials, scales, noise, ranges of values |
//! | `annotations/` | compares annotations with the facts |
//! | `verdict/` | the requirements of HEIR's lowering |
//! | `question.rs` | placement of relinearizations and bootstraps, as a problem for the optimizer |
//! | `report/` | problems and explanations for users |
//!
//! *Law.* The analyses are dataflow analyses of [`noisy_dataflow`]: a fact, a lattice, a transfer
//! function. A number that depends on the order in which HEIR visits ops is not checked
//! ([`CiphertextFacts::is_level_unchecked`]).

mod annotations;
mod facts;
mod ops;
pub mod options;
mod question;
mod real_range;
mod report;
mod text;
mod verdict;

pub use annotations::scales::ScaleFault;
pub use annotations::votes::{DimensionMismatch, LevelMismatch};
pub use facts::ciphertext::CiphertextAnalysis;
pub use facts::ciphertext::is_secret_argument;
pub use facts::ciphertext_facts::CiphertextFacts;
pub use facts::fact::{Ciphertext, Dimension, Level};
pub use facts::incremental::{AffectedByEdit, HeirEdit};
pub use facts::lower_layers::LowerLayers;
pub use facts::noise::HeirNoise;
pub use facts::noise::HeirNoiseAnalysis;
pub use facts::scale::ScaleAnalysis;
pub use facts::scale::ScaleFacts;
pub use facts::value_range::{ValueRange, ValueRangeAnalysis, ValueRangeFacts, has_stated_ranges};
pub use ops::catalogue::{heir_op_names, heir_version, is_heir_op};
pub use ops::placed::PlacedOp;
pub use ops::rules::{
    facts_of_operands, is_bootstrap, is_decryption, is_encryption, is_scale_product,
};
pub use options::{HeirOptions, NoiseModelName, OperationLatency};
pub use question::{CallCheck, CarriedNodes, LevelDrop, PlacementProblem, placement_problem};
pub use real_range::RealRange;
pub use report::chain::{NumberKind, number_chain, range_chain};
pub use report::derivation::{CiphertextDerivation, CiphertextStep, derivation, describe_effect};
pub use report::operation::SchemeOperation;
pub use report::operation::is_row_swap;
pub use report::origins::{is_derived_from_linalg, source_values};
pub use report::quantities::{CiphertextNumbers, ProgramNumbers};
pub use report::sites::{HeirFacts, ReportSites};
pub use report::underflow::{LevelUnderflow, NoLevelReason, RecursiveCall};
pub use text::annotation::{Annotation, AnnotationHolder, annotation, has_unreadable_level};
pub use text::faults::{EntryFault, entry_faults};
pub use text::params::{ParamsError, SchemeParams};
pub use text::places::AnnotationPlaces;
pub use text::setting::is_heir_marker;
pub use text::setting::{ModuleSetting, Scheme};
pub use text::types::has_ciphertext_type as is_secret_type;
pub use verdict::levels::UnequalLevels;
pub use verdict::modulus::OverModulus;
pub use verdict::out_of_range::{OutOfRange, RangeReason};
pub use verdict::plaintexts::UnencodedPlaintext;
pub use verdict::requirements::{self, Condition, Consequence, Requirement};
pub use verdict::scales::{RaisedOperand, ScaleCause, UnequalScales};
pub use verdict::types::TypeContradiction;
pub use verdict::types::remedy::{CiphertextConversion, TypeRemedy};
pub use verdict::unlowered::{RelatedPlace, Unlowered, UnloweredReason};
