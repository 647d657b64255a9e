//! Finds generics, loops and branches whose values HEIR cannot type.

use noisy_syntax::{Def, Dim, Ir, Op, OpKind, Type, TypeData, Value};

use super::{
    RefusedOperand, RelatedPlace, UnloweredReason, first_operand_where, is_checked_ciphertext,
    is_if, is_inner_terminator, is_result_used, level_and_dimension,
};
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::text::setting::Scheme;

/// Returns the ops in the body of a loop that use a ciphertext which is an initial value of the
/// loop, each with the index of the first such operand.
pub(super) fn uses_of_initial_values(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Vec<(Op, u32)> {
    let data = ir.op(op);
    let first = data.operands.len().saturating_sub(data.results.len());
    let starts = data.operands[first..].iter().filter_map(|it| it.value);
    let starts = starts.filter(|&it| is_checked_ciphertext(heir, it));
    let uses = starts.flat_map(|it| ir.value(it).uses.iter().copied());
    let is_inside =
        |it: &(Op, u32)| it.0 != op && !is_inner_terminator(ir, it.0) && ir.is_within(it.0, op);
    let mut out: Vec<(Op, u32)> = uses.filter(is_inside).collect();
    out.sort_unstable();
    out.dedup_by_key(|it| it.0);
    out
}

/// Returns the first ciphertext in the condition of an `if`.
pub(super) fn refused_condition(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<RefusedOperand> {
    let at = first_operand_where(ir, op, |it| is_checked_ciphertext(heir, it))?;
    Some(RefusedOperand::new(at, UnloweredReason::SecretCondition))
}

/// Returns the operand of the terminator of the last branch at which HEIR refuses the branches,
/// with the reason.
pub(super) fn refused_branches(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<RefusedOperand> {
    let parent = ir.parent_op(op).filter(|&it| is_if(ir, it))?;
    let regions = &ir.op(parent).regions;
    let (first, last) = (regions.first()?.1, regions.last()?.1);
    if regions.len() != 2 || ir.op(op).parent != last {
        return None;
    }
    let other = ir.items(first).last().filter(|&it| is_inner_terminator(ir, it))?;
    let pairs = || {
        let pairs = ir.op(other).operands.iter().zip(&ir.op(op).operands);
        let pairs = (0..).zip(pairs).filter(|it| is_result_used(ir, parent, it.0));
        pairs.filter_map(|(at, (a, b))| Some((at, a.value?, b.value?)))
    };
    let is_ciphertext = |it: &(u32, Value, Value)| {
        is_checked_ciphertext(heir, it.1) || is_checked_ciphertext(heir, it.2)
    };
    let found = |(at, other, _): (u32, Value, Value), reason| RefusedOperand {
        at,
        reason,
        other: Some(RelatedPlace::Value(other)),
    };
    let is_outside = |value: Value| {
        let site = ir.definition_site(value);
        site.is_some_and(|it| !ir.is_within(it, parent))
    };
    let is_selection = |it: &(u32, Value, Value)| {
        it.1 != it.2 && is_ciphertext(it) && is_outside(it.1) && is_outside(it.2)
    };
    if is_open_condition(ir, parent)
        && let Some(it) = pairs().find(is_selection)
    {
        return Some(found(it, UnloweredReason::FoldedToSelect));
    }
    if let Some(it) = pairs().filter(is_ciphertext).nth(1) {
        return Some(found(it, UnloweredReason::TwoCiphertextResults));
    }
    let shape =
        |it: Value| level_and_dimension(heir, it).filter(|_| is_checked_ciphertext(heir, it));
    let differs =
        |it: &(u32, Value, Value)| shape(it.1).zip(shape(it.2)).is_some_and(|(a, b)| a != b);
    pairs().find(differs).map(|it| found(it, UnloweredReason::DifferentBranches))
}

/// Returns true if MLIR can neither fold the condition of an `scf.if` nor replace it by the
/// condition of an enclosing branch: it is an argument, or a comparison with one.
fn is_open_condition(ir: &Ir, op: Op) -> bool {
    let is_argument = |it: Value| matches!(ir.value(it).def, Def::Argument(..));
    let condition = |op: Op| ir.op(op).operands.first().and_then(|it| it.value);
    let Some(value) = condition(op).filter(|_| ir.op(op).kind == OpKind::ScfIf) else {
        return false;
    };
    let is_open = is_argument(value)
        || ir.defining_op(value).is_some_and(|by| {
            let operands = &ir.op(by).operands;
            ir.op_name(by) == "arith.cmpi"
                && operands.iter().any(|it| it.value.is_some_and(is_argument))
                && operands[0].value != operands[operands.len() - 1].value
        });
    let mut around = std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it));
    is_open && !around.any(|it| condition(it) == Some(value))
}

/// Returns the first secret operand of a generic that BGV and BFV do not support: a float, a
/// scalar, or in BGV a tensor whose last dimension differs from that of the first tensor of the
/// program.
pub(super) fn refused_secret(
    ir: &Ir,
    scheme: Scheme,
    op: Op,
    first: &dyn Fn() -> Option<Value>,
) -> Option<RefusedOperand> {
    if scheme == Scheme::Ckks {
        return None;
    }
    let element = |value: Value| match ir.interner.type_data(type_in_secret(ir, value)?) {
        TypeData::Tensor { element, .. } => Some(*element),
        _ => type_in_secret(ir, value),
    };
    let is_float = |value: Value| {
        element(value).is_some_and(|it| matches!(ir.interner.type_data(it), TypeData::Float(_)))
    };
    if let Some(at) = first_operand_where(ir, op, is_float) {
        return Some(RefusedOperand::new(at, UnloweredReason::FloatsInIntegers));
    }
    let is_scalar = |value: Value| {
        let ty = type_in_secret(ir, value).map(|it| ir.interner.type_data(it));
        matches!(ty, Some(TypeData::Int { .. } | TypeData::Index))
    };
    if let Some(at) = first_operand_where(ir, op, is_scalar) {
        return Some(RefusedOperand::new(at, UnloweredReason::ScalarInIntegers));
    }
    let first = first().filter(|_| scheme == Scheme::Bgv)?;
    let wanted = last_dimension(ir, first)?;
    let at =
        first_operand_where(ir, op, |it| last_dimension(ir, it).is_some_and(|it| it != wanted))?;
    Some(RefusedOperand {
        at,
        reason: UnloweredReason::SlotsDiffer,
        other: Some(RelatedPlace::Value(first)),
    })
}

/// Returns the type inside of a secret.
fn type_in_secret(ir: &Ir, value: Value) -> Option<Type> {
    ir.interner.secret_element(ir.value(value).ty)
}

/// Returns the last dimension of a secret tensor.
fn last_dimension(ir: &Ir, value: Value) -> Option<u64> {
    match ir.interner.type_data(type_in_secret(ir, value)?) {
        TypeData::Tensor { dims: Some(dims), .. } => match dims.last()? {
            Dim::Fixed(it) => Some(*it),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the first secret tensor operand of a generic.
pub(super) fn first_tensor(ir: &Ir, op: Op) -> Option<Value> {
    let mut operands = ir.op(op).operands.iter().filter_map(|it| it.value);
    operands.find(|&it| last_dimension(ir, it).is_some())
}
