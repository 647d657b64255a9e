//! Code actions: insert `reduce_noise` in the function under the cursor or in the whole file, and the fixes that diagnostics bring.

use std::ops::Range;

use noisy_analyses::{Category, Diagnostic, Document, Fix, Severity};
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
    /// Ask the optimizer; the diagnostics that this would mend.
    Place(Placement, Vec<Diagnostic>),
    /// A fix at hand, and the diagnostic that it mends.
    Fix(Fix, Diagnostic),
}

/// What can be done about a range. `diagnostics` are those of the document.
pub(crate) fn actions(
    document: &Document,
    range: &Range<usize>,
    diagnostics: &[Diagnostic],
) -> Vec<Action> {
    let mut out = Vec::new();
    for it in diagnostics.iter().filter(|it| touches(&it.range, range)) {
        out.extend(document.fixes(it).into_iter().map(|fix| Action::Fix(fix, it.clone())));
    }
    let over: Vec<&Diagnostic> = diagnostics.iter().filter(|it| is_over(it)).collect();
    if let Some(function) = function_at(document, range.start) {
        let whole = document.ir().range(function);
        let mended: Vec<_> =
            over.iter().filter(|it| touches(&it.range, &whole)).map(|it| (*it).clone()).collect();
        if !mended.is_empty() {
            let place = Placement::Function(whole.start, document.function_name(function));
            out.push(Action::Place(place, mended));
        }
    }
    if !over.is_empty() {
        out.push(Action::Place(Placement::File, Vec::new()));
    }
    out
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
