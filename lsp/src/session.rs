//! What all parts of the server share: the client's abilities, the settings, the open documents, the way out.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use serde_json::Value;
use tokio::runtime::Handle;
use tower_lsp::Client;
use tower_lsp::ls_types as lsp;

use crate::abilities::Abilities;
use crate::actor::Document;
use crate::ask;
use crate::config::Config;
use crate::outbox::Outbox;
use crate::progress::Cancellable;
use crate::status::{self, Status};

/// One connection.
#[derive(Debug)]
pub(crate) struct Session {
    /// The way to the client.
    pub outbox: Outbox,
    /// What is going on.
    pub status: Status,
    /// What the user may end.
    pub progress: Cancellable,
    runtime: Handle,
    abilities: OnceLock<Abilities>,
    config: RwLock<Arc<Config>>,
    config_problem: Mutex<Option<String>>,
    documents: Mutex<FxHashMap<String, Document>>,
    client: OnceLock<Client>,
}

impl Session {
    /// A connection that nothing is known of yet; its tasks run in a runtime.
    pub(crate) fn new(runtime: Handle) -> Self {
        Self {
            runtime,
            outbox: Outbox::default(),
            status: Status::default(),
            progress: Cancellable::default(),
            abilities: OnceLock::new(),
            config: RwLock::default(),
            config_problem: Mutex::default(),
            documents: Mutex::default(),
            client: OnceLock::new(),
        }
    }

    /// Does something later, from whatever thread.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    /// What the client can do; before it said so: nothing.
    pub(crate) fn abilities(&self) -> &Abilities {
        static NONE: OnceLock<Abilities> = OnceLock::new();
        self.abilities.get().unwrap_or_else(|| {
            NONE.get_or_init(|| Abilities::of(&lsp::ClientCapabilities::default()))
        })
    }

    /// Keeps what the client said that it can do; the first time counts.
    pub(crate) fn met(&self, capabilities: &lsp::ClientCapabilities) {
        let _ = self.abilities.set(Abilities::of(capabilities));
    }

    /// For requests to the client; they are spawned, never awaited by a handler.
    pub(crate) fn client(&self) -> Option<Client> {
        self.client.get().cloned()
    }

    /// Keeps the way to make requests; the first one counts.
    pub(crate) fn set_client(&self, client: Client) {
        let _ = self.client.set(client);
    }

    /// The settings now.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the settings that the client sent, and has everything that depends on them shown anew. A wrong one is said, and the
    /// settings stay as they were.
    pub(crate) fn reconfigure(&self, section: &Value) {
        if self.configure(section) {
            self.all_documents().iter().for_each(Document::refresh);
            ask::refresh(self);
        }
    }

    /// As [`Session::reconfigure`] before anything is shown; whether the settings are others than before.
    pub(crate) fn configure(&self, section: &Value) -> bool {
        let config = match Config::read(section) {
            Ok(config) => config,
            Err(why) => {
                let why = format!("noisy: {why}");
                ask::show(self, lsp::MessageType::WARNING, &why);
                self.set_config_problem(Some(why));
                return false;
            }
        };
        self.set_config_problem(None);
        let mut now = self.config.write().unwrap_or_else(PoisonError::into_inner);
        let changed = **now != config;
        *now = Arc::new(config);
        changed
    }

    /// What is wrong with the settings.
    pub(crate) fn config_problem(&self) -> Option<String> {
        self.config_problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_config_problem(&self, problem: Option<String>) {
        let mut now = self.config_problem.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != problem {
            *now = problem;
            drop(now);
            status::say(self);
        }
    }

    fn documents(&self) -> MutexGuard<'_, FxHashMap<String, Document>> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An open document.
    pub(crate) fn document(&self, uri: &lsp::Uri) -> Option<Document> {
        self.documents().get(uri.as_str()).cloned()
    }

    /// All open documents, by name.
    pub(crate) fn all_documents(&self) -> Vec<Document> {
        let documents = self.documents();
        let mut all: Vec<_> = documents.iter().collect();
        all.sort_unstable_by_key(|(uri, _)| *uri);
        all.into_iter().map(|(_, document)| document.clone()).collect()
    }

    /// Opens a document in place of any of that name.
    pub(crate) fn insert(&self, uri: &lsp::Uri, document: Document) {
        if let Some(old) = self.documents().insert(uri.as_str().to_owned(), document) {
            old.close();
        }
    }

    /// Closes a document; whether it was open.
    pub(crate) fn remove(&self, uri: &lsp::Uri) -> bool {
        let document = self.documents().remove(uri.as_str());
        document.inspect(Document::close).is_some()
    }
}
