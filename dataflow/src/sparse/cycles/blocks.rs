//! Regions with branches backward in the text: the order of their blocks, and the passes over their
//! cycles.
//!
//! *Order.* The strongly connected components of the graph of blocks are visited in topological
//! order, and the blocks of each in reverse postorder. A dominated block comes after its
//! dominators, so a component of one block without a branch to itself is visited once, in any
//! textual order of the blocks. Any other component is a cycle. It is visited in passes until a
//! pass changes nothing, and the new facts of block arguments are joined with the old ones. A
//! *head* is a block of a cycle with a backward branch to it in this order, so every path around
//! the cycle contains a head. Changing facts are widened at heads, and unbounded growth is reported
//! there.

use noisy_syntax::{Block, Ir, Op, OpKind, Region};
use rustc_hash::{FxHashMap, FxHashSet};

use super::BlockPass;
use crate::cfg::Cfg;
use crate::flow;
use crate::lattice::{Changed, Lattice};
use crate::sparse::{
    AnalysisInput, CycleRound, GrowthTrace, Observer, SparseForward, SparseSolver, ancestor_in,
};

/// Number of passes in which saturated facts may still change before they become unbounded.
const MAX_FREE_PASSES: u64 = 16;

/// Treatment of saturated facts that change in a cycle of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sparse) enum SaturatedPolicy {
    /// They keep their values.
    Fixed,
    /// They may change for some passes, because they may stop by themselves.
    Free,
    /// They become unbounded.
    Unbounded,
}

/// The passes over a cycle of blocks.
#[derive(Debug)]
pub(in crate::sparse) struct BlockCycle<F> {
    pub(in crate::sparse) region: Region,
    pub(in crate::sparse) saturated: SaturatedPolicy,
    /// Changes of arguments of heads, in order: label, index, pass and new fact.
    pub(in crate::sparse) moves: Vec<(Op, usize, u64, F)>,
    /// Arguments with saturated facts that would change in this pass.
    pub(in crate::sparse) open: Vec<(Op, usize)>,
    /// Indices of the blocks in the order of the cycle.
    places: FxHashMap<Block, u32>,
}

impl<F> BlockCycle<F> {
    /// Returns true if one of these branches to a block is backward in the order of the cycle.
    pub(in crate::sparse) fn is_head(&self, ir: &Ir, block: Block, edges: &[(Op, usize)]) -> bool {
        edges.iter().any(|&(op, _)| self.is_back_edge(ir, block, op))
    }

    /// Returns true if a branch to a block is backward in the order of the cycle.
    fn is_back_edge(&self, ir: &Ir, block: Block, branch: Op) -> bool {
        let from = self.places.get(&ir.block_of(branch));
        from.is_some_and(|from| self.places.get(&block).is_some_and(|to| to <= from))
    }
}

impl<A: SparseForward, O: Observer<A>> SparseSolver<A, O> {
    /// Visits the items of a region with a backward branch. The facts of the arguments of its entry
    /// are already set.
    #[inline(never)]
    pub(in crate::sparse) fn run_blocks(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        holder: Op,
        region: Region,
        live: bool,
    ) {
        let owner = self.refuel(ir, holder);
        let cfg = Cfg::new(ir, region);
        let items: Vec<Op> = ir.items(region).collect();
        // Index of the first item of each block; the implicit entry starts without a label.
        let is_label = |op: &Op| ir.op(*op).kind == OpKind::Label;
        let mut starts: Vec<usize> = (0..items.len()).filter(|&it| is_label(&items[it])).collect();
        if starts.len() < cfg.blocks.len() {
            starts.insert(0, 0);
        }
        starts.push(items.len());
        let mut ops: Vec<Op> = Vec::new();
        for component in cfg.components() {
            let blocks = component.iter().map(|&it| it as usize);
            ops.clear();
            ops.extend(blocks.flat_map(|it| &items[starts[it]..starts[it + 1]]));
            if cfg.is_cyclic(&component) {
                let blocks = component.iter().zip(0..);
                let places = blocks.map(|(&it, at)| (cfg.blocks[it as usize], at)).collect();
                self.iterate_blocks(ir, holder, region, &ops, places, live);
            } else {
                self.begin(ops.iter().copied());
                self.cycle.passes.push(BlockPass { region, start: self.clock, number: 0 });
                let _ = self.pass(ir, region, ops.iter().copied(), live);
                self.cycle.passes.pop();
            }
        }
        if owner && self.cycle.fuel == 0 {
            self.degrade_blocks(ir, holder, region, live);
        }
    }

    /// Runs a region again with unknown facts of heads. The facts of its entry stay: the op that
    /// runs the region has set them. For the body of a function they are those of the context.
    fn degrade_blocks(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        holder: Op,
        region: Region,
        live: bool,
    ) {
        self.observer.forget(holder);
        let (header, entry) = (ir.region(region).entry, flow::entry_block(ir, region));
        let headers = Some(header).filter(|&it| it != entry);
        for &value in headers.into_iter().chain([entry]).flat_map(|it| &ir.block(it).args) {
            let fact = std::mem::replace(&mut self.facts[value.index()], A::Fact::bottom());
            let _ = self.set(ir, holder, value, fact);
        }
        self.reset_items(ir, region);
        self.run_degraded(holder, |it| it.run_blocks(ir, holder, region, live));
    }

    /// Visits the ops of a cycle of blocks in passes until nothing changes.
    fn iterate_blocks(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        holder: Op,
        region: Region,
        ops: &[Op],
        places: FxHashMap<Block, u32>,
        live: bool,
    ) {
        let (saturated, moves, open) = (SaturatedPolicy::Fixed, Vec::new(), Vec::new());
        self.cycle.block_cycles.push(BlockCycle { region, saturated, moves, open, places });
        let mut unbounded = Vec::new();
        let mut left = MAX_FREE_PASSES;
        for number in 1.. {
            self.begin(ops.iter().copied());
            self.cycle.passes.push(BlockPass { region, start: self.clock, number });
            if number > 1 {
                self.cycle.rounds.push(CycleRound { op: holder, number });
            }
            let fuel = self.cycle.fuel;
            let changed = self.pass(ir, region, ops.iter().copied(), live);
            self.cycle.passes.pop();
            if number > 1 {
                self.cycle.rounds.pop();
            }
            let cost = fuel - self.cycle.fuel;
            if self.cycle.is_degraded {
                if changed == Changed::No {
                    break;
                }
                continue;
            }
            let Some(it) = self.cycle.block_cycles.last_mut() else { break };
            let open = std::mem::take(&mut it.open);
            match it.saturated {
                _ if self.cycle.fuel == 0 => break,
                SaturatedPolicy::Fixed if changed == Changed::Yes => {}
                SaturatedPolicy::Fixed if open.is_empty() => break,
                SaturatedPolicy::Fixed => {
                    left = left.min(open.len() as u64 + 2);
                    if self.cycle.fuel <= cost.saturating_mul(left + 4) {
                        // Too few visits are left to find out if the facts stop by themselves.
                        left = 0;
                    }
                    it.saturated = SaturatedPolicy::Free;
                }
                SaturatedPolicy::Free | SaturatedPolicy::Unbounded
                    if open.is_empty() && changed == Changed::No =>
                {
                    break;
                }
                SaturatedPolicy::Free if left == 0 && !open.is_empty() => {
                    unbounded = open;
                    it.saturated = SaturatedPolicy::Unbounded;
                    self.raise(ir, &unbounded);
                }
                SaturatedPolicy::Free => left = left.saturating_sub(1),
                SaturatedPolicy::Unbounded => {}
            }
        }
        self.report_growth(ir, holder, &unbounded);
    }

    /// Makes arguments of blocks unbounded.
    fn raise(&mut self, ir: &AnalysisInput<'_, A::Base>, open: &[(Op, usize)]) {
        for &(label, index) in open {
            let value = ir.block(ir.label_block(label)).args[index];
            let fact = self.unbounded(&self.facts[value.index()]);
            let _ = self.set(ir, label, value, fact);
        }
    }

    /// Ends the passes over a cycle, and reports unbounded arguments to the observer.
    fn report_growth(
        &mut self,
        ir: &AnalysisInput<'_, A::Base>,
        holder: Op,
        unbounded: &[(Op, usize)],
    ) {
        let Some(block_cycle) = self.cycle.block_cycles.pop() else { return };
        let mut unbounded: FxHashSet<(Op, usize)> = unbounded.iter().copied().collect();
        for (label, index, _, fact) in &block_cycle.moves {
            // A callee may return unbounded facts immediately.
            if self.is_saturated(fact) && self.unbounded(fact) == *fact {
                unbounded.insert((*label, *index));
            }
        }
        if unbounded.is_empty() {
            return;
        }
        let mut growths: Vec<GrowthTrace<A::Fact>> = Vec::new();
        let mut place: FxHashMap<(Op, usize), usize> = FxHashMap::default();
        for (label, index, number, fact) in &block_cycle.moves {
            if unbounded.contains(&(*label, *index)) {
                let at = *place.entry((*label, *index)).or_insert(growths.len());
                if at == growths.len() {
                    growths.push(block_cycle.growth_trace(ir, *label, *index));
                }
                growths[at].changes.push((*number, fact.clone()));
            }
        }
        growths.sort_by_cached_key(|it| (ir.start(it.label), it.index));
        let place = |op: Op| {
            let op = ancestor_in(ir, op, block_cycle.region)?;
            block_cycle.places.get(&ir.block_of(op)).copied()
        };
        let rounds = std::mem::take(&mut self.cycle.rounds);
        self.observer.cycled(&self.analysis, ir, holder, &growths, &place, &rounds);
        self.cycle.rounds = rounds;
    }
}

impl<F> BlockCycle<F> {
    /// Describes the growth of an argument of a head.
    fn growth_trace(&self, ir: &Ir, label: Op, index: usize) -> GrowthTrace<F> {
        let block = ir.label_block(label);
        let start = self.places.get(&block).copied().unwrap_or(0);
        let preds = ir.block(block).preds.iter();
        let mut back: Vec<(Op, usize)> = preds
            .map(|&(op, successor)| (op, successor as usize))
            .filter(|it| self.is_back_edge(ir, block, it.0))
            .collect();
        back.sort_by_cached_key(|it| (ir.start(it.0), it.1));
        let from = back.iter().filter_map(|it| self.places.get(&ir.block_of(it.0)));
        let end = from.max().copied().unwrap_or(start);
        let carrier = back.iter().find_map(|&(op, successor)| {
            let range = flow::successor_operands(ir, op, successor)?;
            (range.start + index < range.end).then_some((op, range.start + index))
        });
        GrowthTrace { label, index, back_operand: carrier, start, end, changes: Vec::new() }
    }
}
