//! Rows of `math`: functions of floating-point numbers and integers.

use super::arith::{FLOAT_BINARY, INT_BINARY};
use crate::dialect::prelude::*;
use crate::dialect::syntax::flags::OPT_FASTMATH;

/// A function of one number, with a result of the same type.
pub(super) const UNARY: OpSpec = OpSpec {
    operands: CountRange::exactly(1),
    syntax: &[Operands(1), OPT_FASTMATH, AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..FLOAT_BINARY
};

/// A function of the bits of one integer, with a result of the same type.
pub(super) const INT_UNARY: OpSpec = OpSpec {
    operands: CountRange::exactly(1),
    syntax: &[Operands(1), AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..INT_BINARY
};

pub(in crate::dialect) const ABSF: OpSpec =
    OpSpec { name: "math.absf", doc: "The absolute value of a floating-point number.", ..UNARY };

pub(in crate::dialect) const ABSI: OpSpec =
    OpSpec { name: "math.absi", doc: "The absolute value of an integer.", ..INT_UNARY };

pub(in crate::dialect) const ACOS: OpSpec =
    OpSpec { name: "math.acos", doc: "Arc cosine (inverse cosine).", ..UNARY };

pub(in crate::dialect) const ACOSH: OpSpec =
    OpSpec { name: "math.acosh", doc: "Inverse hyperbolic cosine.", ..UNARY };

pub(in crate::dialect) const ASIN: OpSpec =
    OpSpec { name: "math.asin", doc: "Arc sine (inverse sine).", ..UNARY };

pub(in crate::dialect) const ASINH: OpSpec =
    OpSpec { name: "math.asinh", doc: "Inverse hyperbolic sine.", ..UNARY };

pub(in crate::dialect) const ATAN: OpSpec =
    OpSpec { name: "math.atan", doc: "Arc tangent (inverse tangent).", ..UNARY };

pub(in crate::dialect) const ATAN2: OpSpec = OpSpec {
    name: "math.atan2",
    doc: "Arc tangent of y / x in the quadrant of the point (x, y); y is the first operand.",
    ..FLOAT_BINARY
};

pub(in crate::dialect) const ATANH: OpSpec =
    OpSpec { name: "math.atanh", doc: "Inverse hyperbolic tangent.", ..UNARY };

pub(in crate::dialect) const CBRT: OpSpec =
    OpSpec { name: "math.cbrt", doc: "The cube root of a floating-point number.", ..UNARY };

pub(in crate::dialect) const CEIL: OpSpec =
    OpSpec { name: "math.ceil", doc: "Rounds up to an integer.", ..UNARY };

pub(in crate::dialect) const COPYSIGN: OpSpec = OpSpec {
    name: "math.copysign",
    doc: "The first number with the sign of the second.",
    ..FLOAT_BINARY
};

pub(in crate::dialect) const COS: OpSpec =
    OpSpec { name: "math.cos", doc: "Cosine of a floating-point number.", ..UNARY };

pub(in crate::dialect) const COSH: OpSpec =
    OpSpec { name: "math.cosh", doc: "Hyperbolic cosine of a floating-point number.", ..UNARY };

pub(in crate::dialect) const CTLZ: OpSpec =
    OpSpec { name: "math.ctlz", doc: "Counts leading zeros.", ..INT_UNARY };

pub(in crate::dialect) const CTPOP: OpSpec = OpSpec {
    name: "math.ctpop",
    doc: "Counts the bits that are one (population count).",
    ..INT_UNARY
};

pub(in crate::dialect) const CTTZ: OpSpec =
    OpSpec { name: "math.cttz", doc: "Counts trailing zeros.", ..INT_UNARY };

pub(in crate::dialect) const ERF: OpSpec =
    OpSpec { name: "math.erf", doc: "The error function of a floating-point number.", ..UNARY };

pub(in crate::dialect) const EXP: OpSpec = OpSpec {
    name: "math.exp",
    doc: "The exponential function of a floating-point number.",
    ..UNARY
};

pub(in crate::dialect) const EXP2: OpSpec =
    OpSpec { name: "math.exp2", doc: "Two to the power of a floating-point number.", ..UNARY };

pub(in crate::dialect) const EXPM1: OpSpec =
    OpSpec { name: "math.expm1", doc: "e^x - 1, precise near zero.", ..UNARY };

pub(in crate::dialect) const FLOOR: OpSpec =
    OpSpec { name: "math.floor", doc: "Rounds down to an integer.", ..UNARY };

pub(in crate::dialect) const FMA: OpSpec = OpSpec {
    name: "math.fma",
    doc: "The first number times the second plus the third, rounded once.",
    operands: CountRange::exactly(3),
    syntax: &[Operands(3), OPT_FASTMATH, AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..FLOAT_BINARY
};

pub(in crate::dialect) const FPOWI: OpSpec = OpSpec {
    name: "math.fpowi",
    doc: "A floating-point number to the power of an integer.",
    types: TypeRule::new(&[TypeClass::FloatLike, TypeClass::IntLike], &[TypeClass::FloatLike]),
    rules: VerifierRules::of_types(&[|it, op| it.check_first_and_result(op)]),
    syntax: &[
        Operands(2),
        OPT_FASTMATH,
        AttrDict,
        COLON,
        TypeOf(TypeBinding::FirstAndResult),
        COMMA,
        TypeOf(TypeBinding::Operand(1)),
    ],
    ..FLOAT_BINARY
};

pub(in crate::dialect) const IPOWI: OpSpec = OpSpec {
    name: "math.ipowi",
    doc: "The first integer to the power of the second.",
    ..INT_BINARY
};

pub(in crate::dialect) const LOG: OpSpec =
    OpSpec { name: "math.log", doc: "The natural logarithm of a floating-point number.", ..UNARY };

pub(in crate::dialect) const LOG10: OpSpec = OpSpec {
    name: "math.log10",
    doc: "The logarithm to base ten of a floating-point number.",
    ..UNARY
};

pub(in crate::dialect) const LOG1P: OpSpec =
    OpSpec { name: "math.log1p", doc: "log(1 + x), precise near zero.", ..UNARY };

pub(in crate::dialect) const LOG2: OpSpec = OpSpec {
    name: "math.log2",
    doc: "The logarithm to base two of a floating-point number.",
    ..UNARY
};

pub(in crate::dialect) const POWF: OpSpec = OpSpec {
    name: "math.powf",
    doc: "The first number to the power of the second.",
    ..FLOAT_BINARY
};

pub(in crate::dialect) const ROUND: OpSpec = OpSpec {
    name: "math.round",
    doc: "Rounds to the nearest integer, ties away from zero.",
    ..UNARY
};

pub(in crate::dialect) const ROUNDEVEN: OpSpec =
    OpSpec { name: "math.roundeven", doc: "Rounds to the nearest integer, ties to even.", ..UNARY };

pub(in crate::dialect) const RSQRT: OpSpec =
    OpSpec { name: "math.rsqrt", doc: "Reciprocal square root.", ..UNARY };

pub(in crate::dialect) const SIN: OpSpec =
    OpSpec { name: "math.sin", doc: "Sine of a floating-point number.", ..UNARY };

pub(in crate::dialect) const SINH: OpSpec =
    OpSpec { name: "math.sinh", doc: "Hyperbolic sine of a floating-point number.", ..UNARY };

pub(in crate::dialect) const SQRT: OpSpec =
    OpSpec { name: "math.sqrt", doc: "The square root of a floating-point number.", ..UNARY };

pub(in crate::dialect) const TAN: OpSpec =
    OpSpec { name: "math.tan", doc: "Tangent of a floating-point number.", ..UNARY };

pub(in crate::dialect) const TANH: OpSpec =
    OpSpec { name: "math.tanh", doc: "Hyperbolic tangent of a floating-point number.", ..UNARY };

pub(in crate::dialect) const TRUNC: OpSpec =
    OpSpec { name: "math.trunc", doc: "Rounds towards zero.", ..UNARY };
