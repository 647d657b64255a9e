//! The client: its capabilities and settings, and messages and requests to it. The module does not
//! depend on documents.

pub(crate) mod capabilities;
pub(crate) mod client_requests;
pub(crate) mod code_pages;
pub(crate) mod editor_settings;
pub(crate) mod problems;
pub(crate) mod progress;
pub(crate) mod settings;
pub(crate) mod status;

use std::sync::{Mutex, OnceLock, PoisonError};

use code_pages::CodePages;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tower_lsp::Client;
use tower_lsp::ls_types as lsp;

use crate::host;
use crate::wire::outbox::Outbox;
use capabilities::ClientCapabilities;
use problems::SettingsProblems;
use progress::RunningWork;
use settings::SettingsStore;
use status::Status;

/// One connection to a client.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Sends messages to the client.
    pub outbox: Outbox,
    /// The status of the server.
    pub status: Status,
    /// Work that the user may cancel.
    pub progress: RunningWork,
    pub settings: SettingsStore,
    /// Mistakes in the settings.
    pub settings_problems: SettingsProblems,
    runtime: Handle,
    capabilities: OnceLock<ClientCapabilities>,
    client: OnceLock<Client>,
    code_pages: OnceLock<CodePages>,
    trace: Mutex<lsp::TraceValue>,
}

impl Connection {
    /// Creates a connection. Its tasks run in `runtime`.
    pub(crate) fn new(runtime: Handle) -> Self {
        Self {
            outbox: Outbox::default(),
            status: Status::default(),
            progress: RunningWork::default(),
            settings: SettingsStore::default(),
            settings_problems: SettingsProblems::default(),
            runtime,
            capabilities: OnceLock::new(),
            client: OnceLock::new(),
            code_pages: OnceLock::new(),
            trace: Mutex::default(),
        }
    }

    /// Runs a task on the runtime. May be called on any thread.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        host::spawn(&self.runtime, task)
    }

    /// Drops a large value on another thread.
    pub(crate) fn discard(&self, it: impl Send + 'static) {
        host::discard(&self.runtime, it);
    }

    /// Returns the capabilities of the client; before `initialize` all are missing.
    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        static NONE: OnceLock<ClientCapabilities> = OnceLock::new();
        self.capabilities.get().unwrap_or_else(|| {
            NONE.get_or_init(|| ClientCapabilities::of(&lsp::ClientCapabilities::default()))
        })
    }

    /// Stores the capabilities from `initialize`. Further calls have no effect.
    pub(crate) fn set_capabilities(&self, capabilities: &lsp::ClientCapabilities) {
        let _ = self.capabilities.set(ClientCapabilities::of(capabilities));
    }

    /// Returns the client, for requests in tasks. No handler may await such a request.
    pub(crate) fn client(&self) -> Option<Client> {
        self.client.get().cloned()
    }

    /// Stores the client. Further calls have no effect.
    pub(crate) fn set_client(&self, client: Client) {
        let _ = self.client.set(client);
    }

    /// Returns the pages of diagnostic codes; `None` before they are written.
    pub(crate) fn code_pages(&self) -> Option<&CodePages> {
        self.code_pages.get()
    }

    /// Stores the pages of diagnostic codes. Further calls have no effect.
    pub(crate) fn set_code_pages(&self, links: CodePages) {
        let _ = self.code_pages.set(links);
    }

    /// Returns the level of detail of `$/logTrace`.
    pub(crate) fn trace(&self) -> lsp::TraceValue {
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the level of detail of `$/logTrace`.
    pub(crate) fn set_trace(&self, trace: lsp::TraceValue) {
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner) = trace;
    }

    /// Shows a message to the user.
    pub(crate) fn show(&self, typ: lsp::MessageType, message: &str) {
        let params = lsp::ShowMessageParams { typ, message: message.to_owned() };
        self.outbox.notify("window/showMessage", params);
    }
}
