//! The lattice of constants, of height two. A constant is an integer, a float, a list of elements
//! or another attribute.

use std::fmt;

use noisy_syntax::{Attr, Def, Ir, OpKind, Sign, Type, TypeData, Value};

use noisy_dataflow::flow::Interval;
use noisy_dataflow::lattice::{Changed, Lattice};
use noisy_dataflow::sparse::Domain;
use noisy_dataflow::view::HasInterner;

/// The constant of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Constant {
    /// No execution reaches the value.
    #[default]
    Bottom,
    /// An integer, sign-extended from the width of its type. For a vector or tensor, the value of
    /// every element.
    Int(i128),
    /// A float, as the bits of an `f64` of the same value. For a vector or tensor, the value of
    /// every element.
    Float(u64),
    /// Elements of a vector or tensor that are not all equal, as an index into the lists of the
    /// analysis; see [`crate::Integers::elements`].
    Elements(u32),
    /// Any other attribute.
    Other(Attr),
    Unknown,
}

impl Constant {
    /// Returns the integer, if the constant is an integer.
    pub fn int(self) -> Option<i128> {
        match self {
            Constant::Int(it) => Some(it),
            _ => None,
        }
    }

    pub fn is_known(self) -> bool {
        !matches!(self, Constant::Bottom | Constant::Unknown)
    }

    pub fn from_bool(is: bool) -> Self {
        Constant::Int(-i128::from(is))
    }

    /// Returns the interval of the integer, for a value of type `ty`.
    pub fn interval(self, ir: &impl HasInterner, ty: Type) -> Interval {
        match (self, width(ir, ty)) {
            (Constant::Bottom, _) => Interval::Empty,
            (Constant::Int(it), Some(_)) => Interval::Bounded { lo: it, hi: it },
            _ => Interval::Unknown,
        }
    }
}

/// Returns the width of an integer type, or of the integer elements of a vector or tensor. `index`
/// has 64 bits. `None` for other types, and for more than 128 bits.
pub fn width(ir: &impl HasInterner, ty: Type) -> Option<u32> {
    match ir.interner().type_data(ty) {
        TypeData::Int { width: width @ 1..=128, sign: Sign::Signless } => Some(*width),
        TypeData::Index => Some(64),
        TypeData::Vector { element, .. } | TypeData::Tensor { element, .. } => {
            match ir.interner().type_data(*element) {
                TypeData::Int { width: width @ 1..=128, sign: Sign::Signless } => Some(*width),
                TypeData::Index => Some(64),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the keyword of a float type (`f32`), or of the float elements of a vector or tensor.
pub fn float_keyword(ir: &impl HasInterner, ty: Type) -> Option<&'static str> {
    match ir.interner().type_data(ty) {
        TypeData::Float(name) => Some(name),
        TypeData::Vector { element, .. } | TypeData::Tensor { element, .. } => {
            match ir.interner().type_data(*element) {
                TypeData::Float(name) => Some(name),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the low `width` bits, sign-extended.
pub fn sign_extended(value: i128, width: u32) -> i128 {
    let unused = 128 - width;
    (value << unused) >> unused
}

impl Lattice for Constant {
    fn bottom() -> Self {
        Constant::Bottom
    }

    fn join(&mut self, other: &Self) -> Changed {
        let before = *self;
        *self = match (before, *other) {
            (Constant::Bottom, it) | (it, Constant::Bottom) => it,
            (a, b) if a == b => a,
            _ => Constant::Unknown,
        };
        Changed::when(*self != before)
    }
}

impl fmt::Display for Constant {
    /// Writes the number, `unknown`, `unreached`, or `constant` for other attributes and for lists.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Bottom => f.write_str("unreached"),
            Constant::Int(it) => write!(f, "{it}"),
            Constant::Float(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            Constant::Elements(_) | Constant::Other(_) => f.write_str("constant"),
            Constant::Unknown => f.write_str("unknown"),
        }
    }
}

impl Domain for Constant {
    fn unknown() -> Self {
        Constant::Unknown
    }
}

/// Returns true if an `arith.constant` defines a value.
pub fn is_defined_by_constant_op(ir: &Ir, value: Value) -> bool {
    matches!(ir.value(value).def, Def::Result(op, _) if ir.op(op).kind == OpKind::ArithConstant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use noisy_dataflow::lattice::check_laws;

    #[test]
    fn constants_are_a_lattice() {
        let sample = [
            Constant::Bottom,
            Constant::Int(0),
            Constant::Int(-1),
            Constant::Float(0),
            Constant::Other(Attr::UNIT),
            Constant::Unknown,
        ];
        assert_eq!(check_laws(&sample), Ok(()));
    }
}
