//! Indentation while typing. Incomplete text rarely follows the grammar, so this module uses only
//! the items, which every text has.

use noisy_syntax::{OpKind, Source, TextEdit};

use crate::INDENT;

/// Returns the edits after a character was typed directly before byte `at`. After a line break, the
/// new line is indented. After a `}` that closes a region, its line is indented like the op with
/// the region. There is at most one edit, of the blanks at the start of that line, and none after
/// any other character.
pub fn format_on_type(source: &Source, at: usize, typed: char) -> Vec<TextEdit> {
    let text = source.text();
    let at = at.min(text.len_bytes());
    let line = text.byte_to_line(at);
    let start = text.line_to_byte(line);
    let content: String =
        text.line(line).chars().take_while(|it| !matches!(it, '\n' | '\r')).collect();
    let first = content.find(|it: char| it != ' ' && it != '\t').unwrap_or(content.len());
    let wanted = match typed {
        '\n' => level_at_line_start(source, start + first, content[first..].chars().next()),
        '}' if content.as_bytes().get(first) == Some(&b'}') && start + first + 1 == at => {
            level_of_closing_brace(source, start + first)
        }
        _ => None,
    };
    let Some(wanted) = wanted else { return Vec::new() };
    let new = " ".repeat(wanted * INDENT);
    if content[..first] == new {
        return Vec::new();
    }
    vec![TextEdit { range: start..start + first, text: new }]
}

/// Returns the number of regions that enclose the item that starts at a byte, or the byte itself.
/// `first` is the character at that byte.
fn level_at_line_start(source: &Source, at: usize, first: Option<char>) -> Option<usize> {
    let ir = source.ir();
    if first == Some('}') {
        return level_of_closing_brace(source, at);
    }
    let item = ir.item_at(at);
    let mut level = 0;
    let mut around = item;
    let mut is_outermost = true;
    while let Some(op) = around {
        let data = ir.op(op);
        if data.kind == OpKind::Chunk {
            break;
        }
        let start = ir.start(op);
        let mut region_at = start;
        let mut is_inside = false;
        let mut done = 0;
        for &(own, region) in &data.regions {
            region_at += (own - done) as usize;
            done = own;
            let len = ir.region_len(region);
            is_inside |= region_at <= at
                && at <= region_at + len
                && (at < region_at + len || !ir.region(region).is_closed);
            region_at += len;
        }
        if is_inside {
            level += 1;
        } else if is_outermost && start + (data.lead_len as usize) < at {
            // The byte is inside an op, or after an incomplete one that ends with `=`.
            if first.is_some() || !is_preceded_by(source, at, b'=') {
                return None;
            }
        }
        is_outermost = false;
        around = ir.parent_op(op);
    }
    if level == 0 {
        level = n_unclosed_regions(source, at);
    }
    let is_label = first == Some('^');
    Some(level - usize::from(is_label && level > 0))
}

/// Returns the number of regions that are open at a byte because their `}` is missing. Text after
/// their last op is not yet part of any item.
fn n_unclosed_regions(source: &Source, at: usize) -> usize {
    let ir = source.ir();
    let last = last_nonblank_before(source, at).and_then(|it| ir.item_at(it.0));
    std::iter::successors(last, |&it| ir.parent_op(it))
        .filter(|&it| ir.op(it).kind != OpKind::Chunk)
        .filter(|&it| {
            ir.op(it).regions.last().is_some_and(|&(_, region)| !ir.region(region).is_closed)
        })
        .count()
}

/// Returns the number of regions that enclose the op whose region is closed by the `}` at a byte.
fn level_of_closing_brace(source: &Source, at: usize) -> Option<usize> {
    let ir = source.ir();
    let op = ir.item_at(at)?;
    let data = ir.op(op);
    let mut brace = ir.start(op);
    let mut done = 0;
    let mut closes = false;
    for &(own, region) in &data.regions {
        brace += (own - done) as usize + ir.region_len(region);
        done = own;
        closes |= brace == at && ir.region(region).is_closed;
    }
    if !closes || data.kind == OpKind::Chunk {
        return None;
    }
    let around = std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it));
    Some(around.filter(|&it| ir.op(it).kind != OpKind::Chunk).count())
}

/// Returns the position and the value of the last byte before `at` that is not a blank.
fn last_nonblank_before(source: &Source, at: usize) -> Option<(usize, u8)> {
    let bytes = source.text().bytes_at(at).reversed();
    (1..).zip(bytes).find(|it| !it.1.is_ascii_whitespace()).map(|(n, byte)| (at - n, byte))
}

fn is_preceded_by(source: &Source, at: usize, byte: u8) -> bool {
    last_nonblank_before(source, at).is_some_and(|it| it.1 == byte)
}
