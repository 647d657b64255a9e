//! Writes an op in the other form: generic if it has its custom form, custom if it is generic.
//! Values and blocks keep their names.
//!
//! *Law.* No text is lost. An op that contains a comment or a location is not changed. Nor is an op
//! that contains an op with an unknown custom form, because such an op is only partly parsed. An
//! unknown op in the generic form keeps its bytes, except for the contents of its regions.

use std::ops::Range;

use noisy_analyses::{Document, TextEdit};
use noisy_syntax::print::{self, PrintedNames, Style};
use noisy_syntax::{Block, Form, Ir, Name, Op, OpData, OpKind, Region, Source, Type, Value};

use super::names;
use super::text;
use crate::features::find::cursor;

/// The op at an offset, and true if it is in the generic form.
fn op_at(document: &Document, offset: usize) -> Option<(Op, bool)> {
    let ir = document.ir();
    let op = ir.item_at(offset)?;
    let is_known = ir.op(op).kind.is_op() && ir.op(op).kind != OpKind::Unknown;
    let is_in = ir.head_range(op).contains(&offset) || ir.name_range(op).contains(&offset);
    let is_whole = || names::items_of(ir, &[op]).into_iter().all(|it| is_parsed_completely(ir, it));
    (is_known && is_in && is_whole()).then(|| (op, ir.op(op).form == Form::Generic))
}

/// True if an item is parsed completely: its form, and the names and types of its values.
fn is_parsed_completely(ir: &Ir, item: Op) -> bool {
    let data = ir.op(item);
    if data.kind.is_op() && (data.form == Form::Opaque || ir.is_broken(item)) {
        return false;
    }
    let is_said =
        |value: Value| ir.value(value).name != Name::EMPTY && ir.value(value).ty != Type::UNKNOWN;
    let defined = data.results.iter().copied().chain(cursor::arguments_in(ir, item));
    defined.into_iter().all(is_said)
        && data.operands.iter().all(|it| {
            // A guessed type is certain if the use has the same type.
            let is_sure = |value: Value| !ir.value(value).is_guessed || ir.value(value).ty == it.ty;
            it.value.is_some_and(|value| is_said(value) && is_sure(value))
        })
}

/// The title of the refactoring for the op at an offset.
pub(super) fn title(document: &Document, offset: usize) -> Option<String> {
    let (op, is_generic) = op_at(document, offset)?;
    let name = document.ir().op_name(op);
    let inside = if document.ir().op(op).regions.is_empty() { "" } else { " with its contents" };
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
    let style = Style { is_custom: is_generic, ..Style::default() };
    let new = print::op_with_names(ir, op, style, &names_in(ir, op))
        .ok_or("its types and attributes are too long to be written out")?;
    let indentation = source.indentation(range.start);
    let new = text::reindent(new.trim_end(), "", &indentation);
    let new = new.strip_prefix(&*indentation).unwrap_or(&new).to_owned();
    let new = restore_unchanged_ops(source, op, &new, is_generic)
        .ok_or("an unknown op in it would change")?;
    if is_generic && new == old {
        return Err("the custom form cannot express all of it".to_owned());
    }
    Ok(vec![TextEdit { range, text: new }])
}

/// The names of values and blocks of an op and of all ops inside it. A block without a label gets a
/// free name.
fn names_in(ir: &Ir, op: Op) -> PrintedNames {
    let mut names = PrintedNames::default();
    let label = |it: Block| ir.block(it).label.map(|it| ir.op_name(it).to_owned());
    for item in names::items_of(ir, &[op]) {
        let data = ir.op(item);
        let used = data.operands.iter().filter_map(|it| it.value);
        let defined = data.results.iter().copied().chain(cursor::arguments_in(ir, item));
        for value in used.chain(defined) {
            names.values.insert(value, ir.value_text(value));
        }
        for block in ir.extra(item).successors.iter().filter_map(|it| it.block) {
            names.blocks.extend(label(block).map(|it| (block, it)));
        }
        for &(_, region) in &data.regions {
            let blocks = ir.blocks(region);
            let taken: Vec<String> = blocks.iter().copied().filter_map(label).collect();
            let free =
                || (0..=taken.len()).map(|n| format!("bb{n}")).find(|it| !taken.contains(it));
            for block in blocks {
                names.blocks.extend(label(block).or_else(free).map(|it| (block, it)));
            }
        }
    }
    names
}

/// Restores the bytes of unchanged ops in `print`, the new text of an op: ops in the generic form
/// that are unknown or stay in this form. `None` if one of them is not found in `print`.
fn restore_unchanged_ops(source: &Source, op: Op, print: &str, is_custom: bool) -> Option<String> {
    let range = source.ir().range(op);
    let mut all = source.text().to_string();
    all.replace_range(range.clone(), print);
    let printed = Source::new(&all);
    let mut edits = Vec::new();
    add_restoring_edits(
        source,
        op,
        &printed,
        printed.ir().item_at(range.start)?,
        is_custom,
        &mut edits,
    )?;
    edits.sort_by_key(|it| it.range.start);
    text::apply_edits(print, range.start, &edits)
}

/// Adds the edits that restore the bytes of `op`, printed as `other`, and of the ops inside it.
/// Only the text outside of regions is restored.
fn add_restoring_edits(
    source: &Source,
    op: Op,
    printed: &Source,
    other: Op,
    is_custom: bool,
    edits: &mut Vec<TextEdit>,
) -> Option<()> {
    let (ir, new) = (source.ir(), printed.ir());
    (ir.op_name(op) == new.op_name(other)).then_some(())?;
    let (data, found) = (ir.op(op), new.op(other));
    let regions = |data: &OpData| -> Vec<Region> { data.regions.iter().map(|it| it.1).collect() };
    let (mut ours, theirs) = (regions(data), regions(found));
    if data.form == Form::Generic && (data.kind == OpKind::Unknown || !is_custom) {
        let (old, places) = (own_text(ir, op), own_text(new, other));
        (old.len() == places.len()).then_some(())?;
        let pairs = places.into_iter().zip(old);
        edits.extend(pairs.map(|(range, old)| TextEdit { range, text: source.slice(old) }));
    }
    if data.kind == OpKind::ScfIndexSwitch && data.form != found.form && !ours.is_empty() {
        // The default region is last in the custom form and first in the generic form.
        if data.form == Form::Custom { ours.rotate_right(1) } else { ours.rotate_left(1) }
    }
    let ops = |ir: &Ir, region: Region| -> Vec<Op> {
        ir.items(region).filter(|it| ir.op(*it).kind.is_op()).collect()
    };
    for (region, its) in ours.into_iter().zip(theirs) {
        // The custom form may leave out a terminator at the end.
        for (op, other) in ops(ir, region).into_iter().zip(ops(new, its)) {
            add_restoring_edits(source, op, printed, other, is_custom, edits)?;
        }
    }
    Some(())
}

/// The own text of an op: before, between and after its regions, including the braces.
fn own_text(ir: &Ir, op: Op) -> Vec<Range<usize>> {
    let whole = ir.range(op);
    let (mut out, mut at) = (Vec::new(), whole.start);
    for &(_, region) in &ir.op(op).regions {
        let start = ir.region_start(region);
        out.push(at..start);
        at = start + ir.region_len(region);
    }
    out.push(at..whole.end);
    out
}
