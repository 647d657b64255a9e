//! HEIR's programs: what is known of ciphertexts in `secret.generic` bodies and after lowering to `bgv`, `ckks` and `lwe`.
//!
//! | file | what |
//! |---|---|
//! | `scheme.rs`, `types.rs` | what modules say of scheme, parameters and library, and types of ciphertexts |
//! | `catalogue.rs`, `rows.rs` | HEIR's ops, and what each does to levels and dimensions |
//! | `ciphertext.rs` | levels and dimensions by dataflow |
//! | `loops.rs` | what loops carry with another level than they take it |
//! | `clients.rs` | levels of what functions of the client get and give |
//! | `question.rs` | where to relinearize and to bootstrap, as a question to the optimizer |
//! | `movers.rs` | what ciphertexts come back from otherwise |
//! | `unclear.rs` | what has no level in HEIR, as it does not know whether it is secret |
//! | `wild.rs` | what may have other polynomials in HEIR |
//! | `plaintext.rs` | the level that a plaintext is needed at |
//! | `params.rs`, `log2.rs`, `bits.rs` | noise models as functions on numbers |
//! | `entries.rs` | the text of attributes and types, by tokens |
//! | `base.rs`, `places.rs` | the level that is left for a value, what `mgmt.mgmt` says, and where it stands |
//! | `noise.rs`, `scale.rs` | noise in bits and scales by dataflow |
//! | `underflow.rs`, `chain.rs` | where levels run out, and how a value came to its level |
//! | `surplus.rs`, `annotation.rs`, `scale_rules.rs`, `unreadable.rs` | where relinearizations are missing, and annotations wrong |
//! | `upkeep.rs`, `header.rs`, `solved.rs`, `sites.rs` | what edits change: of levels, of what stands on them, of what is reported |
//! | `quantities.rs`, `derivation.rs` | all that is known of a value, and how it came about, for an editor |
//! | `work.rs` | what ops are to the one who runs them |

mod annotations;
mod facts;
mod ops;
pub mod options;
mod question;
mod report;
mod text;

pub use annotations::scales::ScaleFault;
pub use annotations::votes::{Mismatch, Resized};
pub use facts::ciphertext::Ciphertexts;
pub use facts::ciphertext::is_secret_argument;
pub use facts::ciphertext::{Ciphertext, Dimension, Level, Unchecked};
pub use facts::known::Heir;
pub use facts::layers::Solved;
pub use facts::noise::HeirNoise;
pub use facts::noise::NoiseBits;
pub use facts::scale::ScaleBits;
pub use facts::scale::Scales;
pub use facts::upkeep::{Touched, Upkept};
pub use ops::catalogue::version;
pub use ops::placed::Placed;
pub use ops::rules::{decrypts, encrypts, is_bootstrap, known, multiplies};
pub use options::{Latency, Model, Options};
pub use question::{Crossing, Drop, Question, Round, question};
pub use report::chain::{Of, chain};
pub use report::derivation::{Step, Steps, derivation, effect};
pub use report::operation::Work;
pub use report::operation::swaps_rows;
pub use report::quantities::{Quantities, Quantity};
pub use report::sites::{Sight, Sites, made_of, stands_on_linalg};
pub use report::underflow::{Recursion, Underflow, Unsettled};
pub use text::annotation::{Annotation, Holder, annotation};
pub use text::params::{ParamsError, SchemeParams};
pub use text::places::Places;
pub use text::setting::is_mark;
pub use text::setting::{Scheme, Setting};
pub use text::types::is_ciphertext_type as is_secret_type;
