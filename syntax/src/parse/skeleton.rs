//! The skeleton: the extents of items and regions, found by brackets and line starts alone.
//!
//! It splits a run of tokens into items (ops, block labels, aliases, resource sections), nested by
//! regions, without knowing the syntax of any op. The grammar of each item ([`crate::grammar`])
//! then gets only the item's own tokens, with each region as one [`crate::TokenKind::Region`]. So a
//! broken op does not affect its neighbours, ops can be reparsed one by one, and ops of unknown
//! dialects are skipped.
//!
//! *End of an item.* If no bracket is open, an item ends before `}`, the end of the text, a split,
//! `{-#`, or a list of results (`%a, %b:2 =`) before an op name. At the start of a line, it also
//! ends before a dotted or known op name, a quoted op name, a label or an alias definition. Within
//! a line, it ends before one of these if the syntax of its op is known. After an unknown op it
//! does so only if the preceding token may be the end of an op: no punctuation except closing
//! brackets, and no word except a type (`applies a.b` continues the op). If a bracket is open, an
//! item still ends at a line that can only be another op (results and a dotted or quoted name; a
//! known op name), at a label with its colon, and at a `}` that closes an outer region. So an
//! unclosed bracket does not swallow the rest of the file.
//!
//! *Meaning of a `{`.* In generic form it opens a region directly inside parentheses, and a
//! dictionary elsewhere. In custom form the next two tokens decide. `{}` is always a region; the
//! grammar parses it as an empty dictionary where it expects one.
//!
//! *Reuse.* Wherever an item may start, the caller may reuse old items instead of parsing the text.
//!
//! *Law.* The texts of the items, including the tails and braces of their regions, joined in order,
//! give the text. An item depends only on the tokens from its start to its `lookahead`, and on the
//! context that its `context_deps` name. *Cost.* Linear, without recursion.

mod bounds;
mod parser;

use crate::token_stream::TokenStream;
use crate::{Op, Region, Token, TokenKind};
use parser::Parser;
pub(crate) use parser::Pause;

/// Flag of `context_deps`: the item depends on the default dialect.
pub(crate) const DEPENDS_ON_DIALECT: u8 = 2;

/// Flag of `context_deps`: the item depends on whether it is at the top level.
pub(crate) const DEPENDS_ON_TOP_LEVEL: u8 = 4;

/// An item with its extent, in bytes of [`TokenStream::text`].
#[derive(Debug)]
pub(crate) struct SkeletonItem {
    /// Start of its leading trivia.
    pub(crate) start: u32,
    /// Start of its first token.
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// Its length in bytes in the document, including reused items in its regions.
    pub(crate) len: u32,
    /// Number of bytes after its end that were read to find that end.
    pub(crate) lookahead: u32,
    /// The parts of the context that the item depends on ([`DEPENDS_ON_DIALECT`],
    /// [`DEPENDS_ON_TOP_LEVEL`]). It is parsed again if they change.
    pub(crate) context_deps: u8,
    /// The range of its own tokens: in [`Skeleton::own`] if it has regions, otherwise in
    /// [`TokenStream::tokens`].
    pub(crate) tokens: (u32, u32),
    /// The shape of the item, determined by its first tokens.
    pub(crate) shape: ItemShape,
    /// True if its op name is quoted.
    pub(crate) is_quoted: bool,
    pub(crate) regions: Vec<ItemRegion>,
    /// The default dialect of unprefixed names at its start.
    pub(crate) default_dialect: Option<&'static str>,
    /// The number of items around it, if [`Pause::take_parts`] reported it while it was open.
    pub(crate) level: Option<usize>,
}

/// The shape of an item, determined by its first tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemShape {
    Op,
    Label,
    TypeAlias,
    AttrAlias,
    Resources,
    Junk,
}

/// A region of an item.
#[derive(Debug)]
pub(crate) struct ItemRegion {
    /// The byte after its `{`.
    pub(crate) open: u32,
    /// End of its last part; `open` if it has no parts.
    pub(crate) end: u32,
    /// The byte of its `}`, or the end of the text if there is none.
    pub(crate) close: u32,
    /// Number of bytes in the preceding regions of the same item.
    pub(crate) cut: u32,
    /// Its items, except those that a [`Pause`] returned before.
    pub(crate) parts: Vec<RegionPart>,
    /// True if there is a `}`.
    pub(crate) is_closed: bool,
}

/// A part of the contents of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RegionPart {
    /// A parsed item: index into [`Skeleton::items`].
    Item(u32),
    /// Reused old items: index into [`Skeleton::kept`].
    Kept(u32),
}

/// The content of an open item since the last [`Pause`].
#[derive(Debug)]
pub(crate) struct OpenParts {
    /// True if the item was not open at the last pause.
    pub(crate) is_new: bool,
    /// The number of the first region in `parts`: the one that was open at the last pause.
    pub(crate) from: usize,
    /// The new parts of this region and of each later one.
    pub(crate) parts: Vec<Vec<RegionPart>>,
}

/// Consecutive old items that are reused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptItems {
    /// Their region.
    pub(crate) region: Region,
    /// The first item.
    pub(crate) first: Op,
    /// Number of items.
    pub(crate) n: usize,
    /// Their length in bytes.
    pub(crate) len: usize,
    /// Number of bytes after their end that were read to find that end.
    pub(crate) lookahead: usize,
    /// The parts of the context that they depend on ([`SkeletonItem::context_deps`]).
    pub(crate) context_deps: u8,
}

/// The items of a run of tokens.
#[derive(Debug, Default)]
pub(crate) struct Skeleton {
    /// All parsed items; inner items precede the item that contains them.
    pub(crate) items: Vec<SkeletonItem>,
    /// The runs of reused items.
    pub(crate) kept: Vec<KeptItems>,
    /// The outermost items in order.
    pub(crate) roots: Vec<RegionPart>,
    /// The own tokens of items with regions.
    pub(crate) own: Vec<Token>,
}

impl Skeleton {
    /// Creates an empty skeleton with capacity for `n_items` items.
    pub(crate) fn with_room(n_items: usize) -> Self {
        Self { items: Vec::with_capacity(n_items), ..Self::default() }
    }
}

/// The reason for the end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RunEndReason {
    /// The end of the text.
    #[default]
    Eof,
    /// A `}` that closes the region around the run.
    Close,
    /// A split line.
    Split,
    /// `take` ended the run.
    Requested,
}

/// The end of a run: its reason, the index of the token after it, and the starts of that token and
/// of its leading trivia in the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunEnd {
    pub(crate) stop: RunEndReason,
    pub(crate) token: usize,
    pub(crate) at: usize,
    pub(crate) trivia: usize,
}

/// The action at a position where an item may start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ItemAction {
    /// Parse the item.
    Read,
    /// Reuse these items instead.
    Keep(KeptItems),
    /// End the run.
    Stop,
}

/// A position where an item may start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemStart {
    /// Start of its leading trivia in the document.
    pub(crate) at: usize,
    /// Number of regions around it, without chunks.
    pub(crate) depth: usize,
    /// Default dialect of op names.
    pub(crate) default_dialect: Option<&'static str>,
    /// True if a `}` closes a region here.
    pub(crate) is_inside_region: bool,
    /// True if the item is an outermost item of the run.
    pub(crate) is_outermost: bool,
}

/// The context of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunContext {
    /// Number of regions around the run.
    pub(crate) depth: usize,
    /// Default dialect of unprefixed op names.
    pub(crate) default_dialect: Option<&'static str>,
    /// True if a `}` closes the region around the run. At the top level it is junk.
    pub(crate) is_inside_region: bool,
}

/// Splits the text from token `token` on into items and adds them to `out`. The trivia before that
/// token start at byte `start` of [`TokenStream::text`]. `take` may end the run, but only between
/// outermost items.
pub(crate) fn skeleton(
    stream: &mut TokenStream<'_>,
    token: usize,
    start: u32,
    context: RunContext,
    out: &mut Skeleton,
    take: &mut dyn FnMut(ItemStart) -> ItemAction,
) -> RunEnd {
    Parser::new(stream, token, start, context, out).run(take).0
}

/// Continues a run that `take` ended, at the first token of the stream. It may have ended between
/// any items. The default of `pause` starts a new run.
pub(crate) fn resume(
    stream: &mut TokenStream<'_>,
    start: u32,
    context: RunContext,
    pause: Pause,
    out: &mut Skeleton,
    take: &mut dyn FnMut(ItemStart) -> ItemAction,
) -> (RunEnd, Pause) {
    Parser::new(stream, 0, start, context, out).after(pause).run(take)
}

/// Returns true if a value may be the only result of an op, judging by the two tokens after its
/// name: `%a =`, `%a:2 =`.
fn may_be_result(next: TokenKind, after: TokenKind) -> bool {
    next == TokenKind::Equal || next == TokenKind::Colon && after == TokenKind::Int
}
