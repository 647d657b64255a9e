//! The optimizer, on threads of its own over a copy of the text: editing goes on meanwhile.
//!
//! *On demand*, when a code action is resolved or the command is executed, with progress for the user and a way to cancel; and *in the
//! background*, when a document has stood still with noise over the budget, so that the titles of actions and lenses say what
//! will happen and whether that is proven. What was found is kept with the version of the document that it is about.
//!
//! *Law.* A solution is only ever applied to the version of the text that it was made and re-analyzed for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use noisy_analyses::placement::Cache;
use noisy_analyses::{self as analyses, Fix, Limits, Objective, Options, Verdict};
use ropey::Rope;
use tokio::sync::{Semaphore, oneshot};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::actor::{Document, NoAnswer};
use crate::features::action::{Placement, Scope, function_at, is_over};
use crate::from_proto::{self, Place};
use crate::progress::Progress;
use crate::session::Session;
use crate::settings::Effective;
use crate::view::View;
use crate::{ask, to_proto};

/// Solving takes a core; more runs at once than this only wait for each other.
static RUNS: Semaphore = Semaphore::const_new(2);

/// Functions that were solved: after an edit elsewhere the answer is there.
static KNOWN: LazyLock<Arc<Cache>> = LazyLock::new(Arc::default);

const STACK: usize = 64 << 20;

/// How long a document must stand still before it is solved in the background.
const STILL: Duration = Duration::from_millis(300);
/// Larger texts are solved when asked for only.
const MAX_BACKGROUND: usize = 2 << 20;
/// Of more functions than this only the file as a whole is solved in the background.
const MAX_FUNCTIONS: usize = 16;

/// What came out.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// What makes it legal.
    Fix(Fix),
    /// Nothing to insert, or nothing that would help.
    Nothing,
}

/// The answer for a place.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    /// The place.
    pub placement: Placement,
    /// The fix.
    pub found: Found,
    /// What happened, for the user.
    pub report: String,
}

/// What was found for a version of a document.
#[derive(Debug)]
pub(crate) struct Solutions {
    /// The version.
    pub version: i32,
    /// What was found.
    pub all: Vec<Solution>,
}

impl View<'_> {
    /// What was found for a place in this version of the document, if anything was.
    pub(crate) fn solution(&self, placement: &Placement) -> Option<&Solution> {
        let solutions = self.cache.solutions.as_ref().filter(|it| it.version == self.version)?;
        solutions.all.iter().find(|it| it.placement == *placement)
    }
}

/// Stops a run when nobody waits for it any more.
#[derive(Debug)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Solves for a place in the version it is about, or with none given in the newest: an edit, if there is anything to insert, and what
/// to tell the user.
pub(crate) async fn solve(
    session: Arc<Session>,
    document: Document,
    place: Place,
) -> Result<(Option<lsp::WorkspaceEdit>, String)> {
    let placement = place.placement();
    let wanted = placement.clone();
    let look = move |view: &mut View<'_>| {
        let known = view.solution(&wanted).cloned();
        (view.text().clone(), view.version, view.settings.clone(), known)
    };
    let (text, version, settings, known) = document.query(look).await?;
    if place.version.is_some_and(|it| it != version) {
        return Err(NoAnswer::Modified.into());
    }
    let solution = match known {
        Some(solution) => solution,
        None => {
            let stop = StopOnDrop(Arc::default());
            let op = settings.file.model.noise().reset_name();
            let what = match &placement.scope {
                Scope::Function(_, name) => format!("Placing {op} in @{name}"),
                Scope::File => format!("Placing {op}"),
            };
            let mut options = options(&settings, &stop);
            let progress = Progress::begin(&session, &what, stop.0.clone(), options.limits.time);
            options.watch = Some(progress.watch());
            // Who cancels need not wait for the solver to see it.
            let mut solved = tokio::select! {
                solved = run(&session, &settings, text.clone(), vec![placement], options) => solved?,
                () = progress.cancelled() => return Err(Error::request_cancelled()),
            };
            let solved = solved.pop();
            solved.ok_or_else(Error::internal_error)?
        }
    };
    if document.query(|view| view.version).await? != version {
        return Err(NoAnswer::Modified.into());
    }
    let Found::Fix(fix) = &solution.found else { return Ok((None, solution.report)) };
    let edits = to_proto::edit::edits(&text, session.abilities().encoding, &fix.edits);
    let edit = to_proto::edit::workspace(&session, &place.uri, version, edits);
    Ok((Some(edit), solution.report))
}

fn options(settings: &Effective, stop: &StopOnDrop) -> Options {
    let placement = &settings.file.placement;
    Options {
        limits: Limits {
            time: Some(placement.time_limit.duration()),
            cancel: Some(stop.0.clone()),
            ..Limits::default()
        },
        objective: match placement.objective {
            noisy_settings::Objective::Executed => Objective::Executed,
            noisy_settings::Objective::Count => Objective::Count,
        },
        replace: placement.replace,
        cache: Some(KNOWN.clone()),
        watch: None,
    }
}

/// Solves for places in a text, on a thread of its own.
async fn run(
    session: &Arc<Session>,
    settings: &Effective,
    text: Rope,
    placements: Vec<Placement>,
    options: Options,
) -> Result<Vec<Solution>> {
    let _turn = RUNS.acquire().await.map_err(|_| Error::internal_error())?;
    let _busy = session.status.busy(session);
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
        let done: std::result::Result<Vec<Solution>, String> = catch_unwind(AssertUnwindSafe(all))
            .unwrap_or_else(|_| Err("the optimizer failed; please report it".to_owned()));
        // Nobody waits any more if the request was cancelled.
        let _ = sender.send(done);
    };
    std::thread::Builder::new()
        .name("solve".to_owned())
        .stack_size(STACK)
        .spawn(work)
        .map_err(|_| Error::internal_error())?;
    let solved = receiver.await.map_err(|_| Error::internal_error())?;
    solved.map_err(from_proto::refused)
}

fn place(
    document: &analyses::Document,
    placement: &Placement,
    options: &Options,
) -> std::result::Result<Solution, String> {
    let functions = match &placement.scope {
        Scope::Function(start, name) => {
            let function = function_at(document, *start);
            vec![function.ok_or_else(|| format!("there is no function @{name}"))?]
        }
        Scope::File => document.ir().functions(),
    };
    let mut options = options.clone();
    options.replace |= placement.anew;
    let outcome =
        analyses::insert_reduces(document, &functions, &options).map_err(|it| it.to_string())?;
    let report = report(document, &outcome);
    let found = outcome.fix.map_or(Found::Nothing, Found::Fix);
    Ok(Solution { placement: placement.clone(), found, report })
}

/// What happened, in a sentence or a few.
fn report(document: &analyses::Document, outcome: &analyses::Outcome) -> String {
    let op = document.model().reset_name();
    let mut lines = Vec::new();
    for it in &outcome.functions {
        let name = &it.name;
        match &it.verdict {
            Verdict::Legal => {}
            Verdict::Mended(mended) => {
                let proof = outcome.proof(mended);
                lines.push(format!("@{name}: {} {op} inserted ({proof})", mended.inserted));
            }
            Verdict::Refused(why) => lines.push(format!("@{name} is left as it is: {why}")),
        }
    }
    if lines.is_empty() { "nothing to insert".to_owned() } else { lines.join("\n") }
}

/// Solves a version of a document in the background once it has stood still, if it is worth it.
pub(crate) fn later(
    session: &Arc<Session>,
    settings: &Arc<Effective>,
    uri: &lsp::Uri,
    version: i32,
) {
    if !settings.editor.background {
        return;
    }
    let (session, settings, uri) = (session.clone(), settings.clone(), uri.clone());
    session.clone().spawn(async move {
        tokio::time::sleep(STILL).await;
        let Some(document) = session.document(&uri) else { return };
        let Ok(Some((text, placements))) =
            document.query(move |view| worth_solving(view, version)).await
        else {
            return;
        };
        let stop = StopOnDrop(Arc::default());
        // An edit makes the answer worthless; the solver is told so.
        let flag = stop.0.clone();
        let watch = document.changed(version);
        let options = options(&settings, &stop);
        let solved = tokio::select! {
            solved = run(&session, &settings, text, placements, options) => solved,
            () = watch => {
                flag.store(true, Ordering::Relaxed);
                return;
            }
        };
        let Ok(all) = solved else { return };
        let keep = move |view: &mut View<'_>| {
            let is_current = view.version == version && *view.settings == settings;
            if is_current {
                view.cache.solutions = Some(Solutions { version, all });
            }
            is_current
        };
        if document.query(keep).await == Ok(true) {
            ask::refresh_lenses(&session);
        }
    });
}

/// The places of a version of a document that are worth solving.
fn worth_solving(view: &mut View<'_>, version: i32) -> Option<(Rope, Vec<Placement>)> {
    let is_known = view.cache.solutions.as_ref().is_some_and(|it| it.version == version);
    if view.version != version || is_known || view.text().len_bytes() > MAX_BACKGROUND {
        return None;
    }
    let mut out: Vec<Placement> = Vec::new();
    for it in view.diagnostics().iter().filter(|it| is_over(it)) {
        let Some(function) = function_at(view.document, it.range.start) else { continue };
        let start = view.document.ir().range(function).start;
        let scope = Scope::Function(start, view.document.function_name(function));
        let place = Placement { scope, anew: false };
        if !out.contains(&place) {
            out.push(place);
        }
        if out.len() > MAX_FUNCTIONS {
            out.clear();
            break;
        }
    }
    out.push(Placement { scope: Scope::File, anew: false });
    Some((view.text().clone(), out))
}
