//! How often each block of a function is executed, as far as the text tells.
//!
//! Weights are in units of 1 / [`UNIT`] executions of the function. A loop multiplies by its trip count, [`UNKNOWN_TRIPS`] where the text
//! does not say; a branch divides by the number of ways it may go, those that a constant condition rules out not counted. For cycles of
//! blocks a branch that can leave the cycle does so once in [`UNKNOWN_TRIPS`] rounds. Estimates for a choice among
//! legal placements: nothing that is legal depends on them. They saturate, and are at least 1.

use noisy_syntax::{Block, Ir, Op, Region};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::{self, Flow};
use crate::integer::Integers;

/// How often a loop is taken to run when the text does not say.
pub const UNKNOWN_TRIPS: u64 = 10;

/// The weight of what is executed once. Halves down to the sixth, thirds and fifths of it are whole.
pub(super) const UNIT: u64 = 960;

/// With more blocks than this a region counts as if it had no branches: finding its loops takes the square of their number.
const MOST_BLOCKS: usize = 5000;

/// The weight of each block of a function.
#[derive(Debug, Default)]
pub(super) struct Weights {
    blocks: FxHashMap<Block, u64>,
    is_plain: bool,
}

impl Weights {
    /// The weights in a region that is entered once. If `is_plain`, all blocks weigh the same.
    pub(super) fn new(ir: &Ir, integers: &Integers, region: Region, is_plain: bool) -> Weights {
        let mut it = Weights { blocks: FxHashMap::default(), is_plain };
        let mut stack = vec![(region, UNIT)];
        while let Some((region, weight)) = stack.pop() {
            let blocks = ir.blocks(region);
            it.region(ir, integers, &blocks, weight);
            for block in blocks {
                let weight = it.of(block);
                for op in ir.block_ops(block) {
                    for &(_, inner) in &ir.op(op).regions {
                        stack.push((inner, it.within(ir, integers, op, weight)));
                    }
                }
            }
        }
        it
    }

    /// The weight of a block.
    pub(super) fn of(&self, block: Block) -> u64 {
        self.blocks.get(&block).copied().unwrap_or(UNIT)
    }

    /// The weight of the regions of an op.
    fn within(&self, ir: &Ir, integers: &Integers, op: Op, weight: u64) -> u64 {
        if self.is_plain {
            return weight;
        }
        let weight = match Flow::of(ir, op) {
            Flow::For { .. } | Flow::Parallel { .. } => {
                weight.saturating_mul(integers.trip_count(ir, op).unwrap_or(UNKNOWN_TRIPS))
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

    /// The blocks of one region, from the weight of its entry.
    fn region(&mut self, ir: &Ir, integers: &Integers, blocks: &[Block], weight: u64) {
        let cfg = match blocks {
            [_, _, ..] if !self.is_plain && blocks.len() <= MOST_BLOCKS => {
                Cfg::new(ir, integers, blocks)
            }
            _ => {
                self.blocks.extend(blocks.iter().map(|&block| (block, weight)));
                return;
            }
        };
        let mut weights = vec![0_u64; blocks.len()];
        weights[0] = weight;
        for &b in &cfg.order {
            if cfg.loops[b].is_some() {
                weights[b] = weights[b].saturating_mul(UNKNOWN_TRIPS);
            }
            let leaves: Vec<bool> = cfg.targets[b].iter().map(|&to| cfg.leaves(b, to)).collect();
            let n_leaving = leaves.iter().filter(|it| **it).count() as u64;
            let n_staying = leaves.len() as u64 - n_leaving;
            for (&to, leaves) in cfg.targets[b].iter().zip(leaves) {
                let part = match (leaves, n_staying) {
                    (true, 1..) => weights[b] / UNKNOWN_TRIPS / n_leaving,
                    (true, 0) => weights[b] / n_leaving,
                    (false, _) if n_leaving == 0 => weights[b] / n_staying,
                    (false, _) => (weights[b] - weights[b] / UNKNOWN_TRIPS) / n_staying,
                };
                if cfg.place[to] > cfg.place[b] {
                    weights[to] = weights[to].saturating_add(part);
                }
            }
        }
        self.blocks.extend(blocks.iter().zip(&weights).map(|(&block, &it)| (block, it.max(1))));
    }
}

/// The blocks of a region and where they go.
struct Cfg {
    targets: Vec<Vec<usize>>,
    /// Reverse postorder of what the entry reaches.
    order: Vec<usize>,
    /// Places in `order`; 0 for what is not reached.
    place: Vec<usize>,
    /// The blocks of the loop that a block heads.
    loops: Vec<Option<FxHashSet<usize>>>,
}

impl Cfg {
    fn new(ir: &Ir, integers: &Integers, blocks: &[Block]) -> Cfg {
        let number: FxHashMap<Block, usize> =
            blocks.iter().enumerate().map(|(i, &block)| (block, i)).collect();
        let targets: Vec<Vec<usize>> = blocks
            .iter()
            .map(|&block| {
                let Some(op) = ir.last_op(block) else { return Vec::new() };
                let successors = ir.rest(op).successors.iter().enumerate();
                let live = successors.filter(|(index, _)| integers.may_take(ir, op, *index));
                live.filter_map(|(_, it)| number.get(&it.block?).copied()).collect()
            })
            .collect();
        let mut order = Vec::new();
        let mut seen = vec![false; blocks.len()];
        let mut stack = vec![(0, 0)];
        seen[0] = true;
        while let Some((b, next)) = stack.last_mut() {
            match targets[*b].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        stack.push((to, 0));
                    }
                }
                None => {
                    order.push(*b);
                    stack.pop();
                }
            }
        }
        order.reverse();
        let mut place = vec![0; blocks.len()];
        for (i, &b) in order.iter().enumerate() {
            place[b] = i;
        }
        let mut cfg = Cfg { targets, order, place, loops: vec![None; blocks.len()] };
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
        for &b in &cfg.order {
            for &to in &cfg.targets[b] {
                sources[to].push(b);
            }
        }
        for i in 0..cfg.order.len() {
            let head = cfg.order[i];
            let mut stack: Vec<usize> =
                sources[head].iter().copied().filter(|&it| cfg.place[it] >= i).collect();
            if stack.is_empty() {
                continue;
            }
            let mut body: FxHashSet<usize> = FxHashSet::default();
            body.insert(head);
            while let Some(b) = stack.pop() {
                if body.insert(b) {
                    stack.extend(sources[b].iter().copied().filter(|&it| cfg.place[it] >= i));
                }
            }
            cfg.loops[head] = Some(body);
        }
        cfg
    }

    /// Whether a branch leaves a loop.
    fn leaves(&self, from: usize, to: usize) -> bool {
        self.loops.iter().flatten().any(|body| body.contains(&from) && !body.contains(&to))
    }
}
