//! The editor's settings: asked for, taken in, and everything shown again that depends on them.

use std::sync::Arc;

use serde_json::Value;
use tower_lsp::ls_types as lsp;

use super::Session;
use crate::connection::config::Config;
use crate::connection::{Connection, ask, problems};

/// Asks the client for its settings.
pub(crate) fn request(session: &Arc<Session>) {
    let connection = &session.connection;
    if !connection.capabilities().configuration {
        return;
    }
    let asking = session.clone();
    ask::ask(connection, |client| async move {
        let scopes = asking.connection.settings.scopes();
        let item = |scope: &Option<lsp::Uri>| lsp::ConfigurationItem {
            scope_uri: scope.clone(),
            section: Some("noisy".to_owned()),
        };
        let Ok(sections) = client.configuration(scopes.iter().map(item).collect()).await else {
            return;
        };
        for (scope, section) in scopes.iter().zip(sections).filter(|it| !it.1.is_null()) {
            change(&asking, Some(scope), &section);
        }
    });
}

/// Takes settings that the client sent, of one root or of all, and shows again everything that depends on them.
pub(crate) fn change(session: &Session, scope: Option<&Option<lsp::Uri>>, section: &Value) {
    if set(&session.connection, scope, section) {
        session.refresh();
        ask::refresh(&session.connection);
    }
}

/// Takes settings; whether they differ from before. Invalid ones are told, and the settings stay as they were.
pub(crate) fn set(
    connection: &Connection,
    scope: Option<&Option<lsp::Uri>>,
    section: &Value,
) -> bool {
    match Config::read(section) {
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
