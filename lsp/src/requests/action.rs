//! Code actions, and the edits of slow ones.

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use super::{placement, refactor};
use crate::documents::actor::OpenDocument;
use crate::documents::job::NoAnswer;
use crate::features::nest;
use crate::features::write::action::{self, ActionScope, CodeAction, RepairRequest};
use crate::host;
use crate::proto;
use crate::proto::params::{self, ResolveData};
use crate::proto::view::DocumentView;
use crate::session::Session;

/// Returns the actions for a range.
pub(crate) async fn actions(
    session: &Session,
    params: lsp::CodeActionParams,
) -> Result<Option<lsp::CodeActionResponse>> {
    let uri = params.text_document.uri.clone();
    let on_save = is_on_save(&params.context);
    let is_asked = params.context.trigger_kind != Some(lsp::CodeActionTriggerKind::AUTOMATIC);
    let version = match session.document(&uri).filter(|_| on_save) {
        Some(document) => Some(wait_for_search(&document).await?),
        None => None,
    };
    let ask = move |view: &mut DocumentView<'_>| {
        if version.is_some_and(|it| it != view.version) {
            return Err(NoAnswer::Modified);
        }
        let diagnostics = view.diagnostics();
        let mut found = action::actions(
            view.document,
            &view.offsets(params.range),
            &diagnostics,
            view.settings.file.loops,
            is_asked,
        );
        // A client that requests actions by kind also gets the repair of the file if no op is
        // placed. In programs of HEIR, and if existing ops are replaced, it gets this action even
        // without diagnostics.
        let whole = CodeAction::Repair(RepairRequest::of(ActionScope::File), Vec::new());
        let asks = params.context.only.as_ref().is_some_and(|it| !it.is_empty());
        let may_change = || {
            view.document.is_heir_program()
                || view.settings.file.placement.replace
                || action::is_repairable(view.document, &diagnostics)
        };
        if asks && !found.contains(&whole) && may_change() {
            found.push(whole);
        }
        let is_ready = |it: &CodeAction| match it {
            CodeAction::Repair(repair, _) => !on_save || view.solution(repair).is_some(),
            CodeAction::Loop(_) | CodeAction::Schedule(_) => !view.is_noise_only(),
            _ => true,
        };
        Ok(found
            .iter()
            .filter(|it| {
                params::is_requested(&params.context, proto::action::action_kind(it))
                    && is_ready(it)
            })
            .filter_map(|it| proto::action::action(view, it, &diagnostics))
            .map(lsp::CodeActionOrCommand::CodeAction)
            .collect())
    };
    let found = session.ask(&uri, ask).await?.transpose()?;
    Ok(Some(found.unwrap_or_default()))
}

/// True if the editor sends the request on save. Such a request lists the kinds of actions that are
/// applied without asking the user.
fn is_on_save(context: &lsp::CodeActionContext) -> bool {
    context.trigger_kind == Some(lsp::CodeActionTriggerKind::AUTOMATIC)
        && context.only.as_ref().is_some_and(|only| !only.is_empty())
        && proto::action::ACTION_KINDS
            .iter()
            .any(|it| it.starts_with("source") && params::is_requested(context, it))
}

/// Waits for the search, up to the time that the settings allow for a save. Returns the version of
/// the search.
async fn wait_for_search(document: &OpenDocument) -> Result<i32> {
    let about = document.query(|view| (view.version, view.settings.editor.save_wait));
    let search = document.search();
    let (version, wait) = about.await?;
    // After that time, the repairs that are known so far are used.
    if let Ok(searched) = host::timeout(wait, search).await {
        searched?;
    }
    Ok(version)
}

/// Adds its edit to an action.
pub(crate) async fn resolve(
    session: &Session,
    mut action: lsp::CodeAction,
) -> Result<lsp::CodeAction> {
    if let Some(refused) = &action.disabled {
        // Some editors let the user choose a disabled action.
        session.connection.show(lsp::MessageType::INFO, &refused.reason);
        return Ok(action);
    }
    let Some(data) = action.data.clone() else { return Ok(action) };
    let later: ResolveData =
        serde_json::from_value(data).map_err(|it| Error::invalid_params(it.to_string()))?;
    match later {
        ResolveData::Place(place) => {
            let document = session.open_document(&place.uri)?;
            let (edit, report) = placement::repair_edit(session, document, place).await?;
            if edit.is_none() {
                session.connection.show(lsp::MessageType::WARNING, &report);
            }
            action.edit = edit;
        }
        ResolveData::Refactor { uri, version, kind, range, title } => {
            let found = refactor::edits(session, &uri, version, kind, range).await?;
            let connection = &session.connection;
            action.edit = Some(proto::edit::titled_workspace_edit(
                connection, &uri, version, found, &title, false,
            ));
        }
        ResolveData::Schedule { uri, version, nest } => {
            let ask = move |view: &mut DocumentView<'_>| {
                let is_current = view.version == version;
                is_current.then(|| {
                    let edits =
                        nest::best_schedule_edits(view.document, nest, view.settings.file.loops);
                    edits.map(|it| proto::action::workspace_edit(view, &it))
                })
            };
            let found = session.ask(&uri, ask).await?.flatten();
            match found.ok_or_else(|| Error::from(NoAnswer::Modified))? {
                Ok(edit) => action.edit = Some(edit),
                // The text stays unchanged, and the user sees the reason.
                Err(why) => session.connection.show(lsp::MessageType::INFO, &why),
            }
        }
    }
    Ok(action)
}
