//! Help while writing: completion and signatures.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::config_file;
use crate::features::write::completion;
use crate::features::write::signature;
use crate::proto;
use crate::proto::view::DocumentView;
use crate::session::Session;

/// The proposals at a position.
pub(crate) async fn completion(
    session: &Session,
    params: lsp::CompletionParams,
) -> Result<Option<lsp::CompletionResponse>> {
    if let Some(list) = config_file::completion(session, &params) {
        return Ok(Some(lsp::CompletionResponse::List(list)));
    }
    let at = params.text_document_position;
    let ask = move |view: &mut DocumentView<'_>| {
        let found = completion::completion(view.document, view.offset(at.position));
        proto::writing::completion(view, found)
    };
    let list =
        session.exclusive_documents().ask(&at.text_document.uri, ask).await?.unwrap_or_default();
    Ok(Some(lsp::CompletionResponse::List(list)))
}

/// The documentation of a proposal.
pub(crate) async fn resolve_completion(
    session: &Session,
    mut item: lsp::CompletionItem,
) -> Result<lsp::CompletionItem> {
    if let Some(text) = completion::documentation(&item.label) {
        let is_plain = session.connection.capabilities().needs_plain_completions;
        let text = proto::markup::markup_content(is_plain, text);
        item.documentation = Some(lsp::Documentation::MarkupContent(text));
    }
    Ok(item)
}

/// The signature at a position.
pub(crate) async fn signature(
    session: &Session,
    params: lsp::SignatureHelpParams,
) -> Result<Option<lsp::SignatureHelp>> {
    let at = params.text_document_position_params;
    let ask = move |view: &mut DocumentView<'_>| {
        let found = signature::signature(view.document, view.offset(at.position));
        found.map(|it| proto::writing::signature(view, &it))
    };
    Ok(session.exclusive_documents().ask(&at.text_document.uri, ask).await?.flatten())
}
