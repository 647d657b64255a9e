//! Overlays of the text: hovers, hints, lenses.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::config_file;
use crate::features::read::budget;
use crate::features::read::hint;
use crate::features::read::hover;
use crate::features::read::lens;
use crate::proto;
use crate::proto::overlay::HintData;
use crate::proto::params::BudgetParams;
use crate::proto::view::DocumentView;
use crate::session::Session;
use crate::text::position::IncrementalPositions;
use crate::wire::json::{JsonArray, JsonBuffer};

/// The hover at a position.
pub(crate) async fn hover(
    session: &Session,
    params: lsp::HoverParams,
) -> Result<Option<lsp::Hover>> {
    if let Some(found) = config_file::hover(session, &params) {
        return Ok(Some(found));
    }
    let at = params.text_document_position_params;
    let ask = move |view: &mut DocumentView<'_>| {
        hover::hover(view.document, view.offset(at.position), view.settings.file.loops)
            .filter(|it| it.is_about_noise || !view.is_noise_only())
            .map(|it| proto::overlay::hover(view, it))
    };
    Ok(session.ask(&at.text_document.uri, ask).await?.flatten())
}

/// The hints of a range. The answer is never null, because some clients take null for "unchanged".
pub(crate) async fn hints(session: &Session, params: lsp::InlayHintParams) -> Result<JsonBuffer> {
    let (mut hints, mut forward, mut out) = (None, None, JsonArray::new());
    let job = move |view: &mut DocumentView<'_>| {
        let wanted = &view.settings.file.hints;
        let forward = forward.get_or_insert_with(|| {
            IncrementalPositions::new(view.connection.capabilities().encoding)
        });
        let hints = hints.get_or_insert_with(|| {
            let nests = view.cache.nests.clone();
            let loops = view.settings.file.loops;
            hint::HintJob::new(view.document, view.offsets(params.range), wanted, loops, nests)
        });
        let more = hints.step(view.document, wanted, &mut |it| {
            let position = forward.position_at(view.text(), it.offset);
            out.push(&proto::overlay::hint(view, position, it));
        });
        (!more).then(|| out.finish())
    };
    let found = session.run_in(&params.text_document.uri, params.range, job).await?;
    Ok(found.unwrap_or_else(|| JsonArray::new().finish()))
}

/// A hint with its tooltip, if the document has not changed since.
pub(crate) async fn resolve_hint(
    session: &Session,
    mut hint: lsp::InlayHint,
) -> Result<lsp::InlayHint> {
    let data = hint.data.clone().unwrap_or_default();
    let Ok(HintData::<lsp::Uri> { uri, version, offset, .. }) = serde_json::from_value(data) else {
        return Ok(hint);
    };
    let ask = move |view: &mut DocumentView<'_>| {
        (view.version == version)
            .then(|| hover::hover(view.document, offset, view.settings.file.loops))
            .flatten()
    };
    if let Some(hover) = session.ask(&uri, ask).await?.flatten() {
        let is_plain = session.connection.capabilities().needs_plain_hovers;
        let text = proto::markup::markup_content(is_plain, hover.text);
        hint.tooltip = Some(text.into());
    }
    Ok(hint)
}

/// The lenses of a document.
pub(crate) async fn lenses(session: &Session, params: lsp::CodeLensParams) -> Result<JsonBuffer> {
    let (mut lenses, mut out) = (None, JsonArray::new());
    let job = move |view: &mut DocumentView<'_>| {
        if !view.settings.editor.shows_lenses {
            return Some(out.finish());
        }
        let lenses = lenses.get_or_insert_with(|| lens::LensJob::new(view.document));
        let more = lenses.step(view.document, &mut |it| {
            out.push(&proto::overlay::lens(view, &it));
            if let Some(rewriting) = proto::overlay::rewriting_lens(view, &it) {
                out.push(&rewriting);
            }
        });
        (!more).then(|| out.finish())
    };
    session.list(&params.text_document.uri, job).await
}

/// The share of the budget that the ops of a range use, and the maximum of the function at a
/// position: a request of this server, documented in docs/editors.md.
pub(crate) async fn budget(session: &Session, params: BudgetParams) -> Result<JsonBuffer> {
    let uri = params.text_document.uri.clone();
    let (mut search, mut ops) = (None, JsonArray::new());
    let job = move |view: &mut DocumentView<'_>| {
        let document = view.document;
        let search = search.get_or_insert_with(|| {
            let cursor = params.position.map(|it| view.offset(it));
            budget::BudgetJob::new(document, view.offsets(params.range), cursor)
        });
        let more = search.step(document, &mut |it| ops.push(&proto::overlay::budget_use(view, it)));
        (!more).then(|| {
            let most = search.largest_noise(document).map(proto::overlay::largest_noise);
            let most = serde_json::to_string(&most).unwrap_or_else(|_| "null".to_owned());
            let after = format!(",\"function\":{most}}}");
            ops.finish().surround(b"{\"ops\":".to_vec(), after.as_bytes())
        })
    };
    let found = session.run_in(&uri, params.range, job).await?;
    Ok(found.unwrap_or_else(|| JsonBuffer::from(b"{\"ops\":[],\"function\":null}".to_vec())))
}
