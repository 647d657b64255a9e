//! Long queries. They run in steps, between other messages, and write their results as JSON step by
//! step ([`crate::wire::json`]).
//!
//! *Law.* A step is small: it visits a bounded number of items, independent of the size of the
//! file, in tens of microseconds. The actor handles messages between any two steps, so an edit
//! waits for at most one step. Each step converts and writes its results; no work on the whole
//! answer remains at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode};

use crate::proto::view::DocumentView;

/// The reason why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The document was closed before the query was answered.
    Unavailable,
    /// The query panicked.
    Panicked,
    /// The document changed before the answer was complete.
    Modified,
}

impl From<NoAnswer> for Error {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::Modified => Error::new(ErrorCode::ContentModified),
            NoAnswer::Unavailable | NoAnswer::Panicked => Error::internal_error(),
        }
    }
}

/// A query about a document that runs in steps.
pub(crate) trait Job: Send + 'static {
    /// The answer.
    type Output: Send + 'static;

    /// Runs one step; returns the answer after the last one.
    fn step(&mut self, view: &mut DocumentView<'_>) -> Option<Self::Output>;
}

impl<T, F> Job for F
where
    T: Send + 'static,
    F: FnMut(&mut DocumentView<'_>) -> Option<T> + Send + 'static,
{
    type Output = T;

    fn step(&mut self, view: &mut DocumentView<'_>) -> Option<T> {
        self(view)
    }
}

/// A job of any type, together with the channel for its answer.
pub(crate) trait AnyJob: Send {
    /// Runs one step; returns true if the job is done.
    fn step(&mut self, view: &mut DocumentView<'_>) -> bool;
    /// Ends the job because the document changed.
    fn cancel(&mut self);
}

/// A job and the channel for its answer.
pub(crate) struct JobWithAnswer<J: Job> {
    job: J,
    answer: Option<oneshot::Sender<Result<J::Output, NoAnswer>>>,
}

impl<J: Job> JobWithAnswer<J> {
    pub(crate) fn new(job: J, answer: oneshot::Sender<Result<J::Output, NoAnswer>>) -> Self {
        Self { job, answer: Some(answer) }
    }
}

impl<J: Job> AnyJob for JobWithAnswer<J> {
    fn step(&mut self, view: &mut DocumentView<'_>) -> bool {
        if self.answer.as_ref().is_none_or(oneshot::Sender::is_closed) {
            return true;
        }
        let out = match catch_unwind(AssertUnwindSafe(|| self.job.step(view))) {
            Ok(None) => return false,
            Ok(Some(out)) => Ok(out),
            Err(_) => Err(NoAnswer::Panicked),
        };
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(out);
        }
        true
    }

    fn cancel(&mut self) {
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(Err(NoAnswer::Modified));
        }
    }
}
