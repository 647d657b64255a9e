//! Positions in the file. Nothing stores an offset: positions are sums of lengths on the path to
//! the root.
//!
//! *Cost.* Each sum takes O(log n) steps for each enclosing region.

use std::ops::Range;

use super::seq;
use crate::{Ir, Op, OpKind, Region, Span};

impl Ir {
    /// Length of an item in bytes: own text and regions.
    pub fn item_len(&self, op: Op) -> usize {
        let data = self.op(op);
        let regions = data.regions.iter().map(|&(_, region)| self.region_len(region));
        data.own_len as usize + regions.sum::<usize>()
    }

    /// Length of the contents of a region, in bytes.
    pub fn region_len(&self, region: Region) -> usize {
        let data = self.region(region);
        (seq::total(self, region).bytes + data.tail_len) as usize
    }

    /// Returns the offset of an item, including its leading trivia, in the file, in bytes.
    pub fn start(&self, op: Op) -> usize {
        let data = self.op(op);
        seq::offset(self, op) + self.region_start(data.parent)
    }

    /// Returns the offset of the contents of a region in the file, in bytes.
    pub fn region_start(&self, region: Region) -> usize {
        let Some(parent) = self.region(region).parent else { return 0 };
        self.start(parent) + self.region_start_in(parent, region)
    }

    /// Converts a span of an op's own text to a range of the file, in bytes.
    pub fn absolute(&self, op: Op, span: Span) -> Range<usize> {
        let start = self.start(op);
        self.absolute_at(op, start, span)
    }

    /// Like [`Ir::absolute`], with the start of the op already computed.
    pub fn absolute_at(&self, op: Op, start: usize, span: Span) -> Range<usize> {
        let (mut from, mut to) = (start + span.start as usize, start + span.end as usize);
        for &(own, region) in &self.op(op).regions {
            let len = self.region_len(region);
            // A span that ends right after `{` ends before the contents of the region. A span that
            // starts there starts before `}`, after the contents. Without `}`, both are after the
            // contents.
            let unclosed = span.start >= own && !self.region(region).is_closed;
            if unclosed || span.start > own || (span.start == own && span.end > span.start) {
                from += len;
            }
            if unclosed || span.end > own {
                to += len;
            }
        }
        from..to
    }

    /// The text range of an op without its leading trivia, in bytes of the file.
    pub fn range(&self, op: Op) -> Range<usize> {
        let start = self.start(op);
        start + self.op(op).lead_len as usize..start + self.item_len(op)
    }

    /// The range of an op's name in the file.
    pub fn name_range(&self, op: Op) -> Range<usize> {
        self.absolute(op, self.op(op).name_span)
    }

    /// The range that diagnostics about an op show: from its first token to its end or, if it has
    /// regions, to the end of its header.
    pub fn head_range(&self, op: Op) -> Range<usize> {
        let data = self.op(op);
        let end = data.regions.first().map_or(data.own_len, |&(own, _)| own.saturating_sub(1));
        let range = self.absolute(op, Span::new(data.lead_len, end.max(data.lead_len)));
        range.start..range.end
    }

    /// The innermost item (op, label or chunk) whose text, including leading trivia, contains the
    /// byte at `offset`.
    pub fn item_at(&self, offset: usize) -> Option<Op> {
        let mut found = None;
        self.descend(offset, |op, _, _| {
            found = Some(op);
            None::<()>
        });
        found
    }

    /// The item, not a chunk, that starts at `offset`, and the offset of the contents of its
    /// region.
    pub(crate) fn item_starting_at(&self, offset: usize) -> Option<(Op, usize)> {
        self.descend(offset, |op, base, start| {
            (start == offset && self.op(op).kind != OpKind::Chunk).then_some((op, base))
        })
    }

    /// Visits the items that hold a byte from outside to inside, each with where its region and it
    /// start, until one gives an answer.
    fn descend<T>(
        &self,
        offset: usize,
        mut visit: impl FnMut(Op, usize, usize) -> Option<T>,
    ) -> Option<T> {
        let (mut region, mut base) = (self.root, 0);
        'descend: loop {
            let (op, at) = seq::find(self, region, offset - base)?;
            let mut start = base + at;
            if let Some(it) = visit(op, base, start) {
                return Some(it);
            }
            for &(own, inner) in &self.op(op).regions {
                let from = start + own as usize;
                let len = self.region_len(inner);
                if offset >= from && offset < from + len {
                    (region, base) = (inner, from);
                    continue 'descend;
                }
                start += len;
            }
            return None;
        }
    }
}
