//! The labels of a region, found without visiting the items between them.
//!
//! *Cost.* Each step from one label to the next takes O(log n).

use super::{LABEL, Link, NONE, link, root_of};
use crate::{Ir, Op, OpKind, Region};

fn has_label(ir: &Ir, op: Op) -> bool {
    link(ir, op).has & LABEL != 0
}

fn is_label(ir: &Ir, op: Op) -> bool {
    ir.ops[op.index()].kind == OpKind::Label
}

/// The item itself if it is a label, or the last label before it.
pub(crate) fn label_at_or_before(ir: &Ir, op: Op) -> Option<Op> {
    if is_label(ir, op) {
        return Some(op);
    }
    let mut at = op;
    let mut from = link(ir, op).left;
    loop {
        if has_label(ir, from) {
            return Some(last_label_in(ir, from));
        }
        // Climb to an ancestor that precedes the item.
        loop {
            let up = link(ir, at).up;
            if up == NONE {
                return None;
            }
            let was_right = link(ir, up).right == at;
            at = up;
            if was_right {
                break;
            }
        }
        if is_label(ir, at) {
            return Some(at);
        }
        from = link(ir, at).left;
    }
}

fn last_label_in(ir: &Ir, mut at: Op) -> Op {
    loop {
        let Link { left, right, .. } = *link(ir, at);
        if has_label(ir, right) {
            at = right;
        } else if is_label(ir, at) {
            return at;
        } else {
            at = left;
        }
    }
}

fn first_label_in(ir: &Ir, mut at: Op) -> Op {
    loop {
        let Link { left, right, .. } = *link(ir, at);
        if has_label(ir, left) {
            at = left;
        } else if is_label(ir, at) {
            return at;
        } else {
            at = right;
        }
    }
}

/// The first label of a region.
pub(crate) fn first_label(ir: &Ir, region: Region) -> Option<Op> {
    let root = root_of(ir, region);
    (has_label(ir, root)).then(|| first_label_in(ir, root))
}

/// The first label after this item.
pub(crate) fn next_label(ir: &Ir, op: Op) -> Option<Op> {
    let mut at = op;
    let mut from = link(ir, op).right;
    loop {
        if has_label(ir, from) {
            return Some(first_label_in(ir, from));
        }
        loop {
            let up = link(ir, at).up;
            if up == NONE {
                return None;
            }
            let was_left = link(ir, up).left == at;
            at = up;
            if was_left {
                break;
            }
        }
        if is_label(ir, at) {
            return Some(at);
        }
        from = link(ir, at).right;
    }
}
