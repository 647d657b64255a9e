//! Laws of the solver on random programs.

mod calls;
#[path = "../../src/random.rs"]
mod random;
mod reads;
