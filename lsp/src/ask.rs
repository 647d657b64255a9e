//! What the server asks of the client. Nobody waits for the answers but the task that deals with them, and it not forever.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tower_lsp::Client;
use tower_lsp::ls_types as lsp;

use crate::session::Session;

/// How long to wait for an answer of the client.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Asks something, later.
fn ask<F>(session: &Session, ask: impl FnOnce(Client) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let Some(client) = session.client() else { return };
    let question = ask(client);
    session.spawn(async move {
        // A client that does not answer goes without.
        let _ = tokio::time::timeout(PATIENCE, question).await;
    });
}

/// Has everything asked for anew that depends on settings.
pub(crate) fn refresh(session: &Session) {
    let abilities = session.abilities().clone();
    ask(session, move |client| async move {
        if abilities.refreshes_hints {
            let _ = client.inlay_hint_refresh().await;
        }
        if abilities.refreshes_diagnostics && abilities.pulls_diagnostics {
            let _ = client.workspace_diagnostic_refresh().await;
        }
    });
    refresh_lenses(session);
}

/// Has the lenses asked for anew.
pub(crate) fn refresh_lenses(session: &Session) {
    if session.abilities().refreshes_lenses {
        ask(session, |client| async move {
            let _ = client.code_lens_refresh().await;
        });
    }
}

/// Has an edit applied, and says what it did, or that the client did not apply it.
pub(crate) fn apply(session: &Arc<Session>, edit: lsp::WorkspaceEdit, report: String) {
    let asking = session.clone();
    ask(session, |client| async move {
        // Without an answer there is nobody to tell.
        let Ok(answer) = client.apply_edit(edit).await else { return };
        if answer.applied {
            show(&asking, lsp::MessageType::INFO, &report);
        } else {
            let why = answer.failure_reason.unwrap_or_else(|| "the document changed".to_owned());
            let message = format!("Nothing was inserted: {why}");
            show(&asking, lsp::MessageType::WARNING, &message);
        }
    });
}

/// Asks to be told when settings change.
pub(crate) fn register(session: &Session) {
    let mut wanted = Vec::new();
    if session.abilities().registers_configuration {
        wanted.push(lsp::Registration {
            id: "configuration".to_owned(),
            method: "workspace/didChangeConfiguration".to_owned(),
            register_options: Some(json!({ "section": "noisy" })),
        });
    }
    if session.abilities().registers_watching {
        let watchers = json!([{ "globPattern": "**/{noisy,.noisy}.toml" }]);
        wanted.push(lsp::Registration {
            id: "files".to_owned(),
            method: "workspace/didChangeWatchedFiles".to_owned(),
            register_options: Some(json!({ "watchers": watchers })),
        });
    }
    if !wanted.is_empty() {
        ask(session, |client| async move {
            let _ = client.register_capability(wanted).await;
        });
    }
}

/// Asks for the settings.
pub(crate) fn configuration(session: &Arc<Session>) {
    if !session.abilities().configuration {
        return;
    }
    let asking = session.clone();
    ask(session, |client| async move {
        let scopes = asking.settings.scopes();
        let item = |scope: &Option<lsp::Uri>| lsp::ConfigurationItem {
            scope_uri: scope.clone(),
            section: Some("noisy".to_owned()),
        };
        let Ok(sections) = client.configuration(scopes.iter().map(item).collect()).await else {
            return;
        };
        for (scope, section) in scopes.iter().zip(sections).filter(|it| !it.1.is_null()) {
            asking.reconfigure(Some(scope), &section);
        }
    });
}

/// Shows a message to the user.
pub(crate) fn show(session: &Session, typ: lsp::MessageType, message: &str) {
    let params = lsp::ShowMessageParams { typ, message: message.to_owned() };
    session.outbox.notify("window/showMessage", params);
}
