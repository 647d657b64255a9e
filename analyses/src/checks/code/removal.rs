//! Edits that remove or replace an op in the text.

use noisy_syntax::{Form, Op, OpKind};

use crate::program::Program;
use crate::report::diagnostic::{Applicability, Fix, TextEdit};

/// Removes an op, with its line if it has no other text, and replaces the uses of its results by
/// `instead`; `None` if that is impossible. The caller must verify the fix.
pub(in crate::checks) fn removal_fix(
    program: &Program,
    op: Op,
    title: &str,
    instead: Option<&str>,
) -> Option<Fix> {
    let ir = program.ir();
    let data = ir.op(op);
    let is_read = data.kind != OpKind::Unknown && data.form != Form::Opaque && !ir.is_broken(op);
    is_read.then(|| removal_fix_by_name(program, op, title, instead))?
}

/// Removes an op, with its line if it has no other text, and replaces the uses of each result by a
/// name. The caller must verify the fix.
pub(in crate::checks) fn replacement_fix(
    program: &Program,
    op: Op,
    title: &str,
    names: &[String],
) -> Option<Fix> {
    remove_op(program, op, title, &|at| names.get(at).map(String::as_str))
}

/// Like [`removal_fix`], but also for an op that is not parsed completely. The name of the op must
/// imply that it has no effects.
pub(in crate::checks) fn removal_fix_by_name(
    program: &Program,
    op: Op,
    title: &str,
    instead: Option<&str>,
) -> Option<Fix> {
    remove_op(program, op, title, &|_| instead)
}

/// Replaces the text of an op from its name on, but keeps its location. `None` if it contains a
/// comment.
pub(in crate::checks) fn rewrite_op_text(
    program: &Program,
    op: Op,
    text: &str,
) -> Option<TextEdit> {
    let ir = program.ir();
    let range = ir.absolute(op, ir.op(op).name_span).start..ir.range(op).end;
    let old = program.source().slice(range.clone());
    let location = old.rfind(" loc(").filter(|_| old.ends_with(')')).map_or("", |at| &old[at..]);
    (!has_comment(&old)).then(|| TextEdit { range, text: format!("{text}{location}") })
}

/// Returns true if a text may contain a comment. `//` in a string also counts.
fn has_comment(text: &str) -> bool {
    text.contains("//")
}

/// Removes an op and replaces the uses of its results; `instead` returns the replacement of the
/// result at an index. `None` if the op contains a comment.
fn remove_op<'a>(
    program: &Program,
    op: Op,
    title: &str,
    instead: &dyn Fn(usize) -> Option<&'a str>,
) -> Option<Fix> {
    let (ir, source) = (program.ir(), program.source());
    let text = source.text();
    let mut edits = replace_uses(program, op, instead)?;
    let mut range = ir.range(op);
    if has_comment(&source.slice(range.clone())) {
        return None;
    }
    let after = text.byte_to_line(range.end) + 1;
    let line_end = text.line_to_byte(after.min(text.len_lines()));
    let after = source.slice(range.end..line_end.max(range.end));
    let is_first = source.is_first_on_line(range.start);
    if is_first && after.trim().is_empty() {
        range = source.line_start(range.start)..line_end.max(range.end);
    } else if is_first && after.trim_start().starts_with("//") {
        // The comment after the op stays and moves to the start of the op.
        range.end += after.len() - after.trim_start().len();
    }
    edits.push(TextEdit { range, text: String::new() });
    let edits = TextEdit::in_order(edits)?;
    Some(Fix { title: title.to_owned(), applicability: Applicability::Safe, edits })
}

/// Replaces the uses of each result of an op by a text; `None` if `instead` has no text for a used
/// result.
pub(in crate::checks) fn replace_uses<'a>(
    program: &Program,
    op: Op,
    instead: &dyn Fn(usize) -> Option<&'a str>,
) -> Option<Vec<TextEdit>> {
    let ir = program.ir();
    let mut edits = Vec::new();
    for (at, &result) in ir.op(op).results.iter().enumerate() {
        for &(user, index) in &ir.value(result).uses {
            let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
            edits.push(TextEdit { range, text: instead(at)?.to_owned() });
        }
    }
    Some(edits)
}
