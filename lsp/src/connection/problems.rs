//! Mistakes in the settings. Each is shown once, until the settings change. An open configuration
//! file shows the diagnostics of its text in the editor, a closed one those of the file on the
//! disk.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use tower_lsp::ls_types as lsp;

use super::{Connection, status};

/// The mistakes, and the diagnostics of configuration files that show them.
#[derive(Debug, Default)]
pub(crate) struct SettingsProblems {
    state: Mutex<ProblemLists>,
}

#[derive(Debug, Default)]
struct ProblemLists {
    messages: Vec<String>,
    /// Diagnostics of the files on the disk.
    on_disk: FxHashMap<lsp::Uri, Vec<lsp::Diagnostic>>,
    /// The open configuration files.
    open: FxHashSet<lsp::Uri>,
}

impl SettingsProblems {
    fn state(&self) -> MutexGuard<'_, ProblemLists> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All mistakes, one line each.
    pub(crate) fn summary(&self) -> Option<String> {
        let state = self.state();
        (!state.messages.is_empty()).then(|| state.messages.join("\n"))
    }

    /// Adds a mistake. Returns true if it is new.
    fn add(&self, message: &str) -> bool {
        let mut state = self.state();
        let is_new = !state.messages.iter().any(|it| it == message);
        if is_new {
            state.messages.push(message.to_owned());
        }
        is_new
    }
}

/// Shows a mistake in the settings. Returns true if it is new.
pub(crate) fn show(connection: &Connection, why: &str) -> bool {
    let message = format!("noisy: {why}");
    let is_new = connection.settings_problems.add(&message);
    if is_new {
        connection.show(lsp::MessageType::WARNING, &message);
        status::send(connection);
    }
    is_new
}

/// Shows the mistakes of a configuration file as a message and as diagnostics.
pub(crate) fn show_invalid(connection: &Connection, invalid: &noisy_settings::InvalidConfig) {
    if !show(connection, &invalid.to_string()) {
        return;
    }
    let path = std::path::absolute(&invalid.path).unwrap_or_else(|_| invalid.path.clone());
    let Some(uri) = lsp::Uri::from_file_path(path) else { return };
    let diagnostic = |it: &noisy_settings::ConfigProblem| {
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
    let mut state = connection.settings_problems.state();
    if !state.open.contains(&uri) {
        publish(connection, &uri, None, &diagnostics);
    }
    state.on_disk.insert(uri, diagnostics);
}

/// Publishes the diagnostics of an open configuration file.
pub(crate) fn set_open(
    connection: &Connection,
    uri: &lsp::Uri,
    version: i32,
    found: Vec<lsp::Diagnostic>,
) {
    let mut state = connection.settings_problems.state();
    state.open.insert(uri.clone());
    publish(connection, uri, Some(version), &found);
}

/// Publishes the diagnostics of the file on the disk after a configuration file was closed.
pub(crate) fn set_closed(connection: &Connection, uri: &lsp::Uri) {
    let mut state = connection.settings_problems.state();
    state.open.remove(uri);
    let found = state.on_disk.get(uri).map_or(&[][..], Vec::as_slice);
    publish(connection, uri, None, found);
}

/// Removes all mistakes, because the settings may have changed. Remaining mistakes are then shown
/// again.
pub(crate) fn forget(connection: &Connection) {
    let mut state = connection.settings_problems.state();
    state.messages.clear();
    let old = std::mem::take(&mut state.on_disk);
    old.keys().filter(|uri| !state.open.contains(uri)).for_each(|uri| {
        publish(connection, uri, None, &[]);
    });
}

fn publish(
    connection: &Connection,
    uri: &lsp::Uri,
    version: Option<i32>,
    diagnostics: &[lsp::Diagnostic],
) {
    let params = lsp::PublishDiagnosticsParams {
        uri: uri.clone(),
        diagnostics: diagnostics.to_vec(),
        version,
    };
    connection.outbox.notify("textDocument/publishDiagnostics", params);
}
