//! Watches configuration files, because some clients do not watch files, and no client watches
//! files outside of its workspace.

use std::sync::Arc;
use std::time::Duration;

use super::Session;
use crate::connection::{client_requests, problems, status};
use crate::host;

/// Time between two checks for new, deleted or changed configuration files. A check looks for about
/// twenty names.
const INTERVAL: Duration = Duration::from_secs(2);

/// Watches until the process ends. Without a disk, the client reports changes.
pub(crate) fn start(session: &Arc<Session>) {
    if !host::HAS_DISK {
        return;
    }
    let watched = session.clone();
    session.connection.spawn(async move {
        let mut before = None;
        loop {
            host::sleep(INTERVAL).await;
            let documents = watched.all_documents();
            if documents.is_empty() {
                continue;
            }
            let looking = watched.clone();
            let look = move || {
                looking.connection.settings.config_file_stamps(documents.iter().map(|it| &it.uri))
            };
            let Some(now) = host::blocking(look).await else { return };
            // The first check counts as a change too, because a file may have changed after the
            // settings were read.
            if before.as_ref() != Some(&now) {
                reload_config_files(&watched);
            }
            before = Some(now);
        }
    });
}

/// Reads the configuration files again, and refreshes everything that depends on them.
pub(crate) fn reload_config_files(session: &Session) {
    session.connection.settings.forget();
    problems::forget(&session.connection);
    session.refresh();
    client_requests::refresh(&session.connection);
    status::send(&session.connection);
}
