//! Exact dependences between iterations of loops, and the transformations that they allow.
//!
//! [`FunctionBody`] reads a function once and keeps its loops, guards, loads and stores as affine
//! forms. [`dependences`] queries [`noisy_polyhedra`] for each pair of accesses. [`Legality`]
//! checks transformations. The crate is independent of editors and of the command line.

mod body;
mod dependence;
mod domain;
pub mod dump;
pub mod edit;
mod form;
mod instances;
mod legality;
mod memory;
pub mod nest;
mod refusal;
pub mod space;

pub use body::joint::JointSystem;
pub use body::{
    Access, AnalysisFailure, Constraint, FunctionBody, LoopScope, NestLoop, ScopeKind,
    results_and_operands_in,
};
pub use dependence::{
    Dependence, DependenceKind, DependenceLimits, Dependences, MAX_PAIRED_ACCESSES, UnknownPair,
    dependences,
};
pub use domain::{is_in_bounds_without, is_surely_run};
pub use form::{LinearForm, LinearTerm, NotAffine, Quotient, Quotients};
pub use instances::{
    AccessTime, InstancePairs, InstancePart, TimeCondition, TimeDifference, instance_pairs,
};
pub use legality::{Legality, Obstacle};
pub use memory::{AliasAssumptions, AliasRelation, MemoryOrigin, MemrefView};
pub use noisy_polyhedra::FormInterval;
