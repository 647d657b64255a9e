//! Expands the selection from the name under the cursor to its op, to the inside of its region, to
//! the parent op, and so on to the file.

use std::ops::Range;

use noisy_syntax::Source;

use crate::features::find::cursor;
use crate::features::walk::{ItemWalk, region_ranges};

/// Maximum number of cursors in a request. Editors support at most as many, and the answer takes 15
/// KB for each.
pub(crate) const MAX_CURSORS: usize = 10_000;

/// Maximum number of ranges. Clients parse the answer recursively.
const MAX_RANGES: usize = 64;

/// The ranges around an offset, innermost first, each larger than the one before.
pub(crate) fn selection(source: &Source, offset: usize) -> Vec<Range<usize>> {
    let ir = source.ir();
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut add = |range: Range<usize>| {
        let larger = out.last().is_none_or(|it| {
            range.start <= it.start && it.end <= range.end && range.len() > it.len()
        });
        if larger && out.len() < MAX_RANGES && range.start <= offset && offset <= range.end {
            out.push(range);
        }
    };
    if let Some(mention) = cursor::mention_at(source, offset) {
        add(mention.range);
    }
    let (mut around, mut walk) = ItemWalk::starting_at(ir, offset);
    around.extend(walk.next(ir));
    for item in around.into_iter().rev() {
        for (_, inside) in region_ranges(ir, item) {
            add(inside);
        }
        let data = ir.op(item.op);
        if data.kind.is_op() {
            add(ir.head_range(item.op));
        }
        let len = ir.item_len(item.op);
        add(item.start + data.lead_len as usize..item.start + len);
    }
    add(0..source.text().len_bytes());
    if out.is_empty() {
        out.push(offset..offset);
    }
    out
}
