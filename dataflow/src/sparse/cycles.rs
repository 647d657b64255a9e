//! Cycles: loops (`loops.rs`, with the rounds in `iteration.rs`) and blocks with backward branches
//! (`blocks.rs`).

mod blocks;
mod iteration;
mod loops;

pub(super) use blocks::{BlockCycle, SaturatedPolicy};

use noisy_syntax::Region;
use smallvec::SmallVec;

use super::CycleRound;

/// Number of rounds of a cycle before changing facts are widened.
pub(super) const EXACT_ROUNDS: u64 = 2;

/// A pass over blocks of a region with backward branches.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPass {
    pub(super) region: Region,
    /// Tick at the start of the pass.
    pub(super) start: u32,
    /// Number of the pass, from 1; 0 for a block outside of all cycles.
    pub(super) number: u64,
}

/// The cycles around the op that is being visited.
#[derive(Debug)]
pub(super) struct CycleState<F> {
    /// Rounds of the cycles that are being iterated, outermost first.
    pub(super) rounds: SmallVec<[CycleRound; 2]>,
    pub(super) passes: SmallVec<[BlockPass; 2]>,
    /// Cycles of blocks, outermost first.
    pub(super) block_cycles: Vec<BlockCycle<F>>,
    /// Number of visits that are left to the outermost cycle.
    pub(super) fuel: u64,
    /// Visits before this tick were not part of the iteration of the outermost cycle; 0 outside.
    pub(super) start: u32,
    /// True if carried facts are unknown because the fuel ran out.
    pub(super) is_degraded: bool,
}

impl<F> Default for CycleState<F> {
    fn default() -> Self {
        Self {
            rounds: SmallVec::new(),
            passes: SmallVec::new(),
            block_cycles: Vec::new(),
            fuel: 0,
            start: 0,
            is_degraded: false,
        }
    }
}

impl<F> CycleState<F> {
    pub(super) fn is_inside(&self) -> bool {
        !self.rounds.is_empty() || !self.passes.is_empty()
    }
}
