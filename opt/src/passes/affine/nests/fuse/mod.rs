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
//! analyzes the function again. There are at most [`MOST_FUSIONS`] fusions.

mod block;
mod bounds;
mod cost;
mod emit;
mod region;
mod slice;

use noisy_loops::Aliasing;
use noisy_syntax::rewrite::Point;
use noisy_syntax::{Block as Id, Ir, Op, OpKind, Value};

use self::block::Block;
use self::cost::{Trips, n_ops};
use self::emit::{Private, applied_form, copy_part, element_bytes, erase_unused, privatize};
use self::slice::{Pair, Slice};
use crate::passes::affine::for_loop::{For, perfect_nest};
use crate::passes::affine::legal;
use crate::passes::affine::nests::permute::{is_rectangular, permute};
use crate::passes::{Context, Failure, OptionInfo, OptionKind, Options, PassInfo};
use crate::rewrite::{Rewriter, nested};

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
const MOST_FUSIONS: usize = 200;

/// Maximum number of ops of a block, because all pairs are compared.
const MOST_OPS: usize = 2000;

fn run(cx: &mut Context<'_>, op: Op, options: &Options) -> Result<(), Failure> {
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
        left: MOST_FUSIONS,
        memrefs: Vec::new(),
        kept: Vec::new(),
    };
    for block in blocks(cx.ir, op) {
        match (producers, siblings) {
            (true, true) => {
                fusion.producers(cx.ir, block, 1);
                fusion.siblings(cx.ir, block);
                fusion.producers(cx.ir, block, usize::MAX);
                fusion.siblings(cx.ir, block);
            }
            (true, false) => fusion.producers(cx.ir, block, usize::MAX),
            (false, _) => fusion.siblings(cx.ir, block),
        }
    }
    erase_unused(cx.ir, &fusion.memrefs);
    Ok(())
}

/// Returns the blocks in a function with at least two loops, inner blocks first.
fn blocks(ir: &Ir, function: Op) -> Vec<Id> {
    let mut out = Vec::new();
    for op in [function].into_iter().chain(nested(ir, function)) {
        for &(_, region) in &ir.op(op).regions {
            for block in ir.blocks(region) {
                let ops: Vec<Op> = ir.block_ops(block).collect();
                let n_loops = ops.iter().filter(|&&it| ir.op(it).kind == OpKind::AffineFor).count();
                if n_loops >= 2 && ops.len() <= MOST_OPS {
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
    aliasing: Aliasing,
    is_maximal: bool,
    /// The maximum additional computation, as a fraction of the old computation.
    tolerance: f64,
    /// The memory space for private memrefs of at most `threshold` bytes.
    space: Option<i64>,
    threshold: i128,
    left: usize,
    /// The memrefs that private ones replaced, at least in part.
    memrefs: Vec<Value>,
    /// The fused sources and targets whose source was not erased. They are fused only once.
    kept: Vec<(Op, Op)>,
}

/// A source and a target, by index in the block, with their analysis.
struct Candidate<'a> {
    block: &'a Block,
    source: usize,
    target: usize,
    pair: Pair,
}

impl Fusion {
    /// Returns the possible targets of a block, last first.
    fn targets(ir: &Ir, block: Id) -> Vec<Op> {
        let mut out: Vec<Op> = ir.block_ops(block).filter(|&it| is_plain_loop(ir, it)).collect();
        out.reverse();
        out
    }

    fn read(&self, ir: &Ir, block: Id) -> Option<Block> {
        let read = Block::new(ir, self.function, block, self.aliasing);
        (!read.has_other_regions(ir)).then_some(read)
    }

    /// Fuses sources into targets that read their results, if at most `most_users` ops read the
    /// results.
    fn producers(&mut self, ir: &mut Ir, block: Id, most_users: usize) {
        if self.read(ir, block).is_none() {
            return;
        }
        for target in Self::targets(ir, block) {
            if !ir.is_alive(target) {
                continue;
            }
            sink_sequential(ir, target, self.aliasing);
            while self.left > 0 && self.fuse_producer(ir, block, target, most_users) {
                self.left -= 1;
            }
        }
    }

    /// Fuses the nearest possible source into a target. Returns false if there is none.
    fn fuse_producer(&mut self, ir: &mut Ir, block: Id, target: Op, most_users: usize) -> bool {
        let Some(read) = self.read(ir, block) else { return false };
        let Some(at) = read.place(target) else { return false };
        let loaded = read.memrefs(at, false);
        for source in (0..at).rev() {
            let op = read.ops[source];
            if !is_plain_loop(ir, op) || self.kept.contains(&(op, target)) {
                continue;
            }
            let mut shared = read.memrefs(source, true);
            shared.retain(|it| loaded.contains(it));
            if shared.is_empty()
                || shared.iter().any(|&it| read.users(source, it).len() > most_users)
            {
                continue;
            }
            let Some(place) = read.insertion(ir, source, at) else { continue };
            let Some(pair) = Pair::new(ir, self.function, op, target, self.aliasing) else {
                continue;
            };
            let candidate = Candidate { block: &read, source, target: at, pair };
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
        mut it: Candidate<'_>,
        shared: &[Value],
        place: usize,
    ) -> bool {
        let is_shared = |pair: &Pair, access: &usize| shared.contains(&pair.view(*access));
        let consumers: Vec<usize> =
            it.pair.target.iter().copied().filter(|at| is_shared(&it.pair, at)).collect();
        let loops = it.pair.common(&consumers);
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
            [store] if !self.is_maximal => self.best(ir, &mut it, &plans, store),
            _ => plans.len().checked_sub(1),
        };
        let Some(plan) = best.map(|at| plans.swap_remove(at)) else { return false };
        let top = ir.block(block).region;
        let Some(&top) = ir.blocks(top).first() else { return false };
        self.apply(ir, &it, &plan, place, if it.pair.is_outermost() { top } else { block })
    }

    /// Returns the index of the plan with the largest gain. Plans are sorted by depth; of equal
    /// gains, the deepest plan wins.
    fn best(
        &self,
        ir: &Ir,
        it: &mut Candidate<'_>,
        plans: &[Plan],
        access: usize,
    ) -> Option<usize> {
        let size = |region: Option<Vec<(noisy_loops::Form, i128)>>| -> Option<i128> {
            region?.iter().try_fold(1_i128, |all, it| all.checked_mul(it.1)).filter(|it| *it > 0)
        };
        let (source, target) = (it.block.ops[it.source], it.block.ops[it.target]);
        let whole = size(it.pair.region(&[access], None))?;
        let none = Trips::default();
        let before =
            n_ops(ir, source, &none, None)?.checked_add(n_ops(ir, target, &none, None)?)?;
        let mut best: Option<(usize, f64)> = None;
        for (at, plan) in plans.iter().enumerate().rev() {
            let Some(after) = it.n_ops(ir, &plan.slice) else { continue };
            let Some(part) = size(it.pair.region(&[access], Some(&plan.slice))) else { continue };
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
        it: &Candidate<'_>,
        plan: &Plan,
        place: usize,
        top: Id,
    ) -> bool {
        let (source, target) = (it.block.ops[it.source], it.block.ops[it.target]);
        let at = it.block.ops[place];
        let mut private = Vec::new();
        for (memref, region) in &plan.private {
            let starts =
                region.iter().map(|it_| Some((applied_form(&it.pair.body, &it_.0)?, it_.1)));
            let Some(region) = starts.collect::<Option<Vec<_>>>() else { return false };
            private.push(Private { memref: *memref, region });
        }
        if copy_part(ir, &it.pair, &plan.slice, source).is_none() {
            return false;
        }
        if at != target {
            ir.move_op(target, Point::Before(at));
        }
        if plan.removes {
            Rewriter::new(ir).erase(source);
        } else {
            self.kept.push((source, target));
        }
        for it in &private {
            let n = it
                .region
                .iter()
                .try_fold(element_bytes(ir, it.memref), |all, it| all.checked_mul(it.1));
            let space = self.space.filter(|_| n.is_some_and(|it| it <= self.threshold));
            privatize(ir, target, it, top, space);
            if !self.memrefs.contains(&it.memref) {
                self.memrefs.push(it.memref);
            }
        }
        true
    }

    /// Fuses siblings, which read the same memref, into targets.
    fn siblings(&mut self, ir: &mut Ir, block: Id) {
        if self.read(ir, block).is_none() {
            return;
        }
        for target in Self::targets(ir, block) {
            while self.left > 0 && ir.is_alive(target) && self.fuse_sibling(ir, block, target) {
                self.left -= 1;
            }
        }
    }

    /// Fuses the first possible sibling into a target. Returns false if there is none.
    fn fuse_sibling(&mut self, ir: &mut Ir, block: Id, target: Op) -> bool {
        let Some(read) = self.read(ir, block) else { return false };
        let Some(at) = read.place(target) else { return false };
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
                        && !read.earlier(source, *it).is_empty()
                });
                if stored.len() > 1 || is_fed || read.leads(ir, first, second) {
                    continue;
                }
                let Some(place) = read.insertion(ir, first, second) else { continue };
                let Some(pair) = Pair::new(ir, self.function, op, target, self.aliasing) else {
                    continue;
                };
                let candidate = Candidate { block: &read, source, target: at, pair };
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
        mut it: Candidate<'_>,
        memref: Value,
        place: usize,
    ) -> bool {
        let loads = |pair: &Pair, all: &[usize]| -> Vec<usize> {
            all.iter()
                .copied()
                .filter(|&at| !pair.is_store(at) && pair.view(at) == memref)
                .collect()
        };
        let own = loads(&it.pair, &it.pair.source);
        let [load] = own[..] else { return false };
        let others = loads(&it.pair, &it.pair.target);
        let pairs: Vec<(usize, usize)> = others.iter().map(|&other| (load, other)).collect();
        let sequential = sequential(ir, it.block.ops[it.source], self.aliasing);
        let Some(&first) = others.first() else { return false };
        let loops = it.pair.path(first);
        let mut plans = Vec::new();
        for depth in 1..=loops.len() {
            let ops: Vec<u32> = it.pair.loops_of(&sequential);
            let Some(slice) = it.pair.slice(&pairs, &loops[..depth], &|it| ops.contains(&it))
            else {
                continue;
            };
            let all = it.pair.source.clone();
            if it.pair.allows(&slice, &|_| false, &|_| false, false)
                && it.pair.runs_whole(&slice, &all)
            {
                plans.push(Plan { slice, removes: true, private: Vec::new() });
            }
        }
        let best = if self.is_maximal {
            plans.len().checked_sub(1)
        } else {
            self.best(ir, &mut it, &plans, load)
        };
        let Some(plan) = best.map(|at| plans.swap_remove(at)) else { return false };
        self.apply(ir, &it, &plan, place, block)
    }
}

/// A legal fusion of two nests at a certain depth.
struct Plan {
    slice: Slice,
    /// True if the source is erased.
    removes: bool,
    /// The memrefs that only the target uses after the fusion, with the box of elements of an
    /// iteration.
    private: Vec<(Value, Vec<(noisy_loops::Form, i128)>)>,
}

impl Candidate<'_> {
    /// Returns the fusion with a slice if it is legal.
    fn plan(&mut self, slice: Slice, shared: &[Value]) -> Option<Plan> {
        let (block, source, target) = (self.block, self.source, self.target);
        let written = block.memrefs(source, true);
        let is_fresh = |it: Value| block.is_own(it) && block.earlier(source, it).is_empty();
        let is_seen = written
            .iter()
            .any(|&it| !block.is_own(it) || block.users(source, it).iter().any(|&it| it != target));
        let everything = self.pair.source.clone();
        let removes =
            (!is_seen && !self.pair.has_unknown) || self.pair.runs_whole(&slice, &everything);
        let is_temporary = |it: Value| {
            let is_alone = block.is_own(it)
                && block.earlier(source, it).is_empty()
                && block.users(source, it).is_empty();
            is_alone && self.pair.is_temporary(&slice, it)
        };
        if !self.pair.allows(&slice, &is_fresh, &is_temporary, !removes) {
            return None;
        }
        let is_stored = block.memrefs(target, true);
        let mut private = Vec::new();
        for &memref in shared {
            let has_others = block.users(source, memref).iter().any(|&it| it != target);
            if (!block.is_own(memref) && (removes || is_stored.contains(&memref)))
                || !block.earlier(source, memref).is_empty()
                || !block.users(target, memref).is_empty()
                || (removes && has_others)
                || !self.pair.is_local(&slice.target, memref)
                || !(block.is_own(memref) || self.pair.are_loads_covered(&slice, memref))
            {
                continue;
            }
            let is_meant = |it: &usize| self.pair.view(*it) == memref;
            let both = self.pair.source.iter().chain(&self.pair.target).copied();
            let accesses: Vec<usize> = both.filter(is_meant).collect();
            private.extend(self.pair.region(&accesses, Some(&slice)).map(|it| (memref, it)));
        }
        // If the source is not erased, only a private memref makes the fusion profitable.
        (removes || !private.is_empty()).then_some(Plan { slice, removes, private })
    }

    /// Returns the number of ops that the fused nest executes.
    fn n_ops(&self, ir: &Ir, slice: &Slice) -> Option<i128> {
        let mut trips = Trips::default();
        for it in &slice.bounds {
            let op = self.pair.body.loops[it.loop_ as usize].op;
            trips.insert(op, slice.trips(it.loop_)?);
        }
        let part = n_ops(ir, self.block.ops[self.source], &trips, None)?;
        let last = self.pair.body.loops[*slice.target.last()? as usize].op;
        n_ops(ir, self.block.ops[self.target], &Trips::default(), Some((last, part)))
    }
}

/// Returns true if an op is a loop without `iter_args`.
fn is_plain_loop(ir: &Ir, op: Op) -> bool {
    ir.op(op).kind == OpKind::AffineFor && For::of(ir, op).is_some_and(|it| it.inits.is_empty())
}

/// Returns the loops of a nest that are not known to be parallel.
fn sequential(ir: &Ir, root: Op, aliasing: Aliasing) -> Vec<Op> {
    let body = legal::nest_of(ir, root);
    let legality = legal::legality(&body, aliasing);
    let is_parallel = |it| legality.as_ref().is_some_and(|of| of.is_parallel(it).is_ok());
    let all = (0..body.loops.len() as u32).filter(|&it| !is_parallel(it));
    all.map(|it| body.loops[it as usize].op).collect()
}

/// Moves the parallel loops of a perfect nest outwards, if that is legal.
fn sink_sequential(ir: &mut Ir, root: Op, aliasing: Aliasing) {
    let nest = perfect_nest(ir, root);
    if nest.len() < 2 || !is_rectangular(ir, &nest) {
        return;
    }
    let sequential = sequential(ir, root, aliasing);
    let (outside, inside): (Vec<usize>, Vec<usize>) =
        (0..nest.len()).partition(|&it| !sequential.contains(&nest[it].op));
    let order = [outside, inside].concat();
    if order.is_sorted() {
        return;
    }
    let body = legal::nest_of(ir, root);
    let Some(legality) = legal::legality(&body, aliasing) else { return };
    let band: Option<Vec<u32>> = nest.iter().map(|it| legality.loop_of(it.op)).collect();
    if band.is_some_and(|band| legality.permutes(&band, &order).is_ok()) {
        permute(ir, &nest, &order);
    }
}
