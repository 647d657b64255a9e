//! Patterns of integer and float arithmetic.
//!
//! *Overflow flags.* A combined sum keeps a flag if all its ops have it and the combined constant
//! does not overflow. The exact value is then unchanged, so it is still in range.

use noisy_analyses::facts::values::with_element;
use noisy_integers::constant::{sign_extended, width};
use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{Attr, AttrData, Ir, Op, OpKind, Type, TypeData, Value};

use super::patterns;
use crate::predicate::inverted;
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, operand};

pub(super) const PATTERNS: &[Pattern] = patterns! {
    ArithAddi: sum_of_sum, add_negated;
    ArithSubi: sum_of_sum, sub_from_same;
    ArithMuli: product_of_product;
    ArithAndi: bits_of_extended;
    ArithOri: bits_of_extended;
    ArithXori: not_of_compare, bits_of_extended;
    ArithExtsi: extend_of_extend;
    ArithExtui: extend_of_extend;
    ArithTrunci: truncate_of_extend, high_half, truncate_of_shift;
    ArithAdduiExtended: sum_without_carry;
    ArithMulsiExtended: signed_product_by_one, product_without_high;
    ArithMuluiExtended: product_without_high;
    ArithMulf: signs_cancel;
    ArithDivf: signs_cancel;
    ArithBitcast: bitcast_of_bitcast;
    ArithIndexCast: index_cast_of_extend;
    ArithIndexCastui: index_cast_of_extend;
};

/// Returns the overflow flags `nsw` and `nuw` of an op.
pub(crate) fn overflow_flags(ir: &Ir, op: Op) -> (bool, bool) {
    let Some(attr) = ir.attr(op, "overflowFlags") else { return (false, false) };
    let AttrData::Text(text, _) = *ir.interner.attr_data(attr) else { return (false, false) };
    let text = ir.interner.str(text);
    (text.contains("nsw"), text.contains("nuw"))
}

/// Returns the attribute of overflow flags. `None` if no flag is set.
fn overflow_attr(ir: &mut Ir, nsw: bool, nuw: bool) -> Option<Attr> {
    let text = match (nsw, nuw) {
        (true, true) => "#arith.overflow<nsw, nuw>",
        (true, false) => "#arith.overflow<nsw>",
        (false, true) => "#arith.overflow<nuw>",
        (false, false) => return None,
    };
    let name = ir.interner.intern_name(text);
    Some(ir.interner.intern_attr(AttrData::Text(name, None)))
}

/// A sum or difference of a value and a constant: `value + constant`, or `constant - value` if
/// negated. The constant is kept as signed and as unsigned.
#[derive(Clone, Copy, Debug)]
struct LinearInt {
    value: Value,
    is_negated: bool,
    signed: i128,
    unsigned: i128,
    flags: (bool, bool),
}

fn linear_form(ir: &Ir, op: Op) -> Option<LinearInt> {
    let kind = ir.op(op).kind;
    if !matches!(kind, OpKind::ArithAddi | OpKind::ArithSubi) {
        return None;
    }
    let (a, b) = (operand(ir, op, 0)?, operand(ir, op, 1)?);
    let width = width(ir, ir.value(a).ty).filter(|&it| it <= 64)?;
    let both = |it: Value| {
        let signed = crate::rewrite::constants::int_of(ir, it)?;
        Some((signed, signed & ((1 << width) - 1)))
    };
    let flags = overflow_flags(ir, op);
    let (value, is_negated, (signed, unsigned)) = match (kind, both(a), both(b)) {
        (_, Some(_), Some(_)) | (_, None, None) => return None,
        (OpKind::ArithAddi, None, Some(it)) => (a, false, it),
        (OpKind::ArithAddi, Some(it), None) => (b, false, it),
        (_, None, Some((signed, unsigned))) => (a, false, (-signed, -unsigned)),
        (_, Some(it), None) => (b, true, it),
    };
    Some(LinearInt { value, is_negated, signed, unsigned, flags })
}

/// Rewrites `(x + 1) + 2` to `x + 3`, and other nested sums and differences with constants
/// similarly.
fn sum_of_sum(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let ir = &*rewriter.ir;
    let Some(outer) = linear_form(ir, op) else { return false };
    let Some(inner_op) = ir.defining_op(outer.value) else { return false };
    let Some(inner) = linear_form(ir, inner_op) else { return false };
    let sign = |is_negated: bool, it: i128| if is_negated { -it } else { it };
    let signed = outer.signed + sign(outer.is_negated, inner.signed);
    let unsigned = outer.unsigned + sign(outer.is_negated, inner.unsigned);
    let is_negated = outer.is_negated != inner.is_negated;
    let ty = ir.value(outer.value).ty;
    let Some(width) = width(ir, ty) else { return false };
    // A difference of a difference is again a difference.
    let is_difference = !is_negated
        && [op, inner_op].iter().all(|&it| ir.op(it).kind == OpKind::ArithSubi)
        && !outer.is_negated;
    let (signed, unsigned) = if is_difference { (-signed, -unsigned) } else { (signed, unsigned) };
    let (nsw, nuw) = (outer.flags.0 && inner.flags.0, outer.flags.1 && inner.flags.1);
    let nsw = nsw && sign_extended(signed, width) == signed;
    let nuw = nuw && (0..1 << width).contains(&unsigned);
    let flags = overflow_attr(rewriter.ir, nsw, nuw);
    let constant = rewriter.int(signed, ty, op);
    let mut new = if is_negated {
        NewOp::new("arith.subi").operands(&[constant, inner.value])
    } else if is_difference {
        NewOp::new("arith.subi").operands(&[inner.value, constant])
    } else {
        NewOp::new("arith.addi").operands(&[inner.value, constant])
    };
    if let Some(flags) = flags {
        new = new.attr("overflowFlags", flags);
    }
    rewriter.replace_with(op, new.results(&[ty]));
    true
}

/// Rewrites `x + y * -1` to `x - y`.
fn add_negated(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    let negated = |it: Value| {
        let product = rewriter.defined_by(it, OpKind::ArithMuli)?;
        let by = rewriter.int_of(rewriter.operand(product, 1))?;
        (by == -1).then(|| rewriter.operand(product, 0))
    };
    let ty = rewriter.ty(a);
    let (x, y) = match (negated(b), negated(a)) {
        (Some(y), _) => (a, y),
        (_, Some(y)) => (b, y),
        _ => return false,
    };
    // This holds for one bit, too, where -1 equals 1 and differences equal sums.
    rewriter.replace_with(op, NewOp::new("arith.subi").operands(&[x, y]).results(&[ty]));
    true
}

/// Rewrites `(a - b) - a` to `0 - b`.
fn sub_from_same(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    let Some(inner) = rewriter.defined_by(a, OpKind::ArithSubi) else { return false };
    if rewriter.operand(inner, 0) != b {
        return false;
    }
    let other = rewriter.operand(inner, 1);
    let (outer, inner) = (overflow_flags(rewriter.ir, op), overflow_flags(rewriter.ir, inner));
    let flags = overflow_attr(rewriter.ir, outer.0 && inner.0, outer.1 && inner.1);
    let ty = rewriter.ty(a);
    let zero = rewriter.int(0, ty, op);
    let mut new = NewOp::new("arith.subi").operands(&[zero, other]).results(&[ty]);
    if let Some(flags) = flags {
        new = new.attr("overflowFlags", flags);
    }
    rewriter.replace_with(op, new);
    true
}

/// Rewrites `(x * 2) * 3` to `x * 6`.
fn product_of_product(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    let Some(outer) = rewriter.int_of(b) else { return false };
    let Some(product) = rewriter.defined_by(a, OpKind::ArithMuli) else { return false };
    let (x, y) = (rewriter.operand(product, 0), rewriter.operand(product, 1));
    let Some(inner) = rewriter.int_of(y).filter(|_| rewriter.int_of(x).is_none()) else {
        return false;
    };
    let ty = rewriter.ty(a);
    let Some(width) = width(rewriter.ir, ty).filter(|&it| it <= 64) else { return false };
    let (flags, other) = (overflow_flags(rewriter.ir, op), overflow_flags(rewriter.ir, product));
    let mask = u128::MAX >> (128 - width);
    let signed = outer * inner;
    let unsigned = (outer as u128 & mask) * (inner as u128 & mask);
    // The flags are kept only if both products have them and the combined factor does not overflow.
    let nsw = flags.0 && other.0 && sign_extended(signed, width) == signed;
    let nuw = flags.1 && other.1 && unsigned <= mask;
    let flags = overflow_attr(rewriter.ir, nsw, nuw);
    let constant = rewriter.int(sign_extended(signed, width), ty, op);
    let mut new = NewOp::new("arith.muli").operands(&[x, constant]).results(&[ty]);
    if let Some(flags) = flags {
        new = new.attr("overflowFlags", flags);
    }
    rewriter.replace_with(op, new);
    true
}

/// Rewrites `ext(x) & ext(y)` to `ext(x & y)`, and `|` and `^` similarly.
fn bits_of_extended(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    for kind in [OpKind::ArithExtui, OpKind::ArithExtsi] {
        let (Some(x), Some(y)) = (rewriter.defined_by(a, kind), rewriter.defined_by(b, kind))
        else {
            continue;
        };
        let (x, y) = (rewriter.operand(x, 0), rewriter.operand(y, 0));
        if rewriter.ty(x) != rewriter.ty(y) {
            continue;
        }
        let ty = rewriter.ty(a);
        let name = rewriter.ir.op(op).kind.spec().name;
        let narrow = rewriter.insert_binary(name, x, y, op);
        rewriter.replace_with(op, NewOp::new(kind.spec().name).operands(&[narrow]).results(&[ty]));
        return true;
    }
    false
}

/// Rewrites `!(a < b)` to `a >= b`, and other predicates similarly.
fn not_of_compare(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    if rewriter.int_of(b) != Some(-1) {
        return false;
    }
    let Some(compare) = rewriter.defined_by(a, OpKind::ArithCmpi) else { return false };
    let ir = &*rewriter.ir;
    let Some(predicate) = noisy_integers::compare::predicate(ir, compare) else {
        return false;
    };
    let (x, y) = (rewriter.operand(compare, 0), rewriter.operand(compare, 1));
    let ty = rewriter.ty(a);
    let new = compare_op(rewriter.ir, inverted(predicate), x, y, ty);
    rewriter.replace_with(op, new);
    true
}

/// Returns a new comparison of integers.
pub(super) fn compare_op(ir: &mut Ir, predicate: i128, a: Value, b: Value, ty: Type) -> NewOp {
    let attr = ir.interner.intern_attr(AttrData::Int { value: predicate, ty: Type::I64 });
    NewOp::new("arith.cmpi").operands(&[a, b]).attr("predicate", attr).results(&[ty])
}

/// Merges two extensions.
fn extend_of_extend(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let a = rewriter.operand(op, 0);
    let Some(inner) = rewriter.ir.defining_op(a) else { return false };
    let (kind, of) = (rewriter.ir.op(op).kind, rewriter.ir.op(inner).kind);
    // A zero-extended number is nonnegative, so its sign extension is a zero extension.
    let is_same = of == kind;
    if !is_same && (of != OpKind::ArithExtui || kind != OpKind::ArithExtsi) {
        return false;
    }
    let from = rewriter.operand(inner, 0);
    let ty = rewriter.ty(rewriter.ir.op(op).results[0]);
    let mut new = NewOp::new(of.spec().name).operands(&[from]).results(&[ty]);
    let flag = |it: Op| rewriter.ir.attr(it, "nonNeg");
    if let (true, OpKind::ArithExtui, Some(attr), Some(_)) = (is_same, kind, flag(op), flag(inner))
    {
        new = new.attr("nonNeg", attr);
    }
    rewriter.replace_with(op, new);
    true
}

fn int_width(ir: &Ir, value: Value) -> Option<u32> {
    let ty = ir.value(value).ty;
    let ty = crate::rewrite::constants::element_type(ir, ty).unwrap_or(ty);
    match ir.interner.type_data(ty) {
        TypeData::Int { width, .. } => Some(*width),
        _ => None,
    }
}

/// Rewrites a truncation of an extension to a smaller extension or a truncation, and merges two
/// truncations.
fn truncate_of_extend(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let a = rewriter.operand(op, 0);
    let Some(inner) = rewriter.ir.defining_op(a) else { return false };
    let of = rewriter.ir.op(inner).kind;
    let is_cut = of == OpKind::ArithTrunci;
    if !is_cut && !matches!(of, OpKind::ArithExtsi | OpKind::ArithExtui) {
        return false;
    }
    let from = rewriter.operand(inner, 0);
    let result = rewriter.ir.op(op).results[0];
    let ty = rewriter.ty(result);
    let (Some(source), Some(target)) =
        (int_width(rewriter.ir, from), int_width(rewriter.ir, result))
    else {
        return false;
    };
    let name = if !is_cut && source < target { of.spec().name } else { "arith.trunci" };
    rewriter.replace_with(op, NewOp::new(name).operands(&[from]).results(&[ty]));
    true
}

/// Rewrites the high half of a product of extended numbers to the second result of an extended
/// multiplication.
fn high_half(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((shift, product, by)) = shift_by_constant(rewriter, op, OpKind::ArithShrui) else {
        return false;
    };
    let _ = shift;
    let Some(product) = rewriter.defined_by(product, OpKind::ArithMuli) else { return false };
    let (a, b) = (rewriter.operand(product, 0), rewriter.operand(product, 1));
    let result = rewriter.ir.op(op).results[0];
    let ty = rewriter.ty(result);
    for (kind, name) in
        [(OpKind::ArithExtsi, "arith.mulsi_extended"), (OpKind::ArithExtui, "arith.mului_extended")]
    {
        let (Some(x), Some(y)) = (rewriter.defined_by(a, kind), rewriter.defined_by(b, kind))
        else {
            continue;
        };
        let (x, y) = (rewriter.operand(x, 0), rewriter.operand(y, 0));
        let Some(width) = int_width(rewriter.ir, x) else { continue };
        let is_whole = int_width(rewriter.ir, a).is_some_and(|it| it >= 2 * width);
        if rewriter.ty(x) != ty || rewriter.ty(y) != ty || by != i128::from(width) || !is_whole {
            continue;
        }
        let new = NewOp::new(name).operands(&[x, y]).results(&[ty, ty]);
        let new = rewriter.insert(new, noisy_syntax::rewrite::InsertionPoint::Before(op));
        let high = rewriter.ir.op(new).results[1];
        rewriter.replace(op, &[high]);
        return true;
    }
    false
}

/// Returns the shift by a constant that defines operand 0 of an op, its operand, and its number of
/// bits.
fn shift_by_constant(rewriter: &Rewriter<'_>, op: Op, kind: OpKind) -> Option<(Op, Value, i128)> {
    let shift = rewriter.defined_by(rewriter.operand(op, 0), kind)?;
    let by = rewriter.int_of(rewriter.operand(shift, 1))?;
    Some((shift, rewriter.operand(shift, 0), by))
}

/// Rewrites a signed right shift to an unsigned one if all bits shifted in are truncated.
fn truncate_of_shift(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((_, value, by)) = shift_by_constant(rewriter, op, OpKind::ArithShrsi) else {
        return false;
    };
    let result = rewriter.ir.op(op).results[0];
    let (Some(source), Some(target)) =
        (int_width(rewriter.ir, value), int_width(rewriter.ir, result))
    else {
        return false;
    };
    if by < 0 || by + i128::from(target) != i128::from(source) {
        return false;
    }
    let (wide, ty) = (rewriter.ty(value), rewriter.ty(result));
    let by = rewriter.int(by, wide, op);
    let shift = rewriter.insert_binary("arith.shrui", value, by, op);
    rewriter.replace_with(op, NewOp::new("arith.trunci").operands(&[shift]).results(&[ty]));
    true
}

fn is_unused(rewriter: &Rewriter<'_>, op: Op, result: usize) -> bool {
    let value = rewriter.ir.op(op).results[result];
    rewriter.ir.value(value).uses.is_empty()
}

/// Rewrites an extended sum with unused carry to `arith.addi`.
fn sum_without_carry(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    if !is_unused(rewriter, op, 1) {
        return false;
    }
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    let sum = rewriter.insert_binary("arith.addi", a, b, op);
    let result = rewriter.ir.op(op).results[0];
    rewriter.replace_uses(result, sum);
    rewriter.erase(op);
    true
}

/// Rewrites an extended product with unused high half to `arith.muli`.
fn product_without_high(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    if !is_unused(rewriter, op, 1) {
        return false;
    }
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    let product = rewriter.insert_binary("arith.muli", a, b, op);
    let result = rewriter.ir.op(op).results[0];
    rewriter.replace_uses(result, product);
    rewriter.erase(op);
    true
}

/// Rewrites the extended signed product `x * 1` to `x` and, for the high half, its sign.
fn signed_product_by_one(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    // For one bit, the constant 1 is -1.
    let is_wide = int_width(rewriter.ir, a).is_some_and(|it| it > 1)
        || rewriter.ir.interner.type_data(rewriter.ty(a)) == &TypeData::Index;
    if rewriter.int_of(b) != Some(1) || !is_wide {
        return false;
    }
    let ty = rewriter.ty(a);
    let Some(i1) = i1_like(rewriter.ir, ty) else { return false };
    let zero = rewriter.int(0, ty, op);
    let compare = compare_op(rewriter.ir, 2, a, zero, i1);
    let is_negative = rewriter.insert_value(compare, op);
    let new = NewOp::new("arith.extsi").operands(&[is_negative]).results(&[ty]);
    let high = rewriter.insert_value(new, op);
    rewriter.replace(op, &[a, high]);
    true
}

/// Returns the type of a comparison of values of a type. `None` for `index`, which no extension
/// produces.
pub(super) fn i1_like(ir: &mut Ir, ty: Type) -> Option<Type> {
    let is_meant = matches!(
        ir.interner.type_data(ty),
        TypeData::Int { .. } | TypeData::Vector { .. } | TypeData::Tensor { .. }
    );
    is_meant.then(|| with_element(ir, ty, Type::I1))
}

/// Rewrites `-x * -y` to `x * y`, and quotients similarly.
fn signs_cancel(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    let negated = |it| rewriter.defined_by(it, OpKind::ArithNegf);
    let (Some(x), Some(y)) = (negated(a), negated(b)) else { return false };
    let (x, y) = (rewriter.operand(x, 0), rewriter.operand(y, 0));
    let (name, ty) = (rewriter.ir.op(op).kind.spec().name, rewriter.ty(a));
    let mut new = NewOp::new(name).operands(&[x, y]).results(&[ty]);
    if let Some(attr) = rewriter.ir.attr(op, "fastmath") {
        new = new.attr("fastmath", attr);
    }
    rewriter.replace_with(op, new);
    true
}

/// Rewrites an index cast of an extension to an index cast of the extended number.
fn index_cast_of_extend(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let kind = rewriter.ir.op(op).kind;
    let extend = match kind {
        OpKind::ArithIndexCast => OpKind::ArithExtsi,
        _ => OpKind::ArithExtui,
    };
    let Some(inner) = rewriter.defined_by(rewriter.operand(op, 0), extend) else { return false };
    let result = rewriter.ir.op(op).results[0];
    // Only casts to `index` are rewritten.
    if int_width(rewriter.ir, result).is_some() {
        return false;
    }
    let (from, ty) = (rewriter.operand(inner, 0), rewriter.ty(result));
    // A cast truncates an extension beyond the width of `index`. The result is the same only if the
    // number itself fits.
    if int_width(rewriter.ir, from).is_none_or(|it| it > 64) {
        return false;
    }
    rewriter.replace_with(op, NewOp::new(kind.spec().name).operands(&[from]).results(&[ty]));
    true
}

/// Merges two bit casts.
fn bitcast_of_bitcast(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(inner) = rewriter.defined_by(rewriter.operand(op, 0), OpKind::ArithBitcast) else {
        return false;
    };
    let from = rewriter.operand(inner, 0);
    rewriter.set_operand(op, 0, from);
    true
}
