//! A document: its text in a rope, the IR that it spells, and edits that reparse only what they touch.
//!
//! *How an edit is taken in.* The unit is the item. In the innermost region that strictly contains the change:
//!
//! 1. The run starts with the first item whose text, or the text that was looked at to find its end, meets the change.
//! 2. From there the new text is lexed and split into items, a little further than the old items that the change meets
//!    and several times as far each time that is not enough, until an item ends exactly where an old item ended, behind the change, without
//!    having looked at the end of what was lexed. Everything after is as it was.
//! 3. Old and new items that stand in each other's place keep their ids. The rest leave and enter; names are
//!    relinked; lengths change on the path to the root.
//!
//! If the region itself would end elsewhere, or no longer be one, its op is the run, in the region around. If that goes on to
//! the top, everything is parsed anew: the one fallback.
//!
//! *Laws* (property tests): the IR after any edits equals that of the text parsed anew, problems included; every range slices to
//! the text that it names.

use std::ops::Range;

use ropey::Rope;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::build::{Elided, Run, Work};
use crate::ir::OpData;
use crate::lex::{lex, lex_part};
use crate::link::Names;
use crate::seq;
use crate::skeleton::{
    Context, Shape, Stop, brace_opens_region, ends_before, skeleton, surely_region,
};
use crate::verify::type_problems;
use crate::{Form, Interner, Ir, Op, OpKind, Problem, Region, Span, T, Token, dialect};

/// Text and IR of a document. The IR is always that of the text.
#[derive(Debug)]
pub struct Source {
    rope: Rope,
    ir: Ir,
    /// What is wrong with the types of ops that are well-formed by themselves.
    type_problems: FxHashMap<Op, Vec<Problem>>,
}

/// What an edit changed, for whoever keeps facts beside the IR.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Delta {
    /// Everything was parsed anew: no id means what it meant.
    pub all: bool,
    /// Ops (and labels) that are new, were written anew, or whose operands or successors now mean something else; in no
    /// particular order, each once, all alive. An id that was removed may be among them: it is a new op.
    pub changed: Vec<Op>,
    /// Ops that left.
    pub removed: Vec<Op>,
    /// Items that were parsed.
    pub n_parsed: usize,
    /// Uses that were resolved.
    pub n_linked: usize,
    /// The bytes of the new text that were lexed.
    pub lexed: Range<usize>,
}

impl Source {
    /// Reads a text of less than 4 GiB.
    pub fn new(text: &str) -> Self {
        let mut it = Self {
            rope: Rope::from_str(text),
            ir: parse(text),
            type_problems: FxHashMap::default(),
        };
        it.check_all_types();
        it
    }

    /// The text.
    pub fn text(&self) -> &Rope {
        &self.rope
    }

    /// What the text says.
    pub fn ir(&self) -> &Ir {
        &self.ir
    }

    /// The bytes of a range of the text.
    pub fn slice(&self, range: Range<usize>) -> String {
        self.rope.byte_slice(range).to_string()
    }

    /// The text of a span of an op.
    pub fn span_text(&self, op: Op, span: Span) -> String {
        self.slice(self.ir.absolute(op, span))
    }

    /// Everything that is wrong with the text, in textual order: the op, the range in bytes, the problem.
    pub fn problems(&self) -> Vec<(Op, Range<usize>, Problem)> {
        let ir = &self.ir;
        let mut out = Vec::new();
        let mentioned = self.mentioned_by_broken();
        for op in ir.suspects() {
            let start = ir.start(op);
            for problem in ir.problems_of(op) {
                let range = ir.absolute_at(op, start, problem.span);
                let undefined = matches!(problem.code, "undefined-value" | "undefined-block");
                if undefined && self.may_be_defined(op, &range, &mentioned) {
                    continue;
                }
                out.push((op, range, problem));
            }
        }
        for (op, problem) in ir.redefinitions() {
            out.push((op, ir.absolute(op, problem.span), problem));
        }
        #[allow(clippy::iter_over_hash_type, reason = "sorted below")]
        for (&op, problems) in &self.type_problems {
            if ir.is_judged(op) {
                let start = ir.start(op);
                let placed = |it: &Problem| (op, ir.absolute_at(op, start, it.span), it.clone());
                out.extend(problems.iter().map(placed));
            }
        }
        // Of problems that say the same in the same place (two regions that end with the text) the outermost op's stays.
        let key =
            |it: &(Op, Range<usize>, Problem)| (it.1.start, it.1.end, it.2.category, it.2.code);
        out.sort_by(|a, b| {
            let text = || a.2.message.cmp(&b.2.message);
            key(a).cmp(&key(b)).then_with(text).then_with(|| ir.start(a.0).cmp(&ir.start(b.0)))
        });
        out.dedup_by(|b, a| key(a) == key(b) && a.2.message == b.2.message);
        out
    }

    /// Whether broken syntax may hide the definition of a name: a broken item mentions it, the region that uses it has no
    /// end, or it is defined where only a bracket gone astray can have put it.
    fn may_be_defined(&self, op: Op, name: &Range<usize>, broken: &FxHashSet<String>) -> bool {
        if broken.is_empty() {
            return false;
        }
        let text = self.slice(name.clone());
        if broken.contains(&text) || self.ir.is_defined_elsewhere(&text) {
            return true;
        }
        let mut region = self.ir.op(op).parent;
        loop {
            let data = self.ir.region(region);
            match data.parent {
                Some(parent) if data.closed => region = self.ir.op(parent).parent,
                _ => return !data.closed,
            }
        }
    }

    /// The `%value`s and `^label`s in the text of items with a syntax problem, and of each such item its name.
    fn mentioned_by_broken(&self) -> FxHashSet<String> {
        let ir = &self.ir;
        let mut out = FxHashSet::default();
        let syntax = |it: &Problem| it.category == crate::Category::Syntax;
        for op in ir.suspects().filter(|&op| ir.rest(op).problems.iter().any(syntax)) {
            let head = ir.head_range(op);
            let text = self.slice(head.start..head.end.min(head.start + MENTIONS_BYTES));
            out.insert(ir.op_name(op).to_owned());
            for token in lex_part(&text, false).tokens {
                if matches!(token.kind, T::Percent | T::Caret) {
                    out.insert(text[token.range()].to_owned());
                }
            }
        }
        out
    }

    /// Replaces a range of bytes. The range must lie on character boundaries within the text.
    ///
    /// # Panics
    /// If it does not.
    pub fn edit(&mut self, range: Range<usize>, text: &str) -> Delta {
        let from = self.rope.byte_to_char(range.start);
        let to = self.rope.byte_to_char(range.end);
        self.rope.remove(from..to);
        self.rope.insert(from, text);
        let change =
            Change { start: range.start, old_end: range.end, new_end: range.start + text.len() };
        match self.reparse(change) {
            Some(delta) => {
                for op in &delta.removed {
                    self.type_problems.remove(op);
                }
                for &op in &delta.changed {
                    self.check_types(op);
                }
                delta
            }
            None => {
                let text = self.rope.to_string();
                self.ir = parse(&text);
                self.check_all_types();
                let mut changed = Vec::new();
                self.ir.walk(self.ir.root, &mut |op| changed.push(op));
                let n_parsed = self.ir.ops.len();
                Delta { all: true, changed, n_parsed, lexed: 0..text.len(), ..Delta::default() }
            }
        }
    }

    fn check_types(&mut self, op: Op) {
        let problems = type_problems(&self.ir, op);
        if problems.is_empty() {
            self.type_problems.remove(&op);
        } else {
            self.type_problems.insert(op, problems);
        }
    }

    fn check_all_types(&mut self) {
        self.type_problems.clear();
        let mut ops = Vec::new();
        self.ir.walk(self.ir.root, &mut |op| ops.push(op));
        for op in ops {
            self.check_types(op);
        }
    }

    /// Reparses around a change of the rope; `None` if everything has to be.
    fn reparse(&mut self, change: Change) -> Option<Delta> {
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
        let Some((op, at)) = seq::find(ir, region, change.start - base) else {
            let Some(last) = seq::last(ir, region) else { return (None, base) };
            // In the tail.
            let start = base + seq::offset(ir, last);
            return match self.met_before(last, start, change, context, spared) {
                Some(start) => self.widen(last, start, change, context, spared),
                None => (None, 0),
            };
        };
        let start = base + at;
        // `find` gives the last item for a change in the tail or at the very end.
        if start + ir.len(op) < change.start {
            match self.met_before(op, start, change, context, spared) {
                Some(_) => return self.widen(op, start, change, context, spared),
                None => return (None, 0),
            }
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
            if self.met_before(prev, at_start, change, context, spared).is_some() {
                (op, start) = (prev, at_start);
            }
        }
        (Some(op), start)
    }

    /// Whether an item before the change looked at it to find its own end; then where the item starts. An op that need not
    /// be read again although it did goes to `spared`, with its new reach.
    fn met_before(
        &self,
        op: Op,
        start: usize,
        change: Change,
        context: Context,
        spared: &mut Vec<(Op, u32)>,
    ) -> Option<usize> {
        let data = self.ir.op(op);
        let end = start + self.ir.len(op);
        if change.start > end + data.reach as usize {
            return None;
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
                return None;
            }
        }
        Some(start)
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
                return dialect::default_dialect_of(self.ir.interner.str(data.name));
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

    /// Puts a run in the place of `n_old` items from the place's first on, and `tail` behind them if it reaches the end of the
    /// region. `None`, and nothing is touched, if it cannot.
    fn replace(
        &mut self,
        run: Run<'_>,
        place: &Place,
        n_old: usize,
        tail: Option<u32>,
    ) -> Option<Delta> {
        let ir = &mut self.ir;
        let region = place.region;
        let old_len = ir.region_len(region);
        let olds: Vec<Op> = match seq::nth(ir, region, place.rank) {
            Some(op) => ir.items_from(op).take(n_old).collect(),
            None => Vec::new(),
        };
        // Aliases concern the whole chunk.
        let is_alias = |kind| matches!(kind, OpKind::TypeAlias | OpKind::AttrAlias);
        let defines = |shape| matches!(shape, Shape::TypeAlias | Shape::AttrAlias);
        if olds.iter().any(|&op| is_alias(ir.op(op).kind))
            || run.skeleton.items.iter().any(|it| defines(it.shape))
        {
            return None;
        }
        let roots = &run.skeleton.roots;
        let mut work = Work::default();
        // Items that keep their place: from the front, then from the back.
        let shared = roots.len().min(olds.len());
        let mut front = 0;
        while front < shared && ir.is_alike(run, roots[front], olds[front]) {
            front += 1;
        }
        let mut back = 0;
        while front + back < shared
            && ir.is_alike(run, roots[roots.len() - 1 - back], olds[olds.len() - 1 - back])
        {
            back += 1;
        }
        let leaving = &olds[front..olds.len() - back];
        if run.elided.iter().any(|it| leaving.contains(&it.op)) {
            return None;
        }
        // The grammar of the op around may ask whether its region is empty or starts with a label.
        if place.rank == 0 && !place.is_chunk {
            let before = olds.first().map(|&op| ir.op(op).kind == OpKind::Label);
            let behind = || seq::nth(ir, region, n_old).map(|op| ir.op(op).kind == OpKind::Label);
            let after = match roots.first() {
                Some(&root) => Some(run.item(root).shape == Shape::Label),
                None => behind(),
            };
            if before != after {
                return None;
            }
        }
        // Nothing was touched yet: from here on, nothing fails.
        // Ids are used again at once: what leaves must be out of the sequence first.
        seq::splice(ir, region, place.rank + front, leaving.len(), &[]);
        for &op in leaving {
            ir.remove(op, &mut work);
        }
        for n in 0..front {
            ir.lower_again(run, roots[n], olds[n], &mut work);
        }
        let n_again = work.fresh.len();
        let mut items: Vec<(Op, u32)> = Vec::with_capacity(roots.len());
        for (n, &root) in roots.iter().enumerate() {
            if n < front {
                items.push((olds[n], run.len(root)));
            } else if n < roots.len() - back {
                items.push(ir.lower(run, root, region, &mut work));
            } else {
                items.push((olds[olds.len() - (roots.len() - n)], run.len(root)));
            }
        }
        let n_new = work.fresh.len();
        seq::splice(ir, region, place.rank, front + back, &items);
        for n in 0..back {
            let new = roots.len() - back + n;
            ir.lower_again(run, roots[new], olds[olds.len() - back + n], &mut work);
        }
        if let Some(tail) = tail {
            ir.regions[region.index()].tail = tail;
        }
        ir.stretch(region, old_len);
        for n in n_again..n_new {
            ir.add_defs(work.fresh[n], &mut work);
        }
        for n in (0..n_again).chain(n_new..work.fresh.len()) {
            ir.add_symbols(work.fresh[n]);
        }
        let n_parsed = work.fresh.len();
        let (changed, n_linked) = relink(ir, &mut work);
        let mut removed = std::mem::take(&mut work.removed);
        removed.retain(|&op| !ir.is_alive(op));
        Some(Delta { changed, removed, n_parsed, n_linked, ..Delta::default() })
    }
}

impl Ir {
    /// After the contents of a region changed: tells the sequences around how its length did.
    fn stretch(&mut self, region: Region, old_len: usize) {
        let delta = self.region_len(region) as i64 - old_len as i64;
        if delta == 0 {
            return;
        }
        let mut at = region;
        while let Some(op) = self.region(at).parent {
            seq::grow(self, op, delta);
            at = self.op(op).parent;
        }
    }
}

/// How much text behind an op with a region is read to see that the op still ends there, in bytes.
const SPARE_BYTES: usize = 1024;

const TOP_DIALECT: Option<&'static str> = Some("builtin");

/// How much of a broken op is searched for names that it may have been meant to define, in bytes.
const MENTIONS_BYTES: usize = 1 << 16;

/// Regions of ops longer than this are left out when something beside them is read, in bytes.
const ELIDED_BYTES: usize = if cfg!(test) { 8 } else { 1024 };

/// Where a run stands.
struct Place {
    region: Region,
    /// The op that holds the region.
    parent: Op,
    is_chunk: bool,
    /// Where the region ends in the new text.
    end: usize,
    /// The first item to read again; `None`: what is read is behind the last one.
    first: Option<Op>,
    /// Where the run starts.
    start: usize,
    /// The rank of the first item.
    rank: usize,
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
struct Change {
    start: usize,
    old_end: usize,
    new_end: usize,
}

impl Change {
    /// Where a place behind the change is now.
    fn moved(self, old: usize) -> usize {
        old - self.old_end + self.new_end
    }
}

/// Links what is fresh and what lost or may have changed its meaning. Returns the ops concerned and how many uses were resolved.
fn relink(ir: &mut Ir, work: &mut Work) -> (Vec<Op>, usize) {
    let mut n_linked = 0;
    for &op in &work.fresh {
        ir.link(op);
        n_linked += ir.op(op).operands.len();
    }
    let mut seen: FxHashSet<Op> = work.fresh.iter().copied().collect();
    let mut changed: Vec<Op> = std::mem::take(&mut work.fresh);
    changed.dedup();
    let mut retry = std::mem::take(&mut work.retry);
    retry.sort_unstable();
    retry.dedup();
    for (op, index) in retry {
        let data = ir.op(op);
        if !data.alive || index as usize >= data.operands.len() {
            continue;
        }
        n_linked += 1;
        let before = data.operands[index as usize].value;
        ir.unlink_use((op, index));
        ir.link_use((op, index));
        // A value that left has been taken from its uses already.
        let value = ir.op(op).operands[index as usize].value;
        if (value != before || value.is_none()) && seen.insert(op) {
            changed.push(op);
        }
    }
    for value in std::mem::take(&mut work.retyped) {
        let users = ir.value(value).uses.iter().map(|it| it.0);
        changed.extend(users.filter(|&op| seen.insert(op)));
    }
    let mut retry = std::mem::take(&mut work.retry_successors);
    retry.sort_unstable();
    retry.dedup();
    for (op, index) in retry {
        if !ir.op(op).alive || index as usize >= ir.rest(op).successors.len() {
            continue;
        }
        n_linked += 1;
        ir.unlink_successor((op, index));
        ir.link_successor((op, index));
        if seen.insert(op) {
            changed.push(op);
        }
    }
    (changed, n_linked)
}

/// Parses a whole text.
fn parse(text: &str) -> Ir {
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
    ir
}

#[cfg(test)]
mod tests;
