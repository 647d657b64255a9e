//! Code actions: repair the function under the cursor, all diagnostics of a code, or the file;
//! replace the existing `reduce_noise` by a new placement; apply the fix of a diagnostic; suppress
//! a diagnostic by a comment.

use std::ops::Range;

use noisy_analyses::{Applicability, Diagnostic, Document, Fix, RepairKind, Severity, checks};
use noisy_loops::edit::TransformationOffer;
use noisy_settings::LoopSettings;
use serde::{Deserialize, Serialize};

use crate::features::find::cursor;
use crate::features::nest;
use crate::features::write::refactor::{self, Refactoring};

/// The diagnostics that an action repairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ActionScope {
    /// The diagnostics of one function: its first byte, and its name.
    Function(usize, String),
    /// All diagnostics.
    File,
    /// The diagnostics of one code.
    Code(String),
}

/// A repair that is computed only when its action is resolved, because it takes time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RepairRequest {
    pub scope: ActionScope,
    /// True if existing `reduce_noise` may be removed. If false, the settings decide.
    pub anew: bool,
    /// True if functions may be rewritten so that they need fewer `reduce_noise`. If false, the
    /// settings decide.
    pub rewrites: bool,
}

impl RepairRequest {
    /// A repair that removes `reduce_noise` only if the settings allow it.
    pub(crate) fn of(scope: ActionScope) -> Self {
        Self { scope, anew: false, rewrites: false }
    }

    /// A repair that may rewrite functions.
    pub(crate) fn rewriting(scope: ActionScope) -> Self {
        Self { rewrites: true, ..Self::of(scope) }
    }
}

/// A code action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CodeAction {
    /// Repairs a scope. The diagnostics are those at the cursor that the repair removes.
    Repair(RepairRequest, Vec<Diagnostic>),
    /// Applies a fix of a diagnostic.
    Fix(Fix, Diagnostic),
    /// Changes the text but not the computation.
    Refactor(Refactoring),
    /// Transforms a loop.
    Loop(TransformationOffer),
    /// Applies the best schedule of the nest whose outermost loop starts at this offset; see
    /// [`nest::best_schedule_edits`].
    Schedule(usize),
    /// Suppresses a diagnostic by a comment.
    Allow(Fix, Diagnostic),
}

/// Returns the actions for a range. `diagnostics` are those of the document. `is_asked` is true if
/// the user opened the menu, and false for an automatic request of the editor.
pub(crate) fn actions(
    document: &Document,
    range: &Range<usize>,
    diagnostics: &[Diagnostic],
    loops: LoopSettings,
    is_asked: bool,
) -> Vec<CodeAction> {
    let here: Vec<&Diagnostic> =
        diagnostics.iter().filter(|it| cursor::is_touching(&it.range, range)).collect();
    let mut out = Vec::new();
    let mut codes = Vec::new();
    for (fixes, &it) in document.choices(here.iter().copied()).into_iter().zip(&here) {
        for fix in fixes {
            if fix.applicability == Applicability::Safe && !codes.contains(&it.code) {
                codes.push(it.code);
            }
            out.push(CodeAction::Fix(fix, it.clone()));
        }
    }
    codes.retain(|code| diagnostics.iter().filter(|it| it.code == *code).nth(1).is_some());
    let all_of = |code: &str| RepairRequest::of(ActionScope::Code(code.to_owned()));
    out.extend(codes.into_iter().map(|code| CodeAction::Repair(all_of(code), Vec::new())));
    let is_placed = |it: &Diagnostic| it.repair.is_by_optimizer();
    let mut rewriting = None;
    if let Some(function) = cursor::function_at(document.ir(), range.start) {
        let whole = document.ir().range(function);
        let scope = || ActionScope::Function(whole.start, document.function_name(function));
        if diagnostics.iter().any(|it| is_placed(it) && cursor::is_touching(&it.range, &whole)) {
            let fixed = here.iter().filter(|it| is_placed(it)).map(|it| (*it).clone()).collect();
            out.push(CodeAction::Repair(RepairRequest::of(scope()), fixed));
            if !document.is_heir_program() && !refactor::has_error(document, function, diagnostics)
            {
                rewriting = Some(RepairRequest::rewriting(scope()));
            }
        }
        if is_reset_at(document, range.start) {
            let anew = RepairRequest { anew: true, ..RepairRequest::of(scope()) };
            out.push(CodeAction::Repair(anew, Vec::new()));
        }
    }
    let refactorings = refactor::offered(document, range, diagnostics, is_asked);
    out.extend(refactorings.into_iter().map(CodeAction::Refactor));
    out.extend(nest::loop_actions(document, range.start, loops).into_iter().map(CodeAction::Loop));
    out.extend(nest::schedulable_nest_at(document, range.start).map(CodeAction::Schedule));
    if diagnostics.iter().any(is_placed) {
        out.push(CodeAction::Repair(RepairRequest::of(ActionScope::File), Vec::new()));
    }
    out.extend(rewriting.map(|it| CodeAction::Repair(it, Vec::new())));
    for it in here {
        if let Some(fix) = suppression(document, it) {
            out.push(CodeAction::Allow(fix, it.clone()));
        }
    }
    out
}

fn is_reset_at(document: &Document, offset: usize) -> bool {
    let ir = document.ir();
    ir.item_at(offset).is_some_and(|op| {
        ir.op_name(op) == document.model().reset_op && ir.range(op).contains(&offset)
    })
}

/// The fix that suppresses a diagnostic by a comment.
fn suppression(document: &Document, it: &Diagnostic) -> Option<Fix> {
    let edits = checks::suppression_edits(document, [it]);
    let title = format!("Suppress {} on this line", it.code);
    (!edits.is_empty()).then_some(Fix { title, applicability: Applicability::Unsafe, edits })
}

/// True if a repair of the file may remove a diagnostic.
pub(crate) fn may_be_repaired(it: &Diagnostic) -> bool {
    it.repair.is_by_optimizer()
        || it.repair == RepairKind::Edits && it.severity <= Severity::Warning
}

/// True if a repair of the file would change its text. The fix of a diagnostic may be rejected, so
/// fixes alone do not decide this.
pub(crate) fn is_repairable(document: &Document, diagnostics: &[Diagnostic]) -> bool {
    let is_placed = |it: &Diagnostic| it.repair.is_by_optimizer();
    let edited = || diagnostics.iter().filter(|it| may_be_repaired(it));
    diagnostics.iter().any(is_placed) || !document.fix_all(edited(), false).0.is_empty()
}

/// The names of the ops that a placement inserts, for titles of actions.
pub(crate) fn placed_ops(document: &Document) -> &str {
    let model = document.model();
    match (document.is_heir_program(), model.heir.level_budget) {
        (false, _) => model.reset_name(),
        (true, None) => "relinearize",
        (true, Some(_)) => "bootstrap and relinearize",
    }
}
