//! The locations of the ops and block arguments of a text: those in `loc(..)`, otherwise their
//! positions.
//!
//! Locations are rarely needed, so the parser does not keep them. This module searches the tokens
//! for `loc(..)` again. A location at the end of an op is the location of the op. Any other one is
//! the location of the preceding argument at the same bracket depth. *Cost.* Linear; a location
//! that occurs repeatedly is parsed once.

use rustc_hash::FxHashMap;

use super::Source;
use crate::grammar::{Aliases, GrammarEnv, ParsedItem, parse_item};
use crate::ir::Locations;
use crate::lex::lex;
use crate::{Alias, Attr, AttrData, Def, Ir, Op, OpKind, Region, Token, TokenKind, Value};

impl Source {
    /// Like [`Source::into_ir`], with locations. `n_before` is the number of lines of the file that
    /// precede the text.
    pub fn into_located_ir(mut self, file: &str, n_before: usize) -> Ir {
        let found = locations(&mut self, file, n_before);
        let mut ir = self.ir;
        ir.locations = Some(Box::new(found));
        ir.detach();
        ir
    }
}

fn locations(source: &mut Source, file: &str, n_before: usize) -> Locations {
    let text = source.rope.to_string();
    let mut out = Locations::default();
    let places = LocationBuilder { file, n_before, starts: line_starts(&text) };
    let ir = &mut source.ir;
    let mut items: Vec<Op> = Vec::new();
    ir.walk_items(ir.root(), &mut |it| items.push(it));
    // Ops by their ends, and arguments by their positions.
    let mut ends: FxHashMap<usize, Op> = FxHashMap::default();
    let mut ops: Vec<Op> = Vec::new();
    let mut arguments: Vec<(usize, Value)> = Vec::new();
    for op in items {
        let kind = ir.op(op).kind;
        let mut add = |ir: &Ir, values: &[Value]| {
            for &value in values {
                arguments.push((ir.absolute(op, ir.value(value).span).start, value));
            }
        };
        if kind == OpKind::Label {
            add(ir, &ir.op(op).results);
        } else if kind.is_op() {
            ends.insert(ir.range(op).end, op);
            ops.push(op);
            for &(_, region) in &ir.op(op).regions {
                add(ir, &ir.block(ir.region(region).entry).args);
            }
        }
    }
    for op in ops {
        let at = ir.name_range(op).start;
        let place = places.of(ir, at);
        out.ops.insert(op, place);
    }
    arguments.sort_unstable();
    for &(at, value) in &arguments {
        let place = places.of(ir, at);
        out.arguments.insert(value, place);
    }
    let mut known: FxHashMap<(Region, &str), Option<Attr>> = FxHashMap::default();
    let mut waiting = arguments.iter().peekable();
    let mut argument: Option<(Value, usize)> = None;
    let tokens = lex(&text).tokens;
    let closing = closing_parens(&tokens);
    let mut depth = 0;
    for (n, token) in tokens.iter().enumerate() {
        while let Some(&&(_, value)) = waiting.peek().filter(|it| it.0 <= token.start as usize) {
            argument = Some((value, depth));
            waiting.next();
        }
        match token.kind {
            TokenKind::LParen | TokenKind::LBrace | TokenKind::LSquare => depth += 1,
            TokenKind::RParen | TokenKind::RBrace | TokenKind::RSquare => depth -= 1,
            _ => {}
        }
        if token.kind != TokenKind::Bare || &text[token.range()] != "loc" {
            continue;
        }
        let Some(end) = closing.get(&(n + 1)).map(|&it| tokens[it].end as usize) else { continue };
        let op = ends.get(&end).copied();
        let written = &text[token.start as usize..end];
        let mut read = |ir: &mut Ir, region: Region| {
            *known.entry((region, written)).or_insert_with(|| read_location(ir, written, region))
        };
        if let Some(op) = op {
            let location = chunk_around(ir, ir.op(op).parent).and_then(|it| read(ir, it));
            out.ops.extend(location.map(|it| (op, it)));
        } else if let Some((value, _)) = argument.filter(|it| it.1 == depth)
            && let Def::Argument(block, _) = ir.value(value).def
        {
            let region = ir.block(block).region;
            let location = chunk_around(ir, region).and_then(|it| read(ir, it));
            out.arguments.extend(location.map(|it| (value, it)));
            argument = None;
        }
    }
    out
}

/// The region of the chunk that contains a region.
fn chunk_around(ir: &Ir, mut region: Region) -> Option<Region> {
    loop {
        let op = ir.region(region).parent?;
        if ir.op(op).kind == OpKind::Chunk {
            return Some(region);
        }
        region = ir.op(op).parent;
    }
}

/// Parses `loc(..)` with the aliases of a chunk.
fn read_location(ir: &mut Ir, written: &str, chunk: Region) -> Option<Attr> {
    let text = format!("#l = {written}");
    let mut tokens = lex(&text).tokens;
    tokens.pop();
    let aliases: &Aliases = ir.names.aliases.meanings_in(chunk);
    let mut env = GrammarEnv { interner: &mut ir.interner, aliases, default_dialect: None };
    let mut parsed = ParsedItem::default();
    parse_item(&text, &tokens, &mut env, &mut parsed);
    match parsed.alias {
        Some(Alias::Attr(attr)) => {
            matches!(ir.interner.attr_data(attr), AttrData::Location(_)).then_some(attr)
        }
        _ => None,
    }
}

/// The index of the closing parenthesis of each opening one.
fn closing_parens(tokens: &[Token]) -> FxHashMap<usize, usize> {
    let (mut out, mut open) = (FxHashMap::default(), Vec::new());
    for (n, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LParen => open.push(n),
            TokenKind::RParen => out.extend(open.pop().map(|it| (it, n))),
            _ => {}
        }
    }
    out
}

/// Returns the starts of lines, in bytes.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|it| it.0 + 1)).collect()
}

/// Converts positions in a text to locations.
struct LocationBuilder<'a> {
    file: &'a str,
    n_before: usize,
    starts: Vec<usize>,
}

impl LocationBuilder<'_> {
    fn of(&self, ir: &mut Ir, at: usize) -> Attr {
        let line = self.starts.partition_point(|&it| it <= at);
        ir.file_location(self.file, line + self.n_before, at - self.starts[line - 1] + 1)
    }
}
