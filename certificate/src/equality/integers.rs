//! Integers that are constants, or the sum of another integer and a constant.

use noisy_syntax::affine::{AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::{Def, Form, Ir, Op, OpKind, TypeData, Value};

use super::polynomial::MODULUS;

/// The definition of an integer by an op without effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntegerDefinition {
    /// A constant.
    Constant(i128),
    /// The first operand plus a constant.
    Plus(i128),
}

/// Returns true if the parser understood the whole op.
pub(super) fn is_fully_parsed(form: Form) -> bool {
    matches!(form, Form::Generic | Form::Custom)
}

/// Returns the definition of the integer, for `arith.constant`, `arith.addi` of a constant and
/// `affine.apply` of `d0 + c`.
pub(super) fn integer_definition(ir: &Ir, op: Op) -> Option<IntegerDefinition> {
    let data = ir.op(op);
    let [result] = data.results[..] else { return None };
    let is_integer = matches!(
        ir.interner.type_data(ir.value(result).ty),
        TypeData::Index | TypeData::Int { .. }
    );
    if !is_integer || !is_fully_parsed(data.form) {
        return None;
    }
    let attrs = &ir.extra(op).attrs;
    match data.kind {
        OpKind::ArithConstant if attrs.len() == 1 => {
            constant_value(ir, result).map(IntegerDefinition::Constant)
        }
        OpKind::ArithAddi if attrs.is_empty() => {
            let (_, by) = (data.operands.first()?.value?, data.operands.get(1)?.value?);
            constant_value(ir, by).map(IntegerDefinition::Plus)
        }
        OpKind::AffineApply if attrs.len() == 1 => {
            let [operand] = &data.operands[..] else { return None };
            operand.value?;
            let map = ir.interner.affine(ir.attr(op, "map")?)?;
            let AffineBody::Map(results) = &map.body else { return None };
            let [AffineExpr::Binary(AffineOperator::Add, sum)] = &results[..] else { return None };
            let (AffineExpr::Dim(0), AffineExpr::Const(by)) = &**sum else { return None };
            (map.n_inputs() == 1).then_some(IntegerDefinition::Plus(i128::from(*by)))
        }
        _ => None,
    }
}

/// Returns the number that an `arith.constant` defines.
pub(super) fn constant_value(ir: &Ir, value: Value) -> Option<i128> {
    let Def::Result(op, 0) = ir.value(value).def else { return None };
    (ir.op(op).kind == OpKind::ArithConstant).then_some(())?;
    ir.interner.int_value(ir.attr(op, "value")?)
}

/// Returns the plaintext of an encoded constant of type `i5`, the width of plaintexts.
pub(super) fn encoded_constant(ir: &Ir, value: Value) -> Option<u64> {
    let Def::Result(op, 0) = ir.value(value).def else { return None };
    let data = ir.op(op);
    if data.kind != OpKind::NoisyEncode || !ir.extra(op).attrs.is_empty() {
        return None;
    }
    let operand = data.operands.first()?.value?;
    let is_full = |it: &TypeData| matches!(it, TypeData::Int { width: 5, .. });
    let number = constant_value(ir, operand)
        .filter(|_| is_full(ir.interner.type_data(ir.value(operand).ty)));
    u64::try_from(number?.rem_euclid(i128::from(MODULUS))).ok()
}
