//! Code actions, and their edits where those take time.

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::features::action::{self, Action, Placement};
use crate::from_proto::{self, Place};
use crate::server::Server;
use crate::view::View;
use crate::{ask, solve, to_proto};

/// What can be done about a range.
pub(crate) async fn actions(
    server: &Server,
    params: lsp::CodeActionParams,
) -> Result<Option<lsp::CodeActionResponse>> {
    let session = server.session.clone();
    let ask = move |view: &mut View<'_>| {
        let mut diagnostics = view.document.diagnostics();
        view.settings.file.rules.apply(&mut diagnostics);
        let found = action::actions(view.document, &view.offsets(params.range), &diagnostics);
        if found.iter().any(|it| matches!(it, Action::Place(..))) {
            solve::later(&session, view.settings, view.uri, view.version);
        }
        found
            .iter()
            .filter(|it| from_proto::wants(&params.context, to_proto::action::kind(it)))
            .filter(|it| is_timely(view, &params.context, it))
            .filter_map(|it| to_proto::action::action(view, it))
            .map(lsp::CodeActionOrCommand::CodeAction)
            .collect()
    };
    Ok(Some(server.ask(&params.text_document.uri, ask).await?.unwrap_or_default()))
}

/// A fix of the whole file that is asked for without the user, on save, is given only if it need not be waited for.
fn is_timely(view: &View<'_>, context: &lsp::CodeActionContext, it: &Action) -> bool {
    let is_on_save = context.trigger_kind == Some(lsp::CodeActionTriggerKind::AUTOMATIC)
        && context.only.is_some();
    !is_on_save
        || !matches!(it, Action::Place(Placement::File, _))
        || view.solution(&Placement::File).is_some()
}

/// The edit of an action.
pub(crate) async fn resolve(
    server: &Server,
    mut action: lsp::CodeAction,
) -> Result<lsp::CodeAction> {
    let Some(data) = action.data.clone() else { return Ok(action) };
    let place: Place =
        serde_json::from_value(data).map_err(|it| Error::invalid_params(it.to_string()))?;
    let document = server.document(&place.uri)?;
    let (edit, report) = solve::solve(server.session.clone(), document, place).await?;
    if edit.is_none() {
        ask::show(&server.session, lsp::MessageType::WARNING, &report);
    }
    action.edit = edit;
    Ok(action)
}
