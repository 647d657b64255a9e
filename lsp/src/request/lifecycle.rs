//! The start.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::server::Server;
use crate::{ask, capabilities, parent, status};

/// Gets to know the client, and says what the server can do.
pub(crate) fn initialize(
    server: &Server,
    params: lsp::InitializeParams,
) -> Result<lsp::InitializeResult> {
    let session = &server.session;
    session.met(&params.capabilities);
    if let Some(options) = &params.initialization_options {
        session.configure(options);
    }
    if let Some(id) = params.process_id {
        parent::watch(id);
    }
    Ok(lsp::InitializeResult {
        capabilities: capabilities::of(session),
        server_info: Some(lsp::ServerInfo {
            name: "noisy-lsp".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        ..lsp::InitializeResult::default()
    })
}

/// The client is ready to be asked.
pub(crate) fn initialized(server: &Server) {
    ask::register(&server.session);
    ask::configuration(&server.session);
    status::say(&server.session);
}
