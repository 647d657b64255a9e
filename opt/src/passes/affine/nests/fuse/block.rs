//! The constraints on the order of the ops of a block.
//!
//! *Law.* Two ops keep their order if both access memrefs that may share elements and one of them
//! stores, if one has unknown effects and the other accesses memory, or if one uses a value of the
//! other. The accessed elements are checked later.

use noisy_loops::{AliasAssumptions, AliasRelation, FunctionBody};
use noisy_syntax::{Block as Id, Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use crate::passes::affine::legal;
use crate::rewrite::{nested_ops, operands};

/// The ops of a block, and their accesses.
pub(super) struct BlockOrder {
    pub(super) ops: Vec<Op>,
    body: FunctionBody,
    accesses: Vec<Vec<usize>>,
    has_effect: Vec<bool>,
    /// The memrefs that are allocated in the block and accessed only there.
    private_memrefs: Vec<Value>,
    /// The assumptions about aliasing of memrefs.
    aliasing: AliasAssumptions,
}

impl BlockOrder {
    /// Analyzes a block of a function.
    pub(super) fn new(ir: &Ir, function: Op, block: Id, aliasing: AliasAssumptions) -> Self {
        let body = legal::body_of(ir, function);
        let ops: Vec<Op> = ir.block_ops(block).collect();
        let places: FxHashMap<Op, usize> =
            ops.iter().enumerate().map(|(at, &op)| (op, at)).collect();
        let above = |op: Op| {
            let mut around = std::iter::successors(Some(op), |&it| ir.parent_op(it));
            around.find_map(|it| places.get(&it).copied())
        };
        let mut accesses = vec![Vec::new(); ops.len()];
        for (access, it) in body.accesses.iter().enumerate() {
            if let Some(at) = above(it.op) {
                accesses[at].push(access);
            }
        }
        let mut has_effect = vec![false; ops.len()];
        for &(op, _) in &body.effects {
            if let Some(at) = above(op) {
                has_effect[at] = true;
            }
        }
        let mut it =
            Self { ops, body, accesses, has_effect, private_memrefs: Vec::new(), aliasing };
        let results = it.ops.iter().flat_map(|&op| ir.op(op).results.iter().copied());
        it.private_memrefs = results.filter(|&value| it.is_allocated(ir, value)).collect();
        it
    }

    /// Returns true if the block has regions other than loops.
    pub(super) fn has_other_regions(&self, ir: &Ir) -> bool {
        self.ops
            .iter()
            .any(|&it| !ir.op(it).regions.is_empty() && ir.op(it).kind != OpKind::AffineFor)
    }

    pub(super) fn position(&self, op: Op) -> Option<usize> {
        self.ops.iter().position(|it| *it == op)
    }

    /// Returns true if two ops must keep their order because of accesses to `memref`, or to any
    /// memref if it is `None`.
    pub(super) fn must_keep_order(&self, a: usize, b: usize, memref: Option<Value>) -> bool {
        let touches = |it: usize| self.has_effect[it] || !self.accesses[it].is_empty();
        // Unknown effects cannot access a memref that is only accessed in the block.
        if memref.is_none_or(|it| !self.private_memrefs.contains(&it))
            && ((self.has_effect[a] && touches(b)) || (self.has_effect[b] && touches(a)))
        {
            return true;
        }
        self.accesses[a].iter().any(|&x| {
            let x = &self.body.accesses[x];
            self.accesses[b].iter().any(|&y| {
                let y = &self.body.accesses[y];
                (x.is_store || y.is_store)
                    && memref.is_none_or(|it| x.memref.base == it || y.memref.base == it)
                    && x.memref.alias_relation(&y.memref, self.aliasing) != AliasRelation::NoAlias
            })
        })
    }

    /// Returns true if an op, or an op in its regions, uses a result of another op.
    fn is_user_of(ir: &Ir, user: Op, of: Op) -> bool {
        let results = &ir.op(of).results;
        !results.is_empty()
            && nested_ops(ir, user)
                .iter()
                .chain([&user])
                .any(|&it| operands(ir, it).iter().any(|it| results.contains(it)))
    }

    /// Returns the op before which the fused nest may be inserted: the first op between source and
    /// target that must stay after the source, or else the target. `None` if there is no such
    /// position.
    pub(super) fn insertion_point(&self, ir: &Ir, first: usize, second: usize) -> Option<usize> {
        let between = first + 1..second;
        let behind_first = between.clone().find(|&it| self.must_keep_order(first, it, None));
        let before_second = between.rev().find(|&it| {
            self.must_keep_order(it, second, None)
                || Self::is_user_of(ir, self.ops[second], self.ops[it])
        });
        match (behind_first, before_second) {
            (Some(a), Some(b)) if a <= b => None,
            (Some(a), _) => Some(a),
            (None, _) => Some(second),
        }
    }

    /// Returns the memrefs that an op stores to (if `is_store`) or loads from, without duplicates.
    pub(super) fn memrefs(&self, at: usize, is_store: bool) -> Vec<Value> {
        let mut out = Vec::new();
        for &it in &self.accesses[at] {
            let it = &self.body.accesses[it];
            if it.is_store == is_store && !out.contains(&it.memref.base) {
                out.push(it.memref.base);
            }
        }
        out
    }

    /// Returns the later ops that must stay after an op because of accesses to a memref.
    pub(super) fn later_in_order(&self, at: usize, memref: Value) -> Vec<usize> {
        (at + 1..self.ops.len()).filter(|&it| self.must_keep_order(at, it, Some(memref))).collect()
    }

    /// Returns the earlier ops that must stay before an op because of accesses to a memref.
    pub(super) fn earlier_in_order(&self, at: usize, memref: Value) -> Vec<usize> {
        (0..at).filter(|&it| self.must_keep_order(it, at, Some(memref))).collect()
    }

    /// Returns true if a memref is allocated in the block and accessed only there.
    pub(super) fn is_private(&self, memref: Value) -> bool {
        self.private_memrefs.contains(&memref)
    }

    fn is_allocated(&self, ir: &Ir, memref: Value) -> bool {
        ir.defining_op(memref)
            .is_some_and(|op| matches!(ir.op(op).kind, OpKind::MemrefAlloc | OpKind::MemrefAlloca))
            && ir.value(memref).uses.iter().all(|&(user, at)| {
                let is_access = match ir.op(user).kind {
                    OpKind::AffineLoad => at == 0,
                    OpKind::AffineStore => at == 1,
                    _ => false,
                };
                let mut around = std::iter::successors(Some(user), |&it| ir.parent_op(it));
                is_access && around.any(|it| self.ops.contains(&it))
            })
    }

    /// Returns true if a chain of ops that must keep their order connects two ops.
    pub(super) fn is_order_path(&self, ir: &Ir, from: usize, to: usize) -> bool {
        let mut reached = vec![false; self.ops.len()];
        reached[from] = true;
        for at in from + 1..=to {
            reached[at] = (from..at).any(|it| {
                reached[it]
                    && (self.must_keep_order(it, at, None)
                        || Self::is_user_of(ir, self.ops[at], self.ops[it]))
            });
        }
        reached[to]
    }
}
