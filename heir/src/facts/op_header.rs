//! The parts of an op with regions that affect facts beyond the op and the values that it feeds.
//!
//! *Law.* As long as these parts are unchanged, an edit of the op is like any other edit: facts
//! propagate from the op to the values that it feeds. The first and the last op of each region
//! represent its extent: a bracket that is inserted or deleted moves the end of a region. A label
//! at its start may be replaced by one with the same number of arguments.
//!
//! *Cost.* Linear in the attributes and arguments of the op, and in its blocks.

use noisy_syntax::{Attr, Ir, Name, Op, OpKind, Region};
use smallvec::SmallVec;

use crate::facts::ciphertext;
use noisy_dataflow::flow;

/// A region, its first and last op, and the number of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RegionExtent {
    region: Region,
    n_arguments: usize,
    first: Option<Op>,
    last: Option<Op>,
}

/// The header of an op with regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpHeader {
    kind: OpKind,
    is_generic: bool,
    parent: Region,
    regions: SmallVec<[RegionExtent; 1]>,
    symbol: Option<Name>,
    /// True for a function with a secret argument.
    has_secret_argument: bool,
    /// For a function, the attributes of HEIR's client functions. Attributes of modules are
    /// compared separately (`incremental.rs`).
    client_attributes: Vec<(Name, Attr)>,
}

impl OpHeader {
    /// Returns true if two headers differ only in the name of the op.
    pub(crate) fn has_only_other_name(&self, other: &OpHeader) -> bool {
        *self == OpHeader { symbol: self.symbol, ..other.clone() }
    }

    /// Returns true if the op is a client function, which names another function.
    pub(crate) fn is_client_function(&self) -> bool {
        !self.client_attributes.is_empty()
    }

    /// Returns the number of arguments of the regions.
    pub(crate) fn n_arguments(&self) -> usize {
        self.regions.iter().map(|it| it.n_arguments).sum()
    }

    /// Returns the header of an op; `None` for a part of a document, whose headers cannot be
    /// compared.
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
            RegionExtent { region, n_arguments, first, last }
        };
        let is_function = data.kind == OpKind::FuncFunc;
        let marks_secrets = is_function && ciphertext::has_secret_argument(ir, op);
        let counts = |it: &(Name, Attr)| ir.interner.str(it.0).starts_with("client.");
        let extra = is_function.then(|| ir.extra(op));
        let attributes = extra.map(|it| it.attrs.iter().copied().filter(counts).collect());
        Some(Self {
            kind: data.kind,
            is_generic: ir.is_secret_generic(op),
            parent: data.parent,
            regions: data.regions.iter().map(extent).collect(),
            symbol: extra.and_then(|it| it.symbol).map(|it| it.0),
            has_secret_argument: marks_secrets,
            client_attributes: attributes.unwrap_or_default(),
        })
    }
}
