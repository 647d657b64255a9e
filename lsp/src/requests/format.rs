//! Formatting of a document, of a range, and while typing. A text with syntax errors is not
//! changed.

use std::ops::Range;

use noisy_syntax::{Source, TextEdit};
use ropey::Rope;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::documents::job::NoAnswer;
use crate::host;
use crate::log;
use crate::proto;
use crate::proto::view::DocumentView;
use crate::session::Session;

type Edits = Option<Vec<lsp::TextEdit>>;

/// Formats a document.
pub(crate) async fn format_document(
    session: &Session,
    params: lsp::DocumentFormattingParams,
) -> Result<Edits> {
    edits(session, &params.text_document.uri, None).await
}

/// Formats the lines that a range touches.
pub(crate) async fn format_range(
    session: &Session,
    params: lsp::DocumentRangeFormattingParams,
) -> Result<Edits> {
    edits(session, &params.text_document.uri, Some(params.range)).await
}

/// Formats a copy of the text on its own thread, so that a long text does not delay edits.
async fn edits(session: &Session, uri: &lsp::Uri, range: Option<lsp::Range>) -> Result<Edits> {
    let look = move |view: &mut DocumentView<'_>| {
        (view.text().clone(), view.version, range.map(|it| view.offsets(it)))
    };
    let Some((text, version, range)) = session.exclusive_documents().ask(uri, look).await? else {
        return Ok(None);
    };
    let copy = text.clone();
    let found = host::apart("format", move || formatting_edits(&copy, range));
    let found = found.map_err(|_| Error::internal_error())?.await.ok_or(NoAnswer::Panicked)?;
    if session.ask(uri, |view| view.version).await? != Some(version) {
        return Err(NoAnswer::Modified.into());
    }
    Ok(Some(to_proto(session, &text, &found)))
}

/// The edits; none for a text with syntax errors, which the diagnostics report.
fn formatting_edits(text: &Rope, range: Option<Range<usize>>) -> Vec<TextEdit> {
    let source = Source::new(&text.to_string());
    let found = match range {
        Some(range) => noisy_format::format_range(&source, range),
        None => noisy_format::format(&source),
    };
    found
        .inspect_err(|why| {
            let line = text.byte_to_line(why.range.start) + 1;
            log::line(format_args!("not formatted: line {line}: {}", why.message));
        })
        .unwrap_or_default()
}

/// Indents while typing.
pub(crate) async fn format_on_type(
    session: &Session,
    params: lsp::DocumentOnTypeFormattingParams,
) -> Result<Edits> {
    let at = params.text_document_position;
    let Some(typed) = params.ch.chars().next() else { return Ok(None) };
    let ask = move |view: &mut DocumentView<'_>| {
        let offset = view.offset(at.position);
        let found = noisy_format::format_on_type(view.document.source(), offset, typed);
        (view.text().clone(), found)
    };
    let found = session.exclusive_documents().ask(&at.text_document.uri, ask).await?;
    Ok(found.map(|(text, found)| to_proto(session, &text, &found)))
}

fn to_proto(session: &Session, text: &Rope, edits: &[TextEdit]) -> Vec<lsp::TextEdit> {
    let encoding = session.connection.capabilities().encoding;
    proto::edit::edits(text, encoding, edits)
}
