//! Reading a whole text.

use crate::build::{Run, Work};
use crate::ir::OpData;
use crate::lex::lex;
use crate::link::{Names, Touched};
use crate::skeleton::{Context, Stop, skeleton};
use crate::{Form, Interner, Ir, Op, OpKind, Region, seq};

/// The default dialect of op names at the top of a file.
pub(super) const TOP_DIALECT: Option<&'static str> = Some("builtin");

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Ir {
    let mut ir = Ir {
        ops: Vec::new(),
        values: Vec::new(),
        blocks: Vec::new(),
        regions: Vec::new(),
        free_ops: Vec::new(),
        free_values: Vec::new(),
        free_blocks: Vec::new(),
        free_regions: Vec::new(),
        names: Names::default(),
        interner: Interner::default(),
        root: Region::from_index(0),
    };
    let root = ir.new_region(None);
    ir.root = root;
    let mut lexed = lex(text);
    let mut work = Work::default();
    let mut chunks: Vec<(Op, u32)> = Vec::new();
    let context = Context { depth: 0, default_dialect: TOP_DIALECT, inside: false };
    let mut start = 0;
    let mut own_len = 0;
    loop {
        let skeleton = skeleton(text, &lexed, context, start + own_len, &mut |_| false);
        let stop = lexed.tokens[skeleton.stop_token as usize];
        let n_items = skeleton.items.len();
        ir.ops.reserve(n_items + 1);
        ir.values.reserve(n_items);
        work.fresh.reserve(n_items);
        let chunk =
            ir.new_op(OpData { form: Form::Custom, own_len, ..OpData::new(root, OpKind::Chunk) });
        let region = ir.new_region(Some(chunk));
        ir.ops[chunk.index()].regions.push((own_len, region));
        let run = Run {
            text,
            lexed: &lexed,
            skeleton: &skeleton,
            chunk: region,
            at_file_start: true,
            elided: &[],
        };
        let items: Vec<(Op, u32)> =
            skeleton.roots.iter().map(|&it| ir.lower(run, it, region, &mut work)).collect();
        let end = skeleton.roots.last().map_or(start + own_len, |&it| run.item(it).end);
        let chunk_end = if skeleton.stop == Stop::Split { stop.start } else { text.len() as u32 };
        ir.regions[region.index()].tail = chunk_end - end;
        seq::build(&mut ir, region, &items);
        chunks.push((chunk, chunk_end - start));
        if skeleton.stop != Stop::Split {
            break;
        }
        start = chunk_end;
        own_len = stop.end - stop.start;
        let stop = skeleton.stop_token as usize;
        lexed.tokens.drain(..=stop);
        lexed.reaches.retain_mut(|it| {
            let keep = it.0 as usize > stop;
            it.0 = it.0.wrapping_sub(stop as u32 + 1);
            keep
        });
    }
    seq::build(&mut ir, root, &chunks);
    ir.names.in_order = true;
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
    ir
}
