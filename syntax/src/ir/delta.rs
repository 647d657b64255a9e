//! The changes of an edit.

use crate::{Op, Value};

/// The changes of an edit, for users who keep facts beside the IR.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Delta {
    /// Ops (and labels) that are new, were written anew, or whose operands or successors now mean
    /// something else; in no particular order, each once, all alive.
    pub changed: Vec<Op>,
    /// Ops that left. Their ids are used again by later edits.
    pub removed: Vec<Op>,
    /// Ids to be used again.
    pub(crate) freed: Vec<Op>,
    /// Values that lost a use and had, at that moment, no other; some may have one now, or have
    /// left.
    pub idle: Vec<Value>,
    /// Items that were parsed.
    pub n_parsed: usize,
    /// Uses that were resolved.
    pub n_linked: usize,
    /// Items that were verified.
    pub(crate) n_verified: usize,
    /// Bytes of the text that were read.
    pub(crate) n_read: usize,
}
