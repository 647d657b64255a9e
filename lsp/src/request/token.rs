//! Semantic tokens: of a document, by difference from what was sent last, and of a range.

use std::sync::Arc;

use serde::Serialize;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::features::token::{self, Tokens};
use crate::ingress::leave_raw;
use crate::server::Server;
use crate::view::View;

/// Semantic tokens; the protocol's type would be built number by number.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_id: Option<String>,
    data: &'a [u32],
}

/// The edits from earlier semantic tokens.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Edits<'a> {
    result_id: String,
    edits: &'a [Edit<'a>],
}

/// One of them: where, how much goes, what comes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Edit<'a> {
    start: usize,
    delete_count: usize,
    data: &'a [u32],
}

/// The tokens of a document, and those that were sent before, each with its number.
struct Sent {
    new: (u64, Arc<Vec<u32>>),
    old: Option<(u64, Arc<Vec<u32>>)>,
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
async fn write(json: impl FnOnce() -> serde_json::Result<Vec<u8>> + Send + 'static) {
    if let Ok(Ok(json)) = tokio::task::spawn_blocking(json).await {
        leave_raw(json);
    }
}

/// All tokens.
pub(crate) async fn full(
    server: &Server,
    params: lsp::SemanticTokensParams,
) -> Result<Option<lsp::SemanticTokensResult>> {
    if let Some(Sent { new: (number, data), .. }) = all(server, &params.text_document.uri).await? {
        write(move || {
            serde_json::to_vec(&Data { result_id: Some(number.to_string()), data: &data })
        })
        .await;
    }
    Ok(None)
}

/// The difference from the tokens of an earlier answer; all of them, if that answer is not kept.
pub(crate) async fn delta(
    server: &Server,
    params: lsp::SemanticTokensDeltaParams,
) -> Result<Option<lsp::SemanticTokensFullDeltaResult>> {
    let previous = params.previous_result_id;
    if let Some(Sent { new, old }) = all(server, &params.text_document.uri).await? {
        write(move || {
            let (number, data) = new;
            let result_id = number.to_string();
            let Some((_, old)) = old.filter(|it| it.0.to_string() == previous) else {
                return serde_json::to_vec(&Data { result_id: Some(result_id), data: &data });
            };
            let (start, delete_count, new) = token::difference(&old, &data);
            let edit = [Edit { start, delete_count, data: new }];
            let n = usize::from(delete_count > 0 || !new.is_empty());
            serde_json::to_vec(&Edits { result_id, edits: &edit[..n] })
        })
        .await;
    }
    Ok(None)
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
    if let Some(data) = server.run(&params.text_document.uri, job).await?
        && let Ok(json) = serde_json::to_vec(&Data { result_id: None, data: &data })
    {
        leave_raw(json);
    }
    Ok(None)
}
