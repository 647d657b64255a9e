//! Threads of the system, and the timers of the runtime.
//!
//! *Cost.* Idle threads of documents wait for a while, so that a message reaches a thread as fast
//! as with a dedicated thread for each document. There are at most [`MAX_THREADS`] threads, and
//! they end after [`THREAD_IDLE_TIME`] without work.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
pub(crate) use tokio::time::{sleep, timeout};

/// Stack size of a thread, in bytes. Deeply nested programs are walked recursively, and unused
/// stack costs no memory.
const STACK_BYTES: usize = 64 << 20;

/// Maximum number of documents that work at the same time; others wait.
pub(crate) const MAX_THREADS: usize = 32;

/// Time after which an idle thread ends.
const THREAD_IDLE_TIME: Duration = Duration::from_secs(5);

/// The threads of all documents.
static THREADS: ThreadPool = ThreadPool::new();

type Task = Box<dyn FnOnce() + Send>;

/// Threads that are started when there is work.
struct ThreadPool {
    state: Mutex<PoolState>,
    work_available: Condvar,
}

struct PoolState {
    waiting: VecDeque<Task>,
    n_threads: usize,
    n_idle: usize,
}

impl ThreadPool {
    const fn new() -> Self {
        let state = PoolState { waiting: VecDeque::new(), n_threads: 0, n_idle: 0 };
        Self { state: Mutex::new(state), work_available: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs work on a thread.
    ///
    /// # Errors
    ///
    /// If there is no thread and none can be started. The work is then dropped.
    fn run(&'static self, work: Task) -> io::Result<()> {
        let mut state = self.lock();
        state.waiting.push_back(work);
        if state.n_idle >= state.waiting.len() {
            self.work_available.notify_one();
            return Ok(());
        }
        if state.n_threads >= MAX_THREADS {
            return Ok(());
        }
        state.n_threads += 1;
        drop(state);
        let builder = thread::Builder::new().name("document".to_owned()).stack_size(STACK_BYTES);
        let Err(error) = builder.spawn(move || self.run_thread()) else { return Ok(()) };
        let mut state = self.lock();
        state.n_threads -= 1;
        if state.n_threads > 0 {
            return Ok(());
        }
        let lost = std::mem::take(&mut state.waiting);
        drop(state);
        drop(lost);
        Err(error)
    }

    /// The loop of a thread. Returns after [`THREAD_IDLE_TIME`] without work.
    fn run_thread(&self) {
        let mut state = self.lock();
        loop {
            while let Some(work) = state.waiting.pop_front() {
                drop(state);
                work();
                state = self.lock();
            }
            state.n_idle += 1;
            let waited = self
                .work_available
                .wait_timeout_while(state, THREAD_IDLE_TIME, |it| it.waiting.is_empty());
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.n_idle -= 1;
            if state.waiting.is_empty() {
                state.n_threads -= 1;
                return;
            }
        }
    }
}

/// Runs work of a document on a thread.
///
/// # Errors
///
/// If no thread can be started.
pub(crate) fn run_document(work: Task) -> io::Result<()> {
    THREADS.run(work)
}

/// Runs a task.
pub(crate) fn spawn(
    runtime: &Handle,
    task: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    runtime.spawn(task)
}

/// Runs work on its own thread with a large stack. The thread is started when this returns. The
/// future resolves to the result, or to `None` if the work panicked.
///
/// # Errors
///
/// If no thread can be started.
pub(crate) fn apart<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
    name: &str,
    work: F,
) -> io::Result<impl Future<Output = Option<T>> + Send + use<T, F>> {
    let (sender, receiver) = oneshot::channel();
    let work = move || {
        // A cancelled request has no receiver.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)).ok());
    };
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work)?;
    Ok(async { receiver.await.ok().flatten() })
}

/// Runs short work on a thread for blocking work; `None` if it panicked.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

/// Drops a large value on another thread.
pub(crate) fn discard(runtime: &Handle, it: impl Send + 'static) {
    runtime.spawn_blocking(move || drop(it));
}
