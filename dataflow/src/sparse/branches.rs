//! Branches and labels as they were when the solver last visited them: an edit changes the ops, and
//! these tables tell what the former ones fed.

use noisy_syntax::{Block, Op, Region};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Blocks that a branch goes to.
pub(super) type Targets = SmallVec<[Block; 2]>;

/// Targets of branches, places of labels, and regions with cycles, at the last visit.
#[derive(Debug, Default)]
pub(super) struct Branches {
    /// Regions with a branch that goes backward.
    pub(super) cyclic: FxHashSet<Region>,
    pub(super) targets: FxHashMap<Op, Targets>,
    /// Region and block of each label.
    pub(super) labels: FxHashMap<Op, (Region, Block)>,
    /// Label that each region starts with.
    pub(super) first_labels: FxHashMap<Region, Op>,
}

impl Branches {
    pub(super) fn first_label(&self, region: Region) -> Option<Op> {
        self.first_labels.get(&region).copied()
    }
}
