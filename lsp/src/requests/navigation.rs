//! Definitions, references and renames.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::features::find::cursor;
use crate::features::find::definition;
use crate::features::find::reference;
use crate::features::write::linked;
use crate::features::write::rename;
use crate::proto;
use crate::proto::params;
use crate::proto::view::DocumentView;
use crate::session::Session;
use crate::wire::json::{JsonArray, JsonBuffer};

/// The definition of an entity.
pub(crate) async fn definition(
    session: &Session,
    params: lsp::GotoDefinitionParams,
) -> Result<Option<lsp::GotoDefinitionResponse>> {
    let at = params.text_document_position_params;
    let ask = move |view: &mut DocumentView<'_>| {
        let found = definition::definition(view.document.source(), view.offset(at.position));
        found.map(|it| proto::navigation::definition(view, &it))
    };
    let found = session.exclusive_documents().ask(&at.text_document.uri, ask).await?.flatten();
    Ok(Some(found.unwrap_or(lsp::GotoDefinitionResponse::Array(Vec::new()))))
}

/// The mentions of an entity in textual order. The flag is true for a definition.
async fn mentions_at(
    session: &Session,
    at: lsp::TextDocumentPositionParams,
) -> Result<Vec<(lsp::Range, bool)>> {
    let (mut search, mut found) = (None, Vec::new());
    let job = move |view: &mut DocumentView<'_>| {
        let source = view.document.source();
        if search.is_none() {
            let mention = cursor::mention_at(source, view.offset(at.position));
            search = mention.map(|it| reference::ReferenceJob::new(source.ir(), it.entity));
        }
        let more = search.as_mut().is_some_and(|it| {
            it.step(source.ir(), &mut |it| found.push((view.range(&it.range), it.is_definition)))
        });
        (!more).then(|| std::mem::take(&mut found))
    };
    let found = session.exclusive_documents().run(&at.text_document.uri, job).await?;
    let mut found = found.unwrap_or_default();
    reference::sort_and_dedup(&mut found, |it| ((it.0.start.line, it.0.start.character), it.1));
    Ok(found)
}

/// The references of an entity.
pub(crate) async fn references(
    session: &Session,
    params: lsp::ReferenceParams,
) -> Result<JsonBuffer> {
    let uri = params.text_document_position.text_document.uri.clone();
    let with_definition = params.context.include_declaration;
    let found = mentions_at(session, params.text_document_position).await?.into_iter();
    let found = found.filter(|it| with_definition || !it.1);
    let mut out = JsonArray::new();
    found.for_each(|(range, _)| out.push(&lsp::Location { uri: uri.clone(), range }));
    Ok(out.finish())
}

/// The references of an entity in one document, to highlight them.
pub(crate) async fn highlights(
    session: &Session,
    params: lsp::DocumentHighlightParams,
) -> Result<JsonBuffer> {
    let found = mentions_at(session, params.text_document_position_params).await?.into_iter();
    let mut out = JsonArray::new();
    for (range, defines) in found {
        let kind = if defines {
            lsp::DocumentHighlightKind::WRITE
        } else {
            lsp::DocumentHighlightKind::READ
        };
        out.push(&lsp::DocumentHighlight { range, kind: Some(kind) });
    }
    Ok(out.finish())
}

/// The range that a rename would change.
pub(crate) async fn prepare_rename(
    session: &Session,
    at: lsp::TextDocumentPositionParams,
) -> Result<Option<lsp::PrepareRenameResponse>> {
    let ask = move |view: &mut DocumentView<'_>| {
        let target = rename::rename_target(view.document.source(), view.offset(at.position))?;
        let range = view.range(&target.range);
        Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: target.text })
    };
    Ok(session.exclusive_documents().ask(&at.text_document.uri, ask).await?.flatten())
}

/// The edits of a rename, or the reason why there are none.
pub(crate) async fn rename(
    session: &Session,
    params: lsp::RenameParams,
) -> Result<Option<lsp::WorkspaceEdit>> {
    let at = params.text_document_position;
    let ask = move |view: &mut DocumentView<'_>| {
        let edits =
            rename::rename(view.document.source(), view.offset(at.position), &params.new_name)?;
        let edits =
            proto::edit::edits(view.text(), view.connection.capabilities().encoding, &edits);
        Ok(proto::edit::versioned_workspace_edit(view.connection, view.uri, view.version, edits))
    };
    let done = session.exclusive_documents().ask(&at.text_document.uri, ask).await?.transpose();
    done.map_err(|why: String| params::request_failed(why))
}

/// The ranges of linked editing.
pub(crate) async fn linked(
    session: &Session,
    params: lsp::LinkedEditingRangeParams,
) -> Result<Option<lsp::LinkedEditingRanges>> {
    let at = params.text_document_position_params;
    let ask = move |view: &mut DocumentView<'_>| {
        let found = linked::linked_ranges(view.document.source(), view.offset(at.position));
        found.iter().map(|it| view.range(it)).collect::<Vec<_>>()
    };
    let ranges =
        session.exclusive_documents().ask(&at.text_document.uri, ask).await?.unwrap_or_default();
    let word_pattern = Some("[A-Za-z0-9$._-]+".to_owned());
    Ok((!ranges.is_empty()).then_some(lsp::LinkedEditingRanges { ranges, word_pattern }))
}
