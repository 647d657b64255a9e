//! The labels of a region, found without visiting the items between them.
//!
//! *Cost.* Each step from one label to the next takes O(log n).

use super::{LABEL, Link, beyond, link, outside, root_of};
use crate::{Ir, Op, OpKind, Region};

fn has_label(ir: &Ir, op: Op) -> bool {
    link(ir, op).flags & LABEL != 0
}

fn is_label(ir: &Ir, op: Op) -> bool {
    ir.ops[op.index()].kind == OpKind::Label
}

/// The first label of a subtree on the way forward, or on the way back.
fn first_label_on_way<const FORWARD: bool>(ir: &Ir, mut at: Op) -> Op {
    loop {
        let Link { left, right, .. } = *link(ir, at);
        let (before, after) = if FORWARD { (left, right) } else { (right, left) };
        if has_label(ir, before) {
            at = before;
        } else if is_label(ir, at) {
            return at;
        } else {
            at = after;
        }
    }
}

/// The first label after an item, or before it.
fn nearest<const FORWARD: bool>(ir: &Ir, mut at: Op) -> Option<Op> {
    loop {
        let from = beyond::<FORWARD>(ir, at);
        if has_label(ir, from) {
            return Some(first_label_on_way::<FORWARD>(ir, from));
        }
        at = outside::<FORWARD>(ir, at)?;
        if is_label(ir, at) {
            return Some(at);
        }
    }
}

/// The item itself if it is a label, or the last label before it.
pub(crate) fn label_at_or_before(ir: &Ir, op: Op) -> Option<Op> {
    if is_label(ir, op) { Some(op) } else { nearest::<false>(ir, op) }
}

/// The first label of a region.
pub(crate) fn first_label(ir: &Ir, region: Region) -> Option<Op> {
    let root = root_of(ir, region);
    has_label(ir, root).then(|| first_label_on_way::<true>(ir, root))
}

/// The first label after this item.
pub(crate) fn next_label(ir: &Ir, op: Op) -> Option<Op> {
    nearest::<true>(ir, op)
}
