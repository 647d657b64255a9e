//! The connection and the open documents, for the handlers of requests.

pub(crate) mod configuration;
pub(crate) mod watch;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tokio::runtime::Handle;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::connection::Connection;
use crate::documents::actor::OpenDocument;
use crate::documents::job::{Job, NoAnswer};
use crate::proto::view::DocumentView;
use crate::text::config_file::ConfigFile;
use crate::wire::json::{JsonArray, JsonBuffer};

/// Maximum number of lines of a range that is handled before whole files: a visible range with its
/// surroundings is shorter.
const MAX_LOCAL_LINES: u32 = 1000;

/// A connection with its documents.
#[derive(Debug)]
pub(crate) struct Session {
    pub connection: Arc<Connection>,
    documents: Mutex<FxHashMap<String, OpenDocument>>,
    config_files: Mutex<ConfigFiles>,
}

/// The open configuration files, each with the number of its text.
#[derive(Debug, Default)]
struct ConfigFiles {
    all: FxHashMap<String, (ConfigFile, ConfigTextId)>,
    n_texts: u64,
}

/// Identifies a text of a configuration file. A version does not identify it: a file that is closed
/// and opened again may have the same version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConfigTextId(u64);

impl Session {
    /// Creates a session without documents. Its tasks run in `runtime`.
    pub(crate) fn new(runtime: Handle) -> Self {
        let connection = Arc::new(Connection::new(runtime));
        Self { connection, documents: Mutex::default(), config_files: Mutex::default() }
    }

    /// Queries a document; `None` if it is not open. The query is sent before the first `await`.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        uri: &lsp::Uri,
        ask: impl FnOnce(&mut DocumentView<'_>) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let Some(document) = self.document(uri) else { return Ok(None) };
        answer(document.query(ask).await)
    }

    /// Runs a job on a document; `None` if it is not open.
    pub(crate) async fn run<J: Job>(&self, uri: &lsp::Uri, job: J) -> Result<Option<J::Output>> {
        let Some(document) = self.document(uri) else { return Ok(None) };
        answer(document.run(job).await)
    }

    /// Runs a job about a range of a document. A job about a short range runs before jobs about
    /// whole files.
    pub(crate) async fn run_in<J: Job>(
        &self,
        uri: &lsp::Uri,
        range: lsp::Range,
        job: J,
    ) -> Result<Option<J::Output>> {
        let Some(document) = self.document(uri) else { return Ok(None) };
        if range.end.line.saturating_sub(range.start.line) <= MAX_LOCAL_LINES {
            return answer(document.run_local(job).await);
        }
        answer(document.run(job).await)
    }

    /// Runs a job that writes a list as JSON. For a document that is not open, the list is empty.
    pub(crate) async fn list<J>(&self, uri: &lsp::Uri, job: J) -> Result<JsonBuffer>
    where
        J: Job<Output = JsonBuffer>,
    {
        Ok(self.run(uri, job).await?.unwrap_or_else(|| JsonArray::new().finish()))
    }

    /// Access to documents for requests that another server may also answer.
    pub(crate) fn exclusive_documents(&self) -> ExclusiveDocuments<'_> {
        ExclusiveDocuments(self)
    }

    /// An open document; an error if it is not open.
    pub(crate) fn open_document(&self, uri: &lsp::Uri) -> Result<OpenDocument> {
        self.document(uri).ok_or_else(|| Error::invalid_params("the document is not open"))
    }

    /// Makes each document look up its settings again.
    pub(crate) fn refresh(&self) {
        self.all_documents().iter().for_each(OpenDocument::refresh);
    }

    fn documents(&self) -> MutexGuard<'_, FxHashMap<String, OpenDocument>> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A document, if it is open.
    pub(crate) fn document(&self, uri: &lsp::Uri) -> Option<OpenDocument> {
        self.documents().get(uri.as_str()).cloned()
    }

    /// All open documents, ordered by name.
    pub(crate) fn all_documents(&self) -> Vec<OpenDocument> {
        let documents = self.documents();
        let mut all: Vec<_> = documents.iter().collect();
        all.sort_unstable_by_key(|(uri, _)| *uri);
        all.into_iter().map(|(_, document)| document.clone()).collect()
    }

    fn config_files(&self) -> MutexGuard<'_, ConfigFiles> {
        self.config_files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An open configuration file with its current text.
    pub(crate) fn config_file(&self, uri: &lsp::Uri) -> Option<ConfigFile> {
        self.config_files().all.get(uri.as_str()).map(|it| it.0.clone())
    }

    /// Opens a configuration file or replaces its text; returns the number of the text.
    pub(crate) fn set_config_file(&self, file: ConfigFile) -> ConfigTextId {
        let mut files = self.config_files();
        files.n_texts += 1;
        let number = ConfigTextId(files.n_texts);
        files.all.insert(file.uri.as_str().to_owned(), (file, number));
        number
    }

    /// Closes a configuration file; returns true if it was open.
    pub(crate) fn remove_config_file(&self, uri: &lsp::Uri) -> bool {
        self.config_files().all.remove(uri.as_str()).is_some()
    }

    /// Runs `act` if the text of a configuration file is still current. The text cannot change
    /// while `act` runs.
    pub(crate) fn if_current(&self, uri: &lsp::Uri, number: ConfigTextId, act: impl FnOnce()) {
        let files = self.config_files();
        if files.all.get(uri.as_str()).is_some_and(|it| it.1 == number) {
            act();
        }
    }

    /// Adds an open document. An older one with the same name is closed.
    pub(crate) fn insert(&self, uri: &lsp::Uri, document: OpenDocument) {
        if let Some(old) = self.documents().insert(uri.as_str().to_owned(), document) {
            old.close();
        }
    }

    /// Closes a document; returns true if it was open.
    pub(crate) fn remove(&self, uri: &lsp::Uri) -> bool {
        let document = self.documents().remove(uri.as_str());
        document.inspect(OpenDocument::close).is_some()
    }
}

/// The documents that this server handles alone. Documents that another server handles, except for
/// their noise, count as not open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExclusiveDocuments<'a>(&'a Session);

impl ExclusiveDocuments<'_> {
    /// See [`Session::ask`].
    pub(crate) async fn ask<T: Send + 'static>(
        self,
        uri: &lsp::Uri,
        ask: impl FnOnce(&mut DocumentView<'_>) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let ask = |view: &mut DocumentView<'_>| (!view.is_noise_only()).then(|| ask(view));
        Ok(self.0.ask(uri, ask).await?.flatten())
    }

    /// See [`Session::run`].
    pub(crate) async fn run<J: Job>(self, uri: &lsp::Uri, mut job: J) -> Result<Option<J::Output>> {
        let job = move |view: &mut DocumentView<'_>| {
            if view.is_noise_only() { Some(None) } else { job.step(view).map(Some) }
        };
        Ok(self.0.run(uri, job).await?.flatten())
    }

    /// See [`Session::run_in`].
    pub(crate) async fn run_in<J: Job>(
        self,
        uri: &lsp::Uri,
        range: lsp::Range,
        mut job: J,
    ) -> Result<Option<J::Output>> {
        let job = move |view: &mut DocumentView<'_>| {
            if view.is_noise_only() { Some(None) } else { job.step(view).map(Some) }
        };
        Ok(self.0.run_in(uri, range, job).await?.flatten())
    }

    /// See [`Session::list`].
    pub(crate) async fn list<J>(self, uri: &lsp::Uri, job: J) -> Result<JsonBuffer>
    where
        J: Job<Output = JsonBuffer>,
    {
        Ok(self.run(uri, job).await?.unwrap_or_else(|| JsonArray::new().finish()))
    }
}

fn answer<T>(answer: std::result::Result<T, NoAnswer>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(NoAnswer::Unavailable) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropey::Rope;

    #[test]
    fn a_reopened_file_with_the_same_version_has_a_new_text_number() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.unwrap_or_else(|it| panic!("{it}"));
        let session = Session::new(runtime.handle().clone());
        let uri: lsp::Uri = "file:///a/noisy.toml".parse().unwrap_or_else(|_| panic!("a URI"));
        let open = |text: &str| {
            let text = Rope::from_str(text);
            session.set_config_file(ConfigFile { uri: uri.clone(), version: 1, text })
        };
        let is_current = |number: ConfigTextId| {
            let mut is_current = false;
            session.if_current(&uri, number, || is_current = true);
            is_current
        };
        let first = open("[rule]\n");
        assert!(is_current(first));
        session.remove_config_file(&uri);
        assert!(!is_current(first));
        let second = open("[rules]\n");
        assert_eq!((is_current(first), is_current(second)), (false, true));
    }
}
