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
//! - A query that takes longer is a [`Job`]: it runs in slices of half a millisecond between other messages and ends with
//!   "content modified" when an edit comes.
//! - A panic loses what caused it: the query, or what was derived from the text, which is then derived anew. The text survives.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use noisy_analyses as analyses;
use ropey::Rope;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::ls_types as lsp;

use crate::outbox::Epoch;
use crate::position;
use crate::session::Session;
use crate::to_proto;

/// How long a job may run before messages are looked at.
const SLICE: Duration = Duration::from_micros(500);
/// Deeply nested programs are walked by recursion, in stacks that cost nothing until they are used.
const STACK: usize = 64 << 20;

/// A message to an actor.
enum Message {
    Change(i32, Vec<lsp::TextDocumentContentChangeEvent>),
    /// Settings changed: publish again.
    Refresh,
    Query(Box<dyn FnOnce(&mut View<'_>) + Send>),
    Job(Box<dyn Slices>),
}

/// An open document, seen from outside.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Its name.
    pub uri: lsp::Uri,
    sender: Sender<Message>,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Message::Change(..) => "Change",
            Message::Refresh => "Refresh",
            Message::Query(_) => "Query",
            Message::Job(_) => "Job",
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

/// What a query sees.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// Text, IR and facts.
    pub document: &'a analyses::Document,
    /// The version of the text.
    pub version: i32,
    /// The document's name.
    pub uri: &'a lsp::Uri,
    /// Everything else.
    pub session: &'a Session,
    /// What answers leave for later ones.
    pub cache: &'a mut Cache,
}

/// What answers leave for later ones.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The semantic tokens sent last, with their number.
    pub tokens: Option<(u64, Vec<u32>)>,
    /// The number of the semantic tokens sent last.
    pub last_tokens: u64,
}

impl View<'_> {
    /// The text.
    pub(crate) fn text(&self) -> &Rope {
        self.document.source().text()
    }

    /// The byte offset of a position.
    pub(crate) fn offset(&self, position: lsp::Position) -> usize {
        position::offset(self.text(), position, self.session.abilities().encoding)
    }

    /// The bytes of a range.
    pub(crate) fn offsets(&self, range: lsp::Range) -> Range<usize> {
        position::offsets(self.text(), range, self.session.abilities().encoding)
    }

    /// The position of a byte offset.
    pub(crate) fn position(&self, offset: usize) -> lsp::Position {
        position::position(self.text(), offset, self.session.abilities().encoding)
    }

    /// The range of a range of bytes.
    pub(crate) fn range(&self, bytes: &Range<usize>) -> lsp::Range {
        position::range(self.text(), bytes, self.session.abilities().encoding)
    }
}

/// A computation over a document that may take longer than a slice.
pub(crate) trait Job: Send + 'static {
    /// What comes out.
    type Output: Send + 'static;

    /// Goes on until done, or until a moment soon after `until`.
    fn step(&mut self, view: &mut View<'_>, until: Instant) -> Option<Self::Output>;
}

/// A job with the way to who waits for it.
trait Slices: Send {
    /// Goes on for a slice; whether it is done with.
    fn step(&mut self, view: &mut View<'_>) -> bool;
    /// Ends it because the document changed.
    fn end(&mut self);
}

struct Waiting<J: Job> {
    job: J,
    answer: Option<oneshot::Sender<Result<J::Output, NoAnswer>>>,
}

impl<J: Job> Slices for Waiting<J> {
    fn step(&mut self, view: &mut View<'_>) -> bool {
        if self.answer.as_ref().is_none_or(oneshot::Sender::is_closed) {
            return true;
        }
        let until = Instant::now() + SLICE;
        let out = catch_unwind(AssertUnwindSafe(|| self.job.step(view, until)));
        let out = match out {
            Ok(None) => return false,
            Ok(Some(out)) => Ok(out),
            Err(_) => Err(NoAnswer::Panicked),
        };
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(out);
        }
        true
    }

    fn end(&mut self) {
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(Err(NoAnswer::Modified));
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
        let name: Arc<str> = uri.as_str().into();
        let epoch = session.outbox.opened(&name);
        let (thread_session, thread_uri) = (session.clone(), uri.clone());
        let run = move || {
            let content = Content::new(Rope::from_str(&text));
            drop(text);
            let actor = Actor {
                session: thread_session,
                uri: thread_uri,
                name,
                epoch,
                version,
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
        Ok(Self { uri, sender })
    }

    /// Changes the text.
    pub(crate) fn change(&self, version: i32, changes: Vec<lsp::TextDocumentContentChangeEvent>) {
        // Nobody receives only while the process ends.
        let _ = self.sender.send(Message::Change(version, changes));
    }

    /// Publishes again, after settings changed.
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
        let _ = self.sender.send(Message::Job(Box::new(Waiting { job, answer: Some(sender) })));
        async { receiver.await.unwrap_or(Err(NoAnswer::Gone)) }
    }
}

/// The text and what is derived from it, if it could be derived.
enum Content {
    Good(Box<analyses::Document>),
    Broken(Rope),
}

impl Content {
    fn new(text: Rope) -> Self {
        match catch_unwind(AssertUnwindSafe(|| analyses::Document::new(&text.to_string()))) {
            Ok(document) => Content::Good(Box::new(document)),
            Err(_) => Content::Broken(text),
        }
    }

    fn text(&self) -> &Rope {
        match self {
            Content::Good(document) => document.source().text(),
            Content::Broken(text) => text,
        }
    }

    fn edit(&mut self, bytes: Range<usize>, new: &str) {
        // A clone of a rope costs nothing; the nodes that the edit touches are copied then.
        let mut text = self.text().clone();
        if let Content::Good(document) = self {
            let bytes = bytes.clone();
            if catch_unwind(AssertUnwindSafe(|| document.edit(bytes, new))).is_ok() {
                return;
            }
        }
        let (from, to) = (text.byte_to_char(bytes.start), text.byte_to_char(bytes.end));
        text.remove(from..to);
        text.insert(from, new);
        *self = Content::new(text);
    }
}

/// The one place where two texts differ: the bytes of the old one, and what stands there in the new one.
fn difference<'a>(old: &Rope, new: &'a str) -> (Range<usize>, &'a str) {
    let bytes = new.as_bytes();
    let mut prefix = 0;
    for chunk in old.chunks() {
        let n = chunk.bytes().zip(&bytes[prefix..]).take_while(|(a, b)| a == *b).count();
        prefix += n;
        if n < chunk.len() {
            break;
        }
    }
    while !new.is_char_boundary(prefix) {
        prefix -= 1;
    }
    let room = old.len_bytes().min(new.len()) - prefix;
    let mut suffix = 0;
    let (mut chunks, ..) = old.chunks_at_byte(old.len_bytes());
    while let Some(chunk) = chunks.prev() {
        let ends = bytes[..new.len() - suffix].iter().rev();
        let n = chunk.bytes().rev().zip(ends).take_while(|(a, b)| a == *b).count();
        suffix += n;
        if n < chunk.len() || suffix >= room {
            break;
        }
    }
    suffix = suffix.min(room);
    while !new.is_char_boundary(new.len() - suffix) {
        suffix -= 1;
    }
    (prefix..old.len_bytes() - suffix, &new[prefix..new.len() - suffix])
}

struct Actor {
    session: Arc<Session>,
    uri: lsp::Uri,
    name: Arc<str>,
    epoch: Epoch,
    version: i32,
    content: Content,
    /// Messages that came, and how many of them are changes.
    inbox: VecDeque<Message>,
    n_changes: usize,
    jobs: VecDeque<Box<dyn Slices>>,
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
                for mut job in self.jobs.drain(..) {
                    job.end();
                }
                for change in &changes {
                    self.change(change);
                }
                self.version = version;
                self.drain();
                if self.n_changes == 0 {
                    self.publish();
                }
            }
            Message::Refresh if self.n_changes == 0 => self.publish(),
            Message::Refresh => {}
            Message::Query(query) => {
                if let Some(mut view) = self.view() {
                    query(&mut view);
                }
            }
            Message::Job(job) => self.jobs.push_back(job),
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

    fn view(&mut self) -> Option<View<'_>> {
        let Content::Good(document) = &self.content else { return None };
        Some(View {
            document,
            version: self.version,
            uri: &self.uri,
            session: &self.session,
            cache: &mut self.cache,
        })
    }

    fn publish(&mut self) {
        if self.session.abilities().pulls_diagnostics {
            return;
        }
        let found = self
            .view()
            .and_then(|view| catch_unwind(AssertUnwindSafe(|| to_proto::diagnostics(&view))).ok());
        let found = found.unwrap_or_else(|| vec![to_proto::failure()]);
        self.session.outbox.publish(&self.name, self.epoch, self.version, &found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str) {
        let rope = Rope::from_str(old);
        let (bytes, text) = difference(&rope, new);
        let mut out = old.to_owned();
        out.replace_range(bytes.clone(), text);
        assert_eq!(out, new, "{old:?} {bytes:?} {text:?}");
    }

    #[test]
    fn difference_makes_the_new_text_of_the_old() {
        let long = "abc \u{e9} \n".repeat(1000);
        for (old, new) in [
            ("", ""),
            ("", "a"),
            ("a", ""),
            ("aa", "aaa"),
            ("aaa", "aa"),
            ("a\u{e9}b", "a\u{e8}b"),
            ("\u{1F600}", "\u{1F601}"),
            ("abcabc", "abc"),
            (&long, &long[..4000]),
            (&long, &format!("{}x{}", &long[..4002], &long[4002..])),
        ] {
            check(old, new);
            check(new, old);
        }
        let rope = Rope::from_str(&long);
        let new = format!("{}x{}", &long[..4000], &long[4000..]);
        let (bytes, text) = difference(&rope, &new);
        assert_eq!(text.len(), 1);
        assert!(bytes.is_empty());
    }
}
