//! The optimizer, on threads of its own over a copy of the text, so that editing goes on meanwhile. A solution carries the version of the
//! document that it is about.
//!
//! *Law.* A solution is only ever applied to the version of the text that it was made and re-analyzed for.

mod managed;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use noisy_analyses::{self as analyses, Fix, Options, Verdict};
use ropey::Rope;
use tokio::sync::{Semaphore, oneshot};

use crate::connection::settings::Effective;
use crate::connection::{Connection, status};
use crate::features::action::{Placement, Scope};
use crate::features::cursor;

/// Solving takes a core; more runs at once than this only wait for each other.
static RUNS: Semaphore = Semaphore::const_new(2);

const STACK: usize = 64 << 20;

/// What the optimizer found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// The edits that bring the noise below the budget.
    Fix(Fix),
    /// There is nothing to insert.
    Nothing,
    /// Nothing can be inserted, and why not.
    Refused(String),
}

/// The answer for a placement.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    /// What was asked for.
    pub placement: Placement,
    /// What was found.
    pub found: Found,
    /// What happened, for the user.
    pub report: String,
}

/// What was found in a version of a document.
#[derive(Debug)]
pub(crate) struct Solutions {
    /// The version.
    pub version: i32,
    /// What was found.
    pub all: Vec<Solution>,
}

/// Stops a run when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    /// The flag that it sets.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What the settings say to the optimizer.
pub(crate) fn options(settings: &Effective, stop: &StopOnDrop) -> Options {
    let placement = &settings.file.placement;
    let mut options = placement.options(placement.time_limit.duration());
    options.limits.cancel = Some(stop.flag());
    options
}

/// Solves for placements in a text, on a thread of its own; an error says why that was not possible.
pub(crate) async fn run(
    connection: &Arc<Connection>,
    settings: &Effective,
    text: Rope,
    placements: Vec<Placement>,
    options: Options,
) -> Result<Vec<Solution>, String> {
    let failed = || "the optimizer failed; please report it".to_owned();
    let _turn = RUNS.acquire().await.map_err(|_| failed())?;
    let _busy = status::busy(connection);
    let (sender, receiver) = oneshot::channel();
    let model = settings.file.model.noise().clone();
    let work = move || {
        let one = |document: &analyses::Document, placement: &Placement| {
            if options.limits.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed)) {
                return Err("cancelled".to_owned());
            }
            place(document, placement, &options)
        };
        let all = || {
            let document = analyses::Document::with_model(&text.to_string(), model);
            placements.iter().map(|it| one(&document, it)).collect()
        };
        let done: Result<Vec<Solution>, String> =
            catch_unwind(AssertUnwindSafe(all)).unwrap_or_else(|_| Err(failed()));
        // Nobody waits any more if the request was cancelled.
        let _ = sender.send(done);
    };
    std::thread::Builder::new()
        .name("solve".to_owned())
        .stack_size(STACK)
        .spawn(work)
        .map_err(|error| format!("the optimizer did not start: {error}"))?;
    receiver.await.map_err(|_| failed())?
}

fn place(
    document: &analyses::Document,
    placement: &Placement,
    options: &Options,
) -> Result<Solution, String> {
    let functions = match &placement.scope {
        Scope::Function(start, name) => {
            let function = cursor::function_at(document.ir(), *start);
            vec![function.ok_or_else(|| format!("there is no function @{name}"))?]
        }
        Scope::File => document.ir().functions(),
    };
    let mut options = options.clone();
    options.replace |= placement.anew;
    if document.is_of_heir() {
        let (found, report) = managed::place(document, &functions, &options)?;
        return Ok(Solution { placement: placement.clone(), found, report });
    }
    let outcome =
        analyses::insert_reduces(document, &functions, &options).map_err(|it| it.to_string())?;
    let lines = report(document.model().reset_name(), &outcome);
    let refused = refused(&outcome);
    let found = match (outcome.fix, refused) {
        (Some(fix), _) => Found::Fix(fix),
        (None, Some(why)) => Found::Refused(why),
        (None, None) => Found::Nothing,
    };
    Ok(Solution { placement: placement.clone(), found, report: joined(&lines) })
}

/// Why some function was not changed.
fn refused(outcome: &analyses::Outcome) -> Option<String> {
    outcome.functions.iter().find_map(|it| match &it.verdict {
        Verdict::Refused(why) => Some(why.clone()),
        _ => None,
    })
}

/// What happened, function by function.
fn report(op: &str, outcome: &analyses::Outcome) -> Vec<String> {
    let mut lines = Vec::new();
    for it in &outcome.functions {
        let name = &it.name;
        match &it.verdict {
            Verdict::Legal => {}
            Verdict::Fixed(fixed) => {
                let proof = outcome.proof(fixed);
                lines.push(format!("@{name}: {} {op} inserted ({proof})", fixed.inserted));
            }
            Verdict::Refused(why) => lines.push(format!("@{name} not changed: {why}")),
        }
    }
    lines
}

fn joined(lines: &[String]) -> String {
    if lines.is_empty() { "nothing to insert".to_owned() } else { lines.join("\n") }
}
