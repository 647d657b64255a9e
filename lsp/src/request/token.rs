//! Semantic tokens: of a document, by difference from what was sent last, and of a range.

use std::ops::Range;
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::features::token::{self, Numbers, Tokens};
use crate::ingress::leave_raw;
use crate::json::Pieces;
use crate::server::Server;
use crate::view::View;

/// The tokens of a document, and those that were sent before, each with its number.
struct Sent {
    new: (u64, Arc<Numbers>),
    old: Option<(u64, Arc<Numbers>)>,
}

async fn all(server: &Server, uri: &lsp::Uri) -> Result<Option<Sent>> {
    let mut tokens = None;
    let job = move |view: &mut View<'_>| {
        let source = view.document.source();
        let tokens = tokens.get_or_insert_with(|| {
            Tokens::new(source, 0..view.text().len_bytes(), view.session.abilities().encoding)
        });
        if tokens.step(source) {
            return None;
        }
        let old = view.cache.tokens.take();
        let number = view.cache.last_tokens + 1;
        let new = (number, Arc::new(tokens.take()));
        view.cache.last_tokens = number;
        // A file of 100,000 ops has 16 MB of them.
        if view.session.abilities().token_deltas {
            view.cache.tokens = Some(new.clone());
        }
        Some(Sent { new, old })
    };
    server.run(uri, job).await
}

/// Writes an answer where that holds up nobody; it may be megabytes long.
async fn write(json: impl FnOnce() -> Pieces + Send + 'static) {
    if let Ok(json) = tokio::task::spawn_blocking(json).await {
        leave_raw(json);
    }
}

/// Some of the numbers, as a JSON array.
fn add(out: &mut Pieces, data: &Numbers, range: Range<usize>) {
    out.push(b"[");
    for (n, slice) in data.slices(range).filter(|it| !it.is_empty()).enumerate() {
        let json = serde_json::to_vec(slice).unwrap_or_else(|_| b"[]".to_vec());
        out.push(if n > 0 { b"," } else { b"" });
        out.push(json.get(1..json.len() - 1).unwrap_or_default());
    }
    out.push(b"]");
}

fn whole(number: Option<u64>, data: &Numbers) -> Pieces {
    let id = number.map_or(String::new(), |it| format!("\"resultId\":\"{it}\","));
    let mut out = Pieces::from(format!("{{{id}\"data\":").into_bytes());
    add(&mut out, data, 0..data.len());
    out.push(b"}");
    out
}

/// All tokens.
pub(crate) async fn full(
    server: &Server,
    params: lsp::SemanticTokensParams,
) -> Result<Option<lsp::SemanticTokensResult>> {
    if let Some(Sent { new: (number, data), .. }) = all(server, &params.text_document.uri).await? {
        write(move || whole(Some(number), &data)).await;
    }
    Ok(None)
}

/// The difference from the tokens of an earlier answer; all of them, if that answer is not kept.
pub(crate) async fn delta(
    server: &Server,
    params: lsp::SemanticTokensDeltaParams,
) -> Result<Option<lsp::SemanticTokensFullDeltaResult>> {
    let previous = params.previous_result_id;
    if let Some(Sent { new: (number, data), old }) = all(server, &params.text_document.uri).await? {
        let old = old.filter(|it| it.0.to_string() == previous);
        write(move || {
            old.map_or_else(|| whole(Some(number), &data), |old| edits(number, &old.1, &data))
        })
        .await;
    }
    Ok(None)
}

fn edits(number: u64, old: &Numbers, new: &Numbers) -> Pieces {
    let mut out = Pieces::from(format!("{{\"resultId\":\"{number}\",\"edits\":[").into_bytes());
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
    server: &Server,
    params: lsp::SemanticTokensRangeParams,
) -> Result<Option<lsp::SemanticTokensRangeResult>> {
    let mut tokens = None;
    let job = move |view: &mut View<'_>| {
        let source = view.document.source();
        let tokens = tokens.get_or_insert_with(|| {
            let range = view.offsets(params.range);
            Tokens::new(source, range, view.session.abilities().encoding)
        });
        (!tokens.step(source)).then(|| tokens.take())
    };
    if let Some(data) = server.run(&params.text_document.uri, job).await? {
        leave_raw(whole(None, &data));
    }
    Ok(None)
}
