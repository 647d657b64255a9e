//! The imports of the files with rows.

/// The syntax of an op that makes a value of another type of its operand: other elements, then the
/// type of the operand, a word, and the type of the result.
macro_rules! converted {
    ($from:expr, $word:literal $(, $element:expr)*) => {
        &[
            Operands(1),
            $($element,)*
            AttrDict,
            COLON,
            TypeOf($from),
            Word($word),
            TypeOf(TypeBinding::Result),
        ]
    };
}

pub(super) use super::row::OpSpec;
pub(super) use super::syntax::Element::*;
pub(super) use super::syntax::{ARROW, COLON, COMMA, TypeBinding};
pub(super) use crate::op_traits::{
    Access, Agreement, AttrClass, AttrSpec, Buffer, CountRange, Effects, PassedOperands,
    Speculation, Traits, TypeClass, TypeRule, WidthChange,
};
pub(super) use crate::print::ResultNames;
pub(super) use crate::verify::VerifierRules;
pub(super) use crate::{OpKind, TokenKind, Type};
pub(super) use converted;
