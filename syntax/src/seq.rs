//! The items of a region as a balanced sequence that sums lengths.
//!
//! A randomized binary tree without stored priorities: the items are its nodes (the links live in [`crate::OpData`]), in-order
//! is program order, and every node knows the bytes, items and labels of its subtree. Merging two trees picks the
//! root with probability proportional to size, which keeps the expected depth at O(log n) whatever the edits
//! (Martinez and Roura, "Randomized binary search trees", 1998); the "random" numbers are a hash of the
//! ids, so equal histories give equal trees.
//!
//! *Law.* In-order traversal yields the items in textual order; `bytes` of a subtree is the sum of the lengths of its items.
//! *Cost.* Building is linear; everything else is O(log n).

use crate::{Ir, Op, OpKind, Region};

const NONE: Op = Op(u32::MAX);

/// The place of an item in the tree of its region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    up: Op,
    left: Op,
    right: Op,
    bytes: u32,
    count: u32,
    labels: u32,
}

impl Default for Link {
    fn default() -> Self {
        Self { up: NONE, left: NONE, right: NONE, bytes: 0, count: 1, labels: 0 }
    }
}

/// The root of the tree of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Root(Option<Op>);

fn link(ir: &Ir, op: Op) -> &Link {
    &ir.ops[op.index()].link
}

fn bytes(ir: &Ir, op: Op) -> u32 {
    if op == NONE { 0 } else { link(ir, op).bytes }
}

fn count(ir: &Ir, op: Op) -> u32 {
    if op == NONE { 0 } else { link(ir, op).count }
}

fn labels(ir: &Ir, op: Op) -> u32 {
    if op == NONE { 0 } else { link(ir, op).labels }
}

fn own_bytes(ir: &Ir, op: Op) -> u32 {
    let it = link(ir, op);
    it.bytes - bytes(ir, it.left) - bytes(ir, it.right)
}

fn is_label(ir: &Ir, op: Op) -> bool {
    ir.ops[op.index()].kind == OpKind::Label
}

/// Recomputes the sums of a node whose own length is given.
fn update(ir: &mut Ir, op: Op, own: u32) {
    let Link { left, right, .. } = *link(ir, op);
    let sum = own + bytes(ir, left) + bytes(ir, right);
    let n = 1 + count(ir, left) + count(ir, right);
    let n_labels = u32::from(is_label(ir, op)) + labels(ir, left) + labels(ir, right);
    let it = &mut ir.ops[op.index()].link;
    (it.bytes, it.count, it.labels) = (sum, n, n_labels);
    for child in [left, right] {
        if child != NONE {
            ir.ops[child.index()].link.up = op;
        }
    }
}

/// Makes these items, with the bytes of each, the contents of an empty region.
pub(crate) fn build(ir: &mut Ir, region: Region, items: &[(Op, u32)]) {
    let root = build_tree(ir, items);
    set_root(ir, region, root);
}

fn build_tree(ir: &mut Ir, items: &[(Op, u32)]) -> Op {
    if items.is_empty() {
        return NONE;
    }
    let middle = items.len() / 2;
    let left = build_tree(ir, &items[..middle]);
    let right = build_tree(ir, &items[middle + 1..]);
    let (op, own) = items[middle];
    ir.ops[op.index()].link = Link { left, right, ..Link::default() };
    update(ir, op, own);
    op
}

fn root_of(ir: &Ir, region: Region) -> Op {
    ir.regions[region.index()].items.0.unwrap_or(NONE)
}

fn set_root(ir: &mut Ir, region: Region, root: Op) {
    if root != NONE {
        ir.ops[root.index()].link.up = NONE;
    }
    ir.regions[region.index()].items = Root((root != NONE).then_some(root));
}

/// Splits a tree into its first `n` items and the rest.
fn split(ir: &mut Ir, root: Op, n: u32) -> (Op, Op) {
    if root == NONE {
        return (NONE, NONE);
    }
    let own = own_bytes(ir, root);
    let Link { left, right, .. } = *link(ir, root);
    let before = count(ir, left);
    if n <= before {
        let (a, b) = split(ir, left, n);
        ir.ops[root.index()].link.left = b;
        update(ir, root, own);
        (a, root)
    } else {
        let (a, b) = split(ir, right, n - before - 1);
        ir.ops[root.index()].link.right = a;
        update(ir, root, own);
        (root, b)
    }
}

fn merge(ir: &mut Ir, a: Op, b: Op) -> Op {
    if a == NONE {
        return b;
    }
    if b == NONE {
        return a;
    }
    let (n_a, n_b) = (u64::from(count(ir, a)), u64::from(count(ir, b)));
    let hash = (u64::from(a.0) << 32 | u64::from(b.0)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    if hash % (n_a + n_b) < n_a {
        let own = own_bytes(ir, a);
        let right = link(ir, a).right;
        let right = merge(ir, right, b);
        ir.ops[a.index()].link.right = right;
        update(ir, a, own);
        a
    } else {
        let own = own_bytes(ir, b);
        let left = link(ir, b).left;
        let left = merge(ir, a, left);
        ir.ops[b.index()].link.left = left;
        update(ir, b, own);
        b
    }
}

/// Replaces `n` items from `from` on. The items that leave keep their links until they are reused.
pub(crate) fn splice(ir: &mut Ir, region: Region, from: usize, n: usize, items: &[(Op, u32)]) {
    let root = root_of(ir, region);
    let (before, rest) = split(ir, root, from as u32);
    let (_, after) = split(ir, rest, n as u32);
    let middle = build_tree(ir, items);
    let root = merge(ir, before, middle);
    let root = merge(ir, root, after);
    set_root(ir, region, root);
}

/// Adds to the length of an item in its region's sums.
pub(crate) fn grow(ir: &mut Ir, op: Op, delta: i64) {
    let mut at = op;
    while at != NONE {
        let it = &mut ir.ops[at.index()].link;
        it.bytes = (i64::from(it.bytes) + delta) as u32;
        at = it.up;
    }
}

/// Bytes of all items of a region.
pub(crate) fn total(ir: &Ir, region: Region) -> usize {
    bytes(ir, root_of(ir, region)) as usize
}

/// Number of items of a region.
pub(crate) fn n_items(ir: &Ir, region: Region) -> usize {
    count(ir, root_of(ir, region)) as usize
}

/// Bytes of the items before this one.
pub(crate) fn offset(ir: &Ir, op: Op) -> usize {
    let mut at = op;
    let mut sum = bytes(ir, link(ir, op).left) as usize;
    loop {
        let up = link(ir, at).up;
        if up == NONE {
            return sum;
        }
        if link(ir, up).right == at {
            sum += (bytes(ir, up) - bytes(ir, at)) as usize;
        }
        at = up;
    }
}

/// Number of items before this one.
pub(crate) fn rank(ir: &Ir, op: Op) -> usize {
    let mut at = op;
    let mut sum = count(ir, link(ir, op).left);
    loop {
        let up = link(ir, at).up;
        if up == NONE {
            return sum as usize;
        }
        if link(ir, up).right == at {
            sum += count(ir, up) - count(ir, at);
        }
        at = up;
    }
}

/// The item whose bytes hold `offset`, and where it starts, both within the region; the last one if `offset` is its end.
pub(crate) fn find(ir: &Ir, region: Region, mut offset: usize) -> Option<(Op, usize)> {
    let mut at = root_of(ir, region);
    if at == NONE || offset > bytes(ir, at) as usize {
        return None;
    }
    let mut base = 0;
    loop {
        let Link { left, right, .. } = *link(ir, at);
        let before = bytes(ir, left) as usize;
        if offset < before {
            at = left;
            continue;
        }
        let own = own_bytes(ir, at) as usize;
        if offset < before + own || right == NONE {
            return Some((at, base + before));
        }
        offset -= before + own;
        base += before + own;
        at = right;
    }
}

fn leftmost(ir: &Ir, mut at: Op) -> Op {
    while link(ir, at).left != NONE {
        at = link(ir, at).left;
    }
    at
}

fn rightmost(ir: &Ir, mut at: Op) -> Op {
    while link(ir, at).right != NONE {
        at = link(ir, at).right;
    }
    at
}

/// The first item of a region.
pub(crate) fn first(ir: &Ir, region: Region) -> Option<Op> {
    ir.regions[region.index()].items.0.map(|root| leftmost(ir, root))
}

/// The last item of a region.
pub(crate) fn last(ir: &Ir, region: Region) -> Option<Op> {
    ir.regions[region.index()].items.0.map(|root| rightmost(ir, root))
}

/// The item at a rank.
pub(crate) fn nth(ir: &Ir, region: Region, n: usize) -> Option<Op> {
    let mut at = root_of(ir, region);
    let mut n = n as u32;
    while at != NONE {
        let Link { left, right, .. } = *link(ir, at);
        let before = count(ir, left);
        match n.cmp(&before) {
            std::cmp::Ordering::Less => at = left,
            std::cmp::Ordering::Equal => return Some(at),
            std::cmp::Ordering::Greater => {
                n -= before + 1;
                at = right;
            }
        }
    }
    None
}

/// The item after this one.
pub(crate) fn next(ir: &Ir, op: Op) -> Option<Op> {
    let right = link(ir, op).right;
    if right != NONE {
        return Some(leftmost(ir, right));
    }
    let mut at = op;
    loop {
        let up = link(ir, at).up;
        if up == NONE {
            return None;
        }
        if link(ir, up).left == at {
            return Some(up);
        }
        at = up;
    }
}

/// The item before this one.
pub(crate) fn prev(ir: &Ir, op: Op) -> Option<Op> {
    let left = link(ir, op).left;
    if left != NONE {
        return Some(rightmost(ir, left));
    }
    let mut at = op;
    loop {
        let up = link(ir, at).up;
        if up == NONE {
            return None;
        }
        if link(ir, up).right == at {
            return Some(up);
        }
        at = up;
    }
}

/// The label itself, or the last one before this item.
pub(crate) fn label_at_or_before(ir: &Ir, op: Op) -> Option<Op> {
    if is_label(ir, op) {
        return Some(op);
    }
    let mut at = op;
    let mut from = link(ir, op).left;
    loop {
        if labels(ir, from) > 0 {
            return Some(last_label_in(ir, from));
        }
        // Climb to an ancestor that comes before.
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
        if labels(ir, right) > 0 {
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
        if labels(ir, left) > 0 {
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
    (labels(ir, root) > 0).then(|| first_label_in(ir, root))
}

/// The first label after this item.
pub(crate) fn next_label(ir: &Ir, op: Op) -> Option<Op> {
    let mut at = op;
    let mut from = link(ir, op).right;
    loop {
        if labels(ir, from) > 0 {
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

/// The items of a region from one of them on.
#[derive(Debug)]
pub struct Iter<'a> {
    ir: &'a Ir,
    at: Option<Op>,
}

pub(crate) fn iter(ir: &Ir, region: Region) -> Iter<'_> {
    Iter { ir, at: first(ir, region) }
}

pub(crate) fn iter_from(ir: &Ir, op: Op) -> Iter<'_> {
    Iter { ir, at: Some(op) }
}

impl Iterator for Iter<'_> {
    type Item = Op;

    fn next(&mut self) -> Option<Op> {
        let op = self.at?;
        self.at = next(self.ir, op);
        Some(op)
    }
}
