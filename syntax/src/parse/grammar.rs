//! The grammar of one item: an op, a block label, an alias or a resource section, over its tokens.
//!
//! The skeleton has found the extent of the item and replaced its regions by tokens. `item.rs`
//! parses the parts that items share (result names, the generic form, labels, aliases). `custom.rs`
//! parses custom forms along the syntax in the row of the op (`dialect/syntax/`). `opaque.rs`
//! parses unknown ops by heuristics. `value_reader.rs` and the chumsky grammar in `values.rs` parse
//! types and attributes.
//!
//! *Cost.* Parsing a plain op allocates nothing: its type is looked up by its text, and its
//! operands are stored inline.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "counts of operands and bits of literals, checked before where they could be large"
)]

mod ast;
mod custom;
mod elements;
mod error;
pub(crate) mod flags;
mod item;
mod location;
mod opaque;
mod parsed;
pub(crate) mod reader;
pub(crate) mod resolve_types;
mod spelling;
mod value_reader;
mod values;
mod words;

pub use parsed::{AliasUse, Form};
pub(crate) use parsed::{
    ParsedArgument, ParsedItem, ParsedOperand, ParsedResult, ParsedSuccessor, ParsedSymbol,
};

use rustc_hash::FxHashMap;

use crate::{Attr, Interner, Name, Token, Type, string};

/// The meaning of an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// `!name = type`; [`Type::UNKNOWN`] if the type has a problem.
    Type(Type),
    /// `#name = attribute`; [`Attr::UNKNOWN`] if the attribute has a problem.
    Attr(Attr),
}

/// The meanings of aliases, by name with sigil (`!ty`, `#map`).
pub(crate) type Aliases = FxHashMap<Name, Alias>;

/// The context of an item: everything that its grammar reads besides its tokens.
#[derive(Debug)]
pub(crate) struct GrammarEnv<'a> {
    /// The table of strings, types and attributes.
    pub interner: &'a mut Interner,
    /// The aliases that are defined before the item.
    pub aliases: &'a Aliases,
    /// The dialect of op names without a dot, if there is one here.
    pub default_dialect: Option<&'static str>,
}

/// Parses one item. `tokens` are its own tokens, each region replaced by one
/// [`crate::TokenKind::Region`] token, without [`crate::TokenKind::Eof`]; spans are bytes of
/// `text`.
pub(crate) fn parse_item(
    text: &str,
    tokens: &[Token],
    env: &mut GrammarEnv<'_>,
    out: &mut ParsedItem,
) {
    let mut reader = reader::Reader {
        text,
        tokens,
        at: 0,
        env,
        out,
        is_quiet: false,
        n_silenced: 0,
        n_regions: 0,
        header_arguments: Vec::new(),
    };
    reader.item();
    if out.attrs.len() > 1 {
        let interner = &*env.interner;
        out.attrs.sort_by(|a, b| string::compare_by_bytes(interner.str(a.0), interner.str(b.0)));
    }
}

#[cfg(test)]
mod tests;
