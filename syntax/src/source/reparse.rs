//! Finding what an edit must read again: the region, the run of its items, and the text to read it from.

use std::ops::Range;

use ropey::Rope;
use smallvec::SmallVec;

use super::parse::TOP_DIALECT;
use super::{Delta, Source};
use crate::build::{Elided, Run};
use crate::lex::lex_part;
use crate::skeleton::{Context, Stop, brace_opens_region, ends_before, skeleton, surely_region};
use crate::{Form, Op, OpKind, Region, T, Token, dialect, seq};

/// How much text behind an op with a region is read to see that the op still ends there, in bytes.
const SPARE_BYTES: usize = 1024;

/// Regions of ops longer than this are left out when something beside them is read, in bytes.
const ELIDED_BYTES: usize = if cfg!(test) { 8 } else { 1024 };

impl Source {
    /// Reparses around a change of the rope; `None` if everything has to be.
    pub(super) fn reparse(&mut self, change: Change) -> Option<Delta> {
        let (mut region, mut base) = self.region_around(change)?;
        loop {
            if let Some(delta) = self.reparse_in(region, base, change) {
                return Some(delta);
            }
            // Outward: the op that holds the region, in the region around it.
            let op = self.ir.region(region).parent?;
            let around = self.ir.op(op).parent;
            if around == self.ir.root {
                return None;
            }
            region = around;
            base = self.ir.region_start(region);
        }
    }

    /// The innermost region whose inside holds the change and could not merge with its braces, and where it starts.
    fn region_around(&self, change: Change) -> Option<(Region, usize)> {
        let ir = &self.ir;
        let mut found = None;
        let mut region = ir.root;
        let mut base = 0;
        'descend: loop {
            let Some((op, at)) = seq::find(ir, region, change.start - base) else { return found };
            // A change at the very end of a text belongs to its last chunk.
            let mut start = base + at;
            for &(own, inner) in &ir.op(op).regions {
                let from = start + own as usize;
                let len = ir.region_len(inner);
                let to = from + len;
                if change.start >= from
                    && change.old_end <= to
                    && self.is_inside(inner, from, to, change)
                {
                    found = Some((inner, from));
                    region = inner;
                    base = from;
                    continue 'descend;
                }
                start += len;
            }
            return found;
        }
    }

    fn is_inside(&self, region: Region, from: usize, to: usize, change: Change) -> bool {
        let data = self.ir.region(region);
        let Some(parent) = data.parent else { return false };
        if self.ir.op(parent).kind == OpKind::Chunk {
            // Behind a split line, and before the next one, a change may make another line of it.
            let first = self.ir.op(parent).own_len == 0;
            let last = to == self.ir.region_len(self.ir.root);
            return (first || change.start > from) && (last || change.old_end < to);
        }
        let byte = |at: usize| (at < self.rope.len_bytes()).then(|| self.rope.byte(at));
        let to = to - change.old_end + change.new_end;
        data.closed
            && !(byte(from) == Some(b'-') && byte(from + 1) == Some(b'#'))
            && !(to > 1 && byte(to - 1) == Some(b'-') && byte(to - 2) == Some(b'#'))
    }

    /// Reparses the run of items of a region that a change meets. `None` if the region itself would change.
    fn reparse_in(&mut self, region: Region, base: usize, change: Change) -> Option<Delta> {
        let parent = self.ir.region(region).parent?;
        let is_chunk = self.ir.op(parent).kind == OpKind::Chunk;
        let old_end = base + self.ir.region_len(region);
        let context = Context {
            depth: self.depth(region),
            default_dialect: self.default_dialect(region),
            inside: !is_chunk,
        };
        let mut spared = Vec::new();
        let (first, start) = self.first_item(region, base, change, context, &mut spared);
        let place = Place {
            region,
            parent,
            is_chunk,
            end: change.moved(old_end),
            first,
            // Behind the last item only the blanks of the tail are read.
            start: if first.is_some() {
                start
            } else {
                old_end - self.ir.region(region).tail as usize
            },
            rank: first.map_or(seq::n_items(&self.ir, region), |op| self.ir.rank(op)),
            context,
        };
        // Large regions that the change does not meet are left out of the text that is read, if that works.
        let delta = self
            .reparse_run(&place, change, true)
            .or_else(|| self.reparse_run(&place, change, false))?;
        for (op, reach) in spared {
            self.ir.ops[op.index()].reach = reach;
        }
        Some(delta)
    }

    fn reparse_run(&mut self, place: &Place, change: Change, elide: bool) -> Option<Delta> {
        let ir = &self.ir;
        let doc_end = self.rope.len_bytes();
        let start = place.start;
        // At first: the items that the change meets and one more, or a line's worth.
        let mut window = 160;
        loop {
            let part = self.part(place, change, window, elide);
            if elide && part.elided.is_empty() {
                return None;
            }
            let text = part.text.as_str();
            let lexed = lex_part(text, start == 0);
            let complete = part.end == doc_end;
            let mut olds = place.first.map(|op| (op, start + ir.len(op)));
            let mut n_old = 0;
            let skeleton = skeleton(text, &lexed, place.context, 0, &mut |item| {
                let at = part.absolute(item.end);
                if at < change.new_end || (item.reach as usize >= text.len() && !complete) {
                    return false;
                }
                // Count the old items up to here.
                let old = at - change.new_end + change.old_end;
                while let Some((op, op_end)) = olds {
                    if op_end > old {
                        return false;
                    }
                    n_old += 1;
                    let next = ir.next(op);
                    olds = next.map(|next| (next, op_end + ir.len(next)));
                    if op_end == old {
                        return op_end >= change.old_end;
                    }
                }
                false
            });
            let stop = part.absolute(lexed.tokens[skeleton.stop_token as usize].start);
            let at_end = match skeleton.stop {
                Stop::Synced => false,
                Stop::Close | Stop::Split => stop == place.end,
                Stop::Eof => complete && place.end == doc_end,
            };
            if skeleton.stop != Stop::Synced && !at_end {
                // A brace too many closes the region early, however much more is read.
                let early = skeleton.stop == Stop::Close && part.end - stop > 64;
                if part.end >= place.end || early {
                    return None;
                }
                window *= 8;
                continue;
            }
            if at_end {
                n_old = seq::n_items(ir, place.region) - place.rank;
            }
            if place.rank == 0
                && !place.is_chunk
                && !self.is_still_region(place, text, &lexed.tokens)
            {
                return None;
            }
            let last = skeleton.roots.last().map(|&it| &skeleton.items[it as usize]);
            if last.is_some_and(|it| part.elided.iter().any(|e| it.end < e.at && e.at <= it.reach))
            {
                // It looked into the next op beyond what was left out.
                return None;
            }
            let run_end = last.map_or(start, |it| part.absolute(it.end));
            let tail = at_end.then(|| (place.end - run_end) as u32);
            let run = Run {
                text,
                lexed: &lexed,
                skeleton: &skeleton,
                chunk: self.chunk_region(place.region),
                at_file_start: start == 0,
                elided: &part.elided,
            };
            let mut delta = self.replace(run, place, n_old, tail)?;
            delta.lexed = start..part.end;
            return Some(delta);
        }
    }

    /// The text of a run: from its start to what the change meets and `window` bytes more, without large regions that the
    /// change does not touch if `elide`.
    fn part(&self, place: &Place, change: Change, window: usize, elide: bool) -> Part {
        let ir = &self.ir;
        let doc_end = self.rope.len_bytes();
        let mut part = Part { start: place.start, ..Part::default() };
        // A place of the old text in the new one; only asked for places outside the change.
        let new = |old: usize| if old >= change.old_end { change.moved(old) } else { old };
        let wanted = change.new_end + window;
        let mut at = place.start;
        let (mut item, mut old_start) = (place.first, place.start);
        while let Some(op) = item.filter(|_| elide) {
            // Without what is left out, the window is small: stop when it is full.
            let n_elided: usize = part.elided.iter().map(|it| it.len).sum();
            if new(old_start.max(change.old_end)) - n_elided.min(new(old_start))
                > wanted.max(place.start)
            {
                break;
            }
            let old_end = old_start + ir.len(op);
            if old_end - old_start >= ELIDED_BYTES && ir.op(op).balanced {
                let mut inside = old_start;
                let mut regions: SmallVec<[(usize, usize, Region); 2]> = SmallVec::new();
                for &(own, region) in &ir.op(op).regions {
                    let len = ir.region_len(region);
                    let from = inside + own as usize;
                    regions.push((from, from + len, region));
                    inside += len;
                }
                let untouched = regions.iter().all(|&(from, to, region)| {
                    let long = to - from >= ELIDED_BYTES && seq::first(ir, region).is_some();
                    long && ir.region(region).closed && (change.old_end < from || change.start > to)
                });
                for &(from, to, region) in regions.iter().filter(|_| untouched) {
                    part.push(&self.rope, at..new(from));
                    // The grammar may ask whether the region is empty or starts with a label.
                    let first = seq::first(ir, region).map(|it| ir.op(it).kind);
                    let filler = if first == Some(OpKind::Label) { "^x:" } else { "\"x\"()" };
                    let open = part.text.len() as u32;
                    part.text.push_str(filler);
                    let behind = part.text.len() as u32;
                    let len = to - from - filler.len();
                    part.elided.push(Elided { open, at: behind, len, op, region });
                    at = new(to);
                }
            }
            old_start = old_end;
            item = ir.next(op);
        }
        let n_elided: usize = part.elided.iter().map(|it| it.len).sum();
        let end = (wanted + if elide { n_elided } else { 0 }).max(at).min(place.end);
        // At its end the region's `}` or the next split line is read along.
        let end = if end == place.end { (end + 48).min(doc_end) } else { end };
        part.end = self.rope.char_to_byte(self.rope.byte_to_char(end));
        let rest = at..part.end;
        part.push(&self.rope, rest);
        part
    }

    /// The first item of a region whose extent a change may alter, and where it starts.
    fn first_item(
        &self,
        region: Region,
        base: usize,
        change: Change,
        context: Context,
        spared: &mut Vec<(Op, u32)>,
    ) -> (Option<Op>, usize) {
        let ir = &self.ir;
        let last = || seq::last(ir, region).map(|op| (op, seq::offset(ir, op)));
        let Some((op, at)) = seq::find(ir, region, change.start - base).or_else(last) else {
            return (None, base);
        };
        let start = base + at;
        // In the tail, or at the very end, it is the last item.
        let is_behind = start + ir.len(op) < change.start;
        if is_behind && !self.met_before(op, start, change, context, spared) {
            return (None, 0);
        }
        self.widen(op, start, change, context, spared)
    }

    /// Goes back from an item over those before it that looked at the changed text.
    fn widen(
        &self,
        op: Op,
        start: usize,
        change: Change,
        context: Context,
        spared: &mut Vec<(Op, u32)>,
    ) -> (Option<Op>, usize) {
        let (mut op, mut start) = (op, start);
        let mut at = op;
        let mut at_start = start;
        // An item may have looked beyond the one behind it, but not far: look back over a few.
        for _ in 0..4 {
            let Some(prev) = self.ir.prev(at) else { break };
            at = prev;
            at_start -= self.ir.len(prev);
            if self.met_before(prev, at_start, change, context, spared) {
                (op, start) = (prev, at_start);
            }
        }
        (Some(op), start)
    }

    /// Whether an item before the change looked at it to find its own end. An op that need not be read again although it did goes
    /// to `spared`, with its new reach.
    fn met_before(
        &self,
        op: Op,
        start: usize,
        change: Change,
        context: Context,
        spared: &mut Vec<(Op, u32)>,
    ) -> bool {
        let data = self.ir.op(op);
        let end = start + self.ir.len(op);
        if change.start > end + data.reach as usize {
            return false;
        }
        // An op that ends with its region was ended by what follows. If that still ends it, nothing in it changes.
        if let Some(&(own, region)) = data.regions.last()
            && own + 1 == data.own_len
            && data.balanced
            && self.ir.region(region).closed
            && change.start > end
        {
            let to = (end + SPARE_BYTES).min(self.rope.len_bytes());
            let to = self.rope.char_to_byte(self.rope.byte_to_char(to));
            let text = self.slice(end..to);
            let complete = to == self.rope.len_bytes();
            let lexed = lex_part(&text, false);
            if let Some(reach) = ends_before(&text, &lexed, context)
                && (complete || (reach as usize) < text.len())
            {
                spared.push((op, reach));
                return false;
            }
        }
        true
    }

    /// Whether the brace before a region would still be read as one, judging by the region's first tokens.
    fn is_still_region(&self, place: &Place, text: &str, tokens: &[Token]) -> bool {
        let &Place { region, parent, context, .. } = place;
        if self.ir.op(parent).form == Form::Generic || self.ir.op_name(parent).is_empty() {
            return true;
        }
        let data = self.ir.op(parent);
        let name = self.slice(self.ir.absolute(parent, data.name_span));
        if surely_region(&name, data.regions.first().is_some_and(|it| it.1 == region)) {
            return true;
        }
        let brace = Token { start: 0, end: 0, kind: T::LBrace, at_line_start: false };
        brace_opens_region(text, context.default_dialect, &mut |n| match n {
            0 | 1 => brace,
            n => tokens[(n - 2).min(tokens.len() - 1)],
        })
    }

    fn depth(&self, region: Region) -> usize {
        let mut depth = 0;
        let mut at = region;
        while let Some(parent) = self.ir.region(at).parent {
            depth += 1;
            at = self.ir.op(parent).parent;
        }
        depth - 1
    }

    /// The default dialect of op names without a dot in a region.
    fn default_dialect(&self, region: Region) -> Option<&'static str> {
        let mut at = region;
        loop {
            let Some(op) = self.ir.region(at).parent else { return TOP_DIALECT };
            let data = self.ir.op(op);
            if data.kind == OpKind::Chunk {
                return TOP_DIALECT;
            }
            // Quoted names leave the dialect as it is around.
            let quoted = {
                let start = self.ir.absolute(op, data.name_span).start;
                self.rope.byte(start.min(self.rope.len_bytes() - 1)) == b'"'
            };
            if !quoted {
                let name = self.ir.interner.str(data.name);
                let around =
                    if name.contains('.') { None } else { self.default_dialect(data.parent) };
                return dialect::inner_dialect(around, name);
            }
            at = data.parent;
        }
    }

    fn chunk_region(&self, region: Region) -> Region {
        let mut at = region;
        while let Some(parent) = self.ir.region(at).parent {
            if self.ir.op(parent).kind == OpKind::Chunk {
                return at;
            }
            at = self.ir.op(parent).parent;
        }
        at
    }
}

/// Where a run stands.
pub(super) struct Place {
    pub(super) region: Region,
    /// The op that holds the region.
    parent: Op,
    pub(super) is_chunk: bool,
    /// Where the region ends in the new text.
    end: usize,
    /// The first item to read again; `None`: what is read is behind the last one.
    first: Option<Op>,
    /// Where the run starts.
    start: usize,
    /// The rank of the first item.
    pub(super) rank: usize,
    context: Context,
}

/// The text that a run is read from: a part of the new text, from `start` to `end`, with some regions left out.
#[derive(Default)]
struct Part {
    text: String,
    start: usize,
    end: usize,
    elided: Vec<Elided>,
}

impl Part {
    fn push(&mut self, rope: &Rope, range: Range<usize>) {
        for chunk in rope.byte_slice(range).chunks() {
            self.text.push_str(chunk);
        }
    }

    /// Where a byte of the part stands in the whole text.
    fn absolute(&self, at: u32) -> usize {
        let before = self.elided.iter().take_while(|it| it.at < at);
        self.start + at as usize + before.map(|it| it.len).sum::<usize>()
    }
}

/// A change of the text, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) start: usize,
    pub(super) old_end: usize,
    pub(super) new_end: usize,
}

impl Change {
    /// Where a place behind the change is now.
    fn moved(self, old: usize) -> usize {
        old - self.old_end + self.new_end
    }
}
