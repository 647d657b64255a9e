//! Putting what was read again in the place of what stood there: ids are kept where they can be, names are relinked.

use rustc_hash::FxHashSet;

use super::reparse::Place;
use super::{Delta, Source};
use crate::build::{Run, Work};
use crate::link::Replaced;
use crate::skeleton::Shape;
use crate::{Ir, Op, OpKind, Region, seq};

impl Source {
    /// Puts a run in the place of `n_old` items from the place's first on, and `tail` behind them if it reaches the end of the
    /// region. `None`, and nothing is touched, if it cannot.
    pub(super) fn replace(
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
        ir.names.touched.run = Some(Replaced { region, rank: place.rank, n: roots.len() });
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
