//! Buffers that a function allocates and that nothing else sees.
//!
//! *Law.* All accesses to such a buffer are by ops that name it; no other buffer shares elements
//! with it. *Cost.* Linear in the uses of the allocated values, times the regions around them.

use noisy_syntax::dialect::{Access, Buffer, Effects};
use noisy_syntax::{Ir, Op, OpKind, Traits, TypeData, Value};
use rustc_hash::FxHashMap;

use crate::facts::effects::accesses;

/// A buffer that nothing else sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Private {
    /// True if an op reads from it.
    pub is_read: bool,
    /// True if only its block, and regions in its block, access it.
    pub stays_in_block: bool,
}

/// The buffers that some ops create and that no other code can access.
pub(super) fn private(ir: &Ir, ops: &[Op]) -> FxHashMap<Value, Private> {
    let made = ops
        .iter()
        .filter(|&&it| matches!(ir.op(it).kind, OpKind::MemrefAlloc | OpKind::MemrefAlloca));
    let made = made.filter_map(|&op| {
        let &value = ir.op(op).results.first()?;
        Some((value, uses_of(ir, op, value)?))
    });
    made.collect()
}

/// The uses of a buffer; `None` if it may have another name or an unknown access.
fn uses_of(ir: &Ir, op: Op, value: Value) -> Option<Private> {
    let (home, block) = (ir.op(op).parent, ir.block_of(op));
    let mut out = Private { is_read: false, stays_in_block: true };
    for &(user, index) in &ir.value(value).uses {
        out.is_read |= reads(ir, user, index as usize)?;
        let mut at = user;
        while ir.op(at).parent != home {
            at = ir.parent_op(at)?;
            // The op around the use must run it at its place in the program, not later.
            accesses(ir, at)?;
        }
        out.stays_in_block &= ir.block_of(at) == block;
    }
    Some(out)
}

/// Returns true if an op reads from the buffer of an operand; `None` if it does anything but read,
/// write and free.
fn reads(ir: &Ir, user: Op, index: usize) -> Option<bool> {
    let data = ir.op(user);
    if data.kind == OpKind::MemrefDim && index == 0 {
        return Some(false);
    }
    let gives_a_buffer = |&it: &Value| {
        let ty = ir.value(it).ty;
        !matches!(
            ir.interner.type_data(ty),
            TypeData::Int { .. } | TypeData::Index | TypeData::Float(_) | TypeData::Vector { .. }
        )
    };
    let is_plain = data.regions.is_empty()
        && !data.kind.has(Traits::TERMINATOR)
        && !data.results.iter().any(gives_a_buffer);
    let Effects::Known(all) = data.kind.spec().effects else { return None };
    if !is_plain || all.iter().any(|it| it.0 == Access::Allocate) {
        return None;
    }
    let mut its = all.iter().filter(|it| it.1 == Buffer::Operand(index)).peekable();
    its.peek()?;
    Some(its.any(|it| it.0 == Access::Read))
}
