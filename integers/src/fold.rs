//! Constant folding as in MLIR (LLVM 19, `ArithOps.cpp`, `AffineOps.cpp`, `MemRefOps.cpp`). A
//! result is unknown where MLIR does not fold.

use noisy_syntax::{AttrData, Def, Dim, Form, Op, OpKind, Type, TypeData, Value, rounded_float};
use smallvec::SmallVec;

use super::compare::{as_unsigned, has_equal_operands, holds_cmpi, is_true_for_equal, predicate};
use super::constant::{Constant, float_keyword, sign_extended, width};
use super::elements::ElementLists;
use super::floats::{QUIET, bits_of, float_from_bits, fold_floats, from_int, rounded};
use noisy_dataflow::view::ProgramView;

use Constant::{Bottom, Float, Int, Unknown};

/// Folds a result of an op, from the constants of its operands.
pub fn fold(
    ir: &impl ProgramView,
    op: Op,
    result: usize,
    operands: &[Constant],
    lists: &mut ElementLists,
) -> Constant {
    if ir.op(op).kind == OpKind::AffineLoad {
        return fold_load(ir, op, lists).unwrap_or(Unknown);
    }
    match fold_uniform(ir, op, result, operands) {
        Unknown => fold_elements(ir, op, result, operands, lists).unwrap_or(Unknown),
        known => known,
    }
}

/// Maximum length of a list that is folded. Longer lists are only read: otherwise every op could
/// create another list as long as the largest one in the text.
const MAX_FOLDED_ELEMENTS: usize = 256;

/// Folds a result element by element. `None` if no operand is a list, or if an element is unknown.
fn fold_elements(
    ir: &impl ProgramView,
    op: Op,
    result: usize,
    operands: &[Constant],
    lists: &mut ElementLists,
) -> Option<Constant> {
    let n = operands.iter().find_map(|&it| lists.elements(it))?.len();
    if n > MAX_FOLDED_ELEMENTS {
        return None;
    }
    let mut given = Vec::with_capacity(n);
    for at in 0..n {
        let element = |&it: &Constant| match lists.elements(it) {
            Some(list) => list.get(at).copied(),
            None => matches!(it, Int(_) | Float(_)).then_some(it),
        };
        let elements: Option<SmallVec<[Constant; 3]>> = operands.iter().map(element).collect();
        let elements = elements?;
        let it = match fold_uniform(ir, op, result, &elements) {
            // The element is undefined, so any value is correct. But if the last element is
            // undefined, MLIR does not fold the op.
            Unknown if at + 1 < n => element_of_undefined(ir, op, &elements).unwrap_or(Unknown),
            it => it,
        };
        given.push(Some(it).filter(|it| matches!(it, Int(_) | Float(_)))?);
    }
    Some(lists.constant(given))
}

/// Returns the value that MLIR's folders give an undefined element: after a shift by the width or
/// more, or a division by zero.
fn element_of_undefined(ir: &impl ProgramView, op: Op, operands: &[Constant]) -> Option<Constant> {
    match (ir.op(op).kind, *operands.first()?) {
        (OpKind::ArithShli | OpKind::ArithShrui, Int(_)) => Some(Int(0)),
        (OpKind::ArithShrsi, Int(it)) => Some(Int(-i128::from(it < 0))),
        (OpKind::ArithFloordivsi, it) => Some(it),
        _ => None,
    }
}

/// Returns the global that `affine.load` reads.
pub fn global_of_load(ir: &impl ProgramView, load: Op) -> Option<Op> {
    let Def::Result(defining_op, _) = ir.def(operand(ir, load, 0)?) else { return None };
    if ir.op(load).kind != OpKind::AffineLoad || ir.op(defining_op).kind != OpKind::MemrefGetGlobal
    {
        return None;
    }
    let AttrData::Symbol(path) = ir.interner().attr_data(ir.attr(defining_op, "name")?) else {
        return None;
    };
    let [name] = **path else { return None };
    ir.resolve_symbol(defining_op, name).filter(|&it| ir.op(it).kind == OpKind::MemrefGlobal)
}

/// Returns the result of an `affine.load` from a constant global. All elements are equal, or the
/// indices are constant.
fn fold_load(ir: &impl ProgramView, op: Op, lists: &mut ElementLists) -> Option<Constant> {
    let global = global_of_load(ir, op)?;
    if matches!(ir.op(global).form, Form::Broken | Form::Opaque) {
        return None;
    }
    ir.attr(global, "constant")?;
    let AttrData::Type(ty) = *ir.interner().attr_data(ir.attr(global, "type")?) else {
        return None;
    };
    let constant = lists.read(ir, ir.attr(global, "initial_value")?, ty)?;
    let Some(elements) = lists.elements(constant) else { return Some(constant) };
    let TypeData::MemRef { dims: Some(dims), .. } = ir.interner().type_data(ty) else {
        return None;
    };
    let place = ir.interner().affine(ir.attr(op, "map")?)?.evaluate(&|_| None)?;
    if place.len() != dims.len() {
        return None;
    }
    let at = place.iter().zip(dims).try_fold(0_usize, |at, (&index, dim)| match *dim {
        Dim::Fixed(size) => {
            let (index, size) = (usize::try_from(index).ok()?, usize::try_from(size).ok()?);
            (index < size).then_some(at * size + index)
        }
        _ => None,
    });
    elements.get(at?).copied()
}

fn fold_uniform(ir: &impl ProgramView, op: Op, result: usize, operands: &[Constant]) -> Constant {
    let data = ir.op(op);
    let known = match data.kind {
        OpKind::ArithSelect => select(ir, op, operands),
        OpKind::AffineApply | OpKind::AffineMin | OpKind::AffineMax => affine(ir, op, operands),
        OpKind::MemrefDim => dim(ir, op, operands),
        OpKind::MemrefRank => rank(ir, op),
        OpKind::MemrefExtractStridedMetadata => layout_number(ir, op, result),
        OpKind::FuncCall => Some(Unknown),
        _ if operands.contains(&Bottom) => Some(Bottom),
        _ => fold_arith(ir, op, result, operands),
    };
    known.unwrap_or(Unknown)
}

fn operand(ir: &impl ProgramView, op: Op, index: usize) -> Option<Value> {
    ir.op(op).operands.get(index)?.value
}

fn select(ir: &impl ProgramView, op: Op, operands: &[Constant]) -> Option<Constant> {
    let &[condition, a, b] = operands else { return None };
    if operand(ir, op, 1) == operand(ir, op, 2) {
        return Some(a);
    }
    match condition {
        Bottom => Some(Bottom),
        Int(0) => Some(b),
        Int(_) => Some(a),
        // Equal operands: this also covers a vector of conditions.
        _ if a == b => Some(a),
        _ => (a == Bottom || b == Bottom).then_some(Bottom),
    }
}

fn fold_arith(
    ir: &impl ProgramView,
    op: Op,
    result: usize,
    operands: &[Constant],
) -> Option<Constant> {
    let data = ir.op(op);
    let ty = ir.ty(*data.results.get(result)?);
    match *operands {
        [a] => {
            let from = ir.operand_ty(op, 0)?;
            fold_unary(ir, data.kind, a, from, ty)
        }
        [a, b] => {
            let of = ir.operand_ty(op, 0)?;
            match width(ir, of) {
                Some(width) => {
                    if let Some(it) = fold_complement(ir, op).or_else(|| fold_double_xor(ir, op)) {
                        return Some(it);
                    }
                    if data.kind == OpKind::ArithCmpi {
                        return compare(ir, op, a, b, width);
                    }
                    fold_integers(data.kind, result, a, b, width, has_equal_operands(ir, op))
                }
                None => fold_floats(ir, op, data.kind, a, b, float_keyword(ir, of)?),
            }
        }
        _ => None,
    }
}

/// Returns the constant of a value that an `arith.constant` defines.
fn constant_of_op(ir: &impl ProgramView, value: Value) -> Option<Constant> {
    let Def::Result(defining_op, _) = ir.def(value) else { return None };
    let data = ir.op(defining_op);
    if data.kind != OpKind::ArithConstant || matches!(data.form, Form::Broken | Form::Opaque) {
        return None;
    }
    Some(Constant::of_attr(ir, ir.attr(defining_op, "value")?, ir.ty(value)))
}

/// Folds `x & ~x` and `x | ~x`, where `~x` is `x ^ -1`.
fn fold_complement(ir: &impl ProgramView, op: Op) -> Option<Constant> {
    let it = match ir.op(op).kind {
        OpKind::ArithAndi => Int(0),
        OpKind::ArithOri => Int(-1),
        _ => return None,
    };
    let (a, b) = (operand(ir, op, 0)?, operand(ir, op, 1)?);
    (is_complement(ir, a, b) || is_complement(ir, b, a)).then_some(it)
}

/// Folds `x ^ (x ^ c)` to `c`, with operands in any order.
fn fold_double_xor(ir: &impl ProgramView, op: Op) -> Option<Constant> {
    if ir.op(op).kind != OpKind::ArithXori {
        return None;
    }
    let (a, b) = (operand(ir, op, 0)?, operand(ir, op, 1)?);
    let other = |of: Value, value: Value| {
        let Def::Result(defining_op, _) = ir.def(value) else { return None };
        let (x, y) = (operand(ir, defining_op, 0)?, operand(ir, defining_op, 1)?);
        let rest = if x == of { y } else { x };
        let is_twice = ir.op(defining_op).kind == OpKind::ArithXori && (x == of || y == of);
        is_twice.then(|| constant_of_op(ir, rest)).flatten()
    };
    other(a, b).or_else(|| other(b, a))
}

fn is_complement(ir: &impl ProgramView, of: Value, value: Value) -> bool {
    let Def::Result(defining_op, _) = ir.def(value) else { return false };
    if ir.op(defining_op).kind != OpKind::ArithXori {
        return false;
    }
    let (Some(a), Some(b)) = (operand(ir, defining_op, 0), operand(ir, defining_op, 1)) else {
        return false;
    };
    let is_ones = |it: Value| constant_of_op(ir, it) == Some(Int(-1));
    a == of && is_ones(b) || b == of && is_ones(a)
}

fn fold_unary(
    ir: &impl ProgramView,
    kind: OpKind,
    a: Constant,
    from: Type,
    to: Type,
) -> Option<Constant> {
    match a {
        Int(a) => {
            let from_width = width(ir, from)?;
            match kind {
                OpKind::ArithExtsi | OpKind::ArithTrunci | OpKind::ArithIndexCast => {
                    Some(Int(sign_extended(a, width(ir, to)?)))
                }
                OpKind::ArithExtui | OpKind::ArithIndexCastui => {
                    let bits = as_unsigned(a, from_width).cast_signed();
                    Some(Int(sign_extended(bits, width(ir, to)?)))
                }
                OpKind::ArithSitofp => from_int(a, float_keyword(ir, to)?),
                OpKind::ArithUitofp => from_int(
                    i128::try_from(as_unsigned(a, from_width)).ok()?,
                    float_keyword(ir, to)?,
                ),
                OpKind::ArithBitcast => match float_keyword(ir, to) {
                    Some(kind) => Some(Float(float_from_bits(a as u64, kind)?.to_bits())),
                    None => (width(ir, to) == Some(from_width)).then_some(Int(a)),
                },
                _ => None,
            }
        }
        Float(bits) => {
            let value = f64::from_bits(bits);
            match kind {
                // Rounding, because some types have no negative zero.
                OpKind::ArithNegf => {
                    let negated =
                        float_keyword(ir, to).map_or(-value, |it| rounded_float(-value, it));
                    Some(Float(negated.to_bits()))
                }
                // Extending a signaling NaN changes it.
                OpKind::ArithExtf => (!value.is_nan() || bits & QUIET != 0).then_some(Float(bits)),
                OpKind::ArithTruncf => {
                    let to = rounded(value, float_keyword(ir, to)?)?;
                    // Only if the number is exact in the new type; then all rounding modes agree.
                    (to.to_bits() == bits).then_some(Float(bits))
                }
                OpKind::ArithFptosi | OpKind::ArithFptoui => {
                    let width = width(ir, to).filter(|&it| it <= 64)?;
                    let whole = value.trunc();
                    let (least, most) = if kind == OpKind::ArithFptosi {
                        (-(2_f64.powi(width as i32 - 1)), 2_f64.powi(width as i32 - 1))
                    } else {
                        (0.0, 2_f64.powi(width as i32))
                    };
                    (whole >= least && whole < most)
                        .then(|| Int(sign_extended(whole as i128, width)))
                }
                OpKind::ArithBitcast => {
                    let bits = bits_of(value, float_keyword(ir, from)?)?;
                    match (float_keyword(ir, to), width(ir, to)) {
                        (Some(kind), _) => Some(Float(float_from_bits(bits, kind)?.to_bits())),
                        (None, Some(width)) => Some(Int(sign_extended(i128::from(bits), width))),
                        (None, None) => None,
                    }
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Folds an op on two integers of a width.
#[cfg(test)]
pub(crate) fn fold_two(kind: OpKind, a: i128, b: i128, width: u32) -> Option<i128> {
    fold_integers(kind, 0, Int(a), Int(b), width, false)?.int()
}

fn compare(
    ir: &impl ProgramView,
    op: Op,
    a: Constant,
    b: Constant,
    width: u32,
) -> Option<Constant> {
    let predicate = predicate(ir, op)?;
    if has_equal_operands(ir, op) {
        return Some(Constant::from_bool(is_true_for_equal(predicate)));
    }
    let (Int(a), Int(b)) = (a, b) else { return None };
    holds_cmpi(predicate, a, b, width).map(Constant::from_bool)
}

/// Folds an op on two integers of a width. One known operand may suffice.
fn fold_integers(
    kind: OpKind,
    result: usize,
    a: Constant,
    b: Constant,
    width: u32,
    is_same: bool,
) -> Option<Constant> {
    let fit = |value: i128| Some(Int(sign_extended(value, width)));
    let (least, most) = (i128::MIN >> (128 - width), i128::MAX >> (128 - width));
    // Rules with one known operand. Constants are on the right in MLIR's canonical form, but its
    // folders check both operands of commutative ops.
    let one_of = |number: i128| a == Int(number) || b == Int(number);
    let other_than = |number: i128| if a == Int(number) { b } else { a };
    match kind {
        OpKind::ArithAddi | OpKind::ArithOri | OpKind::ArithXori if one_of(0) => {
            return Some(other_than(0));
        }
        OpKind::ArithSubi | OpKind::ArithXori if is_same => return Some(Int(0)),
        OpKind::ArithSubi | OpKind::ArithShli | OpKind::ArithShrsi | OpKind::ArithShrui
            if b == Int(0) =>
        {
            return Some(a);
        }
        OpKind::ArithMuli
        | OpKind::ArithAndi
        | OpKind::ArithMuluiExtended
        | OpKind::ArithMulsiExtended
            if one_of(0) =>
        {
            return Some(Int(0));
        }
        OpKind::ArithMuluiExtended if one_of(sign_extended(1, width)) => {
            let low = other_than(sign_extended(1, width));
            return Some(if result == 0 { low } else { Int(0) });
        }
        OpKind::ArithMuli if one_of(sign_extended(1, width)) => {
            return Some(other_than(sign_extended(1, width)));
        }
        OpKind::ArithDivsi
        | OpKind::ArithDivui
        | OpKind::ArithCeildivsi
        | OpKind::ArithCeildivui
        | OpKind::ArithFloordivsi
            if b == Int(sign_extended(1, width)) =>
        {
            return Some(a);
        }
        OpKind::ArithRemsi | OpKind::ArithRemui if b == Int(sign_extended(1, width)) => {
            return Some(Int(0));
        }
        OpKind::ArithAndi if one_of(-1) => return Some(other_than(-1)),
        OpKind::ArithOri if one_of(-1) => return Some(Int(-1)),
        OpKind::ArithAndi
        | OpKind::ArithOri
        | OpKind::ArithMaxsi
        | OpKind::ArithMaxui
        | OpKind::ArithMinsi
        | OpKind::ArithMinui
            if is_same =>
        {
            return Some(a);
        }
        OpKind::ArithMaxsi if one_of(most) => return Some(Int(most)),
        OpKind::ArithMinsi if one_of(least) => return Some(Int(least)),
        OpKind::ArithMaxui if one_of(-1) => return Some(Int(-1)),
        OpKind::ArithMinui if one_of(0) => return Some(Int(0)),
        OpKind::ArithMaxsi if one_of(least) => return Some(other_than(least)),
        OpKind::ArithMinsi if one_of(most) => return Some(other_than(most)),
        OpKind::ArithMaxui if one_of(0) => return Some(other_than(0)),
        OpKind::ArithMinui if one_of(-1) => return Some(other_than(-1)),
        OpKind::ArithAdduiExtended if b == Int(0) => {
            return Some(if result == 0 { a } else { Int(0) });
        }
        _ => {}
    }
    let (Int(a), Int(b)) = (a, b) else { return None };
    let (ua, ub) = (as_unsigned(a, width), as_unsigned(b, width));
    let overflows = a == least && b == -1;
    match kind {
        OpKind::ArithAddi => fit(a.wrapping_add(b)),
        OpKind::ArithSubi => fit(a.wrapping_sub(b)),
        OpKind::ArithMuli => fit(a.wrapping_mul(b)),
        OpKind::ArithAndi => fit(a & b),
        OpKind::ArithOri => fit(a | b),
        OpKind::ArithXori => fit(a ^ b),
        OpKind::ArithMaxsi => fit(a.max(b)),
        OpKind::ArithMinsi => fit(a.min(b)),
        OpKind::ArithMaxui => fit(ua.max(ub).cast_signed()),
        OpKind::ArithMinui => fit(ua.min(ub).cast_signed()),
        OpKind::ArithDivui if ub != 0 => fit((ua / ub).cast_signed()),
        OpKind::ArithRemui if ub != 0 => fit((ua % ub).cast_signed()),
        OpKind::ArithCeildivui if ub != 0 => fit(ua.div_ceil(ub).cast_signed()),
        OpKind::ArithDivsi if b != 0 && !overflows => fit(a / b),
        OpKind::ArithRemsi if b != 0 && !overflows => fit(a % b),
        OpKind::ArithFloordivsi if b != 0 && !overflows => {
            fit(a / b - i128::from(a % b != 0 && (a < 0) != (b < 0)))
        }
        OpKind::ArithCeildivsi if b != 0 && !overflows => {
            fit(a / b + i128::from(a % b != 0 && (a < 0) == (b < 0)))
        }
        OpKind::ArithShli if ub < u128::from(width) => fit(a << ub),
        OpKind::ArithShrui if ub < u128::from(width) => fit((ua >> ub).cast_signed()),
        OpKind::ArithShrsi if ub < u128::from(width) => fit(a >> ub),
        OpKind::ArithAdduiExtended => {
            let sum = sign_extended(a.wrapping_add(b), width);
            if result == 0 {
                fit(sum)
            } else {
                Some(Constant::from_bool(as_unsigned(sum, width) < ua))
            }
        }
        OpKind::ArithMulsiExtended if width <= 64 => {
            fit(if result == 0 { a * b } else { (a * b) >> width })
        }
        OpKind::ArithMuluiExtended if width <= 64 => {
            let product = ua * ub;
            fit(if result == 0 { product.cast_signed() } else { (product >> width).cast_signed() })
        }
        _ => None,
    }
}

fn affine(ir: &impl ProgramView, op: Op, operands: &[Constant]) -> Option<Constant> {
    if operands.contains(&Bottom) {
        return Some(Bottom);
    }
    let value = evaluate_affine(ir, op, &|at| operands.get(at)?.int())?;
    Some(Int(i128::from(value)))
}

/// Returns the result of an `affine.apply`, `affine.min` or `affine.max`, if all inputs that its
/// map uses are known.
pub fn evaluate_affine(
    ir: &impl ProgramView,
    op: Op,
    input: &dyn Fn(usize) -> Option<i128>,
) -> Option<i64> {
    let values = ir.interner().affine(ir.attr(op, "map")?)?.evaluate(input)?;
    match ir.op(op).kind {
        OpKind::AffineMin => values.iter().min().copied(),
        OpKind::AffineMax => values.iter().max().copied(),
        _ => values.first().copied(),
    }
}

/// Folds `memref.dim`: the size in the type, or a constant operand of the allocation.
fn dim(ir: &impl ProgramView, op: Op, operands: &[Constant]) -> Option<Constant> {
    let index = match operands.get(1)? {
        Bottom => return Some(Bottom),
        it => usize::try_from(it.int()?).ok()?,
    };
    match ir.interner().type_data(ir.operand_ty(op, 0)?) {
        TypeData::MemRef { dims: Some(dims), .. } => match dims.get(index)? {
            Dim::Fixed(size) => Some(Int(i128::from(*size))),
            // The size operand of the allocation.
            Dim::Dynamic => {
                let Def::Result(defining_op, _) = ir.def(operand(ir, op, 0)?) else {
                    return None;
                };
                let kind = ir.op(defining_op).kind;
                if !matches!(kind, OpKind::MemrefAlloc | OpKind::MemrefAlloca) {
                    return None;
                }
                let before = dims[..index].iter().filter(|it| **it == Dim::Dynamic).count();
                constant_of_op(ir, operand(ir, defining_op, before)?)
            }
            Dim::Scalable(_) => None,
        },
        _ => None,
    }
}

/// Returns a result of `memref.extract_strided_metadata`, from the type of the memref. Result 1 is
/// the offset; then come the sizes and the strides.
fn layout_number(ir: &impl ProgramView, op: Op, result: usize) -> Option<Constant> {
    let TypeData::MemRef { dims: Some(dims), .. } = ir.interner().type_data(ir.operand_ty(op, 0)?)
    else {
        return None;
    };
    let sizes: Vec<Option<i128>> = dims
        .iter()
        .map(|it| match it {
            Dim::Fixed(size) => Some(i128::from(*size)),
            _ => None,
        })
        .collect();
    let at = result.checked_sub(1)?;
    if (1..=sizes.len()).contains(&at) {
        return sizes[at - 1].map(Int);
    }
    let layout = ir.interner().layout(ir.operand_ty(op, 0)?)?;
    let number = match at.checked_sub(1 + sizes.len()) {
        None => layout.offset,
        Some(at) => *layout.strides.get(at)?,
    };
    number.map(|it| Int(it.into()))
}

fn rank(ir: &impl ProgramView, op: Op) -> Option<Constant> {
    match ir.interner().type_data(ir.operand_ty(op, 0)?) {
        TypeData::MemRef { dims: Some(dims), .. } | TypeData::Tensor { dims: Some(dims), .. } => {
            Some(Int(dims.len() as i128))
        }
        _ => None,
    }
}
