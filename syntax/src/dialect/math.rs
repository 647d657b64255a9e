//! Rows of `math`: functions of floating-point numbers and integers.

use crate::dialect::format::{Bind, COLON, Element, FASTMATH};
use crate::dialect::row::{Count, OpSpec};

/// One number to one of the same type.
pub(super) const UNARY: OpSpec = OpSpec {
    operands: Count::exactly(1),
    form: &[
        Element::Uses(1),
        Element::OptFlags(&FASTMATH),
        Element::AttrDict,
        COLON,
        Element::Type(Bind::All),
    ],
    ..super::arith::FLOAT_BINARY
};

/// Bits of one integer to one of the same type.
pub(super) const INT_UNARY: OpSpec = OpSpec {
    operands: Count::exactly(1),
    form: &[Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::All)],
    ..super::arith::INT_BINARY
};

macro_rules! math {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// The absolute value of a floating-point number.
        MathAbsf = "math.absf" {
            ..math::UNARY
        }
        /// The absolute value of an integer.
        MathAbsi = "math.absi" {
            ..math::INT_UNARY
        }
        /// The angle whose cosine is a number.
        MathAcos = "math.acos" {
            ..math::UNARY
        }
        /// The number whose hyperbolic cosine is a number.
        MathAcosh = "math.acosh" {
            ..math::UNARY
        }
        /// The angle whose sine is a number.
        MathAsin = "math.asin" {
            ..math::UNARY
        }
        /// The number whose hyperbolic sine is a number.
        MathAsinh = "math.asinh" {
            ..math::UNARY
        }
        /// The angle whose tangent is a number.
        MathAtan = "math.atan" {
            ..math::UNARY
        }
        /// The angle of a point, from its second coordinate and its first.
        MathAtan2 = "math.atan2" {
            ..arith::FLOAT_BINARY
        }
        /// The number whose hyperbolic tangent is a number.
        MathAtanh = "math.atanh" {
            ..math::UNARY
        }
        /// The cube root of a floating-point number.
        MathCbrt = "math.cbrt" {
            ..math::UNARY
        }
        /// The least integer that is not below the number.
        MathCeil = "math.ceil" {
            ..math::UNARY
        }
        /// The first number with the sign of the second.
        MathCopysign = "math.copysign" {
            ..arith::FLOAT_BINARY
        }
        /// Cosine of a floating-point number.
        MathCos = "math.cos" {
            ..math::UNARY
        }
        /// Hyperbolic cosine of a floating-point number.
        MathCosh = "math.cosh" {
            ..math::UNARY
        }
        /// How many bits are zero before the highest that is one.
        MathCtlz = "math.ctlz" {
            ..math::INT_UNARY
        }
        /// How many bits are one.
        MathCtpop = "math.ctpop" {
            ..math::INT_UNARY
        }
        /// How many bits are zero below the lowest that is one.
        MathCttz = "math.cttz" {
            ..math::INT_UNARY
        }
        /// The error function of a floating-point number.
        MathErf = "math.erf" {
            ..math::UNARY
        }
        /// The exponential function of a floating-point number.
        MathExp = "math.exp" {
            ..math::UNARY
        }
        /// Two to the power of a floating-point number.
        MathExp2 = "math.exp2" {
            ..math::UNARY
        }
        /// The exponential function of a floating-point number, less one.
        MathExpm1 = "math.expm1" {
            ..math::UNARY
        }
        /// The greatest integer that is not above the number.
        MathFloor = "math.floor" {
            ..math::UNARY
        }
        /// The first number times the second plus the third, rounded once.
        MathFma = "math.fma" {
            operands: Count::exactly(3),
            form: &[
                Element::Uses(3), Element::OptFlags(&FASTMATH), Element::AttrDict, COLON, Element::Type(Bind::All),
            ],
            ..arith::FLOAT_BINARY
        }
        /// A floating-point number to the power of an integer.
        MathFpowi = "math.fpowi" {
            types: TypeRule::new(&[TypeClass::FloatLike, TypeClass::IntLike], &[TypeClass::FloatLike]),
            form: &[
                Element::Uses(2), Element::OptFlags(&FASTMATH), Element::AttrDict, COLON,
                Element::Type(Bind::FirstAndResult), COMMA, Element::Type(Bind::Operand(1)),
            ],
            ..arith::FLOAT_BINARY
        }
        /// The first integer to the power of the second.
        MathIpowi = "math.ipowi" {
            ..arith::INT_BINARY
        }
        /// The natural logarithm of a floating-point number.
        MathLog = "math.log" {
            ..math::UNARY
        }
        /// The logarithm to base ten of a floating-point number.
        MathLog10 = "math.log10" {
            ..math::UNARY
        }
        /// The natural logarithm of one more than a floating-point number.
        MathLog1p = "math.log1p" {
            ..math::UNARY
        }
        /// The logarithm to base two of a floating-point number.
        MathLog2 = "math.log2" {
            ..math::UNARY
        }
        /// The first number to the power of the second.
        MathPowf = "math.powf" {
            ..arith::FLOAT_BINARY
        }
        /// The nearest integer, halves away from zero.
        MathRound = "math.round" {
            ..math::UNARY
        }
        /// The nearest integer, halves to the even one.
        MathRoundeven = "math.roundeven" {
            ..math::UNARY
        }
        /// One over the square root of a floating-point number.
        MathRsqrt = "math.rsqrt" {
            ..math::UNARY
        }
        /// Sine of a floating-point number.
        MathSin = "math.sin" {
            ..math::UNARY
        }
        /// Hyperbolic sine of a floating-point number.
        MathSinh = "math.sinh" {
            ..math::UNARY
        }
        /// The square root of a floating-point number.
        MathSqrt = "math.sqrt" {
            ..math::UNARY
        }
        /// Tangent of a floating-point number.
        MathTan = "math.tan" {
            ..math::UNARY
        }
        /// Hyperbolic tangent of a floating-point number.
        MathTanh = "math.tanh" {
            ..math::UNARY
        }
        /// The nearest integer towards zero.
        MathTrunc = "math.trunc" {
            ..math::UNARY
        }
    } };
}
