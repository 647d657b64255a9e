//! Reading a whole text.

use crate::ir::names::Touched;
use crate::ir::seq;
use crate::lowering::{Run, Work};
use crate::skeleton::{Context, End, Skeleton, Stop, Take, skeleton};
use crate::token_stream::TokenStream;
use crate::{Ir, dialect, reserve_with_slack};

/// The top level of a file.
pub(super) const TOP: Context = Context { depth: 0, default_dialect: dialect::TOP, inside: false };

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Ir {
    let mut ir = Ir::default();
    let root = ir.root;
    let mut stream = TokenStream::whole(text);
    let mut work = Work::default();
    let mut chunks = Vec::new();
    let mut head = Head::default();
    ir.names.in_order = true;
    loop {
        let mut read = Skeleton::default();
        let end = skeleton(&mut stream, head.token, head.end, TOP, &mut read, &mut |_| Take::Read);
        let n_items = read.items.len();
        let (n_ops, n_values) = (ir.ops.len() + n_items + 1, ir.values.len() + n_items);
        reserve_with_slack(&mut ir.ops, n_ops);
        reserve_with_slack(&mut ir.values, n_values);
        work.fresh.reserve(n_items);
        let chunk = ir.new_chunk(head.own_len);
        let region = ir.op(chunk).regions[0].1;
        let run = Run {
            stream: &stream,
            skeleton: &read,
            chunk: region,
            aliases: None,
            at_file_start: true,
        };
        let pieces = ir.build_parts(run, region, &read.roots, &mut work);
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
