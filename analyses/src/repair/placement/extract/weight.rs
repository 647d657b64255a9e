//! Estimated number of executions of each block of a function.
//!
//! Weights are in units of 1 / [`UNIT`] executions of the program. A loop multiplies the weight by
//! its trip count; if that is unknown, by the possible trip count nearest to [`UNKNOWN_TRIPS`]. A
//! branch divides the weight by the number of its possible successors. A branch that can leave a
//! cycle of blocks does so once in [`UNKNOWN_TRIPS`] iterations. Weights choose among legal
//! placements; legality does not depend on them. They saturate, and are at least 1.

use noisy_syntax::{Block, Ir, Op, Region};
use rustc_hash::FxHashMap;

use noisy_dataflow::cfg::{Cfg, NaturalLoops};
use noisy_dataflow::flow::{self, Flow};
use noisy_integers::Integers;

/// Estimate of an unknown trip count.
pub(crate) const UNKNOWN_TRIPS: u64 = 10;

/// The weight of a block that is executed once. It is divisible by 2^6, 3 and 5, so that branches
/// divide it without rounding.
pub(in crate::repair::placement) const UNIT: u64 = 960;

/// Maximum number of blocks of a region in which branches count: each branch needs the enclosing
/// loops of both of its ends. In a larger region, all blocks have the weight of the entry.
const MAX_BLOCKS: usize = 5000;

/// The weight of each block of a function.
#[derive(Clone, Debug, Default)]
pub(in crate::repair::placement) struct Weights {
    blocks: FxHashMap<Block, u64>,
    is_uniform: bool,
}

impl Weights {
    /// Adds the blocks of a region, given the weight of its entry. If `is_plain`, all blocks have
    /// this weight.
    pub(in crate::repair::placement) fn add(
        &mut self,
        ir: &Ir,
        integers: &Integers,
        region: Region,
        entry: u64,
        is_plain: bool,
    ) {
        self.is_uniform = is_plain;
        let mut stack = vec![(region, entry)];
        while let Some((region, weight)) = stack.pop() {
            let blocks = ir.blocks(region);
            self.region(ir, integers, region, &blocks, weight);
            for block in blocks {
                let weight = self.of(block);
                for op in ir.block_ops(block) {
                    let regions = &ir.op(op).regions;
                    if regions.is_empty() {
                        continue;
                    }
                    let within = self.within(ir, integers, op, weight);
                    stack.extend(regions.iter().map(|&(_, inner)| (inner, within)));
                }
            }
        }
    }

    /// Returns the weight of a block.
    pub(in crate::repair::placement) fn of(&self, block: Block) -> u64 {
        self.blocks.get(&block).copied().unwrap_or(UNIT)
    }

    /// Returns the weight of the regions of an op with a weight.
    fn within(&self, ir: &Ir, integers: &Integers, op: Op, weight: u64) -> u64 {
        if self.is_uniform {
            return weight;
        }
        let weight = match Flow::of(ir, op) {
            Flow::For { .. } | Flow::Parallel { .. } => {
                let trips = integers.trips(ir, op);
                let most = trips.most.unwrap_or(u64::MAX);
                weight.saturating_mul(UNKNOWN_TRIPS.clamp(trips.least.min(most), most))
            }
            Flow::While | Flow::Forall { .. } => weight.saturating_mul(UNKNOWN_TRIPS),
            Flow::Choice => {
                let n = ir.op(op).regions.len();
                let ways = (0..n).filter(|&it| integers.may_take(ir, op, it)).count();
                let skips = usize::from(flow::may_skip(ir, op) && integers.may_take(ir, op, n));
                weight / (ways + skips).max(1) as u64
            }
            Flow::Plain | Flow::Function | Flow::Group | Flow::Reduce | Flow::Opaque => weight,
        };
        weight.max(1)
    }

    /// Adds the blocks of a region without nested regions, given the weight of its entry.
    fn region(
        &mut self,
        ir: &Ir,
        integers: &Integers,
        region: Region,
        blocks: &[Block],
        weight: u64,
    ) {
        if self.is_uniform || blocks.len() < 2 || blocks.len() > MAX_BLOCKS {
            self.blocks.extend(blocks.iter().map(|&block| (block, weight)));
            return;
        }
        let cfg = Cfg::with_branches(ir, region, |op, index| integers.may_take(ir, op, index));
        let tree = cfg.dominators();
        let loops = NaturalLoops::new(&cfg, &tree);
        let mut order = cfg.postorder();
        order.retain(|&it| tree.is_reachable(it as usize));
        order.reverse();
        let mut place = vec![0; blocks.len()];
        for (i, &b) in order.iter().enumerate() {
            place[b as usize] = i;
        }
        let mut weights = vec![0_u64; blocks.len()];
        weights[0] = weight;
        for &b in &order {
            let b = b as usize;
            let inner = loops.innermost(b);
            if inner.is_some_and(|it| it.head as usize == b) {
                weights[b] = weights[b].saturating_mul(UNKNOWN_TRIPS);
            }
            // An edge that leaves an outer loop also leaves the innermost one.
            let leaves = |to: u32| {
                inner.is_some_and(|it| loops.around(to as usize).all(|of| of.head != it.head))
            };
            let targets = &cfg.successors[b];
            let n_leaving = targets.iter().filter(|&&to| leaves(to)).count() as u64;
            let n_staying = targets.len() as u64 - n_leaving;
            for &to in targets {
                let part = match (leaves(to), n_staying) {
                    (true, 1..) => weights[b] / UNKNOWN_TRIPS / n_leaving,
                    (true, 0) => weights[b] / n_leaving,
                    (false, _) if n_leaving == 0 => weights[b] / n_staying,
                    (false, _) => (weights[b] - weights[b] / UNKNOWN_TRIPS) / n_staying,
                };
                let to = to as usize;
                if place[to] > place[b] {
                    weights[to] = weights[to].saturating_add(part);
                }
            }
        }
        self.blocks.extend(blocks.iter().zip(&weights).map(|(&block, &it)| (block, it.max(1))));
    }
}
