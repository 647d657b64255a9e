#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod code;
pub mod dialect;
pub mod dump;
mod ir;
#[cfg(any(test, feature = "laws"))]
pub mod laws;
mod op;
mod parse;
pub mod print;
pub mod rewrite;
mod source;
mod support;
mod text;
mod values;
mod verify;

pub(crate) use ir::{delta, lowering};
pub(crate) use op::{kind, namespace, op_traits, tool};
pub(crate) use parse::{grammar, skeleton};
pub(crate) use support::slack;
#[cfg(test)]
pub(crate) use support::work;
pub use support::{dominance, parallel};
pub(crate) use text::{dialect_body, edit, problem, token, token_stream};
pub use text::{identifier, lex, string};
pub use values::affine;
pub(crate) use values::{dense, entity, float, intern};

pub use code::{Category, Code, MAX_REGION_DEPTH};
pub use delta::Delta;
pub use dense::dense_text;
pub use dialect::OpSpec;
pub use edit::TextEdit;
pub use entity::{Attr, Block, Name, Op, Region, Type, Value};
pub use float::{float_bits, float_of_bits, float_text, rounded_float};
pub use grammar::{Alias, AliasUse, Form};
pub use intern::{
    AttrData, Dim, Interner, LocationPart, MAX_PADDING, Sign, StridedLayout, TypeData,
    floor_char_boundary,
};
pub use ir::{
    BlockData, Def, Ir, Items, OpData, OpExtra, Operand, RegionData, ResultName, Successor,
    ValueData,
};
pub use kind::OpKind;
pub use op_traits::Traits;
pub use problem::Problem;
pub use slack::reserve_with_slack;
pub use source::{Advice, Proposal, Source, nearest};
pub use token::{SPLIT_MARKER, Span, Token, TokenKind};
pub use tool::Tool;
