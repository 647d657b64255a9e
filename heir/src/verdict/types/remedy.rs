//! Finds changes after which the types of an op are consistent.
//!
//! *Law.* A change is offered if the op then meets all requirements. Later ops may need further
//! changes. *Cost.* One check of the op for each candidate.

use std::sync::Arc;

use noisy_syntax::{Ir, Op, Type, Value};

use super::spaces::switched;
use super::typed::{Kind, SchemeTypes, Target, Typed, has_one_type, is_of_scheme};
use crate::text::scheme_type::{Ciphertext, SchemeType};
use crate::verdict::requirements::{self, Condition};

/// A change of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The definition of a value states this type.
    ResultType(Value, Type),
    /// The op states this type for an operand.
    StatedType(u32, Type),
    /// The basis under this key has this number of entries.
    Basis(&'static str, u32),
    /// The op switches to the ring of the type of its result.
    ToRing(Type),
    /// The op gets another name.
    Rename(String),
    /// A new op converts an operand to this type.
    Convert(u32, Type, Conversion),
}

/// An op that changes the type of a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// To two polynomials, from this number.
    Relinearize(u32),
    /// Removes one modulus.
    SwitchModulus,
    /// Removes this number of moduli and keeps the scale.
    DropLevels(usize),
}

/// Returns a change after which an op meets the requirements on types, if there is one.
pub(crate) fn remedy(ir: &Ir, target: Target, types: &mut SchemeTypes, op: Op) -> Option<Remedy> {
    let this = Typed::new(ir, target, types, op);
    if let Some(stated) = this.stated.first() {
        return of_stated(ir, target, types, &this, stated.at?);
    }
    basis(&this)
        .or_else(|| to_ring(&this))
        .or_else(|| rename(&this))
        .or_else(|| of_result(ir, target, types, op))
        .or_else(|| conversion(ir, types, &this))
}

/// Returns true if the types of an op meet all requirements.
fn is_sound(this: &Typed<'_>) -> bool {
    let mut rows = requirements::of_types(this.name());
    this.stated.is_empty() && rows.all(|it| this.broken(it.condition).is_none())
}

/// Returns a change for an operand whose type is not the one that the op states for it.
fn of_stated(
    ir: &Ir,
    target: Target,
    types: &mut SchemeTypes,
    this: &Typed<'_>,
    at: u32,
) -> Option<Remedy> {
    let operand = ir.op(this.op).operands.get(at as usize)?;
    let value = operand.value?;
    if let Some(it) = result_type(ir, target, types, value, operand.ty) {
        return Some(it);
    }
    let given = this.operands.iter().find(|it| it.at == Some(at))?;
    let stated = this.stated.iter().find(|it| it.at == Some(at))?;
    let convert = || {
        let (from, to) = (given.kind.ciphertext()?, stated.kind.ciphertext()?);
        Some(Remedy::Convert(at, operand.ty, between(from, to)?))
    };
    if let Some(it) = convert() {
        return Some(it);
    }
    // If the op states one type for operand and result, the change affects both.
    let mut actual = Typed::new(ir, target, types, this.op);
    actual.stated.retain(|it| it.at != Some(at));
    let is_scheme = is_of_scheme(ir, this.op);
    let is_kept = is_scheme && is_sound(&actual);
    is_kept.then(|| Remedy::StatedType(at, ir.value(value).ty))
}

/// Returns the type that all uses of a value state, if the op that defines the value may have it as
/// its result type.
fn result_type(
    ir: &Ir,
    target: Target,
    types: &mut SchemeTypes,
    value: Value,
    ty: Type,
) -> Option<Remedy> {
    let by = ir.defining_op(value).filter(|&it| is_of_scheme(ir, it))?;
    let is_stated = |it: &(Op, u32)| {
        let operand = ir.op(it.0).operands.get(it.1 as usize);
        operand.is_some_and(|it| it.ty == ty)
    };
    if ty == Type::UNKNOWN || !ir.value(value).uses.iter().all(is_stated) {
        return None;
    }
    let kind = Kind::Known(types.of(ir, ty)?);
    let mut this = Typed::new(ir, target, types, by);
    let is_single = has_one_type(this.name());
    let given = ir.op(by).operands.first()?.value?;
    this.result.as_mut()?.kind = kind;
    // The only type that the op states is also that of its operand.
    if is_single {
        this.stated.clear();
    }
    let is_sound = is_sound(&this) && (!is_single || ir.value(given).ty == ty);
    is_sound.then_some(Remedy::ResultType(value, ty))
}

/// Returns the type that the uses of the result state.
fn of_result(ir: &Ir, target: Target, types: &mut SchemeTypes, op: Op) -> Option<Remedy> {
    let &[value] = ir.op(op).results.as_slice() else { return None };
    let &(user, at) = ir.value(value).uses.first()?;
    let ty = ir.op(user).operands.get(at as usize)?.ty;
    if ty == ir.value(value).ty {
        return None;
    }
    result_type(ir, target, types, value, ty)
}

/// Returns a correct basis for a relinearization.
fn basis(this: &Typed<'_>) -> Option<Remedy> {
    let operand = this.operands.first()?.kind.ciphertext()?.size;
    let result = this.result.as_ref()?.kind.ciphertext()?.size;
    let is_off = |key: &str, n: u32| {
        this.numbers(key).is_some_and(|it| !it.iter().copied().eq(0..i128::from(n)))
    };
    if is_off("from_basis", operand) {
        return Some(Remedy::Basis("from_basis", operand));
    }
    is_off("to_basis", result).then_some(Remedy::Basis("to_basis", result))
}

/// Returns the ring of the result of a modulus switch, if all other requirements hold.
fn to_ring(this: &Typed<'_>) -> Option<Remedy> {
    let result = this.result.as_ref()?;
    this.broken(Condition::ToRing).filter(|_| requirements::has_ring(this.name()))?;
    let rows = requirements::of_types(this.name()).filter(|it| it.condition != Condition::ToRing);
    let is_fit = rows.map(|it| this.broken(it.condition)).all(|it| it.is_none());
    is_fit.then(|| Remedy::ToRing(this.ir.value(result.value).ty))
}

/// Returns the name of the variant of the op with or without a plaintext operand, if the operands
/// fit it.
fn rename(this: &Typed<'_>) -> Option<Remedy> {
    let name = this.name();
    let (other, is_meant) = match name.strip_suffix("_plain") {
        Some(it) => (it.to_owned(), this.ciphertexts().is_some()),
        None => (format!("{name}_plain"), this.with_plaintext().is_some()),
    };
    let renamed = Typed { name: &other, ..this.clone() };
    let is_known = is_meant && requirements::of_types(&other).next().is_some();
    let is_fit = is_known && is_sound(&renamed);
    is_fit.then(|| Remedy::Rename(other.clone()))
}

/// Returns a conversion of one operand to the type of the other.
fn conversion(ir: &Ir, types: &mut SchemeTypes, this: &Typed<'_>) -> Option<Remedy> {
    let operands = &this.operands;
    let pairs = [(0, 1), (1, 0)];
    pairs.into_iter().find_map(|(at, other)| {
        let from = operands.get(at)?.kind.ciphertext()?;
        let other = operands.get(other)?;
        let to = other.kind.ciphertext()?;
        let conversion = between(from, to)?;
        let ty = ir.value(other.value).ty;
        let mut changed = this.clone();
        changed.operands[at].kind = Kind::Known(types.of(ir, ty)?);
        let at = operands[at].at?;
        is_sound(&changed).then_some(Remedy::Convert(at, ty, conversion))
    })
}

/// Returns the op that converts one type to another.
fn between(from: &Ciphertext, to: &Ciphertext) -> Option<Conversion> {
    if from.size > 2 && (Ciphertext { size: 2, ..from.clone() }) == *to {
        return Some(Conversion::Relinearize(from.size));
    }
    let (all, left) = (from.ring.residues()?, to.ring.residues()?);
    let n = all.len().checked_sub(left.len()).filter(|&it| it > 0)?;
    let moved = |space| Ciphertext {
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
    if n == 1 && switched(from, to).is_some_and(|it| moved(it) == *to) {
        return Some(Conversion::SwitchModulus);
    }
    (moved(from.space.clone()) == *to).then_some(Conversion::DropLevels(n))
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
