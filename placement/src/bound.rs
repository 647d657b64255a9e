//! Lower bounds: the relaxation over conflict cores, and cuts that tighten it.

pub(crate) mod branch;
pub(crate) mod cores;
pub(crate) mod cost_partition;
mod cost_shares;
pub(crate) mod cut_patterns;
mod deepest_cut;
pub(crate) mod local_cuts;
pub(crate) mod local_problem;
mod partition;
pub(crate) mod relax;
pub(crate) mod tree;
pub(crate) mod workers;
pub(crate) mod zero_half;
