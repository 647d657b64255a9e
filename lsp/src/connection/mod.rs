//! The client: its capabilities, its settings, messages and questions to it. The module knows no
//! documents.

pub(crate) mod ask;
pub(crate) mod capabilities;
pub(crate) mod config;
pub(crate) mod docs;
pub(crate) mod problems;
pub(crate) mod progress;
pub(crate) mod settings;
pub(crate) mod status;

use std::sync::{Mutex, OnceLock, PoisonError};

use docs::Links;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tower_lsp::Client;
use tower_lsp::ls_types as lsp;

use crate::host;
use crate::wire::outbox::Outbox;
use capabilities::ClientCapabilities;
use problems::Problems;
use progress::Cancellable;
use settings::Store;
use status::Status;

/// One connection to a client.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Sends messages to the client.
    pub outbox: Outbox,
    /// The status of the server.
    pub status: Status,
    /// Work that the user may cancel.
    pub progress: Cancellable,
    pub settings: Store,
    /// Mistakes in the settings.
    pub problems: Problems,
    runtime: Handle,
    capabilities: OnceLock<ClientCapabilities>,
    client: OnceLock<Client>,
    docs: OnceLock<Links>,
    trace: Mutex<lsp::TraceValue>,
}

impl Connection {
    /// A connection to a client that has sent nothing yet; its tasks run in `runtime`.
    pub(crate) fn new(runtime: Handle) -> Self {
        Self {
            outbox: Outbox::default(),
            status: Status::default(),
            progress: Cancellable::default(),
            settings: Store::default(),
            problems: Problems::default(),
            runtime,
            capabilities: OnceLock::new(),
            client: OnceLock::new(),
            docs: OnceLock::new(),
            trace: Mutex::default(),
        }
    }

    /// Runs a task on the runtime. Any thread may call this.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        host::spawn(&self.runtime, task)
    }

    /// Drops a large value on another thread.
    pub(crate) fn discard(&self, it: impl Send + 'static) {
        host::discard(&self.runtime, it);
    }

    /// The capabilities of the client; none before `initialize`.
    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        static NONE: OnceLock<ClientCapabilities> = OnceLock::new();
        self.capabilities.get().unwrap_or_else(|| {
            NONE.get_or_init(|| ClientCapabilities::of(&lsp::ClientCapabilities::default()))
        })
    }

    /// Keeps the capabilities from `initialize`; only the first call counts.
    pub(crate) fn set_capabilities(&self, capabilities: &lsp::ClientCapabilities) {
        let _ = self.capabilities.set(ClientCapabilities::of(capabilities));
    }

    /// The client, for requests to it. Tasks make them; no handler awaits one.
    pub(crate) fn client(&self) -> Option<Client> {
        self.client.get().cloned()
    }

    /// Keeps the client; only the first call counts.
    pub(crate) fn set_client(&self, client: Client) {
        let _ = self.client.set(client);
    }

    /// The pages about codes, once they are written.
    pub(crate) fn docs(&self) -> Option<&Links> {
        self.docs.get()
    }

    /// Keeps the pages about codes.
    pub(crate) fn set_docs(&self, links: Links) {
        let _ = self.docs.set(links);
    }

    /// The level of reports in `$/logTrace`.
    pub(crate) fn trace(&self) -> lsp::TraceValue {
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the level of reports in `$/logTrace`.
    pub(crate) fn set_trace(&self, trace: lsp::TraceValue) {
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner) = trace;
    }

    /// Shows a message to the user.
    pub(crate) fn show(&self, typ: lsp::MessageType, message: &str) {
        let params = lsp::ShowMessageParams { typ, message: message.to_owned() };
        self.outbox.notify("window/showMessage", params);
    }
}
