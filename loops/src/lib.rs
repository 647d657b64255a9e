//! Loops: which iterations depend on which, exactly, and what may therefore be done with them.
//!
//! [`Body`] reads a function once: loops, guards, loads and stores as affine forms. [`dependences`] asks [`noisy_polyhedra`] about
//! each pair of accesses. Nothing here knows editors or the command line.

mod body;
mod dependence;
pub mod dump;
mod form;
mod memory;

pub use body::{Access, Body, Constraint, Kind, Loop, Scope, Why};
pub use dependence::{Dependence, Dependences, Flow, Limits, Unknown, dependences};
pub use form::{Form, NotAffine, Quotient, Quotients, Term};
pub use memory::{Aliasing, Meeting, Place, Root};
pub use noisy_polyhedra::Interval;
