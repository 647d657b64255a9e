//! Execution of the advertised commands.

use std::fmt::Write as _;

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use super::placement;
use crate::connection::capabilities::ClientCapabilities;
use crate::connection::client_requests;
use crate::proto::action::PLACE_COMMAND;
use crate::proto::params::{PlaceRequest, request_failed};
use crate::session::Session;

/// The command that prints the server's state.
const DEBUG_COMMAND: &str = "noisy.printDebugInformation";

/// The commands that a client can use. Placement requires that the client applies edits.
pub(crate) fn all(client: &ClientCapabilities) -> Vec<&'static str> {
    if client.applies_edits { vec![PLACE_COMMAND, DEBUG_COMMAND] } else { vec![DEBUG_COMMAND] }
}

/// Executes a command.
pub(crate) async fn execute(
    session: &Session,
    params: lsp::ExecuteCommandParams,
) -> Result<Option<Value>> {
    match params.command.as_str() {
        PLACE_COMMAND => {
            if !session.connection.capabilities().applies_edits {
                let why = "this editor does not let the server edit (workspace.applyEdit)";
                return Err(request_failed(why.to_owned()));
            }
            let place = params.arguments.into_iter().next().unwrap_or_default();
            let place: PlaceRequest = serde_json::from_value(place)
                .map_err(|it| Error::invalid_params(it.to_string()))?;
            let document = session.open_document(&place.uri)?;
            let (edit, report) = placement::repair_edit(session, document, place).await?;
            match edit {
                Some(edit) => client_requests::apply(&session.connection, edit, report),
                None => session.connection.show(lsp::MessageType::INFO, &report),
            }
            Ok(None)
        }
        DEBUG_COMMAND => Ok(Some(debug_information(session).await.into())),
        name => Err(Error::invalid_params(format!("unknown command '{name}'"))),
    }
}

/// The settings and open documents, for bug reports.
async fn debug_information(session: &Session) -> String {
    let mut out = format!(
        "noisy-lsp {}\n{:#?}\n",
        env!("CARGO_PKG_VERSION"),
        session.connection.capabilities()
    );
    let _ = writeln!(out, "{:#?}", session.connection.settings);
    let asked: Vec<_> = session
        .all_documents()
        .into_iter()
        .map(|it| {
            let answer = it.query(|view| {
                let (ops, values, ..) = view.document.ir().n_slots();
                let (bytes, version) = (view.text().len_bytes(), view.version);
                format!(
                    "version {version}, {bytes} bytes, {ops} ops, {values} values, {}",
                    view.document.ir().interner.summary()
                )
            });
            (it.uri, answer)
        })
        .collect();
    for (uri, answer) in asked {
        let text = answer.await.unwrap_or_else(|why| format!("{why:?}"));
        let _ = writeln!(out, "{}: {text}", uri.as_str());
    }
    out
}
