//! Code actions: insert `reduce_noise` in the function under the cursor or in the whole file, and the fixes that diagnostics bring,
//! one by one or all of a kind.

use std::ops::Range;

use noisy_analyses::{Applicability, Category, Diagnostic, Document, Fix, Severity, TextEdit};
use noisy_syntax::Op;

/// What the optimizer is asked to do; resolved later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// One function: where it starts, and its name.
    Function(usize, String),
    /// All functions.
    File,
}

/// Something that can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Ask the optimizer; the diagnostics at the cursor that this would mend.
    Place(Placement, Vec<Diagnostic>),
    /// A fix at hand, and the diagnostic that it mends.
    Fix(Fix, Diagnostic),
    /// The safe fixes of all diagnostics of a code.
    FixAll(Fix),
}

/// What can be done about a range. `diagnostics` are those of the document.
pub(crate) fn actions(
    document: &Document,
    range: &Range<usize>,
    diagnostics: &[Diagnostic],
) -> Vec<Action> {
    let mut out = Vec::new();
    let mut codes = Vec::new();
    for it in diagnostics.iter().filter(|it| touches(&it.range, range)) {
        let fixes = document.fixes(it);
        if !fixes.is_empty() && !codes.contains(&it.code) {
            codes.push(it.code);
        }
        out.extend(fixes.into_iter().map(|fix| Action::Fix(fix, it.clone())));
    }
    out.extend(codes.into_iter().filter_map(|code| fix_all(document, code, diagnostics)));
    let over: Vec<&Diagnostic> = diagnostics.iter().filter(|it| is_over(it)).collect();
    if let Some(function) = function_at(document, range.start) {
        let whole = document.ir().range(function);
        if over.iter().any(|it| touches(&it.range, &whole)) {
            let here = over.iter().filter(|it| touches(&it.range, range));
            let place = Placement::Function(whole.start, document.function_name(function));
            out.push(Action::Place(place, here.map(|it| (*it).clone()).collect()));
        }
    }
    if !over.is_empty() {
        out.push(Action::Place(Placement::File, Vec::new()));
    }
    out
}

/// The first safe fixes of all diagnostics of a code together, if there are several; of fixes that overlap only the first.
fn fix_all(document: &Document, code: &str, diagnostics: &[Diagnostic]) -> Option<Action> {
    let mut edits: Vec<TextEdit> = Vec::new();
    let mut n = 0;
    for it in diagnostics.iter().filter(|it| it.code == code) {
        let mut fixes = document.fixes(it).into_iter();
        let Some(fix) = fixes.find(|it| it.applicability == Applicability::Safe) else { continue };
        let is_free = |edit: &TextEdit| {
            edits
                .iter()
                .all(|it| it.range.end <= edit.range.start || edit.range.end <= it.range.start)
        };
        if fix.edits.iter().all(is_free) {
            edits.extend(fix.edits);
            n += 1;
        }
    }
    edits.sort_by_key(|it| (it.range.start, it.range.end));
    let title = format!("Fix all {n} {code} in this file");
    (n > 1).then_some(Action::FixAll(Fix { title, applicability: Applicability::Safe, edits }))
}

/// Whether a diagnostic says that noise exceeds the budget.
pub(crate) fn is_over(diagnostic: &Diagnostic) -> bool {
    diagnostic.category == Category::Noise && diagnostic.severity == Severity::Error
}

fn touches(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// The function that an offset is in.
pub(crate) fn function_at(document: &Document, offset: usize) -> Option<Op> {
    let ir = document.ir();
    ir.item_at(offset)
        .and_then(|op| ir.function_of(op))
        .or_else(|| ir.function_of(ir.item_at(offset.checked_sub(1)?)?))
}
