//! Answers that may take longer than a slice: computed between other messages, in steps, and written as JSON on the way
//! ([`crate::json`]).
//!
//! *Law.* A step is small: it looks at a bounded number of items or bytes, whatever the size of the file. So a slice ends soon after
//! [`SLICE`], and an edit never waits longer than that for a job. What is found is converted and written in the
//! step that finds it; nothing is left to do for all of it at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::actor::NoAnswer;
use crate::view::View;

/// How long a job may run before messages are looked at.
pub(crate) const SLICE: Duration = Duration::from_micros(500);

/// A computation over a document, in steps.
pub(crate) trait Job: Send + 'static {
    /// What comes out.
    type Output: Send + 'static;

    /// Goes on a little; the output, when there is nothing left to do.
    fn step(&mut self, view: &mut View<'_>) -> Option<Self::Output>;
}

impl<T, F> Job for F
where
    T: Send + 'static,
    F: FnMut(&mut View<'_>) -> Option<T> + Send + 'static,
{
    type Output = T;

    fn step(&mut self, view: &mut View<'_>) -> Option<T> {
        self(view)
    }
}

/// A job with the way to who waits for it.
pub(crate) trait Slices: Send {
    /// Goes on for a slice; whether it is done with.
    fn slice(&mut self, view: &mut View<'_>) -> bool;
    /// Ends it because the document changed.
    fn end(&mut self);
}

/// See [`Slices`].
pub(crate) struct Waiting<J: Job> {
    job: J,
    answer: Option<oneshot::Sender<Result<J::Output, NoAnswer>>>,
}

impl<J: Job> Waiting<J> {
    /// A job for who waits at the other end of a channel.
    pub(crate) fn new(job: J, answer: oneshot::Sender<Result<J::Output, NoAnswer>>) -> Self {
        Self { job, answer: Some(answer) }
    }
}

impl<J: Job> Slices for Waiting<J> {
    fn slice(&mut self, view: &mut View<'_>) -> bool {
        if self.answer.as_ref().is_none_or(oneshot::Sender::is_closed) {
            return true;
        }
        let until = Instant::now() + SLICE;
        let out = loop {
            match catch_unwind(AssertUnwindSafe(|| self.job.step(view))) {
                Ok(None) if Instant::now() < until => {}
                Ok(None) => return false,
                Ok(Some(out)) => break Ok(out),
                Err(_) => break Err(NoAnswer::Panicked),
            }
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
