//! Noise: how it grows, what is known of it, and where it first goes over the budget.
//!
//! | file | what |
//! |---|---|
//! | `model.rs` | the one table of how noise grows, as data |
//! | `fact.rs` | the range that the noise of a value lies in |
//! | `contract.rs` | what functions promise and demand |
//! | `analysis.rs` | the transfer function: the table applied to every op |
//! | `findings.rs` | where the budget is first exceeded, and which loops add noise without end |

mod analysis;
pub mod contract;
mod fact;
mod findings;
pub mod model;

pub use analysis::NoiseAnalysis;
pub use fact::Noise;
pub use findings::{Findings, Growing, Root};
