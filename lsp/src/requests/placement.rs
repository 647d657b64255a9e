//! Repairs on demand, when a code action is resolved or the command is executed. The user sees the
//! progress and can cancel the repair.

use ropey::Rope;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::connection::progress::Progress;
use crate::documents::actor::OpenDocument;
use crate::documents::job::NoAnswer;
use crate::features::write::action::{ActionScope, placed_ops};
use crate::optimizer::{self, RepairAnswer, Solution, StopOnDrop};
use crate::proto;
use crate::proto::params::{self, PlaceRequest};
use crate::proto::view::DocumentView;
use crate::session::Session;

/// Repairs the version of a request, or the newest if it states none. Returns an edit, if there is
/// anything to change, and a report for the user.
pub(crate) async fn repair_edit(
    session: &Session,
    document: OpenDocument,
    request: PlaceRequest,
) -> Result<(Option<lsp::WorkspaceEdit>, String)> {
    let connection = &session.connection;
    let (text, version, solution) = solution(session, &document, &request).await?;
    let RepairAnswer::Fix(fix) = &solution.found else { return Ok((None, solution.report)) };
    let edits = proto::edit::edits(&text, connection.capabilities().encoding, &fix.edits);
    let uri = &request.uri;
    let edit = if request.rewrites {
        proto::edit::titled_workspace_edit(connection, uri, version, edits, &fix.title, true)
    } else {
        proto::edit::versioned_workspace_edit(connection, uri, version, edits)
    };
    Ok((Some(edit), solution.report))
}

/// Repairs the version of a request, or the newest if it states none. Returns the text and the
/// version that were repaired.
pub(crate) async fn solution(
    session: &Session,
    document: &OpenDocument,
    request: &PlaceRequest,
) -> Result<(Rope, i32, Solution)> {
    let connection = &session.connection;
    let repair = request.repair();
    let wanted = repair.clone();
    let look = move |view: &mut DocumentView<'_>| {
        let known = view.solution(&wanted).cloned();
        let op = placed_ops(view.document).to_owned();
        (view.text().clone(), view.version, view.settings.clone(), known, op)
    };
    let (text, version, settings, known, op) = document.query(look).await?;
    if request.version.is_some_and(|it| it != version) {
        return Err(NoAnswer::Modified.into());
    }
    let solution = match known {
        Some(solution) => solution,
        None => {
            let stop = StopOnDrop::default();
            let what = match &repair.scope {
                ActionScope::Function(_, name) => format!("Placing {op} in @{name}"),
                ActionScope::File => format!("Placing {op}"),
                ActionScope::Code(code) => format!("Fixing {code}"),
            };
            let options = optimizer::options(&settings, &stop);
            let progress = Progress::begin(connection, &what, stop.flag(), options.limits.time);
            let report = Box::new(progress.message_setter());
            let wanted = vec![repair];
            // A cancellation does not wait until the solver notices it.
            let mut solved = tokio::select! {
                solved = optimizer::run(connection, &settings, text.clone(), wanted, options, Some(report)) => solved.map_err(params::request_failed)?,
                () = progress.wait_until_cancelled() => return Err(Error::request_cancelled()),
            };
            let solved = solved.pop();
            solved.ok_or_else(Error::internal_error)?
        }
    };
    let is_current = move |view: &mut DocumentView<'_>| {
        view.version == version && view.settings.file == settings.file
    };
    if !document.query(is_current).await? {
        return Err(NoAnswer::Modified.into());
    }
    Ok((text, version, solution))
}
