//! The actor of a document owns its text and all data derived from it. It handles messages in the
//! order in which the client sent them.
//!
//! *Each busy document has its own thread*: reading a file of 100,000 ops takes a fifth of a
//! second, and no other document should wait for that. An idle document has no thread (`pool.rs`).
//! The state needs no lock.
//!
//! *Laws.*
//! - Edits are applied in order, each exactly once. All received edits are applied before
//!   diagnostics are published, so each published version is the newest received one and is
//!   published once.
//! - A query sees exactly the edits sent before it.
//! - A long query is a [`Job`]: it runs in steps between other messages and ends with the error
//!   "content modified" when an edit arrives.
//! - A panic ends only the query that caused it, or discards the data derived from the text, which
//!   is then derived again. The text is kept.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::oneshot;
use tower_lsp::ls_types as lsp;

use super::job::{AnyJob, Job, JobWithAnswer, NoAnswer};
use super::pool::{self, Mailbox, Messages};
use super::search::{self, PlacementSearch};
use crate::connection::settings::EffectiveSettings;
use crate::connection::{Connection, client_requests, problems};
use crate::features::write::action::RepairRequest;
use crate::host;
use crate::optimizer::Solution;
use crate::proto;
use crate::proto::view::{DocumentView, QueryCache};
use crate::text::content::{Content, difference};
use crate::text::position;
use crate::wire::outbox::Epoch;

/// A message to an actor.
pub(super) enum Message {
    Change(i32, Vec<lsp::TextDocumentContentChangeEvent>),
    /// Settings may have changed.
    Refresh,
    Query(Box<dyn FnOnce(&mut DocumentView<'_>) + Send>),
    Job(Box<dyn AnyJob>),
    /// A job about a part of the text. It runs before the jobs about the whole text.
    LocalJob(Box<dyn AnyJob>),
    /// Starts a search now. The sender receives the version once the search is over.
    Search(oneshot::Sender<i32>),
    /// There was no edit for a while after this version.
    Idle(i32),
    /// The result of a search, given by its number.
    SearchEnded(u64, Vec<Solution>),
    Close,
}

/// A handle of an open document.
#[derive(Clone)]
pub(crate) struct OpenDocument {
    pub uri: lsp::Uri,
    mailbox: Messages<Actor>,
}

impl std::fmt::Debug for OpenDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("uri", &self.uri).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Message::Change(..) => "Change",
            Message::Refresh => "Refresh",
            Message::Query(_) => "Query",
            Message::Job(_) => "Job",
            Message::LocalJob(_) => "LocalJob",
            Message::Search(_) => "Search",
            Message::Idle(_) => "Idle",
            Message::SearchEnded(..) => "SearchEnded",
            Message::Close => "Close",
        })
    }
}

impl OpenDocument {
    /// Opens a document.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub(crate) fn open(
        connection: &Arc<Connection>,
        uri: lsp::Uri,
        version: i32,
        text: String,
    ) -> std::io::Result<Self> {
        let name: Arc<str> = uri.as_str().into();
        let epoch = connection.outbox.opened(&name);
        let (connection, its) = (connection.clone(), uri.clone());
        let new = move |mailbox: &Messages<Actor>| {
            let settings = settings_of(&connection, &uri);
            let content = Content::new(&text, settings.file.model.noise().clone());
            drop(text);
            Actor {
                connection,
                uri,
                settings,
                name,
                epoch,
                version,
                content,
                inbox: VecDeque::new(),
                n_changes: 0,
                jobs: VecDeque::new(),
                n_local_jobs: 0,
                mailbox: mailbox.clone(),
                is_new: true,
                cache: QueryCache::default(),
                search: None,
                n_searches: 0,
                waiting_saves: Vec::new(),
            }
        };
        Ok(Self { uri: its, mailbox: Mailbox::open(new)? })
    }

    /// Changes the text.
    pub(crate) fn change(&self, version: i32, changes: Vec<lsp::TextDocumentContentChangeEvent>) {
        self.mailbox.post(Message::Change(version, changes));
    }

    /// Ends the actor after all messages sent before.
    pub(crate) fn close(&self) {
        self.mailbox.post(Message::Close);
    }

    /// Looks up the settings again, and publishes if they changed.
    pub(crate) fn refresh(&self) {
        self.mailbox.post(Message::Refresh);
    }

    /// Starts a search for placements now, unless the version was searched before. The message is
    /// sent when this returns; the future resolves to the version once the search is over.
    pub(crate) fn search(&self) -> impl Future<Output = Result<i32, NoAnswer>> + Send + use<> {
        let (sender, receiver) = oneshot::channel();
        self.mailbox.post(Message::Search(sender));
        async { receiver.await.map_err(|_| NoAnswer::Modified) }
    }

    /// Sends a query. The message is sent when this returns; the future resolves to the answer.
    pub(crate) fn query<T, F>(
        &self,
        ask: F,
    ) -> impl Future<Output = Result<T, NoAnswer>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut DocumentView<'_>) -> T + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let query = move |view: &mut DocumentView<'_>| {
            if !sender.is_closed() {
                let answer = catch_unwind(AssertUnwindSafe(|| ask(view)));
                let _ = sender.send(answer.map_err(|_| NoAnswer::Panicked));
            }
        };
        self.mailbox.post(Message::Query(Box::new(query)));
        async { receiver.await.unwrap_or(Err(NoAnswer::Unavailable)) }
    }

    /// Like [`OpenDocument::query`], for long queries.
    pub(crate) fn run<J: Job>(
        &self,
        job: J,
    ) -> impl Future<Output = Result<J::Output, NoAnswer>> + Send + use<J> {
        let (sender, receiver) = oneshot::channel();
        self.mailbox.post(Message::Job(Box::new(JobWithAnswer::new(job, sender))));
        async { receiver.await.unwrap_or(Err(NoAnswer::Unavailable)) }
    }

    /// Like [`OpenDocument::run`], but the job runs before the jobs about the whole text, so that
    /// the visible part of a file does not wait for the rest.
    pub(crate) fn run_local<J: Job>(
        &self,
        job: J,
    ) -> impl Future<Output = Result<J::Output, NoAnswer>> + Send + use<J> {
        let (sender, receiver) = oneshot::channel();
        self.mailbox.post(Message::LocalJob(Box::new(JobWithAnswer::new(job, sender))));
        async { receiver.await.unwrap_or(Err(NoAnswer::Unavailable)) }
    }
}

/// The settings of a document; mistakes in its configuration file are shown.
fn settings_of(connection: &Connection, uri: &lsp::Uri) -> Arc<EffectiveSettings> {
    let (settings, invalid) = connection.settings.of(uri);
    if let Some(invalid) = invalid {
        problems::show_invalid(connection, &invalid);
    }
    Arc::new(settings)
}

pub(super) struct Actor {
    connection: Arc<Connection>,
    uri: lsp::Uri,
    settings: Arc<EffectiveSettings>,
    name: Arc<str>,
    epoch: Epoch,
    version: i32,
    content: Content,
    /// Received messages; `n_changes` of them are changes.
    inbox: VecDeque<Message>,
    n_changes: usize,
    jobs: VecDeque<Box<dyn AnyJob>>,
    /// Number of jobs about a part of the text. They are the first ones in `jobs`.
    n_local_jobs: usize,
    /// The actor also sends messages to itself.
    mailbox: Messages<Actor>,
    /// True until the first publication.
    is_new: bool,
    cache: QueryCache,
    /// The running search, always for the current text and settings.
    search: Option<PlacementSearch>,
    /// Number of started searches. It identifies the last one.
    n_searches: u64,
    /// Saves that wait for the search.
    waiting_saves: Vec<oneshot::Sender<i32>>,
}

impl pool::Actor for Actor {
    type Message = Message;

    fn run(mut self, _: &Messages<Self>) -> Option<Self> {
        loop {
            self.receive_all();
            if std::mem::take(&mut self.is_new) && self.n_changes == 0 {
                self.publish();
            }
            match self.inbox.pop_front() {
                Some(Message::Close) => return None,
                Some(message) => self.handle(message),
                None if self.jobs.is_empty() || !host::has_time() => return Some(self),
                None => self.step(),
            }
        }
    }

    fn is_busy(&self) -> bool {
        !self.jobs.is_empty()
    }
}

impl Actor {
    fn enqueue(&mut self, message: Message) {
        self.n_changes += usize::from(matches!(message, Message::Change(..)));
        self.inbox.push_back(message);
    }

    /// Moves the messages from the mailbox to the inbox.
    fn receive_all(&mut self) {
        while let Some(message) = self.mailbox.take() {
            self.enqueue(message);
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Change(version, changes) => {
                self.n_changes -= 1;
                self.end_jobs();
                self.discard_solutions();
                for change in &changes {
                    self.change(change);
                }
                self.version = version;
                self.receive_all();
                if self.n_changes == 0 {
                    self.publish();
                }
            }
            Message::Refresh => self.refresh(),
            Message::Query(query) => {
                if let Some(mut view) = self.view() {
                    query(&mut view);
                }
            }
            Message::Job(job) => self.jobs.push_back(job),
            Message::LocalJob(job) => {
                self.jobs.insert(self.n_local_jobs, job);
                self.n_local_jobs += 1;
            }
            Message::Search(saver) => {
                self.waiting_saves.push(saver);
                self.start_search(true);
            }
            Message::Idle(version) => {
                if version == self.version && self.settings.editor.searches_in_background {
                    self.start_search(false);
                }
            }
            Message::SearchEnded(number, all) => {
                // A stopped search may have sent its result before, and another may be running.
                if number != self.n_searches {
                    return;
                }
                let Some(search) = self.search.take() else { return };
                self.cache.solutions.get_or_insert_default().extend(all);
                self.notify_saves();
                client_requests::refresh_lenses(&self.connection);
                if !search.is_rewriting {
                    self.start_rewriting();
                }
            }
            Message::Close => {}
        }
    }

    /// Ends all jobs. Another thread drops their partial results, which may be large.
    fn end_jobs(&mut self) {
        let mut jobs = std::mem::take(&mut self.jobs);
        self.n_local_jobs = 0;
        for job in &mut jobs {
            job.cancel();
        }
        if !jobs.is_empty() {
            self.connection.discard(jobs);
        }
    }

    fn step(&mut self) {
        let Some(mut job) = self.jobs.pop_front() else { return };
        if let Some(mut view) = self.view()
            && !job.step(&mut view)
        {
            self.jobs.push_front(job);
        } else {
            self.n_local_jobs = self.n_local_jobs.saturating_sub(1);
        }
    }

    fn change(&mut self, change: &lsp::TextDocumentContentChangeEvent) {
        let text = self.content.text();
        let encoding = self.connection.capabilities().encoding;
        let (bytes, new) = match change.range {
            Some(range) => (position::offsets(text, range, encoding), &*change.text),
            None => difference(text, &change.text),
        };
        self.content.edit(bytes, new);
    }

    /// Stops the search and discards all solutions, because the text or the settings change.
    fn discard_solutions(&mut self) {
        self.search = None;
        self.cache.solutions = None;
    }

    /// Settings may have changed.
    fn refresh(&mut self) {
        let settings = settings_of(&self.connection, &self.uri);
        if settings == self.settings {
            return;
        }
        self.settings = settings;
        self.discard_solutions();
        self.content.set_model(self.settings.file.model.noise());
        if self.n_changes == 0 {
            self.publish();
        }
    }

    fn view(&mut self) -> Option<DocumentView<'_>> {
        Some(DocumentView {
            document: self.content.document()?,
            settings: &self.settings,
            version: self.version,
            uri: &self.uri,
            connection: &self.connection,
            cache: &mut self.cache,
        })
    }

    /// Publishes the diagnostics of a new text or new settings, unless the client pulls them.
    /// Starts a search after a while without edits.
    fn publish(&mut self) {
        // These saves waited for an earlier version.
        self.waiting_saves.clear();
        search::post_when_idle(&self.connection, &self.mailbox, Message::Idle(self.version));
        if self.connection.capabilities().pulls_diagnostics {
            return;
        }
        let found = self.view().and_then(|view| {
            let all = || proto::diagnostic::all_diagnostics(&view);
            catch_unwind(AssertUnwindSafe(all)).ok()
        });
        let found = found.unwrap_or_else(|| vec![proto::diagnostic::internal_error()]);
        self.connection.outbox.publish(&self.name, self.epoch, self.version, &found);
    }

    /// Starts a search in this version, unless a search is running, has ended, or has nothing to
    /// find.
    fn start_search(&mut self, for_save: bool) {
        match &self.search {
            // The placements are known.
            Some(it) if it.is_rewriting => return self.notify_saves(),
            Some(_) => return,
            None => {}
        }
        let wanted = self.view().and_then(|view| {
            let worth = || search::placement_requests(&view, for_save);
            catch_unwind(AssertUnwindSafe(worth)).unwrap_or_default()
        });
        let Some(repairs) = wanted else { return self.notify_saves() };
        self.start_search_for(repairs);
    }

    /// Starts a search for rewritings, if lenses show them.
    fn start_rewriting(&mut self) {
        let wanted = self.view().and_then(|view| {
            let worth = || search::rewriting_requests(&view);
            catch_unwind(AssertUnwindSafe(worth)).ok()
        });
        if let Some(repairs) = wanted.filter(|it| !it.is_empty()) {
            self.start_search_for(repairs);
        }
    }

    fn start_search_for(&mut self, repairs: Vec<RepairRequest>) {
        self.n_searches += 1;
        let (mailbox, number) = (self.mailbox.clone(), self.n_searches);
        let deliver = move |all| {
            mailbox.post(Message::SearchEnded(number, all));
        };
        let text = self.content.text().clone();
        let found =
            PlacementSearch::start(&self.connection, &self.settings, text, repairs, deliver);
        self.search = Some(found);
    }

    /// Notifies all waiting saves that the search is over.
    fn notify_saves(&mut self) {
        for saver in self.waiting_saves.drain(..) {
            let _ = saver.send(self.version);
        }
    }
}

#[cfg(test)]
mod tests;
