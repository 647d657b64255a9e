//! What is wrong with the settings: each problem is shown once, until the settings change.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tower_lsp::ls_types as lsp;

use super::{Connection, status};

/// The problems, and the configuration files whose diagnostics show them.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    messages: Vec<String>,
    shown_in: Vec<lsp::Uri>,
}

impl Problems {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them, a line each.
    pub(crate) fn summary(&self) -> Option<String> {
        let state = self.state();
        (!state.messages.is_empty()).then(|| state.messages.join("\n"))
    }

    /// Adds a problem; whether it is new.
    fn add(&self, message: &str) -> bool {
        let mut state = self.state();
        let is_new = !state.messages.iter().any(|it| it == message);
        if is_new {
            state.messages.push(message.to_owned());
        }
        is_new
    }
}

/// Shows a problem of the editor's settings.
pub(crate) fn show(connection: &Connection, why: &str) -> bool {
    let message = format!("noisy: {why}");
    let is_new = connection.problems.add(&message);
    if is_new {
        connection.show(lsp::MessageType::WARNING, &message);
        status::send(connection);
    }
    is_new
}

/// Shows the problems of a configuration file, also as diagnostics at their places.
pub(crate) fn show_invalid(connection: &Connection, invalid: &noisy_settings::Invalid) {
    if !show(connection, &invalid.to_string()) {
        return;
    }
    let path = std::path::absolute(&invalid.path).unwrap_or_else(|_| invalid.path.clone());
    let Some(uri) = lsp::Uri::from_file_path(path) else { return };
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
    publish(connection, &uri, &diagnostics);
    connection.problems.state().shown_in.push(uri);
}

/// Forgets all problems, since the settings may have changed; those that remain are shown again.
pub(crate) fn forget(connection: &Connection) {
    let old = std::mem::take(&mut *connection.problems.state());
    old.shown_in.iter().for_each(|uri| publish(connection, uri, &[]));
}

fn publish(connection: &Connection, uri: &lsp::Uri, diagnostics: &[lsp::Diagnostic]) {
    let params = json!({ "uri": uri, "diagnostics": diagnostics });
    connection.outbox.notify("textDocument/publishDiagnostics", params);
}
