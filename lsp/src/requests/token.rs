//! Semantic tokens: of a document, as a difference from the previous answer, and of a range.

use std::ops::Range;
use std::sync::Arc;

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::features::read::token::{self, Numbers, Tokens};
use crate::host;
use crate::proto::view::View;
use crate::session::Session;
use crate::wire::json::JsonBuffer;

/// The tokens of a document, and those of the previous answer, each with a number.
struct Sent {
    new: (u64, Arc<Numbers>),
    old: Option<(u64, Arc<Numbers>)>,
}

async fn all(session: &Session, uri: &lsp::Uri) -> Result<Option<Sent>> {
    let mut tokens = None;
    let job = move |view: &mut View<'_>| {
        let source = view.document.source();
        let tokens = tokens.get_or_insert_with(|| {
            Tokens::new(source, 0..view.text().len_bytes(), view.connection.capabilities().encoding)
        });
        if tokens.step(source) {
            return None;
        }
        let old = view.cache.tokens.take();
        let number = view.cache.last_tokens + 1;
        let new = (number, Arc::new(tokens.take()));
        view.cache.last_tokens = number;
        // The cache is only filled for clients that use differences: the tokens of 100,000 ops take
        // 16 MB.
        if view.connection.capabilities().token_deltas {
            view.cache.tokens = Some(new.clone());
        }
        Some(Sent { new, old })
    };
    session.alone().run(uri, job).await
}

/// Writes an answer on a separate thread, because it may be megabytes long.
async fn write(json: impl FnOnce() -> JsonBuffer + Send + 'static) -> Result<JsonBuffer> {
    host::blocking(json).await.ok_or_else(Error::internal_error)
}

/// The answer about a document that is not open.
fn none() -> JsonBuffer {
    JsonBuffer::from(b"null".to_vec())
}

/// Appends a range of the numbers as a JSON array.
fn add(out: &mut JsonBuffer, data: &Numbers, range: Range<usize>) {
    out.push(b"[");
    for (n, slice) in data.slices(range).filter(|it| !it.is_empty()).enumerate() {
        let mut text = serde_json::to_vec(slice).unwrap_or_default();
        // The bracket at the start becomes the comma between the slices.
        text.pop();
        if n == 0 {
            text.remove(0);
        } else {
            text[0] = b',';
        }
        out.append(text);
    }
    out.push(b"]");
}

fn whole(number: Option<u64>, data: &Numbers) -> JsonBuffer {
    let id = number.map_or(String::new(), |it| format!("\"resultId\":\"{it}\","));
    let mut out = JsonBuffer::from(format!("{{{id}\"data\":").into_bytes());
    add(&mut out, data, 0..data.len());
    out.push(b"}");
    out
}

/// All tokens of a document.
pub(crate) async fn full(
    session: &Session,
    params: lsp::SemanticTokensParams,
) -> Result<JsonBuffer> {
    match all(session, &params.text_document.uri).await? {
        Some(Sent { new: (number, data), .. }) => write(move || whole(Some(number), &data)).await,
        None => Ok(none()),
    }
}

/// The difference from the tokens of an earlier answer; all tokens if that answer is not cached.
pub(crate) async fn delta(
    session: &Session,
    params: lsp::SemanticTokensDeltaParams,
) -> Result<JsonBuffer> {
    let previous = params.previous_result_id;
    let Some(Sent { new: (number, data), old }) = all(session, &params.text_document.uri).await?
    else {
        return Ok(none());
    };
    let old = old.filter(|it| it.0.to_string() == previous);
    write(move || match old {
        Some(old) => edits(number, &old.1, &data),
        None => whole(Some(number), &data),
    })
    .await
}

fn edits(number: u64, old: &Numbers, new: &Numbers) -> JsonBuffer {
    let mut out = JsonBuffer::from(format!("{{\"resultId\":\"{number}\",\"edits\":[").into_bytes());
    let (gone, came) = token::difference(old, new);
    if !gone.is_empty() || !came.is_empty() {
        let (start, n) = (gone.start, gone.len());
        out.push(format!("{{\"start\":{start},\"deleteCount\":{n},\"data\":").as_bytes());
        add(&mut out, new, came);
        out.push(b"}");
    }
    out.push(b"]}");
    out
}

/// The tokens of a range.
pub(crate) async fn range(
    session: &Session,
    params: lsp::SemanticTokensRangeParams,
) -> Result<JsonBuffer> {
    let mut tokens = None;
    let job = move |view: &mut View<'_>| {
        let source = view.document.source();
        let tokens = tokens.get_or_insert_with(|| {
            let range = view.offsets(params.range);
            Tokens::new(source, range, view.connection.capabilities().encoding)
        });
        (!tokens.step(source)).then(|| tokens.take())
    };
    let data = session.alone().run_in(&params.text_document.uri, params.range, job).await?;
    Ok(data.map_or_else(none, |data| whole(None, &data)))
}
