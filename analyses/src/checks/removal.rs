//! Taking an op out of the text.

use noisy_syntax::{Form, Op, OpKind};

use crate::{Applicability, Document, Fix, Severity, TextEdit};

/// Takes an op out, with its line if nothing else stands there, and puts a text in place of the uses of its result. `None` if that
/// cannot be told or if the program would have more errors than before: what is offered was applied to a copy and analyzed.
pub(super) fn removal(
    document: &Document,
    op: Op,
    title: &str,
    instead: Option<&str>,
) -> Option<Fix> {
    let (ir, text) = (document.ir(), document.source().text());
    let data = ir.op(op);
    if data.kind == OpKind::Unknown || matches!(data.form, Form::Broken | Form::Opaque) {
        return None;
    }
    let mut edits: Vec<TextEdit> = Vec::new();
    for &result in &data.results {
        for &(user, index) in &ir.value(result).uses {
            let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
            edits.push(TextEdit { range, text: instead?.to_owned() });
        }
    }
    let mut range = ir.range(op);
    let line_start = text.line_to_byte(text.byte_to_line(range.start));
    let after = text.byte_to_line(range.end) + 1;
    let line_end = text.line_to_byte(after.min(text.len_lines()));
    let before = text.byte_slice(line_start..range.start).to_string();
    let behind = text.byte_slice(range.end..line_end.max(range.end)).to_string();
    if before.trim().is_empty() && behind.trim().is_empty() {
        range = line_start..line_end.max(range.end);
    }
    if edits.iter().any(|it| it.range.start < range.end && range.start < it.range.end) {
        return None;
    }
    edits.push(TextEdit { range, text: String::new() });
    edits.sort_by_key(|it| it.range.start);
    let fix = Fix { title: title.to_owned(), applicability: Applicability::Safe, edits };
    let after = Document::with_model(&fix.apply(&text.to_string()), document.model().clone());
    (n_errors(&after) <= n_errors(document)).then_some(fix)
}

fn n_errors(document: &Document) -> usize {
    document.diagnostics().iter().filter(|it| it.severity == Severity::Error).count()
}
