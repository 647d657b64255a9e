//! Writes an op in the other form: generic where it has its own, its own where it is generic. Values keep their names. What the print
//! would lose is not lost: an op with a comment or a location inside stays as it is.

use noisy_analyses::{Document, TextEdit};
use noisy_syntax::{Form, Op, OpKind, print};

use super::text;

/// The op at an offset, and whether it is written in the generic form.
fn op_at(document: &Document, offset: usize) -> Option<(Op, bool)> {
    let ir = document.ir();
    let op = ir.item_at(offset)?;
    let is_known = ir.op(op).kind.is_op() && ir.op(op).kind != OpKind::Unknown;
    let is_in = ir.head_range(op).contains(&offset) || ir.name_range(op).contains(&offset);
    (is_known && is_in && !ir.is_broken(op)).then(|| (op, ir.op(op).form == Form::Generic))
}

/// What it is called for the op at an offset.
pub(super) fn title(document: &Document, offset: usize) -> Option<String> {
    let (op, is_generic) = op_at(document, offset)?;
    let name = document.ir().op_name(op);
    let inside =
        if document.ir().op(op).regions.is_empty() { "" } else { " with all that is in it" };
    let form = if is_generic { "in the custom form" } else { "in the generic form" };
    Some(format!("Write {name}{inside} {form}"))
}

pub(super) fn edits(document: &Document, offset: usize) -> Result<Vec<TextEdit>, String> {
    let (ir, source) = (document.ir(), document.source());
    let (op, is_generic) = op_at(document, offset).ok_or("there is no known op here")?;
    let range = ir.range(op);
    let old = source.slice(range.clone());
    for (what, mark) in [("comment", "//"), ("location", "loc(")] {
        if old.contains(mark) {
            return Err(format!("the {what} in it would be lost"));
        }
    }
    let new = print::op_by_names(ir, op, is_generic)?;
    let indentation = source.indentation(range.start);
    let new = text::indented(new.trim_end(), "", &indentation);
    let new = new.strip_prefix(&*indentation).unwrap_or(&new).to_owned();
    if is_generic && new == old {
        return Err("the custom form cannot express all of it".to_owned());
    }
    Ok(vec![TextEdit { range, text: new }])
}
