//! Text to tokens to ops: a lossless, total and incremental reader of MLIR.
//!
//! [`Source`] is the entry: text in a rope, the IR that it spells, and edits that reparse only what they touch. Nothing
//! here knows an analysis or an editor.

pub mod affine;
mod code;
pub mod dialect;
pub mod dominance;
pub mod dump;
mod entity;
pub mod grammar;
mod intern;
mod ir;
#[cfg(any(test, feature = "laws"))]
pub mod laws;
pub mod lex;
mod lowering;
pub mod print;
mod problem;
mod resolve;
pub mod rewrite;
mod seq;
mod skeleton;
mod slack;
mod source;
mod token;
mod token_stream;
mod verify;

pub use code::Code;
pub use dialect::{OpKind, OpSpec, Traits};
pub use entity::{Attr, Block, Name, Op, Region, Type, Value};
pub use grammar::{
    Alias, AliasUse, Form, Parsed, ParsedArgument, ParsedOperand, ParsedResult, ParsedSuccessor,
    ParsedSymbol,
};
pub use intern::{AttrData, Dim, Interner, LocationPart, Sign, TypeData};
pub use ir::{
    BlockData, Def, Ir, OpData, OpExtra, Operand, RegionData, ResultName, Successor, ValueData,
};
pub use problem::{Category, Problem};
pub use seq::Iter as Items;
pub use skeleton::MAX_REGION_DEPTH;
pub use slack::reserve_with_slack;
pub use source::{Delta, Source};
pub use token::{Span, Token, TokenKind};
