//! Finds generics, loops and branches whose values HEIR cannot type.

use noisy_syntax::{Def, Dim, Ir, Op, OpKind, Type, TypeData, Value};

use super::{Found, Other, Reason, is_encrypted, is_if, is_inner_end, is_used, shape, takes};
use crate::facts::known::Heir;
use crate::text::setting::Scheme;

/// Returns the ops in the body of a loop that use a ciphertext which is an initial value of the
/// loop, each with the index of the first such operand.
pub(super) fn uses_of_starts(ir: &Ir, heir: &Heir, op: Op) -> Vec<(Op, u32)> {
    let data = ir.op(op);
    let first = data.operands.len().saturating_sub(data.results.len());
    let starts = data.operands[first..].iter().filter_map(|it| it.value);
    let starts = starts.filter(|&it| is_encrypted(heir, it));
    let uses = starts.flat_map(|it| ir.value(it).uses.iter().copied());
    let is_inside =
        |it: &(Op, u32)| it.0 != op && !is_inner_end(ir, it.0) && ir.is_within(it.0, op);
    let mut out: Vec<(Op, u32)> = uses.filter(is_inside).collect();
    out.sort_unstable();
    out.dedup_by_key(|it| it.0);
    out
}

/// Returns the first ciphertext in the condition of an `if`.
pub(super) fn condition(ir: &Ir, heir: &Heir, op: Op) -> Option<Found> {
    let at = takes(ir, op, |it| is_encrypted(heir, it))?;
    Some(Found::new(at, Reason::SecretCondition))
}

/// Returns the operand of the terminator of the last branch at which HEIR refuses the branches,
/// with the reason.
pub(super) fn branches(ir: &Ir, heir: &Heir, op: Op) -> Option<Found> {
    let parent = ir.parent_op(op).filter(|&it| is_if(ir, it))?;
    let regions = &ir.op(parent).regions;
    let (first, last) = (regions.first()?.1, regions.last()?.1);
    if regions.len() != 2 || ir.op(op).parent != last {
        return None;
    }
    let other = ir.items(first).last().filter(|&it| is_inner_end(ir, it))?;
    let pairs = || {
        let pairs = ir.op(other).operands.iter().zip(&ir.op(op).operands);
        let pairs = (0..).zip(pairs).filter(|it| is_used(ir, parent, it.0));
        pairs.filter_map(|(at, (a, b))| Some((at, a.value?, b.value?)))
    };
    let is_ciphertext =
        |it: &(u32, Value, Value)| is_encrypted(heir, it.1) || is_encrypted(heir, it.2);
    let found = |(at, other, _): (u32, Value, Value), reason| Found {
        at,
        reason,
        other: Some(Other::Value(other)),
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
        return Some(found(it, Reason::Selection));
    }
    if let Some(it) = pairs().filter(is_ciphertext).nth(1) {
        return Some(found(it, Reason::TwoResults));
    }
    let shape = |it: Value| shape(heir, it).filter(|_| is_encrypted(heir, it));
    let differs =
        |it: &(u32, Value, Value)| shape(it.1).zip(shape(it.2)).is_some_and(|(a, b)| a != b);
    pairs().find(differs).map(|it| found(it, Reason::Branches))
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
pub(super) fn not_integers(
    ir: &Ir,
    scheme: Scheme,
    op: Op,
    first: &dyn Fn() -> Option<Value>,
) -> Option<Found> {
    if scheme == Scheme::Ckks {
        return None;
    }
    let element = |value: Value| match ir.interner.type_data(inside(ir, value)?) {
        TypeData::Tensor { element, .. } => Some(*element),
        _ => inside(ir, value),
    };
    let is_float = |value: Value| {
        element(value).is_some_and(|it| matches!(ir.interner.type_data(it), TypeData::Float(_)))
    };
    if let Some(at) = takes(ir, op, is_float) {
        return Some(Found::new(at, Reason::FloatsInIntegers));
    }
    let is_scalar = |value: Value| {
        let ty = inside(ir, value).map(|it| ir.interner.type_data(it));
        matches!(ty, Some(TypeData::Int { .. } | TypeData::Index))
    };
    if let Some(at) = takes(ir, op, is_scalar) {
        return Some(Found::new(at, Reason::ScalarInIntegers));
    }
    let first = first().filter(|_| scheme == Scheme::Bgv)?;
    let wanted = slots(ir, first)?;
    let at = takes(ir, op, |it| slots(ir, it).is_some_and(|it| it != wanted))?;
    Some(Found { at, reason: Reason::SlotsDiffer, other: Some(Other::Value(first)) })
}

/// Returns the type inside of a secret.
fn inside(ir: &Ir, value: Value) -> Option<Type> {
    ir.interner.secret_element(ir.value(value).ty)
}

/// Returns the last dimension of a secret tensor.
fn slots(ir: &Ir, value: Value) -> Option<u64> {
    match ir.interner.type_data(inside(ir, value)?) {
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
    operands.find(|&it| slots(ir, it).is_some())
}
