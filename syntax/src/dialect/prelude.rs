//! The imports of the files with rows.

pub(super) use super::row::OpSpec;
pub(super) use super::syntax::Element::*;
pub(super) use super::syntax::{ARROW, Bind, COLON, COMMA};
pub(super) use crate::op_traits::{
    Access, Agreement, AttrClass, AttrSpec, Buffer, Count, Effects, PassedOperands, Speculation,
    Traits, TypeClass, TypeRule, WidthChange,
};
pub(super) use crate::print::ResultNames;
pub(super) use crate::verify::Rules;
pub(super) use crate::{OpKind, TokenKind, Type};
