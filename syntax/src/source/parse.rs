//! Reading a whole text, a stretch of top-level items after the other: the tokens and the skeleton of one are let go of before the
//! next is read, so that they take the room of the longest function and not of the file.

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

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Ir {
    let mut ir = Ir::default();
    let root = ir.root;
    let mut stream = TokenStream::whole(text);
    let mut work = Work::default();
    let mut chunks = Vec::new();
    let mut head = Head::default();
    ir.names.in_order = true;
    // About as many items as lines. Room that is not used takes no memory.
    let n_lines = text.bytes().filter(|&it| it == b'\n').count();
    reserve_with_slack(&mut ir.ops, n_lines);
    reserve_with_slack(&mut ir.links, n_lines);
    reserve_with_slack(&mut ir.values, n_lines);
    work.fresh.reserve(n_lines);
    loop {
        let chunk = ir.new_chunk(head.own_len);
        let region = ir.op(chunk).regions[0].1;
        let mut pieces = Vec::new();
        let (mut token, mut start) = (head.token, head.end);
        let end = loop {
            let mut read = Skeleton::default();
            let far = start as usize + STRETCH;
            let take = &mut |here: Here| {
                if here.outermost && here.at >= far { Take::Stop } else { Take::Read }
            };
            let end = skeleton(&mut stream, token, start, TOP, &mut read, take);
            let run = Run {
                stream: &stream,
                skeleton: &read,
                chunk: region,
                aliases: None,
                at_file_start: true,
            };
            pieces.extend(ir.build_parts(run, region, &read.roots, &mut work));
            if end.stop != Stop::Told {
                break end;
            }
            stream.forget(end.token);
            (token, start) = (0, end.trivia as u32);
        };
        seq::fill(&mut ir, region, &pieces);
        ir.regions[region.index()].tail = (end.at - end.trivia) as u32;
        chunks.push(seq::Piece::Item(chunk, (end.at - head.at) as u32));
        if end.stop != Stop::Split {
            break;
        }
        head = Head::after(&mut stream, end);
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
