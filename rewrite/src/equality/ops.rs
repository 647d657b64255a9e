//! Classification of ops for the proof.

use noisy_analyses::Program;
use noisy_integers::constant::Constant;
use noisy_syntax::affine::{AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::{Def, Form, Ir, Op, OpKind, Span, TypeData, Value};

use super::polynomial::PLAINTEXT_BITS;

/// Returns true if an op is a sum, a difference or a product of two noisy integers, or reduces the
/// noise of one, without further attributes.
pub(super) fn is_arithmetic(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    let n_operands = match data.kind {
        OpKind::NoisyAdd | OpKind::NoisySub | OpKind::NoisyMul => 2,
        OpKind::NoisyReduceNoise => 1,
        _ => return false,
    };
    let noisy = |value: Value| is_noisy(ir, value);
    data.operands.len() == n_operands
        && data.results.len() == 1
        && ir.extra(op).attrs.is_empty()
        && !ir.has_problem(op)
        && !matches!(data.form, Form::Broken | Form::Opaque)
        && noisy(data.results[0])
        && data.operands.iter().all(|it| it.value.is_some_and(noisy))
}

/// Returns true if a value is a noisy integer.
pub(super) fn is_noisy(ir: &Ir, value: Value) -> bool {
    ir.interner.type_text(ir.value(value).ty) == "!noisy.i32"
}

/// Returns the plaintext of a value that encodes a constant.
pub(super) fn constant(program: &Program, value: Value) -> Option<u64> {
    let ir = program.ir();
    let Def::Result(op, 0) = ir.value(value).def else { return None };
    let data = ir.op(op);
    let plain = data.operands.first().filter(|_| data.kind == OpKind::NoisyEncode)?.value?;
    let TypeData::Int { width, .. } = ir.interner.type_data(ir.value(plain).ty) else {
        return None;
    };
    match program.integers().constant(ir, plain) {
        Constant::Int(it) if u64::from(*width) == u64::from(PLAINTEXT_BITS) => {
            Some(it.rem_euclid(1 << PLAINTEXT_BITS) as u64)
        }
        _ => None,
    }
}

/// An integer op that depends on constants and at most one other integer.
pub(super) enum IntegerOp {
    /// A constant.
    Number(i128),
    /// The sum of the first operand and a constant.
    Sum(i128),
}

/// Returns the meaning of an op that is an integer constant, or the sum of an integer and a
/// constant.
pub(super) fn integer_op(ir: &Ir, op: Op) -> Option<IntegerOp> {
    let data = ir.op(op);
    let n_attrs = ir.extra(op).attrs.len();
    if matches!(data.form, Form::Broken | Form::Opaque)
        || ir.has_problem(op)
        || data.results.len() != 1
        || !data.regions.is_empty()
    {
        return None;
    }
    let ty = ir.interner.type_data(ir.value(data.results[0]).ty);
    if !matches!(ty, TypeData::Int { .. } | TypeData::Index) {
        return None;
    }
    match data.kind {
        OpKind::ArithConstant => Some(IntegerOp::Number(number(ir, op)?)),
        OpKind::ArithAddi if n_attrs == 0 && data.operands.len() == 2 => {
            let by = data.operands[1].value?;
            Some(IntegerOp::Sum(number(ir, ir.defining_op(by)?)?))
        }
        OpKind::AffineApply if n_attrs == 1 && data.operands.len() == 1 => {
            let map = ir.interner.affine(ir.attr(op, "map")?)?;
            let AffineBody::Map(results) = &map.body else { return None };
            let [AffineExpr::Binary(AffineOperator::Add, both)] = &results[..] else { return None };
            match &**both {
                (AffineExpr::Dim(0), AffineExpr::Const(it)) => {
                    Some(IntegerOp::Sum(i128::from(*it)))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the number that an `arith.constant` defines.
fn number(ir: &Ir, op: Op) -> Option<i128> {
    let is_plain = ir.op(op).kind == OpKind::ArithConstant && ir.extra(op).attrs.len() == 1;
    ir.interner.int_value(ir.attr(op, "value").filter(|_| is_plain)?)
}

/// Returns true if an op is a computation: its result depends only on its operands, and it has no
/// other effects.
pub(super) fn is_computed(ir: &Ir, op: Op) -> bool {
    is_arithmetic(ir, op) || integer_op(ir, op).is_some()
}

/// Returns the text of an op without its regions, its operands and the names of its results.
pub(super) fn text_without_names(program: &Program, op: Op) -> String {
    let data = program.ir().op(op);
    let mut cuts: Vec<(u32, u32)> =
        data.operands.iter().map(|it| (it.span.start, it.span.end)).collect();
    cuts.extend(data.result_names.iter().map(|it| (it.span.start, it.span.end)));
    cuts.extend(data.regions.iter().map(|it| (it.0, it.0)));
    cuts.sort_unstable();
    let mut out = String::new();
    let mut at = data.lead_len;
    for (start, end) in cuts {
        if at < start {
            out += &program.source().span_text(op, Span::new(at, start));
        }
        out.push('%');
        at = at.max(end);
    }
    if at < data.own_len {
        out += &program.source().span_text(op, Span::new(at, data.own_len));
    }
    out
}
