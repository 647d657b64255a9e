//! The grammar of one item: an op, a block label, an alias or a resource section, over its tokens.

mod parsed;
mod values;
mod words;

use rustc_hash::FxHashMap;

pub use parsed::{Form, Parsed, ParsedArgument, ParsedOperand, ParsedResult, ParsedSuccessor, ParsedSymbol};
pub use words::MAX_DEPTH;

use crate::{Attr, Interner, Name, Token, Type};

/// The aliases that a chunk defines, by name with sigil (`!ty`, `#map`).
#[derive(Debug, Default)]
pub struct Aliases {
    /// `!name = type`
    pub types: FxHashMap<Name, Type>,
    /// `#name = attribute`
    pub attrs: FxHashMap<Name, Attr>,
}

/// What the grammar of an item may look at besides its tokens.
#[derive(Debug)]
pub struct Env<'a> {
    /// Where strings, types and attributes are interned.
    pub interner: &'a mut Interner,
    /// The aliases in scope.
    pub aliases: &'a Aliases,
    /// The dialect of op names without a dot, if there is one here.
    pub default_dialect: Option<&'static str>,
}

/// Parses one item. `tokens` are its own tokens, each region replaced by one [`crate::T::Region`] token, without
/// [`crate::T::Eof`]; spans are bytes of `text`.
pub fn parse_item(text: &str, tokens: &[Token], env: &mut Env<'_>, out: &mut Parsed) {
    let _ = (text, tokens, env, out);
}
