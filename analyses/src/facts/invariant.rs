//! Loop-invariant ops: the pass `loop-invariant-code-motion` moves them, and the lint
//! `loop-invariant` reports them.
//!
//! *Law.* Only ops without effects that are defined for all operands may move: they then run even
//! if the loop has no iteration. *Cost.* Linear in the ops of the regions of the op, times their
//! depth in the loop.

use noisy_syntax::{Ir, Op, OpKind, Traits, Value};

use crate::facts::effects;
use crate::facts::values;

/// Returns true if an op is a loop out of which invariant ops are moved.
pub fn is_loop(ir: &Ir, op: Op) -> bool {
    matches!(
        ir.op(op).kind,
        OpKind::ScfFor
            | OpKind::ScfWhile
            | OpKind::ScfParallel
            | OpKind::ScfForall
            | OpKind::AffineFor
            | OpKind::AffineParallel
    )
}

/// Returns true if an op directly in a loop can move before the loop: it may run speculatively, and
/// is invariant once the ops for which `is_moved` holds have moved.
pub fn can_leave_loop(ir: &Ir, op: Op, of: Op, is_moved: &impl Fn(Op) -> bool) -> bool {
    !ir.op(op).kind.has(Traits::TERMINATOR)
        && is_invariant(ir, op, of, is_moved)
        && effects::is_free_of_effects(ir, op)
        && effects::is_speculatable(ir, op)
}

/// Returns true if an op and its regions use no value that is defined in a loop, except results of
/// ops for which `is_moved` holds.
pub fn is_invariant(ir: &Ir, op: Op, of: Op, is_moved: &impl Fn(Op) -> bool) -> bool {
    let mut stack = vec![op];
    while let Some(it) = stack.pop() {
        if ir.op(it).kind.is_op() {
            let is_outside = |&value: &Value| {
                if ir.defining_op(value).is_some_and(is_moved) {
                    return true;
                }
                let region = ir.def_region(value);
                // The value is defined in the op itself, or outside of the loop.
                let is_inside =
                    |at: Op| ir.op(at).regions.iter().any(|it| ir.region_encloses(it.1, region));
                is_inside(op) || !is_inside(of)
            };
            if !values::operands(ir, it).iter().all(is_outside) {
                return false;
            }
        }
        for &(_, region) in &ir.op(it).regions {
            stack.extend(ir.items(region));
        }
    }
    true
}
