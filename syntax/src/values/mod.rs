//! Types, attributes and affine maps as data, interned.

pub mod affine;
pub(crate) mod dense;
pub(crate) mod entity;
pub(crate) mod float;
pub(crate) mod intern;
