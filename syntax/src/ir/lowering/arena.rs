//! Allocates ops, values, blocks and regions. The slots of removed ones are reused.

use smallvec::SmallVec;

use crate::ir::seq;
use crate::ir::{BlockData, OpData, RegionData, ValueData};
use crate::slack::keep_slack;
use crate::{Block, Form, Ir, Name, Op, OpKind, Region, Span, Value};

impl Ir {
    /// Reserves some capacity in each table for later edits.
    pub(crate) fn keep_slack(&mut self) {
        keep_slack(&mut self.ops);
        keep_slack(&mut self.links);
        keep_slack(&mut self.values);
        keep_slack(&mut self.blocks);
        keep_slack(&mut self.regions);
        self.names.keep_slack();
        self.interner.keep_slack();
    }

    pub(crate) fn new_op(&mut self, data: OpData) -> Op {
        if let Some(op) = self.free_ops.pop() {
            self.ops[op.index()] = data;
            self.links[op.index()] = seq::Link::default();
            return op;
        }
        self.ops.push(data);
        self.links.push(seq::Link::default());
        Op::from_index(self.ops.len() - 1)
    }

    pub(crate) fn new_value(&mut self, data: ValueData) -> Value {
        if let Some(value) = self.free_values.pop() {
            self.values[value.index()] = data;
            return value;
        }
        self.values.push(data);
        Value::from_index(self.values.len() - 1)
    }

    pub(crate) fn new_block(&mut self, region: Region, label: Option<Op>) -> Block {
        let data = BlockData { region, label, args: SmallVec::new(), preds: SmallVec::new() };
        if let Some(block) = self.free_blocks.pop() {
            self.blocks[block.index()] = data;
            return block;
        }
        self.blocks.push(data);
        Block::from_index(self.blocks.len() - 1)
    }

    pub(crate) fn new_region(&mut self, parent: Option<Op>) -> Region {
        let data = RegionData {
            items: seq::TreeRoot::default(),
            parent,
            entry: Block::from_index(0),
            tail_len: 0,
            is_closed: true,
        };
        let region = if let Some(region) = self.free_regions.pop() {
            self.regions[region.index()] = data;
            region
        } else {
            self.regions.push(data);
            Region::from_index(self.regions.len() - 1)
        };
        let entry = self.new_block(region, None);
        self.regions[region.index()].entry = entry;
        region
    }

    /// Creates an empty chunk.
    pub(crate) fn new_chunk(&mut self, own_len: u32) -> Op {
        let root = self.root;
        let chunk =
            self.new_op(OpData { form: Form::Custom, own_len, ..OpData::new(root, OpKind::Chunk) });
        let region = self.new_region(Some(chunk));
        self.ops[chunk.index()].regions.push((own_len, region));
        chunk
    }
}

impl OpData {
    /// Creates an item of a region without name, operands, results and regions.
    pub(crate) fn new(parent: Region, kind: OpKind) -> Self {
        OpData {
            alive: true,
            parent,
            kind,
            form: Form::default(),
            name: Name::EMPTY,
            name_span: Span::default(),
            lead_len: 0,
            own_len: 0,
            lookahead: 0,
            is_quoted: false,
            context_deps: 0,
            results: SmallVec::new(),
            result_names: SmallVec::new(),
            operands: SmallVec::new(),
            regions: SmallVec::new(),
            extra: None,
        }
    }
}
