//! Open configuration files: their diagnostics, the meaning of a key, completion.
//!
//! Their diagnostics are published to every client, even to those that pull diagnostics of
//! programs, because files that are not open have diagnostics too ([`problems`]), and each problem
//! is shown once.

use std::sync::Arc;

use noisy_settings::assist;
use tower_lsp::ls_types as lsp;

use crate::connection::problems;
use crate::host;
use crate::proto;
use crate::session::{ConfigTextId, Session};
use crate::text::config_file::ConfigFile;
use crate::text::position;

/// Publishes the diagnostics of a configuration file that was opened or changed. Does not block the
/// thread that reads from the client.
pub(crate) fn check(session: &Arc<Session>, file: ConfigFile, number: ConfigTextId) {
    let session = session.clone();
    let publishing = session.connection.clone();
    let check = move || {
        let found = file.problems();
        let found = proto::config_file::diagnostics(&session.connection, &file, &found);
        // A newer text gets its own check.
        session.if_current(&file.uri, number, || {
            problems::set_open(&session.connection, &file.uri, file.version, found);
        });
    };
    publishing.spawn(async move {
        // The task ends early only if it panics, which is logged.
        let _ = host::blocking(check).await;
    });
}

/// The meaning of the key or value at a position.
pub(crate) fn hover(session: &Session, params: &lsp::HoverParams) -> Option<lsp::Hover> {
    let at = &params.text_document_position_params;
    let file = session.config_file(&at.text_document.uri)?;
    let offset =
        position::offset(&file.text, at.position, session.connection.capabilities().encoding);
    let found = assist::explain(&file.text.to_string(), offset)?;
    Some(proto::config_file::hover(&session.connection, &file, found))
}

/// The proposals at a position; `None` if the document is not a configuration file.
pub(crate) fn completion(
    session: &Session,
    params: &lsp::CompletionParams,
) -> Option<lsp::CompletionList> {
    let at = &params.text_document_position;
    let file = session.config_file(&at.text_document.uri)?;
    let offset =
        position::offset(&file.text, at.position, session.connection.capabilities().encoding);
    let found = assist::complete(&file.text.to_string(), offset);
    Some(proto::config_file::completion(&session.connection, &file, found))
}
