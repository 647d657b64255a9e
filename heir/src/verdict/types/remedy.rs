//! Finds changes after which the types of an op are consistent.
//!
//! *Law.* A change is offered if the op then meets all requirements. Later ops may need further
//! changes. *Cost.* One check of the op for each candidate.

use std::sync::Arc;

use noisy_syntax::{Ir, Op, Type, Value};

use super::spaces::space_after_switch;
use super::typed::{
    LoweringTarget, SchemeTypes, TypedOp, ValueType, has_single_stated_type, is_scheme_op,
};
use crate::text::scheme_type::{CiphertextType, SchemeType};
use crate::verdict::requirements::{self, Condition};

/// A change of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeRemedy {
    /// Changes the type that the definition of a value states to this type.
    ResultType(Value, Type),
    /// Changes the type that the op states for an operand, given by its number, to this type.
    StatedType(u32, Type),
    /// Replaces the basis under this key by one with this number of entries.
    Basis(&'static str, u32),
    /// Makes the op switch to the ring of this type, which is the type of its result.
    ToRing(Type),
    /// Changes the name of the op.
    Rename(String),
    /// Inserts an op that converts an operand, given by its number, to this type.
    Convert(u32, Type, CiphertextConversion),
}

/// An op that changes the type of a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CiphertextConversion {
    /// Reduces this number of polynomials to two.
    Relinearize(u32),
    /// Removes one modulus.
    SwitchModulus,
    /// Removes this number of moduli and keeps the scale.
    DropLevels(usize),
}

/// Returns a change after which an op meets the requirements on types, if there is one.
pub(crate) fn remedy(
    ir: &Ir,
    target: LoweringTarget,
    types: &mut SchemeTypes,
    op: Op,
) -> Option<TypeRemedy> {
    let this = TypedOp::new(ir, target, types, op);
    if let Some(stated) = this.stated.first() {
        return remedy_for_stated_type(ir, target, types, &this, stated.at?);
    }
    corrected_basis(&this)
        .or_else(|| corrected_ring(&this))
        .or_else(|| renamed_to_fit(&this))
        .or_else(|| remedy_for_result(ir, target, types, op))
        .or_else(|| conversion(ir, types, &this))
}

/// Returns true if the types of an op meet all requirements.
fn is_sound(this: &TypedOp<'_>) -> bool {
    let mut rows = requirements::type_requirements(this.name());
    this.stated.is_empty() && rows.all(|it| this.check_condition(it.condition).is_none())
}

/// Returns a change for an operand whose type is not the one that the op states for it.
fn remedy_for_stated_type(
    ir: &Ir,
    target: LoweringTarget,
    types: &mut SchemeTypes,
    this: &TypedOp<'_>,
    at: u32,
) -> Option<TypeRemedy> {
    let operand = ir.op(this.op).operands.get(at as usize)?;
    let value = operand.value?;
    if let Some(it) = type_stated_by_uses(ir, target, types, value, operand.ty) {
        return Some(it);
    }
    let given = this.operands.iter().find(|it| it.at == Some(at))?;
    let stated = this.stated.iter().find(|it| it.at == Some(at))?;
    let convert = || {
        let (from, to) = (given.kind.ciphertext()?, stated.kind.ciphertext()?);
        Some(TypeRemedy::Convert(at, operand.ty, conversion_between(from, to)?))
    };
    if let Some(it) = convert() {
        return Some(it);
    }
    // If the op states one type for operand and result, the change affects both.
    let mut actual = TypedOp::new(ir, target, types, this.op);
    actual.stated.retain(|it| it.at != Some(at));
    let is_scheme = is_scheme_op(ir, this.op);
    let is_kept = is_scheme && is_sound(&actual);
    is_kept.then(|| TypeRemedy::StatedType(at, ir.value(value).ty))
}

/// Returns the change of the type of a value to `ty`, if all uses of the value state `ty`, and the
/// op that defines the value may have it as its result type.
fn type_stated_by_uses(
    ir: &Ir,
    target: LoweringTarget,
    types: &mut SchemeTypes,
    value: Value,
    ty: Type,
) -> Option<TypeRemedy> {
    let by = ir.defining_op(value).filter(|&it| is_scheme_op(ir, it))?;
    let is_stated = |it: &(Op, u32)| {
        let operand = ir.op(it.0).operands.get(it.1 as usize);
        operand.is_some_and(|it| it.ty == ty)
    };
    if ty == Type::UNKNOWN || !ir.value(value).uses.iter().all(is_stated) {
        return None;
    }
    let kind = ValueType::Known(types.of(ir, ty)?);
    let mut this = TypedOp::new(ir, target, types, by);
    let is_single = has_single_stated_type(this.name());
    let given = ir.op(by).operands.first()?.value?;
    this.result.as_mut()?.kind = kind;
    // The only type that the op states is also that of its operand.
    if is_single {
        this.stated.clear();
    }
    let is_sound = is_sound(&this) && (!is_single || ir.value(given).ty == ty);
    is_sound.then_some(TypeRemedy::ResultType(value, ty))
}

/// Returns the change of the type of the result to the type that its uses state.
fn remedy_for_result(
    ir: &Ir,
    target: LoweringTarget,
    types: &mut SchemeTypes,
    op: Op,
) -> Option<TypeRemedy> {
    let &[value] = ir.op(op).results.as_slice() else { return None };
    let &(user, at) = ir.value(value).uses.first()?;
    let ty = ir.op(user).operands.get(at as usize)?.ty;
    if ty == ir.value(value).ty {
        return None;
    }
    type_stated_by_uses(ir, target, types, value, ty)
}

/// Returns the correction of a wrong basis of a relinearization.
fn corrected_basis(this: &TypedOp<'_>) -> Option<TypeRemedy> {
    let operand = this.operands.first()?.kind.ciphertext()?.n_polynomials;
    let result = this.result.as_ref()?.kind.ciphertext()?.n_polynomials;
    let is_off = |key: &str, n: u32| {
        this.numbers(key).is_some_and(|it| !it.iter().copied().eq(0..i128::from(n)))
    };
    if is_off("from_basis", operand) {
        return Some(TypeRemedy::Basis("from_basis", operand));
    }
    is_off("to_basis", result).then_some(TypeRemedy::Basis("to_basis", result))
}

/// Returns the correction of the ring of a modulus switch, if all other requirements hold.
fn corrected_ring(this: &TypedOp<'_>) -> Option<TypeRemedy> {
    let result = this.result.as_ref()?;
    this.check_condition(Condition::ToRing)
        .filter(|_| requirements::is_modulus_switch(this.name()))?;
    let rows =
        requirements::type_requirements(this.name()).filter(|it| it.condition != Condition::ToRing);
    let is_fit = rows.map(|it| this.check_condition(it.condition)).all(|it| it.is_none());
    is_fit.then(|| TypeRemedy::ToRing(this.ir.value(result.value).ty))
}

/// Returns the renaming of an op to its variant with or without a plaintext operand, if the
/// operands fit that variant.
fn renamed_to_fit(this: &TypedOp<'_>) -> Option<TypeRemedy> {
    let name = this.name();
    let (other, is_meant) = match name.strip_suffix("_plain") {
        Some(it) => (it.to_owned(), this.two_ciphertexts().is_some()),
        None => (format!("{name}_plain"), this.ciphertext_and_plaintext().is_some()),
    };
    let renamed = TypedOp { name: &other, ..this.clone() };
    let is_known = is_meant && requirements::type_requirements(&other).next().is_some();
    let is_fit = is_known && is_sound(&renamed);
    is_fit.then(|| TypeRemedy::Rename(other.clone()))
}

/// Returns a conversion of one operand to the type of the other.
fn conversion(ir: &Ir, types: &mut SchemeTypes, this: &TypedOp<'_>) -> Option<TypeRemedy> {
    let operands = &this.operands;
    let pairs = [(0, 1), (1, 0)];
    pairs.into_iter().find_map(|(at, other)| {
        let from = operands.get(at)?.kind.ciphertext()?;
        let other = operands.get(other)?;
        let to = other.kind.ciphertext()?;
        let conversion = conversion_between(from, to)?;
        let ty = ir.value(other.value).ty;
        let mut changed = this.clone();
        changed.operands[at].kind = ValueType::Known(types.of(ir, ty)?);
        let at = operands[at].at?;
        is_sound(&changed).then_some(TypeRemedy::Convert(at, ty, conversion))
    })
}

/// Returns the conversion from one type to another, if a single op does it.
fn conversion_between(from: &CiphertextType, to: &CiphertextType) -> Option<CiphertextConversion> {
    if from.n_polynomials > 2 && (CiphertextType { n_polynomials: 2, ..from.clone() }) == *to {
        return Some(CiphertextConversion::Relinearize(from.n_polynomials));
    }
    let (all, left) = (from.ring.residues()?, to.ring.residues()?);
    let n = all.len().checked_sub(left.len()).filter(|&it| it > 0)?;
    let moved = |space| CiphertextType {
        space,
        ring: to.ring.clone(),
        chain: to.chain.clone(),
        ..from.clone()
    };
    let is_below = all.starts_with(left) && from.ring.modulus == to.ring.modulus;
    let levels = from.chain.as_ref()?.current.checked_sub(to.chain.as_ref()?.current);
    if !is_below || levels != Some(n) {
        return None;
    }
    if n == 1 && space_after_switch(from, to).is_some_and(|it| moved(it) == *to) {
        return Some(CiphertextConversion::SwitchModulus);
    }
    (moved(from.space.clone()) == *to).then_some(CiphertextConversion::DropLevels(n))
}

/// Returns the ring of the type of a ciphertext, as the text of an attribute.
pub(crate) fn ring_text(types: &mut SchemeTypes, ir: &Ir, ty: Type) -> Option<String> {
    let read: Arc<SchemeType> = types.of(ir, ty)?;
    let SchemeType::Ciphertext(it) = &*read else { return None };
    let residues = it.ring.residues()?.join(", ");
    let modulus = it.ring.modulus.join(" + ");
    Some(format!(
        "#polynomial.ring<coefficientType = !rns.rns<{residues}>, polynomialModulus = <{modulus}>>"
    ))
}
