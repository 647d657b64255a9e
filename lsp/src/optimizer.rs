//! Computes repairs ([`noisy_analyses::repair`]) on a copy of the text, on separate threads, so
//! that editing can continue.
//!
//! *Law.* A solution is only applied to the version of the text that it was computed for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use noisy_analyses::repair::{self, PlacedOps, RepairOptions, RepairResult};
use noisy_analyses::{
    Applicability, Document, Fix, PlacementOptions, PlacementVerdict, ProgressCallback, TextEdit,
};
use noisy_settings::Settings as File;
use ropey::Rope;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::connection::settings::EffectiveSettings;
use crate::connection::{Connection, status};
use crate::features::find::cursor;
use crate::features::write::action::{ActionScope, RepairRequest};
use crate::host;
use crate::text::content::difference;

/// Limits the number of simultaneous runs, because each run occupies a core.
static RUN_PERMITS: Semaphore = Semaphore::const_new(2);

/// Receives the progress as text.
pub(crate) type Report = Box<dyn Fn(String) + Send + Sync>;

/// The result of a repair.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum RepairAnswer {
    /// The edits of the original text.
    Fix(Fix),
    /// There is nothing to repair.
    Nothing,
    /// The reason why nothing can be inserted.
    Refused(String),
}

/// A repair and its result, computed on a copy of the text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Solution {
    pub repair: RepairRequest,
    pub found: RepairAnswer,
    /// The message for the user.
    pub report: String,
}

/// Stops a run when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    /// Returns the flag that the drop sets.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the options of the optimizer for the settings. The optimizer ends when `stop` is
/// dropped.
pub(crate) fn options(settings: &EffectiveSettings, stop: &StopOnDrop) -> PlacementOptions {
    let mut options = options_of(&settings.file);
    options.limits.cancel = Some(stop.flag());
    options
}

fn options_of(settings: &File) -> PlacementOptions {
    settings.placement.options(settings.placement.time_limit.duration())
}

/// Repairs of a text, independent of each other.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    text: String,
    settings: File,
    repairs: Vec<RepairRequest>,
}

impl Task {
    fn run(&self, options: &PlacementOptions) -> Result<Vec<Solution>, String> {
        let Self { text, settings, repairs } = self;
        let mut document = Document::with_model(text, settings.model.noise().clone());
        let one = |request: &RepairRequest| {
            if options.limits.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed)) {
                return Err("cancelled".to_owned());
            }
            compute_repair(&mut document, text, settings, request, options)
        };
        repairs.iter().map(one).collect()
    }
}

const FAILED: &str = "the optimizer failed; please report it";

/// Computes repairs of a text, independent of each other, on a thread or in another worker. An
/// error is the reason why that was not possible.
pub(crate) async fn run(
    connection: &Arc<Connection>,
    settings: &Arc<EffectiveSettings>,
    text: Rope,
    repairs: Vec<RepairRequest>,
    options: PlacementOptions,
    report: Option<Report>,
) -> Result<Vec<Solution>, String> {
    // Fixes without a placement are quick, so they do not wait for other runs.
    let solves = repairs.iter().any(|it| !matches!(it.scope, ActionScope::Code(_)));
    let _turn = if solves { Some(RUN_PERMITS.acquire().await.map_err(|_| FAILED)?) } else { None };
    let _busy = status::register_run(connection);
    let file = settings.file.clone();
    let task = move || Task { text: text.to_string(), settings: File::clone(&file), repairs };
    run_in_background(task, options, report, solves).await
}

#[cfg(not(target_family = "wasm"))]
async fn run_in_background(
    task: impl FnOnce() -> Task + Send + 'static,
    mut options: PlacementOptions,
    report: Option<Report>,
    _solves: bool,
) -> Result<Vec<Solution>, String> {
    options.watch = report.map(|report| ProgressCallback::new(move |it| report(it.to_string())));
    host::apart("solve", move || task().run(&options))
        .map_err(|error| format!("could not start the optimizer: {error}"))?
        .await
        .ok_or(FAILED)?
}

/// The other worker creates its own options from the settings. To stop it, the worker is ended.
#[cfg(target_family = "wasm")]
async fn run_in_background(
    task: impl FnOnce() -> Task,
    options: PlacementOptions,
    report: Option<Report>,
    solves: bool,
) -> Result<Vec<Solution>, String> {
    let task = task();
    if !solves {
        return task.run(&options);
    }
    let wanted = serde_json::to_vec(&task).map_err(|error| error.to_string())?;
    let report = report.unwrap_or_else(|| Box::new(|_| ()));
    let answer = host::web::solve_in_worker(wanted, report).await.ok_or(FAILED)?;
    serde_json::from_slice(&answer).map_err(|error| error.to_string())?
}

/// Computes the repairs for the server in another worker; see [`run_in_background`].
#[cfg(target_family = "wasm")]
pub(crate) fn search(wanted: &[u8], report: impl Fn(String) + Send + Sync + 'static) -> Vec<u8> {
    let run = || {
        let task: Task = serde_json::from_slice(wanted).map_err(|error| error.to_string())?;
        let mut options = options_of(&task.settings);
        options.watch = Some(ProgressCallback::new(move |it| report(it.to_string())));
        task.run(&options)
    };
    serde_json::to_vec(&run()).unwrap_or_default()
}

/// Computes one repair of a text. The document contains this text, or the result of an earlier
/// repair, which is undone.
fn compute_repair(
    document: &mut Document,
    text: &str,
    settings: &File,
    request: &RepairRequest,
    options: &PlacementOptions,
) -> Result<Solution, String> {
    let (range, undone) = difference(document.source().text(), text);
    if !range.is_empty() || !undone.is_empty() {
        document.edit(range, undone);
    }
    let scope = match &request.scope {
        ActionScope::Function(start, name) => {
            let ir = document.ir();
            let function = cursor::function_at(ir, *start);
            let number = ir.functions().into_iter().position(|it| Some(it) == function);
            repair::RepairScope::Function(
                number.ok_or_else(|| format!("there is no function @{name}"))?,
            )
        }
        ActionScope::File => repair::RepairScope::File,
        ActionScope::Code(code) => repair::RepairScope::Code(code),
    };
    let mut options = options.clone();
    options.replace |= request.anew;
    let mut saved = None;
    if let (true, repair::RepairScope::Function(number)) = (request.rewrites, &scope) {
        saved = rewrite_function(document, *number, settings, &mut options);
        if saved.is_none() {
            let why = "no cheaper rewriting was found".to_owned();
            let (repair, report) = (request.clone(), why.clone());
            return Ok(Solution { repair, found: RepairAnswer::Refused(why), report });
        }
    }
    let wanted =
        RepairOptions { rules: &settings.rules, unsafe_fixes: false, placement: Some(&options) };
    let repaired = repair::repair(document, scope, &wanted).map_err(|it| it.to_string())?;
    let report = match &saved {
        Some(saved) => format!("rewritten: {saved}"),
        None => repair_report(&repaired),
    };
    let found = match repaired.refusal() {
        _ if saved.is_some() => RepairAnswer::Fix(Fix {
            title: format!(
                "Rewrite and insert optimal reduce_noise ({})",
                saved.unwrap_or_default()
            ),
            applicability: Applicability::Safe,
            edits: edit_between(text, document),
        }),
        _ if repaired.is_changed() => RepairAnswer::Fix(Fix {
            title: repaired.title(),
            applicability: Applicability::Safe,
            edits: repaired.edits(text, document),
        }),
        Some(why) => RepairAnswer::Refused(why.to_owned()),
        None => RepairAnswer::Nothing,
    };
    Ok(Solution { repair: request.clone(), found, report })
}

/// Rewrites a function so that it needs fewer reductions. This uses most of the time limit. Returns
/// a description of the savings.
fn rewrite_function(
    document: &mut Document,
    number: usize,
    settings: &File,
    options: &mut PlacementOptions,
) -> Option<String> {
    let start = Instant::now();
    let function = *document.ir().functions().get(number)?;
    let (time, growth) = (settings.rewrite.time_limit.duration(), settings.rewrite.growth.factor());
    let placing = options.clone();
    let wanted = noisy_rewrite::RewriteOptions {
        placement: placing,
        search_time: time,
        max_growth: growth,
        keeps_structure: false,
    };
    let rewritten = noisy_rewrite::rewrite(document, &[function], &wanted)?;
    let saving = rewritten.savings.first()?;
    let bound = if saving.is_optimal() { ", the least" } else { "" };
    let saved = format!("{} reductions to {}{bound}", saving.before, saving.after);
    *document = rewritten.document;
    options.limits.time = options.limits.time.map(|it| noisy_rewrite::time_left(it, start));
    Some(saved)
}

/// Returns the edit that turns a text into the text of a document.
fn edit_between(text: &str, document: &Document) -> Vec<TextEdit> {
    let after = document.source().text();
    let (range, _) = difference(after, text);
    let n_behind = after.len_bytes() - range.end;
    let replaced = range.start..text.len() - n_behind;
    vec![TextEdit { range: replaced, text: after.byte_slice(range).to_string() }]
}

/// Describes a repair, function by function.
fn repair_report(repaired: &RepairResult) -> String {
    let mut lines = Vec::new();
    match repaired.n_fixed_first {
        0 => {}
        1 => lines.push("1 problem fixed".to_owned()),
        n => lines.push(format!("{n} problems fixed")),
    }
    for PlacedOps { op, outcome, .. } in &repaired.placed {
        for it in &outcome.functions {
            let name = &it.name;
            match &it.verdict {
                PlacementVerdict::Legal => {}
                PlacementVerdict::Fixed(fixed) => {
                    let proof = outcome.proof(fixed);
                    lines.push(format!("@{name}: {} {op} inserted ({proof})", fixed.n_inserted));
                }
                PlacementVerdict::Refused(why) => lines.push(format!("@{name} not changed: {why}")),
            }
        }
    }
    if lines.is_empty() { "nothing to insert".to_owned() } else { lines.join("\n") }
}
