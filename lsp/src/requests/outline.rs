//! The structure of a document: symbols, folds, selections, links.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::features::find::link;
use crate::features::find::selection;
use crate::features::read::folding;
use crate::features::read::symbol;
use crate::proto;
use crate::proto::view::DocumentView;
use crate::session::Session;
use crate::wire::json::{JsonArray, JsonBuffer, JsonTree};

/// Maximum number of symbols found in a workspace.
const MAX_SYMBOLS: usize = 500;

/// The symbols of a document, as a tree if the client accepts one.
pub(crate) async fn symbols(
    session: &Session,
    params: lsp::DocumentSymbolParams,
) -> Result<JsonBuffer> {
    let uri = params.text_document.uri;
    let is_tree = session.connection.capabilities().symbol_tree;
    let (mut outline, mut tree, mut flat) = (None, JsonTree::new(), JsonArray::new());
    let job = move |view: &mut DocumentView<'_>| {
        let source = view.document.source();
        let outline = outline.get_or_insert_with(|| symbol::OutlineJob::new(source));
        let more = outline.step(source, &mut |it| {
            if is_tree {
                tree.push(it.depth, &proto::symbol::document_symbol(view, &it));
            } else {
                flat.push(&proto::symbol::symbol_information(view, it));
            }
        });
        (!more).then(|| if is_tree { tree.finish() } else { flat.finish() })
    };
    session.exclusive_documents().list(&uri, job).await
}

/// The symbols of all open documents that match a query.
pub(crate) async fn workspace_symbols(
    session: &Session,
    params: lsp::WorkspaceSymbolParams,
) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
    // All documents get the query before the first answer is awaited.
    let asked: Vec<_> = session
        .all_documents()
        .into_iter()
        .map(|document| {
            let (query, mut outline, mut found) = (params.query.clone(), None, Vec::new());
            document.run(move |view: &mut DocumentView<'_>| {
                if view.is_noise_only() {
                    return Some(Vec::new());
                }
                let source = view.document.source();
                let outline = outline.get_or_insert_with(|| symbol::OutlineJob::new(source));
                let more = outline.step(source, &mut |it| {
                    if symbol::matches_query(&it.name, &query) {
                        found.push(proto::symbol::symbol_information(view, it));
                    }
                });
                let is_done = !more || found.len() >= MAX_SYMBOLS;
                is_done.then(|| std::mem::take(&mut found))
            })
        })
        .collect();
    let mut out = Vec::new();
    for answer in asked {
        // A document that changes or closes before it answers is left out.
        out.extend(answer.await.unwrap_or_default());
    }
    out.truncate(MAX_SYMBOLS);
    Ok(Some(lsp::WorkspaceSymbolResponse::Flat(out)))
}

/// The folds of a document.
pub(crate) async fn folds(
    session: &Session,
    params: lsp::FoldingRangeParams,
) -> Result<JsonBuffer> {
    let (mut folds, mut out) = (None, JsonArray::new());
    let job = move |view: &mut DocumentView<'_>| {
        let source = view.document.source();
        let folds = folds.get_or_insert_with(|| folding::FoldJob::new(source));
        let more = folds.step(source, &mut |it| {
            if let Some(fold) = proto::symbol::fold(view, &it) {
                out.push(&fold);
            }
        });
        (!more).then(|| out.finish())
    };
    session.exclusive_documents().list(&params.text_document.uri, job).await
}

/// The expanded selections.
pub(crate) async fn selections(
    session: &Session,
    params: lsp::SelectionRangeParams,
) -> Result<Option<Vec<lsp::SelectionRange>>> {
    let ask = move |view: &mut DocumentView<'_>| {
        let one = |(n, it): (usize, &lsp::Position)| {
            if n >= selection::MAX_CURSORS {
                let range = lsp::Range { start: *it, end: *it };
                return lsp::SelectionRange { range, parent: None };
            }
            let ranges = selection::selection(view.document.source(), view.offset(*it));
            proto::symbol::selection(view, &ranges)
        };
        params.positions.iter().enumerate().map(one).collect()
    };
    Ok(Some(
        session
            .exclusive_documents()
            .ask(&params.text_document.uri, ask)
            .await?
            .unwrap_or_default(),
    ))
}

/// The links of a document.
pub(crate) async fn links(
    session: &Session,
    params: lsp::DocumentLinkParams,
) -> Result<JsonBuffer> {
    let (mut links, mut out) = (link::LinkJob::default(), JsonArray::new());
    let job = move |view: &mut DocumentView<'_>| {
        let more = links.step(view.document.source(), &mut |it| {
            if let Some(link) = proto::navigation::link(view, &it) {
                out.push(&link);
            }
        });
        (!more).then(|| out.finish())
    };
    session.list(&params.text_document.uri, job).await
}
