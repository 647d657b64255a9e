//! The skeleton: where items and their regions begin and end, by brackets and line starts alone.
//!
//! It splits a run of tokens into items (ops, block labels, aliases, resource sections) nested by regions, without
//! knowing the syntax of any op. The grammar of each item ([`crate::grammar`]) then sees its own tokens only, each region as one
//! [`T::Region`]. So one broken op cannot disturb its neighbours, ops can be reparsed one by one, and ops of
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
//! *Law.* The items' texts, their regions' tails and braces, in order, are the text. Everything is a function of the tokens up to
//! the item's `reach`, the last byte that was looked at. *Cost.* Linear, no recursion.

use smallvec::SmallVec;

use crate::lex::Tokens;
use crate::{OpKind, T, Token, dialect};

/// Regions may nest this deep; deeper braces are not understood and the op that has them says so.
pub const MAX_REGION_DEPTH: usize = 200;

/// How far a label is looked for its colon, in tokens.
const MAX_LABEL_TOKENS: usize = 4096;

/// An item with its extent, in bytes of the lexed text.
#[derive(Debug)]
pub(crate) struct Item {
    /// Where its leading trivia starts.
    pub(crate) start: u32,
    /// Where its first token starts.
    pub(crate) first: u32,
    /// Where it ends.
    pub(crate) end: u32,
    /// The last byte that was looked at to find its end.
    pub(crate) reach: u32,
    /// Whether all its brackets are closed.
    pub(crate) balanced: bool,
    /// Its own tokens, in [`Skeleton::own`] if it has regions, else in the lexed tokens.
    pub(crate) tokens: (u32, u32),
    /// What stands here, as far as the first tokens tell.
    pub(crate) shape: Shape,
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
    /// Its items, as indices into [`Skeleton::items`].
    pub(crate) items: Vec<u32>,
    /// Whether there is a `}`.
    pub(crate) closed: bool,
}

/// The items of a run.
#[derive(Debug, Default)]
pub(crate) struct Skeleton {
    /// All items, inner ones before the item that holds them.
    pub(crate) items: Vec<Item>,
    /// The outermost ones in order.
    pub(crate) roots: Vec<u32>,
    /// The own tokens of items that have regions.
    pub(crate) own: Vec<Token>,
    /// Why it stopped.
    pub(crate) stop: Stop,
    /// The token at which it stopped.
    pub(crate) stop_token: u32,
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
    /// The caller said so, at the end of an item.
    Synced,
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

/// Splits tokens into items; the trivia before the first starts at `start`. After each outermost item, `synced` may stop.
pub(crate) fn skeleton(
    text: &str,
    lexed: &Tokens,
    context: Context,
    start: u32,
    synced: &mut dyn FnMut(&Item) -> bool,
) -> Skeleton {
    let mut parser = Parser::new(text, lexed, context);
    parser.trivia = start;
    parser.run(synced);
    parser.out.stop_token = parser.at as u32;
    parser.out
}

/// An item that is being read.
struct Open {
    start: u32,
    first_token: u32,
    shape: Shape,
    /// Token index of the op name, once seen.
    name: Option<u32>,
    generic: bool,
    /// Brackets below belong to items around.
    bracket_base: usize,
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

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    reaches: &'a [(u32, u32)],
    next_reach: usize,
    at: usize,
    /// The furthest token that was looked at.
    seen: usize,
    extra_reach: u32,
    /// No list of results starts at a token before this one: it was tried.
    no_results_before: usize,
    /// Where the trivia before the next token starts.
    trivia: u32,
    context: Context,
    ops: Vec<Open>,
    brackets: Vec<T>,
    own: Vec<Token>,
    out: Skeleton,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, lexed: &'a Tokens, context: Context) -> Self {
        Parser {
            text,
            tokens: &lexed.tokens,
            reaches: &lexed.reaches,
            next_reach: 0,
            at: 0,
            seen: 0,
            extra_reach: 0,
            no_results_before: 0,
            trivia: 0,
            context,
            ops: Vec::new(),
            brackets: Vec::new(),
            own: Vec::new(),
            out: Skeleton::default(),
        }
    }

    fn token(&mut self, index: usize) -> Token {
        let index = index.min(self.tokens.len() - 1);
        self.seen = self.seen.max(index);
        self.tokens[index]
    }

    fn kind(&mut self, index: usize) -> T {
        self.token(index).kind
    }

    fn str(&self, index: usize) -> &str {
        &self.text[self.tokens[index].range()]
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

    fn run(&mut self, synced: &mut dyn FnMut(&Item) -> bool) {
        loop {
            // Here an item may start.
            let token = self.token(self.at);
            match token.kind {
                T::RBrace if !self.ops.is_empty() => self.close_region(true),
                T::RBrace if self.context.inside => {
                    self.out.stop = Stop::Close;
                    return;
                }
                T::Eof | T::Split => {
                    if self.ops.is_empty() {
                        self.out.stop = if token.kind == T::Eof { Stop::Eof } else { Stop::Split };
                        return;
                    }
                    self.close_region(false);
                }
                _ => self.open_item(),
            }
            // Here an item is open, until it ends or opens a region.
            while self.ops.last().is_some_and(|op| !op.in_region) {
                if self.item_token() {
                    self.end_item();
                    if self.ops.is_empty() {
                        if self
                            .out
                            .roots
                            .last()
                            .is_some_and(|&it| synced(&self.out.items[it as usize]))
                        {
                            self.out.stop = Stop::Synced;
                            return;
                        }
                        break;
                    }
                }
            }
        }
    }

    /// Starts an item at the current token and takes the tokens that are surely its first.
    fn open_item(&mut self) {
        let first = self.at;
        let default_dialect = self.default_dialect();
        let (shape, name, taken) = match self.kind(first) {
            T::Percent => match self.results_end(first) {
                Some(equal) => {
                    let named = matches!(self.kind(equal + 1), T::Bare | T::Str);
                    let name = named.then_some(equal + 1);
                    (Shape::Op, name, equal + 1 + usize::from(named))
                }
                None => (Shape::Op, None, first + 1),
            },
            T::Bare | T::Str => (Shape::Op, Some(first), first + 1),
            T::Caret => (Shape::Label, None, first + 1),
            T::Hash if self.kind(first + 1) == T::Equal => (Shape::AttrAlias, None, first + 2),
            T::Bang if self.kind(first + 1) == T::Equal => (Shape::TypeAlias, None, first + 2),
            T::FileMetaOpen => (Shape::Resources, None, first + 1),
            _ => (Shape::Junk, None, first + 1),
        };
        let generic = name.is_some_and(|name| self.kind(name) == T::Str);
        let start = self.trivia;
        self.ops.push(Open {
            start,
            first_token: first as u32,
            shape,
            name: name.map(|name| name as u32),
            generic,
            bracket_base: self.brackets.len(),
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
        let (base, shape, name, generic) = (op.bracket_base, op.shape, op.name, op.generic);
        let token = self.token(self.at);
        if matches!(token.kind, T::Eof | T::Split) {
            return true;
        }
        if shape == Shape::Resources {
            // To the closing mark, or to what surely is something else.
            if self.kind(self.at - 1) == T::FileMetaClose {
                return true;
            }
            if token.at_line_start && self.starts_item_inside(self.at) {
                return true;
            }
            self.at += 1;
            return false;
        }
        if self.brackets.len() == base {
            if shape == Shape::Label && self.kind(self.at - 1) == T::Colon {
                return true;
            }
            if self.starts_item(name) {
                return true;
            }
        } else if token.at_line_start && self.starts_item_inside(self.at) {
            return true;
        }
        match token.kind {
            T::LParen | T::LSquare => self.brackets.push(token.kind),
            T::Less => {
                let before = self.token(self.at - 1);
                let adjacent = before.end == token.start
                    && matches!(before.kind, T::Bare | T::Bang | T::Hash | T::RSquare);
                if adjacent || self.kind(self.at + 1) == T::LBrace {
                    self.brackets.push(T::Less);
                }
            }
            T::LBrace => {
                if self.opens_region(generic, base)
                    && self.context.depth + self.ops.len() < MAX_REGION_DEPTH
                {
                    self.open_region();
                    return false;
                }
                self.brackets.push(T::LBrace);
            }
            T::RParen => self.close(T::LParen, base),
            T::RSquare => self.close(T::LSquare, base),
            T::Greater if self.brackets.len() > base && self.brackets.last() == Some(&T::Less) => {
                self.brackets.pop();
            }
            T::RBrace => {
                if !self.brackets[base..].contains(&T::LBrace) {
                    return true;
                }
                self.close(T::LBrace, base);
            }
            _ => {}
        }
        self.at += 1;
        false
    }

    /// Pops to the bracket that this one closes; without one, nothing happens.
    fn close(&mut self, open: T, base: usize) {
        // A `)` does not close across a `{`.
        let mut depth = self.brackets.len();
        while depth > base {
            depth -= 1;
            if self.brackets[depth] == open {
                self.brackets.truncate(depth);
                return;
            }
            if self.brackets[depth] == T::LBrace {
                return;
            }
        }
    }

    /// With no bracket open: whether another item starts at the current token.
    fn starts_item(&mut self, name: Option<u32>) -> bool {
        let at = self.at;
        let token = self.token(at);
        let after_name = name.is_some_and(|name| name as usize + 1 == at);
        match token.kind {
            T::RBrace | T::FileMetaOpen => true,
            T::Percent => {
                if after_name {
                    return token.at_line_start && self.starts_item_inside(at);
                }
                (token.at_line_start || at == 0 || self.kind(at - 1) != T::Comma)
                    && self.starts_results(at)
            }
            T::Bare if token.at_line_start => {
                let word = &self.text[token.range()];
                if word.contains('.') {
                    return self.kind(at + 1) != T::Equal;
                }
                self.ops
                    .last()
                    .map_or(self.context.default_dialect, |op| op.default_dialect)
                    .is_some_and(|dialect| dialect::is_unprefixed_op(dialect, word))
            }
            // Within a line only behind an op whose syntax has no such thing.
            T::Bare if !after_name => {
                let word = &self.text[token.range()];
                let is_op =
                    word == "return" || word.contains('.') && OpKind::of(word) != OpKind::Unknown;
                is_op && self.kind(at + 1) != T::Equal && self.is_known(name)
            }
            T::Str if self.kind(at + 1) == T::LParen => {
                token.at_line_start || (!after_name && self.is_known(name))
            }
            T::Caret => token.at_line_start && self.starts_label(at),
            T::Hash | T::Bang => token.at_line_start && self.kind(at + 1) == T::Equal,
            _ => false,
        }
    }

    /// Whether the op with this name token is in generic form or in the table.
    fn is_known(&self, name: Option<u32>) -> bool {
        let Some(name) = name else { return false };
        let (name, is_quoted) =
            (self.str(name as usize), self.tokens[name as usize].kind == T::Str);
        is_quoted || OpKind::of(name) != OpKind::Unknown
    }

    /// At the start of a line with a bracket open: whether this can only be another item.
    fn starts_item_inside(&mut self, at: usize) -> bool {
        let token = self.token(at);
        match token.kind {
            T::Percent => {
                let Some(equal) = self.results_end(at) else { return false };
                match self.kind(equal + 1) {
                    T::Bare => self.str(equal + 1).contains('.'),
                    T::Str => self.kind(equal + 2) == T::LParen,
                    _ => false,
                }
            }
            T::Bare => {
                let word = &self.text[token.range()];
                word.contains('.')
                    && self.kind(at + 1) != T::Equal
                    && self.kind(at + 1) != T::Comma
                    && OpKind::of(word) != OpKind::Unknown
            }
            T::Caret => self.starts_label(at),
            T::FileMetaOpen => true,
            _ => false,
        }
    }

    /// `%a, %b:2 =` followed by what may be an op.
    fn starts_results(&mut self, at: usize) -> bool {
        if at < self.no_results_before {
            return false;
        }
        let Some(equal) = self.results_end(at) else { return false };
        match self.kind(equal + 1) {
            T::Bare => !is_type_word(self.str(equal + 1)),
            T::Str => self.kind(equal + 2) == T::LParen,
            _ => false,
        }
    }

    /// The `=` behind a list of results that starts here.
    fn results_end(&mut self, mut at: usize) -> Option<usize> {
        loop {
            if self.kind(at) != T::Percent {
                break;
            }
            at += 1;
            if self.kind(at) == T::Colon && self.kind(at + 1) == T::Int {
                at += 2;
            }
            match self.kind(at) {
                T::Comma => at += 1,
                T::Equal => return Some(at),
                _ => break,
            }
        }
        self.no_results_before = self.no_results_before.max(at);
        None
    }

    /// `^name :` or `^name ( ... ) :`
    fn starts_label(&mut self, at: usize) -> bool {
        match self.kind(at + 1) {
            T::Colon => true,
            T::LParen => {
                let mut depth = 0;
                for index in at + 1..at + MAX_LABEL_TOKENS {
                    match self.kind(index) {
                        T::LParen => depth += 1,
                        T::RParen => {
                            depth -= 1;
                            if depth == 0 {
                                return self.kind(index + 1) == T::Colon;
                            }
                        }
                        T::RBrace | T::Eof | T::Split | T::Caret => return false,
                        _ => {}
                    }
                }
                false
            }
            _ => false,
        }
    }

    /// Whether the `{` at the current token opens a region of the open item.
    fn opens_region(&mut self, generic: bool, base: usize) -> bool {
        let Some(op) = self.ops.last() else { return false };
        if op.shape != Shape::Op {
            return false;
        }
        let Some(name) = op.name else { return false };
        let at = self.at;
        if generic {
            return self.brackets.len() > base && self.brackets.last() == Some(&T::LParen);
        }
        if never_has_region(self.str(name as usize)) {
            return false;
        }
        if self.brackets[base..].iter().any(|&it| it == T::Less || it == T::LBrace) {
            return false;
        }
        let first = self.ops.last().is_none_or(|op| op.regions.is_empty());
        if self.brackets.len() > base && surely_region(self.str(name as usize), true) {
            // What stands in parentheses in these is arguments.
            return false;
        }
        if self.brackets.len() == base && surely_region(self.str(name as usize), first) {
            let before = self.token(at - 1);
            return !(before.kind == T::Bare && &self.text[before.range()] == "attributes");
        }
        let inner = self.ops.last().and_then(|op| self.inner_dialect(op));
        brace_opens_region(self.text, inner, &mut |ahead| self.token(at - 1 + ahead))
    }

    fn open_region(&mut self) {
        let brace = self.tokens[self.at];
        let at = self.at as u32;
        let Some(op) = self.ops.last_mut() else { return };
        // From now on own tokens are not contiguous: copy them.
        op.own_base.get_or_insert(self.own.len());
        self.own.extend_from_slice(&self.tokens[op.copied as usize..self.at]);
        self.own.push(Token { kind: T::Region, ..brace });
        op.copied = at + 1;
        op.regions.push(Inner { open: brace.end, close: 0, items: Vec::new(), closed: false });
        op.in_region = true;
        self.at += 1;
        self.trivia = brace.end;
    }

    /// Ends the region of the innermost open item, at a `}` or (unclosed) at the end of the text.
    fn close_region(&mut self, closed: bool) {
        let token = self.tokens[self.at];
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
        if let Some(token) = self.own.last_mut() {
            token.end = end;
        }
        self.trivia = end;
    }

    fn end_item(&mut self) {
        let Some(op) = self.ops.pop() else { return };
        let balanced = self.brackets.len() == op.bracket_base;
        self.brackets.truncate(op.bracket_base);
        let last = self.at;
        let tokens = match op.own_base {
            None => (op.first_token, last as u32),
            Some(base) => {
                self.own.extend_from_slice(&self.tokens[op.copied as usize..last]);
                let start = self.out.own.len() as u32;
                self.out.own.extend(self.own.drain(base..));
                (start, self.out.own.len() as u32)
            }
        };
        // The item ends with its last token, or with the unclosed region that is its last.
        let end = match op.regions.last() {
            Some(region) if !region.closed => region.close.max(self.tokens[last - 1].end),
            _ => self.tokens[last - 1].end,
        };
        while self
            .reaches
            .get(self.next_reach)
            .is_some_and(|&(token, _)| (token as usize) <= self.seen)
        {
            self.extra_reach = self.extra_reach.max(self.reaches[self.next_reach].1);
            self.next_reach += 1;
        }
        let reach = self.tokens[self.seen].end.max(self.extra_reach);
        let index = self.out.items.len() as u32;
        self.out.items.push(Item {
            start: op.start,
            first: self.tokens[op.first_token as usize].start,
            end,
            reach,
            balanced,
            tokens,
            shape: op.shape,
            regions: op.regions,
            default_dialect: op.default_dialect,
        });
        self.trivia = end;
        match self.ops.last_mut() {
            Some(op) => {
                if let Some(region) = op.regions.last_mut() {
                    region.items.push(index);
                }
            }
            None => self.out.roots.push(index),
        }
    }
}

/// Whether an op that a region ended just before these tokens would end there, rather than go on with them; if so, the last
/// byte that was looked at to tell.
pub(crate) fn ends_before(text: &str, lexed: &Tokens, context: Context) -> Option<u32> {
    let mut parser = Parser::new(text, lexed, context);
    let ends = matches!(parser.kind(0), T::Eof | T::Split) || parser.starts_item(None);
    ends.then(|| parser.tokens[parser.seen].end)
}

/// Whether the `{` after token 0 of the view (token 1) opens a region of an op in custom form; `inner` is the default
/// dialect inside.
pub(crate) fn brace_opens_region(
    text: &str,
    inner: Option<&str>,
    token: &mut dyn FnMut(usize) -> Token,
) -> bool {
    let before = token(0);
    let next = token(2);
    if before.kind == T::Bare && &text[before.range()] == "attributes" {
        return false;
    }
    match next.kind {
        // `{%x: i32}` is no list of results.
        T::Percent => token(3).kind != T::Colon || token(4).kind == T::Int,
        T::RBrace | T::Caret => true,
        T::Str => token(3).kind == T::LParen,
        T::Bare => {
            let word = &text[next.range()];
            let after = token(3);
            if after.kind == T::Equal {
                return false;
            }
            if inner.is_some_and(|dialect| dialect::is_unprefixed_op(dialect, word)) {
                return true;
            }
            if matches!(after.kind, T::Comma | T::RBrace) && !next.at_line_start {
                return false;
            }
            word.contains('.') || next.at_line_start
        }
        _ => false,
    }
}

/// Whether ops of this name surely have no region, so that a `{` left open in one is a dictionary.
fn never_has_region(name: &str) -> bool {
    name.starts_with("arith.")
        || name.starts_with("noisy.")
        || name.starts_with("cf.")
        || matches!(name, "func.call" | "func.return" | "return" | "call" | "scf.yield")
}

/// Whether a `{` outside brackets (not after `attributes`) surely is a region of an op of this name, whatever is inside: broken
/// text at the start of a body must not cost the body. `first`: the op has no region yet.
pub(crate) fn surely_region(name: &str, first: bool) -> bool {
    match name {
        "func.func" | "module" | "builtin.module" => true,
        "scf.for" | "scf.if" | "scf.while" | "scf.parallel" | "scf.forall"
        | "scf.execute_region" | "affine.for" | "affine.if" | "affine.parallel" => first,
        _ => false,
    }
}

/// Words that are types, so that `%a : i32` is not a list of results and an op.
fn is_type_word(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_lowercase());
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && matches!(word.len() - digits.len(), 1 | 2)
}
