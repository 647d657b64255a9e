//! Replacement of old items by reparsed ones: ids are kept where possible, names are relinked.

use ropey::Rope;
use rustc_hash::FxHashSet;

use crate::Delta;
use crate::ir::names::Replaced;
use crate::ir::seq;
use crate::lowering::{LoweringWork, Run};
use crate::skeleton::{DIALECT, RegionPart, Shape};
use crate::{Form, Ir, Op, OpKind, Region};

/// The way in which an old op becomes a new item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// It is the same: only its contents may differ.
    Same,
    /// It is parsed again.
    Again,
}

/// A run on its way into the IR.
pub(super) struct Graft<'a> {
    pub(super) ir: &'a mut Ir,
    /// The text before the change.
    old: &'a Rope,
    pub(super) run: Run<'a>,
    pub(super) work: LoweringWork,
    /// Items that are parsed again, with the op and the chunk of each.
    again: Vec<(u32, Op, Region)>,
    /// Ops that leave, with all they hold that is not taken over.
    pub(super) leaving: Vec<Op>,
    /// Items that go from one region to another.
    moving: Vec<Op>,
    /// Other ops whose meaning may differ.
    pub(super) changed: Vec<Op>,
    /// Number of ops that were parsed again.
    n_again: usize,
    /// The ids of ops that left.
    freed: Vec<Op>,
    /// Regions whose first item is a different one now.
    begun_anew: FxHashSet<Region>,
    /// The op that is read again though its text is the same.
    stale: Option<Op>,
}

impl<'a> Graft<'a> {
    pub(super) fn new(ir: &'a mut Ir, old: &'a Rope, run: Run<'a>, stale: Option<Op>) -> Self {
        let kept = run.skeleton.kept.iter().map(|it| (it.first, it.n)).collect();
        let pairs = vec![None; run.skeleton.items.len()];
        let mut work = LoweringWork::default();
        (work.kept, work.pairs) = (kept, pairs);
        let (again, leaving, moving, changed, freed, begun_anew) = Default::default();
        let n_again = 0;
        Self {
            ir,
            old,
            run,
            work,
            again,
            leaving,
            moving,
            changed,
            n_again,
            freed,
            begun_anew,
            stale,
        }
    }

    /// The items from one on up to another that are not taken over.
    pub(super) fn items(&self, first: Option<Op>, after: Option<Op>) -> Vec<Op> {
        let mut out = Vec::new();
        let mut at = first;
        while at.is_some()
            && at != after
            && let Some(op) = at
        {
            at = match self.work.kept.get(&op) {
                Some(n) => seq::nth(self.ir, self.ir.op(op).parent, self.ir.rank(op) + n),
                None => {
                    out.push(op);
                    self.ir.next(op)
                }
            };
        }
        out
    }

    /// Finds for items that were read the old ones that they are, or that they stand in the place
    /// of, and so on inside of these. The old ones that are left will be removed.
    pub(super) fn pair(&mut self, olds: &[Op], parts: &[RegionPart]) {
        let items: Vec<u32> = parts
            .iter()
            .filter_map(|part| match part {
                RegionPart::Item(index) => Some(*index),
                RegionPart::Kept(_) => None,
            })
            .collect();
        // From both ends, those that are the same; then from both ends of the rest, those that are
        // alike.
        let (mut from, mut to, mut to_old) = (0, items.len(), olds.len());
        for how in [How::Same, How::Again] {
            while from < to.min(to_old) && self.is(how, items[from], olds[from]) {
                self.enter(how, items[from], olds[from]);
                from += 1;
            }
            while from < to.min(to_old) && self.is(how, items[to - 1], olds[to_old - 1]) {
                (to, to_old) = (to - 1, to_old - 1);
                self.enter(how, items[to], olds[to_old]);
            }
        }
        self.leaving.extend(&olds[from..to_old]);
    }

    fn is(&mut self, how: How, item: u32, op: Op) -> bool {
        match how {
            How::Same => self.stale != Some(op) && self.is_same(item, op),
            How::Again => self.keeps_arguments(item, op) && self.ir.is_alike(self.run, item, op),
        }
    }

    /// Returns true if labels name the arguments of the regions of ops that are not understood, and
    /// not their headers, before and now.
    fn keeps_arguments(&self, item: u32, op: Op) -> bool {
        let data = self.ir.op(op);
        data.form != Form::Opaque
            || self.run.item(item).regions.iter().zip(&data.regions).all(|(inner, it)| {
                self.starts_with(&inner.parts) == Some(true)
                    && self.old_starts_with(it.1) == Some(true)
            })
    }

    fn enter(&mut self, how: How, index: u32, op: Op) {
        let item = self.run.item(index);
        self.work.pairs[index as usize] = Some(op);
        match how {
            How::Same => {
                let data = &mut self.ir.ops[op.index()];
                data.lookahead = item.lookahead;
                // The grammar would ask for the same again.
                data.context_deps = item.context_deps | (data.context_deps & DIALECT);
            }
            How::Again => self.again.push((index, op, self.run.chunk)),
        }
        for (n, inner) in item.regions.iter().enumerate() {
            let region = self.ir.op(op).regions[n].1;
            if self.ir.region(region).closed != inner.closed {
                self.ir.names.touched.signature_changed.push(op);
            }
            self.pair_inside(region, &inner.parts);
        }
    }

    /// Pairs all that a region holds.
    pub(super) fn pair_inside(&mut self, region: Region, parts: &[RegionPart]) {
        self.note_start(region, self.starts_with(parts) == Some(true));
        let olds = self.ir.not_kept(region, &self.work.kept);
        self.pair(&olds, parts);
        let first = parts.first().and_then(|part| match *part {
            RegionPart::Item(index) => self.work.pairs[index as usize],
            RegionPart::Kept(index) => Some(self.run.skeleton.kept[index as usize].first),
        });
        if first != seq::first(self.ir, region) {
            self.begun_anew.insert(region);
        }
    }

    /// A label at the start of a region decides if the region has a block before it.
    pub(super) fn note_start(&mut self, region: Region, is_label: bool) {
        // At the top level there are no blocks.
        let is_chunk = self.ir.is_chunk_region(region);
        if !is_chunk && is_label != (self.old_starts_with(region) == Some(true)) {
            self.ir.names.touched.flows.push((region, None));
        }
    }

    /// Returns true if an item is an old op that changed only inside its regions: the same own
    /// text, read the same way.
    fn is_same(&self, index: u32, op: Op) -> bool {
        let (item, data) = (self.run.item(index), self.ir.op(op));
        let cut: u32 = item.regions.iter().map(|it| it.close - it.open).sum();
        if item.end - item.start - cut != data.own_len || item.regions.len() != data.regions.len() {
            return false;
        }
        let text = self.run.stream.text();
        let (mut new, mut own, mut old) = (item.start, 0, self.ir.start(op));
        for (inner, &(to, region)) in item.regions.iter().zip(&data.regions) {
            let len = (to - own) as usize;
            let is_same = inner.open - new == to - own
                && self.old.byte_slice(old..old + len) == text[new as usize..inner.open as usize]
                && inner.closed == self.ir.region(region).closed
                && self.starts_with(&inner.parts) == self.old_starts_with(region);
            if !is_same {
                return false;
            }
            (new, own, old) = (inner.close, to, old + len + self.ir.region_len(region));
        }
        let len = (data.own_len - own) as usize;
        if self.old.byte_slice(old..old + len) != text[new as usize..item.end as usize] {
            return false;
        }
        // At the very start of a file junk is reported at another place.
        let is_first = self.run.at_file_start && item.start == 0;
        let depends = (item.context_deps | data.context_deps) & DIALECT != 0;
        is_first == (self.ir.start(op) == 0)
            && (!depends || item.default_dialect == self.ir.default_dialect(data.parent))
    }

    /// The start of a region: nothing, a label, or something else.
    fn starts_with(&self, parts: &[RegionPart]) -> Option<bool> {
        parts.first().map(|part| match *part {
            RegionPart::Item(index) => self.run.item(index).shape == Shape::Label,
            RegionPart::Kept(index) => {
                self.ir.op(self.run.skeleton.kept[index as usize].first).kind == OpKind::Label
            }
        })
    }

    fn old_starts_with(&self, region: Region) -> Option<bool> {
        seq::first(self.ir, region).map(|op| self.ir.op(op).kind == OpKind::Label)
    }

    /// Finds the items that move, given the old region of each list of parts.
    fn find_moves(
        &self,
        parts: &[RegionPart],
        to: Option<Region>,
        moves: &mut Vec<(u32, Option<Region>)>,
    ) {
        for &part in parts {
            match part {
                RegionPart::Kept(index) => {
                    if Some(self.run.skeleton.kept[index as usize].region) != to {
                        moves.push((index, to));
                    }
                }
                RegionPart::Item(index) => {
                    let op = self.work.pairs[index as usize];
                    for (n, inner) in self.run.item(index).regions.iter().enumerate() {
                        let to = op.map(|op| self.ir.op(op).regions[n].1);
                        self.find_moves(&inner.parts, to, moves);
                    }
                }
            }
        }
    }

    /// Once all items are paired: parses some of them anew, removes items that leave or move from
    /// the tables of names, and cuts items that are taken over out of their sequences. The old
    /// sequences are whole until then.
    pub(super) fn release(&mut self, targets: &[(Option<Region>, &[RegionPart])]) {
        let mut moves = Vec::new();
        for &(region, parts) in targets {
            self.find_moves(parts, region, &mut moves);
        }
        for (index, op, chunk) in std::mem::take(&mut self.again) {
            let run = Run { chunk, ..self.run };
            self.ir.lower_again(run, index, op, &mut self.work);
        }
        self.n_again = self.work.fresh.len();
        for (index, to) in moves {
            let kept = self.run.skeleton.kept[index as usize];
            self.changed.extend(self.ir.region(kept.region).parent);
            self.changed.extend(to.and_then(|it| self.ir.region(it).parent));
            let items = self.ir.items_from(kept.first).take(kept.n);
            self.moving.extend(items);
        }
        for n in 0..self.moving.len() {
            self.ir.unplace(self.moving[n], &mut self.work);
        }
        let n_free = self.ir.free_ops.len();
        for op in std::mem::take(&mut self.leaving) {
            self.ir.remove(op, &mut self.work);
        }
        // Within one edit an id means one op.
        self.freed = self.ir.free_ops.split_off(n_free);
        for kept in &self.run.skeleton.kept {
            let from = self.ir.rank(kept.first);
            let tree = seq::cut(self.ir, kept.region, from, kept.n);
            self.work.trees.push(tree);
        }
        // Content of old ops that is not taken over was paired or removed.
        for n in 0..self.work.pairs.len() {
            if let Some(op) = self.work.pairs[n] {
                for index in 0..self.ir.op(op).regions.len() {
                    let region = self.ir.op(op).regions[index].1;
                    seq::fill(self.ir, region, &[]);
                }
            }
        }
    }

    /// Notes where in a region, from number `rank` on, items are next to each other that were not
    /// before.
    pub(super) fn note_runs(&mut self, region: Region, mut rank: usize, parts: &[RegionPart]) {
        let mut run = Replaced { region, rank, n: 0 };
        let mut runs = Vec::new();
        for &part in parts {
            let (n, stays) = match part {
                RegionPart::Item(index) => {
                    let op = self.work.pairs[index as usize];
                    for (n, inner) in self.run.item(index).regions.iter().enumerate() {
                        if let Some(op) = op {
                            let inside = self.ir.op(op).regions[n].1;
                            self.note_runs(inside, 0, &inner.parts);
                        }
                    }
                    (1, op.is_some())
                }
                RegionPart::Kept(index) => {
                    let kept = &self.run.skeleton.kept[index as usize];
                    (kept.n, kept.region == region)
                }
            };
            rank += n;
            if stays {
                runs.push(run);
                run = Replaced { region, rank, n: 0 };
            } else {
                run.n += n;
            }
        }
        runs.push(run);
        // Nothing came or went before the first item if it was the first.
        let anew = parts.is_empty() || self.begun_anew.contains(&region);
        runs.retain(|it| it.n > 0 || it.rank > 0 || anew);
        self.ir.names.touched.runs.extend(runs);
    }

    /// With all sequences whole again: enters new items in the tables of names, and links them.
    pub(super) fn finish(self) -> Delta {
        let Self { ir, mut work, moving, mut changed, n_again, freed, run, .. } = self;
        let n_parsed = work.fresh.len();
        for value in std::mem::take(&mut work.defines) {
            ir.define(value, &mut work.retry);
        }
        for n in 0..n_parsed {
            let op = work.fresh[n];
            if n < n_again {
                ir.add_mentions(op);
            } else {
                ir.add_defs(op, &mut work);
            }
        }
        for &op in &moving {
            ir.place(op, &mut work);
        }
        for op in moving {
            ir.retry_inside(op, &mut work, &mut changed);
            for &value in &ir.op(op).results {
                changed.extend(ir.value(value).uses.iter().map(|it| it.0));
            }
        }
        let n_linked = relink(ir, &mut work, &mut changed);
        let removed = std::mem::take(&mut work.removed);
        let n_read = run.stream.n_read();
        Delta { changed, removed, freed, n_parsed, n_linked, n_read, ..Delta::default() }
    }
}

impl Ir {
    /// Updates the sums of the regions around a region whose contents changed.
    pub(super) fn settle(&mut self, region: Region) {
        let mut at = region;
        while let Some(op) = self.region(at).parent {
            let len = self.len(op) as u32;
            seq::renew(self, op, len);
            at = self.op(op).parent;
        }
    }

    /// Handles an item that came from another region: names that it and the ops in it use may have
    /// other definitions, and names that they define may also be defined around it.
    fn retry_inside(&mut self, op: Op, work: &mut LoweringWork, changed: &mut Vec<Op>) {
        changed.push(op);
        for index in 0..self.op(op).operands.len() {
            work.retry.push((op, index as u32));
        }
        for index in 0..self.op(op).regions.len() {
            let region = self.op(op).regions[index].1;
            self.note_shadows(region);
            for item in self.items(region).collect::<Vec<_>>() {
                self.retry_inside(item, work, changed);
            }
        }
    }
}

/// Links new ops, and uses that lost their definition or may have another one. Returns the number
/// of resolved uses; the ops concerned are added to `changed`.
fn relink(ir: &mut Ir, work: &mut LoweringWork, changed: &mut Vec<Op>) -> usize {
    let mut n_linked = 0;
    for &op in &work.fresh {
        ir.link(op);
        n_linked += ir.op(op).operands.len();
    }
    changed.append(&mut work.fresh);
    let mut seen = FxHashSet::default();
    changed.retain(|&op| ir.is_alive(op) && seen.insert(op));
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
        if !ir.op(op).alive || index as usize >= ir.extra(op).successors.len() {
            continue;
        }
        n_linked += 1;
        ir.unlink_successor((op, index));
        ir.link_successor((op, index));
        if seen.insert(op) {
            changed.push(op);
        }
    }
    n_linked
}
