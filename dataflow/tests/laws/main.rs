//! Laws of the solver on random programs.

#[path = "../../src/random.rs"]
mod random;
mod reads;
