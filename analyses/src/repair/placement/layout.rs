//! Minimal edits that insert and remove ops.
//!
//! A new op goes on a line of its own after the op that defines the value and after a comment that
//! trails it, with the same indentation and line end. If something else follows on the line, the
//! new op is inserted on the same line. For arguments it goes after the label or the opening brace;
//! for a group of uses, before the first op that uses the value. Beside an op in generic form the
//! new one is generic, too. An op that is removed takes its line with it if nothing else is on it;
//! its uses become uses of its operand.
//!
//! Names: `%4` gives `%r4` (`%4_r` would lex as two tokens), `%sum` gives `%sum_r`, `%a#1` gives
//! `%a_1_r`; followed by `_1`, `_2`, ... if that is taken anywhere in the file, since MLIR names
//! never shadow.

use std::cell::RefCell;
use std::ops::Range;

use noisy_syntax::{Def, Form, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::extract::{Extraction, SitePosition};
use super::group::Answer;
use crate::program::Program;
use crate::program::fresh_names::FreshNames;
use crate::report::diagnostic::TextEdit;

/// The edits of some answers, in order.
pub(super) fn edits(program: &Program, answers: &[&Answer]) -> Vec<TextEdit> {
    let mut names = FreshNames::of(program.ir());
    let mut edits: Vec<TextEdit> = Vec::new();
    for it in answers {
        write(program, &it.extraction, &it.chosen, &mut names, &mut edits);
    }
    merge(edits)
}

/// The edits of a placement: new ops, removed ops, and the new names of values.
fn write(
    program: &Program,
    extraction: &Extraction,
    chosen: &[bool],
    names: &mut FreshNames<'_>,
    out: &mut Vec<TextEdit>,
) {
    let ir = program.ir();
    let mut writing = NewNames {
        ir,
        extraction,
        after: FxHashMap::default(),
        before: FxHashMap::default(),
        removed: FxHashSet::default(),
        known: RefCell::default(),
    };
    let mut touched: Vec<Value> = Vec::new();
    let mut inserted: Vec<(Value, SitePosition)> = Vec::new();
    for (&spot, &chosen) in extraction.spots.iter().zip(chosen) {
        match (spot, chosen) {
            (SitePosition::After(value), true) => inserted.push((value, spot)),
            (SitePosition::Before(group), true) => {
                inserted.push((extraction.groups[group].value, spot));
            }
            (SitePosition::Existing(op), false) => {
                writing.removed.insert(op);
                touched.extend_from_slice(&ir.op(op).results);
            }
            (SitePosition::Existing(_), true)
            | (SitePosition::After(_) | SitePosition::Before(_), false) => {}
        }
    }
    // Several resets at one place follow the order of their definitions.
    inserted.sort_by_cached_key(|&(value, spot)| {
        let at =
            ir.definition_site(value).map_or(0, |op| ir.absolute(op, ir.value(value).span).start);
        let group = if let SitePosition::Before(group) = spot { group + 1 } else { 0 };
        (at, ir.value(value).number, group)
    });
    for &(value, spot) in &inserted {
        let name = format!("%{}", fresh_name(ir, value, names));
        touched.push(value);
        match spot {
            SitePosition::After(value) => drop(writing.after.insert(value, name)),
            SitePosition::Before(group) => drop(writing.before.insert(group, name)),
            SitePosition::Existing(_) => {}
        }
    }
    // The replacements of removed ops.
    let mut instead: FxHashMap<Op, String> = FxHashMap::default();
    for (value, spot) in inserted {
        let ty = ir.interner.type_text(ir.value(value).ty);
        let line = |result: &str, operand: &str, is_generic| {
            program.model().reset_text(result, operand, &ty, is_generic)
        };
        match spot {
            SitePosition::After(value) => {
                let is_generic = definition_is_generic(ir, value);
                let line = line(&writing.after[&value], &ir.value_text(value), is_generic);
                out.push(insertion(program, value, &line));
            }
            SitePosition::Before(index) => {
                let group = extraction.groups[index];
                let operand = match group.outer {
                    Some(outer) => writing.in_group(outer, value),
                    None => writing.of(value),
                };
                let is_generic = ir.op(group.anchor).form == Form::Generic;
                let line = line(&writing.before[&index], &operand, is_generic);
                if writing.removed.contains(&group.anchor) {
                    let lines = instead.entry(group.anchor).or_default();
                    *lines = if lines.is_empty() { line } else { format!("{lines} {line}") };
                } else {
                    out.push(program.source().in_front_of(group.anchor, &[line]));
                }
            }
            SitePosition::Existing(_) => {}
        }
    }
    for &spot in &extraction.spots {
        let SitePosition::Existing(op) = spot else { continue };
        if writing.removed.contains(&op) {
            out.push(match instead.remove(&op) {
                Some(text) => TextEdit { range: ir.range(op), text },
                None => {
                    TextEdit { range: program.source().lines_of(op, false), text: String::new() }
                }
            });
        }
    }
    for value in touched {
        let old = ir.value_text(value);
        for &(user, index) in &ir.value(value).uses {
            let text = writing.of_use(user, index, value);
            if text != old && !writing.removed.contains(&user) {
                let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
                out.push(TextEdit { range, text });
            }
        }
    }
}

/// The names of values in the new text.
struct NewNames<'a> {
    ir: &'a Ir,
    extraction: &'a Extraction,
    /// By the value that is reduced.
    after: FxHashMap<Value, String>,
    /// The names in each group of uses.
    before: FxHashMap<usize, String>,
    removed: FxHashSet<Op>,
    /// The names outside of groups, of the values that were asked about.
    known: RefCell<FxHashMap<Value, String>>,
}

impl NewNames<'_> {
    /// The name of a value outside of groups.
    fn of(&self, value: Value) -> String {
        self.named(None, value)
    }

    /// The name of a value in a group of its uses.
    fn in_group(&self, group: usize, value: Value) -> String {
        self.named(Some(group), value)
    }

    fn named(&self, mut group: Option<usize>, mut value: Value) -> String {
        let mut known = self.known.borrow_mut();
        // Values that are renamed to their operands.
        let mut way = Vec::new();
        let name = loop {
            let mut groups = std::iter::successors(group, |&it| self.extraction.groups[it].outer);
            let named = groups.find_map(|it| self.before.get(&it));
            let named = named.or_else(|| self.after.get(&value)).or_else(|| known.get(&value));
            if let Some(name) = named {
                break name.clone();
            }
            way.push(value);
            let operand = match self.ir.value(value).def {
                Def::Result(op, _) if self.removed.contains(&op) => {
                    group = self.extraction.group_of.get(&(op, 0)).copied();
                    self.ir.op(op).operands[0].value
                }
                _ => None,
            };
            match operand {
                Some(operand) => value = operand,
                None => break self.ir.value_text(value),
            }
        };
        known.extend(way.into_iter().map(|it| (it, name.clone())));
        name
    }

    fn of_use(&self, op: Op, index: u32, value: Value) -> String {
        match self.extraction.group_of.get(&(op, index)) {
            Some(&group) => self.in_group(group, value),
            None => self.of(value),
        }
    }
}

/// Returns true if the op that defines a value is in generic form; for an argument, the op that
/// holds or starts its block.
pub(super) fn definition_is_generic(ir: &Ir, value: Value) -> bool {
    let op = match ir.value(value).def {
        Def::Result(op, _) => Some(op),
        Def::Argument(block, _) => ir.block_ops(block).next().or(ir.definition_site(value)),
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

pub(super) fn fresh_name(ir: &Ir, value: Value, names: &mut FreshNames<'_>) -> String {
    let text = ir.value_text(value);
    let base = text.trim_start_matches('%').replace('#', "_");
    let base = if base.starts_with(|it: char| it.is_ascii_digit()) {
        format!("r{base}")
    } else {
        format!("{base}_r")
    };
    names.fresh(&base)
}

pub(super) fn insertion(program: &Program, value: Value, line: &str) -> TextEdit {
    let ir = program.ir();
    let block = match ir.value(value).def {
        Def::Result(op, _) => {
            let range = ir.range(op);
            return after(program, range.end, &program.source().indentation(range.start), line);
        }
        Def::Argument(block, _) => block,
    };
    let data = ir.block(block);
    if let Some(label) = data.label {
        let first = ir.next(label).filter(|&it| ir.op(it).kind != OpKind::Label);
        let indent = indent_inside(program, first, label);
        after(program, ir.range(label).end, &indent, line)
    } else {
        let first = ir.items(data.region).next();
        let holder = ir.region(data.region).parent.or(first);
        let indent = holder.map_or(String::new(), |it| indent_inside(program, first, it));
        after(program, ir.region_start(data.region), &indent, line)
    }
}

/// The insertion of a line after a place, or within its line if text follows in the line.
fn after(program: &Program, at: usize, indent: &str, line: &str) -> TextEdit {
    let (rest, newline) = program.source().rest_of_line(at);
    let trimmed = rest.trim_start();
    if trimmed.is_empty() || trimmed.starts_with("//") {
        let end = at + rest.len();
        let newline = if newline.is_empty() { "\n" } else { newline };
        return TextEdit { range: end..end, text: format!("{newline}{indent}{line}") };
    }
    let space = if rest.starts_with([' ', '\t']) { "" } else { " " };
    TextEdit { range: at..at, text: format!(" {line}{space}") }
}

/// The indentation inside an op: that of the first op in it, if it begins a line, else a little
/// more than that of the op around.
fn indent_inside(program: &Program, first: Option<Op>, around: Op) -> String {
    let ir = program.ir();
    let outer: Range<usize> = ir.range(around);
    if let Some(first) = first {
        let at = ir.range(first).start;
        if program.source().line_start(at) > outer.start && program.source().is_first_on_line(at) {
            return program.source().indentation(at);
        }
    }
    let outer = program.source().indentation(outer.start);
    if outer.contains('\t') { outer + "\t" } else { outer + "  " }
}
