//! The start.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::server::Server;
use crate::{ask, capabilities, docs, parent, status, watch};

/// Gets to know the client, and says what the server can do.
pub(crate) fn initialize(
    server: &Server,
    params: lsp::InitializeParams,
) -> Result<lsp::InitializeResult> {
    let session = &server.session;
    session.met(&params.capabilities);
    session.set_trace(params.trace.unwrap_or_default());
    let folders = params.workspace_folders.unwrap_or_default().into_iter().map(|it| it.uri);
    let mut roots: Vec<_> = folders.collect();
    if roots.is_empty() {
        #[expect(deprecated, reason = "clients without workspace folders say it so")]
        roots.extend(params.root_uri);
    }
    session.settings.set_roots(roots, &[]);
    if let Some(options) = &params.initialization_options {
        session.configure(None, options);
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
    docs::write(&server.session);
    watch::start(&server.session);
    status::say(&server.session);
}
