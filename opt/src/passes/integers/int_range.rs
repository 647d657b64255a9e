//! Passes that use integer ranges: `int-range-optimizations`, `arith-unsigned-when-equivalent`.

use noisy_analyses::facts::effects;
use noisy_integers::Integers;
use noisy_integers::compare::predicate;
use noisy_integers::constant::Constant;
use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{Ir, Op, OpKind, Traits, Value};

use crate::actions::target_of;
use crate::passes::general::canonicalize::rewrite;
use crate::passes::integers::facts::{CachedRanges, blocks_and_ops};
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::greedy::{GreedyConfig, Patterns};
use crate::rewrite::{Rewriter, constants, operands};

pub(crate) const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "int-range-optimizations",
        class: "ArithIntRangeOpts",
        anchor: None,
        summary: "Do optimizations based on integer range analysis",
        options: &[],
        run: optimize,
    },
    PassInfo {
        name: "arith-unsigned-when-equivalent",
        class: "ArithUnsignedWhenEquivalent",
        anchor: None,
        summary: "Replace signed ops with unsigned ones where they are proven equivalent",
        options: &[],
        run: make_unsigned,
    },
];

/// Replaces values with a single possible number by constants, and a remainder by its dividend if
/// the dividend is below the divisor.
fn optimize(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let facts = cx.analyses.get_or_compute::<CachedRanges>(cx.ir, op);
    let facts = &facts.0;
    let (blocks, ops) = blocks_and_ops(cx.ir, op);
    let mut rewriter = Rewriter::new(cx.ir);
    let mut n = 0;
    for block in blocks {
        let Some(first) = rewriter.ir.block_ops(block).next() else { continue };
        if !facts.is_block_live(block) {
            continue;
        }
        for value in rewriter.ir.block(block).args.clone() {
            if cx.actions.is_within_limit()
                && replace_by_constant(&mut rewriter, facts, value, first)
            {
                n += 1;
                let ir = &*rewriter.ir;
                cx.actions.record_step(ir, "an argument is constant", || target_of(ir, first));
            }
        }
    }
    for op in ops {
        if !cx.actions.is_within_limit()
            || !rewriter.ir.is_alive(op)
            || rewriter.ir.op(op).kind.has(Traits::CONSTANT)
            || !facts.is_live(rewriter.ir, op)
        {
            continue;
        }
        let results = rewriter.ir.op(op).results.to_vec();
        let at = cx.actions.target(rewriter.ir, op);
        let before = n;
        // Constants are inserted before the op, not in its regions.
        for value in results {
            n += usize::from(replace_by_constant(&mut rewriter, facts, value, op));
        }
        if effects::is_trivially_dead(rewriter.ir, op) {
            rewriter.erase(op);
        } else if is_trivial_remainder(rewriter.ir, facts, op)
            && let value = rewriter.operand(op, 0)
            && !rewriter.ir.op(op).results.contains(&value)
        {
            rewriter.replace(op, &[value]);
            n += 1;
        }
        if n > before {
            cx.actions.record_step(rewriter.ir, "its range is one value", || at);
        }
    }
    cx.add_statistic("num-folded - Number of values replaced", n);
    rewrite(cx, op, &Patterns::new([]), GreedyConfig::default(), false)
}

/// Replaces a value by a constant before an op if its range is a single number. Returns true if the
/// value was replaced.
fn replace_by_constant(
    rewriter: &mut Rewriter<'_>,
    facts: &Integers,
    value: Value,
    before: Op,
) -> bool {
    if rewriter.ir.value(value).uses.is_empty() {
        return false;
    }
    let Constant::Int(number) = facts.constant(rewriter.ir, value) else { return false };
    let ty = rewriter.ty(value);
    let lists = noisy_integers::elements::ElementLists::default();
    let Some(attr) = constants::to_attr(rewriter.ir, &lists, Constant::Int(number), ty) else {
        return false;
    };
    let Some(constant) = rewriter.constant_attr(attr, ty, before) else { return false };
    rewriter.replace_uses(value, constant);
    true
}

fn is_trivial_remainder(ir: &Ir, facts: &Integers, op: Op) -> bool {
    let kind = ir.op(op).kind;
    if !matches!(kind, OpKind::ArithRemsi | OpKind::ArithRemui) {
        return false;
    }
    let all = operands(ir, op);
    let (Some(a), Some(b)) = (facts.bounds(ir, all[0]), facts.bounds(ir, all[1])) else {
        return false;
    };
    match kind {
        // For nonnegative dividends below the divisor, which is then positive.
        OpKind::ArithRemsi => a.smin >= 0 && a.smax < b.smin,
        _ => a.umax < b.umin,
    }
}

/// Replaces signed ops on nonnegative numbers by unsigned ones.
fn make_unsigned(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let facts = cx.analyses.get_or_compute::<CachedRanges>(cx.ir, op);
    let facts = &facts.0;
    let (_, ops) = blocks_and_ops(cx.ir, op);
    let mut rewriter = Rewriter::new(cx.ir);
    let mut n = 0;
    for op in ops {
        if !cx.actions.is_within_limit() {
            break;
        }
        let kind = rewriter.ir.op(op).kind;
        let to = match kind {
            OpKind::ArithDivsi | OpKind::ArithFloordivsi => "arith.divui",
            OpKind::ArithCeildivsi => "arith.ceildivui",
            OpKind::ArithRemsi => "arith.remui",
            OpKind::ArithMinsi => "arith.minui",
            OpKind::ArithMaxsi => "arith.maxui",
            OpKind::ArithExtsi => "arith.extui",
            OpKind::ArithCmpi => "arith.cmpi",
            _ => continue,
        };
        let is_natural = |it: Value| facts.bounds(rewriter.ir, it).is_some_and(|it| it.smin >= 0);
        let all = operands(rewriter.ir, op);
        let results = rewriter.ir.op(op).results.to_vec();
        if !all.iter().all(|&it| is_natural(it)) {
            continue;
        }
        if kind == OpKind::ArithCmpi {
            let Some(signed @ 2..=5) = predicate(rewriter.ir, op) else { continue };
            rewriter.set_predicate(op, signed + 4);
            n += 1;
            cx.actions.record_step(rewriter.ir, "never negative", || target_of(rewriter.ir, op));
            continue;
        }
        if !results.iter().all(|&it| is_natural(it)) {
            continue;
        }
        let types: Vec<_> = results.iter().map(|&it| rewriter.ty(it)).collect();
        let at = cx.actions.target(rewriter.ir, op);
        rewriter.replace_with(op, NewOp::new(to).operands(&all).results(&types));
        n += 1;
        cx.actions.record_step(rewriter.ir, "never negative", || at);
    }
    if n == 0 {
        cx.analyses.preserve_all();
    }
    Ok(())
}
