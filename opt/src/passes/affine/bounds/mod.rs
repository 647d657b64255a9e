//! Passes on bounds and maps, and the lowering of loops.

pub(crate) mod lower;
pub(crate) mod normalize;
pub(crate) mod simplify;
