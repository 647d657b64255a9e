//! Constants: the values that an op gives whatever happens, through blocks, loops and calls (conditional constant propagation,
//! Wegman and Zadeck).
//!
//! ```text
//! Bottom < 0, 1, 2, ..., 1.5, ..., [1, 2], ..., @f < Unknown
//! ```
//!
//! A lattice of height two, so that no widening is needed and the solution is the least one, whatever the order. An op whose operands are
//! known folds as MLIR's folders do (`fold.rs`): where one is enough (`x * 0`, `x - x`) one is enough, and where MLIR leaves an op
//! alone because it has no meaning (a division by zero, a shift by too much) nothing is known.

use std::fmt;

use noisy_syntax::{
    Attr, AttrData, Def, Form, Interner, Ir, Op, OpKind, Sign, Type, TypeData, Value,
};

use crate::flow::Interval;
use crate::integer::elements::{self, Lists};
use crate::integer::fold;
use crate::lattice::{Changed, Lattice};
use crate::sparse::{AnalysisContext, Base, Calls, Domain, Sparse, SparseForward};
use crate::view::{Types, View};

/// What is known of the one value that something has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Constant {
    /// Nothing reaches it.
    #[default]
    Bottom,
    /// An integer, sign-extended from the width of its type; of a vector or tensor, every element.
    Int(i128),
    /// A float, as the bits of an `f64` of the same value; of a vector or tensor, every element.
    Float(u64),
    /// Elements of a vector or tensor that are not all equal, by their number among the lists of the analysis; see
    /// [`crate::Integers::elements`].
    Elements(u32),
    /// What else an attribute can say.
    Other(Attr),
    /// Not known.
    Unknown,
}

impl Constant {
    /// The integer, if it is one.
    pub fn int(self) -> Option<i128> {
        match self {
            Constant::Int(it) => Some(it),
            _ => None,
        }
    }

    /// Whether it is known.
    pub fn is_known(self) -> bool {
        !matches!(self, Constant::Bottom | Constant::Unknown)
    }

    /// A truth value.
    pub fn bool(is: bool) -> Self {
        Constant::Int(-i128::from(is))
    }

    /// Where the integer lies that a value of a type is.
    pub(crate) fn interval(self, ir: &impl Types, ty: Type) -> Interval {
        match (self, width(ir, ty)) {
            (Constant::Bottom, _) => Interval::Empty,
            (Constant::Int(it), Some(_)) => Interval::Within { lo: it, hi: it },
            _ => Interval::Any,
        }
    }

    /// What an attribute says of a value of a type; elements that are not all equal are [`Constant::Other`].
    pub fn of_attr(ir: &impl Types, attr: Attr, ty: Type) -> Self {
        match ir.interner().attr_data(attr) {
            AttrData::Bool(it) => Constant::bool(*it),
            AttrData::Int { value, .. } => match width(ir, ty) {
                Some(width) => Constant::Int(sign_extended(*value, width)),
                None => Constant::Other(attr),
            },
            AttrData::Float { bits, .. } if float(ir, ty).is_some() => Constant::Float(*bits),
            AttrData::Elements(..) => {
                let elements = elements::elements(ir, attr, ty);
                let splat = elements.filter(|it| it.iter().all(|other| *other == it[0]));
                splat.map_or(Constant::Other(attr), |it| it[0])
            }
            AttrData::Unknown => Constant::Unknown,
            _ => Constant::Other(attr),
        }
    }
}

/// The width of an integer type, or of the elements of a shape of integers; `index` has 64 bits. `None` for other types and for
/// more than 128 bits.
pub fn width(ir: &impl Types, ty: Type) -> Option<u32> {
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

/// The keyword of a float type, or of the elements of a shape of floats.
pub fn float(ir: &impl Types, ty: Type) -> Option<&'static str> {
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

/// The low bits of a number, sign-extended.
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
    /// The value, `unknown`, or `unreached`; attributes that are no numbers as `constant`.
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

/// The analysis.
#[derive(Debug, Default)]
pub struct Constants {
    /// The elements that its facts stand for.
    pub lists: Lists,
    /// Calls are not looked into: see [`Constants::local`].
    is_local: bool,
}

impl Constants {
    /// The analysis of functions by themselves: nothing is known of what is passed to them, and of what calls give.
    pub fn local() -> Self {
        Self { is_local: true, ..Self::default() }
    }
}

impl Domain for Constant {
    fn unknown() -> Self {
        Constant::Unknown
    }
}

/// The constants of a program, for the analyses that stand on them.
#[derive(Debug)]
pub struct ConstantFacts(pub(crate) Sparse<Constants>);

impl Base for ConstantFacts {
    type Known<'a> = Elements<'a>;

    fn known(&self, _: &Interner, _: Type, value: Value) -> Elements<'_> {
        let constant = self.0.fact(value).copied().unwrap_or(Constant::Unknown);
        Elements { constant, list: self.0.analysis.lists.of(constant) }
    }

    fn interval(&self, interner: &Interner, ty: Type, value: Value) -> Interval {
        self.0.fact(value).map_or(Interval::Any, |it| it.interval(interner, ty))
    }
}

/// A constant, with its elements if it has some that differ.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// The constant.
    pub constant: Constant,
    /// Its elements, in order.
    pub list: Option<&'a [Constant]>,
}

impl SparseForward for Constants {
    type Fact = Constant;
    type Base = ();

    fn calls(&self) -> Calls {
        if self.is_local { Calls::Opaque } else { Calls::Joined }
    }

    fn carries(&self, interner: &Interner, ty: Type) -> bool {
        !matches!(
            interner.type_data(ty),
            TypeData::Dialect(_) | TypeData::MemRef { .. } | TypeData::Token
        )
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, ()>,
        op: Op,
        result: usize,
        operands: &[Constant],
    ) -> Constant {
        let data = ir.op(op);
        if matches!(data.form, Form::Broken | Form::Opaque) {
            return Constant::Unknown;
        }
        if data.kind == OpKind::ArithConstant || data.kind == OpKind::FuncConstant {
            let attr = ir.attr(op, "value");
            let ty = ir.ty(data.results[result]);
            let Some(attr) = attr else { return Constant::Unknown };
            let elements = self.lists.read(ir, attr, ty);
            return elements.unwrap_or_else(|| Constant::of_attr(ir, attr, ty));
        }
        // A known kind that needs all operands is not there yet.
        fold::fold(ir, op, result, operands, &mut self.lists)
    }

    fn interval(&self, interner: &Interner, ty: Type, fact: &Constant) -> Option<Interval> {
        Some(fact.interval(interner, ty))
    }
}

/// Whether a value is a constant as it is written.
pub(crate) fn is_written(ir: &Ir, value: Value) -> bool {
    matches!(ir.value(value).def, Def::Result(op, _) if ir.op(op).kind == OpKind::ArithConstant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lattice::laws;

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
        assert_eq!(laws(&sample), Ok(()));
    }
}
