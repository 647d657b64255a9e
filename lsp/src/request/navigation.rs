//! From a name to where it is defined and used, and giving it another one.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::features::{cursor, definition, linked, reference, rename};
use crate::ingress::leave_raw;
use crate::json::JsonArray;
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

/// Where something is named, in textual order, and whether it is defined there.
async fn named(
    server: &Server,
    at: lsp::TextDocumentPositionParams,
) -> Result<Vec<(lsp::Range, bool)>> {
    let (mut search, mut found) = (None, Vec::new());
    let job = move |view: &mut View<'_>| {
        let source = view.document.source();
        if search.is_none() {
            let mention = cursor::mention_at(source, view.offset(at.position));
            search = mention.map(|it| reference::Search::new(source.ir(), it.thing));
        }
        let more = search.as_mut().is_some_and(|it| {
            it.step(source.ir(), &mut |it| found.push((view.range(&it.range), it.defines)))
        });
        (!more).then(|| std::mem::take(&mut found))
    };
    let found = server.run(&at.text_document.uri, job).await?;
    let mut found = found.unwrap_or_default();
    reference::in_order(&mut found, |it| ((it.0.start.line, it.0.start.character), it.1));
    Ok(found)
}

/// Where something is named.
pub(crate) async fn references(
    server: &Server,
    params: lsp::ReferenceParams,
) -> Result<Option<Vec<lsp::Location>>> {
    let uri = params.text_document_position.text_document.uri.clone();
    let with_definition = params.context.include_declaration;
    let found = named(server, params.text_document_position).await?.into_iter();
    let found = found.filter(|it| with_definition || !it.1);
    let mut out = JsonArray::new();
    found.for_each(|(range, _)| out.push(&lsp::Location { uri: uri.clone(), range }));
    leave_raw(out.take());
    Ok(None)
}

/// The same, to be highlighted.
pub(crate) async fn highlights(
    server: &Server,
    params: lsp::DocumentHighlightParams,
) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
    let found = named(server, params.text_document_position_params).await?.into_iter();
    let mut out = JsonArray::new();
    for (range, defines) in found {
        let kind = if defines {
            lsp::DocumentHighlightKind::WRITE
        } else {
            lsp::DocumentHighlightKind::READ
        };
        out.push(&lsp::DocumentHighlight { range, kind: Some(kind) });
    }
    leave_raw(out.take());
    Ok(None)
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
