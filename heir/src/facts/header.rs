//! The parts of an op with regions that count beyond the op and the values that it feeds.
//!
//! *Law.* As long as they stay the same, an edit of the text of the op is one like any other: facts
//! flow from the op to the values that it feeds. The first and the last op of each region stand for
//! all: a bracket that is typed or lost moves the end of a region. A label at its start may become
//! another one with as many arguments.
//!
//! *Cost.* The attributes and arguments of the op, and its blocks.

use noisy_syntax::{Attr, Ir, Name, Op, OpKind, Region};
use smallvec::SmallVec;

use crate::facts::ciphertext;
use noisy_dataflow::flow;

/// A region, where it starts and ends, and how many values it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    region: Region,
    n_arguments: usize,
    first: Option<Op>,
    last: Option<Op>,
}

/// The header of an op with regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    kind: OpKind,
    is_generic: bool,
    around: Region,
    regions: SmallVec<[Extent; 1]>,
    symbol: Option<Name>,
    /// Of a function: whether an argument is secret.
    marks_secrets: bool,
    /// Of a function those of HEIR's client; what a module says is compared apart (`upkeep.rs`).
    attributes: Vec<(Name, Attr)>,
}

impl Header {
    /// Returns true if another header differs in its name alone.
    pub(crate) fn is_renamed(&self, other: &Header) -> bool {
        *self == Header { symbol: self.symbol, ..other.clone() }
    }

    /// Returns true if it names a function whose client this is.
    pub(crate) fn names_function(&self) -> bool {
        !self.attributes.is_empty()
    }

    /// Number of values that its regions take.
    pub(crate) fn n_arguments(&self) -> usize {
        self.regions.iter().map(|it| it.n_arguments).sum()
    }

    /// The header of an op; `None` for a part of a document, whose headers cannot be compared.
    pub(crate) fn of(ir: &Ir, op: Op) -> Option<Self> {
        let data = ir.op(op);
        if data.kind == OpKind::Chunk {
            return None;
        }
        let extent = |&(_, region): &(u32, Region)| {
            let last = ir.blocks(region).last().and_then(|&it| ir.last_op(it));
            let n_arguments = ir.block(flow::entry_block(ir, region)).args.len();
            let mut ops = ir.items(region);
            let first = ops.find(|&it| ir.op(it).kind != OpKind::Label);
            Extent { region, n_arguments, first, last }
        };
        let is_function = data.kind == OpKind::FuncFunc;
        let marks_secrets = is_function && ciphertext::has_secret_argument(ir, op);
        let counts = |it: &(Name, Attr)| ir.interner.str(it.0).starts_with("client.");
        let extra = is_function.then(|| ir.extra(op));
        let attributes = extra.map(|it| it.attrs.iter().copied().filter(counts).collect());
        Some(Self {
            kind: data.kind,
            is_generic: ir.is_secret_generic(op),
            around: data.parent,
            regions: data.regions.iter().map(extent).collect(),
            symbol: extra.and_then(|it| it.symbol).map(|it| it.0),
            marks_secrets,
            attributes: attributes.unwrap_or_default(),
        })
    }
}
