//! The optimizer, on a thread of its own over a copy of the text: editing goes on meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use noisy_analyses::{self as analyses, Limits, Verdict};
use ropey::Rope;
use tokio::sync::{Semaphore, oneshot};
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types as lsp;

use crate::actor::{Document, NoAnswer};
use crate::features::action::{Placement, function_at};
use crate::from_proto::Place;
use crate::session::Session;
use crate::to_proto;

/// Solving takes a core; more runs at once than this only wait for each other.
static RUNS: Semaphore = Semaphore::const_new(2);

const STACK: usize = 64 << 20;

/// What came out.
#[derive(Debug)]
pub(crate) struct Solved {
    /// The edit, if there is anything to insert.
    pub edit: Option<lsp::WorkspaceEdit>,
    /// What happened, for the user.
    pub report: String,
}

/// Solves for a place in the version it is about; with none given, in the newest.
pub(crate) async fn solve(
    session: Arc<Session>,
    document: Document,
    place: Place,
) -> Result<Solved> {
    let (text, version) = document.query(|view| (view.text().clone(), view.version)).await?;
    if place.version.is_some_and(|it| it != version) {
        return Err(NoAnswer::Modified.into());
    }
    let _turn = RUNS.acquire().await.map_err(|_| Error::internal_error())?;
    let cancelled = Cancelled(Arc::new(AtomicBool::new(false)));
    let limits = Limits {
        time: Some(session.config().time_limit()),
        cancel: Some(cancelled.0.clone()),
        ..Limits::default()
    };
    let encoding = session.abilities().encoding;
    let (sender, receiver) = oneshot::channel();
    let placement = place.placement();
    let work = move || {
        let done = catch_unwind(AssertUnwindSafe(|| run(&text, &placement, &limits)));
        let done =
            done.unwrap_or_else(|_| Err("the optimizer failed; please report it".to_owned()));
        // Nobody waits any more if the request was cancelled.
        let _ = sender
            .send(done.map(|(edits, report)| (to_proto::edits(&text, encoding, &edits), report)));
    };
    std::thread::Builder::new()
        .name("solve".to_owned())
        .stack_size(STACK)
        .spawn(work)
        .map_err(|_| Error::internal_error())?;
    let solved = receiver.await.map_err(|_| Error::internal_error())?;
    let (edits, report) = solved.map_err(|why| Error {
        code: ErrorCode::ServerError(-32803),
        message: why.into(),
        data: None,
    })?;
    if document.query(|view| view.version).await? != version {
        return Err(NoAnswer::Modified.into());
    }
    let edit =
        (!edits.is_empty()).then(|| to_proto::workspace_edit(&session, &place.uri, version, edits));
    Ok(Solved { edit, report })
}

/// Stops the run when nobody waits for it any more.
struct Cancelled(Arc<AtomicBool>);

impl Drop for Cancelled {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn run(
    text: &Rope,
    placement: &Placement,
    limits: &Limits,
) -> std::result::Result<(Vec<analyses::TextEdit>, String), String> {
    let document = analyses::Document::new(&text.to_string());
    let functions = match placement {
        Placement::Function(start, name) => {
            vec![
                function_at(&document, *start)
                    .ok_or_else(|| format!("there is no function @{name}"))?,
            ]
        }
        Placement::File => document.ir().functions(),
    };
    let outcome =
        analyses::insert_reduces(&document, &functions, limits).map_err(|it| it.to_string())?;
    let report = report(&outcome);
    Ok((outcome.fix.map_or_else(Vec::new, |it| it.edits), report))
}

/// What happened, in a sentence or a few.
fn report(outcome: &analyses::Outcome) -> String {
    let mut lines = Vec::new();
    for it in &outcome.functions {
        let name = &it.name;
        match &it.verdict {
            Verdict::Legal => {}
            Verdict::Mended { inserted, .. } if it.verdict.is_optimal() => {
                lines.push(format!("@{name}: {inserted} reduce_noise inserted (optimal)"));
            }
            Verdict::Mended { inserted, lower_bound, cost } => {
                lines.push(format!("@{name}: {inserted} reduce_noise inserted (cost {cost}, at least {lower_bound} needed)"));
            }
            Verdict::Refused(why) => lines.push(format!("@{name} is left as it is: {why}")),
        }
    }
    if lines.is_empty() { "nothing to insert".to_owned() } else { lines.join("\n") }
}
