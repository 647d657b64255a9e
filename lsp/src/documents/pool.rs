//! Mailboxes of documents, and the threads that run their actors.
//!
//! *Law.* An actor runs on one thread at a time and handles messages in the order in which they
//! were posted. An idle actor has no thread.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::host;

/// The receiver of a mailbox.
pub(super) trait Actor: Send + Sized + 'static {
    type Message: Send;

    /// Handles messages and jobs until the actor is idle, or until no time is left
    /// ([`host::has_time`]). Returns `None` after the last message.
    fn run(self, messages: &Messages<Self>) -> Option<Self>;

    /// True if the actor has work other than messages.
    fn is_busy(&self) -> bool {
        false
    }
}

/// A shared mailbox.
pub(super) type Messages<A> = Arc<Mailbox<A>>;

/// The messages of an actor, and the actor while it is idle.
pub(super) struct Mailbox<A: Actor>(Mutex<MailboxContent<A>>);

struct MailboxContent<A: Actor> {
    messages: VecDeque<A::Message>,
    state: ActorState<A>,
}

enum ActorState<A> {
    Idle(Box<A>),
    Running,
    Ended,
}

impl<A: Actor> Mailbox<A> {
    /// Opens the mailbox of an actor, which `new` creates on its first thread.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub(super) fn open(
        new: impl FnOnce(&Messages<A>) -> A + Send + 'static,
    ) -> io::Result<Messages<A>> {
        let inside = MailboxContent { messages: VecDeque::new(), state: ActorState::Running };
        let mailbox = Arc::new(Self(Mutex::new(inside)));
        let of = mailbox.clone();
        host::run_document(Box::new(move || of.run_here(|| new(&of))))?;
        Ok(mailbox)
    }

    /// Sends a message. A message to an ended actor is dropped.
    pub(super) fn post(self: &Arc<Self>, message: A::Message) {
        let mut inside = self.lock();
        if matches!(inside.state, ActorState::Ended) {
            // Dropping the message may send an answer, which needs the lock.
            drop(inside);
            return;
        }
        inside.messages.push_back(message);
        if let ActorState::Idle(actor) = std::mem::replace(&mut inside.state, ActorState::Running) {
            drop(inside);
            if self.clone().resume(*actor).is_err() {
                self.close();
            }
        }
    }

    /// The next message.
    pub(super) fn take(&self) -> Option<A::Message> {
        self.lock().messages.pop_front()
    }

    /// Runs the actor on a thread until it is idle.
    fn resume(self: Arc<Self>, actor: A) -> io::Result<()> {
        host::run_document(Box::new(move || self.run_here(|| actor)))
    }

    /// Runs the actor on this thread until it is idle. A panic ends it.
    fn run_here(self: &Arc<Self>, actor: impl FnOnce() -> A) {
        let run = || {
            let mut actor = actor();
            while let Some(it) = actor.run(self) {
                let mut inside = self.lock();
                if inside.messages.is_empty() && !it.is_busy() {
                    inside.state = ActorState::Idle(Box::new(it));
                    return true;
                }
                if !host::has_time() {
                    drop(inside);
                    // The messages of the client are handled first.
                    return self.clone().resume(it).is_ok();
                }
                actor = it;
            }
            false
        };
        if !catch_unwind(AssertUnwindSafe(run)).unwrap_or(false) {
            self.close();
        }
    }

    /// Marks the actor as ended and drops its messages, which wakes the tasks that wait for
    /// answers.
    fn close(&self) {
        let mut inside = self.lock();
        inside.state = ActorState::Ended;
        let lost = std::mem::take(&mut inside.messages);
        drop(inside);
        drop(lost);
    }

    fn lock(&self) -> MutexGuard<'_, MailboxContent<A>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use super::*;

    /// Reports received messages and their threads.
    struct Teller(usize, Sender<(usize, usize, thread::ThreadId)>);

    impl Actor for Teller {
        type Message = usize;

        fn run(self, messages: &Messages<Self>) -> Option<Self> {
            while let Some(it) = messages.take() {
                assert_ne!(it, usize::MAX, "what an actor panics at");
                self.1.send((self.0, it, thread::current().id())).expect("somebody listens");
            }
            Some(self)
        }
    }

    #[test]
    fn a_thousand_actors_share_few_threads_and_keep_their_order() {
        let (n_actors, n_messages) = (1000, 20);
        let (sender, receiver) = channel();
        let open = |it: usize| {
            let sender = sender.clone();
            Mailbox::open(move |_| Teller(it, sender)).expect("a thread")
        };
        let all: Vec<Messages<Teller>> = (0..n_actors).map(open).collect();
        for message in 0..n_messages {
            for it in &all {
                it.post(message);
            }
        }
        let (mut next, mut threads) = (vec![0; n_actors], HashSet::new());
        for (actor, message, on) in receiver.iter().take(n_actors * n_messages) {
            assert_eq!(message, next[actor], "in order");
            next[actor] += 1;
            threads.insert(on);
        }
        assert_eq!(next, vec![n_messages; n_actors]);
        assert!(threads.len() <= host::MAX_THREADS, "{} threads", threads.len());
    }

    #[test]
    fn an_actor_that_panics_is_gone_with_its_messages() {
        let (sender, receiver) = channel();
        let mailbox = Mailbox::open(move |_| Teller(0, sender)).expect("a thread");
        mailbox.post(1);
        assert_eq!(receiver.recv().map(|it| it.1), Ok(1));
        mailbox.post(usize::MAX);
        // The actor has dropped its sender, and its thread is about to close the mailbox.
        assert!(receiver.recv().is_err());
        while !matches!(mailbox.lock().state, ActorState::Ended) {
            thread::yield_now();
        }
        mailbox.post(2);
        assert!(mailbox.lock().messages.is_empty());
    }
}
