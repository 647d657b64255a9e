//! Noise: growth rules, facts, and the values at which noise first exceeds the budget.
//!
//! | file | contents |
//! |---|---|
//! | `model.rs` | the table of growth rules, as data |
//! | `fact.rs` | the bound on the noise of a value |
//! | `contract.rs` | bounds that functions state |
//! | `analysis.rs` | the transfer function: the table applied to every op |
//! | `findings.rs` | the values that first exceed the budget, and the loops with growing noise |

mod analysis;
pub mod contract;
mod fact;
mod findings;
pub mod model;

pub use analysis::NoiseAnalysis;
pub use fact::Noise;
pub use findings::{Findings, GrowingLoop, Overflow};
