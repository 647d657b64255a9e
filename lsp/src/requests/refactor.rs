//! The edits of refactorings, found and proven on a thread of their own, so that a long text delays
//! no edit.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use noisy_analyses::Document;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::documents::job::NoAnswer;
use crate::features::refactor::{self, Kind};
use crate::proto;
use crate::proto::params;
use crate::proto::view::View;
use crate::session::Session;

/// Deeply nested programs are walked by recursion.
const STACK: usize = 64 << 20;

/// The edits of a refactoring of a document version, or the reason why there are none.
pub(crate) async fn edits(
    session: &Session,
    uri: &lsp::Uri,
    version: i32,
    kind: Kind,
    range: Range<usize>,
) -> Result<Vec<lsp::TextEdit>> {
    let look = move |view: &mut View<'_>| {
        let is_current = view.version == version;
        is_current.then(|| (view.text().clone(), view.document.model().clone()))
    };
    let seen = session.ask(uri, look).await?.flatten();
    let (text, model) = seen.ok_or_else(|| Error::from(NoAnswer::Modified))?;
    let copy = text.clone();
    let (sender, receiver) = oneshot::channel();
    let work = move || {
        let work = || {
            let document = Document::with_model(&copy.to_string(), model);
            refactor::edits(&document, kind, &range)
        };
        let found = catch_unwind(AssertUnwindSafe(work));
        // A cancelled request has no receiver.
        let _ = sender.send(found.map_err(|_| NoAnswer::Panicked));
    };
    std::thread::Builder::new()
        .name("refactor".to_owned())
        .stack_size(STACK)
        .spawn(work)
        .map_err(|_| Error::internal_error())?;
    let found = receiver.await.map_err(|_| Error::internal_error())??;
    let found = found.map_err(params::refused)?;
    if session.ask(uri, |view| view.version).await? != Some(version) {
        return Err(NoAnswer::Modified.into());
    }
    Ok(proto::edit::edits(&text, session.connection.capabilities().encoding, &found))
}
