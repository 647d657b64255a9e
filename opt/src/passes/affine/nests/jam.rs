//! `affine-loop-unroll-jam`: unrolls the first loop of a function and jams the copies of its body
//! into the inner loops.
//!
//! *Order.* The body is a sequence of loops and of runs, which are ops between loops. The bodies of
//! inner loops have the same structure. Each run is followed by its copies for the next iterations.
//! So the instances of jammed iterations are ordered first by the variables of the inner loops,
//! then by the runs, and then by the iterations.
//!
//! *Law.* Dependent instances keep their order. Values that the loop carries are split only if the
//! combined parts give the same value, or if the result is not used ([`part::SplitValue`]).

mod part;

use noisy_loops::{
    AliasAssumptions, FunctionBody, InstancePairs, Legality, TimeCondition, TimeDifference,
};
use noisy_syntax::rewrite::InsertionPoint;
use noisy_syntax::{Block, Ir, Op, OpKind, Type, Value};
use rustc_hash::FxHashMap;

use self::part::{combine_parts, split_values};
use crate::passes::affine::for_loop::{AffineFor, inline_if_single_trip, set_bounds};
use crate::passes::affine::legal;
use crate::passes::affine::nests::unroll::{
    can_be_copied, has_divisible_trip_count, next_iv, split_remainder,
};
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::{Rewriter, operands, preorder};
use noisy_analyses::facts::effects;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-loop-unroll-jam",
    class: "AffineLoopUnrollAndJam",
    anchor: Some("func.func"),
    summary: "Unroll and jam affine loops",
    options: &[OptionInfo {
        name: "unroll-jam-factor",
        default: "4",
        kind: OptionKind::Int,
        summary: "Use this unroll jam factor for all loops (default 4)",
    }],
    run,
}];

/// Maximum number of ops that are created.
const MAX_OPS: usize = 1 << 20;

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let factor = options.int("unroll-jam-factor").unwrap_or(4);
    let Some(&(_, region)) = cx.ir.op(op).regions.first() else { return Ok(()) };
    let first = cx.ir.items(region).find(|&it| cx.ir.op(it).kind != OpKind::Label);
    if let Some(it) = first.and_then(|it| AffineFor::of(cx.ir, it)) {
        jam(cx.ir, op, &it, factor, cx.aliasing);
    }
    Ok(())
}

fn jam(ir: &mut Ir, function: Op, it: &AffineFor, factor: i64, aliasing: AliasAssumptions) {
    let trips = it.trip_count();
    if factor <= 1 {
        if factor == 1 {
            inline_if_single_trip(ir, it.op);
        }
        return;
    }
    let inside = preorder(ir, ir.block(it.body).region);
    let Some(copied) = usize::try_from(factor).ok().and_then(|by| by.checked_mul(inside.len()))
    else {
        return;
    };
    let step = it.step.checked_mul(factor).filter(|it| i32::try_from(*it).is_ok());
    let is_possible = trips.is_none_or(|it| it >= factor)
        && !it.body_ops(ir).is_empty()
        && copied <= MAX_OPS
        && can_be_copied(ir, &inside)
        && bounds_are_outside(ir, it, &inside);
    let Some(step) = step.filter(|_| is_possible) else { return };
    let Some(parts) = split_values(ir, it) else { return };
    let body = legal::body_of(ir, function);
    if !is_allowed(ir, &body, it, factor, aliasing) {
        return;
    }
    if !has_divisible_trip_count(ir, it, factor) {
        let Some(behind) = split_remainder(ir, it, factor) else { return };
        inline_if_single_trip(ir, behind);
    }
    let Some(it) = AffineFor::of(ir, it.op) else { return };
    let (low, high) = (it.lower.clone(), it.upper.clone());
    set_bounds(ir, &it, &low, &high, step);
    let mut runs = Vec::new();
    let mut carriers = Vec::new();
    collect_runs(ir, it.body, &mut runs, &mut carriers);
    let mut carriers: Vec<CarryingLoop> =
        carriers.into_iter().map(|it| repeat_iter_args(ir, it, factor)).collect();
    let mut loop_ = it.op;
    if !parts.is_empty() {
        let own = repeat_iter_args(ir, it.op, factor);
        loop_ = own.op;
        carriers.push(own);
    }
    // The last copy first, because each copy is inserted directly after the run.
    for copy in (1..factor).rev() {
        let mut values: FxHashMap<Value, Value> = FxHashMap::default();
        for carrier in &carriers {
            carrier.map_to_copy(ir, copy as usize, &mut values);
        }
        for run in &runs {
            copy_run(ir, &it, run, copy, &mut values);
        }
        for carrier in &carriers {
            carrier.connect_copy(ir, copy as usize, &values);
        }
    }
    combine_parts(ir, loop_, &parts);
    inline_if_single_trip(ir, loop_);
}

/// Returns true if no bound of an inner loop uses a value that the loop defines.
fn bounds_are_outside(ir: &Ir, it: &AffineFor, inside: &[Op]) -> bool {
    let region = ir.block(it.body).region;
    inside.iter().filter(|&&op| ir.op(op).kind == OpKind::AffineFor).all(|&op| {
        AffineFor::of(ir, op).is_some_and(|inner| {
            let mut all = inner.lower.operands.iter().chain(&inner.upper.operands);
            all.all(|&value| effects::is_outside(ir, value, region))
        })
    })
}

/// Returns true if all dependent instances keep their order.
fn is_allowed(
    ir: &Ir,
    body: &FunctionBody,
    it: &AffineFor,
    factor: i64,
    aliasing: AliasAssumptions,
) -> bool {
    let Some(legality) = legal::legality(body, aliasing) else { return false };
    let Some(loop_) = legality.loop_of(it.op) else { return false };
    let depth = body.loops[loop_ as usize].depth as usize;
    // Conditions compare values of the variables, which differ by the step.
    let span = i128::from(factor - 1) * i128::from(it.step);
    legality.effect_in(loop_).is_none()
        && legality.dependences().iter().all(|dependence| {
            let is_inside = |access| legality.loops_around(access).contains(&loop_);
            dependence.level != depth
                || !is_inside(dependence.source)
                || !is_inside(dependence.target)
                || keeps_order(ir, body, &legality, dependence, depth, span)
        })
}

/// Returns true if the instances of a dependence that the loop at `depth` carries keep their order
/// when iterations with variables that differ by at most `span` are jammed.
fn keeps_order(
    ir: &Ir,
    body: &FunctionBody,
    legality: &Legality<'_>,
    it: &InstancePairs,
    depth: usize,
    span: i128,
) -> bool {
    let paths = [legality.loops_around(it.source), legality.loops_around(it.target)];
    let time = |side: usize, at: usize| {
        let mut out = vec![0; paths[side].len() + 1];
        out[at] = 1;
        out
    };
    // The common loops that are nested directly in each other.
    let mut chain = vec![depth - 1];
    for at in depth..it.n_common {
        let (outer, inner) = (paths[0][at - 1] as usize, paths[0][at] as usize);
        let (outer, inner) = (body.loops[outer].op, body.loops[inner].op);
        if ir.op(inner).kind != OpKind::AffineFor || ir.parent_op(inner) != Some(outer) {
            break;
        }
        chain.push(at);
    }
    let times: Vec<_> = chain.iter().map(|&at| (time(0, at), time(1, at))).collect();
    let mut conditions: Vec<TimeCondition<'_>> = Vec::new();
    for (at, (source, target)) in times.iter().enumerate() {
        if at == 0 {
            conditions.push((source, target, TimeDifference::AtMost(span)));
            continue;
        }
        conditions.push((source, target, TimeDifference::AtMost(-1)));
        if legality.has_pair(it, &conditions) {
            return false;
        }
        conditions.pop();
        conditions.push((source, target, TimeDifference::Exactly(0)));
    }
    // In the same iteration of the inner loops, the order of the runs is decisive.
    let inner = body.loops[paths[0][chain[chain.len() - 1]] as usize].op;
    let at = |access: usize| ancestor_in(ir, body.accesses[access].op, inner);
    let (Some(source), Some(target)) = (at(it.source), at(it.target)) else { return false };
    let is_loop = |op: Op| ir.op(op).kind == OpKind::AffineFor;
    let is_later_run = source != target && ir.is_before(target, source) && {
        let between = ir.items_from(target).take_while(|&it| it != source);
        between.chain([source]).any(is_loop)
    };
    !is_later_run || !legality.has_pair(it, &conditions)
}

/// Returns the op in the body of a loop that is or contains `op`.
fn ancestor_in(ir: &Ir, op: Op, loop_: Op) -> Option<Op> {
    let mut at = op;
    loop {
        let parent = ir.parent_op(at)?;
        if parent == loop_ {
            return Some(at);
        }
        at = parent;
    }
}

/// Collects the runs of ops between loops, in order, and the inner loops with `iter_args`.
fn collect_runs(ir: &Ir, body: Block, runs: &mut Vec<Vec<Op>>, carriers: &mut Vec<Op>) {
    let mut run = Vec::new();
    let mut ops: Vec<Op> = ir.block_ops(body).collect();
    ops.pop();
    for op in ops {
        match AffineFor::of(ir, op) {
            Some(inner) => {
                if !run.is_empty() {
                    runs.push(std::mem::take(&mut run));
                }
                if !inner.inits.is_empty() {
                    carriers.push(op);
                }
                collect_runs(ir, inner.body, runs, carriers);
            }
            None => run.push(op),
        }
    }
    if !run.is_empty() {
        runs.push(run);
    }
}

/// Inserts a copy of a run for a later iteration directly after the run.
fn copy_run(
    ir: &mut Ir,
    it: &AffineFor,
    run: &[Op],
    copy: i64,
    values: &mut FxHashMap<Value, Value>,
) {
    let Some(&last) = run.last() else { return };
    let mut at = InsertionPoint::After(last);
    if !ir.value(it.iv).uses.is_empty() {
        let next = next_iv(ir, it.iv, copy * it.step, at);
        if let noisy_syntax::Def::Result(op, _) = ir.value(next).def {
            at = InsertionPoint::After(op);
        }
        values.insert(it.iv, next);
    }
    let mut rewriter = Rewriter::new(ir);
    for &op in run {
        let copied = rewriter.clone_op(op, at, values);
        at = InsertionPoint::After(copied);
    }
}

/// An inner loop with the `iter_args` of all copies.
struct CarryingLoop {
    op: Op,
    /// Number of carried values of one copy.
    n: usize,
}

/// Repeats the `iter_args` of a loop for each copy.
fn repeat_iter_args(ir: &mut Ir, op: Op, factor: i64) -> CarryingLoop {
    let factor = factor as usize;
    let old = AffineFor::of(ir, op).expect("what carries values is a loop");
    let n = old.inits.len();
    let types: Vec<Type> = ir.op(op).results.iter().map(|&it| ir.value(it).ty).collect();
    let all: Vec<Value> = old.inits.repeat(factor);
    let inputs = [&old.lower.operands[..], &old.upper.operands, &all].concat();
    let mut rewriter = Rewriter::new(ir);
    let new = rewriter.rebuild(op, &inputs, &types.repeat(factor));
    let it = AffineFor { inits: all, op: new, ..old };
    let (low, high) = (it.lower.clone(), it.upper.clone());
    set_bounds(ir, &it, &low, &high, it.step);
    for &ty in &types.repeat(factor - 1) {
        ir.add_argument(it.body, ty);
    }
    let end = it.terminator(ir);
    let yielded = operands(ir, end).repeat(factor);
    ir.set_operands(end, &yielded);
    let results: Vec<Value> = ir.op(new).results[..n].to_vec();
    Rewriter::new(ir).replace(op, &results);
    CarryingLoop { op: new, n }
}

impl CarryingLoop {
    /// Maps the carried values and the results of the loop to those of a copy.
    fn map_to_copy(&self, ir: &Ir, copy: usize, values: &mut FxHashMap<Value, Value>) {
        let Some(it) = AffineFor::of(ir, self.op) else { return };
        let (carried, results) = (it.iter_args(ir), ir.op(self.op).results.clone());
        for at in 0..self.n {
            values.insert(carried[at], carried[copy * self.n + at]);
            values.insert(results[at], results[copy * self.n + at]);
        }
    }

    /// Replaces the initial and the yielded values of a copy by the values of the copy.
    fn connect_copy(&self, ir: &mut Ir, copy: usize, values: &FxHashMap<Value, Value>) {
        let Some(it) = AffineFor::of(ir, self.op) else { return };
        let of = |value: Value| values.get(&value).copied().unwrap_or(value);
        let end = it.terminator(ir);
        let mut yielded = operands(ir, end);
        let mut inits = it.inits.clone();
        for at in 0..self.n {
            yielded[copy * self.n + at] = of(yielded[at]);
            inits[copy * self.n + at] = of(inits[at]);
        }
        ir.set_operands(end, &yielded);
        let all = [&it.lower.operands[..], &it.upper.operands, &inits].concat();
        ir.set_operands(it.op, &all);
    }
}
