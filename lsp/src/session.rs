//! What all parts of the server share: the client's abilities, the settings, the open documents, the way out.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tower_lsp::Client;
use tower_lsp::ls_types as lsp;

use crate::abilities::Abilities;
use crate::actor::Document;
use crate::ask;
use crate::config::Config;
use crate::outbox::Outbox;
use crate::progress::Cancellable;
use crate::settings::Store;
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
    /// The settings.
    pub settings: Store,
    /// What is wrong with settings, each said once, and the files for which diagnostics say so.
    problems: Mutex<(Vec<String>, Vec<lsp::Uri>)>,
    documents: Mutex<FxHashMap<String, Document>>,
    client: OnceLock<Client>,
    docs: OnceLock<PathBuf>,
    trace: Mutex<lsp::TraceValue>,
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
            settings: Store::default(),
            problems: Mutex::default(),
            documents: Mutex::default(),
            client: OnceLock::new(),
            docs: OnceLock::new(),
            trace: Mutex::default(),
        }
    }

    /// Does something later, from whatever thread.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    /// Drops something where that holds up nobody.
    pub(crate) fn discard(&self, it: impl Send + 'static) {
        self.runtime.spawn_blocking(move || drop(it));
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

    /// Takes the settings that the client sent, of one root or of all, and has everything that depends on them shown anew. Wrong
    /// ones are said, and the settings stay as they were.
    pub(crate) fn reconfigure(&self, scope: Option<&Option<lsp::Uri>>, section: &Value) {
        if self.configure(scope, section) {
            self.refresh();
            ask::refresh(self);
        }
    }

    /// As [`Session::reconfigure`] before anything is shown; whether the settings are others than before.
    pub(crate) fn configure(&self, scope: Option<&Option<lsp::Uri>>, section: &Value) -> bool {
        match Config::read(section) {
            Ok(config) => {
                let changed = self.settings.set_editor(scope, config);
                if changed {
                    self.forget_problems();
                }
                changed
            }
            Err(why) => {
                let why = format!("noisy: {why}");
                if self.add_problem(&why) {
                    ask::show(self, lsp::MessageType::WARNING, &why);
                    status::say(self);
                }
                false
            }
        }
    }

    /// The folder with the documentation of codes, once it is there.
    pub(crate) fn docs(&self) -> Option<&PathBuf> {
        self.docs.get()
    }

    /// The documentation of codes is there.
    pub(crate) fn set_docs(&self, folder: PathBuf) {
        let _ = self.docs.set(folder);
    }

    /// What the client wants to be told of what is done.
    pub(crate) fn trace(&self) -> lsp::TraceValue {
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client wants to be told.
    pub(crate) fn set_trace(&self, trace: lsp::TraceValue) {
        *self.trace.lock().unwrap_or_else(PoisonError::into_inner) = trace;
    }

    /// Has every document look at its settings anew.
    pub(crate) fn refresh(&self) {
        self.all_documents().iter().for_each(Document::refresh);
    }

    fn problems(&self) -> MutexGuard<'_, (Vec<String>, Vec<lsp::Uri>)> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is wrong with the settings.
    pub(crate) fn problem(&self) -> Option<String> {
        let problems = self.problems();
        (!problems.0.is_empty()).then(|| problems.0.join("\n"))
    }

    /// Adds what is wrong with the settings; whether that is new.
    pub(crate) fn add_problem(&self, why: &str) -> bool {
        let mut problems = self.problems();
        let is_new = !problems.0.iter().any(|it| it == why);
        if is_new {
            problems.0.push(why.to_owned());
        }
        is_new
    }

    /// Diagnostics are shown for a file that is not a document.
    pub(crate) fn add_shown(&self, uri: lsp::Uri) {
        self.problems().1.push(uri);
    }

    /// What was wrong may be mended: it is said again if not.
    pub(crate) fn forget_problems(&self) {
        let shown = std::mem::take(&mut *self.problems()).1;
        for uri in shown {
            let params = json!({ "uri": uri, "diagnostics": [] });
            self.outbox.notify("textDocument/publishDiagnostics", params);
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
