//! The health and activity of the server: `experimental/serverStatus`, the notification of
//! rust-analyzer, for clients that announce it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::Connection;

/// The activity of the server.
#[derive(Debug, Default)]
pub(crate) struct Status {
    /// Number of running optimizers.
    n_runs: AtomicUsize,
}

/// A guard of a running optimizer. Its drop marks the end of the run.
#[derive(Debug)]
pub(crate) struct RunGuard(Arc<Connection>);

/// Registers a running optimizer until the guard is dropped.
pub(crate) fn register_run(connection: &Arc<Connection>) -> RunGuard {
    if connection.status.n_runs.fetch_add(1, Ordering::SeqCst) == 0 {
        send(connection);
    }
    RunGuard(connection.clone())
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        if self.0.status.n_runs.fetch_sub(1, Ordering::SeqCst) == 1 {
            send(&self.0);
        }
    }
}

/// Sends the status to the client.
pub(crate) fn send(connection: &Connection) {
    if !connection.capabilities().server_status {
        return;
    }
    let is_busy = connection.status.n_runs.load(Ordering::SeqCst) > 0;
    let problem = connection.settings_problems.summary();
    let params = json!({
        "health": if problem.is_some() { "warning" } else { "ok" },
        "quiescent": !is_busy,
        "message": problem.or_else(|| is_busy.then(|| "looking for the optimal placement".to_owned())),
    });
    connection.outbox.notify("experimental/serverStatus", params);
}
