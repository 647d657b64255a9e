//! Reparses the items that are affected by a change of the text, and replaces them.
//!
//! *How an edit is applied.* Reparsing starts in the innermost region that contains the change, at
//! the first item whose text or look-ahead overlaps the change. Wherever an item may start, the
//! parser looks for an old item that started at the same position and whose text and look-ahead are
//! not affected by the change ([`ReparsedEdit::reusable_items`]). If there is one, it and all such
//! items that follow are kept without parsing. If they are in the region itself, after the change,
//! reparsing ends: the rest of the region is unchanged.
//!
//! If the region itself would end elsewhere, its op is parsed again in the enclosing region. This
//! is not expensive: if a brace closes a function early, the op ends there, and the second half of
//! its body follows it; each half is kept as one piece. The outermost region is that of the chunks,
//! which ends with the file, so this always terminates.
//!
//! *Ids after an edit.* Parsed items are compared with the old ones that are not kept
//! (`replace.rs`). An item with unchanged text keeps its op. An item that replaces a similar old
//! one keeps the id of that op and is parsed again. The other new items are added, and the other
//! old ones are removed.
//!
//! *Aliases.* After the replacement, both parsed and kept items may have been parsed with outdated
//! meanings of aliases: see `ir/names/aliases.rs`. They are reparsed in the same way, by an empty
//! change ([`reparse_stale_item`]).
//!
//! *Law.* The result equals a parse of the new text without kept items. *Cost.* The length of the
//! parsed text, plus the logarithm of the file size for each kept run. The names of a run that
//! moves to another region are linked again.

use ropey::Rope;

use super::parse::{SplitLine, TOP_CONTEXT};
use super::replace::ItemReplacement;
use crate::Delta;
use crate::grammar::Aliases;
use crate::ir::seq;
use crate::lowering::LoweringInput;
use crate::skeleton::{
    DEPENDS_ON_DIALECT, DEPENDS_ON_TOP_LEVEL, ItemAction, ItemStart, KeptItems, RegionPart,
    RunContext, RunEnd, RunEndReason, Skeleton, skeleton,
};
use crate::token_stream::TokenStream;
use crate::{Ir, MAX_REGION_DEPTH, Op, OpKind, Region};

/// A change of the text, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextChange {
    pub(super) start: usize,
    pub(super) old_end: usize,
    pub(super) new_end: usize,
}

impl TextChange {
    /// Returns the new offset of a position after the change.
    fn new_offset(self, old: usize) -> usize {
        old - self.old_end + self.new_end
    }
}

/// Updates the IR after a change of the rope from `old` to `new`. Items may remain stale
/// ([`Ir::note_stale`]).
pub(super) fn reparse(ir: &mut Ir, old: &Rope, new: &Rope, change: TextChange) -> Delta {
    let edit = ReparsedEdit { old, new, change, stale: None };
    let (region, base) = edit.innermost_region(ir);
    edit.reparse_from(ir, region, base)
}

/// Parses an item again although its text is unchanged, because the meaning of an alias changed.
pub(super) fn reparse_stale_item(ir: &mut Ir, rope: &Rope, op: Op) -> Delta {
    // An empty change in its first token.
    let at = ir.start(op) + ir.op(op).lead_len as usize + 1;
    let change = TextChange { start: at, old_end: at, new_end: at };
    let known = ir.aliases_named(rope, op);
    let edit = ReparsedEdit { old: rope, new: rope, change, stale: Some((op, &known)) };
    let region = ir.op(op).parent;
    edit.reparse_from(ir, region, ir.region_start(region))
}

/// A change with the texts before and after it.
#[derive(Clone, Copy)]
struct ReparsedEdit<'a> {
    old: &'a Rope,
    new: &'a Rope,
    change: TextChange,
    /// An item that must be parsed again, and the meanings of the aliases that it may name.
    stale: Option<(Op, &'a Aliases)>,
}

impl ReparsedEdit<'_> {
    /// Reparses a region or, if that is not sufficient, an enclosing one.
    fn reparse_from(self, ir: &mut Ir, mut region: Region, mut base: usize) -> Delta {
        while region != ir.root {
            if let Some(delta) = self.reparse_in(ir, region, base) {
                return delta;
            }
            let Some(op) = ir.region(region).parent else { break };
            region = ir.op(op).parent;
            base = ir.region_start(region);
        }
        self.reparse_chunks(ir)
    }

    /// The innermost region whose contents contain the change, and the offset of these contents.
    fn innermost_region(self, ir: &Ir) -> (Region, usize) {
        let change = self.change;
        let mut region = ir.root;
        let mut base = 0;
        'descend: loop {
            let Some((op, at)) = seq::find(ir, region, change.start - base) else {
                return (region, base);
            };
            let mut start = base + at;
            for &(own, inner) in &ir.op(op).regions {
                let from = start + own as usize;
                let len = ir.region_len(inner);
                let to = from + len;
                let holds = if ir.op(op).kind == OpKind::Chunk {
                    // A change directly after or before a split line may change that line, or close
                    // an earlier `<`, which then extends beyond the line.
                    let (is_first, is_last) = (own == 0, to == self.old.len_bytes());
                    (is_first || change.start > from)
                        && (is_last || change.old_end < to)
                        && seq::first_reaching(ir, region, 0, change.start) == Some(op)
                } else {
                    ir.region(inner).is_closed
                };
                if holds && change.start >= from && change.old_end <= to {
                    (region, base) = (inner, from);
                    continue 'descend;
                }
                start += len;
            }
            return (region, base);
        }
    }

    /// Reparses the items of a region that are affected by the change; `None` if the extent of the
    /// region itself may change.
    fn reparse_in(self, ir: &mut Ir, region: Region, base: usize) -> Option<Delta> {
        let change = self.change;
        let is_chunk = ir.is_chunk_region(region);
        let old_end = base + ir.region_len(region);
        let first = seq::first_reaching(ir, region, 0, change.start - base);
        let rank = first.map_or(seq::n_items(ir, region), |op| ir.rank(op));
        // The parse of the enclosing op reads the start of the region.
        if rank == 0 && !is_chunk {
            return None;
        }
        let start = match first {
            Some(op) => base + seq::offset(ir, op),
            None => old_end - ir.region(region).tail_len as usize,
        };
        let new_end = change.new_offset(old_end);
        let context = RunContext {
            depth: ir.depth(region),
            default_dialect: ir.default_dialect(region),
            is_inside_region: !is_chunk,
        };
        let mut stream = TokenStream::from_rope(self.new, start);
        let mut read = Skeleton::default();
        let mut synced = None;
        let end = skeleton(&mut stream, 0, 0, context, &mut read, &mut |here| {
            if here.at > new_end {
                // The brace that closed the region closes another one now.
                return ItemAction::Stop;
            }
            match self.reusable_items(ir, here) {
                Some(it)
                    if here.is_outermost && it.region == region && here.at >= change.new_end =>
                {
                    synced = Some(it.first);
                    ItemAction::Stop
                }
                Some(it) => ItemAction::Keep(it),
                None => ItemAction::Read,
            }
        });
        let is_at_end = match end.stop {
            RunEndReason::Requested => false,
            RunEndReason::Close => !is_chunk && end.at == new_end,
            RunEndReason::Split | RunEndReason::Eof => is_chunk && end.at == new_end,
        };
        if synced.is_none() && !is_at_end {
            return None;
        }
        let run = LoweringInput {
            stream: &stream,
            skeleton: &read,
            chunk: ir.chunk_region(region),
            aliases: self.stale.map(|it| it.1),
            is_at_file_start: start == 0,
        };
        let mut graft = ItemReplacement::new(ir, self.old, run, self.stale.map(|it| it.0));
        let olds = graft.items_not_kept_between(first, synced);
        graft.pair_items(&olds, &read.roots);
        graft.release_old_items(&[(Some(region), &read.roots[..])]);
        let n_old = match synced {
            Some(op) => graft.ir.rank(op),
            None => seq::n_items(graft.ir, region),
        };
        seq::cut(graft.ir, region, rank, n_old - rank);
        let pieces = graft.ir.build_parts(run, region, &read.roots, &mut graft.work);
        seq::insert(graft.ir, region, rank, &pieces);
        if is_at_end {
            graft.ir.regions[region.index()].tail_len = (end.at - end.trivia) as u32;
        }
        graft.record_replaced_items(region, rank, &read.roots);
        graft.ir.update_enclosing_sums(region);
        Some(graft.finish())
    }

    /// Reparses the chunks that are affected by the change.
    fn reparse_chunks(self, ir: &mut Ir) -> Delta {
        let change = self.change;
        let root = ir.root;
        let first = seq::first_reaching(ir, root, 0, change.start);
        let mut first = first.unwrap_or_else(|| seq::nth(ir, root, 0).expect("a file has a chunk"));
        let mut at = seq::offset(ir, first);
        if change.start <= at + ir.op(first).own_len as usize
            && let Some(before) = ir.prev(first)
        {
            // Its split line may no longer be one.
            at -= ir.item_len(before);
            first = before;
        }
        let rank = ir.rank(first);
        let own_len = ir.op(first).own_len;
        let mut stream = TokenStream::from_rope(self.new, at + own_len as usize);
        let mut read = Skeleton::default();
        let mut head = SplitLine { at, own_len, ..SplitLine::default() };
        let mut chunks = Vec::new();
        let mut synced = None;
        loop {
            let end =
                skeleton(&mut stream, head.token, head.end, TOP_CONTEXT, &mut read, &mut |here| {
                    self.reusable_items(ir, here).map_or(ItemAction::Read, ItemAction::Keep)
                });
            chunks.push(ReparsedChunk { head, end, roots: std::mem::take(&mut read.roots) });
            if end.stop != RunEndReason::Split {
                break;
            }
            head = SplitLine::after(&mut stream, end);
            if head.at >= change.new_end {
                let old = head.at - change.new_end + change.old_end;
                let found = seq::find(ir, root, old).filter(|it| it.1 == old);
                synced = found.map(|it| it.0).filter(|&it| ir.op(it).own_len == head.own_len);
                if synced.is_some() {
                    break;
                }
            }
        }
        let run = LoweringInput {
            stream: &stream,
            skeleton: &read,
            chunk: root,
            aliases: self.stale.map(|it| it.1),
            is_at_file_start: at == 0 && own_len == 0,
        };
        let mut graft = ItemReplacement::new(ir, self.old, run, self.stale.map(|it| it.0));
        let olds = graft.items_not_kept_between(Some(first), synced);
        let mut targets: Vec<(Option<Region>, &[RegionPart])> = Vec::new();
        for (n, chunk) in chunks.iter().enumerate() {
            let region = olds.get(n).map(|&old| graft.ir.op(old).regions[0].1);
            if let Some(region) = region {
                graft.run.chunk = region;
                graft.pair_inside(region, &chunk.roots);
            }
            targets.push((region, &chunk.roots));
        }
        graft.leaving_ops.extend(olds.iter().skip(chunks.len()));
        graft.release_old_items(&targets);
        seq::cut(graft.ir, root, rank, olds.len());
        let mut pieces = Vec::new();
        for (n, chunk) in chunks.iter().enumerate() {
            let op = match olds.get(n) {
                Some(&old) => old,
                None => {
                    let op = graft.ir.new_chunk(chunk.head.own_len);
                    graft.changed.push(op);
                    op
                }
            };
            let region = graft.ir.op(op).regions[0].1;
            graft.run.chunk = region;
            let run = graft.run;
            graft.ir.ops[op.index()].own_len = chunk.head.own_len;
            graft.ir.ops[op.index()].regions[0].0 = chunk.head.own_len;
            let inside = graft.ir.build_parts(run, region, &chunk.roots, &mut graft.work);
            seq::fill(graft.ir, region, &inside);
            graft.ir.regions[region.index()].tail_len = (chunk.end.at - chunk.end.trivia) as u32;
            graft.record_replaced_items(region, 0, &chunk.roots);
            seq::update_own_sums(graft.ir, op);
            pieces.push(seq::SeqPiece::Item(op, (chunk.end.at - chunk.head.at) as u32));
        }
        seq::insert(graft.ir, root, rank, &pieces);
        graft.finish()
    }

    /// Returns the old items that can be kept at a position. The first one starts at that position,
    /// and the change affects neither their text nor their look-ahead.
    fn reusable_items(self, ir: &Ir, here: ItemStart) -> Option<KeptItems> {
        let change = self.change;
        let is_before = here.at < change.start;
        let old = match here.at {
            at if at >= change.new_end => at - change.new_end + change.old_end,
            at if is_before => at,
            _ => return None,
        };
        if (old == 0) != (here.at == 0) {
            return None;
        }
        let (first, base) = ir.item_starting_at(old)?;
        let region = ir.op(first).parent;
        let from = ir.rank(first);
        let mut n = seq::n_items(ir, region) - from;
        if is_before && let Some(it) = seq::first_reaching(ir, region, from, change.start - base) {
            n = ir.rank(it) - from;
        }
        let all = seq::total(ir, region);
        let depth = ir.depth(region);
        if here.depth != depth
            && here.depth.max(depth) + usize::from(all.height) + 1 >= MAX_REGION_DEPTH
        {
            return None;
        }
        let mut differs = 0;
        if here.is_inside_region == ir.is_chunk_region(region) {
            differs |= DEPENDS_ON_TOP_LEVEL;
        }
        if here.default_dialect != ir.default_dialect(region) {
            differs |= DEPENDS_ON_DIALECT;
        }
        n = n.min(seq::first_depending_on(ir, region, from, differs) - from);
        if n == 0 {
            return None;
        }
        let sum = seq::total_before(ir, region, from + n);
        Some(KeptItems {
            region,
            first,
            n,
            len: sum.bytes as usize - seq::offset(ir, first),
            lookahead: sum.lookahead as usize,
            context_deps: all.flags & !differs,
        })
    }
}

/// A reparsed chunk.
struct ReparsedChunk {
    head: SplitLine,
    end: RunEnd,
    roots: Vec<RegionPart>,
}
