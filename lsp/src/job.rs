//! Answers that may take longer than a slice: computed between other messages, in steps, and written as JSON on the way.
//!
//! *Law.* A step is small: it looks at a bounded number of items or bytes, whatever the size of the file. So a slice ends soon after
//! [`SLICE`], and an edit never waits longer than that for a job. What is found is converted and written in the
//! step that finds it; nothing is left to do for all of it at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use serde::Serialize;
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

/// A JSON array, written item by item.
#[derive(Debug)]
pub(crate) struct JsonArray(Vec<u8>);

impl JsonArray {
    /// Without items yet.
    pub(crate) fn new() -> Self {
        Self(vec![b'['])
    }

    /// Adds an item; one that cannot be written is left out.
    pub(crate) fn push(&mut self, item: &impl Serialize) {
        let start = self.0.len();
        if start > 1 {
            self.0.push(b',');
        }
        if serde_json::to_writer(&mut self.0, item).is_err() {
            self.0.truncate(start);
        }
    }

    /// The text; nothing is left here.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.0.push(b']');
        std::mem::take(&mut self.0)
    }
}

/// JSON objects that hold others in a field `children`, written in the order in which a tree is walked.
#[derive(Debug)]
pub(crate) struct JsonTree {
    text: Vec<u8>,
    /// How many objects are open.
    depth: usize,
}

impl JsonTree {
    /// Without objects yet.
    pub(crate) fn new() -> Self {
        Self { text: vec![b'['], depth: 0 }
    }

    /// Adds an object, which must have a field, inside the last one at `depth - 1`; depths grow by at most one.
    pub(crate) fn push(&mut self, depth: usize, object: &impl Serialize) {
        let Ok(json) = serde_json::to_vec(object) else { return };
        let Some((b'}', open)) = json.split_last() else { return };
        if depth >= self.depth {
            if self.depth > 0 {
                self.text.extend_from_slice(b",\"children\":[");
            }
        } else {
            self.close(depth);
            self.text.push(b',');
        }
        self.text.extend_from_slice(open);
        self.depth += 1;
    }

    /// Closes objects until so many are open.
    fn close(&mut self, depth: usize) {
        while self.depth > depth {
            self.depth -= 1;
            self.text.extend_from_slice(if self.depth > depth { b"}]" } else { b"}" });
        }
    }

    /// The text; nothing is left here.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.close(0);
        self.text.push(b']');
        std::mem::take(&mut self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_array_is_written_item_by_item() {
        let mut array = JsonArray::new();
        assert_eq!(JsonArray::new().take(), b"[]");
        array.push(&1);
        array.push(&"a");
        assert_eq!(array.take(), br#"[1,"a"]"#);
    }

    #[test]
    fn a_tree_is_written_in_the_order_of_a_walk() {
        let mut tree = JsonTree::new();
        assert_eq!(JsonTree::new().take(), b"[]");
        for (depth, name) in
            [(0, "a"), (1, "b"), (2, "c"), (2, "d"), (1, "e"), (0, "f"), (1, "g"), (0, "h")]
        {
            tree.push(depth, &json!({ "n": name }));
        }
        let text = tree.take();
        let found: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        let wanted = json!([
            { "n": "a", "children": [
                { "n": "b", "children": [{ "n": "c" }, { "n": "d" }] },
                { "n": "e" },
            ] },
            { "n": "f", "children": [{ "n": "g" }] },
            { "n": "h" },
        ]);
        assert_eq!(found, wanted, "{}", String::from_utf8_lossy(&text));
    }
}
