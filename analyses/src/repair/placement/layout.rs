//! Minimal edits that insert and remove ops.
//!
//! A new op gets its own line, after the defining op of the value and the comment at the end of
//! that line, with the same indentation and line end. If an op follows on that line, the new op is
//! inserted into the line. For an argument the new op follows the label or the opening brace; for a
//! group of uses it precedes the first op that uses the value. Next to an op in generic form, the
//! new op is generic too. A removed op is removed with its line if the line has no other text; its
//! operand replaces its result.
//!
//! Names: the reset of `%4` is `%r4` (`%4_r` would be two tokens), that of `%sum` is `%sum_r`, and
//! that of `%a#1` is `%a_1_r`. The suffix `_1`, `_2`, ... follows if the name occurs anywhere in
//! the file, since names in MLIR never shadow others.

use std::cell::RefCell;
use std::ops::Range;

use noisy_syntax::{Def, Form, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::extract::{Extraction, SitePosition};
use super::group::GroupPlacement;
use crate::program::Program;
use crate::program::fresh_names::FreshNames;
use crate::report::diagnostic::TextEdit;

/// Returns the sorted edits of some placements.
pub(super) fn edits(program: &Program, answers: &[&GroupPlacement]) -> Vec<TextEdit> {
    let mut names = FreshNames::of(program.ir());
    let mut edits: Vec<TextEdit> = Vec::new();
    for it in answers {
        add_edits(program, &it.extraction, &it.chosen, &mut names, &mut edits);
    }
    sort_and_merge(edits)
}

/// Adds the edits of a placement: new ops, removed ops, and the new names of operands.
fn add_edits(
    program: &Program,
    extraction: &Extraction,
    chosen: &[bool],
    names: &mut FreshNames<'_>,
    out: &mut Vec<TextEdit>,
) {
    let ir = program.ir();
    let mut writing = RenamedValues {
        ir,
        extraction,
        after: FxHashMap::default(),
        before: FxHashMap::default(),
        removed: FxHashSet::default(),
        known: RefCell::default(),
    };
    let mut touched: Vec<Value> = Vec::new();
    let mut inserted: Vec<(Value, SitePosition)> = Vec::new();
    for (&spot, &chosen) in extraction.positions.iter().zip(chosen) {
        match (spot, chosen) {
            (SitePosition::After(value), true) => inserted.push((value, spot)),
            (SitePosition::BeforeGroup(group), true) => {
                inserted.push((extraction.use_groups[group].value, spot));
            }
            (SitePosition::Existing(op), false) => {
                writing.removed.insert(op);
                touched.extend_from_slice(&ir.op(op).results);
            }
            (SitePosition::Existing(_), true)
            | (SitePosition::After(_) | SitePosition::BeforeGroup(_), false) => {}
        }
    }
    // Several resets at one position are in the order of the definitions of their operands.
    inserted.sort_by_cached_key(|&(value, spot)| {
        let at =
            ir.definition_site(value).map_or(0, |op| ir.absolute(op, ir.value(value).span).start);
        let group = if let SitePosition::BeforeGroup(group) = spot { group + 1 } else { 0 };
        (at, ir.value(value).number, group)
    });
    for &(value, spot) in &inserted {
        let name = format!("%{}", fresh_name(ir, value, names));
        touched.push(value);
        match spot {
            SitePosition::After(value) => drop(writing.after.insert(value, name)),
            SitePosition::BeforeGroup(group) => drop(writing.before.insert(group, name)),
            SitePosition::Existing(_) => {}
        }
    }
    // Texts that replace removed ops.
    let mut instead: FxHashMap<Op, String> = FxHashMap::default();
    for (value, spot) in inserted {
        let ty = ir.interner.type_text(ir.value(value).ty);
        let line = |result: &str, operand: &str, is_generic| {
            program.model().reset_text(result, operand, &ty, is_generic)
        };
        match spot {
            SitePosition::After(value) => {
                let is_generic = is_definition_generic(ir, value);
                let line = line(&writing.after[&value], &ir.value_text(value), is_generic);
                out.push(insert_after_definition(program, value, &line));
            }
            SitePosition::BeforeGroup(index) => {
                let group = extraction.use_groups[index];
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
    for &spot in &extraction.positions {
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

/// The names of values after the placement.
struct RenamedValues<'a> {
    ir: &'a Ir,
    extraction: &'a Extraction,
    /// The name of the reset after the definition of a value.
    after: FxHashMap<Value, String>,
    /// The name of the reset before a group of uses.
    before: FxHashMap<usize, String>,
    removed: FxHashSet<Op>,
    /// Cache: the names of values outside of groups.
    known: RefCell<FxHashMap<Value, String>>,
}

impl RenamedValues<'_> {
    /// Returns the name of a value outside of groups.
    fn of(&self, value: Value) -> String {
        self.named(None, value)
    }

    /// Returns the name of a value in a group of its uses.
    fn in_group(&self, group: usize, value: Value) -> String {
        self.named(Some(group), value)
    }

    fn named(&self, mut group: Option<usize>, mut value: Value) -> String {
        let mut known = self.known.borrow_mut();
        // Results of removed ops, which get the name of their operand.
        let mut way = Vec::new();
        let name = loop {
            let mut groups =
                std::iter::successors(group, |&it| self.extraction.use_groups[it].outer);
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

/// Returns true if the defining op of a value is in generic form. For an argument, this is the
/// first op of its block, or else the op or label that defines the argument.
pub(super) fn is_definition_generic(ir: &Ir, value: Value) -> bool {
    let op = match ir.value(value).def {
        Def::Result(op, _) => Some(op),
        Def::Argument(block, _) => ir.block_ops(block).next().or(ir.definition_site(value)),
    };
    op.is_some_and(|op| ir.op(op).form == Form::Generic)
}

/// Sorts edits and joins insertions at the same position.
pub(super) fn sort_and_merge(mut edits: Vec<TextEdit>) -> Vec<TextEdit> {
    edits.sort_by_key(|it| (it.range.start, it.range.end));
    let mut out: Vec<TextEdit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match out.last_mut() {
            Some(last) if last.range == edit.range && edit.range.is_empty() => {
                last.text.push_str(&edit.text);
            }
            // Two equal edits of an operand that is written once and used twice.
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

pub(super) fn insert_after_definition(program: &Program, value: Value, line: &str) -> TextEdit {
    let ir = program.ir();
    let block = match ir.value(value).def {
        Def::Result(op, _) => {
            let range = ir.range(op);
            return insert_after(
                program,
                range.end,
                &program.source().indentation(range.start),
                line,
            );
        }
        Def::Argument(block, _) => block,
    };
    let data = ir.block(block);
    if let Some(label) = data.label {
        let first = ir.next(label).filter(|&it| ir.op(it).kind != OpKind::Label);
        let indent = indent_inside(program, first, label);
        insert_after(program, ir.range(label).end, &indent, line)
    } else {
        let first = ir.items(data.region).next();
        let holder = ir.region(data.region).parent.or(first);
        let indent = holder.map_or(String::new(), |it| indent_inside(program, first, it));
        insert_after(program, ir.region_start(data.region), &indent, line)
    }
}

/// Returns the insertion of a line after an offset, or within its line if other text follows.
fn insert_after(program: &Program, at: usize, indent: &str, line: &str) -> TextEdit {
    let (rest, _) = program.source().rest_of_line(at);
    let trimmed = rest.trim_start();
    if trimmed.is_empty() || trimmed.starts_with("//") {
        let end = at + rest.len();
        let newline = program.source().newline(at);
        return TextEdit { range: end..end, text: format!("{newline}{indent}{line}") };
    }
    let space = if rest.starts_with([' ', '\t']) { "" } else { " " };
    TextEdit { range: at..at, text: format!(" {line}{space}") }
}

/// Returns the indentation inside of `around`: that of `first`, if it starts a line, else one step
/// more than that of `around`.
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
