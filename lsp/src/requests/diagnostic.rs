//! Diagnostics for clients that pull them. Other clients get them from the actor after each edit.

use std::hash::Hasher;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::proto;
use crate::session::Session;
use crate::wire::json::JsonBuffer;

/// Returns the diagnostics of a document, or that they have not changed.
pub(crate) async fn pull_diagnostics(
    session: &Session,
    params: lsp::DocumentDiagnosticParams,
) -> Result<JsonBuffer> {
    let found = session
        .ask(&params.text_document.uri, |view| {
            serde_json::to_vec(&proto::diagnostic::all_diagnostics(view))
        })
        .await?;
    let items = found.and_then(std::result::Result::ok).unwrap_or_else(|| b"[]".to_vec());
    let id = result_id(&items);
    if params.previous_result_id.as_ref() == Some(&id) {
        let unchanged = format!("{{\"kind\":\"unchanged\",\"resultId\":\"{id}\"}}");
        return Ok(JsonBuffer::from(unchanged.into_bytes()));
    }
    let head = format!("{{\"kind\":\"full\",\"resultId\":\"{id}\",\"items\":");
    Ok(JsonBuffer::from(items).surround(head.into_bytes(), b"}"))
}

/// The id of a result. Equal diagnostics have equal ids.
fn result_id(items: &[u8]) -> String {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(items);
    format!("{:016x}", hasher.finish())
}
