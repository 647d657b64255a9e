//! The queue of all messages to the client, which one thread writes.
//!
//! *Law.* A sender never waits. A client that does not read its messages costs memory only for the
//! answers to its own requests and for one set of diagnostics per document. Only the newest
//! diagnostics of a document are kept. Diagnostics of an earlier opening of the document are not
//! sent.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::Serialize;
use tower_lsp::ls_types as lsp;

use crate::wire::json::JsonBuffer;
use crate::wire::spelling::Spellings;

/// Identifies an opening of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

/// Sends messages to the client. Clones share the queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<OutboxState>,
    changed: Condvar,
    spellings: Spellings,
}

#[derive(Debug, Default)]
struct OutboxState {
    queue: VecDeque<QueueItem>,
    /// Waiting diagnostics by document; each has one item in the queue.
    diagnostics: FxHashMap<Arc<str>, Vec<u8>>,
    epochs: FxHashMap<Arc<str>, Epoch>,
    last_epoch: u64,
    writing: bool,
    broken: bool,
}

#[derive(Debug)]
enum QueueItem {
    Body(JsonBuffer),
    Diagnostics(Arc<str>),
}

/// The notification with diagnostics.
#[derive(Debug, Serialize)]
struct PublishParams<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
    diagnostics: &'a [lsp::Diagnostic],
}

#[derive(Serialize)]
struct Notification<'a, P> {
    jsonrpc: &'a str,
    method: &'a str,
    params: P,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, OutboxState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client's spellings of document names.
    pub(crate) fn spellings(&self) -> &Spellings {
        &self.shared.spellings
    }

    /// Sends a message: an answer, a request or a notification.
    pub(crate) fn send(&self, message: &impl Serialize) {
        if let Ok(body) = serde_json::to_vec(message) {
            self.send_body(body.into());
        }
    }

    /// Sends the JSON text of a message.
    pub(crate) fn send_body(&self, body: JsonBuffer) {
        let mut state = self.state();
        if !state.broken {
            state.queue.push_back(QueueItem::Body(body));
            self.shared.changed.notify_all();
        }
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: impl Serialize) {
        self.send(&Notification { jsonrpc: "2.0", method, params });
    }

    /// Registers an opened document. Diagnostics of an earlier opening are dropped from now on.
    pub(crate) fn opened(&self, uri: &Arc<str>) -> Epoch {
        let mut state = self.state();
        state.last_epoch += 1;
        let epoch = Epoch(state.last_epoch);
        state.epochs.insert(uri.clone(), epoch);
        epoch
    }

    /// Unregisters a closed document. With `clear`, its diagnostics are removed in the editor.
    pub(crate) fn closed(&self, uri: &Arc<str>, clear: bool) {
        let mut state = self.state();
        state.epochs.remove(uri);
        if clear {
            self.enqueue_diagnostics(&mut state, uri, None, &[]);
        }
    }

    /// Publishes the diagnostics of a document version. They replace older ones that still wait.
    pub(crate) fn publish(
        &self,
        uri: &Arc<str>,
        epoch: Epoch,
        version: i32,
        diagnostics: &[lsp::Diagnostic],
    ) {
        let mut state = self.state();
        if state.epochs.get(uri) == Some(&epoch) {
            self.enqueue_diagnostics(&mut state, uri, Some(version), diagnostics);
        }
    }

    fn enqueue_diagnostics(
        &self,
        state: &mut OutboxState,
        uri: &Arc<str>,
        version: Option<i32>,
        diagnostics: &[lsp::Diagnostic],
    ) {
        let params = PublishParams { uri, version, diagnostics };
        let method = "textDocument/publishDiagnostics";
        let Ok(body) = serde_json::to_vec(&Notification { jsonrpc: "2.0", method, params }) else {
            return;
        };
        if state.broken {
            return;
        }
        if state.diagnostics.insert(uri.clone(), body).is_none() {
            state.queue.push_back(QueueItem::Diagnostics(uri.clone()));
            self.shared.changed.notify_all();
        }
    }

    /// Writes to the client until the process ends.
    pub(crate) fn run(&self, mut out: impl Write) {
        loop {
            let body = self.shared.spellings.restore_spellings(self.next());
            let header = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
            if body.surround(header, b"").write_to(&mut out).and_then(|()| out.flush()).is_err() {
                // The client is gone; the end of standard input ends the server.
                self.state().give_up();
            }
        }
    }

    /// Takes the next body for the client, if there is one.
    #[cfg(target_family = "wasm")]
    pub(crate) fn take(&self) -> Option<JsonBuffer> {
        let body = self.state().take()?;
        Some(self.shared.spellings.restore_spellings(body))
    }

    /// Waits for the next body to write.
    fn next(&self) -> JsonBuffer {
        let mut state = self.state();
        loop {
            state.writing = true;
            if let Some(body) = state.take() {
                return body;
            }
            state.writing = false;
            self.shared.changed.notify_all();
            let wait = self.shared.changed.wait_while(state, |state| state.queue.is_empty());
            state = wait.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until all messages are written, at most for `limit`, and then drops further messages.
    /// No message is started after this, so the end of the process truncates none.
    pub(crate) fn close(&self, limit: Duration) {
        let state = self.state();
        let unwritten = |state: &mut OutboxState| state.writing || !state.queue.is_empty();
        let wait = self.shared.changed.wait_timeout_while(state, limit, unwritten);
        wait.unwrap_or_else(PoisonError::into_inner).0.give_up();
    }
}

impl OutboxState {
    /// Takes the next body to write, if there is one.
    fn take(&mut self) -> Option<JsonBuffer> {
        loop {
            match self.queue.pop_front()? {
                QueueItem::Body(body) => return Some(body),
                QueueItem::Diagnostics(uri) => {
                    if let Some(body) = self.diagnostics.remove(&uri) {
                        return Some(body.into());
                    }
                }
            }
        }
    }

    /// Drops waiting messages, and accepts no further ones.
    fn give_up(&mut self) {
        self.broken = true;
        self.queue.clear();
        self.diagnostics.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(outbox: &Outbox) -> Vec<String> {
        let state = outbox.state();
        let text = |item: &QueueItem| match item {
            QueueItem::Body(body) => {
                let mut out = Vec::new();
                assert!(body.write_to(&mut out).is_ok());
                String::from_utf8_lossy(&out).into_owned()
            }
            QueueItem::Diagnostics(uri) => {
                String::from_utf8_lossy(&state.diagnostics[uri]).into_owned()
            }
        };
        state.queue.iter().map(text).collect()
    }

    #[test]
    fn keeps_only_the_newest_diagnostics() {
        let outbox = Outbox::default();
        let (a, b): (Arc<str>, Arc<str>) = ("file:///a".into(), "file:///b".into());
        let (ea, eb) = (outbox.opened(&a), outbox.opened(&b));
        for version in 1..=100 {
            outbox.publish(&a, ea, version, &[]);
            outbox.publish(&b, eb, version, &[]);
        }
        let waiting = waiting(&outbox);
        assert_eq!(waiting.len(), 2);
        assert!(waiting.iter().all(|it| it.contains("\"version\":100")), "{waiting:?}");
    }

    #[test]
    fn drops_diagnostics_of_an_earlier_opening() {
        let outbox = Outbox::default();
        let a: Arc<str> = "file:///a".into();
        let old = outbox.opened(&a);
        outbox.closed(&a, true);
        outbox.publish(&a, old, 7, &[]);
        let new = outbox.opened(&a);
        outbox.publish(&a, old, 8, &[]);
        assert!(!waiting(&outbox)[0].contains("version"));
        outbox.publish(&a, new, 1, &[]);
        assert!(waiting(&outbox)[0].contains("\"version\":1"));
    }

    #[test]
    fn starts_no_message_after_close() {
        let outbox = Outbox::default();
        outbox.send(&1);
        outbox.close(Duration::ZERO);
        outbox.send(&2);
        assert!(waiting(&outbox).is_empty());
    }
}
