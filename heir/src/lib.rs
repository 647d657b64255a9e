//! Analyses of HEIR programs: levels, polynomials, scales and noise of ciphertexts, in bodies of
//! `secret.generic` and after lowering to `bgv`, `ckks` and `lwe`.
//!
//! [`Solved`] holds the facts of a program and updates them after edits; [`Heir`] answers questions
//! about levels. Each folder uses only those above it in this table:
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
//! ([`Heir::is_level_unchecked`]).

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
pub use annotations::votes::{Mismatch, Resized};
pub use facts::ciphertext::Ciphertexts;
pub use facts::ciphertext::is_secret_argument;
pub use facts::fact::{Ciphertext, Dimension, Level};
pub use facts::known::Heir;
pub use facts::layers::Solved;
pub use facts::noise::HeirNoise;
pub use facts::noise::NoiseBits;
pub use facts::scale::ScaleBits;
pub use facts::scale::Scales;
pub use facts::upkeep::{Touched, Upkept};
pub use facts::value_range::{Ranges, ValueRange, ValueRanges, is_any_stated};
pub use ops::catalogue::{has_op, op_names, version};
pub use ops::placed::Placed;
pub use ops::rules::{decrypts, encrypts, is_bootstrap, known_operands, multiplies};
pub use options::{Latency, Model, Options};
pub use question::{Crossing, Drop, Question, Round, question};
pub use real_range::RealRange;
pub use report::chain::{NumberKind, chain, range_chain};
pub use report::derivation::{Step, Steps, derivation, effect};
pub use report::operation::Operation;
pub use report::operation::swaps_rows;
pub use report::origins::{made_of, stands_on_linalg};
pub use report::quantities::{Quantities, Quantity};
pub use report::sites::{Sight, Sites};
pub use report::underflow::{Recursion, Underflow, Unsettled};
pub use text::annotation::{Annotation, Holder, annotation, lacks_level};
pub use text::faults::{EntryFault, entry_faults};
pub use text::params::{ParamsError, SchemeParams};
pub use text::places::Places;
pub use text::setting::is_mark;
pub use text::setting::{Scheme, Setting};
pub use text::types::is_ciphertext_type as is_secret_type;
pub use verdict::levels::UnequalLevels;
pub use verdict::modulus::OverModulus;
pub use verdict::out_of_range::{Acceptance, OutOfRange};
pub use verdict::plaintexts::Unencoded;
pub use verdict::requirements::{self, Condition, Outcome, Requirement};
pub use verdict::scales::{Cause, Raised, UnequalScales};
pub use verdict::types::Mistyped;
pub use verdict::types::remedy::{Conversion, Remedy};
pub use verdict::unlowered::{Other, Reason, Unlowered};
