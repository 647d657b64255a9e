//! The skeleton: where items and their regions begin and end, by brackets and line starts alone.
//!
//! It splits a run of tokens into items (ops, block labels, aliases, resource sections) nested by regions, without
//! knowing the syntax of any op. The grammar of each item ([`crate::grammar`]) then sees its own tokens only, each region as one
//! [`TokenKind::Region`]. So one broken op cannot disturb its neighbours, ops can be reparsed one by one, and ops of
//! unknown dialects are passed over.
//!
//! *Where an item ends.* With no bracket open: before `}`, the end, a split, `{-#`, a list of results (`%a, %b:2 =`)
//! that an op name follows, and, at the start of a line, before a dotted or known op name, a quoted op name, a
//! label or an alias definition. With a bracket open an item still ends at a line that can only be an op (results and a dotted or
//! quoted name; a known op name), at a label with its colon, and at a `}` that closes something outside: this is what keeps an
//! unclosed bracket from swallowing the file.
//!
//! *What a `{` opens.* In generic form a region right inside parentheses, else a dictionary; in custom form what the next two
//! tokens look like. `{}` is always a region; the grammar takes it for an empty dictionary where it wants one.
//!
//! *What is not read.* Wherever an item may start, the caller may say that old items are to be taken over from there on.
//!
//! *Law.* The items' texts, their regions' tails and braces, in order, are the text. What an item is is a function of the tokens from
//! its start to its `lookahead`, of what its `context_deps` name, and of nothing else before it. *Cost.*
//! Linear, no recursion.

mod bounds;

use smallvec::SmallVec;

use crate::lex::LOOK_AHEAD;
use crate::token_stream::TokenStream;
use crate::{Op, Region, Token, TokenKind, dialect};

/// Regions may nest this deep; deeper braces are not understood and the op that has them says so.
pub const MAX_REGION_DEPTH: usize = 200;

/// What some items depend on: the default dialect.
pub(crate) const DIALECT: u8 = 2;

/// What some items depend on: whether they are at the top level.
pub(crate) const PLACE: u8 = 4;

/// An item with its extent, in bytes of [`TokenStream::text`].
#[derive(Debug)]
pub(crate) struct Item {
    /// Where its leading trivia starts.
    pub(crate) start: u32,
    /// Where its first token starts.
    pub(crate) first: u32,
    /// Where it ends.
    pub(crate) end: u32,
    /// Its bytes, what was left out of it included.
    pub(crate) len: u32,
    /// Bytes beyond its end that were looked at to find that end.
    pub(crate) lookahead: u32,
    /// The context that this parse depended on; the item is read again if it changes: [`DIALECT`], [`PLACE`].
    pub(crate) context_deps: u8,
    /// Its own tokens, in [`Skeleton::own`] if it has regions, else in [`TokenStream::tokens`].
    pub(crate) tokens: (u32, u32),
    /// What stands here, as far as the first tokens tell.
    pub(crate) shape: Shape,
    /// Whether its name is quoted.
    pub(crate) quoted: bool,
    /// Its regions.
    pub(crate) regions: SmallVec<[Inner; 1]>,
    /// The default dialect of unprefixed names where it stands.
    pub(crate) default_dialect: Option<&'static str>,
}

/// What an item is by its first tokens.
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
    /// The byte behind its `{`.
    pub(crate) open: u32,
    /// The byte of its `}`, or where the text ends if there is none.
    pub(crate) close: u32,
    /// Bytes that the regions before it in the same item hold.
    pub(crate) cut: u32,
    /// What it holds.
    pub(crate) parts: Vec<Part>,
    /// Whether there is a `}`.
    pub(crate) closed: bool,
}

/// A part of what a region holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// An item that was read: index into [`Skeleton::items`].
    Item(u32),
    /// Old items that were not: index into [`Skeleton::kept`] and [`TokenStream::holes`].
    Kept(u32),
}

/// Old items next to each other that are taken over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// The region that held them.
    pub(crate) region: Region,
    /// The first.
    pub(crate) first: Op,
    /// How many.
    pub(crate) n: usize,
    /// Their bytes.
    pub(crate) len: usize,
    /// Bytes beyond their end that were looked at to find where they end.
    pub(crate) far: usize,
    /// What their parse depended on ([`Item::context_deps`]).
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
    pub(crate) roots: Vec<Part>,
    /// The own tokens of items that have regions.
    pub(crate) own: Vec<Token>,
}

/// Why parsing a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The end of the text.
    #[default]
    Eof,
    /// A `}` that closes the region that holds the run.
    Close,
    /// A split line.
    Split,
    /// The caller said so.
    Told,
}

/// Where a run ended: why, before which token, and where that token and the trivia before it start in the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) stop: Stop,
    pub(crate) token: usize,
    pub(crate) at: usize,
    pub(crate) trivia: usize,
}

/// What to do where an item may start.
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
    /// Where its trivia starts in the document.
    pub(crate) at: usize,
    /// Regions around it, chunks not counted.
    pub(crate) depth: usize,
    /// Default dialect of op names.
    pub(crate) default_dialect: Option<&'static str>,
    /// Whether a `}` closes something.
    pub(crate) inside: bool,
    /// Whether the item is an outermost one of the run.
    pub(crate) outermost: bool,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Regions around the run.
    pub(crate) depth: usize,
    /// Default dialect of unprefixed op names.
    pub(crate) default_dialect: Option<&'static str>,
    /// Whether a `}` closes the region around the run (else it is junk: the top level).
    pub(crate) inside: bool,
}

/// Splits what stands from a token on into items, behind those of `out`; the trivia before that token starts at `start` of the text
/// that was read.
pub(crate) fn skeleton(
    stream: &mut TokenStream<'_>,
    token: usize,
    start: u32,
    context: Context,
    out: &mut Skeleton,
    take: &mut dyn FnMut(Here) -> Take,
) -> End {
    let mut parser = Parser {
        stream,
        at: token,
        seen: 0,
        n_reaches: 0,
        no_results_before: 0,
        trivia: start,
        context,
        ops: Vec::new(),
        brackets: Brackets::default(),
        own: Vec::new(),
        out,
    };
    let stop = parser.run(take);
    let base = parser.stream.base();
    let at = base + parser.stream.token(parser.at).start as usize;
    End { stop, token: parser.at, at, trivia: base + parser.trivia as usize }
}

/// An item that is being read.
struct Open {
    start: u32,
    first_token: u32,
    shape: Shape,
    /// Token index of the op name, once seen.
    name: Option<u32>,
    generic: bool,
    context_deps: u8,
    /// Where its text starts in the document.
    at: usize,
    /// The brackets of the items around.
    around: Brackets,
    /// Own tokens below belong to items around; `None` until the first region.
    own_base: Option<usize>,
    /// The first token not yet copied to `own`.
    copied: u32,
    regions: SmallVec<[Inner; 1]>,
    /// Default dialect where the item stands.
    default_dialect: Option<&'static str>,
    /// The region that is being read is the last of `regions`.
    in_region: bool,
}

/// The open brackets of an item, innermost last. Finding the one that a closing one closes, or that there is none, takes one step.
#[derive(Debug, Default)]
struct Brackets {
    /// Each with what `last` was before it.
    open: Vec<(TokenKind, [u32; 4])>,
    /// How many are open up to the last one of each kind: `(`, `[`, `<`, `{`; 0 if there is none that may be closed. Nothing closes
    /// across a `{`.
    last: [u32; 4],
}

impl Brackets {
    fn number(kind: TokenKind) -> usize {
        match kind {
            TokenKind::LParen => 0,
            TokenKind::LSquare => 1,
            TokenKind::Less => 2,
            _ => 3,
        }
    }

    fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn innermost(&self) -> Option<TokenKind> {
        self.open.last().map(|it| it.0)
    }

    /// Whether a bracket of this kind is open, and could be closed.
    fn has(&self, kind: TokenKind) -> bool {
        self.last[Self::number(kind)] > 0
    }

    fn push(&mut self, kind: TokenKind) {
        self.open.push((kind, self.last));
        if kind == TokenKind::LBrace {
            self.last = [0; 4];
        }
        self.last[Self::number(kind)] = self.open.len() as u32;
    }

    /// Closes the last bracket of this kind and those inside it; if there is none, nothing happens.
    fn close(&mut self, kind: TokenKind) {
        if let Some(n) = self.last[Self::number(kind)].checked_sub(1) {
            self.last = self.open[n as usize].1;
            self.open.truncate(n as usize);
        }
    }
}

struct Parser<'a, 't> {
    stream: &'a mut TokenStream<'t>,
    at: usize,
    /// The byte of the document behind the last that was looked at.
    seen: usize,
    /// How many of the tokens that looked far are counted in `seen`.
    n_reaches: usize,
    /// No list of results starts at a token before this one: it was tried.
    no_results_before: usize,
    /// Where the trivia before the next token starts.
    trivia: u32,
    context: Context,
    ops: Vec<Open>,
    /// The brackets of the innermost open item.
    brackets: Brackets,
    own: Vec<Token>,
    out: &'a mut Skeleton,
}

impl Parser<'_, '_> {
    fn token(&mut self, index: usize) -> Token {
        #[cfg(test)]
        crate::work::count(1);
        let token = self.stream.token(index);
        let base = self.stream.base();
        self.seen = self.seen.max(base + token.end as usize + LOOK_AHEAD);
        while let Some(reach) = self.stream.take_reach(index, &mut self.n_reaches) {
            self.seen = self.seen.max(reach as usize);
        }
        token
    }

    fn kind(&mut self, index: usize) -> TokenKind {
        self.token(index).kind
    }

    /// The text of a token that was looked at.
    fn str(&self, index: usize) -> &str {
        &self.stream.text()[self.stream.tokens()[index].range()]
    }

    fn default_dialect(&self) -> Option<&'static str> {
        match self.ops.last() {
            None => self.context.default_dialect,
            Some(op) => self.inner_dialect(op),
        }
    }

    /// The default dialect inside the regions of an op.
    fn inner_dialect(&self, op: &Open) -> Option<&'static str> {
        match op.name {
            Some(name) if !op.generic => {
                dialect::inner_dialect(op.default_dialect, self.str(name as usize))
            }
            _ => op.default_dialect,
        }
    }

    fn run(&mut self, take: &mut dyn FnMut(Here) -> Take) -> Stop {
        loop {
            // Here an item may start.
            match self.kind(self.at) {
                TokenKind::RBrace if !self.ops.is_empty() => self.close_region(true),
                TokenKind::RBrace if self.context.inside => return Stop::Close,
                kind @ (TokenKind::Eof | TokenKind::Split) => {
                    if self.ops.is_empty() {
                        return if kind == TokenKind::Eof { Stop::Eof } else { Stop::Split };
                    }
                    self.close_region(false);
                }
                _ => match take(self.here()) {
                    Take::Read => self.open_item(),
                    Take::Keep(kept) => self.keep(kept),
                    Take::Stop => return Stop::Told,
                },
            }
            // Here an item is open, until it ends or opens a region.
            while self.ops.last().is_some_and(|op| !op.in_region) {
                if self.item_token() {
                    self.end_item();
                }
            }
        }
    }

    fn here(&self) -> Here {
        Here {
            at: self.stream.base() + self.trivia as usize,
            depth: self.context.depth + self.ops.len(),
            default_dialect: self.default_dialect(),
            inside: self.context.inside || !self.ops.is_empty(),
            outermost: self.ops.is_empty(),
        }
    }

    /// Takes old items over.
    fn keep(&mut self, kept: Kept) {
        self.trivia = self.stream.skip(self.at, self.trivia, kept.len);
        self.n_reaches = self.n_reaches.min(self.stream.n_reaches());
        self.no_results_before = self.at;
        self.seen = self.seen.max(self.stream.base() + self.trivia as usize + kept.far);
        let part = Part::Kept(self.out.kept.len() as u32);
        self.out.kept.push(kept);
        self.add(part, kept.context_deps);
    }

    /// Adds a part to the region that is being read.
    fn add(&mut self, part: Part, context_deps: u8) {
        let Some(op) = self.ops.last_mut() else {
            self.out.roots.push(part);
            return;
        };
        // Names inside generic ops mean what they mean around them.
        if op.generic {
            op.context_deps |= context_deps & DIALECT;
        }
        if let Some(region) = op.regions.last_mut() {
            region.parts.push(part);
        }
    }

    /// Starts an item at the current token and takes the tokens that are surely its first.
    fn open_item(&mut self) {
        let first = self.at;
        let default_dialect = self.default_dialect();
        let (shape, name, taken) = match self.kind(first) {
            TokenKind::Percent => match self.results_end(first) {
                Some(equal) => {
                    let named = matches!(self.kind(equal + 1), TokenKind::Bare | TokenKind::Str);
                    let name = named.then_some(equal + 1);
                    (Shape::Op, name, equal + 1 + usize::from(named))
                }
                None => (Shape::Op, None, first + 1),
            },
            TokenKind::Bare | TokenKind::Str => (Shape::Op, Some(first), first + 1),
            TokenKind::Caret => (Shape::Label, None, first + 1),
            TokenKind::Hash if self.kind(first + 1) == TokenKind::Equal => {
                (Shape::AttrAlias, None, first + 2)
            }
            TokenKind::Bang if self.kind(first + 1) == TokenKind::Equal => {
                (Shape::TypeAlias, None, first + 2)
            }
            TokenKind::FileMetaOpen => (Shape::Resources, None, first + 1),
            _ => (Shape::Junk, None, first + 1),
        };
        let generic = name.is_some_and(|name| self.kind(name) == TokenKind::Str);
        let is_short = name.is_some_and(|name| !generic && !self.str(name).contains('.'));
        let is_placed = self.kind(first) == TokenKind::RBrace
            || matches!(shape, Shape::TypeAlias | Shape::AttrAlias | Shape::Label);
        let start = self.trivia;
        self.ops.push(Open {
            start,
            first_token: first as u32,
            shape,
            name: name.map(|name| name as u32),
            generic,
            context_deps: if is_short { DIALECT } else { 0 } | if is_placed { PLACE } else { 0 },
            at: self.stream.base() + start as usize,
            around: std::mem::take(&mut self.brackets),
            own_base: None,
            copied: first as u32,
            regions: SmallVec::new(),
            default_dialect,
            in_region: false,
        });
        self.at = taken;
    }

    /// Takes one token (or opens a region) of the open item; `true` if the item ends before it.
    fn item_token(&mut self) -> bool {
        let Some(op) = self.ops.last() else { return true };
        let (shape, name, generic) = (op.shape, op.name, op.generic);
        let token = self.token(self.at);
        if matches!(token.kind, TokenKind::Eof | TokenKind::Split) {
            return true;
        }
        if shape == Shape::Resources {
            // To the closing mark, or to what surely is something else.
            if self.kind(self.at - 1) == TokenKind::FileMetaClose {
                return true;
            }
            if token.at_line_start && self.starts_item_inside(self.at) {
                return true;
            }
            self.at += 1;
            return false;
        }
        if self.brackets.is_empty() {
            if shape == Shape::Label && self.kind(self.at - 1) == TokenKind::Colon {
                return true;
            }
            if self.starts_item(name) {
                return true;
            }
        } else if token.at_line_start && self.starts_item_inside(self.at) {
            return true;
        }
        match token.kind {
            TokenKind::LParen | TokenKind::LSquare => self.brackets.push(token.kind),
            TokenKind::Less => {
                let before = self.token(self.at - 1);
                let adjacent = before.end == token.start
                    && matches!(
                        before.kind,
                        TokenKind::Bare | TokenKind::Bang | TokenKind::Hash | TokenKind::RSquare
                    );
                let next = self.kind(self.at + 1);
                if adjacent && next != TokenKind::Equal || next == TokenKind::LBrace {
                    self.brackets.push(TokenKind::Less);
                }
            }
            TokenKind::LBrace => {
                if self.opens_region(generic)
                    && self.context.depth + self.ops.len() < MAX_REGION_DEPTH
                {
                    self.open_region();
                    return false;
                }
                self.brackets.push(TokenKind::LBrace);
            }
            TokenKind::RParen => self.brackets.close(TokenKind::LParen),
            TokenKind::RSquare => self.brackets.close(TokenKind::LSquare),
            TokenKind::Greater if self.brackets.innermost() == Some(TokenKind::Less) => {
                self.brackets.close(TokenKind::Less);
            }
            TokenKind::RBrace => {
                if !self.brackets.has(TokenKind::LBrace) {
                    return true;
                }
                self.brackets.close(TokenKind::LBrace);
            }
            _ => {}
        }
        self.at += 1;
        false
    }

    fn open_region(&mut self) {
        let brace = self.token(self.at);
        let at = self.at as u32;
        let Some(op) = self.ops.last_mut() else { return };
        // From now on own tokens are not contiguous: copy them.
        op.own_base.get_or_insert(self.own.len());
        self.own.extend_from_slice(&self.stream.tokens()[op.copied as usize..self.at]);
        self.own.push(Token { kind: TokenKind::Region, ..brace });
        op.copied = at + 1;
        let cut = op.regions.last().map_or(0, |it| it.cut + it.close - it.open);
        let open = brace.end;
        op.regions.push(Inner { open, close: 0, cut, parts: Vec::new(), closed: false });
        op.in_region = true;
        self.at += 1;
        self.trivia = brace.end;
    }

    /// Ends the region of the innermost open item, at a `}` or (unclosed) at the end of the text.
    fn close_region(&mut self, closed: bool) {
        let token = self.token(self.at);
        let at = self.at as u32;
        let trivia = self.trivia;
        let Some(op) = self.ops.last_mut() else { return };
        op.in_region = false;
        let end = if closed {
            self.at += 1;
            op.copied = at + 1;
            token.end
        } else {
            // The trivia at the end belongs to what is around, or it would be lost with the region.
            op.copied = at;
            trivia
        };
        if let Some(region) = op.regions.last_mut() {
            region.close = if closed { token.start } else { end };
            region.closed = closed;
        }
        // The token of an unclosed region is its brace.
        if closed && let Some(token) = self.own.last_mut() {
            token.end = end;
        }
        self.trivia = end;
    }

    fn end_item(&mut self) {
        let Some(op) = self.ops.pop() else { return };
        let lexed = self.stream.tokens();
        let last = self.at;
        let tokens = match op.own_base {
            None => (op.first_token, last as u32),
            Some(base) => {
                self.own.extend_from_slice(&lexed[op.copied as usize..last]);
                let start = self.out.own.len() as u32;
                self.out.own.extend(self.own.drain(base..));
                (start, self.out.own.len() as u32)
            }
        };
        // The item ends with its last token, or with the unclosed region that is its last.
        let end = match op.regions.last() {
            Some(region) if !region.closed => region.close.max(lexed[last - 1].end),
            _ => lexed[last - 1].end,
        };
        let end_at = self.stream.base() + end as usize;
        let index = self.out.items.len() as u32;
        self.out.items.push(Item {
            start: op.start,
            first: lexed[op.first_token as usize].start,
            end,
            len: (end_at - op.at) as u32,
            lookahead: self.seen.saturating_sub(end_at) as u32,
            context_deps: op.context_deps,
            tokens,
            shape: op.shape,
            quoted: op.generic,
            regions: op.regions,
            default_dialect: op.default_dialect,
        });
        self.brackets = op.around;
        self.trivia = end;
        self.add(Part::Item(index), op.context_deps);
    }
}
