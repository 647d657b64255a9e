//! From a name to where it is defined and used, and giving it another one.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::features::{definition, linked, reference, rename};
use crate::server::Server;
use crate::view::View;
use crate::{from_proto, to_proto};

/// Where something is defined.
pub(crate) async fn definition(
    server: &Server,
    params: lsp::GotoDefinitionParams,
) -> Result<Option<lsp::GotoDefinitionResponse>> {
    let at = params.text_document_position_params;
    let ask = move |view: &mut View<'_>| {
        let found = definition::definition(view.document.source(), view.offset(at.position));
        found.map(|it| to_proto::navigation::definition(view, &it))
    };
    let found = server.ask(&at.text_document.uri, ask).await?.flatten();
    Ok(Some(found.unwrap_or(lsp::GotoDefinitionResponse::Array(Vec::new()))))
}

/// Where something is named.
pub(crate) async fn references(
    server: &Server,
    params: lsp::ReferenceParams,
) -> Result<Option<Vec<lsp::Location>>> {
    let at = params.text_document_position;
    let with_definition = params.context.include_declaration;
    let ask = move |view: &mut View<'_>| {
        let found = reference::references(view.document.source(), view.offset(at.position));
        to_proto::navigation::locations(view, &found, with_definition)
    };
    Ok(Some(server.ask(&at.text_document.uri, ask).await?.unwrap_or_default()))
}

/// The same, to be highlighted.
pub(crate) async fn highlights(
    server: &Server,
    params: lsp::DocumentHighlightParams,
) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
    let at = params.text_document_position_params;
    let ask = move |view: &mut View<'_>| {
        let found = reference::references(view.document.source(), view.offset(at.position));
        to_proto::navigation::highlights(view, &found)
    };
    Ok(Some(server.ask(&at.text_document.uri, ask).await?.unwrap_or_default()))
}

/// What a rename would rename.
pub(crate) async fn prepare_rename(
    server: &Server,
    at: lsp::TextDocumentPositionParams,
) -> Result<Option<lsp::PrepareRenameResponse>> {
    let ask = move |view: &mut View<'_>| {
        let target = rename::prepare(view.document.source(), view.offset(at.position))?;
        let range = view.range(&target.range);
        Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: target.text })
    };
    Ok(server.ask(&at.text_document.uri, ask).await?.flatten())
}

/// The edits of a rename, or why there are none.
pub(crate) async fn rename(
    server: &Server,
    params: lsp::RenameParams,
) -> Result<Option<lsp::WorkspaceEdit>> {
    let at = params.text_document_position;
    let ask = move |view: &mut View<'_>| {
        let edits =
            rename::rename(view.document.source(), view.offset(at.position), &params.new_name)?;
        let edits = to_proto::edit::edits(view.text(), view.session.abilities().encoding, &edits);
        Ok(to_proto::edit::workspace(view.session, view.uri, view.version, edits))
    };
    let done = server.ask(&at.text_document.uri, ask).await?.transpose();
    done.map_err(|why: String| from_proto::refused(why))
}

/// What is typed over at once.
pub(crate) async fn linked(
    server: &Server,
    params: lsp::LinkedEditingRangeParams,
) -> Result<Option<lsp::LinkedEditingRanges>> {
    let at = params.text_document_position_params;
    let ask = move |view: &mut View<'_>| {
        let found = linked::linked(view.document.source(), view.offset(at.position));
        found.iter().map(|it| view.range(it)).collect::<Vec<_>>()
    };
    let ranges = server.ask(&at.text_document.uri, ask).await?.unwrap_or_default();
    let word_pattern = Some("[A-Za-z0-9$._-]+".to_owned());
    Ok((!ranges.is_empty()).then_some(lsp::LinkedEditingRanges { ranges, word_pattern }))
}
