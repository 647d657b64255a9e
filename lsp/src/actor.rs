//! The actor of a document: a thread that owns the document's text and everything derived from it, and takes its messages in the
//! order in which they came from the client.
//!
//! *One thread for each document*, not one for all and no pool: reading a file of 100,000 ops takes a fifth of a second, during
//! which no other document should stand still; a thread that waits costs a few pages; and the state needs no lock.
//!
//! *Laws.*
//! - Edits are applied in order, each exactly once. What has arrived is applied before anything is published, so nothing is
//!   published that is older than the newest edit read, and every version published is published once.
//! - A query sees exactly the edits sent before it.
//! - A query that takes longer is a [`Job`]: it runs in steps between other messages and ends with
//!   "content modified" when an edit comes.
//! - A panic loses what caused it: the query, or what was derived from the text, which is then derived anew. The text survives.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use tokio::sync::{oneshot, watch as cell};
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::ls_types as lsp;

use crate::content::{Content, difference};
use crate::job::{Job, Steps, Waiting};
use crate::outbox::Epoch;
use crate::position;
use crate::session::Session;
use crate::settings::Effective;
use crate::view::{Cache, View};
use crate::{solve, to_proto, watch};

/// Deeply nested programs are walked by recursion, in stacks that cost nothing until they are used.
const STACK: usize = 64 << 20;

/// A message to an actor.
enum Message {
    Change(i32, Vec<lsp::TextDocumentContentChangeEvent>),
    /// Settings may have changed.
    Refresh,
    Query(Box<dyn FnOnce(&mut View<'_>) + Send>),
    Job(Box<dyn Steps>),
    Close,
}

/// An open document, seen from outside.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Its name.
    pub uri: lsp::Uri,
    sender: Sender<Message>,
    /// The version that the actor is at.
    version: cell::Receiver<i32>,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Message::Change(..) => "Change",
            Message::Refresh => "Refresh",
            Message::Query(_) => "Query",
            Message::Job(_) => "Job",
            Message::Close => "Close",
        })
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The document was closed, or cannot be understood at all.
    Gone,
    /// The computation panicked.
    Panicked,
    /// The document changed meanwhile.
    Modified,
}

impl From<NoAnswer> for Error {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::Modified => Error::new(ErrorCode::ContentModified),
            NoAnswer::Gone | NoAnswer::Panicked => Error::internal_error(),
        }
    }
}

impl Document {
    /// Opens a document on a thread of its own.
    pub(crate) fn open(
        session: &Arc<Session>,
        uri: lsp::Uri,
        version: i32,
        text: String,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let (version_sender, version_receiver) = cell::channel(version);
        let name: Arc<str> = uri.as_str().into();
        let epoch = session.outbox.opened(&name);
        let (thread_session, thread_uri) = (session.clone(), uri.clone());
        let run = move || {
            let settings = settings_of(&thread_session, &thread_uri);
            let content = Content::new(&text, settings.file.model.noise().clone());
            drop(text);
            let actor = Actor {
                session: thread_session,
                uri: thread_uri,
                settings,
                name,
                epoch,
                version: version_sender,
                content,
                inbox: VecDeque::new(),
                n_changes: 0,
                jobs: VecDeque::new(),
                receiver,
                cache: Cache::default(),
            };
            actor.run();
        };
        std::thread::Builder::new().name("document".to_owned()).stack_size(STACK).spawn(run)?;
        Ok(Self { uri, sender, version: version_receiver })
    }

    /// Changes the text.
    pub(crate) fn change(&self, version: i32, changes: Vec<lsp::TextDocumentContentChangeEvent>) {
        // Nobody receives only while the process ends.
        let _ = self.sender.send(Message::Change(version, changes));
    }

    /// Ends the actor behind what was sent before.
    pub(crate) fn close(&self) {
        let _ = self.sender.send(Message::Close);
    }

    /// Waits until the document is no longer at a version, or closed.
    pub(crate) fn changed(&self, from: i32) -> impl Future<Output = ()> + Send + use<> {
        let mut version = self.version.clone();
        async move {
            // An error says that it is closed.
            let _ = version.wait_for(|it| *it != from).await;
        }
    }

    /// Looks at its settings again, and publishes if they changed.
    pub(crate) fn refresh(&self) {
        let _ = self.sender.send(Message::Refresh);
    }

    /// Asks something. The question is on its way when this returns; the future is for the answer.
    pub(crate) fn query<T, F>(
        &self,
        ask: F,
    ) -> impl Future<Output = Result<T, NoAnswer>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut View<'_>) -> T + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let query = move |view: &mut View<'_>| {
            if !sender.is_closed() {
                let answer = catch_unwind(AssertUnwindSafe(|| ask(view)));
                let _ = sender.send(answer.map_err(|_| NoAnswer::Panicked));
            }
        };
        let _ = self.sender.send(Message::Query(Box::new(query)));
        async { receiver.await.unwrap_or(Err(NoAnswer::Gone)) }
    }

    /// As [`Document::query`], for what may take longer.
    pub(crate) fn run<J: Job>(
        &self,
        job: J,
    ) -> impl Future<Output = Result<J::Output, NoAnswer>> + Send + use<J> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.sender.send(Message::Job(Box::new(Waiting::new(job, sender))));
        async { receiver.await.unwrap_or(Err(NoAnswer::Gone)) }
    }
}

/// The settings of a document; what is wrong with its configuration file is told.
fn settings_of(session: &Session, uri: &lsp::Uri) -> Arc<Effective> {
    let (settings, invalid) = session.settings.of(uri);
    if let Some(invalid) = invalid {
        watch::complain(session, &invalid);
    }
    Arc::new(settings)
}

struct Actor {
    session: Arc<Session>,
    uri: lsp::Uri,
    settings: Arc<Effective>,
    name: Arc<str>,
    epoch: Epoch,
    version: cell::Sender<i32>,
    content: Content,
    /// Messages that came, and how many of them are changes.
    inbox: VecDeque<Message>,
    n_changes: usize,
    jobs: VecDeque<Box<dyn Steps>>,
    receiver: Receiver<Message>,
    cache: Cache,
}

impl Actor {
    fn run(mut self) {
        self.drain();
        if self.n_changes == 0 {
            self.publish();
        }
        loop {
            if self.inbox.is_empty() && self.jobs.is_empty() {
                match self.receiver.recv() {
                    Ok(message) => self.put(message),
                    Err(_) => return,
                }
            }
            if !self.drain() {
                return;
            }
            match self.inbox.pop_front() {
                Some(Message::Close) => return,
                Some(message) => self.take(message),
                None => self.step(),
            }
        }
    }

    fn put(&mut self, message: Message) {
        self.n_changes += usize::from(matches!(message, Message::Change(..)));
        self.inbox.push_back(message);
    }

    /// Takes in what has arrived; `false` when the document is closed and nothing is left to answer.
    fn drain(&mut self) -> bool {
        loop {
            match self.receiver.try_recv() {
                Ok(message) => self.put(message),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => {
                    return !self.inbox.is_empty() || !self.jobs.is_empty();
                }
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Change(version, changes) => {
                self.n_changes -= 1;
                self.end_jobs();
                for change in &changes {
                    self.change(change);
                }
                self.version.send_replace(version);
                self.drain();
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
            Message::Close => {}
        }
    }

    /// Ends all jobs. What they found so far may be much, and goes away elsewhere.
    fn end_jobs(&mut self) {
        let mut jobs = std::mem::take(&mut self.jobs);
        for job in &mut jobs {
            job.end();
        }
        if !jobs.is_empty() {
            self.session.discard(jobs);
        }
    }

    fn step(&mut self) {
        let Some(mut job) = self.jobs.pop_front() else { return };
        if let Some(mut view) = self.view()
            && !job.step(&mut view)
        {
            self.jobs.push_front(job);
        }
    }

    fn change(&mut self, change: &lsp::TextDocumentContentChangeEvent) {
        let text = self.content.text();
        let (bytes, new) = match change.range {
            Some(range) => {
                (position::offsets(text, range, self.session.abilities().encoding), &*change.text)
            }
            None => difference(text, &change.text),
        };
        self.content.edit(bytes, new);
    }

    /// Settings may have changed.
    fn refresh(&mut self) {
        let settings = settings_of(&self.session, &self.uri);
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

    fn view(&mut self) -> Option<View<'_>> {
        Some(View {
            document: self.content.document()?,
            settings: &self.settings,
            version: *self.version.borrow(),
            uri: &self.uri,
            session: &self.session,
            cache: &mut self.cache,
        })
    }

    fn publish(&mut self) {
        if self.session.abilities().pulls_diagnostics {
            return;
        }
        let found = self.view().and_then(|view| {
            let all = || to_proto::diagnostic::all(&view);
            catch_unwind(AssertUnwindSafe(all)).ok()
        });
        let found = found.unwrap_or_else(|| vec![to_proto::diagnostic::failure()]);
        let version = *self.version.borrow();
        if found.iter().any(to_proto::diagnostic::is_over) {
            solve::later(&self.session, &self.settings, &self.uri, version);
        }
        self.session.outbox.publish(&self.name, self.epoch, version, &found);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::features::{fold, hint, lens, reference, symbol, token, walk};
    use crate::position::Encoding;

    /// A step of a job about a whole file, made at the first step.
    type Step = Box<dyn FnMut(&mut View<'_>) -> bool + Send>;

    /// The jobs, each finding so much in so many steps that an edit comes in the middle.
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
                    let new = || token::Tokens::new(source, all, Encoding::Utf16);
                    tokens.get_or_insert_with(new).step(source)
                }),
            ),
            (
                "folds",
                Box::new(move |view| {
                    let source = view.document.source();
                    let new = || fold::Folds::new(source);
                    folds.get_or_insert_with(new).step(source, &mut |_| {})
                }),
            ),
            (
                "symbols",
                Box::new(move |view| {
                    let source = view.document.source();
                    let new = || symbol::Outline::new(source);
                    symbols.get_or_insert_with(new).step(source, &mut |_| {})
                }),
            ),
            (
                "lenses",
                Box::new(move |view| {
                    let new = || lens::Lenses::new(view.document);
                    lenses.get_or_insert_with(new).step(view.document, &mut |_| {})
                }),
            ),
            (
                "hints",
                Box::new(move |view| {
                    let wanted = &view.settings.file.hints;
                    let all = 0..view.text().len_bytes();
                    let new = || hint::Search::new(view.document, all, wanted);
                    hints.get_or_insert_with(new).step(view.document, wanted, &mut |_| {})
                }),
            ),
            (
                "references",
                Box::new(move |view| {
                    let source = view.document.source();
                    let search = search.get_or_insert_with(|| {
                        let at = source.slice(0..200).find("%x").unwrap_or_default();
                        let mention = crate::features::cursor::mention_at(source, at);
                        reference::Search::new(source.ir(), mention.expect("a name").thing)
                    });
                    search.step(source.ir(), &mut |_| {})
                }),
            ),
        ]
    }

    /// 50,000 ops in one function that all use one value, and 50,000 in functions of two.
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
        let session = Arc::new(Session::new(runtime.handle().clone()));
        let uri: lsp::Uri = "file:///a.mlir".parse().expect("a name");
        let document = Document::open(&session, uri, 1, text()).expect("a thread");
        for (version, (name, mut step)) in (2..).zip(jobs()) {
            let n_steps = Arc::new(AtomicUsize::new(0));
            let (steps, editor) = (n_steps.clone(), document.clone());
            // The edit arrives while the third step is at work.
            let job = move |view: &mut View<'_>| {
                let before = walk::n_steps();
                let more = step(view);
                assert!(walk::n_steps() - before <= 2 * walk::BATCH, "{name}: a long step");
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
