//! The IR: ops, values, blocks and regions in arenas, with their positions in the text.
//!
//! *Coordinates.* Nothing stores an offset into the file. Every item stores its length. A region
//! keeps its items in a [`crate::ir::seq`] that sums lengths. The position of a part of an op is a
//! [`Span`] in the op's *own text*: the text of the op from the start of its leading trivia (blanks
//! and comments), without the contents of its regions. An edit therefore changes only the lengths
//! on the path to the root. [`Ir::absolute`] converts a span to a range of the file.
//!
//! *Items.* A region is one sequence of items: ops and, between them, block labels. A block is the
//! sequence of ops between two labels; the ops before the first label are a block without a label.
//! The root region holds the chunks of the file (one, unless `// -----` splits it). Each chunk is
//! an item with one region, so all nodes of the tree have the same type.

pub(crate) mod changes;
pub(crate) mod delta;
mod locations;
pub(crate) mod lowering;
pub(crate) mod names;
mod position;
pub(crate) mod seq;
mod starts;
mod structure;

use std::ops::Range;

pub(crate) use locations::Locations;

use smallvec::SmallVec;

use crate::{
    Alias, AliasUse, Attr, AttrData, Block, Form, Interner, Name, Op, OpKind, Problem, Region,
    Span, Type, Value, namespace,
};
pub use seq::Items;
pub(crate) use starts::RegionStarts;

/// An item of a region. For an op, its data except its position.
#[derive(Debug)]
pub struct OpData {
    /// True if the item is part of the document (arena slots are reused).
    pub(crate) alive: bool,
    /// The region that contains it; for a chunk, the root.
    pub parent: Region,
    /// Its kind.
    pub kind: OpKind,
    /// Its form: generic, custom, opaque (unknown syntax) or broken (not parsed to its end).
    pub form: Form,
    /// Its full name with dialect; for a label, the label without `^`.
    pub name: Name,
    /// Its name as written, in own text.
    pub name_span: Span,
    /// Bytes of blanks and comments before the first token.
    pub lead_len: u32,
    /// Bytes of own text.
    pub own_len: u32,
    /// True if its name is quoted.
    pub(crate) is_quoted: bool,
    /// Bytes beyond the end of the item that were read to find that end.
    pub(crate) lookahead: u32,
    /// The context on which the parse depended ([`crate::skeleton::DEPENDS_ON_DIALECT`],
    /// [`crate::skeleton::DEPENDS_ON_TOP_LEVEL`]). If it changes, the item is parsed again.
    pub(crate) context_deps: u8,
    /// The values that it defines, with or without a name in the text; for a label, the block's
    /// arguments.
    pub results: SmallVec<[Value; 1]>,
    /// The names to the left of `=`.
    pub result_names: SmallVec<[ResultName; 1]>,
    /// Its operands.
    pub operands: SmallVec<[Operand; 2]>,
    /// Its regions in textual order, each with its offset in own text (just after its `{`).
    pub regions: SmallVec<[(u32, Region); 1]>,
    /// Data that few ops have.
    pub extra: Option<Box<OpExtra>>,
}

/// The parts of an op that few ops have.
#[derive(Debug, Default)]
pub struct OpExtra {
    /// Successors, with the operands passed to each (indices into [`OpData::operands`]).
    pub successors: Vec<Successor>,
    /// All attributes, sorted by name.
    pub attrs: Vec<(Name, Attr)>,
    /// The symbol that it defines: name and span in own text.
    pub symbol: Option<(Name, Span)>,
    /// The symbols that it refers to: last name of the path, first name, span.
    pub symbol_uses: Vec<(Name, Name, Span)>,
    /// The aliases that it uses.
    pub alias_uses: Vec<AliasUse>,
    /// The aliases that were looked up when the op was parsed, with the results.
    pub(crate) alias_reads: Vec<(Name, Option<Alias>)>,
    /// The type or attribute that it defines, if it is an alias.
    pub alias: Option<Alias>,
    /// Problems of its syntax. Problems of names depend on the context (see
    /// [`crate::Source::problems`]).
    pub problems: Vec<Problem>,
    /// True if its only syntax problem is about the junk after it; see [`Ir::is_followed_by_junk`].
    pub(crate) is_followed_by_junk: bool,
    /// Attributes of the arguments of the entry block, for functions: one entry per argument.
    pub argument_attrs: Vec<Option<Attr>>,
}

/// A name to the left of `=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultName {
    /// The name without `%`.
    pub name: Name,
    /// The `%name` in own text.
    pub span: Span,
    /// Number of values with this name: `n` of `%name:n`, otherwise 1.
    pub count: u32,
}

/// A use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The name without `%`.
    pub name: Name,
    /// The number after `#`.
    pub number: u32,
    /// `%name#n` in own text.
    pub span: Span,
    /// The type that the text states for this operand; [`Type::UNKNOWN`] if none.
    pub ty: Type,
    /// True if it is in the header of an op with unknown syntax and may be an argument of the op's
    /// region instead. If nothing else defines the name, it is an argument and no error is
    /// reported.
    pub may_be_argument: bool,
    /// The definition to which it resolves; `None` if the name is undefined.
    pub value: Option<Value>,
    /// Its index in [`ValueData::uses`], or in the list of unresolved uses of its name.
    pub(crate) slot: u32,
}

/// A branch target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The name without `^`.
    pub name: Name,
    /// `^name` in own text.
    pub span: Span,
    /// The operands passed, as indices into [`OpData::operands`].
    pub operands: Range<u32>,
    /// The definition to which it resolves; `None` if the name is undefined.
    pub block: Option<Block>,
}

/// The definition of a value.
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
    /// Its definition.
    pub def: Def,
    /// Its type; [`Type::UNKNOWN`] if the text does not state it.
    pub ty: Type,
    /// True if the type is guessed because the syntax of the op is unknown. The type is shown, but
    /// no problem is reported because of it.
    pub is_guessed: bool,
    /// Its name without `%`, or [`Name::EMPTY`].
    pub name: Name,
    /// Its number in its pack: `n` of `%name#n`. A pack is a group of results with one name
    /// (`%name:3`).
    pub number: u32,
    /// `%name` at the definition, in the own text of [`Ir::definition_site`]. If the value has no
    /// name, an empty span at the name of the op.
    pub span: Span,
    /// Its uses: op and operand index, in no particular order.
    pub uses: SmallVec<[(Op, u32); 2]>,
}

/// A block.
#[derive(Debug)]
pub struct BlockData {
    /// The region that contains it.
    pub region: Region,
    /// Its label; the entry block may have none.
    pub label: Option<Op>,
    /// Its arguments.
    pub args: SmallVec<[Value; 2]>,
    /// The branches to it: op and successor index, in no particular order.
    pub preds: SmallVec<[(Op, u32); 2]>,
}

/// A region.
#[derive(Debug)]
pub struct RegionData {
    pub(crate) items: seq::TreeRoot,
    /// The op that contains it; `None` for the root.
    pub parent: Option<Op>,
    /// The implicit first block. If the region starts with a label, that block is empty, and
    /// [`Ir::blocks`] omits it.
    pub entry: Block,
    /// Bytes of blanks and comments after the last item.
    pub tail_len: u32,
    /// True if the text contains its `}`.
    pub is_closed: bool,
}

/// The IR of one document. While it has a text, it is derived from the text, and [`crate::Source`]
/// updates it. An IR without text is changed by [`crate::rewrite`].
#[derive(Debug)]
pub struct Ir {
    pub(crate) ops: Vec<OpData>,
    /// The tree node of each op of [`Self::ops`] in the sequence of its region.
    pub(crate) links: Vec<seq::Link>,
    pub(crate) values: Vec<ValueData>,
    pub(crate) blocks: Vec<BlockData>,
    pub(crate) regions: Vec<RegionData>,
    pub(crate) free_ops: Vec<Op>,
    pub(crate) free_values: Vec<Value>,
    pub(crate) free_blocks: Vec<Block>,
    pub(crate) free_regions: Vec<Region>,
    pub(crate) names: names::NameTables,
    /// Interned strings, types and attributes.
    pub interner: Interner,
    pub(crate) root: Region,
    /// The text ranges from which the ops were parsed. They remain after the text is dropped.
    pub(crate) origins: Vec<Option<Span>>,
    /// The locations of ops and arguments, if requested.
    pub(crate) locations: Option<Box<Locations>>,
    /// The starts of regions in ops that have many.
    pub(crate) starts: starts::RegionStarts,
    /// The changes of rewriting, if they are recorded.
    pub(crate) changes: Option<Vec<changes::IrChange>>,
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

    /// Numbers of slots for ops, values, blocks and regions; each index is less than the
    /// corresponding number. Used to size tables that are indexed by ids.
    pub fn n_slots(&self) -> (usize, usize, usize, usize) {
        (self.ops.len(), self.values.len(), self.blocks.len(), self.regions.len())
    }

    /// Returns true if an id still refers to an op of the document.
    #[inline]
    pub fn is_alive(&self, op: Op) -> bool {
        self.ops[op.index()].alive
    }

    /// The full name of an op.
    pub fn op_name(&self, op: Op) -> &str {
        self.interner.str(self.op(op).name)
    }

    /// Returns true for HEIR's `secret.generic`. Its operands and region are known even in its
    /// custom form.
    pub fn is_secret_generic(&self, op: Op) -> bool {
        self.op(op).kind == OpKind::Unknown && self.op_name(op) == namespace::SECRET_GENERIC
    }

    /// Returns true if each `%name` in an op is an operand, although the syntax of the op is
    /// unknown.
    pub(crate) fn is_opaque_with_known_operands(&self, op: Op) -> bool {
        let data = self.op(op);
        let dialect = || self.op_name(op).split_once('.').map(|it| it.0);
        data.kind == OpKind::Unknown
            && data.form == Form::Opaque
            && data.regions.is_empty()
            && dialect().is_some_and(|it| namespace::HEIR_OPERAND_DIALECTS.contains(&it))
    }

    /// Returns true if an op ends a `secret.generic`.
    pub fn is_secret_yield(&self, op: Op) -> bool {
        self.op(op).kind == OpKind::Unknown && self.op_name(op) == namespace::SECRET_YIELD
    }

    /// Returns true if junk follows an op within its item. The op is parsed without the junk; its
    /// only syntax problem is about the junk.
    pub fn is_followed_by_junk(&self, op: Op) -> bool {
        self.extra(op).is_followed_by_junk
    }

    /// Returns true if an op was not parsed to its end, or if junk follows it. If it is the last op
    /// of a region, the terminator of the region is unknown.
    pub fn is_broken(&self, op: Op) -> bool {
        self.op(op).form == Form::Broken || self.is_followed_by_junk(op)
    }

    /// Returns true if the syntax of an op has a problem, apart from junk after the op.
    pub fn has_problem(&self, op: Op) -> bool {
        let extra = self.extra(op);
        extra.problems.len() > usize::from(extra.is_followed_by_junk)
    }

    /// Data that few ops have; empty for the others.
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
            is_followed_by_junk: false,
            argument_attrs: Vec::new(),
        };
        self.op(op).extra.as_deref().unwrap_or(&EMPTY)
    }

    /// The attribute of an op with this name.
    #[inline]
    pub fn attr(&self, op: Op, name: &str) -> Option<Attr> {
        let attrs = &self.op(op).extra.as_deref()?.attrs;
        attrs.iter().find(|it| self.interner.str(it.0) == name).map(|it| it.1)
    }

    /// The sizes of its groups of operands that an op states, if they add up.
    pub(crate) fn segment_sizes(&self, op: Op) -> Option<Vec<usize>> {
        let attr = self.attr(op, "operandSegmentSizes")?;
        let AttrData::DenseArray { values, .. } = self.interner.attr_data(attr) else {
            return None;
        };
        let size = |&it: &Attr| usize::try_from(self.interner.int_value(it)?).ok();
        let sizes: Vec<usize> = values.iter().map(size).collect::<Option<_>>()?;
        let total = sizes.iter().try_fold(0_usize, |sum, &it| sum.checked_add(it));
        (total == Some(self.op(op).operands.len())).then_some(sizes)
    }

    /// The op that defines a value; `None` for an argument.
    #[inline]
    pub fn defining_op(&self, value: Value) -> Option<Op> {
        match self.value(value).def {
            Def::Result(op, _) => Some(op),
            Def::Argument(..) => None,
        }
    }

    /// The op whose own text contains the name of a value at its definition: the op itself, a
    /// label, or the op whose header defines the argument. `None` for an argument that no text
    /// defines.
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

    /// The name of a value as in its uses: `%3`, `%a#1`. For a result without a name, the op and
    /// the number: `noisy.add#0`; for an argument without a name, `argument#0`.
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
            Def::Result(op, index) => {
                let names = &self.op(op).result_names;
                // If each result has a name of its own, that name is at the index of the result.
                match names.get(index as usize).filter(|it| it.name == data.name) {
                    Some(own) => own.count > 1,
                    None => names.iter().any(|it| it.name == data.name && it.count > 1),
                }
            }
            Def::Argument(..) => false,
        };
        if packed { format!("%{name}#{}", data.number) } else { format!("%{name}") }
    }

    /// The definitions of a value name in a region, in textual order.
    pub fn defs(&self, region: Region, name: Name) -> SmallVec<[Value; 1]> {
        self.names.defs(region, name)
    }
}
