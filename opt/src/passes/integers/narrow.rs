//! `arith-int-narrowing`: computes arithmetic on extended numbers in the smallest supported width
//! that can represent the result.
//!
//! *Law.* The narrow result, extended in the same way as the operands, equals the wide one: the
//! width suffices for all operands of the original widths. *Cost.* Linear in the ops per round.
//! Each round but the last narrows at least one op.

use noisy_analyses::facts::values::{element_type, with_element};
use noisy_integers::constant::{self, Constant};
use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{Ir, Op, OpKind, Sign, Type, TypeData, Value};

use crate::passes::general::canonicalize::rewrite;
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::greedy::{GreedyConfig, Patterns};
use crate::rewrite::regions::SimplificationLevel;
use crate::rewrite::{Rewriter, nested_ops, operand};

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "arith-int-narrowing",
    class: "ArithIntNarrowing",
    anchor: None,
    summary: "Reduce integer operation bitwidth",
    options: &[OptionInfo {
        name: "int-bitwidths-supported",
        default: "",
        kind: OptionKind::Ints,
        summary: "Integer bitwidths supported",
    }],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let mut widths: Vec<u32> = options
        .ints("int-bitwidths-supported")
        .iter()
        .filter_map(|&it| it.try_into().ok())
        .collect();
    widths.sort_unstable();
    let config = GreedyConfig {
        is_top_down: false,
        simplify: SimplificationLevel::Aggressive,
        ..GreedyConfig::default()
    };
    let mut n = 0;
    loop {
        rewrite(cx, op, &Patterns::new([]), config, false)?;
        let before = n;
        for it in nested_ops(cx.ir, op) {
            let at = cx.actions.target(cx.ir, it);
            if cx.actions.is_within_limit()
                && narrow(&mut Rewriter::new(cx.ir), it, &widths).is_some()
            {
                n += 1;
                cx.actions.record_step(cx.ir, "fewer bits hold its result", || at);
            }
        }
        if n == before {
            break;
        }
    }
    cx.add_statistic("num-narrowed - Number of ops in fewer bits", n);
    Ok(())
}

/// Narrows an op. `None` if the op is not changed.
fn narrow(rewriter: &mut Rewriter<'_>, op: Op, widths: &[u32]) -> Option<()> {
    match rewriter.ir.op(op).kind {
        OpKind::ArithSitofp => narrow_to_float(rewriter, op, OpKind::ArithExtsi, widths),
        OpKind::ArithUitofp => narrow_to_float(rewriter, op, OpKind::ArithExtui, widths),
        _ => narrow_binary(rewriter, op, widths),
    }
}

/// Returns the number of bits that the result of an op needs if its operands have `n` bits before
/// the extension. `None` for other ops.
fn needed_bits(kind: OpKind, extension: OpKind, n: u32) -> Option<u32> {
    let is_signed = extension == OpKind::ArithExtsi;
    match kind {
        OpKind::ArithAddi => Some(n + 1),
        OpKind::ArithMuli => Some(2 * n),
        // The least number divided by -1 needs an additional bit.
        OpKind::ArithSubi | OpKind::ArithDivsi if is_signed => Some(n + 1),
        OpKind::ArithMaxsi | OpKind::ArithMinsi if is_signed => Some(n),
        OpKind::ArithDivui | OpKind::ArithMaxui | OpKind::ArithMinui if !is_signed => Some(n),
        _ => None,
    }
}

/// Narrows an op on an extended number and another extended number or a constant.
fn narrow_binary(rewriter: &mut Rewriter<'_>, op: Op, widths: &[u32]) -> Option<()> {
    let kind = rewriter.ir.op(op).kind;
    needed_bits(kind, OpKind::ArithExtsi, 1)
        .or_else(|| needed_bits(kind, OpKind::ArithExtui, 1))?;
    let (a, b) = (operand(rewriter.ir, op, 0)?, operand(rewriter.ir, op, 1)?);
    let extension = rewriter.ir.op(rewriter.ir.defining_op(a)?).kind;
    if !matches!(extension, OpKind::ArithExtsi | OpKind::ArithExtui) {
        return None;
    }
    let wide = rewriter.ty(a);
    let operands = bits_before_extension(rewriter, a, extension)?
        .max(bits_before_extension(rewriter, b, extension)?);
    let narrow = narrower_type(rewriter.ir, wide, needed_bits(kind, extension, operands)?, widths)?;
    let [a, b] = [a, b].map(|it| truncated(rewriter, it, narrow, op));
    let result = rewriter.insert_binary(kind.spec().name, a, b, op);
    let extended = NewOp::new(extension.spec().name).operands(&[result]).results(&[wide]);
    rewriter.replace_with(op, extended);
    Some(())
}

/// Narrows a conversion of an extended number to a float.
fn narrow_to_float(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    extension: OpKind,
    widths: &[u32],
) -> Option<()> {
    let value = operand(rewriter.ir, op, 0)?;
    let n = bits_before_extension(rewriter, value, extension)?;
    let narrow = narrower_type(rewriter.ir, rewriter.ty(value), n, widths)?;
    let value = truncated(rewriter, value, narrow, op);
    rewriter.ir.set_operand(op, 0, value);
    Some(())
}

/// Returns the number of bits that a value needs before an extension of the given kind.
fn bits_before_extension(
    rewriter: &mut Rewriter<'_>,
    value: Value,
    extension: OpKind,
) -> Option<u32> {
    let width = constant::width(rewriter.ir, rewriter.ty(value))?;
    let of_number = |it: i128| match (extension, it) {
        (OpKind::ArithExtui, it) => {
            let kept = it as u128 & (u128::MAX >> (128 - width));
            (128 - kept.leading_zeros()).max(1)
        }
        (_, 0..) => 129 - it.leading_zeros(),
        (_, _) => 129 - it.leading_ones(),
    };
    match rewriter.constant_of(value) {
        Some(Constant::Int(it)) => return Some(of_number(it)),
        Some(it @ Constant::Elements(_)) => {
            let all = rewriter.lists.elements(it)?.iter().map(|it| it.int().map(of_number));
            return all.collect::<Option<Vec<u32>>>()?.into_iter().max();
        }
        _ => {}
    }
    let defining_op = rewriter.ir.defining_op(value);
    match defining_op.filter(|&it| rewriter.ir.op(it).kind == extension) {
        Some(it) => constant::width(rewriter.ir, rewriter.ty(operand(rewriter.ir, it, 0)?)),
        None => Some(width),
    }
}

/// Returns the type `ty` with the smallest supported width that is at least `n`, if it is narrower
/// than `ty`.
fn narrower_type(ir: &mut Ir, ty: Type, n: u32, widths: &[u32]) -> Option<Type> {
    let now = constant::width(ir, ty)?;
    let width = *widths.iter().find(|it| **it >= n)?;
    if width >= now {
        return None;
    }
    let scalar = element_type(ir, ty).unwrap_or(ty);
    if !matches!(ir.interner.type_data(scalar), TypeData::Int { .. }) {
        return None;
    }
    let number = ir.interner.intern_type(TypeData::Int { width, sign: Sign::Signless });
    Some(with_element(ir, ty, number))
}

fn truncated(rewriter: &mut Rewriter<'_>, value: Value, ty: Type, before: Op) -> Value {
    rewriter.insert_value(NewOp::new("arith.trunci").operands(&[value]).results(&[ty]), before)
}
