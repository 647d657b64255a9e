//! Private buffers: a function allocates them and they do not escape.
//!
//! *Law.* Only ops that have the value of the buffer as an operand access it; no other buffer
//! aliases it. *Cost.* Linear in the uses of the allocated values, times the depth of the enclosing
//! regions.

use noisy_syntax::dialect::{Access, Buffer, Effects};
use noisy_syntax::{Ir, Op, OpKind, Traits, TypeData, Value};
use rustc_hash::FxHashMap;

use crate::facts::effects::accesses;

/// The accesses to a private buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrivateBuffer {
    /// True if an op reads from it.
    pub is_read: bool,
    /// True if all accesses are in its block or in regions nested in its block.
    pub stays_in_block: bool,
}

/// Returns the private buffers that some ops allocate.
pub(super) fn private_buffers(ir: &Ir, ops: &[Op]) -> FxHashMap<Value, PrivateBuffer> {
    let made = ops
        .iter()
        .filter(|&&it| matches!(ir.op(it).kind, OpKind::MemrefAlloc | OpKind::MemrefAlloca));
    let made = made.filter_map(|&op| {
        let &value = ir.op(op).results.first()?;
        Some((value, uses_of(ir, op, value)?))
    });
    made.collect()
}

/// Returns the accesses to a buffer; `None` if the buffer may have an alias or an unknown access.
fn uses_of(ir: &Ir, op: Op, value: Value) -> Option<PrivateBuffer> {
    let (home, block) = (ir.op(op).parent, ir.block_of(op));
    let mut out = PrivateBuffer { is_read: false, stays_in_block: true };
    for &(user, index) in &ir.value(value).uses {
        out.is_read |= reads(ir, user, index as usize)?;
        let mut at = user;
        while ir.op(at).parent != home {
            at = ir.parent_op(at)?;
            // The enclosing op must run the use itself: it may not store the code for later.
            accesses(ir, at)?;
        }
        out.stays_in_block &= ir.block_of(at) == block;
    }
    Some(out)
}

/// Returns true if an op reads the buffer of an operand; `None` if the op may do more than read,
/// write and free it.
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
