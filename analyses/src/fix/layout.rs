//! Writing inserted ops into a text so that nothing else of it changes.
//!
//! The new op goes onto a line of its own behind the op that defines the value, behind a comment that trails it, with the same indentation and
//! the same kind of line end. If something else follows on the line, it goes in between on the same line. For arguments the
//! place is behind the label or the opening brace. Behind an op in generic form the new one is, too. All uses of the value are then of the new one.
//!
//! Names: `%4` gives `%r4` (`%4_r` would lex as two tokens), `%sum` gives `%sum_r`, `%a#1` gives `%a_1_r`; with `_1`, `_2`, ... behind
//! if that is taken anywhere in the file, since MLIR names never shadow.

use std::ops::Range;

use noisy_syntax::{Def, Form, Ir, Op, OpKind, Value};
use rustc_hash::FxHashSet;

use crate::{Document, TextEdit};

/// All value names of a document, those of uses included.
pub(super) fn value_names(ir: &Ir) -> FxHashSet<String> {
    let mut out = FxHashSet::default();
    let mut add = |name: &str| {
        if !name.is_empty() && !out.contains(name) {
            out.insert(name.to_owned());
        }
    };
    let mut stack = vec![ir.root()];
    while let Some(region) = stack.pop() {
        for &value in &ir.block(ir.region(region).entry).args {
            add(ir.interner.str(ir.value(value).name));
        }
        for op in ir.items(region) {
            let data = ir.op(op);
            for &value in &data.results {
                add(ir.interner.str(ir.value(value).name));
            }
            for operand in &data.operands {
                add(ir.interner.str(operand.name));
            }
            stack.extend(data.regions.iter().map(|it| it.1));
        }
    }
    out
}

/// Writes a reduce behind the definition of each value, and its uses into the new name.
pub(super) fn write(
    document: &Document,
    values: &[Value],
    names: &mut FxHashSet<String>,
    out: &mut Vec<TextEdit>,
) {
    let ir = document.ir();
    let mut values = values.to_vec();
    // Several at one place stand in the order of their definitions.
    values.sort_by_cached_key(|&value| {
        let at = ir.definer(value).map_or(0, |op| ir.absolute(op, ir.value(value).span).start);
        (at, ir.value(value).number)
    });
    for value in values {
        let name = fresh_name(ir, value, names);
        let ty = ir.interner.type_text(ir.value(value).ty);
        let old = ir.value_text(value);
        // Who writes the generic form gives it to tools that may not know the dialect.
        let is_generic = is_generic(ir, value);
        let line = document.model().reset_text(&format!("%{name}"), &old, &ty, is_generic);
        out.push(insertion(document, value, &line));
        for &(user, index) in &ir.value(value).uses {
            let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
            out.push(TextEdit { range, text: format!("%{name}") });
        }
    }
}

/// Whether the op that defines a value (or, of an argument, holds or starts its block) is written in generic form.
fn is_generic(ir: &Ir, value: Value) -> bool {
    let op = match ir.value(value).def {
        Def::Result(op, _) => Some(op),
        Def::Argument(block, _) => ir.block_ops(block).next().or(ir.definer(value)),
    };
    op.is_some_and(|op| ir.op(op).form == Form::Generic)
}

/// Sorts edits and joins insertions at the same place.
pub(super) fn merge(mut edits: Vec<TextEdit>) -> Vec<TextEdit> {
    edits.sort_by_key(|it| (it.range.start, it.range.end));
    let mut out: Vec<TextEdit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match out.last_mut() {
            Some(last) if last.range == edit.range && edit.range.is_empty() => {
                last.text.push_str(&edit.text);
            }
            // An operand that is written once and used twice.
            Some(last) if *last == edit => {}
            _ => out.push(edit),
        }
    }
    out
}

fn fresh_name(ir: &Ir, value: Value, names: &mut FxHashSet<String>) -> String {
    let text = ir.value_text(value);
    let base = text.trim_start_matches('%').replace('#', "_");
    let base = if base.starts_with(|it: char| it.is_ascii_digit()) {
        format!("r{base}")
    } else {
        format!("{base}_r")
    };
    let mut name = base.clone();
    let mut n = 0;
    while !names.insert(name.clone()) {
        n += 1;
        name = format!("{base}_{n}");
    }
    name
}

fn insertion(document: &Document, value: Value, line: &str) -> TextEdit {
    let ir = document.ir();
    let block = match ir.value(value).def {
        Def::Result(op, _) => {
            let range = ir.range(op);
            return behind(document, range.end, &indent_of(document, range.start), line);
        }
        Def::Argument(block, _) => block,
    };
    let data = ir.block(block);
    if let Some(label) = data.label {
        let first = ir.next(label).filter(|&it| ir.op(it).kind != OpKind::Label);
        let indent = indent_inside(document, first, label);
        behind(document, ir.range(label).end, &indent, line)
    } else {
        let first = ir.items(data.region).next();
        let holder = ir.region(data.region).parent.or(first);
        let indent = holder.map_or(String::new(), |it| indent_inside(document, first, it));
        behind(document, ir.region_start(data.region), &indent, line)
    }
}

/// The insertion of a line behind a place, or within its line if something follows there.
fn behind(document: &Document, at: usize, indent: &str, line: &str) -> TextEdit {
    let rest = rest_of_line(document, at);
    let trimmed = rest.text.trim_start();
    if trimmed.is_empty() || trimmed.starts_with("//") {
        let end = at + rest.text.len();
        let newline = if rest.newline.is_empty() { "\n" } else { &rest.newline };
        return TextEdit { range: end..end, text: format!("{newline}{indent}{line}") };
    }
    let space = if rest.text.starts_with([' ', '\t']) { "" } else { " " };
    TextEdit { range: at..at, text: format!(" {line}{space}") }
}

struct Rest {
    text: String,
    newline: String,
}

/// What stands between a place and the end of its line.
fn rest_of_line(document: &Document, at: usize) -> Rest {
    let text = document.source().text();
    let mut out = Rest { text: String::new(), newline: String::new() };
    let mut bytes = text.byte_slice(at..).bytes();
    let mut collected = Vec::new();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => {
                out.newline = "\n".into();
                break;
            }
            b'\r' => {
                out.newline = if bytes.next() == Some(b'\n') { "\r\n".into() } else { "\r".into() };
                break;
            }
            _ => collected.push(byte),
        }
    }
    out.text = String::from_utf8_lossy(&collected).into_owned();
    out
}

/// The blanks at the start of the line of a place.
fn indent_of(document: &Document, at: usize) -> String {
    let text = document.source().text();
    let line = line_start(document, at)..at;
    let head = text.byte_slice(line).to_string();
    head.chars().take_while(|it| matches!(it, ' ' | '\t')).collect()
}

fn line_start(document: &Document, at: usize) -> usize {
    let text = document.source().text();
    text.line_to_byte(text.byte_to_line(at))
}

/// The indentation of what stands inside: that of the first op, if it has a line of its own, else a little more than around.
fn indent_inside(document: &Document, first: Option<Op>, around: Op) -> String {
    let ir = document.ir();
    let outer: Range<usize> = ir.range(around);
    if let Some(first) = first {
        let at = ir.range(first).start;
        if line_start(document, at) > outer.start && is_first_on_line(document, at) {
            return indent_of(document, at);
        }
    }
    let outer = indent_of(document, outer.start);
    if outer.contains('\t') { outer + "\t" } else { outer + "  " }
}

fn is_first_on_line(document: &Document, at: usize) -> bool {
    let head = document.source().text().byte_slice(line_start(document, at)..at);
    head.chars().all(|it| matches!(it, ' ' | '\t'))
}
