//! The changes of an edit.

use crate::{Op, Value};

/// The changes of an edit, for code that keeps facts beside the IR.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Delta {
    /// Ops and labels that are new, were parsed again, or have operands or successors that now
    /// resolve differently; in no particular order, without duplicates, all alive.
    pub changed: Vec<Op>,
    /// Removed ops. Later edits reuse their ids.
    pub removed: Vec<Op>,
    /// Ids that can be reused.
    pub(crate) freed: Vec<Op>,
    /// Values that lost their last use during the edit. Some may have been removed since, or have a
    /// use again.
    pub unused_values: Vec<Value>,
    /// Number of items that were parsed.
    pub n_parsed: usize,
    /// Number of uses that were resolved.
    pub n_linked: usize,
    /// Number of items that were verified.
    pub(crate) n_verified: usize,
    /// Number of bytes of the text that were read.
    pub(crate) n_read: usize,
}
