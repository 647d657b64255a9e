//! `affine-loop-fusion`: fuses a loop nest, the source, into another nest, the target. A slice of
//! the source runs at the start of each iteration of the target that reads its results (producer
//! and consumer) or the same input (siblings).
//!
//! *Algorithm.* As in MLIR, targets are visited from the last to the first. Sources without other
//! readers are fused first, then siblings, then all sources. Parallel loops of a target are moved
//! outwards before. For each depth, `slice.rs` computes the slice of the source that an iteration
//! needs, as a function of the loops of the target. `cost.rs` describes the choice of the depth. If
//! only the target uses a memref after the fusion, a private memref with the size of a slice
//! replaces it (`emit.rs`). The source is erased if its slices cover it, or if the rest is unused.
//!
//! *Law.* `block.rs` checks the order of ops in the block, and `slice.rs` that the slices compute
//! the same results. If a check is not certain, the nests are not fused. *Cost.* Each fusion
//! analyzes the function again. There are at most [`MAX_FUSIONS`] fusions.

mod block;
mod bounds;
mod cost;
mod emit;
mod region;
mod slice;

use noisy_loops::AliasAssumptions;
use noisy_syntax::rewrite::InsertionPoint;
use noisy_syntax::{Block as Id, Ir, Op, OpKind, Value};

use self::block::BlockOrder;
use self::cost::{TripCounts, n_executed_ops};
use self::emit::{PrivateMemref, copy_slice, element_bytes, erase_unused, map_of_form, privatize};
use self::slice::{NestPair, Slice};
use crate::passes::affine::for_loop::{AffineFor, perfect_nest};
use crate::passes::affine::legal;
use crate::passes::affine::nests::permute::{is_rectangular, permute};
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::{Rewriter, nested_ops};

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-loop-fusion",
    class: "LoopFusion",
    anchor: Some("func.func"),
    summary: "Fuse affine loop nests",
    options: &[
        OptionInfo {
            name: "fusion-compute-tolerance",
            default: "0.3",
            kind: OptionKind::Text,
            summary: "Fractional increase in additional computation tolerated while fusing",
        },
        OptionInfo {
            name: "fusion-fast-mem-space",
            default: "0",
            kind: OptionKind::Int,
            summary: "Faster memory space number to promote fusion buffers to",
        },
        OptionInfo {
            name: "fusion-local-buf-threshold",
            default: "0",
            kind: OptionKind::Int,
            summary: "Threshold size (KiB) for promoting local buffers to fast memory space",
        },
        OptionInfo {
            name: "fusion-maximal",
            default: "false",
            kind: OptionKind::Bool,
            summary: "Enables maximal loop fusion",
        },
        OptionInfo {
            name: "mode",
            default: "greedy",
            kind: OptionKind::OneOf(&["greedy", "producer", "sibling"]),
            summary: "fusion mode to attempt: all, producer and consumer, or siblings",
        },
    ],
    run,
}];

/// Maximum number of fusions in a function.
const MAX_FUSIONS: usize = 200;

/// Maximum number of ops of a block, because all pairs are compared.
const MAX_OPS: usize = 2000;

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let mode = options.text("mode");
    let (producers, siblings) = (mode != "sibling", mode != "producer");
    let tolerance: f64 = options.text("fusion-compute-tolerance").parse().unwrap_or(0.3);
    let kib = options.int("fusion-local-buf-threshold").unwrap_or(0).max(0);
    let mut fusion = Fusion {
        function: op,
        aliasing: cx.aliasing,
        is_maximal: options.is_on("fusion-maximal"),
        tolerance,
        space: options.int("fusion-fast-mem-space").filter(|it| *it > 0),
        threshold: i128::from(kib) * 1024,
        n_left: MAX_FUSIONS,
        replaced_memrefs: Vec::new(),
        unerased_pairs: Vec::new(),
    };
    for block in blocks(cx.ir, op) {
        match (producers, siblings) {
            (true, true) => {
                fusion.fuse_producers(cx.ir, block, 1);
                fusion.fuse_siblings(cx.ir, block);
                fusion.fuse_producers(cx.ir, block, usize::MAX);
                fusion.fuse_siblings(cx.ir, block);
            }
            (true, false) => fusion.fuse_producers(cx.ir, block, usize::MAX),
            (false, _) => fusion.fuse_siblings(cx.ir, block),
        }
    }
    erase_unused(cx.ir, &fusion.replaced_memrefs);
    Ok(())
}

/// Returns the blocks in a function with at least two loops, inner blocks first.
fn blocks(ir: &Ir, function: Op) -> Vec<Id> {
    let mut out = Vec::new();
    for op in [function].into_iter().chain(nested_ops(ir, function)) {
        for &(_, region) in &ir.op(op).regions {
            for block in ir.blocks(region) {
                let ops: Vec<Op> = ir.block_ops(block).collect();
                let n_loops = ops.iter().filter(|&&it| ir.op(it).kind == OpKind::AffineFor).count();
                if n_loops >= 2 && ops.len() <= MAX_OPS {
                    out.push(block);
                }
            }
        }
    }
    out.reverse();
    out
}

struct Fusion {
    function: Op,
    /// The assumptions about aliasing of memrefs.
    aliasing: AliasAssumptions,
    is_maximal: bool,
    /// The maximum additional computation, as a fraction of the old computation.
    tolerance: f64,
    /// The memory space for private memrefs of at most `threshold` bytes.
    space: Option<i64>,
    threshold: i128,
    n_left: usize,
    /// The memrefs that private ones replaced, at least in part.
    replaced_memrefs: Vec<Value>,
    /// The fused sources and targets whose source was not erased. They are fused only once.
    unerased_pairs: Vec<(Op, Op)>,
}

/// A source and a target, by index in the block, with their analysis.
struct FusionCandidate<'a> {
    block: &'a BlockOrder,
    source: usize,
    target: usize,
    pair: NestPair,
}

impl Fusion {
    /// Returns the possible targets of a block, last first.
    fn targets(ir: &Ir, block: Id) -> Vec<Op> {
        let mut out: Vec<Op> = ir.block_ops(block).filter(|&it| is_plain_loop(ir, it)).collect();
        out.reverse();
        out
    }

    fn analyze_block(&self, ir: &Ir, block: Id) -> Option<BlockOrder> {
        let read = BlockOrder::new(ir, self.function, block, self.aliasing);
        (!read.has_other_regions(ir)).then_some(read)
    }

    /// Fuses sources into targets that read their results, if at most `most_users` ops read the
    /// results.
    fn fuse_producers(&mut self, ir: &mut Ir, block: Id, most_users: usize) {
        if self.analyze_block(ir, block).is_none() {
            return;
        }
        for target in Self::targets(ir, block) {
            if !ir.is_alive(target) {
                continue;
            }
            move_parallel_loops_out(ir, target, self.aliasing);
            while self.n_left > 0 && self.fuse_producer(ir, block, target, most_users) {
                self.n_left -= 1;
            }
        }
    }

    /// Fuses the nearest possible source into a target. Returns false if there is none.
    fn fuse_producer(&mut self, ir: &mut Ir, block: Id, target: Op, most_users: usize) -> bool {
        let Some(read) = self.analyze_block(ir, block) else { return false };
        let Some(at) = read.position(target) else { return false };
        let loaded = read.memrefs(at, false);
        for source in (0..at).rev() {
            let op = read.ops[source];
            if !is_plain_loop(ir, op) || self.unerased_pairs.contains(&(op, target)) {
                continue;
            }
            let mut shared = read.memrefs(source, true);
            shared.retain(|it| loaded.contains(it));
            if shared.is_empty()
                || shared.iter().any(|&it| read.later_in_order(source, it).len() > most_users)
            {
                continue;
            }
            let Some(place) = read.insertion_point(ir, source, at) else { continue };
            let Some(pair) = NestPair::new(ir, self.function, op, target, self.aliasing) else {
                continue;
            };
            let candidate = FusionCandidate { block: &read, source, target: at, pair };
            if self.fuse_slice(ir, block, candidate, &shared, place) {
                return true;
            }
        }
        false
    }

    /// Fuses a source at the best depth. Returns false if no depth is legal and profitable.
    fn fuse_slice(
        &mut self,
        ir: &mut Ir,
        block: Id,
        mut it: FusionCandidate<'_>,
        shared: &[Value],
        place: usize,
    ) -> bool {
        let is_shared = |pair: &NestPair, access: &usize| shared.contains(&pair.view(*access));
        let consumers: Vec<usize> =
            it.pair.target.iter().copied().filter(|at| is_shared(&it.pair, at)).collect();
        let loops = it.pair.common_loops(&consumers);
        let mut pairs = Vec::new();
        for &a in &it.pair.source {
            for &b in &it.pair.target {
                if it.pair.is_store(a) && it.pair.view(a) == it.pair.view(b) {
                    pairs.push((a, b));
                }
            }
        }
        let mut plans = Vec::new();
        for depth in 1..=loops.len() {
            let Some(slice) = it.pair.slice(&pairs, &loops[..depth], &|_| false) else { continue };
            plans.extend(it.plan(slice, shared));
        }
        let is_store = |access: &usize| it.pair.is_store(*access) && is_shared(&it.pair, access);
        let stores: Vec<usize> = it.pair.source.iter().copied().filter(is_store).collect();
        let best = match stores[..] {
            [store] if !self.is_maximal => self.best_plan(ir, &mut it, &plans, store),
            _ => plans.len().checked_sub(1),
        };
        let Some(plan) = best.map(|at| plans.swap_remove(at)) else { return false };
        let top = ir.block(block).region;
        let Some(&top) = ir.blocks(top).first() else { return false };
        self.apply(ir, &it, &plan, place, if it.pair.is_outermost() { top } else { block })
    }

    /// Returns the index of the plan with the largest gain. Plans are sorted by depth; of equal
    /// gains, the deepest plan wins.
    fn best_plan(
        &self,
        ir: &Ir,
        it: &mut FusionCandidate<'_>,
        plans: &[FusionPlan],
        access: usize,
    ) -> Option<usize> {
        let size = |region: Option<Vec<(noisy_loops::LinearForm, i128)>>| -> Option<i128> {
            region?.iter().try_fold(1_i128, |all, it| all.checked_mul(it.1)).filter(|it| *it > 0)
        };
        let (source, target) = (it.block.ops[it.source], it.block.ops[it.target]);
        let whole = size(it.pair.element_box(&[access], None))?;
        let none = TripCounts::default();
        let before = n_executed_ops(ir, source, &none, None)?
            .checked_add(n_executed_ops(ir, target, &none, None)?)?;
        let mut best: Option<(usize, f64)> = None;
        for (at, plan) in plans.iter().enumerate().rev() {
            let Some(after) = it.n_ops(ir, &plan.slice) else { continue };
            let Some(part) = size(it.pair.element_box(&[access], Some(&plan.slice))) else {
                continue;
            };
            let more = after as f64 / before as f64 - 1.0;
            let gain = whole as f64 / part as f64;
            if more < self.tolerance && best.is_none_or(|it| gain > it.1) {
                best = Some((at, gain));
            }
        }
        best.map(|it| it.0)
    }

    /// Rewrites the program. Returns false, without a change, on overflow.
    fn apply(
        &mut self,
        ir: &mut Ir,
        it: &FusionCandidate<'_>,
        plan: &FusionPlan,
        place: usize,
        top: Id,
    ) -> bool {
        let (source, target) = (it.block.ops[it.source], it.block.ops[it.target]);
        let at = it.block.ops[place];
        let mut private = Vec::new();
        for (memref, region) in &plan.private {
            let starts =
                region.iter().map(|it_| Some((map_of_form(&it.pair.body, &it_.0)?, it_.1)));
            let Some(region) = starts.collect::<Option<Vec<_>>>() else { return false };
            private.push(PrivateMemref { memref: *memref, region });
        }
        if copy_slice(ir, &it.pair, &plan.slice, source).is_none() {
            return false;
        }
        if at != target {
            ir.move_op(target, InsertionPoint::Before(at));
        }
        if plan.removes_source {
            Rewriter::new(ir).erase(source);
        } else {
            self.unerased_pairs.push((source, target));
        }
        for it in &private {
            let n = it
                .region
                .iter()
                .try_fold(element_bytes(ir, it.memref), |all, it| all.checked_mul(it.1));
            let space = self.space.filter(|_| n.is_some_and(|it| it <= self.threshold));
            privatize(ir, target, it, top, space);
            if !self.replaced_memrefs.contains(&it.memref) {
                self.replaced_memrefs.push(it.memref);
            }
        }
        true
    }

    /// Fuses siblings, which read the same memref, into targets.
    fn fuse_siblings(&mut self, ir: &mut Ir, block: Id) {
        if self.analyze_block(ir, block).is_none() {
            return;
        }
        for target in Self::targets(ir, block) {
            while self.n_left > 0 && ir.is_alive(target) && self.fuse_sibling(ir, block, target) {
                self.n_left -= 1;
            }
        }
    }

    /// Fuses the first possible sibling into a target. Returns false if there is none.
    fn fuse_sibling(&mut self, ir: &mut Ir, block: Id, target: Op) -> bool {
        let Some(read) = self.analyze_block(ir, block) else { return false };
        let Some(at) = read.position(target) else { return false };
        for memref in read.memrefs(at, false) {
            for source in 0..read.ops.len() {
                let op = read.ops[source];
                if source == at
                    || !is_plain_loop(ir, op)
                    || !read.memrefs(source, false).contains(&memref)
                {
                    continue;
                }
                let (first, second) = (source.min(at), source.max(at));
                let stored = read.memrefs(source, true);
                let is_fed = stored.iter().any(|it| {
                    read.memrefs(source, false).contains(it)
                        && !read.earlier_in_order(source, *it).is_empty()
                });
                if stored.len() > 1 || is_fed || read.is_order_path(ir, first, second) {
                    continue;
                }
                let Some(place) = read.insertion_point(ir, first, second) else { continue };
                let Some(pair) = NestPair::new(ir, self.function, op, target, self.aliasing) else {
                    continue;
                };
                let candidate = FusionCandidate { block: &read, source, target: at, pair };
                if self.fuse_whole(ir, block, candidate, memref, place) {
                    return true;
                }
            }
        }
        false
    }

    /// Fuses a sibling at the best depth at which its slices cover it. Returns false if there is
    /// none.
    fn fuse_whole(
        &mut self,
        ir: &mut Ir,
        block: Id,
        mut it: FusionCandidate<'_>,
        memref: Value,
        place: usize,
    ) -> bool {
        let loads = |pair: &NestPair, all: &[usize]| -> Vec<usize> {
            all.iter()
                .copied()
                .filter(|&at| !pair.is_store(at) && pair.view(at) == memref)
                .collect()
        };
        let own = loads(&it.pair, &it.pair.source);
        let [load] = own[..] else { return false };
        let others = loads(&it.pair, &it.pair.target);
        let pairs: Vec<(usize, usize)> = others.iter().map(|&other| (load, other)).collect();
        let sequential = sequential_loops(ir, it.block.ops[it.source], self.aliasing);
        let Some(&first) = others.first() else { return false };
        let loops = it.pair.inner_loops(first);
        let mut plans = Vec::new();
        for depth in 1..=loops.len() {
            let ops: Vec<u32> = it.pair.loops_of(&sequential);
            let Some(slice) = it.pair.slice(&pairs, &loops[..depth], &|it| ops.contains(&it))
            else {
                continue;
            };
            let all = it.pair.source.clone();
            if it.pair.is_legal(&slice, &|_| false, &|_| false, false)
                && it.pair.is_covered_by_slices(&slice, &all)
            {
                plans.push(FusionPlan { slice, removes_source: true, private: Vec::new() });
            }
        }
        let best = if self.is_maximal {
            plans.len().checked_sub(1)
        } else {
            self.best_plan(ir, &mut it, &plans, load)
        };
        let Some(plan) = best.map(|at| plans.swap_remove(at)) else { return false };
        self.apply(ir, &it, &plan, place, block)
    }
}

/// A legal fusion of two nests at a certain depth.
struct FusionPlan {
    slice: Slice,
    /// True if the source is erased.
    removes_source: bool,
    /// The memrefs that only the target uses after the fusion, with the box of elements of an
    /// iteration.
    private: Vec<(Value, Vec<(noisy_loops::LinearForm, i128)>)>,
}

impl FusionCandidate<'_> {
    /// Returns the fusion with a slice if it is legal.
    fn plan(&mut self, slice: Slice, shared: &[Value]) -> Option<FusionPlan> {
        let (block, source, target) = (self.block, self.source, self.target);
        let written = block.memrefs(source, true);
        let is_fresh =
            |it: Value| block.is_private(it) && block.earlier_in_order(source, it).is_empty();
        let is_seen = written.iter().any(|&it| {
            !block.is_private(it) || block.later_in_order(source, it).iter().any(|&it| it != target)
        });
        let everything = self.pair.source.clone();
        let removes = (!is_seen && !self.pair.has_unknown)
            || self.pair.is_covered_by_slices(&slice, &everything);
        let is_temporary = |it: Value| {
            let is_alone = block.is_private(it)
                && block.earlier_in_order(source, it).is_empty()
                && block.later_in_order(source, it).is_empty();
            is_alone && self.pair.is_temporary(&slice, it)
        };
        if !self.pair.is_legal(&slice, &is_fresh, &is_temporary, !removes) {
            return None;
        }
        let is_stored = block.memrefs(target, true);
        let mut private = Vec::new();
        for &memref in shared {
            let has_others = block.later_in_order(source, memref).iter().any(|&it| it != target);
            if (!block.is_private(memref) && (removes || is_stored.contains(&memref)))
                || !block.earlier_in_order(source, memref).is_empty()
                || !block.later_in_order(target, memref).is_empty()
                || (removes && has_others)
                || !self.pair.has_no_carried_read(&slice.target, memref)
                || !(block.is_private(memref) || self.pair.are_loads_covered(&slice, memref))
            {
                continue;
            }
            let is_meant = |it: &usize| self.pair.view(*it) == memref;
            let both = self.pair.source.iter().chain(&self.pair.target).copied();
            let accesses: Vec<usize> = both.filter(is_meant).collect();
            private.extend(self.pair.element_box(&accesses, Some(&slice)).map(|it| (memref, it)));
        }
        // If the source is not erased, only a private memref makes the fusion profitable.
        (removes || !private.is_empty()).then_some(FusionPlan {
            slice,
            removes_source: removes,
            private,
        })
    }

    /// Returns the number of ops that the fused nest executes.
    fn n_ops(&self, ir: &Ir, slice: &Slice) -> Option<i128> {
        let mut trips = TripCounts::default();
        for it in &slice.bounds {
            let op = self.pair.body.loops[it.loop_ as usize].op;
            trips.insert(op, slice.trips(it.loop_)?);
        }
        let part = n_executed_ops(ir, self.block.ops[self.source], &trips, None)?;
        let last = self.pair.body.loops[*slice.target.last()? as usize].op;
        n_executed_ops(ir, self.block.ops[self.target], &TripCounts::default(), Some((last, part)))
    }
}

/// Returns true if an op is a loop without `iter_args`.
fn is_plain_loop(ir: &Ir, op: Op) -> bool {
    ir.op(op).kind == OpKind::AffineFor
        && AffineFor::of(ir, op).is_some_and(|it| it.inits.is_empty())
}

/// Returns the loops of a nest that are not known to be parallel.
fn sequential_loops(ir: &Ir, root: Op, aliasing: AliasAssumptions) -> Vec<Op> {
    let body = legal::nest_of(ir, root);
    let legality = legal::legality(&body, aliasing);
    let is_parallel = |it| legality.as_ref().is_some_and(|of| of.check_parallel(it).is_ok());
    let all = (0..body.loops.len() as u32).filter(|&it| !is_parallel(it));
    all.map(|it| body.loops[it as usize].op).collect()
}

/// Moves the parallel loops of a perfect nest outwards, if that is legal.
fn move_parallel_loops_out(ir: &mut Ir, root: Op, aliasing: AliasAssumptions) {
    let nest = perfect_nest(ir, root);
    if nest.len() < 2 || !is_rectangular(ir, &nest) {
        return;
    }
    let sequential = sequential_loops(ir, root, aliasing);
    let (outside, inside): (Vec<usize>, Vec<usize>) =
        (0..nest.len()).partition(|&it| !sequential.contains(&nest[it].op));
    let order = [outside, inside].concat();
    if order.is_sorted() {
        return;
    }
    let body = legal::nest_of(ir, root);
    let Some(legality) = legal::legality(&body, aliasing) else { return };
    let band: Option<Vec<u32>> = nest.iter().map(|it| legality.loop_of(it.op)).collect();
    if band.is_some_and(|band| legality.check_permutation(&band, &order).is_ok()) {
        permute(ir, &nest, &order);
    }
}
