//! The items of a region as a balanced sequence that sums lengths.
//!
//! A randomized binary tree without stored priorities. The items are its nodes, and in-order is
//! program order. The [`Link`]s of the nodes are adjacent in a table of their own, so a walk makes
//! good use of the cache. Each node stores sums over its subtree ([`Link`]): bytes, number of
//! items, presence of labels, look-ahead, and so on. Merging two trees picks the root with
//! probability proportional to size, which keeps the expected depth at O(log n) for any sequence of
//! edits (Martinez and Roura, "Randomized binary search trees", 1998). The "random" numbers are a
//! hash of the ids, so equal histories give equal trees.
//!
//! *Law.* In-order traversal yields the items in textual order; each sum of a node is the sum (or
//! maximum) over the items of its subtree. *Cost.* Building is linear; everything else is O(log n).

mod labels;

use crate::skeleton::DEPENDS_ON_DIALECT;
use crate::{Ir, Op, OpKind, Region};

pub(crate) use labels::{first_label, label_at_or_before, next_label};

const NONE: Op = Op(u32::MAX);

/// The node of an item in the tree of its region: the links to its parent and children, and the
/// sums over its subtree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    up: Op,
    left: Op,
    right: Op,
    bytes: u32,
    count: u32,
    /// Look-ahead: bytes beyond the end of the subtree that were read to find the ends of its
    /// items.
    lookahead: u32,
    /// Nesting depth of the regions in its items.
    height: u8,
    /// A union of flags: [`LABEL`] if there is a label, and the context on which the items depend
    /// ([`DEPENDS_ON_DIALECT`], [`crate::skeleton::DEPENDS_ON_TOP_LEVEL`]).
    flags: u8,
    /// The values of [`Link::lookahead`], [`Link::height`] and [`Link::flags`] for the item alone,
    /// computed when it was inserted or last renewed.
    own_lookahead: u32,
    own_height: u8,
    own_flags: u8,
}

/// Flag: the subtree contains a label.
const LABEL: u8 = 1;

const EMPTY: Link = Link {
    up: NONE,
    left: NONE,
    right: NONE,
    bytes: 0,
    count: 0,
    lookahead: 0,
    height: 0,
    flags: 0,
    own_lookahead: 0,
    own_height: 0,
    own_flags: 0,
};

impl Default for Link {
    fn default() -> Self {
        Self { count: 1, ..EMPTY }
    }
}

/// The root of the tree of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeRoot(Option<Op>);

/// The sums over the items of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubtreeSums {
    pub(crate) bytes: u32,
    /// Look-ahead: bytes beyond the end of the items that were read.
    pub(crate) lookahead: u32,
    /// Nesting depth of the regions in the items.
    pub(crate) height: u8,
    /// A union of flags: [`LABEL`] if there is a label, and the context on which the items depend
    /// ([`DEPENDS_ON_DIALECT`], [`crate::skeleton::DEPENDS_ON_TOP_LEVEL`]).
    pub(crate) flags: u8,
}

fn link(ir: &Ir, op: Op) -> &Link {
    static NOTHING: Link = EMPTY;
    if op == NONE { &NOTHING } else { &ir.links[op.index()] }
}

fn bytes(ir: &Ir, op: Op) -> u32 {
    link(ir, op).bytes
}

fn count(ir: &Ir, op: Op) -> u32 {
    link(ir, op).count
}

fn own_bytes(ir: &Ir, op: Op) -> u32 {
    let it = link(ir, op);
    it.bytes - bytes(ir, it.left) - bytes(ir, it.right)
}

/// The sums of one item with the length `own`.
fn own_sum(ir: &Ir, op: Op, own: u32) -> SubtreeSums {
    let &Link { own_lookahead: far, own_height: height, own_flags: has, .. } = link(ir, op);
    SubtreeSums { bytes: own, lookahead: far, height, flags: has }
}

/// Stores the sums of a single item, before it becomes a [`SeqPiece::Item`].
pub(crate) fn update_own_sums(ir: &mut Ir, op: Op) {
    let data = &ir.ops[op.index()];
    let label = if data.kind == OpKind::Label { LABEL } else { 0 };
    let mut sum = SubtreeSums {
        bytes: 0,
        lookahead: data.lookahead,
        height: 0,
        flags: label | data.context_deps,
    };
    for &(_, region) in &data.regions {
        let inner = total(ir, region);
        sum.height = sum.height.max(inner.height.saturating_add(1));
        // The look-ahead of the region extends at most this far beyond the item.
        sum.lookahead =
            sum.lookahead.max(inner.lookahead.saturating_sub(ir.region(region).tail_len));
        // The default dialect inside an op in the generic form, broken or not, is the one around
        // the op.
        if data.is_quoted {
            sum.flags |= inner.flags & DEPENDS_ON_DIALECT;
        }
    }
    let it = &mut ir.links[op.index()];
    (it.own_lookahead, it.own_height, it.own_flags) = (sum.lookahead, sum.height, sum.flags);
}

/// Recomputes the sums of the subtree of a node, whose own length is `own`.
fn update(ir: &mut Ir, op: Op, own: u32) {
    let sum = own_sum(ir, op, own);
    let Link { left, right, .. } = *link(ir, op);
    let (l, r) = (*link(ir, left), *link(ir, right));
    let far = r.lookahead.max(sum.lookahead.saturating_sub(r.bytes));
    ir.starts.clear();
    let it = &mut ir.links[op.index()];
    it.bytes = own + l.bytes + r.bytes;
    it.count = 1 + l.count + r.count;
    it.lookahead = far.max(l.lookahead.saturating_sub(own + r.bytes));
    it.height = sum.height.max(l.height).max(r.height);
    it.flags = sum.flags | l.flags | r.flags;
    for child in [left, right] {
        if child != NONE {
            ir.links[child.index()].up = op;
        }
    }
}

fn build_tree(ir: &mut Ir, items: &[(Op, u32)]) -> Op {
    if items.is_empty() {
        return NONE;
    }
    let middle = items.len() / 2;
    let left = build_tree(ir, &items[..middle]);
    let right = build_tree(ir, &items[middle + 1..]);
    let (op, own) = items[middle];
    let it = &mut ir.links[op.index()];
    (it.left, it.right, it.up) = (left, right, NONE);
    update(ir, op, own);
    op
}

/// Items to concatenate: one item with its length in bytes (after [`update_own_sums`]), or a tree
/// of items.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SeqPiece {
    Item(Op, u32),
    Tree(TreeRoot),
}

/// Fills an empty region with pieces.
pub(crate) fn fill(ir: &mut Ir, region: Region, pieces: &[SeqPiece]) {
    let root = join(ir, pieces);
    set_root(ir, region, root);
}

fn join(ir: &mut Ir, pieces: &[SeqPiece]) -> Op {
    let mut root = NONE;
    let mut items: Vec<(Op, u32)> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match *piece {
            SeqPiece::Item(op, len) => items.push((op, len)),
            SeqPiece::Tree(TreeRoot(tree)) => {
                let run = build_tree(ir, &items);
                items.clear();
                root = merge(ir, root, run);
                root = merge(ir, root, tree.unwrap_or(NONE));
            }
        }
    }
    let run = build_tree(ir, &items);
    merge(ir, root, run)
}

/// Cuts `n` items out of a region, starting at index `from`.
pub(crate) fn cut(ir: &mut Ir, region: Region, from: usize, n: usize) -> TreeRoot {
    let root = root_of(ir, region);
    let (before, rest) = split(ir, root, from as u32);
    let (middle, after) = split(ir, rest, n as u32);
    let root = merge(ir, before, after);
    set_root(ir, region, root);
    if middle != NONE {
        ir.links[middle.index()].up = NONE;
    }
    TreeRoot((middle != NONE).then_some(middle))
}

/// Removes one item from its region in an IR without text; its children replace it in the tree. The
/// look-ahead and the nesting depth have no meaning without a text, so those of its ancestors are
/// not updated.
pub(crate) fn remove(ir: &mut Ir, op: Op) {
    let region = ir.op(op).parent;
    let Link { up, left, right, own_flags: own_has, .. } = *link(ir, op);
    let own = own_bytes(ir, op);
    let up_own = if up == NONE { 0 } else { own_bytes(ir, up) };
    let child = merge(ir, left, right);
    ir.links[op.index()] = Link::default();
    if up == NONE {
        set_root(ir, region, child);
        return;
    }
    if child != NONE {
        ir.links[child.index()].up = up;
    }
    let it = &mut ir.links[up.index()];
    *(if it.left == op { &mut it.left } else { &mut it.right }) = child;
    if own_has & LABEL != 0 {
        update_ancestors(ir, up, up_own);
        return;
    }
    ir.starts.clear();
    let mut at = up;
    while at != NONE {
        let it = &mut ir.links[at.index()];
        it.count -= 1;
        it.bytes -= own;
        at = it.up;
    }
}

/// Inserts pieces into a region, before the item with index `at`.
pub(crate) fn insert(ir: &mut Ir, region: Region, at: usize, pieces: &[SeqPiece]) {
    let middle = join(ir, pieces);
    let root = root_of(ir, region);
    let (before, after) = split(ir, root, at as u32);
    let root = merge(ir, before, middle);
    let root = merge(ir, root, after);
    set_root(ir, region, root);
}

/// The items of a tree, in order.
pub(crate) fn items(ir: &Ir, root: TreeRoot) -> Vec<Op> {
    let mut out = Vec::new();
    let mut at = root.0.map(|it| first_on_way::<true>(ir, it));
    while let Some(op) = at {
        out.push(op);
        at = next(ir, op);
    }
    out
}

fn root_of(ir: &Ir, region: Region) -> Op {
    ir.regions[region.index()].items.0.unwrap_or(NONE)
}

fn set_root(ir: &mut Ir, region: Region, root: Op) {
    ir.starts.clear();
    if root != NONE {
        ir.links[root.index()].up = NONE;
    }
    ir.regions[region.index()].items = TreeRoot((root != NONE).then_some(root));
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
        ir.links[root.index()].left = b;
        update(ir, root, own);
        (a, root)
    } else {
        let (a, b) = split(ir, right, n - before - 1);
        ir.links[root.index()].right = a;
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
        ir.links[a.index()].right = right;
        update(ir, a, own);
        a
    } else {
        let own = own_bytes(ir, b);
        let left = link(ir, b).left;
        let left = merge(ir, a, left);
        ir.links[b.index()].left = left;
        update(ir, b, own);
        b
    }
}

/// Updates the sums of the region of an item after the contents of the item changed. `len` is the
/// new length of the item.
pub(crate) fn update_sums(ir: &mut Ir, op: Op, len: u32) {
    update_own_sums(ir, op);
    update_ancestors(ir, op, len);
}

/// Recomputes the sums from an item with the length `len` up to the root.
fn update_ancestors(ir: &mut Ir, op: Op, len: u32) {
    let mut at = op;
    let mut own = len;
    loop {
        let up = link(ir, at).up;
        let up_own = if up == NONE { 0 } else { own_bytes(ir, up) };
        update(ir, at, own);
        if up == NONE {
            return;
        }
        (at, own) = (up, up_own);
    }
}

/// The sums over all items of a region.
pub(crate) fn total(ir: &Ir, region: Region) -> SubtreeSums {
    let &Link { bytes, lookahead: far, height, flags: has, .. } = link(ir, root_of(ir, region));
    SubtreeSums { bytes, lookahead: far, height, flags: has }
}

/// The sums over the first `n` items of a region.
pub(crate) fn total_before(ir: &Ir, region: Region, n: usize) -> SubtreeSums {
    let mut at = root_of(ir, region);
    let mut n = n as u32;
    let mut sum = SubtreeSums { bytes: 0, lookahead: 0, height: 0, flags: 0 };
    let add = |sum: &mut SubtreeSums, it: SubtreeSums| {
        sum.lookahead = it.lookahead.max(sum.lookahead.saturating_sub(it.bytes));
        sum.bytes += it.bytes;
        sum.height = sum.height.max(it.height);
        sum.flags |= it.flags;
    };
    while at != NONE && n > 0 {
        let Link { left, right, .. } = *link(ir, at);
        let before = count(ir, left);
        if n <= before {
            at = left;
            continue;
        }
        let &Link { bytes, lookahead: far, height, flags: has, .. } = link(ir, left);
        add(&mut sum, SubtreeSums { bytes, lookahead: far, height, flags: has });
        add(&mut sum, own_sum(ir, at, own_bytes(ir, at)));
        n -= before + 1;
        at = right;
    }
    sum
}

/// The first item with index at least `from` whose end, including its look-ahead, is at `offset` in
/// the region or later.
pub(crate) fn first_reaching(ir: &Ir, region: Region, from: usize, offset: usize) -> Option<Op> {
    first_reaching_in(ir, root_of(ir, region), from as i64, offset as i64)
}

/// Like [`first_reaching`], in a subtree whose first item has index 0 and starts at 0.
fn first_reaching_in(ir: &Ir, at: Op, from: i64, offset: i64) -> Option<Op> {
    let it = link(ir, at);
    if i64::from(it.count) <= from || i64::from(it.bytes) + i64::from(it.lookahead) < offset {
        return None;
    }
    if at == NONE {
        return None;
    }
    if let Some(found) = first_reaching_in(ir, it.left, from, offset) {
        return Some(found);
    }
    let (own, left) = (own_bytes(ir, at), link(ir, it.left));
    let (number, end) = (i64::from(left.count), i64::from(left.bytes) + i64::from(own));
    if number >= from && end + i64::from(own_sum(ir, at, own).lookahead) >= offset {
        return Some(at);
    }
    first_reaching_in(ir, it.right, from - number - 1, offset - end)
}

/// The index of the first item, at `from` or later, that has one of the flags `what`
/// ([`Link::flags`]); the number of items if there is none.
pub(crate) fn first_depending_on(ir: &Ir, region: Region, from: usize, what: u8) -> usize {
    let root = root_of(ir, region);
    first_flagged_in(ir, root, from as i64, what)
        .map_or(count(ir, root) as usize, |op| rank(ir, op))
}

fn first_flagged_in(ir: &Ir, at: Op, from: i64, what: u8) -> Option<Op> {
    let it = link(ir, at);
    if i64::from(it.count) <= from || it.flags & what == 0 {
        return None;
    }
    if let Some(found) = first_flagged_in(ir, it.left, from, what) {
        return Some(found);
    }
    let number = i64::from(count(ir, it.left));
    if number >= from && own_sum(ir, at, 0).flags & what != 0 {
        return Some(at);
    }
    first_flagged_in(ir, it.right, from - number - 1, what)
}

/// Number of items of a region.
pub(crate) fn n_items(ir: &Ir, region: Region) -> usize {
    count(ir, root_of(ir, region)) as usize
}

/// Returns the length of the items before this one, in bytes.
pub(crate) fn offset(ir: &Ir, op: Op) -> usize {
    sum_before(ir, op, |it| bytes(ir, it) as usize)
}

/// Returns the number of items before this one.
pub(crate) fn rank(ir: &Ir, op: Op) -> usize {
    sum_before(ir, op, |it| count(ir, it) as usize)
}

/// The sum of a number over the items before this one. `of` returns the sum over a subtree.
fn sum_before(ir: &Ir, op: Op, of: impl Fn(Op) -> usize) -> usize {
    let mut at = op;
    let mut sum = of(link(ir, op).left);
    loop {
        let up = link(ir, at).up;
        if up == NONE {
            return sum;
        }
        if link(ir, up).right == at {
            sum += of(up) - of(at);
        }
        at = up;
    }
}

/// The item that contains the byte at `offset`, and the start of the item, both relative to the
/// region. If `offset` is the end of the region, the last item.
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

/// The root of the items in the subtree of an item that come after it, or before it.
fn beyond<const FORWARD: bool>(ir: &Ir, at: Op) -> Op {
    let Link { left, right, .. } = *link(ir, at);
    if FORWARD { right } else { left }
}

/// The first item of a subtree on the way forward, or on the way back.
fn first_on_way<const FORWARD: bool>(ir: &Ir, mut at: Op) -> Op {
    loop {
        let Link { left, right, .. } = *link(ir, at);
        let before = if FORWARD { left } else { right };
        if before == NONE {
            return at;
        }
        at = before;
    }
}

/// The first item after the subtree of an item, or before it.
fn outside<const FORWARD: bool>(ir: &Ir, mut at: Op) -> Option<Op> {
    loop {
        let up = link(ir, at).up;
        if up == NONE {
            return None;
        }
        if beyond::<FORWARD>(ir, up) != at {
            return Some(up);
        }
        at = up;
    }
}

fn neighbour<const FORWARD: bool>(ir: &Ir, op: Op) -> Option<Op> {
    match beyond::<FORWARD>(ir, op) {
        NONE => outside::<FORWARD>(ir, op),
        it => Some(first_on_way::<FORWARD>(ir, it)),
    }
}

/// The first item of a region.
pub(crate) fn first(ir: &Ir, region: Region) -> Option<Op> {
    ir.regions[region.index()].items.0.map(|root| first_on_way::<true>(ir, root))
}

/// The last item of a region.
pub(crate) fn last(ir: &Ir, region: Region) -> Option<Op> {
    ir.regions[region.index()].items.0.map(|root| first_on_way::<false>(ir, root))
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
    neighbour::<true>(ir, op)
}

/// The item before this one.
pub(crate) fn prev(ir: &Ir, op: Op) -> Option<Op> {
    neighbour::<false>(ir, op)
}

/// Iterator over the items of a region, starting at a given item.
#[derive(Debug)]
pub struct Items<'a> {
    ir: &'a Ir,
    at: Option<Op>,
}

pub(crate) fn iter(ir: &Ir, region: Region) -> Items<'_> {
    Items { ir, at: first(ir, region) }
}

pub(crate) fn iter_from(ir: &Ir, op: Op) -> Items<'_> {
    Items { ir, at: Some(op) }
}

impl Iterator for Items<'_> {
    type Item = Op;

    fn next(&mut self) -> Option<Op> {
        let op = self.at?;
        self.at = next(self.ir, op);
        Some(op)
    }
}
