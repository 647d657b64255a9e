//! The optimizer in the background: when a document with noise over the budget has not been edited for a while, a search begins. Then the
//! titles of actions and lenses can say what they will do, and a fix on save has its placement ready.
//!
//! *Law.* A search is about one version. An edit stops it, and its solutions are applied to that version only.

use std::sync::Arc;
use std::time::Duration;

use noisy_analyses::Diagnostic;
use ropey::Rope;
use tokio::task::AbortHandle;

use super::pool::{Actor, Messages};
use crate::connection::Connection;
use crate::connection::settings::Effective;
use crate::features::action::{RepairRequest, Scope, is_repaired};
use crate::features::cursor;
use crate::optimizer::{self, Solution, StopOnDrop};
use crate::proto::view::View;

/// How long a document must stand still before it is solved in the background.
const STILL: Duration = Duration::from_millis(300);
/// Longer texts, in bytes, are solved on request only.
const MAX_BACKGROUND: usize = 2 << 20;
/// With more functions over the budget than this, only the file as a whole is solved in the background.
const MAX_FUNCTIONS: usize = 16;

/// A search that is under way; dropped, it stops.
#[derive(Debug)]
pub(crate) struct Search {
    task: AbortHandle,
    /// Tells the solver to stop, which runs on a thread of its own.
    _stop: StopOnDrop,
}

impl Search {
    /// Starts a search; its solutions are delivered unless it is dropped before.
    pub(crate) fn start(
        connection: &Arc<Connection>,
        settings: &Arc<Effective>,
        text: Rope,
        repairs: Vec<RepairRequest>,
        deliver: impl FnOnce(Vec<Solution>) + Send + 'static,
    ) -> Self {
        let stop = StopOnDrop::default();
        let options = optimizer::options(settings, &stop);
        let (solving, settings) = (connection.clone(), settings.clone());
        let task = connection.spawn(async move {
            let solved = optimizer::run(&solving, &settings, text, repairs, options).await;
            // Whoever asks for the placement gets the error; here nobody does.
            deliver(solved.unwrap_or_default());
        });
        Self { task: task.abort_handle(), _stop: stop }
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends a message once a document may have stood still.
pub(super) fn when_still<A: Actor>(
    connection: &Connection,
    mailbox: &Messages<A>,
    message: A::Message,
) where
    A::Message: 'static,
{
    let mailbox = mailbox.clone();
    connection.spawn(async move {
        tokio::time::sleep(STILL).await;
        mailbox.post(message);
    });
}

/// What is worth solving in a document that was not solved yet: the file first, whose functions are then known.
/// Repairs that need no optimizer are made for a save only: they take no time.
pub(crate) fn worth_solving(view: &View<'_>, for_save: bool) -> Option<Vec<RepairRequest>> {
    let is_known = view.cache.solutions.as_ref().is_some_and(|it| it.version == view.version);
    if is_known || view.text().len_bytes() > MAX_BACKGROUND {
        return None;
    }
    let diagnostics = view.diagnostics();
    let is_worth = |it: &Diagnostic| it.repair.is_placed() || for_save && is_repaired(it);
    if !diagnostics.iter().any(is_worth) {
        return None;
    }
    let mut out = vec![RepairRequest::of(Scope::File)];
    for it in diagnostics.iter().filter(|it| it.repair.is_placed()) {
        let Some(function) = cursor::function_at(view.document.ir(), it.range.start) else {
            continue;
        };
        let start = view.document.ir().range(function).start;
        let scope = Scope::Function(start, view.document.function_name(function));
        let repair = RepairRequest::of(scope);
        if !out.contains(&repair) {
            out.push(repair);
        }
        if out.len() > 1 + MAX_FUNCTIONS {
            out.truncate(1);
            break;
        }
    }
    Some(out)
}
