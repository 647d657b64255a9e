//! The ops that were changed by rewriting, for front ends that show a program while it changes.

use super::Ir;
use crate::{Op, Region};

/// An op that was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IrChange {
    /// The op, or the label of a block. It may have been erased since, and its id may have been
    /// reused.
    pub op: Op,
    /// The region that contains it, or contained it.
    pub region: Region,
    /// True if it was inserted or erased. Otherwise its operands, attributes, successors, arguments
    /// or regions changed.
    pub is_structural: bool,
}

/// Maximum number of recorded changes; they occupy 200 MB.
const MAX_CHANGES: usize = 1 << 24;

impl Ir {
    /// Starts to record changes.
    pub fn record_changes(&mut self) {
        self.changes.get_or_insert_default();
    }

    /// The changes since [`Ir::record_changes`], in order; `None` if recording is off, or if there
    /// were too many changes.
    pub fn changes(&self) -> Option<&[IrChange]> {
        self.changes.as_deref()
    }

    /// Records that an op changed or, if `is_placed`, that it was inserted or erased.
    #[inline]
    pub(crate) fn record_change(&mut self, op: Op, is_placed: bool) {
        let Some(changes) = &mut self.changes else { return };
        let region = self.ops[op.index()].parent;
        changes.push(IrChange { op, region, is_structural: is_placed });
        if changes.len() > MAX_CHANGES {
            self.changes = None;
        }
    }
}
