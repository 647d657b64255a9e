//! Dead stores: no op reads the stored value.
//!
//! *Law.* A store is dead if a later store in the same block overwrites the same element of the
//! same buffer before an op may read it, or if the buffer is private and no op reads it after the
//! store. A private buffer has no alias; other buffers may alias each other. *Cost.* Each block is
//! walked once, backward; the reads of a region are passed to each enclosing block.

use noisy_syntax::dialect::{Buffer, Effects};
use noisy_syntax::{Attr, Block, Ir, Op, OpKind, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::Remark;
use super::buffers::{self, PrivateBuffer};
use crate::facts::effects::{Access, accesses};
use crate::facts::values::{int_of, operand};

/// Adds the dead stores of a function. Returns the number of visited ops.
pub(super) fn find(ir: &Ir, function: Op, ops: &[Op], out: &mut Vec<(Op, Remark)>) -> usize {
    let mut search =
        StoreSearch { ir, private: buffers::private_buffers(ir, ops), out, n_visits: 0 };
    for &(_, region) in &ir.op(function).regions {
        search.visit_region(region, &mut ReadBuffers::default());
    }
    search.n_visits
}

/// An element of a buffer, given by the indices of an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Element {
    /// The map of an affine access.
    map: Option<Attr>,
    indices: SmallVec<[Index; 2]>,
}

/// An index of an access. Equal constants are equal indices, even if they are different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Index {
    Number(i128),
    Value(Value),
}

/// The buffers that are read.
#[derive(Debug, Default)]
struct ReadBuffers {
    /// The private buffers that are read.
    private: FxHashSet<Value>,
    /// True if a buffer that is not private may be read.
    may_read_others: bool,
}

/// The elements that a later op overwrites before an op reads them.
#[derive(Debug, Default)]
struct OverwrittenElements {
    /// Elements of private buffers, with the overwriting op.
    private: FxHashMap<Value, FxHashMap<Element, Op>>,
    /// Elements of other buffers, with the overwriting op.
    others: FxHashMap<(Value, Element), Op>,
    /// Private buffers that no later op reads.
    unread_buffers: FxHashSet<Value>,
}

impl OverwrittenElements {
    fn remove_read(&mut self, read: &ReadBuffers) {
        if read.may_read_others {
            self.others.clear();
        }
        #[allow(clippy::iter_over_hash_type, reason = "what is removed has no order")]
        for buffer in &read.private {
            self.private.remove(buffer);
            self.unread_buffers.remove(buffer);
        }
    }
}

struct StoreSearch<'a> {
    ir: &'a Ir,
    private: FxHashMap<Value, PrivateBuffer>,
    out: &'a mut Vec<(Op, Remark)>,
    n_visits: usize,
}

impl StoreSearch<'_> {
    /// Visits a region, and adds its reads to `read`.
    fn visit_region(&mut self, region: Region, read: &mut ReadBuffers) {
        for block in self.ir.blocks(region) {
            self.visit_block(block, read);
        }
    }

    fn visit_block(&mut self, block: Block, read: &mut ReadBuffers) {
        let ops: Vec<Op> = self.ir.block_ops(block).collect();
        let mut covered = OverwrittenElements::default();
        for &op in &ops {
            let made = self.ir.op(op).results.iter();
            covered
                .unread_buffers
                .extend(made.filter(|it| self.private.get(it).is_some_and(|it| it.stays_in_block)));
        }
        for op in ops.into_iter().rev() {
            self.n_visits += 1;
            let mut own = ReadBuffers::default();
            for &(_, region) in &self.ir.op(op).regions {
                self.visit_region(region, &mut own);
            }
            match accesses(self.ir, op) {
                None => own.may_read_others = true,
                Some(all) => {
                    if self.is_dead_write(op, &all, &covered) {
                        self.out.push((op, Remark::DeadStore(None)));
                    } else if let Some((buffer, element)) = element(self.ir, op) {
                        self.record_store(op, buffer, element, &mut covered);
                    }
                    for (_, buffer) in all.iter().filter(|it| it.0 == Access::Read) {
                        match buffer.filter(|it| self.private.contains_key(it)) {
                            Some(buffer) => {
                                own.private.insert(buffer);
                            }
                            None => own.may_read_others = true,
                        }
                    }
                }
            }
            covered.remove_read(&own);
            read.may_read_others |= own.may_read_others;
            read.private.extend(own.private);
        }
    }

    /// Returns true if an op has no other effect than reads and at least one write, all to buffers
    /// that no later op reads.
    fn is_dead_write(
        &self,
        op: Op,
        all: &[(Access, Option<Value>)],
        covered: &OverwrittenElements,
    ) -> bool {
        let data = self.ir.op(op);
        let is_unread = |it: &Value| {
            covered.unread_buffers.contains(it)
                || self.private.get(it).is_some_and(|it| !it.is_read)
        };
        let mut n_writes = 0;
        let is_idle = all.iter().all(|(access, buffer)| match access {
            Access::Read => true,
            Access::Write => {
                n_writes += 1;
                buffer.as_ref().is_some_and(is_unread)
            }
            Access::Allocate | Access::Free => false,
        });
        is_idle && n_writes > 0 && data.results.is_empty() && data.regions.is_empty()
    }

    /// Records a store, and reports it if a later store overwrites it.
    fn record_store(
        &mut self,
        op: Op,
        buffer: Value,
        element: Element,
        covered: &mut OverwrittenElements,
    ) {
        let over = if self.private.contains_key(&buffer) {
            covered.private.entry(buffer).or_default().insert(element, op)
        } else {
            covered.others.insert((buffer, element), op)
        };
        if let Some(over) = over {
            self.out.push((op, Remark::DeadStore(Some(over))));
        }
    }
}

/// Returns the element that an op stores to; `None` if the op is not a plain store.
fn element(ir: &Ir, op: Op) -> Option<(Value, Element)> {
    let data = ir.op(op);
    if !matches!(data.kind, OpKind::MemrefStore | OpKind::AffineStore) {
        return None;
    }
    let Effects::Known(&[(Access::Write, Buffer::Operand(at))]) = data.kind.spec().effects else {
        return None;
    };
    let index = |value: Value| int_of(ir, value).map_or(Index::Value(value), Index::Number);
    let indices = data.operands[at + 1..].iter().map(|it| it.value.map(index));
    let element = Element { map: ir.attr(op, "map"), indices: indices.collect::<Option<_>>()? };
    Some((operand(ir, op, at)?, element))
}
