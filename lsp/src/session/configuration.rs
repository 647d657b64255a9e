//! Requests and stores the editor's settings, and refreshes everything that depends on them.

use std::sync::Arc;

use serde_json::Value;
use tower_lsp::ls_types as lsp;

use super::Session;
use crate::connection::editor_settings::EditorSettings;
use crate::connection::{Connection, client_requests, problems};

/// Asks the client for its settings.
pub(crate) fn request_settings(session: &Arc<Session>) {
    let connection = &session.connection;
    if !connection.capabilities().configuration {
        return;
    }
    let asking = session.clone();
    let turn = connection.settings.next_turn();
    client_requests::send_requests(connection, |client| async move {
        let scopes = asking.connection.settings.root_uris();
        let item = |scope: &Option<lsp::Uri>| lsp::ConfigurationItem {
            scope_uri: scope.clone(),
            section: Some("noisy".to_owned()),
        };
        let Ok(sections) = client.configuration(scopes.iter().map(item).collect()).await else {
            return;
        };
        change_settings(&asking, turn, || {
            if !sections.iter().all(is_null_section) {
                asking.connection.settings.set_initial(None);
            }
            let taken = scopes
                .iter()
                .zip(&sections)
                .map(|(scope, section)| set_settings(&asking.connection, Some(scope), section));
            taken.fold(false, |changed, it| changed | it)
        });
    });
}

/// Stores settings for all roots that the client sent in a notification.
pub(crate) fn set_pushed_settings(session: &Session, section: &Value) {
    let connection = &session.connection;
    change_settings(session, connection.settings.next_turn(), || {
        set_settings(connection, None, section)
    });
}

/// Stores settings with `set`, unless a later turn has stored some. If they changed, refreshes
/// everything that depends on them.
fn change_settings(session: &Session, turn: u64, set: impl FnOnce() -> bool) {
    if session.connection.settings.run_in_turn(turn, set).unwrap_or(false) {
        session.refresh();
        client_requests::refresh(&session.connection);
    }
}

/// Stores the settings from `initialize`. Some clients send all settings in `initialize`, and
/// answer `null` to each request for settings. These settings apply until the client sends others.
pub(crate) fn set_initial_settings(connection: &Connection, options: &Value) {
    set_settings(connection, None, options);
    connection.settings.set_initial(EditorSettings::read(options).ok());
}

/// Stores settings; returns true if they changed. Invalid settings are reported and not stored.
/// `null` means that the client sets nothing.
fn set_settings(
    connection: &Connection,
    scope: Option<&Option<lsp::Uri>>,
    section: &Value,
) -> bool {
    let read = if is_null_section(section) {
        Ok(connection.settings.initial())
    } else {
        connection.settings.set_initial(None);
        EditorSettings::read(section)
    };
    match read {
        Ok(config) => {
            let changed = connection.settings.set_editor(scope, config);
            if changed {
                problems::forget(connection);
            }
            changed
        }
        Err(why) => {
            problems::show(connection, &why);
            false
        }
    }
}

/// True if the client's message sets nothing.
fn is_null_section(section: &Value) -> bool {
    section.get("noisy").unwrap_or(section).is_null()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn initial_settings_apply_until_others_are_sent() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.unwrap_or_else(|it| panic!("{it}"));
        let lenses = |start: Value, later: &[Value]| {
            let connection = Connection::new(runtime.handle().clone());
            super::set_initial_settings(&connection, &start);
            for it in later {
                set_settings(&connection, None, it);
            }
            connection.settings.editor().shows_lenses
        };
        let off = || json!({ "codeLens": { "enable": false } });
        assert!(!lenses(off(), &[]));
        assert!(!lenses(off(), &[Value::Null, json!({ "noisy": null })]), "nothing else is said");
        assert!(lenses(off(), &[json!({})]));
        assert!(lenses(Value::Null, &[off(), Value::Null]), "the setting is removed");
        assert!(lenses(off(), &[off(), Value::Null]), "the setting is removed");
    }
}
