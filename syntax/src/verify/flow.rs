//! Control flow and dominance between the blocks of a region ([`DominatorTree`]).

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::dominance::DominatorTree;
use crate::{Block, Ir, Op, Region};

const NONE: u32 = u32::MAX;

/// The dominator tree of a region with several blocks.
#[derive(Debug, Default)]
pub(super) struct RegionDominators {
    /// The reachable blocks.
    nodes: FxHashMap<Block, DominatorNode>,
    /// The successors of each branch at the time of the computation.
    targets: FxHashMap<Op, SuccessorBlocks>,
}

type SuccessorBlocks = SmallVec<[Option<Block>; 2]>;

/// A block in the dominator tree.
#[derive(Clone, Copy, Debug)]
struct DominatorNode {
    /// The immediate dominator; `None` for the entry.
    idom: Option<Block>,
    /// The range of the preorder numbers of its subtree: the first is that of the block, the second
    /// is exclusive.
    numbers: (u32, u32),
}

impl RegionDominators {
    /// Computes the dominators of a region; `None` if it has only one block. `block_of` returns the
    /// block that contains an op.
    pub(super) fn of(
        ir: &Ir,
        region: Region,
        block_of: &dyn Fn(Op) -> Block,
    ) -> Option<RegionDominators> {
        let blocks = ir.blocks(region);
        if blocks.len() < 2 {
            return None;
        }
        let mut out = RegionDominators::default();
        let number: FxHashMap<Block, u32> =
            blocks.iter().enumerate().map(|(n, &it)| (it, n as u32)).collect();
        let mut successors: Vec<Vec<u32>> = vec![Vec::new(); blocks.len()];
        for (to, &block) in blocks.iter().enumerate() {
            for &(op, _) in &ir.block(block).preds {
                out.targets.entry(op).or_insert_with(|| targets(ir, op));
                if let Some(&from) = number.get(&block_of(op)) {
                    successors[from as usize].push(to as u32);
                }
            }
        }
        let tree = DominatorTree::new(&successors);
        for (at, &block) in blocks.iter().enumerate() {
            if let Some(numbers) = tree.preorder_range(at) {
                let idom = tree.idom(at).map(|it| blocks[it]);
                out.nodes.insert(block, DominatorNode { idom, numbers });
            }
        }
        Some(out)
    }

    pub(super) fn is_reachable(&self, block: Block) -> bool {
        self.nodes.contains_key(&block)
    }

    /// Returns true if every path from the entry to `b` contains `a`. False if one of them is
    /// unreachable.
    pub(super) fn dominates(&self, a: Block, b: Block) -> bool {
        match (self.nodes.get(&a), self.nodes.get(&b)) {
            (Some(a), Some(b)) => a.numbers.0 <= b.numbers.0 && b.numbers.0 < a.numbers.1,
            _ => false,
        }
    }

    /// Returns true if the successors of an op have not changed since the computation.
    pub(super) fn has_same_successors(&self, ir: &Ir, op: Op) -> bool {
        let now = targets(ir, op);
        match self.targets.get(&op) {
            Some(before) => *before == now,
            // An op without a known successor has no entry.
            None => now.iter().all(Option::is_none),
        }
    }
}

fn targets(ir: &Ir, op: Op) -> SuccessorBlocks {
    ir.extra(op).successors.iter().map(|it| it.block).collect()
}

/// Returns the blocks of a region whose dominators have changed. If there were no dominators
/// before, the region had one block. This block may now be any block except the entry, so all
/// blocks except the entry are returned.
pub(super) fn blocks_with_changed_dominators(
    ir: &Ir,
    region: Region,
    before: Option<&RegionDominators>,
    now: Option<&RegionDominators>,
) -> Vec<Block> {
    let blocks = ir.blocks(region);
    let entry = blocks.first().copied();
    let idom = |flow: &RegionDominators, block: Block| flow.nodes.get(&block).map(|it| it.idom);
    let mut order = blocks;
    if let Some(now) = now {
        order.sort_by_key(|it| now.nodes.get(it).map_or(NONE, |it| it.numbers.0));
    }
    let mut out = FxHashSet::default();
    let mut list = Vec::new();
    for block in order {
        let is = now.map_or(Some(None), |flow| idom(flow, block));
        let above = is.flatten().is_some_and(|it| out.contains(&it));
        let stays = match before {
            Some(flow) => is == idom(flow, block),
            None => Some(block) == entry,
        };
        if (above || !stays) && out.insert(block) {
            list.push(block);
        }
    }
    list
}
