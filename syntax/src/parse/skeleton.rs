//! The skeleton: where items and their regions begin and end, by brackets and line starts alone.
//!
//! It splits a run of tokens into items (ops, block labels, aliases, resource sections) nested by
//! regions, without knowing the syntax of any op. The grammar of each item ([`crate::grammar`])
//! then sees its own tokens only, each region as one [`crate::TokenKind::Region`]. So one broken op
//! cannot disturb its neighbours, ops can be reparsed one by one, and ops of unknown dialects are
//! passed over.
//!
//! *Where an item ends.* With no bracket open: before `}`, the end, a split, `{-#`, a list of
//! results (`%a, %b:2 =`) that an op name follows, and, at the start of a line, before a dotted or
//! known op name, a quoted op name, a label or an alias definition. Within a line too, before one
//! of these, behind an op whose syntax is known; behind any other only where what stands before it
//! may be the end of an op: no sign but a closing one, and no word but that of a type (`applies
//! a.b` goes on). With a bracket open an item still ends at a line that can only be an op (results
//! and a dotted or quoted name; a known op name), at a label with its colon, and at a `}` that
//! closes something outside: this is what keeps an unclosed bracket from swallowing the file.
//!
//! *What a `{` opens.* In generic form a region right inside parentheses, else a dictionary; in
//! custom form what the next two tokens look like. `{}` is always a region; the grammar takes it
//! for an empty dictionary where it wants one.
//!
//! *What is not read.* Wherever an item may start, the caller may say that old items are to be
//! taken over from there on.
//!
//! *Law.* The items' texts, their regions' tails and braces, in order, are the text. An item
//! depends on the tokens from its start to its `lookahead`, on the context that its `context_deps`
//! name, and on nothing else before it. *Cost.* Linear, no recursion.

mod bounds;
mod parser;

use crate::token_stream::TokenStream;
use crate::{Op, Region, Token, TokenKind};
use parser::Parser;
pub(crate) use parser::Pause;

/// A dependence of items on the default dialect.
pub(crate) const DIALECT: u8 = 2;

/// A dependence of items on being at the top level.
pub(crate) const PLACE: u8 = 4;

/// An item with its extent, in bytes of [`TokenStream::text`].
#[derive(Debug)]
pub(crate) struct Item {
    /// Start of its leading trivia.
    pub(crate) start: u32,
    /// Start of its first token.
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// Its length in bytes, with the text that was left out of it.
    pub(crate) len: u32,
    /// Bytes beyond its end that were read to find that end.
    pub(crate) lookahead: u32,
    /// The context that this parse depended on; the item is read again if it changes: [`DIALECT`],
    /// [`PLACE`].
    pub(crate) context_deps: u8,
    /// Its own tokens, in [`Skeleton::own`] if it has regions, else in [`TokenStream::tokens`].
    pub(crate) tokens: (u32, u32),
    /// The shape of the item, as far as the first tokens tell.
    pub(crate) shape: Shape,
    /// True if its name is quoted.
    pub(crate) quoted: bool,
    pub(crate) regions: Vec<Inner>,
    /// The default dialect of unprefixed names where it stands.
    pub(crate) default_dialect: Option<&'static str>,
    /// If [`Pause::take_parts`] told of it while it was open: how many open items were around it.
    pub(crate) level: Option<usize>,
}

/// The shape of an item by its first tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Op,
    Label,
    TypeAlias,
    AttrAlias,
    Resources,
    Junk,
}

/// A region of an item.
#[derive(Debug)]
pub(crate) struct Inner {
    /// The byte after its `{`.
    pub(crate) open: u32,
    /// End of its last part; without parts, `open`.
    pub(crate) end: u32,
    /// The byte of its `}`, or where the text ends if there is none.
    pub(crate) close: u32,
    /// Bytes that the regions before it in the same item hold.
    pub(crate) cut: u32,
    /// Its items, without those that a [`Pause`] has given out before.
    pub(crate) parts: Vec<RegionPart>,
    /// True if there is a `}`.
    pub(crate) closed: bool,
}

/// A part of the contents of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RegionPart {
    /// An item that was read: index into [`Skeleton::items`].
    Item(u32),
    /// Old items that were not: index into [`Skeleton::kept`].
    Kept(u32),
}

/// The content of an item that is still open, since the last [`Pause`].
#[derive(Debug)]
pub(crate) struct OpenParts {
    /// True if the item was not open then.
    pub(crate) is_new: bool,
    /// The number of the first of the regions of `parts`: of the one that was open then.
    pub(crate) from: usize,
    /// The parts of each region from there on.
    pub(crate) parts: Vec<Vec<RegionPart>>,
}

/// Old items next to each other that are taken over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// The region that held them.
    pub(crate) region: Region,
    /// The first.
    pub(crate) first: Op,
    /// Number of them.
    pub(crate) n: usize,
    /// Their bytes.
    pub(crate) len: usize,
    /// Bytes beyond their end that were read to find where they end.
    pub(crate) far: usize,
    /// The dependences of their parse ([`Item::context_deps`]).
    pub(crate) context_deps: u8,
}

/// The items of a run.
#[derive(Debug, Default)]
pub(crate) struct Skeleton {
    /// All items that were read, inner ones before the item that holds them.
    pub(crate) items: Vec<Item>,
    /// The runs of items that were not.
    pub(crate) kept: Vec<Kept>,
    /// The outermost ones in order.
    pub(crate) roots: Vec<RegionPart>,
    /// The own tokens of items that have regions.
    pub(crate) own: Vec<Token>,
}

impl Skeleton {
    /// An empty skeleton, with room for `n_items` items.
    pub(crate) fn with_room(n_items: usize) -> Self {
        Self { items: Vec::with_capacity(n_items), ..Self::default() }
    }
}

/// The reason why the parsing of a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The end of the text.
    #[default]
    Eof,
    /// A `}` that closes the region that holds the run.
    Close,
    /// A split line.
    Split,
    /// The caller ended the run.
    Told,
}

/// The end of a run: its reason, the token after it, and the starts of that token and of the trivia
/// before it in the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) stop: Stop,
    pub(crate) token: usize,
    pub(crate) at: usize,
    pub(crate) trivia: usize,
}

/// The action where an item may start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Take {
    /// Read it.
    Read,
    /// Take these over instead.
    Keep(Kept),
    /// Stop.
    Stop,
}

/// A place where an item may start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here {
    /// Start of its trivia in the document.
    pub(crate) at: usize,
    /// Regions around it, chunks not counted.
    pub(crate) depth: usize,
    /// Default dialect of op names.
    pub(crate) default_dialect: Option<&'static str>,
    /// True if a `}` closes something.
    pub(crate) inside: bool,
    /// True if the item is an outermost one of the run.
    pub(crate) outermost: bool,
}

/// The surroundings of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Regions around the run.
    pub(crate) depth: usize,
    /// Default dialect of unprefixed op names.
    pub(crate) default_dialect: Option<&'static str>,
    /// True if a `}` closes the region around the run (else it is junk: the top level).
    pub(crate) inside: bool,
}

/// Splits the text from a token on into items, which are added to `out`. The trivia before that
/// token starts at `start` of the text that was read. `take` may end the run, but only between
/// outermost items.
pub(crate) fn skeleton(
    stream: &mut TokenStream<'_>,
    token: usize,
    start: u32,
    context: Context,
    out: &mut Skeleton,
    take: &mut dyn FnMut(Here) -> Take,
) -> End {
    Parser::new(stream, token, start, context, out).run(take).0
}

/// As [`skeleton`], from the first token of the stream, where a run was told to stop (or from its
/// start, with the default), between any items.
pub(crate) fn resume(
    stream: &mut TokenStream<'_>,
    start: u32,
    context: Context,
    pause: Pause,
    out: &mut Skeleton,
    take: &mut dyn FnMut(Here) -> Take,
) -> (End, Pause) {
    Parser::new(stream, 0, start, context, out).after(pause).run(take)
}

/// Returns true if a value may be the only result of an op, by the two tokens after its name: `%a
/// =`, `%a:2 =`.
fn may_be_result(next: TokenKind, after: TokenKind) -> bool {
    next == TokenKind::Equal || next == TokenKind::Colon && after == TokenKind::Int
}
