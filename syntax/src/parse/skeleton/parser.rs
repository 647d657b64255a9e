//! Parses a run token by token, with the open items on a stack.

use super::{
    DEPENDS_ON_DIALECT, DEPENDS_ON_TOP_LEVEL, ItemAction, ItemRegion, ItemShape, ItemStart,
    KeptItems, OpenParts, RegionPart, RunContext, RunEnd, RunEndReason, Skeleton, SkeletonItem,
    may_be_result,
};
use crate::lex::LOOK_AHEAD;
use crate::token_stream::TokenStream;
use crate::{MAX_REGION_DEPTH, Token, TokenKind, namespace};

/// An item that is being parsed.
#[derive(Debug)]
pub(super) struct OpenItem {
    pub(super) start: u32,
    /// Start of its first token.
    pub(super) first: u32,
    /// The index of that token; invalid once the item has a region.
    pub(super) first_token: u32,
    pub(super) shape: ItemShape,
    /// The token of the op name, once it was read.
    pub(super) name: Option<Token>,
    pub(super) is_generic: bool,
    pub(super) context_deps: u8,
    /// Start of its text in the document.
    pub(super) at: usize,
    /// The open brackets of the item around it.
    pub(super) outer_brackets: Brackets,
    /// Start of its own tokens in `own`; `None` until the first region.
    pub(super) own_base: Option<usize>,
    /// The first token that is not yet copied to `own`.
    pub(super) copied: u32,
    pub(super) regions: Vec<ItemRegion>,
    /// Default dialect at the start of the item.
    pub(super) default_dialect: Option<&'static str>,
    /// Default dialect inside its regions, once it has one.
    pub(super) inner_dialect: Option<&'static str>,
    /// True while its last region is being parsed.
    pub(super) is_in_region: bool,
    /// Number of its regions that a [`Pause`] has reported.
    pub(super) n_reported_regions: usize,
    /// True if it has a region that is nested too deeply: the braces and their contents are then
    /// the op's own text.
    pub(super) is_too_deep: bool,
}

/// The open brackets of an item, innermost last. Matching a closing bracket takes one step.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    /// Each open bracket, with the previous value of `last`.
    open: Vec<(TokenKind, [u32; 4])>,
    /// For each kind (`(`, `[`, `<`, `{`), the number of open brackets up to and including its last
    /// one; 0 if none can be closed. No bracket closes across a `{`.
    last: [u32; 4],
}

impl Brackets {
    fn index_of(kind: TokenKind) -> usize {
        match kind {
            TokenKind::LParen => 0,
            TokenKind::LSquare => 1,
            TokenKind::Less => 2,
            _ => 3,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn innermost(&self) -> Option<TokenKind> {
        self.open.last().map(|it| it.0)
    }

    /// Returns true if a bracket of this kind is open and can be closed.
    pub(super) fn has(&self, kind: TokenKind) -> bool {
        self.last[Self::index_of(kind)] > 0
    }

    fn push(&mut self, kind: TokenKind) {
        self.open.push((kind, self.last));
        if kind == TokenKind::LBrace {
            self.last = [0; 4];
        }
        self.last[Self::index_of(kind)] = self.open.len() as u32;
    }

    /// Closes the last bracket of this kind and those inside it; if there is none, does nothing.
    fn close(&mut self, kind: TokenKind) {
        if let Some(n) = self.last[Self::index_of(kind)].checked_sub(1) {
            self.last = self.open[n as usize].1;
            self.open.truncate(n as usize);
        }
    }
}

pub(super) struct Parser<'a, 't> {
    pub(super) stream: &'a mut TokenStream<'t>,
    pub(super) at: usize,
    /// The byte of the document after the last one that was read.
    pub(super) seen: usize,
    /// Number of tokens that are included in `seen`.
    pub(super) n_seen: usize,
    /// Number of far reaches of the stream that are included in `seen`.
    pub(super) n_reaches: usize,
    /// No list of results starts before this token: the search failed.
    pub(super) no_results_before: usize,
    /// The last list of results that was found: the indices of its first token and of its `=`.
    pub(super) results: Option<(usize, usize)>,
    /// Start of the trivia before the next token.
    pub(super) trivia: u32,
    pub(super) context: RunContext,
    pub(super) ops: Vec<OpenItem>,
    /// The brackets of the innermost open item.
    pub(super) brackets: Brackets,
    pub(super) own: Vec<Token>,
    pub(super) out: &'a mut Skeleton,
}

/// The state of a run that `take` ended, which [`super::resume`] continues: the open items, each in
/// its last region, and the open brackets. Only the first item after the pause may depend on tokens
/// that were read ahead, and it reads them again.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    ops: Vec<OpenItem>,
    brackets: Brackets,
    own: Vec<Token>,
    seen: usize,
}

impl Pause {
    /// Returns the content of the open items that was not returned yet, outermost item first.
    pub(crate) fn take_parts(&mut self) -> Vec<OpenParts> {
        let told = self.ops.iter_mut().map(|op| {
            let is_new = op.n_reported_regions == 0;
            let from = op.n_reported_regions.saturating_sub(1);
            op.n_reported_regions = op.regions.len();
            let parts = op.regions[from..].iter_mut().map(|it| std::mem::take(&mut it.parts));
            OpenParts { is_new, from, parts: parts.collect() }
        });
        told.collect()
    }
}

impl<'a, 't> Parser<'a, 't> {
    pub(super) fn new(
        stream: &'a mut TokenStream<'t>,
        token: usize,
        start: u32,
        context: RunContext,
        out: &'a mut Skeleton,
    ) -> Self {
        Self {
            stream,
            at: token,
            seen: 0,
            n_seen: 0,
            n_reaches: 0,
            no_results_before: 0,
            results: None,
            trivia: start,
            context,
            ops: Vec::new(),
            brackets: Brackets::default(),
            own: Vec::new(),
            out,
        }
    }

    /// Continues after a pause.
    pub(super) fn after(self, pause: Pause) -> Self {
        let Pause { ops, brackets, own, seen } = pause;
        Self { seen, ops, brackets, own, ..self }
    }

    /// Parses the run. Returns its end, and the items that are open there.
    pub(super) fn run(mut self, take: &mut dyn FnMut(ItemStart) -> ItemAction) -> (RunEnd, Pause) {
        let stop = self.items(take);
        let base = self.stream.base();
        let at = base + self.stream.token(self.at).start as usize;
        let end = RunEnd { stop, token: self.at, at, trivia: base + self.trivia as usize };
        let Self { ops, brackets, own, seen, .. } = self;
        (end, Pause { ops, brackets, own, seen })
    }

    pub(super) fn token(&mut self, index: usize) -> Token {
        #[cfg(test)]
        crate::work::count_steps(1);
        match self.stream.tokens().get(index) {
            Some(&token) if index < self.n_seen => token,
            _ => self.read_token(index),
        }
    }

    /// Reads a token for the first time.
    fn read_token(&mut self, index: usize) -> Token {
        let token = self.stream.token(index);
        self.seen = self.seen.max(self.stream.base() + token.end as usize + LOOK_AHEAD);
        while let Some(reach) = self.stream.take_reach(index, &mut self.n_reaches) {
            self.seen = self.seen.max(reach as usize);
        }
        self.n_seen = self.n_seen.max(index + 1);
        token
    }

    pub(super) fn kind(&mut self, index: usize) -> TokenKind {
        self.token(index).kind
    }

    /// Returns the text of a token that was read.
    pub(super) fn str(&self, index: usize) -> &str {
        self.word(self.stream.tokens()[index])
    }

    pub(super) fn word(&self, token: Token) -> &str {
        &self.stream.text()[token.range()]
    }

    /// Returns the default dialect at the start of the next item.
    pub(super) fn default_dialect(&self) -> Option<&'static str> {
        match self.ops.last() {
            None => self.context.default_dialect,
            Some(op) => op.inner_dialect,
        }
    }

    /// Returns the default dialect inside the regions of an op.
    pub(super) fn inner_dialect(&self, op: &OpenItem) -> Option<&'static str> {
        match op.name {
            Some(name) if !op.is_generic => {
                namespace::inner_dialect(op.default_dialect, self.word(name))
            }
            _ => op.default_dialect,
        }
    }

    fn items(&mut self, take: &mut dyn FnMut(ItemStart) -> ItemAction) -> RunEndReason {
        loop {
            // An item may start at this token.
            match self.kind(self.at) {
                TokenKind::RBrace if !self.ops.is_empty() => self.close_region(true),
                TokenKind::RBrace if self.context.is_inside_region => return RunEndReason::Close,
                kind @ (TokenKind::Eof | TokenKind::Split) => {
                    if self.ops.is_empty() {
                        return if kind == TokenKind::Eof {
                            RunEndReason::Eof
                        } else {
                            RunEndReason::Split
                        };
                    }
                    self.close_region(false);
                }
                _ => match take(self.here()) {
                    ItemAction::Read => self.open_item(),
                    ItemAction::Keep(kept) => self.keep(kept),
                    ItemAction::Stop => return RunEndReason::Requested,
                },
            }
            // An item is open until it ends or opens a region.
            while self.ops.last().is_some_and(|op| !op.is_in_region) {
                self.pass_plain_tokens();
                if self.take_item_token() {
                    self.end_item();
                }
            }
        }
    }

    fn here(&self) -> ItemStart {
        ItemStart {
            at: self.stream.base() + self.trivia as usize,
            depth: self.context.depth + self.ops.len(),
            default_dialect: self.default_dialect(),
            is_inside_region: self.context.is_inside_region || !self.ops.is_empty(),
            is_outermost: self.ops.is_empty(),
        }
    }

    /// Reuses old items.
    fn keep(&mut self, kept: KeptItems) {
        self.trivia = self.stream.insert_hole(self.at, self.trivia, kept.len);
        self.n_seen = self.n_seen.min(self.at);
        self.n_reaches = self.n_reaches.min(self.stream.n_reaches());
        self.no_results_before = self.at;
        self.results = None;
        self.seen = self.seen.max(self.stream.base() + self.trivia as usize + kept.lookahead);
        let part = RegionPart::Kept(self.out.kept.len() as u32);
        self.out.kept.push(kept);
        self.add(part, kept.context_deps);
    }

    /// Adds a part to the region that is being parsed.
    fn add(&mut self, part: RegionPart, context_deps: u8) {
        let Some(op) = self.ops.last_mut() else {
            self.out.roots.push(part);
            return;
        };
        // The regions of a generic op have the same default dialect as the text around it.
        if op.is_generic {
            op.context_deps |= context_deps & DEPENDS_ON_DIALECT;
        }
        if let Some(region) = op.regions.last_mut() {
            region.parts.push(part);
            region.end = self.trivia;
        }
    }

    /// Starts an item at the current token and reads the tokens that surely start it.
    fn open_item(&mut self) {
        let first = self.at;
        let default_dialect = self.default_dialect();
        let (shape, name, taken) = match self.kind(first) {
            TokenKind::Percent => match self.results_end(first) {
                Some(equal) => {
                    let named = matches!(self.kind(equal + 1), TokenKind::Bare | TokenKind::Str);
                    let name = named.then_some(equal + 1);
                    (ItemShape::Op, name, equal + 1 + usize::from(named))
                }
                None => (ItemShape::Op, None, first + 1),
            },
            TokenKind::Bare | TokenKind::Str => (ItemShape::Op, Some(first), first + 1),
            TokenKind::Caret => (ItemShape::Label, None, first + 1),
            TokenKind::Hash if self.kind(first + 1) == TokenKind::Equal => {
                (ItemShape::AttrAlias, None, first + 2)
            }
            TokenKind::Bang if self.kind(first + 1) == TokenKind::Equal => {
                (ItemShape::TypeAlias, None, first + 2)
            }
            TokenKind::FileMetaOpen => (ItemShape::Resources, None, first + 1),
            TokenKind::RBrace if self.ops.is_empty() => {
                // Consecutive `}` are one item of junk.
                let mut end = first + 1;
                while self.kind(end) == TokenKind::RBrace {
                    end += 1;
                }
                (ItemShape::Junk, None, end)
            }
            _ => (ItemShape::Junk, None, first + 1),
        };
        let generic = name.is_some_and(|name| self.kind(name) == TokenKind::Str);
        let is_short = name.is_some_and(|name| !generic && !self.str(name).contains('.'));
        let is_placed = self.kind(first) == TokenKind::RBrace
            || matches!(shape, ItemShape::TypeAlias | ItemShape::AttrAlias | ItemShape::Label);
        let start = self.trivia;
        let name = name.map(|name| self.token(name));
        let first_start = self.token(first).start;
        self.ops.push(OpenItem {
            start,
            first: first_start,
            first_token: first as u32,
            shape,
            name,
            is_generic: generic,
            context_deps: if is_short { DEPENDS_ON_DIALECT } else { 0 }
                | if is_placed { DEPENDS_ON_TOP_LEVEL } else { 0 },
            at: self.stream.base() + start as usize,
            outer_brackets: std::mem::take(&mut self.brackets),
            own_base: None,
            copied: first as u32,
            regions: Vec::new(),
            default_dialect,
            inner_dialect: None,
            is_in_region: false,
            n_reported_regions: 0,
            is_too_deep: false,
        });
        self.at = taken;
    }

    /// Reads tokens of the open item for which [`Parser::take_item_token`] would find that no item
    /// starts or ends. It is called for the next token, and then includes their reach in `seen`.
    fn pass_plain_tokens(&mut self) {
        let Some(op) = self.ops.last() else { return };
        if matches!(op.shape, ItemShape::Label | ItemShape::Resources) {
            return;
        }
        let name = op.name.map(|it| it.start);
        let is_inside = !self.brackets.is_empty();
        let tokens = self.stream.tokens();
        let kind = |at: usize| tokens.get(at).map(|it| it.kind);
        #[cfg(test)]
        let start = self.at;
        while let Some(token) = tokens.get(self.at)
            && !token.is_at_line_start
        {
            let is_plain = match token.kind {
                TokenKind::Comma
                | TokenKind::Colon
                | TokenKind::Equal
                | TokenKind::Arrow
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::At
                | TokenKind::HashBody
                | TokenKind::BangBody => true,
                TokenKind::Percent => {
                    let before = tokens[self.at - 1];
                    is_inside
                        || before.kind == TokenKind::Comma
                        || name == Some(before.start)
                            && kind(self.at + 1)
                                .zip(kind(self.at + 2))
                                .is_some_and(|(next, after)| !may_be_result(next, after))
                }
                TokenKind::Hash | TokenKind::Bang => {
                    let next = tokens.get(self.at + 1);
                    is_inside || next.is_some_and(|it| it.kind != TokenKind::Equal)
                }
                TokenKind::Bare | TokenKind::Str | TokenKind::Caret => is_inside,
                _ => false,
            };
            if !is_plain {
                break;
            }
            self.at += 1;
        }
        #[cfg(test)]
        crate::work::count_steps(self.at - start);
    }

    /// Reads one token of the open item, or opens a region; returns true if the item ends before
    /// it.
    fn take_item_token(&mut self) -> bool {
        let Some(op) = self.ops.last() else { return true };
        let (shape, name, generic, is_too_deep) =
            (op.shape, op.name, op.is_generic, op.is_too_deep);
        let token = self.token(self.at);
        if matches!(token.kind, TokenKind::Eof | TokenKind::Split) {
            return true;
        }
        if shape == ItemShape::Resources {
            // The section extends to its closing mark, or to a token that can only be another item.
            if self.kind(self.at - 1) == TokenKind::FileMetaClose {
                return true;
            }
            if token.is_at_line_start && self.starts_item_inside(self.at) {
                return true;
            }
            self.at += 1;
            return false;
        }
        if self.brackets.is_empty() {
            if shape == ItemShape::Label && self.kind(self.at - 1) == TokenKind::Colon {
                return true;
            }
            if self.starts_item(name) {
                return true;
            }
        } else if token.is_at_line_start && !is_too_deep && self.starts_item_inside(self.at) {
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
                if self.opens_region(generic) {
                    if self.context.depth + self.ops.len() <= MAX_REGION_DEPTH {
                        self.open_region();
                        return false;
                    }
                    if let Some(op) = self.ops.last_mut() {
                        op.is_too_deep = true;
                    }
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
        let inner_dialect = self.ops.last().and_then(|it| self.inner_dialect(it));
        let Some(op) = self.ops.last_mut() else { return };
        op.inner_dialect = inner_dialect;
        // From now on own tokens are not contiguous, so they are copied.
        op.own_base.get_or_insert(self.own.len());
        self.own.extend_from_slice(&self.stream.tokens()[op.copied as usize..self.at]);
        self.own.push(Token { kind: TokenKind::Region, ..brace });
        op.copied = at + 1;
        let cut = op.regions.last().map_or(0, |it| it.cut + it.close - it.open);
        let open = brace.end;
        let parts = Vec::new();
        op.regions.push(ItemRegion { open, end: open, close: 0, cut, parts, is_closed: false });
        op.is_in_region = true;
        self.at += 1;
        self.trivia = brace.end;
    }

    /// Closes the region of the innermost open item, at a `}` or (unclosed) at the end of the text.
    fn close_region(&mut self, closed: bool) {
        let token = self.token(self.at);
        let at = self.at as u32;
        let trivia = self.trivia;
        let Some(op) = self.ops.last_mut() else { return };
        op.is_in_region = false;
        let end = if closed {
            self.at += 1;
            op.copied = at + 1;
            token.end
        } else {
            // The trivia at the end become part of the text around, because otherwise they would be
            // removed together with the region.
            op.copied = at;
            trivia
        };
        if let Some(region) = op.regions.last_mut() {
            region.close = if closed { token.start } else { end };
            region.is_closed = closed;
        }
        // The token of an unclosed region is only its brace.
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
        // The item ends with its last token, or with its last region if that is unclosed.
        let end = match op.regions.last() {
            Some(region) if !region.is_closed => region.close.max(lexed[last - 1].end),
            _ => lexed[last - 1].end,
        };
        let end_at = self.stream.base() + end as usize;
        let index = self.out.items.len() as u32;
        self.out.items.push(SkeletonItem {
            start: op.start,
            first: op.first,
            end,
            len: (end_at - op.at) as u32,
            lookahead: self.seen.saturating_sub(end_at) as u32,
            context_deps: op.context_deps,
            tokens,
            shape: op.shape,
            is_quoted: op.is_generic,
            regions: op.regions,
            default_dialect: op.default_dialect,
            level: (op.n_reported_regions > 0).then_some(self.ops.len()),
        });
        self.brackets = op.outer_brackets;
        self.trivia = end;
        self.add(RegionPart::Item(index), op.context_deps);
    }
}
