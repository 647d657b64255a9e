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
use crate::optimizer::{Solution, Solutions};
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
    /// The result of the search in a version.
    SearchEnded(i32, Vec<Solution>),
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
            Message::LocalJob(_) => "Near",
            Message::Search(_) => "Search",
            Message::Idle(_) => "Still",
            Message::SearchEnded(..) => "Solved",
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
    /// The running search for placements, always in the current version.
    search: Option<PlacementSearch>,
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
            Message::SearchEnded(version, all) => {
                // The search in an earlier version was stopped, but it may have sent its result
                // before.
                if version != self.version {
                    return;
                }
                let Some(search) = self.search.take() else { return };
                match self.cache.solutions.as_mut().filter(|it| it.version == version) {
                    Some(known) => known.all.extend(all),
                    None => self.cache.solutions = Some(Solutions { version, all }),
                }
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
            job.end();
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

    /// Settings may have changed.
    fn refresh(&mut self) {
        let settings = settings_of(&self.connection, &self.uri);
        if settings == self.settings {
            return;
        }
        self.settings = settings;
        self.cache.solutions = None;
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
        self.search = None;
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
        let (mailbox, version) = (self.mailbox.clone(), self.version);
        let deliver = move |all| {
            mailbox.post(Message::SearchEnded(version, all));
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
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::features::find::reference;
    use crate::features::read::fold;
    use crate::features::read::hint;
    use crate::features::read::lens;
    use crate::features::read::symbol;
    use crate::features::read::token;
    use crate::features::walk;
    use crate::text::encoding::Encoding;

    /// Runs one step of a job about a whole file. The first call creates the job. Returns true if
    /// more steps remain.
    type Step = Box<dyn FnMut(&mut DocumentView<'_>) -> bool + Send>;

    /// Jobs with enough steps for an edit in the middle.
    fn jobs() -> Vec<(&'static str, Step)> {
        let mut tokens = None;
        let mut folds = None;
        let mut symbols = None;
        let mut lenses = None;
        let mut hints = None;
        let mut search = None;
        vec![
            (
                "tokens",
                Box::new(move |view| {
                    let source = view.document.source();
                    let all = 0..view.text().len_bytes();
                    let new = || token::TokenJob::new(source, all, Encoding::Utf16);
                    tokens.get_or_insert_with(new).step(source)
                }),
            ),
            (
                "folds",
                Box::new(move |view| {
                    let source = view.document.source();
                    let new = || fold::FoldJob::new(source);
                    folds.get_or_insert_with(new).step(source, &mut |_| {})
                }),
            ),
            (
                "symbols",
                Box::new(move |view| {
                    let source = view.document.source();
                    let new = || symbol::OutlineJob::new(source);
                    symbols.get_or_insert_with(new).step(source, &mut |_| {})
                }),
            ),
            (
                "lenses",
                Box::new(move |view| {
                    let new = || lens::LensJob::new(view.document);
                    lenses.get_or_insert_with(new).step(view.document, &mut |_| {})
                }),
            ),
            (
                "hints",
                Box::new(move |view| {
                    let wanted = &view.settings.file.hints;
                    let all = 0..view.text().len_bytes();
                    let new = || {
                        hint::HintJob::new(
                            view.document,
                            all,
                            wanted,
                            view.settings.file.loops,
                            crate::features::nest::NestCache::default(),
                        )
                    };
                    hints.get_or_insert_with(new).step(view.document, wanted, &mut |_| {})
                }),
            ),
            (
                "references",
                Box::new(move |view| {
                    let source = view.document.source();
                    let search = search.get_or_insert_with(|| {
                        let at = source.slice(0..200).find("%x").unwrap_or_default();
                        let mention = crate::features::find::cursor::mention_at(source, at);
                        reference::ReferenceJob::new(source.ir(), mention.expect("a name").entity)
                    });
                    search.step(source.ir(), &mut |_| {})
                }),
            ),
        ]
    }

    /// A function with 50,000 ops that all use one value, and 25,000 functions with two ops each.
    fn text() -> String {
        let op = |n: usize| format!("  %{n} = noisy.add %x, %x : !noisy.i32\n");
        let straight: String = (0..50_000).map(op).collect();
        let function = |n: usize| {
            format!(
                "func.func @f{n}(%x: !noisy.i32) {{\n  %0 = noisy.add %x, %x : !noisy.i32\n  return\n}}\n"
            )
        };
        let functions: String = (0..25_000).map(function).collect();
        format!("func.func @f(%x: !noisy.i32) {{\n{straight}  return\n}}\n{functions}")
    }

    #[test]
    fn an_edit_waits_for_at_most_one_step() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let connection = Arc::new(Connection::new(runtime.handle().clone()));
        let uri: lsp::Uri = "file:///a.mlir".parse().expect("a name");
        let document = OpenDocument::open(&connection, uri, 1, text()).expect("a thread");
        for (version, (name, mut step)) in (2..).zip(jobs()) {
            let n_steps = Arc::new(AtomicUsize::new(0));
            let (steps, editor) = (n_steps.clone(), document.clone());
            // The edit arrives during the third step.
            let job = move |view: &mut DocumentView<'_>| {
                let before = walk::n_steps();
                let more = step(view);
                assert!(
                    walk::n_steps() - before <= 2 * walk::ITEMS_PER_STEP,
                    "{name}: a long step"
                );
                if steps.fetch_add(1, Ordering::SeqCst) + 1 == 3 {
                    let position = lsp::Position::new(0, 0);
                    let change = lsp::TextDocumentContentChangeEvent {
                        range: Some(lsp::Range::new(position, position)),
                        range_length: None,
                        text: "\n".to_owned(),
                    };
                    editor.change(version, vec![change]);
                }
                (!more).then_some(())
            };
            let answer = runtime.block_on(document.run(job));
            assert_eq!(answer, Err(NoAnswer::Modified), "{name}");
            assert_eq!(n_steps.load(Ordering::SeqCst), 3, "{name}: steps while an edit waited");
            assert_eq!(runtime.block_on(document.query(|view| view.version)), Ok(version));
        }
        document.close();
    }
}
