//! Rows of `math`: functions of one floating-point number. The other ops of the dialect are unknown.

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

macro_rules! math {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// The absolute value of a floating-point number.
        MathAbsf = "math.absf" {
            ..math::UNARY
        }
        /// The least integer that is not below the number.
        MathCeil = "math.ceil" {
            ..math::UNARY
        }
        /// Cosine of a floating-point number.
        MathCos = "math.cos" {
            ..math::UNARY
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
        /// The greatest integer that is not above the number.
        MathFloor = "math.floor" {
            ..math::UNARY
        }
        /// The natural logarithm of a floating-point number.
        MathLog = "math.log" {
            ..math::UNARY
        }
        /// The logarithm to base two of a floating-point number.
        MathLog2 = "math.log2" {
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
        /// The square root of a floating-point number.
        MathSqrt = "math.sqrt" {
            ..math::UNARY
        }
        /// Hyperbolic tangent of a floating-point number.
        MathTanh = "math.tanh" {
            ..math::UNARY
        }
    } };
}
