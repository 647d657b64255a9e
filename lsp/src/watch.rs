//! Configuration files, watched by the server itself: not every client does, and none outside of its workspace.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tower_lsp::ls_types as lsp;

use crate::session::Session;
use crate::{ask, status};

/// How often it is looked whether a configuration file came, went or changed. What is looked at is some twenty names.
const INTERVAL: Duration = Duration::from_secs(2);

/// Watches until the process ends.
pub(crate) fn start(session: &Arc<Session>) {
    let watched = session.clone();
    session.spawn(async move {
        let mut before = None;
        loop {
            tokio::time::sleep(INTERVAL).await;
            let documents = watched.all_documents();
            if documents.is_empty() {
                continue;
            }
            let looking = watched.clone();
            let look = move || looking.settings.stamps(documents.iter().map(|it| &it.uri));
            let Ok(now) = tokio::task::spawn_blocking(look).await else { return };
            // The first look finds a change, too: the settings were read before it, and a file may have changed since.
            if before.as_ref() != Some(&now) {
                changed(&watched);
            }
            before = Some(now);
        }
    });
}

/// A configuration file may have changed: has everything that depends on it shown anew.
pub(crate) fn changed(session: &Session) {
    session.settings.forget();
    session.forget_problems();
    session.refresh();
    ask::refresh(session);
    status::say(session);
}

/// Tells what is wrong with a configuration file: once, and at its place.
pub(crate) fn complain(session: &Session, invalid: &noisy_settings::Invalid) {
    let why = format!("noisy: {invalid}");
    if !session.add_problem(&why) {
        return;
    }
    ask::show(session, lsp::MessageType::WARNING, &why);
    status::say(session);
    let path = std::path::absolute(&invalid.path).unwrap_or_else(|_| invalid.path.clone());
    if let Some(uri) = lsp::Uri::from_file_path(path) {
        let diagnostic = |it: &noisy_settings::Problem| {
            let at = lsp::Position::new(it.line as u32 - 1, it.column as u32 - 1);
            lsp::Diagnostic {
                range: lsp::Range::new(at, at),
                severity: Some(lsp::DiagnosticSeverity::ERROR),
                source: Some("noisy".to_owned()),
                message: it.message.clone(),
                ..lsp::Diagnostic::default()
            }
        };
        let diagnostics: Vec<_> = invalid.problems.iter().map(diagnostic).collect();
        session.outbox.notify(
            "textDocument/publishDiagnostics",
            json!({ "uri": uri, "diagnostics": diagnostics }),
        );
        session.add_shown(uri);
    }
}
