//! The server of a web worker. The page passes messages to it and runs its turns.
//!
//! *Law.* It answers each message as the server of a program does. Work for other threads runs in
//! the turn, in steps. Searches for placements run in another worker.

use std::time::Duration;

use tokio::runtime::Runtime;

use super::dispatch::Dispatch;
use crate::host::web::{self, Order};
use crate::optimizer;
use crate::wire::transport;

/// An event for the page.
#[derive(Debug)]
pub enum Event {
    /// The JSON text of a message to the client.
    Message(Vec<u8>),
    /// Start a [`search`] in another worker: its number, and its input.
    Search(u32, Vec<u8>),
    /// End the search with this number, because its answer is no longer needed.
    End(u32),
    /// The client has ended the server.
    Exit(u8),
}

/// The server of a web worker.
pub struct Server {
    runtime: Runtime,
    dispatch: Dispatch,
    exit_code: Option<u8>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("exit_code", &self.exit_code).finish_non_exhaustive()
    }
}

impl Default for Server {
    /// Starts a server.
    ///
    /// # Panics
    ///
    /// If the runtime cannot be created. Its creation needs no external resource.
    fn default() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
        let dispatch = {
            let _inside = runtime.enter();
            Dispatch::new(runtime.handle())
        };
        Self { runtime, dispatch, exit_code: None }
    }
}

impl Server {
    /// Handles the JSON text of a message.
    pub fn receive(&mut self, message: &[u8]) {
        let _inside = self.runtime.enter();
        let incoming = transport::parse(message, self.dispatch.outbox.spellings());
        self.exit_code = self.dispatch.take(incoming).or(self.exit_code);
    }

    /// Handles the answer of a search, or a report about it. An empty answer means that the worker
    /// has ended.
    pub fn searched(&mut self, number: u32, is_report: bool, answer: &[u8]) {
        if is_report {
            web::reported(number, String::from_utf8_lossy(answer).into_owned());
        } else {
            web::searched(number, answer);
        }
    }

    /// Works until no work is left, or until the time of a turn is used up. Returns the time after
    /// which the next turn is due, unless a message arrives before.
    pub fn turn(&mut self) -> Option<Duration> {
        /// Number of idle rounds that end a turn. Timers fire at the end of a round, and their
        /// tasks run in the next one.
        const LAST_ROUNDS: u32 = 2;
        web::begin_turn();
        web::begin_round();
        let mut n_idle = 0;
        while n_idle < LAST_ROUNDS {
            if !web::has_time() {
                return Some(Duration::ZERO);
            }
            self.runtime.block_on(tokio::task::yield_now());
            n_idle = if web::begin_round() { 0 } else { n_idle + 1 };
        }
        web::next_timer()
    }

    /// Removes and returns the events of the turns so far.
    pub fn events(&mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(body) = self.dispatch.outbox.take() {
            all.push(Event::Message(body.to_vec()));
        }
        all.extend(web::orders().into_iter().map(|it| match it {
            Order::Search(number, wanted) => Event::Search(number, wanted),
            Order::End(number) => Event::End(number),
        }));
        all.extend(self.exit_code.take().map(Event::Exit));
        all
    }
}

/// Runs a search for the server in another worker, and passes its progress to `report`. Returns the
/// answer for [`Server::searched`].
pub fn search(wanted: &[u8], report: impl Fn(String) + Send + Sync + 'static) -> Vec<u8> {
    optimizer::search(wanted, report)
}
