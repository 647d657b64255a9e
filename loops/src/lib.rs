//! Exact dependences between iterations of loops, and the transformations that they allow.
//!
//! [`Body`] reads a function once and keeps its loops, guards, loads and stores as affine forms.
//! [`dependences`] queries [`noisy_polyhedra`] for each pair of accesses. [`Legality`] checks
//! transformations. The crate is independent of editors and of the command line.

mod body;
mod dependence;
mod domain;
pub mod dump;
pub mod edit;
mod form;
mod instances;
mod joint;
mod legality;
mod memory;
pub mod nest;
mod refusal;
pub mod space;

pub use body::{Access, Body, Constraint, Loop, Scope, ScopeKind, Why, results_and_operands};
pub use dependence::{
    Dependence, DependenceKind, Dependences, Limits, MOST_PAIRED, Unknown, dependences,
};
pub use domain::{stays_inside, surely_runs};
pub use form::{Form, NotAffine, Quotient, Quotients, Term};
pub use instances::{Condition, Differs, InstancePart, Instances, Time, instances};
pub use joint::Joint;
pub use legality::{Legality, Obstacle};
pub use memory::{Aliasing, Meeting, MemoryOrigin, MemrefView};
pub use noisy_polyhedra::Interval;
