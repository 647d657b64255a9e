//! The structure of regions, blocks and ops: nesting, order, walks.
//!
//! *Cost.* Finding the block of an op, the index of an item or the last op of a block takes O(log
//! n) steps in its region. Lists and walks are linear in their result.

use crate::{Block, Form, Ir, Op, OpKind, Region, namespace};

use super::seq;

impl Ir {
    /// The items of a region in program order: ops and labels.
    pub fn items(&self, region: Region) -> seq::Items<'_> {
        seq::iter(self, region)
    }

    /// The items of a region, starting at a given item.
    pub fn items_from(&self, op: Op) -> seq::Items<'_> {
        seq::iter_from(self, op)
    }

    /// The item before this one in the same region.
    pub fn prev(&self, op: Op) -> Option<Op> {
        seq::prev(self, op)
    }

    /// The item after this one in the same region.
    pub fn next(&self, op: Op) -> Option<Op> {
        seq::next(self, op)
    }

    /// Returns true if a region has blocks with labels.
    pub fn has_labels(&self, region: Region) -> bool {
        seq::first_label(self, region).is_some()
    }

    /// The blocks of a region in order. The implicit entry block is omitted if the region starts
    /// with a label.
    pub fn blocks(&self, region: Region) -> Vec<Block> {
        let mut out = Vec::new();
        let first = seq::first(self, region);
        if first.is_none_or(|op| self.op(op).kind != OpKind::Label) {
            out.push(self.region(region).entry);
        }
        out.extend(self.labels(region).map(|it| self.label_block(it)));
        out
    }

    /// The first of [`Ir::blocks`]; in O(log n).
    pub fn entry_block(&self, region: Region) -> Block {
        match seq::first(self, region).filter(|&it| self.op(it).kind == OpKind::Label) {
            Some(label) => self.label_block(label),
            None => self.region(region).entry,
        }
    }

    /// The block of a region with exactly one block; in O(log n).
    pub fn only_block(&self, region: Region) -> Option<Block> {
        let entry = self.entry_block(region);
        let second = match self.block(entry).label {
            Some(label) => seq::next_label(self, label),
            None => seq::first_label(self, region),
        };
        second.is_none().then_some(entry)
    }

    /// The labels of a region in order.
    pub fn labels(&self, region: Region) -> impl Iterator<Item = Op> + '_ {
        std::iter::successors(seq::first_label(self, region), |&it| seq::next_label(self, it))
    }

    /// The ops of a block in order.
    pub fn block_ops(&self, block: Block) -> impl Iterator<Item = Op> + '_ {
        let data = self.block(block);
        let items = match data.label {
            Some(label) => {
                let mut items = seq::iter_from(self, label);
                items.next();
                items
            }
            None => seq::iter(self, data.region),
        };
        items.take_while(|&op| self.op(op).kind != OpKind::Label)
    }

    /// The regions of an op in the order of the generic form.
    pub(crate) fn ordered_regions(&self, op: Op) -> Vec<Region> {
        let data = self.op(op);
        let mut regions: Vec<Region> = data.regions.iter().map(|it| it.1).collect();
        if data.kind.has(crate::Traits::DEFAULT_REGION_LAST) && data.form == Form::Custom {
            // The default region is the last one in the custom form.
            let default = regions.pop();
            regions.splice(0..0, default);
        }
        regions
    }

    /// The last op of a block; not necessarily a terminator.
    pub fn last_op(&self, block: Block) -> Option<Op> {
        let data = self.block(block);
        let next = match data.label {
            Some(label) => seq::next_label(self, label),
            None => seq::first_label(self, data.region),
        };
        let last = match next {
            Some(label) => seq::prev(self, label),
            None => seq::last(self, data.region),
        };
        last.filter(|&op| self.op(op).kind != OpKind::Label)
    }

    /// The implicit terminator of a region, if the text omits it: the custom form does not print a
    /// terminator without operands.
    pub(crate) fn missing_terminator(&self, op: Op, region: Region) -> Option<OpKind> {
        let data = self.op(op);
        if data.form != Form::Custom {
            return None;
        }
        let terminator = data.kind.implicit_terminator()?;
        let last = self.last_op(self.only_block(region)?);
        let is_there = last.is_some_and(|it| self.op(it).kind.has(crate::Traits::TERMINATOR));
        (!is_there).then_some(terminator)
    }

    /// The block that contains an op; for a label, its own block.
    pub fn block_of(&self, op: Op) -> Block {
        match seq::label_at_or_before(self, op) {
            Some(label) => self.label_block(label),
            None => self.region(self.op(op).parent).entry,
        }
    }

    /// The block that a label starts.
    pub fn label_block(&self, label: Op) -> Block {
        self.names.label_block(label)
    }

    /// The op whose region contains an op; `None` for chunks.
    #[inline]
    pub fn parent_op(&self, op: Op) -> Option<Op> {
        self.region(self.op(op).parent).parent
    }

    /// Returns the index of an item among the items of its region; in O(log n).
    pub fn rank(&self, op: Op) -> usize {
        seq::rank(self, op)
    }

    /// Returns true if `a` precedes `b`. Both must be in the same region.
    pub fn is_before(&self, a: Op, b: Op) -> bool {
        self.rank(a) < self.rank(b)
    }

    /// Number of regions around a region, not counting those of chunks.
    pub(crate) fn depth(&self, region: Region) -> usize {
        let mut depth = 0;
        let mut at = region;
        while let Some(parent) = self.region(at).parent {
            depth += 1;
            at = self.op(parent).parent;
        }
        depth - 1
    }

    /// Returns true for the region of a chunk: the top level.
    pub(crate) fn is_chunk_region(&self, region: Region) -> bool {
        self.region(region).parent.is_some_and(|op| self.op(op).kind == OpKind::Chunk)
    }

    /// The region of the chunk that a region is part of.
    pub(crate) fn chunk_region(&self, region: Region) -> Region {
        let mut at = region;
        while let Some(parent) = self.region(at).parent {
            if self.op(parent).kind == OpKind::Chunk {
                return at;
            }
            at = self.op(parent).parent;
        }
        at
    }

    /// The default dialect of op names without a dot in a region.
    pub(crate) fn default_dialect(&self, region: Region) -> Option<&'static str> {
        let mut at = region;
        loop {
            let Some(op) = self.region(at).parent else { return namespace::TOP_LEVEL_DIALECT };
            let data = self.op(op);
            if data.kind == OpKind::Chunk {
                return namespace::TOP_LEVEL_DIALECT;
            }
            // An op with a quoted name does not change the default dialect.
            if !data.is_quoted {
                let name = self.interner.str(data.name);
                let around =
                    if name.contains('.') { None } else { self.default_dialect(data.parent) };
                return namespace::inner_dialect(around, name);
            }
            at = data.parent;
        }
    }

    /// Visits every op inside a region, including nested ones, in program order. Labels and chunks
    /// are omitted.
    pub fn walk(&self, region: Region, visit: &mut dyn FnMut(Op)) {
        self.walk_items(region, &mut |item| {
            if self.op(item).kind.is_op() {
                visit(item);
            }
        });
    }

    /// Visits every item inside a region, including nested ones, in program order.
    pub(crate) fn walk_items(&self, region: Region, visit: &mut dyn FnMut(Op)) {
        for item in self.items(region) {
            visit(item);
            for &(_, inner) in &self.op(item).regions {
                self.walk_items(inner, visit);
            }
        }
    }

    /// The `func.func` ops of the document in program order.
    pub fn functions(&self) -> Vec<Op> {
        let mut out = Vec::new();
        self.walk(self.root, &mut |op| {
            if self.op(op).kind == OpKind::FuncFunc {
                out.push(op);
            }
        });
        out
    }

    /// The function that contains an op; the op itself if it is a function.
    pub fn function_of(&self, op: Op) -> Option<Op> {
        let mut at = Some(op);
        while let Some(it) = at {
            if self.op(it).kind == OpKind::FuncFunc {
                return Some(it);
            }
            at = self.parent_op(it);
        }
        None
    }
}
