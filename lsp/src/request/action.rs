//! Code actions, and their edits where those take time.

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::actor::NoAnswer;
use crate::features::action::{self, Action};
use crate::from_proto::{self, Later};
use crate::server::Server;
use crate::to_proto;
use crate::view::View;
use crate::{ask, solve};

/// What can be done about a range.
pub(crate) async fn actions(
    server: &Server,
    params: lsp::CodeActionParams,
) -> Result<Option<lsp::CodeActionResponse>> {
    let session = server.session.clone();
    let ask = move |view: &mut View<'_>| {
        let diagnostics = view.diagnostics();
        let found = action::actions(view.document, &view.offsets(params.range), &diagnostics);
        let wants_solving = |it: &Action| matches!(it, Action::Place(it, _) if !it.anew);
        if found.iter().any(wants_solving) {
            solve::later(&session, view.settings, view.uri, view.version);
        }
        found
            .iter()
            .filter(|it| from_proto::wants(&params.context, to_proto::action::kind(it)))
            .filter(|it| is_timely(view, &params.context, it))
            .filter_map(|it| to_proto::action::action(view, it, &diagnostics))
            .map(lsp::CodeActionOrCommand::CodeAction)
            .collect()
    };
    Ok(Some(server.ask(&params.text_document.uri, ask).await?.unwrap_or_default()))
}

/// What is asked for without the user, on save, is given only if it need not be waited for.
fn is_timely(view: &View<'_>, context: &lsp::CodeActionContext, it: &Action) -> bool {
    let is_on_save = context.trigger_kind == Some(lsp::CodeActionTriggerKind::AUTOMATIC)
        && context.only.is_some();
    match it {
        Action::Place(placement, _) => !is_on_save || view.solution(placement).is_some(),
        _ => true,
    }
}

/// The edit of an action.
pub(crate) async fn resolve(
    server: &Server,
    mut action: lsp::CodeAction,
) -> Result<lsp::CodeAction> {
    let Some(data) = action.data.clone() else { return Ok(action) };
    let later: Later =
        serde_json::from_value(data).map_err(|it| Error::invalid_params(it.to_string()))?;
    match later {
        Later::Place(place) => {
            let document = server.document(&place.uri)?;
            let (edit, report) = solve::solve(server.session.clone(), document, place).await?;
            if edit.is_none() {
                ask::show(&server.session, lsp::MessageType::WARNING, &report);
            }
            action.edit = edit;
        }
        Later::FixAll { uri, version, code } => {
            let ask = move |view: &mut View<'_>| {
                let fix = (view.version == version)
                    .then(|| action::fix_all(view.document, &code, &view.diagnostics()))?;
                Some(to_proto::action::workspace(view, &fix.edits))
            };
            let edit = server.ask(&uri, ask).await?.flatten();
            action.edit = Some(edit.ok_or_else(|| Error::from(NoAnswer::Modified))?);
        }
    }
    Ok(action)
}
