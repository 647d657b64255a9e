//! The edits of refactorings. They are computed and checked on a separate thread, so that a long
//! text does not delay edits.

use std::ops::Range;

use noisy_analyses::Document;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::documents::job::NoAnswer;
use crate::features::write::refactor::{self, RefactorKind};
use crate::host;
use crate::proto;
use crate::proto::params;
use crate::proto::view::DocumentView;
use crate::session::Session;

/// The edits of a refactoring of a document version, or the reason why there are none.
pub(crate) async fn edits(
    session: &Session,
    uri: &lsp::Uri,
    version: i32,
    kind: RefactorKind,
    range: Range<usize>,
) -> Result<Vec<lsp::TextEdit>> {
    let look = move |view: &mut DocumentView<'_>| {
        let is_current = view.version == version;
        is_current.then(|| (view.text().clone(), view.document.model().clone()))
    };
    let seen = session.ask(uri, look).await?.flatten();
    let (text, model) = seen.ok_or_else(|| Error::from(NoAnswer::Modified))?;
    let copy = text.clone();
    let work = move || {
        let document = Document::with_model(&copy.to_string(), model);
        refactor::edits(&document, kind, &range)
    };
    let found = host::apart("refactor", work).map_err(|_| Error::internal_error())?;
    let found = found.await.ok_or(NoAnswer::Panicked)?;
    let found = found.map_err(params::request_failed)?;
    if session.ask(uri, |view| view.version).await? != Some(version) {
        return Err(NoAnswer::Modified.into());
    }
    Ok(proto::edit::edits(&text, session.connection.capabilities().encoding, &found))
}
