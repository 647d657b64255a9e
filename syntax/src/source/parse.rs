//! Reading a whole text, a stretch of top-level items after the other: the tokens and the skeleton of one are let go of before the
//! next is lowered, so that they take the room of the longest function and not of the file. In a long text the skeleton, which
//! depends on nothing but the text, is found by a thread of its own, some stretches ahead.
//!
//! *Law.* The IR is the same, wherever stretches end and whoever reads them.

use std::sync::mpsc;

use crate::ir::names::Touched;
use crate::ir::seq;
use crate::lowering::{Run, Work};
use crate::skeleton::{Context, End, Here, Skeleton, Stop, Take, skeleton};
use crate::token_stream::TokenStream;
use crate::{Ir, dialect, reserve_with_slack};

/// The top level of a file.
pub(super) const TOP: Context = Context { depth: 0, default_dialect: dialect::TOP, inside: false };

/// A stretch ends with the first top-level item that ends after so many bytes; in tests every text has several.
const STRETCH: usize = if cfg!(test) { 64 } else { 1 << 14 };

/// Texts of so many bytes are long. In tests none is, where work is counted by thread.
const LONG: usize = if cfg!(test) { usize::MAX } else { 1 << 16 };

/// How many stretches are read ahead.
const AHEAD: usize = 4;

/// Reads a whole text, on so many more threads than this one.
pub(super) fn parse(text: &str, n_threads: usize) -> Ir {
    if n_threads == 0 || text.len() < LONG {
        lower(text, Stretches::new(text))
    } else {
        parse_ahead(text)
    }
}

/// Reads a whole text, its skeleton on a thread of its own, if the system grants one.
fn parse_ahead(text: &str) -> Ir {
    std::thread::scope(|scope| {
        let (give, take) = mpsc::sync_channel(AHEAD);
        let ahead = std::thread::Builder::new().spawn_scoped(scope, move || {
            for stretch in Stretches::new(text) {
                if give.send(stretch).is_err() {
                    return;
                }
            }
        });
        match ahead {
            Ok(_) => lower(text, take.into_iter()),
            Err(_) => lower(text, Stretches::new(text)),
        }
    })
}

/// Top-level items of one chunk.
struct Stretch<'t> {
    /// Their tokens.
    stream: TokenStream<'t>,
    read: Skeleton,
    end: End,
    /// The split line behind them, if the chunk ends with them and another follows.
    split: Option<Head>,
}

/// The stretches of a text, one after the other.
struct Stretches<'t> {
    stream: TokenStream<'t>,
    /// Where the trivia before the next token starts.
    start: u32,
    is_done: bool,
}

impl<'t> Stretches<'t> {
    fn new(text: &'t str) -> Self {
        Self { stream: TokenStream::whole(text), start: 0, is_done: false }
    }
}

impl<'t> Iterator for Stretches<'t> {
    type Item = Stretch<'t>;

    fn next(&mut self) -> Option<Stretch<'t>> {
        if self.is_done {
            return None;
        }
        let mut read = Skeleton::default();
        let far = self.start as usize + STRETCH;
        let take = &mut |here: Here| {
            if here.outermost && here.at >= far { Take::Stop } else { Take::Read }
        };
        let end = skeleton(&mut self.stream, 0, self.start, TOP, &mut read, take);
        let split = (end.stop == Stop::Split).then(|| Head::after(&mut self.stream, end));
        self.is_done = !matches!(end.stop, Stop::Split | Stop::Told);
        let (token, start) =
            split.map_or((end.token, end.trivia as u32), |head| (head.token, head.end));
        self.start = start;
        Some(Stretch { stream: self.stream.cut(token), read, end, split })
    }
}

/// Lowers the stretches of a text.
fn lower<'t>(text: &str, mut stretches: impl Iterator<Item = Stretch<'t>>) -> Ir {
    let mut ir = Ir::default();
    let root = ir.root;
    let mut work = Work::default();
    let mut chunks = Vec::new();
    ir.names.in_order = true;
    // About as many items as lines. Room that is not used takes no memory.
    let n_lines = text.bytes().filter(|&it| it == b'\n').count();
    reserve_with_slack(&mut ir.ops, n_lines);
    reserve_with_slack(&mut ir.links, n_lines);
    reserve_with_slack(&mut ir.values, n_lines);
    work.fresh.reserve(n_lines);
    let mut next = Some(Head::default());
    while let Some(head) = next.take() {
        let chunk = ir.new_chunk(head.own_len);
        let region = ir.op(chunk).regions[0].1;
        let mut pieces = Vec::new();
        for Stretch { stream, read, end, split } in stretches.by_ref() {
            let run = Run {
                stream: &stream,
                skeleton: &read,
                chunk: region,
                aliases: None,
                at_file_start: true,
            };
            pieces.extend(ir.build_parts(run, region, &read.roots, &mut work));
            if end.stop != Stop::Told {
                ir.regions[region.index()].tail = (end.at - end.trivia) as u32;
                chunks.push(seq::Piece::Item(chunk, (end.at - head.at) as u32));
                next = split;
                break;
            }
        }
        seq::fill(&mut ir, region, &pieces);
    }
    seq::fill(&mut ir, root, &chunks);
    for n in 0..work.fresh.len() {
        ir.add_defs(work.fresh[n], &mut work);
    }
    ir.names.in_order = false;
    // Nothing was linked yet that could have changed its meaning.
    work.retry.clear();
    work.retry_successors.clear();
    for n in 0..work.fresh.len() {
        ir.link(work.fresh[n]);
    }
    ir.names.touched = Touched::default();
    ir.keep_slack();
    ir
}

/// The split line before a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    /// The token after it.
    pub(super) token: usize,
    /// Where it starts in the document.
    pub(super) at: usize,
    /// Its bytes.
    pub(super) own_len: u32,
    /// Where it ends in what was read.
    pub(super) end: u32,
}

impl Head {
    /// The split line at which a run ended.
    pub(super) fn after(stream: &mut TokenStream<'_>, end: End) -> Self {
        let token = stream.token(end.token);
        let own_len = token.end - token.start;
        Self { token: end.token + 1, at: end.at, own_len, end: token.end }
    }
}

#[cfg(test)]
mod tests {
    use super::{Stretches, lower, parse_ahead};
    use crate::verify::Verdicts;
    use crate::{Ir, Source, dump};

    #[test]
    fn a_skeleton_that_is_read_ahead_is_the_same() {
        let mut text = String::from("#a = 7 : i32\n");
        for n in 0..40 {
            text += &format!(
                "func.func @f{n}(%x: i32) -> i32 {{\n  %0 = arith.addi %x, %x : i32 // {n}\n  return %0 : i32\n}}\n"
            );
            if n % 7 == 3 {
                text += "// -----\n!b = i8\n}\n";
            }
        }
        for text in [text.as_str(), "", "}", "func.func @f() {", "// -----\n// -----"] {
            let shown = |ir: Ir| {
                let verdicts = Verdicts::new(&ir, 0);
                dump::ir(&Source::of(text, ir, verdicts))
            };
            let here = lower(text, Stretches::new(text));
            assert_eq!(shown(parse_ahead(text)), shown(here), "{text}");
        }
    }
}
