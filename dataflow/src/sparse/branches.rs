//! Branches and labels as of their last visit. After an edit, these tables still contain the blocks
//! that the former branches fed.

use noisy_syntax::{Block, Op, Region};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Target blocks of a branch.
pub(super) type Targets = SmallVec<[Block; 2]>;

/// Targets of branches, positions of labels, and regions with cycles, as of the last visit.
#[derive(Debug, Default)]
pub(super) struct Branches {
    /// Regions with a backward branch.
    pub(super) cyclic: FxHashSet<Region>,
    pub(super) targets: FxHashMap<Op, Targets>,
    /// Region and block of each label.
    pub(super) labels: FxHashMap<Op, (Region, Block)>,
    /// The label at the start of each region that has one there.
    pub(super) first_labels: FxHashMap<Region, Op>,
}

impl Branches {
    pub(super) fn first_label(&self, region: Region) -> Option<Op> {
        self.first_labels.get(&region).copied()
    }
}
