#![doc = include_str!("../README.md")]

pub mod affine;
mod code;
mod delta;
mod dense;
pub mod dialect;
pub mod dominance;
pub mod dump;
mod entity;
mod float;
mod grammar;
pub mod identifier;
mod intern;
mod ir;
mod kind;
#[cfg(any(test, feature = "laws"))]
pub mod laws;
pub mod lex;
mod lowering;
mod namespace;
mod op_traits;
pub mod parallel;
pub mod print;
mod problem;
pub mod rewrite;
mod skeleton;
mod slack;
mod source;
pub mod string;
mod token;
mod token_stream;
mod tool;
mod verify;
#[cfg(test)]
mod work;

pub use code::{Category, Code, MAX_REGION_DEPTH};
pub use delta::Delta;
pub use dense::dense_text;
pub use dialect::OpSpec;
pub use entity::{Attr, Block, Name, Op, Region, Type, Value};
pub use float::{float_bits, float_of_bits, float_text, rounded_float};
pub use grammar::{Alias, AliasUse, Form};
pub use intern::{
    AttrData, Dim, Interner, Layout, LocationPart, MOST_PADDING, Sign, TypeData,
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
pub use source::Source;
pub use token::{Span, Token, TokenKind};
pub use tool::Tool;
