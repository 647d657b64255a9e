//! Folding: replaces a result of an op by a constant or an existing value.
//!
//! [`noisy_integers::fold`], which the constant analysis uses too, folds constants. A unique
//! placeholder represents an operand that is not constant. A fold that returns an operand (`x + 0`)
//! returns its placeholder. Folds that depend on more than the constants of operands (`(a - b) +
//! b`) are in `values.rs`.

mod values;

use noisy_integers::constant::Constant;
use noisy_integers::{compare, elements::ElementLists, fold};
use noisy_syntax::{Attr, Ir, Op, OpKind, Traits, Type, TypeData, Value};
use smallvec::SmallVec;

use crate::predicate;
use crate::rewrite::{Rewriter, constants, operand};

/// The result of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldResult {
    /// An existing value.
    Value(Value),
    /// A constant.
    Constant(Constant),
}

/// Returns the placeholder for the operand with number `n`, which is not constant: an attribute
/// that no program has.
fn create_placeholder(n: usize) -> Constant {
    Constant::Other(Attr::from_index(u32::MAX as usize - 1 - n))
}

fn placeholder_operand(constant: Constant, n: usize) -> Option<usize> {
    match constant {
        Constant::Other(attr) => {
            let at = (u32::MAX as usize - 1).checked_sub(attr.index())?;
            (at < n).then_some(at)
        }
        _ => None,
    }
}

/// Folds the results of an op. Returns an empty list if the op does not fold.
pub(crate) fn fold_op(ir: &Ir, op: Op, lists: &mut ElementLists) -> SmallVec<[FoldResult; 1]> {
    let data = ir.op(op);
    if !is_foldable(data.kind) || data.results.is_empty() {
        return SmallVec::new();
    }
    // In an unreachable block, an op may fold to its own result.
    if let Some(value) = values::fold(ir, op).filter(|it| !data.results.contains(it)) {
        return SmallVec::from_slice(&[FoldResult::Value(value)]);
    }
    let mut known: SmallVec<[Constant; 3]> = SmallVec::new();
    for (at, operand) in data.operands.iter().enumerate() {
        let constant = operand.value.and_then(|it| constants::constant_of(ir, it, lists));
        known.push(constant.unwrap_or(create_placeholder(at)));
    }
    if let Some(folded) = fold_zero_width(ir, op) {
        return data.results.iter().map(|_| FoldResult::Constant(folded)).collect();
    }
    let mut out = SmallVec::new();
    for (at, &result) in data.results.iter().enumerate() {
        let folded = fold::fold(ir, op, at, &known, lists);
        let n = data.operands.len();
        let same = known.iter().position(|&it| it == folded);
        let ty = ir.value(result).ty;
        let operand =
            placeholder_operand(folded, n).or(same).and_then(|it| data.operands[it].value);
        match (folded, operand) {
            (Constant::Bottom | Constant::Unknown, _) => return SmallVec::new(),
            (_, Some(value)) if ir.value(value).ty == ty && value != result => {
                out.push(FoldResult::Value(value));
            }
            (Constant::Other(_), Some(_)) => return SmallVec::new(),
            (constant, _) => out.push(FoldResult::Constant(constant)),
        }
    }
    out
}

/// Folds an op on integers of zero bits, whose only value is zero.
fn fold_zero_width(ir: &Ir, op: Op) -> Option<Constant> {
    let has_no_bits = |it: Value| {
        let ty = constants::element_type(ir, ir.value(it).ty).unwrap_or(ir.value(it).ty);
        matches!(ir.interner.type_data(ty), TypeData::Int { width: 0, .. })
    };
    let data = ir.op(op);
    let takes_no_bits = || operand(ir, op, 0).is_some_and(has_no_bits);
    let folded = match data.kind {
        OpKind::ArithExtsi | OpKind::ArithExtui if takes_no_bits() => Constant::Int(0),
        OpKind::ArithCmpi if takes_no_bits() => {
            Constant::from_bool(compare::is_true_for_equal(compare::predicate(ir, op)?))
        }
        OpKind::ArithTrunci
        | OpKind::ArithAddi
        | OpKind::ArithSubi
        | OpKind::ArithMuli
        | OpKind::ArithShli
        | OpKind::ArithShrsi
        | OpKind::ArithShrui
        | OpKind::ArithAndi
        | OpKind::ArithOri
        | OpKind::ArithXori
        | OpKind::ArithMaxsi
        | OpKind::ArithMaxui
        | OpKind::ArithMinsi
        | OpKind::ArithMinui
        | OpKind::ArithMulsiExtended
        | OpKind::ArithMuluiExtended
            if data.results.iter().all(|&it| has_no_bits(it)) =>
        {
            Constant::Int(0)
        }
        _ => return None,
    };
    let is_constant = |it: Value| constants::attr_of(ir, it).is_some();
    data.operands.iter().all(|it| it.value.is_some_and(is_constant)).then_some(folded)
}

/// Returns true if ops of this kind may fold.
fn is_foldable(kind: OpKind) -> bool {
    kind.is_pure()
        && !kind.has(Traits::TERMINATOR)
        && !kind.has(Traits::CONSTANT)
        && kind != OpKind::Unknown
        || kind == OpKind::AffineLoad
}

impl Rewriter<'_> {
    /// Folds an op if possible. If it returns true, the op is erased, and new constants are in its
    /// place.
    pub(crate) fn try_fold(&mut self, op: Op) -> bool {
        self.fold_with(op, &mut |it, attr, ty| it.constant_attr(attr, ty, op))
    }

    /// Like [`Rewriter::try_fold`], but takes constants from `uniqued`, which creates each constant
    /// once, at the start of its scope.
    pub(crate) fn try_fold_uniqued(
        &mut self,
        op: Op,
        uniqued: &mut constants::UniquedConstants,
    ) -> bool {
        self.fold_with(op, &mut |it, attr, ty| uniqued.get_or_create(it, attr, ty, op))
    }

    fn fold_with(
        &mut self,
        op: Op,
        constant: &mut dyn FnMut(&mut Self, Attr, Type) -> Option<Value>,
    ) -> bool {
        let folded = fold_op(self.ir, op, &mut self.lists);
        if folded.is_empty() {
            return false;
        }
        let results = self.ir.op(op).results.iter().map(|&it| self.ir.value(it).ty);
        let types: SmallVec<[Type; 2]> = results.collect();
        // Compute the attributes of all results before the first change.
        let mut attrs: SmallVec<[Option<Attr>; 2]> = SmallVec::new();
        for (it, &ty) in folded.iter().zip(&types) {
            let attr = match *it {
                FoldResult::Value(_) => None,
                FoldResult::Constant(it) => {
                    let attr = constants::to_attr(self.ir, &self.lists, it, ty);
                    let fits = |it: &Attr| constants::constant_op(self.ir, *it, ty).is_some();
                    let Some(attr) = attr.filter(fits) else { return false };
                    Some(attr)
                }
            };
            attrs.push(attr);
        }
        let mut values: SmallVec<[Value; 2]> = SmallVec::new();
        for ((it, attr), &ty) in folded.iter().zip(attrs).zip(&types) {
            let made = attr.map(|it| constant(self, it, ty));
            values.push(match (*it, made) {
                (FoldResult::Value(value), _) | (_, Some(Some(value))) => value,
                _ => return false,
            });
        }
        self.replace(op, &values);
        true
    }

    /// Puts the operands of a commutative op or a comparison into canonical order, constants last.
    /// Moves constants of an `affine.min` or `affine.max` into its map. Returns true if the op
    /// changed.
    pub(crate) fn order_operands(&mut self, op: Op) -> bool {
        let data = self.ir.op(op);
        let kind = data.kind;
        if matches!(kind, OpKind::AffineMin | OpKind::AffineMax) {
            return crate::patterns::affine::constants_in_map(self, op);
        }
        if data.operands.len() != 2 {
            return false;
        }
        if !kind.has(Traits::COMMUTATIVE) && kind != OpKind::ArithCmpi && kind != OpKind::ArithCmpf
        {
            return false;
        }
        let (a, b) = (self.operand(op, 0), self.operand(op, 1));
        if !constants::is_constant(self.ir, a) || constants::is_constant(self.ir, b) {
            return false;
        }
        if !kind.has(Traits::COMMUTATIVE) {
            let Some(predicate) = compare::predicate(self.ir, op) else { return false };
            let swapped = match kind {
                OpKind::ArithCmpi => predicate::swapped(predicate),
                _ => predicate::swapped_float(predicate),
            };
            self.set_predicate(op, swapped);
        }
        self.set_operands(op, &[b, a]);
        true
    }

    /// Replaces the predicate of a comparison.
    pub(crate) fn set_predicate(&mut self, op: Op, predicate: i128) {
        let attr = noisy_syntax::AttrData::Int { value: predicate, ty: noisy_syntax::Type::I64 };
        let attr = self.ir.interner.intern_attr(attr);
        self.set_attr(op, "predicate", attr);
    }
}
