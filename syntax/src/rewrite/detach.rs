//! Detaches the IR from its text: adds the implicit parts that the text omits.

use std::ops::Range;

use smallvec::SmallVec;

use super::{InsertionPoint, NewOp};
use crate::ir::OpData;
use crate::ir::names::NameTables;
use crate::ir::seq;
use crate::{Block, Form, Interner, Ir, Op, OpKind, Problem, Region, Span};

impl Default for Ir {
    fn default() -> Self {
        let mut ir = Ir {
            ops: Vec::new(),
            links: Vec::new(),
            values: Vec::new(),
            blocks: Vec::new(),
            regions: Vec::new(),
            free_ops: Vec::new(),
            free_values: Vec::new(),
            free_blocks: Vec::new(),
            free_regions: Vec::new(),
            names: NameTables::default(),
            interner: Interner::default(),
            root: Region::from_index(0),
            origins: Vec::new(),
            locations: None,
            starts: crate::ir::RegionStarts::default(),
            changes: None,
        };
        ir.root = ir.new_region(None);
        ir
    }
}

impl Ir {
    /// Creates a program without ops and without text.
    pub fn new() -> Self {
        let mut ir = Self::default();
        let (root, chunk) = (ir.root, ir.new_chunk(0));
        seq::update_own_sums(&mut ir, chunk);
        seq::fill(&mut ir, root, &[seq::SeqPiece::Item(chunk, 0)]);
        ir
    }

    /// Returns the range from which the op was parsed, in bytes of the text that the IR was parsed
    /// from. `None` for ops that were created since, and while the IR has its text (use
    /// [`Ir::range`]).
    pub fn origin(&self, op: Op) -> Option<Range<usize>> {
        self.origins.get(op.index()).copied().flatten().map(Span::range)
    }

    /// The problems that the verifier finds in a program, in program order. The rules are the same
    /// as for documents.
    pub fn verify(&self) -> Vec<(Op, Problem)> {
        self.verify_with_threads(crate::parallel::n_cores())
    }

    /// Like [`Ir::verify`], on `n_threads` threads in addition to the caller's.
    pub fn verify_with_threads(&self, n_threads: usize) -> Vec<(Op, Problem)> {
        crate::verify::verify(self, n_threads)
    }

    pub(crate) fn detach(&mut self) {
        let mut holders = Vec::new();
        let mut origins = vec![None; self.ops.len()];
        self.collect_origins(self.root, 0, &mut origins, &mut holders);
        self.origins = origins;
        for &op in &holders {
            let regions: Vec<Region> = self.op(op).regions.iter().map(|it| it.1).collect();
            let missing: Vec<Option<OpKind>> =
                regions.iter().map(|&it| self.missing_terminator(op, it)).collect();
            let is_custom = self.op(op).form == Form::Custom;
            for (&region, missing) in regions.iter().zip(missing) {
                let Some(block) = self.ensure_label(region, is_custom) else { continue };
                let Some(kind) = missing else { continue };
                let n_regions = kind.spec().regions.least;
                let new = NewOp::new(kind.spec().name).regions(n_regions);
                let terminator = self.insert(new, InsertionPoint::End(block));
                for (_, region) in self.op(terminator).regions.clone() {
                    self.add_block(region, &[]);
                }
            }
            if !is_custom {
                continue;
            }
            let regions = self.ordered_regions(op);
            self.ops[op.index()].regions = regions.into_iter().map(|it| (0, it)).collect();
            while self.op(op).regions.len() < self.op(op).kind.spec().regions.least {
                self.add_region(op);
            }
        }
        for data in &mut self.ops {
            if data.form == Form::Custom && data.kind.is_op() {
                data.form = Form::Generic;
            }
        }
        self.names.forget_text();
    }

    /// Stores the ranges of the ops of a region and of their nested ops in `out`, and appends the
    /// ops that may have regions to `holders` in program order. The region starts at byte `at`.
    fn collect_origins(
        &self,
        region: Region,
        mut at: usize,
        out: &mut [Option<Span>],
        holders: &mut Vec<Op>,
    ) {
        for op in self.items(region) {
            let (data, end) = (self.op(op), at + self.item_len(op));
            if data.kind.is_op() {
                out[op.index()] = Some(Span::new(at as u32 + data.lead_len, end as u32));
                if !data.regions.is_empty() || data.kind.spec().regions.most > 0 {
                    holders.push(op);
                }
            }
            for &(own, inner) in &data.regions {
                self.collect_origins(inner, at + own as usize, out, holders);
                at += self.region_len(inner);
            }
            at = end;
        }
    }

    /// Ensures that the first block of a region has a label. Returns that block; `None` if the
    /// region has no blocks.
    fn ensure_label(&mut self, region: Region, is_custom: bool) -> Option<Block> {
        let first = seq::first(self, region);
        if first.is_some_and(|it| self.op(it).kind == OpKind::Label) {
            return first.map(|it| self.label_block(it));
        }
        let entry = self.region(region).entry;
        // `({})` is a region without blocks; `{}` in a custom form is a region with one empty
        // block.
        if first.is_none() && self.block(entry).args.is_empty() && !is_custom {
            return None;
        }
        let label =
            self.new_op(OpData { form: Form::Custom, ..OpData::new(region, OpKind::Label) });
        self.insert_item(label, (region, 0));
        let fresh = self.new_block(region, None);
        self.regions[region.index()].entry = fresh;
        self.blocks[entry.index()].label = Some(label);
        let args: SmallVec<[_; 1]> = self.block(entry).args.iter().copied().collect();
        self.ops[label.index()].results = args;
        self.set_label_block(label, Some(entry));
        Some(entry)
    }
}
