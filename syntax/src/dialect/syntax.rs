//! The custom syntax of ops.
//!
//! The syntax of an op is a list of [`Element`]s in the order of the text. Parser and printer
//! follow this list, and completion inserts its snippets. Elements that many ops share are variants
//! of [`Element`]. The others are values of [`Syntax`], each with its reader, its printer, its
//! snippet and its attributes, one file per kind of syntax.

pub(super) mod affine;
pub(super) mod affine_loops;
pub(super) mod branch;
pub(super) mod element;
pub(super) mod flags;
pub(super) mod func;
pub(super) mod loops;
pub(super) mod memref;
pub(super) mod types;

pub use element::{ARROW, COLON, COMMA, Element, Syntax, TypeBinding};
