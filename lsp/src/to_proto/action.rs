//! Code actions.

use noisy_analyses::Applicability;
use tower_lsp::ls_types as lsp;

use super::diagnostic::diagnostic;
use super::edit;
use crate::features::action::{Action, Placement};
use crate::from_proto::Place;
use crate::solve::{Found, Solution};
use crate::view::View;

/// The name of the command that places; its argument is a [`Place`].
pub(crate) const PLACE: &str = "noisy.insertReduceNoise";

/// What a placement is called, before and after it was solved.
pub(crate) fn title(placement: &Placement, solution: Option<&Solution>) -> String {
    let what = match solution.map(|it| &it.found) {
        Some(Found::Fix(fix)) => &fix.title,
        Some(Found::Nothing) | None => "Insert optimal reduce_noise",
    };
    match placement {
        Placement::Function(_, name) => format!("{what} in @{name}"),
        Placement::File => format!("{what} in the whole file"),
    }
}

/// What says to the optimizer what shall be done.
pub(crate) fn place(view: &View<'_>, placement: &Placement) -> Place {
    let function = match placement {
        Placement::Function(start, name) => Some((*start, name.clone())),
        Placement::File => None,
    };
    Place { uri: view.uri.clone(), version: Some(view.version), function }
}

/// The kinds that actions may have; each may be asked for.
pub(crate) fn kind(it: &Action) -> &'static str {
    match it {
        Action::Place(Placement::File, _) => "source.fixAll.noisy",
        Action::Place(Placement::Function(..), _) | Action::Fix(..) | Action::FixAll(..) => {
            "quickfix"
        }
    }
}

/// A code action; a placement that is not solved yet is resolved later.
pub(crate) fn action(view: &View<'_>, it: &Action) -> Option<lsp::CodeAction> {
    let kind = Some(lsp::CodeActionKind::new(kind(it)));
    let workspace = |edits: &[noisy_analyses::TextEdit]| {
        let edits = edit::edits(view.text(), view.session.abilities().encoding, edits);
        edit::workspace(view.session, view.uri, view.version, edits)
    };
    Some(match it {
        Action::Place(placement, mended) => {
            let solution = view.solution(placement);
            let mut action = lsp::CodeAction {
                title: title(placement, solution),
                kind,
                diagnostics: Some(mended.iter().map(|it| diagnostic(view, it)).collect()),
                is_preferred: matches!(placement, Placement::Function(..)).then_some(true),
                ..lsp::CodeAction::default()
            };
            match solution {
                Some(Solution { found: Found::Fix(fix), .. }) => {
                    action.edit = Some(workspace(&fix.edits));
                }
                Some(solution) => {
                    if !view.session.abilities().disabled_actions {
                        return None;
                    }
                    action.is_preferred = None;
                    action.disabled =
                        Some(lsp::CodeActionDisabled { reason: solution.report.clone() });
                }
                None => {
                    let data = serde_json::to_value(place(view, placement)).unwrap_or_default();
                    if view.session.abilities().resolves_actions {
                        action.data = Some(data);
                    } else {
                        action.command = Some(lsp::Command {
                            title: action.title.clone(),
                            command: PLACE.to_owned(),
                            arguments: Some(vec![data]),
                        });
                    }
                }
            }
            action
        }
        Action::Fix(fix, mended) => lsp::CodeAction {
            title: fix.title.clone(),
            kind,
            diagnostics: Some(vec![diagnostic(view, mended)]),
            edit: Some(workspace(&fix.edits)),
            is_preferred: (fix.applicability == Applicability::Safe).then_some(true),
            ..lsp::CodeAction::default()
        },
        Action::FixAll(fix) => lsp::CodeAction {
            title: fix.title.clone(),
            kind,
            edit: Some(workspace(&fix.edits)),
            ..lsp::CodeAction::default()
        },
    })
}
