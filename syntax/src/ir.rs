//! The IR: ops, values, blocks and regions in arenas, with where each of them stands in the text.
//!
//! *Coordinates.* Nothing stores an offset into the file. Every item stores its length, regions keep their items in a
//! [`crate::ir::seq`] that sums lengths, and everything named inside an op is a [`Span`] in the op's *own text*: the text of the op
//! with the interiors of its regions cut out, from the start of its leading trivia (blanks and comments). An edit
//! thus changes the lengths on the path to the root and nothing else. [`Ir::absolute`] adds it all up.
//!
//! *Items.* A region is one sequence of items: ops and, between them, block labels. A block is what stands between two
//! labels; the block before the first label has none. The root region holds the chunks of the file (one, unless
//! `// -----` splits it), each an item with one region, so that the file is a tree of one kind of node.

mod locations;
pub(crate) mod names;
mod position;
pub(crate) mod seq;
mod starts;

use std::ops::Range;

pub(crate) use locations::Locations;

use smallvec::SmallVec;

use crate::{
    Alias, AliasUse, Attr, Block, Form, Interner, Name, Op, OpKind, Problem, Region, Span, Type,
    Value, dialect,
};
pub use seq::Iter as Items;
pub(crate) use starts::Starts;

/// An item of a region and, if it is an op, everything the IR knows of it.
#[derive(Debug)]
pub struct OpData {
    /// Whether the item is part of the document (arena slots are reused).
    pub(crate) alive: bool,
    /// The region that holds it; of a chunk, the root.
    pub parent: Region,
    /// What it is.
    pub kind: OpKind,
    /// How it was written and how far it was understood.
    pub form: Form,
    /// Its full name with dialect; of a label, the label without `^`.
    pub name: Name,
    /// Its name as written, in own text.
    pub name_span: Span,
    /// Bytes of blanks and comments before the first token.
    pub lead: u32,
    /// Bytes of own text.
    pub own_len: u32,
    /// Whether its name is quoted.
    pub(crate) quoted: bool,
    /// Bytes beyond the end of the item that were looked at to find that end.
    pub(crate) lookahead: u32,
    /// The context that this parse depended on; the item is read again if it changes: [`crate::skeleton::DIALECT`],
    /// [`crate::skeleton::PLACE`].
    pub(crate) context_deps: u8,
    /// The values it defines, whether or not the text names them; of a label, the block's arguments.
    pub results: SmallVec<[Value; 1]>,
    /// The names left of the `=`.
    pub result_names: SmallVec<[ResultName; 1]>,
    /// Its operands.
    pub operands: SmallVec<[Operand; 2]>,
    /// Its regions, in textual order, with the place of each in own text (just after its `{`).
    pub regions: SmallVec<[(u32, Region); 1]>,
    /// What few ops have.
    pub extra: Option<Box<OpExtra>>,
}

/// The parts of an op that few ops have.
#[derive(Debug, Default)]
pub struct OpExtra {
    /// Successors, with the operands passed to each (indices into [`OpData::operands`]).
    pub successors: Vec<Successor>,
    /// All attributes, sorted by name.
    pub attrs: Vec<(Name, Attr)>,
    /// The symbol it defines: name and span in own text.
    pub symbol: Option<(Name, Span)>,
    /// The symbols it refers to: last name of the path, first name, span.
    pub symbol_uses: Vec<(Name, Name, Span)>,
    /// The aliases it uses.
    pub alias_uses: Vec<AliasUse>,
    /// The aliases that were looked up when it was read, with what was found.
    pub(crate) alias_reads: Vec<(Name, Option<Alias>)>,
    /// What it stands for, if it is an alias.
    pub alias: Option<Alias>,
    /// What is wrong with it by itself; names are judged in context (see [`crate::Source::problems`]).
    pub problems: Vec<Problem>,
    /// The one syntax problem is about lines after it that are no op; see [`Ir::is_followed`].
    pub(crate) followed: bool,
    /// Argument attributes of the entry block's arguments (functions): one per argument.
    pub argument_attrs: Vec<Option<Attr>>,
}

/// A name left of the `=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultName {
    /// Without `%`.
    pub name: Name,
    /// The `%name` in own text.
    pub span: Span,
    /// How many values it stands for.
    pub count: u32,
}

/// A use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Without `%`.
    pub name: Name,
    /// The number after `#`.
    pub number: u32,
    /// `%name#n` in own text.
    pub span: Span,
    /// The type given at the use; [`Type::UNKNOWN`] if none.
    pub ty: Type,
    /// It stands in the header of an op of unknown form and may be an argument of its region instead; if nothing else defines the name,
    /// it is one, and no error.
    pub maybe_argument: bool,
    /// What it resolves to.
    pub value: Option<Value>,
    /// Its place in [`ValueData::uses`], or among those that resolve to nothing.
    pub(crate) slot: u32,
}

/// A branch target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// Without `^`.
    pub name: Name,
    /// `^name` in own text.
    pub span: Span,
    /// The operands passed, as indices into [`OpData::operands`].
    pub operands: Range<u32>,
    /// What it resolves to.
    pub block: Option<Block>,
}

/// Who defines a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// Result number `index` of an op.
    Result(Op, u32),
    /// Argument number `index` of a block.
    Argument(Block, u32),
}

/// A value.
#[derive(Debug)]
pub struct ValueData {
    /// Who defines it.
    pub def: Def,
    /// Its type; [`Type::UNKNOWN`] if the text does not give it.
    pub ty: Type,
    /// The type is a guess, of an op of unknown form: shown, but nothing is told because of it.
    pub guessed: bool,
    /// Its name without `%`, or [`Name::EMPTY`].
    pub name: Name,
    /// Its number within a pack of that name.
    pub number: u32,
    /// `%name` at the definition, in the own text of [`Ir::definition_site`]; empty if it has no name, at the name of its op.
    pub span: Span,
    /// Who uses it: op and operand index, in no particular order.
    pub uses: SmallVec<[(Op, u32); 2]>,
}

/// A block.
#[derive(Debug)]
pub struct BlockData {
    /// The region it belongs to.
    pub region: Region,
    /// Its label; the entry block may have none.
    pub label: Option<Op>,
    /// Its arguments.
    pub args: SmallVec<[Value; 2]>,
    /// Who branches to it: op and successor index, in no particular order.
    pub preds: SmallVec<[(Op, u32); 2]>,
}

/// A region.
#[derive(Debug)]
pub struct RegionData {
    pub(crate) items: seq::Root,
    /// The op that holds it; `None` for the root.
    pub parent: Option<Op>,
    /// The implicit first block (if the region starts with a label, that block is empty and not counted).
    pub entry: Block,
    /// Bytes of blanks and comments after the last item.
    pub tail: u32,
    /// Whether its `}` is there.
    pub closed: bool,
}

/// The IR of one document. As long as it has a text, all of it is derived from that, and [`crate::Source`] keeps it so; without
/// one it is changed by [`crate::rewrite`].
#[derive(Debug)]
pub struct Ir {
    pub(crate) ops: Vec<OpData>,
    /// The place of each of [`Self::ops`] in the sequence of its region.
    pub(crate) links: Vec<seq::Link>,
    pub(crate) values: Vec<ValueData>,
    pub(crate) blocks: Vec<BlockData>,
    pub(crate) regions: Vec<RegionData>,
    pub(crate) free_ops: Vec<Op>,
    pub(crate) free_values: Vec<Value>,
    pub(crate) free_blocks: Vec<Block>,
    pub(crate) free_regions: Vec<Region>,
    pub(crate) names: names::Names,
    /// Interned strings, types and attributes.
    pub interner: Interner,
    pub(crate) root: Region,
    /// Where ops were read whose text was let go of.
    pub(crate) origins: Vec<Option<Span>>,
    /// Where ops and arguments come from, if anybody wants to know.
    pub(crate) locations: Option<Box<Locations>>,
    /// Where regions start in ops that have many.
    pub(crate) starts: starts::Starts,
}

impl Ir {
    /// The region of the whole file; its items are chunks.
    pub fn root(&self) -> Region {
        self.root
    }

    /// The data of an op.
    #[inline]
    pub fn op(&self, op: Op) -> &OpData {
        &self.ops[op.index()]
    }

    /// The data of a value.
    #[inline]
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value.index()]
    }

    /// The data of a block.
    #[inline]
    pub fn block(&self, block: Block) -> &BlockData {
        &self.blocks[block.index()]
    }

    /// The data of a region.
    #[inline]
    pub fn region(&self, region: Region) -> &RegionData {
        &self.regions[region.index()]
    }

    /// Upper bounds of the indices of ops, values, blocks and regions; for tables kept beside the IR.
    pub fn bounds(&self) -> (usize, usize, usize, usize) {
        (self.ops.len(), self.values.len(), self.blocks.len(), self.regions.len())
    }

    /// Whether an op id still names an op of the document.
    #[inline]
    pub fn is_alive(&self, op: Op) -> bool {
        self.ops[op.index()].alive
    }

    /// The full name of an op.
    pub fn op_name(&self, op: Op) -> &str {
        self.interner.str(self.op(op).name)
    }

    /// Whether an op is HEIR's `secret.generic`, whose operands and region are known also in its custom form.
    pub fn is_secret_generic(&self, op: Op) -> bool {
        self.op(op).kind == OpKind::Unknown && self.op_name(op) == dialect::SECRET_GENERIC
    }

    /// Whether each name behind `%` in an op is an operand, though its form is not known.
    pub(crate) fn takes_operands(&self, op: Op) -> bool {
        let data = self.op(op);
        let dialect = || self.op_name(op).split_once('.').map(|it| it.0);
        data.kind == OpKind::Unknown
            && data.form == Form::Opaque
            && data.regions.is_empty()
            && dialect().is_some_and(|it| dialect::OF_OPERANDS.contains(&it))
    }

    /// Whether an op ends a `secret.generic`.
    pub fn is_secret_yield(&self, op: Op) -> bool {
        self.op(op).kind == OpKind::Unknown && self.op_name(op) == "secret.yield"
    }

    /// Whether lines that are no op stand after an op, within its item. The op is what it is without them; its one syntax problem is
    /// about them.
    pub fn is_followed(&self, op: Op) -> bool {
        self.extra(op).followed
    }

    /// Whether an op was not read to its end, or is followed by what is no op: of a region whose last op it is, nobody knows how it ends.
    pub fn is_broken(&self, op: Op) -> bool {
        self.op(op).form == Form::Broken || self.is_followed(op)
    }

    /// Whether anything is wrong with the text of an op itself.
    pub fn has_problem(&self, op: Op) -> bool {
        let extra = self.extra(op);
        extra.problems.len() > usize::from(extra.followed)
    }

    /// What few ops have; empty for the others.
    pub fn extra(&self, op: Op) -> &OpExtra {
        static EMPTY: OpExtra = OpExtra {
            successors: Vec::new(),
            attrs: Vec::new(),
            symbol: None,
            symbol_uses: Vec::new(),
            alias_uses: Vec::new(),
            alias_reads: Vec::new(),
            alias: None,
            problems: Vec::new(),
            followed: false,
            argument_attrs: Vec::new(),
        };
        self.op(op).extra.as_deref().unwrap_or(&EMPTY)
    }

    /// An attribute of an op by name.
    #[inline]
    pub fn attr(&self, op: Op, name: &str) -> Option<Attr> {
        let attrs = &self.op(op).extra.as_deref()?.attrs;
        attrs.iter().find(|it| self.interner.str(it.0) == name).map(|it| it.1)
    }

    /// The items of a region in program order: ops and labels.
    pub fn items(&self, region: Region) -> seq::Iter<'_> {
        seq::iter(self, region)
    }

    /// The items of a region from a given one on.
    pub fn items_from(&self, op: Op) -> seq::Iter<'_> {
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

    /// Whether a region has blocks with labels.
    pub fn has_labels(&self, region: Region) -> bool {
        seq::first_label(self, region).is_some()
    }

    /// The blocks of a region in order. The implicit entry block is left out if it is empty and a label follows.
    pub fn blocks(&self, region: Region) -> Vec<Block> {
        let mut out = Vec::new();
        let first = seq::first(self, region);
        if first.is_none_or(|op| self.op(op).kind != OpKind::Label) {
            out.push(self.region(region).entry);
        }
        out.extend(self.labels(region).map(|it| self.label_block(it)));
        out
    }

    /// The block that a region starts with, as [`Ir::blocks`] counts them; in O(log n).
    pub fn entry_block(&self, region: Region) -> Block {
        match seq::first(self, region).filter(|&it| self.op(it).kind == OpKind::Label) {
            Some(label) => self.label_block(label),
            None => self.region(region).entry,
        }
    }

    /// The block of a region that has one and no other; in O(log n).
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
        if data.kind == OpKind::ScfIndexSwitch && data.form == Form::Custom {
            // The default stands last in the custom form.
            let default = regions.pop();
            regions.splice(0..0, default);
        }
        regions
    }

    /// The last op of a block, whether or not it is a terminator.
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

    /// The terminator that the text of an op's region leaves out: its custom form does not write it where it has no operands.
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

    /// The block that an op stands in; for a label, its own block.
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

    /// The op that holds the region that an op stands in; `None` for chunks.
    #[inline]
    pub fn parent_op(&self, op: Op) -> Option<Op> {
        self.region(self.op(op).parent).parent
    }

    /// Where an item stands among the items of its region; in O(log n).
    pub fn rank(&self, op: Op) -> usize {
        seq::rank(self, op)
    }

    /// Orders two ops of the same region as the text does.
    pub fn is_before(&self, a: Op, b: Op) -> bool {
        self.rank(a) < self.rank(b)
    }

    /// The op whose result a value is; `None` for an argument.
    #[inline]
    pub fn defining_op(&self, value: Value) -> Option<Op> {
        match self.value(value).def {
            Def::Result(op, _) => Some(op),
            Def::Argument(..) => None,
        }
    }

    /// The op in whose own text the name of a value stands at its definition: the op itself, a label, or the op whose
    /// header defines the argument. `None` for an argument that no text defines.
    #[inline]
    pub fn definition_site(&self, value: Value) -> Option<Op> {
        match self.value(value).def {
            Def::Result(op, _) => Some(op),
            Def::Argument(block, _) => {
                let data = self.block(block);
                data.label.or(self.region(data.region).parent)
            }
        }
    }

    /// How many regions are around a region, chunks not counted.
    pub(crate) fn depth(&self, region: Region) -> usize {
        let mut depth = 0;
        let mut at = region;
        while let Some(parent) = self.region(at).parent {
            depth += 1;
            at = self.op(parent).parent;
        }
        depth - 1
    }

    /// Whether a region is that of a chunk: the top level.
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
            let Some(op) = self.region(at).parent else { return dialect::TOP };
            let data = self.op(op);
            if data.kind == OpKind::Chunk {
                return dialect::TOP;
            }
            // Quoted names leave the dialect as it is around.
            if !data.quoted {
                let name = self.interner.str(data.name);
                let around =
                    if name.contains('.') { None } else { self.default_dialect(data.parent) };
                return dialect::inner_dialect(around, name);
            }
            at = data.parent;
        }
    }

    /// The name of a value as its uses write it: `%3`, `%a#1`; of a result that the text leaves without a name, its op and
    /// number: `noisy.add#0`, `argument#0`.
    pub fn value_text(&self, value: Value) -> String {
        let data = self.value(value);
        match (data.name, data.def) {
            (Name::EMPTY, Def::Result(op, index)) => {
                return format!("{}#{index}", self.op_name(op));
            }
            (Name::EMPTY, Def::Argument(_, index)) => return format!("argument#{index}"),
            _ => {}
        }
        let name = self.interner.str(data.name);
        let packed = match data.def {
            Def::Result(op, _) => {
                self.op(op).result_names.iter().any(|it| it.name == data.name && it.count > 1)
            }
            Def::Argument(..) => false,
        };
        if packed { format!("%{name}#{}", data.number) } else { format!("%{name}") }
    }

    /// Every op inside a region, nested ones included, in program order; labels and chunks left out.
    pub fn walk(&self, region: Region, visit: &mut dyn FnMut(Op)) {
        self.walk_items(region, &mut |item| {
            if self.op(item).kind.is_op() {
                visit(item);
            }
        });
    }

    /// Every item inside a region, nested ones included, in program order.
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

    /// The function that an op stands in (itself, if it is one).
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

    /// Definitions of a value name in a region, by textual order of the ops that define it.
    pub fn defs(&self, region: Region, name: Name) -> SmallVec<[Value; 1]> {
        self.names.defs(region, name)
    }
}
