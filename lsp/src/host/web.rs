//! A single thread without timers. Tasks run in the turns of `crate::server::web`, which tells the
//! page when the next timer is due. Work for other threads runs at once, except for searches
//! ([`solve_in_worker`]), which run in another worker.

use std::collections::BTreeSet;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Maximum time of a turn. After each turn, the page can deliver messages.
pub(crate) const TURN: Duration = Duration::from_millis(8);

/// Maximum delay of the timers of the runtime.
const LATE: Duration = Duration::from_millis(2);

static STATE: Mutex<Option<PageState>> = Mutex::new(None);

/// True if a task has run since [`begin_round`].
static IS_BUSY: AtomicBool = AtomicBool::new(false);

static LAST_SEARCH: AtomicU32 = AtomicU32::new(0);

#[derive(Default)]
struct PageState {
    turn_began: Option<Instant>,
    timers: BTreeSet<Instant>,
    orders: Vec<Order>,
    searches: FxHashMap<u32, Waiting>,
}

/// A command to the page.
#[derive(Debug)]
pub(crate) enum Order {
    /// Start a search in another worker: its number, and its input.
    Search(u32, Vec<u8>),
    /// End the search with this number.
    End(u32),
}

struct Waiting {
    answer: oneshot::Sender<Vec<u8>>,
    report: Box<dyn Fn(String) + Send>,
}

fn with<T>(act: impl FnOnce(&mut PageState) -> T) -> T {
    let mut state: MutexGuard<'_, _> = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    act(state.get_or_insert_default())
}

/// Begins a turn.
pub(crate) fn begin_turn() {
    with(|it| it.turn_began = Some(Instant::now()));
}

/// True until the turn has used up its time.
pub(crate) fn has_time() -> bool {
    with(|it| it.turn_began.is_none_or(|it| it.elapsed() < TURN))
}

/// Begins a round of tasks; returns true if a task ran in the previous round.
pub(crate) fn begin_round() -> bool {
    IS_BUSY.swap(false, Ordering::Relaxed)
}

/// Time until the next timer is due.
pub(crate) fn next_timer() -> Option<Duration> {
    let now = Instant::now();
    with(|it| {
        it.timers.retain(|at| *at + LATE > now);
        it.timers.first().map(|at| *at + LATE - now)
    })
}

/// Removes and returns the commands given so far.
pub(crate) fn orders() -> Vec<Order> {
    with(|it| std::mem::take(&mut it.orders))
}

fn set_timer(time: Duration) {
    if let Some(at) = Instant::now().checked_add(time) {
        with(|it| it.timers.insert(at));
    }
}

pub(crate) fn sleep(time: Duration) -> tokio::time::Sleep {
    set_timer(time);
    tokio::time::sleep(time)
}

pub(crate) fn timeout<F: Future>(time: Duration, future: F) -> tokio::time::Timeout<F> {
    set_timer(time);
    tokio::time::timeout(time, future)
}

/// A task that sets [`IS_BUSY`] when it runs.
struct Noted<F>(Pin<Box<F>>);

impl<F: Future<Output = ()>> Future for Noted<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        IS_BUSY.store(true, Ordering::Relaxed);
        self.0.as_mut().poll(context)
    }
}

/// Runs a task.
pub(crate) fn spawn(
    runtime: &Handle,
    task: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    runtime.spawn(Noted(Box::pin(task)))
}

/// Runs work of a document in a later task.
pub(crate) fn run_document(work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    spawn(&Handle::current(), async move { work() });
    Ok(())
}

/// Runs work at once.
pub(crate) fn apart<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
    _name: &str,
    work: F,
) -> io::Result<impl Future<Output = Option<T>> + Send + use<T, F>> {
    Ok(std::future::ready(Some(work())))
}

/// Runs work at once.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    Some(work())
}

/// Drops a value.
pub(crate) fn discard(_: &Handle, it: impl Send + 'static) {
    drop(it);
}

/// A search in another worker. Its drop ends the search.
struct Search(u32);

impl Drop for Search {
    fn drop(&mut self) {
        with(|it| {
            if it.searches.remove(&self.0).is_some() {
                it.orders.push(Order::End(self.0));
            }
        });
    }
}

/// Runs a search in another worker (`crate::server::web::search`), and passes its reports to
/// `report`. `None` if the worker ended without an answer.
pub(crate) async fn solve_in_worker(
    wanted: Vec<u8>,
    report: Box<dyn Fn(String) + Send>,
) -> Option<Vec<u8>> {
    let number = LAST_SEARCH.fetch_add(1, Ordering::Relaxed) + 1;
    let (answer, receiver) = oneshot::channel();
    with(|it| {
        it.searches.insert(number, Waiting { answer, report });
        it.orders.push(Order::Search(number, wanted));
    });
    let _search = Search(number);
    receiver.await.ok()
}

/// Delivers a report about a search.
pub(crate) fn reported(number: u32, report: String) {
    with(|it| {
        if let Some(it) = it.searches.get(&number) {
            (it.report)(report);
        }
    });
}

/// Delivers the answer of a search. An empty answer means that its worker has ended.
pub(crate) fn searched(number: u32, answer: &[u8]) {
    let waiting = with(|it| it.searches.remove(&number));
    if let Some(waiting) = waiting.filter(|_| !answer.is_empty()) {
        // A cancelled request has no receiver.
        let _ = waiting.answer.send(answer.to_vec());
    }
}
