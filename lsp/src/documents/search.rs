//! Repairs in the background: when a document with a diagnostic that the optimizer repairs has not
//! been edited for a while, a search begins. Then the titles of actions and lenses are exact, and a
//! fix on save has its placement ready.
//!
//! *Law.* A search is about one version. An edit stops it, and its solutions are applied to that
//! version only.

use std::sync::Arc;
use std::time::Duration;

use noisy_analyses::{Diagnostic, Document};
use noisy_syntax::Op;
use ropey::Rope;
use tokio::task::AbortHandle;

use super::pool::{Actor, Messages};
use crate::connection::Connection;
use crate::connection::settings::Effective;
use crate::features::find::cursor;
use crate::features::write::action::{RepairRequest, Scope, may_be_repaired};
use crate::features::write::refactor;
use crate::host;
use crate::optimizer::{self, Solution, StopOnDrop};
use crate::proto::view::View;

/// Time without an edit before a document is solved in the background.
const STILL: Duration = Duration::from_millis(300);
/// Maximum size of a text, in bytes, for a search in the background.
const MAX_BACKGROUND: usize = 2 << 20;
/// With more functions over the budget than this, only the file as a whole is solved in the
/// background.
const MAX_FUNCTIONS: usize = 16;

/// A running search; dropping it stops it.
#[derive(Debug)]
pub(crate) struct Search {
    /// True if it is for rewritings, which comes after that for placements.
    pub rewrites: bool,
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
        repairs: Vec<RepairRequest>,
        deliver: impl FnOnce(Vec<Solution>) + Send + 'static,
    ) -> Self {
        let stop = StopOnDrop::default();
        let rewrites = repairs.iter().any(|it| it.rewrites);
        let options = optimizer::options(settings, &stop);
        let (solving, settings) = (connection.clone(), settings.clone());
        let task = connection.spawn(async move {
            let solved = optimizer::run(&solving, &settings, text, repairs, options, None).await;
            // Whoever asks for the placement gets the error; here nobody does.
            deliver(solved.unwrap_or_default());
        });
        Self { rewrites, task: task.abort_handle(), _stop: stop }
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
        host::sleep(STILL).await;
        mailbox.post(message);
    });
}

/// Returns the repairs worth searching for in a document without solutions: the file first, whose
/// functions are then cached. Repairs that need no optimizer are made for a save only: they take no
/// time.
pub(crate) fn worth_solving(view: &View<'_>, for_save: bool) -> Option<Vec<RepairRequest>> {
    let is_known = view.cache.solutions.as_ref().is_some_and(|it| it.version == view.version);
    if is_known || view.text().len_bytes() > MAX_BACKGROUND {
        return None;
    }
    let diagnostics = view.diagnostics();
    let is_worth = |it: &Diagnostic| it.repair.is_placed() || for_save && may_be_repaired(it);
    if !diagnostics.iter().any(is_worth) {
        return None;
    }
    let mut out = vec![RepairRequest::of(Scope::File)];
    let functions = functions(view.document, &diagnostics, |_| true);
    out.extend(functions.into_iter().map(RepairRequest::of));
    Some(out)
}

/// Returns the rewritings worth searching for in a document whose placements are known: those of
/// functions over the budget, if lenses show what they save.
pub(crate) fn worth_rewriting(view: &View<'_>) -> Vec<RepairRequest> {
    let editor = &view.settings.editor;
    let is_shown = editor.background && editor.lenses && editor.rewriting_lenses;
    if !is_shown || view.document.is_of_heir() || view.text().len_bytes() > MAX_BACKGROUND {
        return Vec::new();
    }
    let diagnostics = view.diagnostics();
    let is_sound = |it| !refactor::has_error(view.document, it, &diagnostics);
    let functions = functions(view.document, &diagnostics, is_sound);
    functions.into_iter().map(RepairRequest::rewriting).collect()
}

/// The functions that the optimizer repairs; none if there are too many.
fn functions(
    document: &Document,
    diagnostics: &[Diagnostic],
    is_wanted: impl Fn(Op) -> bool,
) -> Vec<Scope> {
    let mut out = Vec::new();
    for it in diagnostics.iter().filter(|it| it.repair.is_placed()) {
        let function = cursor::function_at(document.ir(), it.range.start);
        let Some(function) = function.filter(|&it| is_wanted(it)) else { continue };
        let start = document.ir().range(function).start;
        let scope = Scope::Function(start, document.function_name(function));
        if !out.contains(&scope) {
            out.push(scope);
        }
        if out.len() > MAX_FUNCTIONS {
            return Vec::new();
        }
    }
    out
}
