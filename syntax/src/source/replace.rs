//! Replaces old items by reparsed ones. Keeps ids where possible, and links names again.

use ropey::Rope;
use rustc_hash::FxHashSet;

use crate::Delta;
use crate::ir::names::ReplacedItems;
use crate::ir::seq;
use crate::lowering::{LoweringInput, LoweringWork};
use crate::skeleton::{DEPENDS_ON_DIALECT, ItemShape, RegionPart};
use crate::{Form, Ir, Op, OpKind, Region};

/// The relation of an old op to the new item with which it is paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PairKind {
    /// The own text is unchanged; only the contents of the regions may differ.
    Unchanged,
    /// The own text is parsed again.
    Reparsed,
}

/// The replacement of old items by a parsed run.
pub(super) struct ItemReplacement<'a> {
    pub(super) ir: &'a mut Ir,
    /// The text before the change.
    old: &'a Rope,
    pub(super) run: LoweringInput<'a>,
    pub(super) work: LoweringWork,
    /// Items that are parsed again, each with its op and its chunk.
    reparsed: Vec<(u32, Op, Region)>,
    /// Ops that are removed together with their contents, except for kept items.
    pub(super) leaving_ops: Vec<Op>,
    /// Items that move to another region.
    moving_items: Vec<Op>,
    /// Other ops whose meaning may have changed.
    pub(super) changed: Vec<Op>,
    /// Number of ops that were parsed again.
    n_reparsed: usize,
    /// The ids of removed ops.
    freed: Vec<Op>,
    /// Regions with another first item than before.
    with_new_first_item: FxHashSet<Region>,
    /// The op that is parsed again although its text is unchanged.
    stale: Option<Op>,
}

impl<'a> ItemReplacement<'a> {
    pub(super) fn new(
        ir: &'a mut Ir,
        old: &'a Rope,
        run: LoweringInput<'a>,
        stale: Option<Op>,
    ) -> Self {
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
            reparsed: again,
            leaving_ops: leaving,
            moving_items: moving,
            changed,
            n_reparsed: n_again,
            freed,
            with_new_first_item: begun_anew,
            stale,
        }
    }

    /// The items from `first` up to `after` (exclusive) that are not kept.
    pub(super) fn items_not_kept_between(&self, first: Option<Op>, after: Option<Op>) -> Vec<Op> {
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

    /// Pairs parsed items with old ones that are unchanged or similar, and recursively the items
    /// inside them. Unpaired old items will be removed.
    pub(super) fn pair_items(&mut self, olds: &[Op], parts: &[RegionPart]) {
        let items: Vec<u32> = parts
            .iter()
            .filter_map(|part| match part {
                RegionPart::Item(index) => Some(*index),
                RegionPart::Kept(_) => None,
            })
            .collect();
        // First pairs unchanged items from both ends, then similar ones from both ends of the rest.
        let (mut from, mut to, mut to_old) = (0, items.len(), olds.len());
        for how in [PairKind::Unchanged, PairKind::Reparsed] {
            while from < to.min(to_old) && self.is_pair(how, items[from], olds[from]) {
                self.add_pair(how, items[from], olds[from]);
                from += 1;
            }
            while from < to.min(to_old) && self.is_pair(how, items[to - 1], olds[to_old - 1]) {
                (to, to_old) = (to - 1, to_old - 1);
                self.add_pair(how, items[to], olds[to_old]);
            }
        }
        self.leaving_ops.extend(&olds[from..to_old]);
    }

    fn is_pair(&mut self, how: PairKind, item: u32, op: Op) -> bool {
        match how {
            PairKind::Unchanged => self.stale != Some(op) && self.is_same(item, op),
            PairKind::Reparsed => {
                self.keeps_arguments(item, op) && self.ir.is_similar(self.run, item, op)
            }
        }
    }

    /// Returns true if the op is not opaque, or if all its regions start with labels, before and
    /// after the edit. Then the header does not define their arguments.
    fn keeps_arguments(&self, item: u32, op: Op) -> bool {
        let data = self.ir.op(op);
        data.form != Form::Opaque
            || self.run.item(item).regions.iter().zip(&data.regions).all(|(inner, it)| {
                self.starts_with_label(&inner.parts) == Some(true)
                    && self.old_starts_with_label(it.1) == Some(true)
            })
    }

    fn add_pair(&mut self, how: PairKind, index: u32, op: Op) {
        let item = self.run.item(index);
        self.work.pairs[index as usize] = Some(op);
        match how {
            PairKind::Unchanged => {
                let data = &mut self.ir.ops[op.index()];
                data.lookahead = item.lookahead;
                // Only the grammar finds this dependence. It would find the same one again.
                data.context_deps = item.context_deps | (data.context_deps & DEPENDS_ON_DIALECT);
            }
            PairKind::Reparsed => self.reparsed.push((index, op, self.run.chunk)),
        }
        for (n, inner) in item.regions.iter().enumerate() {
            let region = self.ir.op(op).regions[n].1;
            if self.ir.region(region).is_closed != inner.is_closed {
                self.ir.names.touched.signature_changed.push(op);
            }
            self.pair_inside(region, &inner.parts);
        }
    }

    /// Pairs the contents of a region.
    pub(super) fn pair_inside(&mut self, region: Region, parts: &[RegionPart]) {
        self.record_region_start(region, self.starts_with_label(parts) == Some(true));
        let olds = self.ir.items_not_kept(region, &self.work.kept);
        self.pair_items(&olds, parts);
        let first = parts.first().and_then(|part| match *part {
            RegionPart::Item(index) => self.work.pairs[index as usize],
            RegionPart::Kept(index) => Some(self.run.skeleton.kept[index as usize].first),
        });
        if first != seq::first(self.ir, region) {
            self.with_new_first_item.insert(region);
        }
    }

    /// Records a change of control flow if a label at the start of a region is added or removed:
    /// that label determines if the region has a block before it.
    pub(super) fn record_region_start(&mut self, region: Region, is_label: bool) {
        // The top level has no blocks.
        let is_chunk = self.ir.is_chunk_region(region);
        if !is_chunk && is_label != (self.old_starts_with_label(region) == Some(true)) {
            self.ir.names.touched.control_flow.push((region, None));
        }
    }

    /// Returns true if an item equals an old op except for the contents of its regions: the same
    /// own text in the same context.
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
                && inner.is_closed == self.ir.region(region).is_closed
                && self.starts_with_label(&inner.parts) == self.old_starts_with_label(region);
            if !is_same {
                return false;
            }
            (new, own, old) = (inner.close, to, old + len + self.ir.region_len(region));
        }
        let len = (data.own_len - own) as usize;
        if self.old.byte_slice(old..old + len) != text[new as usize..item.end as usize] {
            return false;
        }
        // Junk at the very start of a file is reported at another position.
        let is_first = self.run.is_at_file_start && item.start == 0;
        let depends = (item.context_deps | data.context_deps) & DEPENDS_ON_DIALECT != 0;
        is_first == (self.ir.start(op) == 0)
            && (!depends || item.default_dialect == self.ir.default_dialect(data.parent))
    }

    /// True if the parts start with a label; `None` if there are no parts.
    fn starts_with_label(&self, parts: &[RegionPart]) -> Option<bool> {
        parts.first().map(|part| match *part {
            RegionPart::Item(index) => self.run.item(index).shape == ItemShape::Label,
            RegionPart::Kept(index) => {
                self.ir.op(self.run.skeleton.kept[index as usize].first).kind == OpKind::Label
            }
        })
    }

    fn old_starts_with_label(&self, region: Region) -> Option<bool> {
        seq::first(self.ir, region).map(|op| self.ir.op(op).kind == OpKind::Label)
    }

    /// Collects the kept items that move to another region. `to` is the region that `parts` will be
    /// in; `None` if it is new.
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

    /// Called after all items are paired. Parses the items that must be parsed again, removes the
    /// names of leaving and moving items from the tables, and cuts kept items out of their
    /// sequences. Until then, the old sequences are complete.
    pub(super) fn release_old_items(&mut self, targets: &[(Option<Region>, &[RegionPart])]) {
        let mut moves = Vec::new();
        for &(region, parts) in targets {
            self.find_moves(parts, region, &mut moves);
        }
        for (index, op, chunk) in std::mem::take(&mut self.reparsed) {
            let run = LoweringInput { chunk, ..self.run };
            self.ir.relower(run, index, op, &mut self.work);
        }
        self.n_reparsed = self.work.new_or_changed.len();
        for (index, to) in moves {
            let kept = self.run.skeleton.kept[index as usize];
            self.changed.extend(self.ir.region(kept.region).parent);
            self.changed.extend(to.and_then(|it| self.ir.region(it).parent));
            let items = self.ir.items_from(kept.first).take(kept.n);
            self.moving_items.extend(items);
        }
        for n in 0..self.moving_items.len() {
            self.ir.remove_moved_names(self.moving_items[n], &mut self.work);
        }
        let n_free = self.ir.free_ops.len();
        for op in std::mem::take(&mut self.leaving_ops) {
            self.ir.remove(op, &mut self.work);
        }
        // An id is not reused within an edit.
        self.freed = self.ir.free_ops.split_off(n_free);
        for kept in &self.run.skeleton.kept {
            let from = self.ir.rank(kept.first);
            let tree = seq::cut(self.ir, kept.region, from, kept.n);
            self.work.trees.push(tree);
        }
        // All other contents of old ops were paired or removed.
        for n in 0..self.work.pairs.len() {
            if let Some(op) = self.work.pairs[n] {
                for index in 0..self.ir.op(op).regions.len() {
                    let region = self.ir.op(op).regions[index].1;
                    seq::fill(self.ir, region, &[]);
                }
            }
        }
    }

    /// Records the stretches of replaced items in a region, from index `rank` on, and in paired ops
    /// inside it.
    pub(super) fn record_replaced_items(
        &mut self,
        region: Region,
        mut rank: usize,
        parts: &[RegionPart],
    ) {
        let mut run = ReplacedItems { region, rank, n_items: 0 };
        let mut runs = Vec::new();
        for &part in parts {
            let (n, stays) = match part {
                RegionPart::Item(index) => {
                    let op = self.work.pairs[index as usize];
                    for (n, inner) in self.run.item(index).regions.iter().enumerate() {
                        if let Some(op) = op {
                            let inside = self.ir.op(op).regions[n].1;
                            self.record_replaced_items(inside, 0, &inner.parts);
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
                run = ReplacedItems { region, rank, n_items: 0 };
            } else {
                run.n_items += n;
            }
        }
        runs.push(run);
        // If the first item of the region is the same as before the edit, nothing was added or
        // removed in front of it.
        let anew = parts.is_empty() || self.with_new_first_item.contains(&region);
        runs.retain(|it| it.n_items > 0 || it.rank > 0 || anew);
        self.ir.names.touched.runs.extend(runs);
    }

    /// Called after all sequences are complete again. Enters the names of new items in the tables
    /// and links them.
    pub(super) fn finish(self) -> Delta {
        let Self {
            ir,
            mut work,
            moving_items: moving,
            mut changed,
            n_reparsed: n_again,
            freed,
            run,
            ..
        } = self;
        let n_parsed = work.new_or_changed.len();
        for value in std::mem::take(&mut work.values_to_define) {
            ir.define(value, &mut work.uses_to_resolve);
        }
        for n in 0..n_parsed {
            let op = work.new_or_changed[n];
            if n < n_again {
                ir.add_symbols_and_aliases(op);
            } else {
                ir.add_defs(op, &mut work);
            }
        }
        for &op in &moving {
            ir.add_moved_names(op, &mut work);
        }
        for op in moving {
            ir.retry_uses_inside(op, &mut work, &mut changed);
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
    /// Updates the sums of all regions that enclose a region whose contents changed.
    pub(super) fn update_enclosing_sums(&mut self, region: Region) {
        let mut at = region;
        while let Some(op) = self.region(at).parent {
            let len = self.item_len(op) as u32;
            seq::update_sums(self, op, len);
            at = self.op(op).parent;
        }
    }

    /// Processes an item that moved here from another region. The names that are used in it may
    /// have other definitions now, and the names that it defines may also be defined around it.
    fn retry_uses_inside(&mut self, op: Op, work: &mut LoweringWork, changed: &mut Vec<Op>) {
        changed.push(op);
        for index in 0..self.op(op).operands.len() {
            work.uses_to_resolve.push((op, index as u32));
        }
        for index in 0..self.op(op).regions.len() {
            let region = self.op(op).regions[index].1;
            self.note_shadows(region);
            for item in self.items(region).collect::<Vec<_>>() {
                self.retry_uses_inside(item, work, changed);
            }
        }
    }
}

/// Links new ops, and resolves the uses again whose definition may have changed. Returns the number
/// of resolved uses, and adds their ops to `changed`.
fn relink(ir: &mut Ir, work: &mut LoweringWork, changed: &mut Vec<Op>) -> usize {
    let mut n_linked = 0;
    for &op in &work.new_or_changed {
        ir.link(op);
        n_linked += ir.op(op).operands.len();
    }
    changed.append(&mut work.new_or_changed);
    let mut seen = FxHashSet::default();
    changed.retain(|&op| ir.is_alive(op) && seen.insert(op));
    let mut retry = std::mem::take(&mut work.uses_to_resolve);
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
        // A removed value was already removed from its uses.
        let value = ir.op(op).operands[index as usize].value;
        if (value != before || value.is_none()) && seen.insert(op) {
            changed.push(op);
        }
    }
    for value in std::mem::take(&mut work.retyped) {
        let users = ir.value(value).uses.iter().map(|it| it.0);
        changed.extend(users.filter(|&op| seen.insert(op)));
    }
    let mut retry = std::mem::take(&mut work.successors_to_resolve);
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
