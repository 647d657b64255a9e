//! Background search for repairs. It starts when a document with a diagnostic that the optimizer
//! repairs was not edited for a while. Its result makes the titles of actions and lenses exact, and
//! gives a fix on save its placement.
//!
//! *Law.* A search belongs to one version and its settings. An edit or a change of the settings
//! stops it and discards its solutions.

use std::sync::Arc;
use std::time::Duration;

use noisy_analyses::{Diagnostic, Document};
use noisy_syntax::Op;
use ropey::Rope;
use tokio::task::AbortHandle;

use super::pool::{Actor, Messages};
use crate::connection::Connection;
use crate::connection::settings::EffectiveSettings;
use crate::features::find::cursor;
use crate::features::write::action::{ActionScope, RepairRequest, may_be_repaired};
use crate::features::write::refactor;
use crate::host;
use crate::optimizer::{self, Solution, StopOnDrop};
use crate::proto::view::DocumentView;

/// Time without an edit before a background search starts.
const IDLE_TIME: Duration = Duration::from_millis(300);
/// Maximum size of a text, in bytes, for a background search.
const MAX_TEXT_BYTES: usize = 2 << 20;
/// Maximum number of functions over the budget that are searched one by one. With more of them,
/// only the file as a whole is searched.
const MAX_FUNCTIONS: usize = 16;

/// A running search. Its drop stops it.
#[derive(Debug)]
pub(crate) struct PlacementSearch {
    /// True if the search is for rewritings. It follows the search for placements.
    pub is_rewriting: bool,
    task: AbortHandle,
    /// Stops the solver, which runs on a thread of its own.
    _stop: StopOnDrop,
}

impl PlacementSearch {
    /// Starts a search. Its solutions are delivered unless the search is dropped before.
    pub(crate) fn start(
        connection: &Arc<Connection>,
        settings: &Arc<EffectiveSettings>,
        text: Rope,
        repairs: Vec<RepairRequest>,
        deliver: impl FnOnce(Vec<Solution>) + Send + 'static,
    ) -> Self {
        let stop = StopOnDrop::default();
        let rewrites = repairs.iter().any(|it| it.rewrites);
        let options = optimizer::options(settings, &stop);
        let (solving, settings) = (connection.clone(), settings.clone());
        let task = connection.spawn(async move {
            let solved = optimizer::run(&solving, &settings, text, repairs, options, None).await;
            // Only a request of the user reports errors of the optimizer.
            deliver(solved.unwrap_or_default());
        });
        Self { is_rewriting: rewrites, task: task.abort_handle(), _stop: stop }
    }
}

impl Drop for PlacementSearch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends a message after the time without edits that a background search needs.
pub(super) fn post_when_idle<A: Actor>(
    connection: &Connection,
    mailbox: &Messages<A>,
    message: A::Message,
) where
    A::Message: 'static,
{
    let mailbox = mailbox.clone();
    connection.spawn(async move {
        host::sleep(IDLE_TIME).await;
        mailbox.post(message);
    });
}

/// Returns the repairs to search for, unless the solutions of this version are known. The whole
/// file comes first, because its search caches the placements of the functions. Diagnostics that
/// are repaired without the optimizer start a search for a save only, because their repair takes no
/// time.
pub(crate) fn placement_requests(
    view: &DocumentView<'_>,
    for_save: bool,
) -> Option<Vec<RepairRequest>> {
    if view.cache.solutions.is_some() || view.text().len_bytes() > MAX_TEXT_BYTES {
        return None;
    }
    let diagnostics = view.diagnostics();
    let is_worth = |it: &Diagnostic| it.repair.is_by_optimizer() || for_save && may_be_repaired(it);
    if !diagnostics.iter().any(is_worth) {
        return None;
    }
    let mut out = vec![RepairRequest::of(ActionScope::File)];
    let functions = functions_to_repair(view.document, &diagnostics, |_| true);
    out.extend(functions.into_iter().map(RepairRequest::of));
    Some(out)
}

/// Returns the rewritings to search for after the placements are known: those of functions over the
/// budget, if lenses show their savings.
pub(crate) fn rewriting_requests(view: &DocumentView<'_>) -> Vec<RepairRequest> {
    let editor = &view.settings.editor;
    let is_shown =
        editor.searches_in_background && editor.shows_lenses && editor.shows_rewriting_lenses;
    if !is_shown || view.document.is_heir_program() || view.text().len_bytes() > MAX_TEXT_BYTES {
        return Vec::new();
    }
    let diagnostics = view.diagnostics();
    let is_sound = |it| !refactor::has_error(view.document, it, &diagnostics);
    let functions = functions_to_repair(view.document, &diagnostics, is_sound);
    functions.into_iter().map(RepairRequest::rewriting).collect()
}

/// The functions with diagnostics that the optimizer repairs; none if there are too many.
fn functions_to_repair(
    document: &Document,
    diagnostics: &[Diagnostic],
    is_wanted: impl Fn(Op) -> bool,
) -> Vec<ActionScope> {
    let mut out = Vec::new();
    for it in diagnostics.iter().filter(|it| it.repair.is_by_optimizer()) {
        let function = cursor::function_at(document.ir(), it.range.start);
        let Some(function) = function.filter(|&it| is_wanted(it)) else { continue };
        let start = document.ir().range(function).start;
        let scope = ActionScope::Function(start, document.function_name(function));
        if !out.contains(&scope) {
            out.push(scope);
        }
        if out.len() > MAX_FUNCTIONS {
            return Vec::new();
        }
    }
    out
}
