//! Refactorings: rename the values of a function, extract ops into a function, inline a call, write
//! an op in the other form, declare noise bounds from the calls of a function, clean up a function,
//! simplify one op.
//!
//! *Laws.* The program computes the same: a renaming or a change of form keeps its generic form,
//! and no refactoring introduces an error. All other bytes stay, comments above all. [`edits`]
//! checks this on a copy of the text, and returns no edits if the check fails. The check only
//! covers ops with known syntax: an op with an unknown custom form is not rewritten. Offering a
//! refactoring costs O(size of its range); computing its edits costs as much as reading the file
//! three times.

mod clean;
mod contract;
mod extract;
mod form;
mod inline;
mod names;
mod rename_values;
mod single_op;
mod text;

use std::ops::Range;

use noisy_analyses::{Category, Diagnostic, Document, Severity, TextEdit};
use noisy_syntax::{Op, print};
use serde::{Deserialize, Serialize};

use crate::features::find::cursor;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RefactorKind {
    /// See [`rename_values::numbering_edits`].
    Number,
    /// See [`rename_values::naming_edits`].
    Name,
    /// See [`extract`].
    Extract,
    /// See [`inline`].
    Inline,
    /// See [`form`].
    Form,
    /// See [`contract`].
    Contract,
    /// See [`clean`].
    Clean,
    /// See [`single_op`].
    Merge,
    /// See [`single_op`].
    Fold,
    /// See [`single_op`].
    Hoist,
    /// See [`single_op`].
    Drop,
}

/// An offered refactoring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refactoring {
    pub kind: RefactorKind,
    /// The affected range, in bytes.
    pub range: Range<usize>,
    pub title: String,
}

/// The refactorings offered for a range. `diagnostics` are those of the document: a function with
/// an error other than too much noise is left alone, because a name in it may be wrong. `is_asked`
/// is true if the user opened the menu.
pub(crate) fn offered(
    document: &Document,
    range: &Range<usize>,
    diagnostics: &[Diagnostic],
    is_asked: bool,
) -> Vec<Refactoring> {
    let Some(function) = cursor::function_at(document.ir(), range.start) else { return Vec::new() };
    if has_error(document, function, diagnostics) {
        return Vec::new();
    }
    let name = document.function_name(function);
    let mut out = Vec::new();
    let mut offer = |kind, title| out.push(Refactoring { kind, range: range.clone(), title });
    if is_in_head(document, function, range.start) {
        if let Ok(all) = rename_values::renamable_values(document.ir(), function) {
            offer(RefactorKind::Number, format!("Rename all values of @{name} to %0, %1, ..."));
            if rename_values::has_numbered_values(document, &all) {
                offer(
                    RefactorKind::Name,
                    format!("Give descriptive names to the numbered values of @{name}"),
                );
            }
        }
        if clean::is_possible(document, function) {
            offer(
                RefactorKind::Clean,
                format!("Clean up @{name}: fold, merge and remove redundant ops"),
            );
        }
        if contract::is_possible(document, function) {
            offer(
                RefactorKind::Contract,
                format!("Declare noise bounds for the arguments of @{name}, from its calls"),
            );
        }
    }
    if extract::selected_ops(document, range).is_some() {
        offer(RefactorKind::Extract, "Extract into a function".to_owned());
    }
    if range.is_empty() {
        if let Some(callee) = inline::callee(document, range.start) {
            offer(
                RefactorKind::Inline,
                format!("Inline the call of @{}", document.function_name(callee)),
            );
        }
        if let Some(title) = form::title(document, range.start) {
            offer(RefactorKind::Form, title);
        }
        let here = diagnostics.iter().filter(|it| cursor::is_touching(&it.range, range));
        let told: Vec<&str> = here.map(|it| it.code).collect();
        for (kind, title) in single_op::offered(document, range.start, &told, is_asked) {
            offer(kind, title);
        }
    }
    out
}

/// The edits of a refactoring, or the reason why there are none.
pub(crate) fn edits(
    document: &Document,
    kind: RefactorKind,
    range: &Range<usize>,
) -> Result<Vec<TextEdit>, String> {
    let function =
        cursor::function_at(document.ir(), range.start).ok_or("the function no longer exists")?;
    let mut edits = match kind {
        RefactorKind::Number => rename_values::numbering_edits(document, function),
        RefactorKind::Name => rename_values::naming_edits(document, function),
        RefactorKind::Extract => extract::edits(document, range),
        RefactorKind::Inline => inline::edits(document, range.start),
        RefactorKind::Form => form::edits(document, range.start),
        RefactorKind::Contract => contract::edits(document, function),
        RefactorKind::Clean => clean::edits(document, function),
        RefactorKind::Merge | RefactorKind::Fold | RefactorKind::Hoist | RefactorKind::Drop => {
            single_op::edits(document, kind, range.start)
        }
    }?;
    edits.sort_by_key(|it| it.range.start);
    check_laws(document, kind, &edits)?;
    Ok(edits)
}

/// Checks the laws of the module on a copy of the text.
fn check_laws(document: &Document, kind: RefactorKind, edits: &[TextEdit]) -> Result<(), String> {
    let before = document.source().text().to_string();
    let after = text::apply_edits(&before, 0, edits).ok_or("two edits overlap")?;
    let changed = Document::with_model(&after, document.model().clone());
    let found = errors(&changed);
    if let Some(error) = found.first().filter(|_| found.len() > errors(document).len()) {
        return Err(format!("the result would have an error: {}", error.message));
    }
    let stays = matches!(kind, RefactorKind::Number | RefactorKind::Name | RefactorKind::Form);
    if stays && print::generic(document.ir()) != print::generic(changed.ir()) {
        return Err("it would change the program".to_owned());
    }
    Ok(())
}

fn is_error(it: &Diagnostic) -> bool {
    it.severity == Severity::Error && it.category != Category::Noise
}

fn errors(document: &Document) -> Vec<Diagnostic> {
    document.diagnostics_in_brief(&[]).into_iter().filter(is_error).collect()
}

/// True if a function has an error other than too much noise.
pub(crate) fn has_error(document: &Document, function: Op, diagnostics: &[Diagnostic]) -> bool {
    let range = document.ir().range(function);
    diagnostics.iter().any(|it| is_error(it) && cursor::is_touching(&range, &it.range))
}

/// True if an offset is in the header of a function, up to its name.
fn is_in_head(document: &Document, function: Op, offset: usize) -> bool {
    let ir = document.ir();
    let name = ir.extra(function).symbol.map(|it| ir.absolute(function, it.1));
    name.is_some_and(|it| ir.range(function).start <= offset && offset <= it.end)
}

#[cfg(test)]
mod tests;
