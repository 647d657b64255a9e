//! The server of a web worker: the page passes messages and gives turns.
//!
//! *Law.* It is the server of a program: the same messages have the same answers. Work on another
//! thread is done in the turn, in steps as ever; searches for placements go to another worker.

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
    /// Have another worker [`search`]; the number is of the search.
    Search(u32, Vec<u8>),
    /// End a search: its answer is no longer needed.
    End(u32),
    /// The client has ended the server.
    Exit(u8),
}

/// A server.
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
    /// If the runtime cannot be made, which needs nothing from outside.
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
    /// Takes the JSON text of a message.
    pub fn receive(&mut self, message: &[u8]) {
        let _inside = self.runtime.enter();
        let incoming = transport::parse(message, self.dispatch.outbox.spellings());
        self.exit_code = self.dispatch.take(incoming).or(self.exit_code);
    }

    /// Takes the answer of a search, or a report about it. An empty answer says that its worker has
    /// ended.
    pub fn searched(&mut self, number: u32, is_report: bool, answer: &[u8]) {
        if is_report {
            web::reported(number, String::from_utf8_lossy(answer).into_owned());
        } else {
            web::searched(number, answer);
        }
    }

    /// Works until there is nothing to do, or for a moment. Returns the time after which the next
    /// turn is due, if there is no message before.
    pub fn turn(&mut self) -> Option<Duration> {
        /// Timers fire at the end of a round, and their tasks run in the next.
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

    /// Takes the events of the turns so far.
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

/// Runs a search for a server of another worker, and passes its progress to `report`. Returns the
/// answer for [`Server::searched`].
pub fn search(wanted: &[u8], report: impl Fn(String) + Send + Sync + 'static) -> Vec<u8> {
    optimizer::search(wanted, report)
}
