//! Rows of `arith`: constants, arithmetic, comparisons and casts.

use super::format::{Bind, COLON, Element, FASTMATH};
use super::row::Agreement;
use super::row::{AttrClass, AttrSpec, Count, OpSpec, TypeClass, TypeRule};

/// `overflow<nsw, nuw>`
pub(super) const OVERFLOW_FLAGS: AttrSpec = AttrSpec::with_default(
    "overflowFlags",
    AttrClass::Dialect("#arith.overflow"),
    "#arith.overflow<none>",
);

/// `fastmath<nnan, ninf>`
pub(super) const FASTMATH_FLAGS: AttrSpec = AttrSpec::with_default(
    "fastmath",
    AttrClass::Dialect("#arith.fastmath"),
    "#arith.fastmath<none>",
);

/// Two integers and one of the same type.
pub(super) const INT_BINARY: OpSpec = OpSpec {
    operands: Count::exactly(2),
    results: Count::exactly(1),
    types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike]).agree(Agreement::Same),
    form: &[Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)],
    ..OpSpec::PURE
};

/// Two floats and one of the same type.
pub(super) const FLOAT_BINARY: OpSpec = OpSpec {
    operands: Count::exactly(2),
    results: Count::exactly(1),
    types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::FloatLike]).agree(Agreement::Same),
    attrs: &[FASTMATH_FLAGS],
    form: &[
        Element::Uses(2),
        Element::OptFlags(&FASTMATH),
        Element::AttrDict,
        COLON,
        Element::Type(Bind::All),
    ],
    ..OpSpec::PURE
};

/// A value as one of another type.
pub(super) const CAST: OpSpec = OpSpec {
    operands: Count::exactly(1),
    results: Count::exactly(1),
    form: &[
        Element::Uses(1),
        Element::AttrDict,
        COLON,
        Element::Type(Bind::Operands),
        Element::Word("to"),
        Element::Type(Bind::Result),
    ],
    ..OpSpec::PURE
};

macro_rules! arith {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// A constant: the value of its attribute.
        ArithConstant = "arith.constant" {
            traits: Traits::CONSTANT,
            results: Count::exactly(1),
            attrs: &[AttrSpec::required("value", AttrClass::Typed)],
            form: &[Element::AttrDict, Element::ConstantValue],
            ..OpSpec::PURE
        }
        /// Integer addition, wrapping.
        ArithAddi = "arith.addi" {
            traits: Traits::COMMUTATIVE,
            attrs: &[arith::OVERFLOW_FLAGS],
            form: &[Element::Uses(2), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON, Element::Type(Bind::All)],
            ..arith::INT_BINARY
        }
        /// Integer subtraction, wrapping.
        ArithSubi = "arith.subi" {
            attrs: &[arith::OVERFLOW_FLAGS],
            form: &[Element::Uses(2), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON, Element::Type(Bind::All)],
            ..arith::INT_BINARY
        }
        /// Integer multiplication, wrapping.
        ArithMuli = "arith.muli" {
            traits: Traits::COMMUTATIVE,
            attrs: &[arith::OVERFLOW_FLAGS],
            form: &[Element::Uses(2), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON, Element::Type(Bind::All)],
            ..arith::INT_BINARY
        }
        /// Shift left; the amount must be less than the width.
        ArithShli = "arith.shli" {
            attrs: &[arith::OVERFLOW_FLAGS],
            form: &[Element::Uses(2), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON, Element::Type(Bind::All)],
            ..arith::INT_BINARY
        }
        /// Signed integer division, towards zero.
        ArithDivsi = "arith.divsi" {
            attrs: &[AttrSpec::optional("isExact", AttrClass::Any)],
            speculation: Speculation::SignedDivisor,
            form: &[
                Element::Uses(2), Element::OptWord("exact", "isExact"), Element::AttrDict, COLON,
                Element::Type(Bind::All),
            ],
            ..arith::INT_BINARY
        }
        /// Unsigned integer division.
        ArithDivui = "arith.divui" {
            attrs: &[AttrSpec::optional("isExact", AttrClass::Any)],
            speculation: Speculation::Divisor,
            form: &[
                Element::Uses(2), Element::OptWord("exact", "isExact"), Element::AttrDict, COLON,
                Element::Type(Bind::All),
            ],
            ..arith::INT_BINARY
        }
        /// Arithmetic shift right.
        ArithShrsi = "arith.shrsi" {
            attrs: &[AttrSpec::optional("isExact", AttrClass::Any)],
            form: &[
                Element::Uses(2), Element::OptWord("exact", "isExact"), Element::AttrDict, COLON,
                Element::Type(Bind::All),
            ],
            ..arith::INT_BINARY
        }
        /// Logical shift right.
        ArithShrui = "arith.shrui" {
            attrs: &[AttrSpec::optional("isExact", AttrClass::Any)],
            form: &[
                Element::Uses(2), Element::OptWord("exact", "isExact"), Element::AttrDict, COLON,
                Element::Type(Bind::All),
            ],
            ..arith::INT_BINARY
        }
        /// Signed integer division, rounded up.
        ArithCeildivsi = "arith.ceildivsi" {
            speculation: Speculation::SignedDivisor,
            ..arith::INT_BINARY
        }
        /// Unsigned integer division, rounded up.
        ArithCeildivui = "arith.ceildivui" {
            speculation: Speculation::Divisor,
            ..arith::INT_BINARY
        }
        /// Signed integer division, rounded down.
        ArithFloordivsi = "arith.floordivsi" {
            speculation: Speculation::SignedDivisor,
            ..arith::INT_BINARY
        }
        /// Signed remainder, with the sign of the dividend.
        ArithRemsi = "arith.remsi" {
            speculation: Speculation::SignedDivisor,
            ..arith::INT_BINARY
        }
        /// Unsigned remainder.
        ArithRemui = "arith.remui" {
            speculation: Speculation::Divisor,
            ..arith::INT_BINARY
        }
        /// Bitwise and.
        ArithAndi = "arith.andi" {
            traits: Traits::COMMUTATIVE,
            ..arith::INT_BINARY
        }
        /// Bitwise or.
        ArithOri = "arith.ori" {
            traits: Traits::COMMUTATIVE,
            ..arith::INT_BINARY
        }
        /// Bitwise exclusive or.
        ArithXori = "arith.xori" {
            traits: Traits::COMMUTATIVE,
            ..arith::INT_BINARY
        }
        /// Signed maximum.
        ArithMaxsi = "arith.maxsi" {
            traits: Traits::COMMUTATIVE,
            ..arith::INT_BINARY
        }
        /// Unsigned maximum.
        ArithMaxui = "arith.maxui" {
            traits: Traits::COMMUTATIVE,
            ..arith::INT_BINARY
        }
        /// Signed minimum.
        ArithMinsi = "arith.minsi" {
            traits: Traits::COMMUTATIVE,
            ..arith::INT_BINARY
        }
        /// Unsigned minimum.
        ArithMinui = "arith.minui" {
            traits: Traits::COMMUTATIVE,
            ..arith::INT_BINARY
        }
        /// Floating-point addition.
        ArithAddf = "arith.addf" {
            traits: Traits::COMMUTATIVE,
            ..arith::FLOAT_BINARY
        }
        /// Floating-point subtraction.
        ArithSubf = "arith.subf" {
            ..arith::FLOAT_BINARY
        }
        /// Floating-point multiplication.
        ArithMulf = "arith.mulf" {
            traits: Traits::COMMUTATIVE,
            ..arith::FLOAT_BINARY
        }
        /// Floating-point division.
        ArithDivf = "arith.divf" {
            ..arith::FLOAT_BINARY
        }
        /// Floating-point remainder.
        ArithRemf = "arith.remf" {
            ..arith::FLOAT_BINARY
        }
        /// Floating-point maximum; NaN if either is.
        ArithMaximumf = "arith.maximumf" {
            traits: Traits::COMMUTATIVE,
            ..arith::FLOAT_BINARY
        }
        /// Floating-point minimum; NaN if either is.
        ArithMinimumf = "arith.minimumf" {
            traits: Traits::COMMUTATIVE,
            ..arith::FLOAT_BINARY
        }
        /// Floating-point maximum; the other one if one is NaN.
        ArithMaxnumf = "arith.maxnumf" {
            traits: Traits::COMMUTATIVE,
            ..arith::FLOAT_BINARY
        }
        /// Floating-point minimum; the other one if one is NaN.
        ArithMinnumf = "arith.minnumf" {
            traits: Traits::COMMUTATIVE,
            ..arith::FLOAT_BINARY
        }
        /// Floating-point negation.
        ArithNegf = "arith.negf" {
            operands: Count::exactly(1),
            form: &[Element::Uses(1), Element::OptFlags(&FASTMATH), Element::AttrDict, COLON, Element::Type(Bind::All)],
            ..arith::FLOAT_BINARY
        }
        /// Compares two integers by the predicate. The result is `i1`, or a shape of `i1`.
        ArithCmpi = "arith.cmpi" {
            operands: Count::exactly(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::BoolLike]).agree(Agreement::Compared),
            attrs: &[AttrSpec::required("predicate", AttrClass::I64)],
            form: &[
                Element::Predicate(format::CMPI), COMMA, Element::Uses(2), Element::AttrDict, COLON,
                Element::Type(Bind::Compared),
            ],
            ..OpSpec::PURE
        }
        /// Compares two floating-point numbers by the predicate. The result is `i1`, or a shape of `i1`.
        ArithCmpf = "arith.cmpf" {
            operands: Count::exactly(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::BoolLike]).agree(Agreement::Compared),
            attrs: &[arith::FASTMATH_FLAGS, AttrSpec::required("predicate", AttrClass::I64)],
            form: &[
                Element::Predicate(format::CMPF), COMMA, Element::Uses(2), Element::OptFlags(&FASTMATH),
                Element::AttrDict, COLON, Element::Type(Bind::Compared),
            ],
            ..OpSpec::PURE
        }
        /// The second operand if the condition is true, else the third.
        ArithSelect = "arith.select" {
            operands: Count::exactly(3),
            results: Count::exactly(1),
            form: &[Element::Uses(3), Element::AttrDict, COLON, Element::Select],
            ..OpSpec::PURE
        }
        /// Widens an integer, repeating the sign bit.
        ArithExtsi = "arith.extsi" {
            types: TypeRule::new(&[TypeClass::FixedIntLike], &[TypeClass::FixedIntLike])
                .agree(Agreement::Cast(WidthChange::Grows)),
            ..arith::CAST
        }
        /// Widens an integer with zeros.
        ArithExtui = "arith.extui" {
            types: TypeRule::new(&[TypeClass::FixedIntLike], &[TypeClass::FixedIntLike])
                .agree(Agreement::Cast(WidthChange::Grows)),
            attrs: &[AttrSpec::optional("nonNeg", AttrClass::Any)],
            form: &[
                Element::Uses(1), Element::OptWord("nneg", "nonNeg"), Element::AttrDict, COLON,
                Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..arith::CAST
        }
        /// Keeps the low bits of an integer.
        ArithTrunci = "arith.trunci" {
            types: TypeRule::new(&[TypeClass::FixedIntLike], &[TypeClass::FixedIntLike])
                .agree(Agreement::Cast(WidthChange::Shrinks)),
            attrs: &[AttrSpec::optional("overflowFlags", AttrClass::Dialect("#arith.overflow"))],
            form: &[
                Element::Uses(1), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON,
                Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..arith::CAST
        }
        /// Widens a floating-point number.
        ArithExtf = "arith.extf" {
            types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::FloatLike])
                .agree(Agreement::Cast(WidthChange::Grows)),
            attrs: &[AttrSpec::optional("fastmath", AttrClass::Dialect("#arith.fastmath"))],
            form: &[
                Element::Uses(1), Element::OptFlags(&FASTMATH), Element::AttrDict, COLON,
                Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..arith::CAST
        }
        /// Narrows a floating-point number, rounding.
        ArithTruncf = "arith.truncf" {
            types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::FloatLike])
                .agree(Agreement::Cast(WidthChange::Shrinks)),
            attrs: &[
                AttrSpec::optional("fastmath", AttrClass::Dialect("#arith.fastmath")),
                AttrSpec::optional("roundingmode", AttrClass::I32),
            ],
            form: &[
                Element::Uses(1), Element::OptRounding, Element::OptFlags(&FASTMATH), Element::AttrDict, COLON,
                Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..arith::CAST
        }
        /// Signed integer to floating point.
        ArithSitofp = "arith.sitofp" {
            types: TypeRule::new(&[TypeClass::FixedIntLike], &[TypeClass::FloatLike])
                .agree(Agreement::Cast(WidthChange::Any)),
            ..arith::CAST
        }
        /// Unsigned integer to floating point.
        ArithUitofp = "arith.uitofp" {
            types: TypeRule::new(&[TypeClass::FixedIntLike], &[TypeClass::FloatLike])
                .agree(Agreement::Cast(WidthChange::Any)),
            attrs: &[AttrSpec::optional("nonNeg", AttrClass::Any)],
            form: &[
                Element::Uses(1), Element::OptWord("nneg", "nonNeg"), Element::AttrDict, COLON,
                Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..arith::CAST
        }
        /// Floating point to signed integer, towards zero.
        ArithFptosi = "arith.fptosi" {
            types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::FixedIntLike])
                .agree(Agreement::Cast(WidthChange::Any)),
            ..arith::CAST
        }
        /// Floating point to unsigned integer, towards zero.
        ArithFptoui = "arith.fptoui" {
            types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::FixedIntLike])
                .agree(Agreement::Cast(WidthChange::Any)),
            ..arith::CAST
        }
        /// Between `index` and integers, with the sign.
        ArithIndexCast = "arith.index_cast" {
            types: TypeRule::new(&[TypeClass::IndexCast], &[TypeClass::IndexCast])
                .agree(Agreement::Cast(WidthChange::Any)),
            ..arith::CAST
        }
        /// Between `index` and integers, without a sign.
        ArithIndexCastui = "arith.index_castui" {
            types: TypeRule::new(&[TypeClass::IndexCast], &[TypeClass::IndexCast])
                .agree(Agreement::Cast(WidthChange::Any)),
            attrs: &[AttrSpec::optional("nonNeg", AttrClass::Any)],
            form: &[
                Element::Uses(1), Element::OptWord("nneg", "nonNeg"), Element::AttrDict, COLON,
                Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..arith::CAST
        }
        /// The same bits as another type of the same width.
        ArithBitcast = "arith.bitcast" {
            types: TypeRule::new(&[TypeClass::Bits], &[TypeClass::Bits]).agree(Agreement::Cast(WidthChange::Stays)),
            ..arith::CAST
        }
        /// Widens a floating-point number and scales it.
        ArithScalingExtf = "arith.scaling_extf" {
            operands: Count::exactly(2),
            attrs: &[AttrSpec::optional("fastmath", AttrClass::Dialect("#arith.fastmath"))],
            form: &[
                Element::Uses(2), Element::OptFlags(&FASTMATH), Element::AttrDict, COLON,
                Element::Type(Bind::Operand(0)), COMMA, Element::Type(Bind::Operand(1)), Element::Word("to"),
                Element::Type(Bind::Result),
            ],
            ..arith::CAST
        }
        /// Scales a floating-point number and narrows it.
        ArithScalingTruncf = "arith.scaling_truncf" {
            operands: Count::exactly(2),
            attrs: &[
                AttrSpec::optional("fastmath", AttrClass::Dialect("#arith.fastmath")),
                AttrSpec::optional("roundingmode", AttrClass::I32),
            ],
            form: &[
                Element::Uses(2), Element::OptRounding, Element::OptFlags(&FASTMATH), Element::AttrDict, COLON,
                Element::Type(Bind::Operand(0)), COMMA, Element::Type(Bind::Operand(1)), Element::Word("to"),
                Element::Type(Bind::Result),
            ],
            ..arith::CAST
        }
        /// Between floating-point types of the same width.
        ArithConvertf = "arith.convertf" {
            attrs: &[
                AttrSpec::optional("fastmath", AttrClass::Dialect("#arith.fastmath")),
                AttrSpec::optional("roundingmode", AttrClass::I32),
            ],
            form: &[
                Element::Uses(1), Element::OptRounding, Element::OptFlags(&FASTMATH), Element::AttrDict, COLON,
                Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..arith::CAST
        }
        /// Unsigned addition with the carry as second result.
        ArithAdduiExtended = "arith.addui_extended" {
            traits: Traits::COMMUTATIVE,
            operands: Count::exactly(2),
            results: Count::exactly(2),
            types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike, TypeClass::BoolLike]),
            form: &[
                Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::AllAnd(1)), COMMA,
                Element::Type(Bind::NextResult),
            ],
            ..OpSpec::PURE
        }
        /// Unsigned subtraction with the borrow as second result.
        ArithSubuiExtended = "arith.subui_extended" {
            operands: Count::exactly(2),
            results: Count::exactly(2),
            types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike, TypeClass::BoolLike]),
            form: &[
                Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::AllAnd(1)), COMMA,
                Element::Type(Bind::NextResult),
            ],
            ..OpSpec::PURE
        }
        /// Signed multiplication; low and high half as two results.
        ArithMulsiExtended = "arith.mulsi_extended" {
            traits: Traits::COMMUTATIVE,
            operands: Count::exactly(2),
            results: Count::exactly(2),
            types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike, TypeClass::IntLike])
                .agree(Agreement::Exactly),
            form: &[Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::AllAnd(2))],
            ..OpSpec::PURE
        }
        /// Unsigned multiplication; low and high half as two results.
        ArithMuluiExtended = "arith.mului_extended" {
            traits: Traits::COMMUTATIVE,
            operands: Count::exactly(2),
            results: Count::exactly(2),
            types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike, TypeClass::IntLike])
                .agree(Agreement::Exactly),
            form: &[Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::AllAnd(2))],
            ..OpSpec::PURE
        }
    } };
}
