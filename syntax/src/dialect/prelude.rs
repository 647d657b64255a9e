//! The names that rows are written in.

pub(super) use super::format::Element::*;
pub(super) use super::format::{
    ARROW, Bind, CMPF_PREDICATES, CMPI_PREDICATES, COLON, COMMA, FASTMATH, NO_INLINE, OVERFLOW,
};
pub(super) use super::row::OpSpec;
pub(super) use crate::op_traits::{
    Access, Agreement, AttrClass, AttrSpec, Buffer, Count, Effects, Speculation, Traits, TypeClass,
    TypeRule, WidthChange,
};
pub(super) use crate::{OpKind, TokenKind, Type};
