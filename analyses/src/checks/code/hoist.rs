//! Edits that move ops before the enclosing loop.
//!
//! *Law.* An op moves with its lines and the comments directly above and after it, and gets the
//! indentation of the loop. An op that shares its line with other text moves without comments. The
//! ops in the loop that define its operands move first. A result gets a new name if another value
//! of the function has the same name, because the scope of the name grows. *Cost.* Linear in the
//! moved ops and their uses, and once in the size of the function.

use std::ops::Range;

use noisy_syntax::{Def, Ir, Op, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::Program;
use crate::report::diagnostic::{Applicability, Fix, TextEdit};

/// Moves an op before `of`, its parent loop, with the ops that define its operands. The caller must
/// verify the fix.
pub(in crate::checks) fn hoist_fix(program: &Program, op: Op, of: Op) -> Option<Fix> {
    let ir = program.ir();
    let moved = with_definitions(ir, op);
    let names = new_names(program, &moved)?;
    let lines = OpLines { program };
    let (at, indent, is_own) = lines.before(of);
    let mut text = String::new();
    let mut edits: Vec<TextEdit> = Vec::new();
    for &op in &moved {
        let range = lines.with_comments(op);
        let is_line = range.is_some();
        let range = range.unwrap_or_else(|| ir.range(op));
        let mut part = program.source().slice(range.clone());
        let mut renames = renames_in(ir, op, &names);
        renames.sort_by_key(|it| std::cmp::Reverse(it.range.start));
        for it in renames {
            part.replace_range(it.range.start - range.start..it.range.end - range.start, &it.text);
        }
        let old = program.source().indentation(ir.range(op).start);
        for line in part.split_inclusive('\n') {
            let line = line.strip_prefix(&old).filter(|_| is_line).unwrap_or(line);
            text.push_str(&indent);
            text.push_str(line);
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        edits.push(TextEdit { range, text: String::new() });
    }
    if !is_own {
        // The loop shares its line with preceding text. The first moved op continues that line, and
        // the loop gets a line of its own.
        text = text[indent.len()..].to_owned() + &indent;
    }
    let mut users: Vec<Op> = names
        .keys()
        .flat_map(|&it| ir.value(it).uses.iter().map(|it| it.0))
        .filter(|it| !moved.contains(it))
        .collect();
    users.sort_unstable();
    users.dedup();
    edits.extend(users.into_iter().flat_map(|it| renames_in(ir, it, &names)));
    edits.push(TextEdit { range: at..at, text });
    let edits = TextEdit::in_order(edits)?;
    let name = ir.value_text(ir.op(op).results[0]);
    let title = match moved.len() - 1 {
        0 => format!("Move {name} before the loop"),
        n => format!("Move {name} and {n} of its operands before the loop"),
    };
    Some(Fix { title, applicability: Applicability::Safe, edits })
}

/// Returns an op and the ops of its region that define its operands, directly or through others, in
/// textual order.
fn with_definitions(ir: &Ir, op: Op) -> Vec<Op> {
    let region: Region = ir.op(op).parent;
    let mut out = vec![op];
    let mut seen = FxHashSet::from_iter([op]);
    let mut at = 0;
    while let Some(&user) = out.get(at) {
        for operand in &ir.op(user).operands {
            if let Some(Def::Result(by, _)) = operand.value.map(|it| ir.value(it).def)
                && ir.op(by).parent == region
                && seen.insert(by)
            {
                out.push(by);
            }
        }
        at += 1;
    }
    out.sort_by_cached_key(|&it| ir.start(it));
    out
}

/// Returns new names for the results of moved ops whose names occur elsewhere in the function;
/// `None` if a result cannot be renamed.
fn new_names(program: &Program, moved: &[Op]) -> Option<FxHashMap<Value, String>> {
    let ir = program.ir();
    let name = |value: Value| ir.interner.str(ir.value(value).name);
    let counts = program.name_counts(ir.function_of(*moved.first()?)?)?;
    let mut out = FxHashMap::default();
    for &op in moved {
        let results = &ir.op(op).results;
        for &value in results {
            let old = name(value);
            let own = results.iter().filter(|&&it| name(it) == old).count();
            if counts.get(old).is_none_or(|&all| all <= own) {
                continue;
            }
            if own > 1 {
                // A pack such as `%0:2` has one name for several results, which cannot be renamed
                // separately.
                return None;
            }
            // `%4_0` would be two tokens.
            let stem = if old.starts_with(|it: char| it.is_ascii_digit()) { "v" } else { "" };
            // The number of the line makes the names of several fixes differ.
            let line = program.source().text().byte_to_line(ir.range(op).start) + 1;
            let mut names = (line..).map(|n| format!("{stem}{old}_{n}"));
            out.insert(value, format!("%{}", names.find(|it| !counts.contains_key(it.as_str()))?));
        }
    }
    Some(out)
}

/// Returns the edits that rename the results and operands of an op.
fn renames_in(ir: &Ir, op: Op, names: &FxHashMap<Value, String>) -> Vec<TextEdit> {
    let data = ir.op(op);
    let defined = data.results.iter().map(|it| (*it, ir.value(*it).span));
    let used = data.operands.iter().filter_map(|it| Some((it.value?, it.span)));
    let edit = |(value, span)| {
        let text = names.get(&value)?.clone();
        Some(TextEdit { range: ir.absolute(op, span), text })
    };
    defined.chain(used).filter_map(edit).collect()
}

/// Finds the lines of ops and of their comments.
struct OpLines<'a> {
    program: &'a Program,
}

impl OpLines<'_> {
    /// Returns the text of a line.
    fn text(&self, number: usize) -> String {
        self.program.source().text().line(number).to_string()
    }

    /// Returns the first of the comment lines directly above a line; the line itself without
    /// comments.
    fn above(&self, mut number: usize) -> usize {
        while number > 0 && self.text(number - 1).trim_start().starts_with("//") {
            number -= 1;
        }
        number
    }

    /// Returns the range of all lines of an op and of its comments; `None` if the op shares a line
    /// with other text.
    fn with_comments(&self, op: Op) -> Option<Range<usize>> {
        let (ir, text) = (self.program.ir(), self.program.source().text());
        let range = ir.range(op);
        let last = text.byte_to_line(range.end);
        let end = text.line_to_byte((last + 1).min(text.len_lines()));
        let behind = text.byte_slice(range.end..end).to_string();
        let behind = behind.trim();
        let is_alone = self.program.source().is_first_on_line(range.start)
            && (behind.is_empty() || behind.starts_with("//"));
        is_alone.then(|| text.line_to_byte(self.above(text.byte_to_line(range.start)))..end)
    }

    /// Returns the offset at which to insert before an op, its indentation, and true if the offset
    /// is the start of a line.
    fn before(&self, op: Op) -> (usize, String, bool) {
        let source = self.program.source();
        let text = source.text();
        let start = self.program.ir().range(op).start;
        let indent = source.indentation(start);
        if source.is_first_on_line(start) {
            (text.line_to_byte(self.above(text.byte_to_line(start))), indent, true)
        } else {
            (start, indent, false)
        }
    }
}
