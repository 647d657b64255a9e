//! Code actions.

use noisy_analyses::{Applicability, Diagnostic, TextEdit};
use tower_lsp::ls_types as lsp;

use super::diagnostic::diagnostic;
use super::edit;
use crate::features::nest;
use crate::features::write::action::{ActionScope, CodeAction, RepairRequest, placed_ops};
use crate::features::write::refactor;
use crate::optimizer::{RepairAnswer, Solution};
use crate::proto::params::{PlaceRequest, ResolveData};
use crate::proto::view::DocumentView;

/// The name of the placement command; its argument is a [`PlaceRequest`].
pub(crate) const PLACE_COMMAND: &str = "noisy.insertReduceNoise";

/// Maximum size of a text, in bytes, for refactorings in a client that does not resolve actions.
/// Their edits are computed before the menu is shown, and each computation parses the text up to
/// four times.
const MAX_EAGER_BYTES: usize = 1_000_000;

/// Returns the title of a repair. `solution` is its result, if known; `is_placed` is true if the
/// repair inserts `op`.
fn title(op: &str, repair: &RepairRequest, solution: Option<&Solution>, is_placed: bool) -> String {
    let RepairRequest { scope, anew, rewrites } = repair;
    let place = match scope {
        ActionScope::Code(code) => return format!("Fix all {code} in this file"),
        ActionScope::Function(_, name) => format!("in @{name}"),
        ActionScope::File => "in the whole file".to_owned(),
    };
    match solution.map(|it| &it.found) {
        Some(RepairAnswer::Fix(fix)) => format!("{} {place}", fix.title),
        _ if *rewrites => format!("Rewrite and insert optimal {op} {place}"),
        _ if *anew => format!("Re-optimize all {op} {place} (replaces existing)"),
        _ if is_placed => format!("Insert optimal {op} {place}"),
        _ => format!("Fix all problems {place}"),
    }
}

/// Returns the request for a repair.
pub(crate) fn place_request(view: &DocumentView<'_>, repair: &RepairRequest) -> PlaceRequest {
    let (function, code) = match &repair.scope {
        ActionScope::Function(start, name) => (Some((*start, name.clone())), None),
        ActionScope::File => (None, None),
        ActionScope::Code(code) => (None, Some(code.clone())),
    };
    PlaceRequest {
        uri: view.uri.clone(),
        version: Some(view.version),
        function,
        code,
        anew: repair.anew,
        rewrites: repair.rewrites,
    }
}

/// The kinds of actions. A client can request each of them.
pub(crate) const ACTION_KINDS: [&str; 5] = [
    "quickfix",
    "refactor.rewrite.noisy",
    "source.fixAll.noisy",
    "refactor.extract.noisy",
    "refactor.inline.noisy",
];

/// The kind of an action.
pub(crate) fn action_kind(it: &CodeAction) -> &'static str {
    match it {
        CodeAction::Repair(
            RepairRequest { anew: true, .. } | RepairRequest { rewrites: true, .. },
            _,
        )
        | CodeAction::Schedule(_)
        | CodeAction::Loop(_) => ACTION_KINDS[1],
        CodeAction::Refactor(it) => match it.kind {
            refactor::RefactorKind::Extract => ACTION_KINDS[3],
            refactor::RefactorKind::Inline => ACTION_KINDS[4],
            _ => ACTION_KINDS[1],
        },
        CodeAction::Repair(RepairRequest { scope: ActionScope::File, .. }, _) => ACTION_KINDS[2],
        CodeAction::Fix(..) | CodeAction::Allow(..) | CodeAction::Repair(..) => ACTION_KINDS[0],
    }
}

/// Edits of the viewed document.
pub(crate) fn workspace_edit(view: &DocumentView<'_>, edits: &[TextEdit]) -> lsp::WorkspaceEdit {
    let edits = edit::edits(view.text(), view.connection.capabilities().encoding, edits);
    edit::versioned_workspace_edit(view.connection, view.uri, view.version, edits)
}

/// Returns a code action. Slow edits are computed when the action is resolved, or by a command for
/// clients that do not resolve actions. `None` if the action is impossible and the client cannot
/// show disabled actions.
pub(crate) fn action(
    view: &DocumentView<'_>,
    it: &CodeAction,
    diagnostics: &[Diagnostic],
) -> Option<lsp::CodeAction> {
    let capabilities = view.connection.capabilities();
    let mut action = lsp::CodeAction {
        kind: Some(lsp::CodeActionKind::new(action_kind(it))),
        ..Default::default()
    };
    match it {
        CodeAction::Repair(repair, fixed) => {
            let solution = view.solution(repair);
            let is_placed = view.document.is_heir_program()
                || diagnostics.iter().any(|it| it.repair.is_by_optimizer());
            action.title = title(placed_ops(view.document), repair, solution, is_placed);
            if !matches!(repair.scope, ActionScope::Code(_)) {
                action.diagnostics = Some(fixed.iter().map(|it| diagnostic(view, it)).collect());
            }
            let is_plain = !repair.anew && !repair.rewrites;
            let is_preferred = is_plain && matches!(repair.scope, ActionScope::Function(..));
            action.is_preferred = is_preferred.then_some(true);
            // The user sees a rewriting before it is applied.
            let is_confirmed = repair.rewrites && capabilities.confirms_edits;
            match solution {
                Some(Solution { found: RepairAnswer::Fix(fix), .. }) if !is_confirmed => {
                    action.edit = Some(if repair.rewrites {
                        let encoding = capabilities.encoding;
                        let edits = edit::edits(view.text(), encoding, &fix.edits);
                        edit::titled_workspace_edit(
                            view.connection,
                            view.uri,
                            view.version,
                            edits,
                            &fix.title,
                            true,
                        )
                    } else {
                        workspace_edit(view, &fix.edits)
                    });
                }
                Some(solution) if !matches!(solution.found, RepairAnswer::Fix(_)) => {
                    if !capabilities.disabled_actions {
                        return None;
                    }
                    action.is_preferred = None;
                    action.disabled =
                        Some(lsp::CodeActionDisabled { reason: solution.report.clone() });
                }
                _ => {
                    let place = place_request(view, repair);
                    if capabilities.resolves_actions && !is_confirmed {
                        action.data = serde_json::to_value(ResolveData::Place(place)).ok();
                    } else if !capabilities.applies_edits {
                        // The command would send the edit to the client.
                        return None;
                    } else {
                        action.command = Some(lsp::Command {
                            title: action.title.clone(),
                            command: PLACE_COMMAND.to_owned(),
                            arguments: Some(serde_json::to_value(place).into_iter().collect()),
                        });
                    }
                }
            }
        }
        CodeAction::Fix(fix, fixed) => {
            action.title.clone_from(&fix.title);
            action.diagnostics = Some(vec![diagnostic(view, fixed)]);
            action.edit = Some(workspace_edit(view, &fix.edits));
            action.is_preferred = (fix.applicability == Applicability::Safe).then_some(true);
        }
        CodeAction::Allow(fix, allowed) => {
            action.title.clone_from(&fix.title);
            action.diagnostics = Some(vec![diagnostic(view, allowed)]);
            action.edit = Some(workspace_edit(view, &fix.edits));
        }
        CodeAction::Loop(it) => {
            action.title.clone_from(&it.title);
            match &it.edits {
                Ok(edits) => action.edit = Some(workspace_edit(view, edits)),
                Err(_) if !capabilities.disabled_actions => return None,
                Err(why) => {
                    // Not every menu shows the reason.
                    action.title = format!("{}: {why}", it.title);
                    action.disabled = Some(lsp::CodeActionDisabled { reason: why.clone() });
                }
            }
        }
        CodeAction::Schedule(start) => {
            "Find the best order of the nest".clone_into(&mut action.title);
            if capabilities.resolves_actions {
                let (uri, version, nest) = (view.uri.clone(), view.version, *start);
                action.data =
                    serde_json::to_value(ResolveData::Schedule { uri, version, nest }).ok();
            } else {
                let edits =
                    nest::best_schedule_edits(view.document, *start, view.settings.file.loops)
                        .ok()?;
                action.edit = Some(workspace_edit(view, &edits));
            }
        }
        CodeAction::Refactor(it) => {
            action.title.clone_from(&it.title);
            if capabilities.resolves_actions {
                let later = ResolveData::Refactor {
                    uri: view.uri.clone(),
                    version: view.version,
                    kind: it.kind,
                    range: it.range.clone(),
                    title: it.title.clone(),
                };
                action.data = serde_json::to_value(later).ok();
            } else if view.document.source().text().len_bytes() > MAX_EAGER_BYTES {
                return None;
            } else {
                let edits = refactor::edits(view.document, it.kind, &it.range).ok()?;
                action.edit = Some(workspace_edit(view, &edits));
            }
        }
    }
    Some(action)
}
