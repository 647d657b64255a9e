//! Requests from the server to the client. Each runs in a task of its own and waits for the answer
//! for a limited time.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tower_lsp::Client;
use tower_lsp::ls_types as lsp;

use super::Connection;
use crate::host;

/// Time limit for an answer of the client.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends requests to the client from a task of its own, with a time limit.
pub(crate) fn send_requests<F>(connection: &Connection, ask: impl FnOnce(Client) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let Some(client) = connection.client() else { return };
    let question = ask(client);
    connection.spawn(async move {
        // A request without an answer in time is not repeated.
        let _ = host::timeout(ANSWER_TIMEOUT, question).await;
    });
}

/// Asks the client to repeat its requests for hints, diagnostics and lenses, because they depend on
/// the settings.
pub(crate) fn refresh(connection: &Connection) {
    let capabilities = connection.capabilities().clone();
    send_requests(connection, move |client| async move {
        if capabilities.refreshes_hints {
            let _ = client.inlay_hint_refresh().await;
        }
        if capabilities.refreshes_diagnostics && capabilities.pulls_diagnostics {
            let _ = client.workspace_diagnostic_refresh().await;
        }
    });
    refresh_lenses(connection);
}

/// Asks the client to repeat its request for lenses.
pub(crate) fn refresh_lenses(connection: &Connection) {
    if connection.capabilities().refreshes_lenses {
        send_requests(connection, |client| async move {
            let _ = client.code_lens_refresh().await;
        });
    }
}

/// Asks the client to apply an edit. Shows `report` to the user, or the reason if the client
/// refuses the edit.
pub(crate) fn apply(connection: &Arc<Connection>, edit: lsp::WorkspaceEdit, report: String) {
    let asking = connection.clone();
    send_requests(connection, |client| async move {
        let why = match client.apply_edit(edit).await {
            Ok(answer) if answer.applied => {
                asking.show(lsp::MessageType::INFO, &report);
                return;
            }
            Ok(answer) => answer.failure_reason.filter(|it| !it.is_empty()),
            Err(error) => Some(error.message.into_owned()),
        };
        let why = why.unwrap_or_else(|| "the editor gave no reason".to_owned());
        asking.show(lsp::MessageType::WARNING, &format!("Nothing was inserted: {why}"));
    });
}

/// Names of configuration files, as a pattern of the protocol.
const CONFIG_FILES: &str = "**/{noisy,.noisy}.toml";

/// Registrations for configuration files. The server also answers clients that open such files
/// without a registration.
fn config_file_registrations() -> Vec<lsp::Registration> {
    let selector = json!([{ "pattern": CONFIG_FILES }]);
    let triggers = ["[", ".", "=", "\"", " "];
    [
        ("didOpen", json!({ "documentSelector": selector })),
        ("didChange", json!({ "documentSelector": selector, "syncKind": 2 })),
        ("didClose", json!({ "documentSelector": selector })),
        ("hover", json!({ "documentSelector": selector })),
        ("completion", json!({ "documentSelector": selector, "triggerCharacters": triggers })),
    ]
    .map(|(name, options)| lsp::Registration {
        id: name.to_owned(),
        method: format!("textDocument/{name}"),
        register_options: Some(options),
    })
    .to_vec()
}

/// Registers for changes of settings, for changes of configuration files on the disk, and for open
/// configuration files.
pub(crate) fn register(connection: &Connection) {
    let mut wanted = Vec::new();
    if connection.capabilities().registers_configuration {
        wanted.push(lsp::Registration {
            id: "configuration".to_owned(),
            method: "workspace/didChangeConfiguration".to_owned(),
            register_options: Some(json!({ "section": "noisy" })),
        });
    }
    if connection.capabilities().registers_watching {
        let watchers = json!([{ "globPattern": CONFIG_FILES }]);
        wanted.push(lsp::Registration {
            id: "files".to_owned(),
            method: "workspace/didChangeWatchedFiles".to_owned(),
            register_options: Some(json!({ "watchers": watchers })),
        });
    }
    if connection.capabilities().registers_documents {
        wanted.extend(config_file_registrations());
    }
    if !wanted.is_empty() {
        send_requests(connection, |client| async move {
            let _ = client.register_capability(wanted).await;
        });
    }
}
