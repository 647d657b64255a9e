//! The optimizer in the background: when a document with noise over the budget has not been edited
//! for a while, a search begins. Titles of actions and lenses then show its result, and a fix on
//! save has its placement ready.
//!
//! *Law.* A search belongs to one version. An edit stops it, and its solutions are applied to that
//! version only.

use std::sync::Arc;
use std::time::Duration;

use ropey::Rope;
use tokio::task::AbortHandle;

use super::pool::{Actor, Messages};
use crate::connection::Connection;
use crate::connection::settings::Effective;
use crate::features::action::{Placement, Scope, is_placeable};
use crate::features::cursor;
use crate::optimizer::{self, Solution, StopOnDrop};
use crate::proto::view::View;

/// Time without edits before a search in the background.
const STILL: Duration = Duration::from_millis(300);
/// Maximum size of a text, in bytes, for a search in the background.
const MAX_BACKGROUND: usize = 2 << 20;
/// With more functions over the budget than this, only the file as a whole is searched in the
/// background.
const MAX_FUNCTIONS: usize = 16;

/// A running search; dropping it stops it.
#[derive(Debug)]
pub(crate) struct Search {
    task: AbortHandle,
    /// Stops the solver, which runs on a thread of its own.
    _stop: StopOnDrop,
}

impl Search {
    /// Starts a search; its solutions are delivered unless it is dropped before.
    pub(crate) fn start(
        connection: &Arc<Connection>,
        settings: &Arc<Effective>,
        text: Rope,
        placements: Vec<Placement>,
        deliver: impl FnOnce(Vec<Solution>) + Send + 'static,
    ) -> Self {
        let stop = StopOnDrop::default();
        let options = optimizer::options(settings, &stop);
        let (solving, settings) = (connection.clone(), settings.clone());
        let task = connection.spawn(async move {
            let solved = optimizer::run(&solving, &settings, text, placements, options).await;
            // A request for the placement would report the error; here it has no receiver.
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

/// Sends a message once the document may have been still for long enough.
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

/// Placements to search for: the whole file first, which also gives those of its functions.
pub(crate) fn worth_solving(view: &View<'_>) -> Option<Vec<Placement>> {
    let is_known = view.cache.solutions.as_ref().is_some_and(|it| it.version == view.version);
    if is_known || view.text().len_bytes() > MAX_BACKGROUND {
        return None;
    }
    let mut over = view.diagnostics();
    over.retain(|it| is_placeable(view.document, it));
    if over.is_empty() {
        return None;
    }
    let mut out = vec![Placement { scope: Scope::File, anew: false }];
    for it in over {
        let Some(function) = cursor::function_at(view.document.ir(), it.range.start) else {
            continue;
        };
        let start = view.document.ir().range(function).start;
        let scope = Scope::Function(start, view.document.function_name(function));
        let placement = Placement { scope, anew: false };
        if !out.contains(&placement) {
            out.push(placement);
        }
        if out.len() > 1 + MAX_FUNCTIONS {
            out.truncate(1);
            break;
        }
    }
    Some(out)
}
