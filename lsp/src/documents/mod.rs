//! Open documents. Each has an actor that owns its text, answers queries about it, and searches for
//! a placement while there are no edits.

pub(crate) mod actor;
pub(crate) mod job;
mod pool;
pub(crate) mod search;
