//! Walks over the items of a document, with the offset of each item. A walk can be suspended as
//! long as the document does not change.

use std::ops::Range;

use noisy_syntax::{Ir, Op, Region};

/// Number of items that a step of a job visits, in some microseconds.
pub(crate) const ITEMS_PER_STEP: usize = 64;

/// An item, its offset (including leading trivia), and its depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalkedItem {
    pub op: Op,
    /// Its first byte.
    pub start: usize,
    /// Number of ancestors; 0 for a chunk.
    pub depth: usize,
}

/// A walk in textual order, parents first. A step costs O(1).
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemWalk {
    /// Ancestors of the next item, each with the number of its region that contains the item.
    ancestors: Vec<(WalkedItem, usize)>,
    next: Option<WalkedItem>,
}

impl ItemWalk {
    /// A walk over all items.
    pub(crate) fn all(ir: &Ir) -> Self {
        let next = ir.items(ir.root()).next().map(|op| WalkedItem { op, start: 0, depth: 0 });
        Self { ancestors: Vec::new(), next }
    }

    /// Returns the ancestors of the innermost item at an offset, outermost first, and a walk that
    /// starts with this item.
    pub(crate) fn starting_at(ir: &Ir, offset: usize) -> (Vec<WalkedItem>, Self) {
        let Some(innermost) = ir.item_at(offset) else { return (Vec::new(), Self::default()) };
        let mut path = vec![innermost];
        while let Some(parent) = ir.parent_op(path[path.len() - 1]) {
            path.push(parent);
        }
        path.reverse();
        let item = |(depth, &op): (usize, &Op)| WalkedItem { op, start: ir.start(op), depth };
        let mut around: Vec<WalkedItem> = path.iter().enumerate().map(item).collect();
        let next = around.pop();
        let number = |(n, item): (usize, &WalkedItem)| {
            let inner = ir.op(path[n + 1]).parent;
            let of = ir.op(item.op).regions.iter().position(|&(_, it)| it == inner);
            (*item, of.unwrap_or_default())
        };
        let walk = Self { ancestors: around.iter().enumerate().map(number).collect(), next };
        (around, walk)
    }

    /// The next item. Inlined, so that the item stays in registers: a copy in memory took half of
    /// the time of all lenses.
    #[inline]
    pub(crate) fn next(&mut self, ir: &Ir) -> Option<WalkedItem> {
        let item = self.next?;
        #[cfg(test)]
        N_STEPS.with(|it| it.set(it.get() + 1));
        let data = ir.op(item.op);
        self.next = if data.regions.is_empty() {
            // The common case.
            self.after(ir, item, data.own_len as usize)
        } else {
            self.enter(ir, item, 0).or_else(|| self.leave(ir, item))
        };
        Some(item)
    }

    /// True if there is no next item.
    pub(crate) fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// Skips the contents of the last item.
    pub(crate) fn skip_contents(&mut self, ir: &Ir, last: WalkedItem) {
        while self.next.is_some_and(|it| it.depth > last.depth) {
            self.ancestors.truncate(last.depth);
            self.next = self.leave(ir, last);
        }
    }

    /// The first item inside an item, in its regions starting at number `from`.
    fn enter(&mut self, ir: &Ir, item: WalkedItem, from: usize) -> Option<WalkedItem> {
        let data = ir.op(item.op);
        let mut at = item.start;
        for (n, &(own, region)) in data.regions.iter().enumerate() {
            if n >= from
                && let Some(op) = ir.items(region).next()
            {
                self.ancestors.push((item, n));
                return Some(WalkedItem { op, start: at + own as usize, depth: item.depth + 1 });
            }
            at += ir.region_len(region);
        }
        None
    }

    /// The first item after an item.
    fn leave(&mut self, ir: &Ir, item: WalkedItem) -> Option<WalkedItem> {
        self.after(ir, item, ir.item_len(item.op))
    }

    /// The first item after an item of `len` bytes.
    fn after(&mut self, ir: &Ir, item: WalkedItem, len: usize) -> Option<WalkedItem> {
        Self::next_in_region(ir, item, len).or_else(|| self.next_after_region(ir))
    }

    /// The first item after the end of the current region.
    fn next_after_region(&mut self, ir: &Ir) -> Option<WalkedItem> {
        loop {
            let (around, region) = self.ancestors.pop()?;
            let next = self.enter(ir, around, region + 1);
            if let Some(next) =
                next.or_else(|| Self::next_in_region(ir, around, ir.item_len(around.op)))
            {
                return Some(next);
            }
        }
    }

    /// The next item of the same region, after an item of `len` bytes.
    fn next_in_region(ir: &Ir, item: WalkedItem, len: usize) -> Option<WalkedItem> {
        let op = ir.next(item.op)?;
        Some(WalkedItem { op, start: item.start + len, depth: item.depth })
    }
}

#[cfg(test)]
thread_local! {
    static N_STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Number of items visited so far on this thread.
#[cfg(test)]
pub(crate) fn n_steps() -> usize {
    N_STEPS.with(std::cell::Cell::get)
}

/// The inside of each region of an item, in bytes.
pub(crate) fn region_ranges(ir: &Ir, item: WalkedItem) -> Vec<(Region, Range<usize>)> {
    let mut at = item.start;
    let mut out = Vec::new();
    for &(own, region) in &ir.op(item.op).regions {
        let len = ir.region_len(region);
        let start = at + own as usize;
        out.push((region, start..start + len));
        at += len;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use noisy_syntax::Source;

    const TEXT: &str = "\
module {
  func.func @f(%c: i1) {
    scf.if %c {
      \"t.a\"() : () -> ()
    } else {
      \"t.b\"() : () -> ()
    }
    return
  }
}
// -----
\"t.c\"() ({}, {
  ^bb0:
  \"t.d\"() : () -> ()
}) : () -> ()
";

    fn recursive(ir: &Ir, region: Region, depth: usize, out: &mut Vec<WalkedItem>) {
        for op in ir.items(region) {
            out.push(WalkedItem { op, start: ir.start(op), depth });
            for &(_, inner) in &ir.op(op).regions {
                recursive(ir, inner, depth + 1, out);
            }
        }
    }

    #[test]
    fn agrees_with_recursion() {
        let source = Source::new(TEXT);
        let ir = source.ir();
        let mut wanted = Vec::new();
        recursive(ir, ir.root(), 0, &mut wanted);
        let mut walk = ItemWalk::all(ir);
        let found: Vec<_> = std::iter::from_fn(|| walk.next(ir)).collect();
        assert_eq!(found, wanted);
        for offset in 0..TEXT.len() {
            let (mut found, mut walk) = ItemWalk::starting_at(ir, offset);
            let n_around = found.len();
            found.extend(std::iter::from_fn(|| walk.next(ir)));
            let first = found[n_around];
            let at = wanted.iter().position(|it| *it == first).unwrap_or(usize::MAX);
            assert_eq!(found[n_around..], wanted[at..], "at {offset}");
            assert_eq!(Some(first.op), ir.item_at(offset));
        }
    }

    #[test]
    fn skips_contents_of_items() {
        let source = Source::new(TEXT);
        let ir = source.ir();
        let mut walk = ItemWalk::all(ir);
        let mut depths = Vec::new();
        while let Some(item) = walk.next(ir) {
            depths.push(item.depth);
            if item.depth == 1 {
                walk.skip_contents(ir, item);
            }
        }
        assert_eq!(depths, [0, 1, 0, 1]);
    }
}
