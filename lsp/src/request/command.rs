//! Commands. Those that are advertised are those that are executed here.

use std::fmt::Write as _;

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::from_proto::Place;
use crate::server::Server;
use crate::to_proto::action::PLACE;
use crate::{ask, solve};

/// The command that prints what there is to know about the server's state.
const DEBUG: &str = "noisy.printDebugInformation";

/// All commands.
pub(crate) const ALL: [&str; 2] = [PLACE, DEBUG];

/// Executes a command.
pub(crate) async fn execute(
    server: &Server,
    params: lsp::ExecuteCommandParams,
) -> Result<Option<Value>> {
    match params.command.as_str() {
        PLACE => {
            let place = params.arguments.into_iter().next().unwrap_or_default();
            let place: Place = serde_json::from_value(place)
                .map_err(|it| Error::invalid_params(it.to_string()))?;
            let document = server.document(&place.uri)?;
            let (edit, report) = solve::solve(server.session.clone(), document, place).await?;
            match edit {
                Some(edit) => ask::apply(&server.session, edit, report),
                None => ask::show(&server.session, lsp::MessageType::INFO, &report),
            }
            Ok(None)
        }
        DEBUG => Ok(Some(debug(server).await.into())),
        name => Err(Error::invalid_params(format!("unknown command '{name}'"))),
    }
}

/// The settings and what is open, for reports of faults.
async fn debug(server: &Server) -> String {
    let session = &server.session;
    let mut out = format!("noisy-lsp {}\n{:#?}\n", env!("CARGO_PKG_VERSION"), session.abilities());
    let _ = writeln!(out, "{:#?}", session.settings);
    let asked: Vec<_> = session
        .all_documents()
        .into_iter()
        .map(|it| {
            let answer = it.query(|view| {
                let (ops, values, ..) = view.document.ir().bounds();
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
