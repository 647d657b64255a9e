//! Progress reports (`$/progress`) for work that takes noticeable time. The user can cancel the
//! work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use serde_json::json;
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch as cell;
use tower_lsp::ls_types as lsp;

use super::Connection;
use super::client_requests::ANSWER_TIMEOUT;
use crate::host;

/// Delay before the first report. Shorter work shows no progress.
const PROGRESS_DELAY: Duration = Duration::from_millis(400);
/// Time between two reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(500);

/// Running work, by the token of its progress.
#[derive(Debug, Default)]
pub(crate) struct RunningWork {
    n_tokens: AtomicU64,
    flags: Mutex<FxHashMap<String, Arc<WorkState>>>,
}

#[derive(Debug)]
struct WorkState {
    /// Stops the work when it is set.
    stop: Arc<AtomicBool>,
    /// Becomes true when the user cancels the work.
    cancelled: cell::Sender<bool>,
    done: AtomicBool,
    /// The message of the next report.
    message: Arc<Mutex<Option<String>>>,
}

impl RunningWork {
    fn flags(&self) -> std::sync::MutexGuard<'_, FxHashMap<String, Arc<WorkState>>> {
        self.flags.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels the work with this token.
    pub(crate) fn cancel(&self, token: &lsp::NumberOrString) {
        let lsp::NumberOrString::String(token) = token else { return };
        if let Some(flags) = self.flags().get(token) {
            flags.stop.store(true, Ordering::SeqCst);
            flags.cancelled.send_replace(true);
        }
    }
}

/// A handle of running work. Its drop ends the progress.
#[derive(Debug)]
pub(crate) struct Progress {
    connection: Arc<Connection>,
    token: String,
    flags: Arc<WorkState>,
}

impl Progress {
    /// Shows progress for work, unless the work ends soon. Sets `stop` when the user cancels the
    /// work. With a time limit, the reports show the elapsed share of it.
    pub(crate) fn begin(
        connection: &Arc<Connection>,
        title: &str,
        stop: Arc<AtomicBool>,
        limit: Option<Duration>,
    ) -> Self {
        let n = connection.progress.n_tokens.fetch_add(1, Ordering::Relaxed);
        let token = format!("noisy/{n}");
        let flags = Arc::new(WorkState {
            stop,
            cancelled: cell::Sender::new(false),
            done: AtomicBool::new(false),
            message: Arc::default(),
        });
        connection.progress.flags().insert(token.clone(), flags.clone());
        let it =
            Self { connection: connection.clone(), token: token.clone(), flags: flags.clone() };
        if connection.capabilities().progress {
            let (connection, title) = (connection.clone(), title.to_owned());
            connection
                .clone()
                .spawn(async move { show(&connection, token, &title, &flags, limit).await });
        }
        it
    }

    /// Waits until the user cancels the work.
    pub(crate) async fn wait_until_cancelled(&self) {
        // `self` owns the sender, so there is no error.
        let _ = self.flags.cancelled.subscribe().wait_for(|it| *it).await;
    }

    /// Returns a function that sets the message of the next report.
    pub(crate) fn message_setter(&self) -> impl Fn(String) + Send + Sync + use<> {
        let standing = self.flags.message.clone();
        move |it| *standing.lock().unwrap_or_else(PoisonError::into_inner) = Some(it)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.flags.done.store(true, Ordering::SeqCst);
        self.connection.progress.flags().remove(&self.token);
    }
}

async fn show(
    connection: &Connection,
    token: String,
    title: &str,
    flags: &WorkState,
    limit: Option<Duration>,
) {
    let start = Instant::now();
    host::sleep(PROGRESS_DELAY).await;
    let is_done = || flags.done.load(Ordering::SeqCst);
    let Some(client) = connection.client().filter(|_| !is_done()) else { return };
    let created = client.create_work_done_progress(lsp::NumberOrString::String(token.clone()));
    if !matches!(host::timeout(ANSWER_TIMEOUT, created).await, Ok(Ok(()))) || is_done() {
        return;
    }
    let say = |value: serde_json::Value| {
        connection.outbox.notify("$/progress", json!({ "token": token, "value": value }));
    };
    say(json!({ "kind": "begin", "title": title, "cancellable": true, "percentage": 0 }));
    while !is_done() {
        host::sleep(REPORT_INTERVAL).await;
        let passed = start.elapsed().as_secs_f64();
        let mut report = json!({ "kind": "report", "cancellable": true });
        let standing = flags.message.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut words: Vec<String> = standing.into_iter().collect();
        if let Some(limit) = limit {
            let limit = limit.as_secs_f64();
            report["percentage"] = ((passed / limit.max(1e-3) * 100.0).min(100.0) as u32).into();
            words.push(format!("{passed:.0} s of at most {limit:.0} s"));
        }
        report["message"] = words.join("; ").into();
        say(report);
    }
    say(json!({ "kind": "end" }));
}
