//! Code actions: insert `reduce_noise`, or what a program of HEIR needs, in the function under the cursor or in the whole file; place the
//! existing ones anew; apply the fixes of diagnostics, one by one or all of a kind; add comments that allow a diagnostic.

use std::ops::Range;

use noisy_analyses::{Applicability, Diagnostic, Document, Fix, checks};
use noisy_settings::Loops;

use super::cursor;
use super::nest::{self, LoopAction};
use super::refactor::{self, Refactoring};

/// The scope of the optimizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One function: its offset and its name.
    Function(usize, String),
    File,
}

/// A task of the optimizer, resolved later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub scope: Scope,
    /// Existing reductions may be removed; otherwise the settings decide.
    pub anew: bool,
}

/// An available action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Run the optimizer; with the diagnostics at the cursor that this would fix.
    Place(Placement, Vec<Diagnostic>),
    /// A known fix of a diagnostic.
    Fix(Fix, Diagnostic),
    /// Fix all diagnostics of a code that have safe fixes; see [`fix_all`].
    FixAll(&'static str),
    /// Change the text without changing the program's meaning.
    Refactor(Refactoring),
    /// Transform a loop.
    Loop(LoopAction),
    /// Find the best order for the nest whose outermost loop starts at this offset; see
    /// [`nest::best_schedule`].
    Schedule(usize),
    /// Allow a diagnostic by a comment.
    Allow(Fix, Diagnostic),
}

/// The actions for a range. `diagnostics` are those of the document; `is_asked` is true if the user
/// opened the menu, and false if the editor asks for the light bulb.
pub(crate) fn actions(
    document: &Document,
    range: &Range<usize>,
    diagnostics: &[Diagnostic],
    loops: Loops,
    is_asked: bool,
) -> Vec<Action> {
    let here: Vec<&Diagnostic> =
        diagnostics.iter().filter(|it| cursor::touch(&it.range, range)).collect();
    let mut out = Vec::new();
    let mut codes = Vec::new();
    for (fix, &it) in document.fixes(here.iter().copied()).into_iter().zip(&here) {
        let Some(fix) = fix else { continue };
        if fix.applicability == Applicability::Safe && !codes.contains(&it.code) {
            codes.push(it.code);
        }
        out.push(Action::Fix(fix, it.clone()));
    }
    codes.retain(|code| diagnostics.iter().filter(|it| it.code == *code).nth(1).is_some());
    out.extend(codes.into_iter().map(Action::FixAll));
    let may_place = |it: &Diagnostic| is_placeable(document, it);
    let is_any_over = diagnostics.iter().any(may_place);
    if let Some(function) = cursor::function_at(document.ir(), range.start) {
        let whole = document.ir().range(function);
        let scope = || Scope::Function(whole.start, document.function_name(function));
        if diagnostics.iter().any(|it| may_place(it) && cursor::touch(&it.range, &whole)) {
            let fixed = here.iter().filter(|it| may_place(it)).map(|it| (*it).clone()).collect();
            out.push(Action::Place(Placement { scope: scope(), anew: false }, fixed));
        }
        if is_reduce_at(document, range.start) {
            out.push(Action::Place(Placement { scope: scope(), anew: true }, Vec::new()));
        }
    }
    let refactorings = refactor::offered(document, range, diagnostics, is_asked);
    out.extend(refactorings.into_iter().map(Action::Refactor));
    out.extend(nest::actions(document, range.start, loops).into_iter().map(Action::Loop));
    out.extend(nest::schedulable(document, range.start).map(Action::Schedule));
    if is_any_over {
        out.push(Action::Place(Placement { scope: Scope::File, anew: false }, Vec::new()));
    }
    for it in here {
        if let Some(fix) = allow(document, it) {
            out.push(Action::Allow(fix, it.clone()));
        }
    }
    out
}

fn is_reduce_at(document: &Document, offset: usize) -> bool {
    let ir = document.ir();
    ir.item_at(offset).is_some_and(|op| {
        ir.op_name(op) == document.model().reset_op && ir.range(op).contains(&offset)
    })
}

/// The comment that allows a diagnostic.
fn allow(document: &Document, it: &Diagnostic) -> Option<Fix> {
    let edits = checks::allow(document, [it]);
    let title = format!("Suppress {} on this line", it.code);
    (!edits.is_empty()).then_some(Fix { title, applicability: Applicability::Unsafe, edits })
}

/// The safe fixes of all diagnostics of a code together; of overlapping fixes only the first.
pub(crate) fn fix_all(document: &Document, code: &str, diagnostics: &[Diagnostic]) -> Fix {
    let (edits, _) = document.fix_all(diagnostics.iter().filter(|it| it.code == code), false);
    Fix { title: fix_all_title(code), applicability: Applicability::Safe, edits }
}

/// The title of [`fix_all`].
pub(crate) fn fix_all_title(code: &str) -> String {
    format!("Fix all {code} in this file")
}

/// True if a placement may fix a diagnostic.
pub(crate) fn is_placeable(document: &Document, diagnostic: &Diagnostic) -> bool {
    checks::is_placeable(document, diagnostic.code)
}

/// The ops that a placement inserts, as its titles call them.
pub(crate) fn placed_ops(document: &Document) -> &str {
    let model = document.model();
    match (document.is_of_heir(), model.heir.level_budget) {
        (false, _) => model.reset_name(),
        (true, None) => "relinearize",
        (true, Some(_)) => "bootstrap and relinearize",
    }
}
