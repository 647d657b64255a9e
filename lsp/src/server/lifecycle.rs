//! Initialization.

use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::{capabilities, parent};
use crate::connection::{client_requests, code_pages, status};
use crate::session::{Session, configuration, watch};

/// Reads the client's capabilities, and announces those of the server.
pub(crate) fn initialize(
    session: &Session,
    params: lsp::InitializeParams,
) -> Result<lsp::InitializeResult> {
    let connection = &session.connection;
    connection.set_capabilities(&params.capabilities);
    connection.set_trace(params.trace.unwrap_or_default());
    let folders = params.workspace_folders.unwrap_or_default().into_iter().map(|it| it.uri);
    let mut roots: Vec<_> = folders.collect();
    if roots.is_empty() {
        #[expect(deprecated, reason = "clients without workspace folders say it so")]
        roots.extend(params.root_uri);
    }
    connection.settings.set_roots(roots, &[]);
    if let Some(options) = &params.initialization_options {
        configuration::set_initial_settings(connection, options);
    }
    if let Some(id) = params.process_id {
        parent::exit_with_parent(id);
    }
    Ok(lsp::InitializeResult {
        capabilities: capabilities::server_capabilities(connection),
        server_info: Some(lsp::ServerInfo {
            name: "noisy-lsp".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        ..lsp::InitializeResult::default()
    })
}

/// Sends the first requests and notifications, because the client accepts them from now on.
pub(crate) fn initialized(session: &Arc<Session>) {
    client_requests::register(&session.connection);
    configuration::request_settings(session);
    code_pages::write_pages(&session.connection);
    watch::start(session);
    status::send(&session.connection);
}
