//! How the server is, for a status item: `experimental/serverStatus`, as rust-analyzer names it, for clients that ask for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::session::Session;

/// What is going on.
#[derive(Debug, Default)]
pub(crate) struct Status {
    /// How many runs of the optimizer.
    runs: AtomicUsize,
}

/// A run of the optimizer; dropped when it is over.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Session>);

impl Status {
    /// A run of the optimizer begins.
    pub(crate) fn busy(&self, session: &Arc<Session>) -> Busy {
        if self.runs.fetch_add(1, Ordering::SeqCst) == 0 {
            say(session);
        }
        Busy(session.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.0.status.runs.fetch_sub(1, Ordering::SeqCst) == 1 {
            say(&self.0);
        }
    }
}

/// Says how the server is.
pub(crate) fn say(session: &Session) {
    if !session.abilities().server_status {
        return;
    }
    let is_busy = session.status.runs.load(Ordering::SeqCst) > 0;
    let problem = session.problem();
    let params = json!({
        "health": if problem.is_some() { "warning" } else { "ok" },
        "quiescent": !is_busy,
        "message": problem.or_else(|| is_busy.then(|| "looking for the optimal placement".to_owned())),
    });
    session.outbox.notify("experimental/serverStatus", params);
}
