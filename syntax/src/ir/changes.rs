//! The ops that rewriting changed, for front ends that show a program as it changes.

use super::Ir;
use crate::{Op, Region};

/// An op that was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The op, or the label of a block. It may be erased by now, or another one.
    pub op: Op,
    /// The region that contains it, or contained it.
    pub region: Region,
    /// True if it was inserted or erased. Otherwise its operands, attributes, successors, arguments
    /// or regions changed.
    pub is_placed: bool,
}

/// Maximum number of changes that are noted: 200 MB.
const MOST: usize = 1 << 24;

impl Ir {
    /// From now on changes are noted.
    pub fn note_changes(&mut self) {
        self.changes.get_or_insert_default();
    }

    /// The changes since [`Ir::note_changes`], in order; `None` if none are recorded, or there were
    /// too many.
    pub fn changes(&self) -> Option<&[Change]> {
        self.changes.as_deref()
    }

    /// Notes that an op is another one, or (`is_placed`) that it is put into its region or taken
    /// out.
    #[inline]
    pub(crate) fn note_change(&mut self, op: Op, is_placed: bool) {
        let Some(changes) = &mut self.changes else { return };
        let region = self.ops[op.index()].parent;
        changes.push(Change { op, region, is_placed });
        if changes.len() > MOST {
            self.changes = None;
        }
    }
}
