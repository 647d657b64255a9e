//! Semantic tokens: of a document, as a difference from the previous answer, and of a range.

use std::ops::Range;
use std::sync::Arc;

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::features::read::token::{self, EncodedTokens, TokenJob};
use crate::host;
use crate::proto::view::DocumentView;
use crate::session::Session;
use crate::wire::json::JsonBuffer;

/// The tokens of a document, and those of the previous answer, each with a number.
struct TokenAnswers {
    new: (u64, Arc<EncodedTokens>),
    old: Option<(u64, Arc<EncodedTokens>)>,
}

async fn compute_tokens(session: &Session, uri: &lsp::Uri) -> Result<Option<TokenAnswers>> {
    let mut tokens = None;
    let job = move |view: &mut DocumentView<'_>| {
        let source = view.document.source();
        let tokens = tokens.get_or_insert_with(|| {
            TokenJob::new(
                source,
                0..view.text().len_bytes(),
                view.connection.capabilities().encoding,
            )
        });
        if tokens.step(source) {
            return None;
        }
        let old = view.cache.tokens.take();
        let number = view.cache.last_tokens_id + 1;
        let new = (number, Arc::new(tokens.take()));
        view.cache.last_tokens_id = number;
        // The cache is only filled for clients that use differences: the tokens of 100,000 ops take
        // 16 MB.
        if view.connection.capabilities().token_deltas {
            view.cache.tokens = Some(new.clone());
        }
        Some(TokenAnswers { new, old })
    };
    session.exclusive_documents().run(uri, job).await
}

/// Writes an answer on a separate thread, because it may be megabytes long.
async fn write_on_thread(json: impl FnOnce() -> JsonBuffer + Send + 'static) -> Result<JsonBuffer> {
    host::blocking(json).await.ok_or_else(Error::internal_error)
}

/// The answer about a document that is not open.
fn null_answer() -> JsonBuffer {
    JsonBuffer::from(b"null".to_vec())
}

/// Appends a range of the numbers as a JSON array.
fn append_numbers(out: &mut JsonBuffer, data: &EncodedTokens, range: Range<usize>) {
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

fn full_answer(number: Option<u64>, data: &EncodedTokens) -> JsonBuffer {
    let id = number.map_or(String::new(), |it| format!("\"resultId\":\"{it}\","));
    let mut out = JsonBuffer::from(format!("{{{id}\"data\":").into_bytes());
    append_numbers(&mut out, data, 0..data.len());
    out.push(b"}");
    out
}

/// All tokens of a document.
pub(crate) async fn full_tokens(
    session: &Session,
    params: lsp::SemanticTokensParams,
) -> Result<JsonBuffer> {
    match compute_tokens(session, &params.text_document.uri).await? {
        Some(TokenAnswers { new: (number, data), .. }) => {
            write_on_thread(move || full_answer(Some(number), &data)).await
        }
        None => Ok(null_answer()),
    }
}

/// The difference from the tokens of an earlier answer; all tokens if that answer is not cached.
pub(crate) async fn delta_tokens(
    session: &Session,
    params: lsp::SemanticTokensDeltaParams,
) -> Result<JsonBuffer> {
    let previous = params.previous_result_id;
    let Some(TokenAnswers { new: (number, data), old }) =
        compute_tokens(session, &params.text_document.uri).await?
    else {
        return Ok(null_answer());
    };
    let old = old.filter(|it| it.0.to_string() == previous);
    write_on_thread(move || match old {
        Some(old) => delta_answer(number, &old.1, &data),
        None => full_answer(Some(number), &data),
    })
    .await
}

fn delta_answer(number: u64, old: &EncodedTokens, new: &EncodedTokens) -> JsonBuffer {
    let mut out = JsonBuffer::from(format!("{{\"resultId\":\"{number}\",\"edits\":[").into_bytes());
    let (gone, came) = token::difference(old, new);
    if !gone.is_empty() || !came.is_empty() {
        let (start, n) = (gone.start, gone.len());
        out.push(format!("{{\"start\":{start},\"deleteCount\":{n},\"data\":").as_bytes());
        append_numbers(&mut out, new, came);
        out.push(b"}");
    }
    out.push(b"]}");
    out
}

/// The tokens of a range.
pub(crate) async fn range_tokens(
    session: &Session,
    params: lsp::SemanticTokensRangeParams,
) -> Result<JsonBuffer> {
    let mut tokens = None;
    let job = move |view: &mut DocumentView<'_>| {
        let source = view.document.source();
        let tokens = tokens.get_or_insert_with(|| {
            let range = view.offsets(params.range);
            TokenJob::new(source, range, view.connection.capabilities().encoding)
        });
        (!tokens.step(source)).then(|| tokens.take())
    };
    let data =
        session.exclusive_documents().run_in(&params.text_document.uri, params.range, job).await?;
    Ok(data.map_or_else(null_answer, |data| full_answer(None, &data)))
}
