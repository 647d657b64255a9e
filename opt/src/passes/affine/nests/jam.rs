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

use noisy_loops::{Aliasing, Body, Condition, Differs, Instances, Legality};
use noisy_syntax::rewrite::Point;
use noisy_syntax::{Block, Ir, Op, OpKind, Type, Value};
use rustc_hash::FxHashMap;

use self::part::{join, parts};
use crate::passes::affine::for_loop::{For, run_once, set_bounds};
use crate::passes::affine::legal;
use crate::passes::affine::nests::unroll::{can_be_copied, divides, next_iv, split};
use crate::passes::{Context, Failure, OptionInfo, OptionKind, Options, PassInfo};
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
const MOST_OPS: usize = 1 << 20;

fn run(cx: &mut Context<'_>, op: Op, options: &Options) -> Result<(), Failure> {
    let factor = options.int("unroll-jam-factor").unwrap_or(4);
    let Some(&(_, region)) = cx.ir.op(op).regions.first() else { return Ok(()) };
    let first = cx.ir.items(region).find(|&it| cx.ir.op(it).kind != OpKind::Label);
    if let Some(it) = first.and_then(|it| For::of(cx.ir, it)) {
        jam(cx.ir, op, &it, factor, cx.aliasing);
    }
    Ok(())
}

fn jam(ir: &mut Ir, function: Op, it: &For, factor: i64, aliasing: Aliasing) {
    let trips = it.trip_count();
    if factor <= 1 {
        if factor == 1 {
            run_once(ir, it.op);
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
        && !it.ops(ir).is_empty()
        && copied <= MOST_OPS
        && can_be_copied(ir, &inside)
        && bounds_are_outside(ir, it, &inside);
    let Some(step) = step.filter(|_| is_possible) else { return };
    let Some(parts) = parts(ir, it) else { return };
    let body = legal::body_of(ir, function);
    if !is_allowed(ir, &body, it, factor, aliasing) {
        return;
    }
    if !divides(ir, it, factor) {
        let Some(behind) = split(ir, it, factor) else { return };
        run_once(ir, behind);
    }
    let Some(it) = For::of(ir, it.op) else { return };
    let (low, high) = (it.low.clone(), it.high.clone());
    set_bounds(ir, &it, &low, &high, step);
    let mut runs = Vec::new();
    let mut carriers = Vec::new();
    gather(ir, it.body, &mut runs, &mut carriers);
    let mut carriers: Vec<Carrier> = carriers.into_iter().map(|it| widen(ir, it, factor)).collect();
    let mut loop_ = it.op;
    if !parts.is_empty() {
        let own = widen(ir, it.op, factor);
        loop_ = own.op;
        carriers.push(own);
    }
    // The last copy first, because each copy is inserted directly after the run.
    for copy in (1..factor).rev() {
        let mut values: FxHashMap<Value, Value> = FxHashMap::default();
        for carrier in &carriers {
            carrier.copies(ir, copy as usize, &mut values);
        }
        for run in &runs {
            copy_run(ir, &it, run, copy, &mut values);
        }
        for carrier in &carriers {
            carrier.yields(ir, copy as usize, &values);
        }
    }
    join(ir, loop_, &parts);
    run_once(ir, loop_);
}

/// Returns true if no bound of an inner loop uses a value that the loop defines.
fn bounds_are_outside(ir: &Ir, it: &For, inside: &[Op]) -> bool {
    let region = ir.block(it.body).region;
    inside.iter().filter(|&&op| ir.op(op).kind == OpKind::AffineFor).all(|&op| {
        For::of(ir, op).is_some_and(|inner| {
            let mut all = inner.low.operands.iter().chain(&inner.high.operands);
            all.all(|&value| effects::is_outside(ir, value, region))
        })
    })
}

/// Returns true if all dependent instances keep their order.
fn is_allowed(ir: &Ir, body: &Body, it: &For, factor: i64, aliasing: Aliasing) -> bool {
    let Some(legality) = legal::legality(body, aliasing) else { return false };
    let Some(loop_) = legality.loop_of(it.op) else { return false };
    let depth = body.loops[loop_ as usize].depth as usize;
    // Conditions compare values of the variables, which differ by the step.
    let span = i128::from(factor - 1) * i128::from(it.step);
    legality.effect_in(loop_).is_none()
        && legality.dependences().iter().all(|dependence| {
            let is_inside = |access| legality.path(access).contains(&loop_);
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
    body: &Body,
    legality: &Legality<'_>,
    it: &Instances,
    depth: usize,
    span: i128,
) -> bool {
    let paths = [legality.path(it.source), legality.path(it.target)];
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
    let mut conditions: Vec<Condition<'_>> = Vec::new();
    for (at, (source, target)) in times.iter().enumerate() {
        if at == 0 {
            conditions.push((source, target, Differs::AtMost(span)));
            continue;
        }
        conditions.push((source, target, Differs::AtMost(-1)));
        if legality.exist(it, &conditions) {
            return false;
        }
        conditions.pop();
        conditions.push((source, target, Differs::By(0)));
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
    !is_later_run || !legality.exist(it, &conditions)
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
fn gather(ir: &Ir, body: Block, runs: &mut Vec<Vec<Op>>, carriers: &mut Vec<Op>) {
    let mut run = Vec::new();
    let mut ops: Vec<Op> = ir.block_ops(body).collect();
    ops.pop();
    for op in ops {
        match For::of(ir, op) {
            Some(inner) => {
                if !run.is_empty() {
                    runs.push(std::mem::take(&mut run));
                }
                if !inner.inits.is_empty() {
                    carriers.push(op);
                }
                gather(ir, inner.body, runs, carriers);
            }
            None => run.push(op),
        }
    }
    if !run.is_empty() {
        runs.push(run);
    }
}

/// Inserts a copy of a run for a later iteration directly after the run.
fn copy_run(ir: &mut Ir, it: &For, run: &[Op], copy: i64, values: &mut FxHashMap<Value, Value>) {
    let Some(&last) = run.last() else { return };
    let mut at = Point::After(last);
    if !ir.value(it.iv).uses.is_empty() {
        let next = next_iv(ir, it.iv, copy * it.step, at);
        if let noisy_syntax::Def::Result(op, _) = ir.value(next).def {
            at = Point::After(op);
        }
        values.insert(it.iv, next);
    }
    let mut rewriter = Rewriter::new(ir);
    for &op in run {
        let copied = rewriter.clone_op(op, at, values);
        at = Point::After(copied);
    }
}

/// An inner loop with the `iter_args` of all copies.
struct Carrier {
    op: Op,
    /// Number of carried values of one copy.
    n: usize,
}

/// Repeats the `iter_args` of a loop for each copy.
fn widen(ir: &mut Ir, op: Op, factor: i64) -> Carrier {
    let factor = factor as usize;
    let old = For::of(ir, op).expect("what carries values is a loop");
    let n = old.inits.len();
    let types: Vec<Type> = ir.op(op).results.iter().map(|&it| ir.value(it).ty).collect();
    let all: Vec<Value> = old.inits.repeat(factor);
    let inputs = [&old.low.operands[..], &old.high.operands, &all].concat();
    let mut rewriter = Rewriter::new(ir);
    let new = rewriter.rebuild(op, &inputs, &types.repeat(factor));
    let it = For { inits: all, op: new, ..old };
    let (low, high) = (it.low.clone(), it.high.clone());
    set_bounds(ir, &it, &low, &high, it.step);
    for &ty in &types.repeat(factor - 1) {
        ir.add_argument(it.body, ty);
    }
    let end = it.end(ir);
    let yielded = operands(ir, end).repeat(factor);
    ir.set_operands(end, &yielded);
    let results: Vec<Value> = ir.op(new).results[..n].to_vec();
    Rewriter::new(ir).replace(op, &results);
    Carrier { op: new, n }
}

impl Carrier {
    /// Maps the carried values and the results of the loop to those of a copy.
    fn copies(&self, ir: &Ir, copy: usize, values: &mut FxHashMap<Value, Value>) {
        let Some(it) = For::of(ir, self.op) else { return };
        let (carried, results) = (it.carried(ir), ir.op(self.op).results.clone());
        for at in 0..self.n {
            values.insert(carried[at], carried[copy * self.n + at]);
            values.insert(results[at], results[copy * self.n + at]);
        }
    }

    /// Replaces the initial and the yielded values of a copy by the values of the copy.
    fn yields(&self, ir: &mut Ir, copy: usize, values: &FxHashMap<Value, Value>) {
        let Some(it) = For::of(ir, self.op) else { return };
        let of = |value: Value| values.get(&value).copied().unwrap_or(value);
        let end = it.end(ir);
        let mut yielded = operands(ir, end);
        let mut inits = it.inits.clone();
        for at in 0..self.n {
            yielded[copy * self.n + at] = of(yielded[at]);
            inits[copy * self.n + at] = of(inits[at]);
        }
        ir.set_operands(end, &yielded);
        let all = [&it.low.operands[..], &it.high.operands, &inits].concat();
        ir.set_operands(it.op, &all);
    }
}
