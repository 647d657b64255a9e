//! The shape of a document: symbols, folds, selections, links.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::features::{fold, link, selection, symbol};
use crate::json::{JsonArray, JsonTree};
use crate::server::Server;
use crate::to_proto;
use crate::view::View;

/// Not more symbols than this are found in a workspace.
const MAX_SYMBOLS: usize = 500;

/// The symbols of a document, as a tree where the client takes one.
pub(crate) async fn symbols(
    server: &Server,
    params: lsp::DocumentSymbolParams,
) -> Result<Option<lsp::DocumentSymbolResponse>> {
    let uri = params.text_document.uri;
    let is_tree = server.session.abilities().symbol_tree;
    let (mut outline, mut tree, mut flat) = (None, JsonTree::new(), JsonArray::new());
    let job = move |view: &mut View<'_>| {
        let source = view.document.source();
        let outline = outline.get_or_insert_with(|| symbol::Outline::new(source));
        let more = outline.step(source, &mut |it| {
            if is_tree {
                tree.push(it.depth, &to_proto::symbol::document_symbol(view, &it));
            } else {
                flat.push(&to_proto::symbol::information(view, it));
            }
        });
        (!more).then(|| if is_tree { tree.take() } else { flat.take() })
    };
    server.list(&uri, job).await
}

/// The symbols of all open documents that match a query.
pub(crate) async fn workspace_symbols(
    server: &Server,
    params: lsp::WorkspaceSymbolParams,
) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
    // All documents are asked before the first answer is awaited.
    let asked: Vec<_> = server
        .session
        .all_documents()
        .into_iter()
        .map(|document| {
            let (query, mut outline, mut found) = (params.query.clone(), None, Vec::new());
            document.run(move |view: &mut View<'_>| {
                let source = view.document.source();
                let outline = outline.get_or_insert_with(|| symbol::Outline::new(source));
                let more = outline.step(source, &mut |it| {
                    if symbol::matches(&it.name, &query) {
                        found.push(to_proto::symbol::information(view, it));
                    }
                });
                let is_done = !more || found.len() >= MAX_SYMBOLS;
                is_done.then(|| std::mem::take(&mut found))
            })
        })
        .collect();
    let mut out = Vec::new();
    for answer in asked {
        // A document that changes or closes meanwhile has no part in the answer.
        out.extend(answer.await.unwrap_or_default());
    }
    out.truncate(MAX_SYMBOLS);
    Ok(Some(lsp::WorkspaceSymbolResponse::Flat(out)))
}

/// What can be folded.
pub(crate) async fn folds(
    server: &Server,
    params: lsp::FoldingRangeParams,
) -> Result<Option<Vec<lsp::FoldingRange>>> {
    let (mut folds, mut out) = (None, JsonArray::new());
    let job = move |view: &mut View<'_>| {
        let source = view.document.source();
        let folds = folds.get_or_insert_with(|| fold::Folds::new(source));
        let more = folds.step(source, &mut |it| {
            if let Some(fold) = to_proto::symbol::fold(view, &it) {
                out.push(&fold);
            }
        });
        (!more).then(|| out.take())
    };
    server.list(&params.text_document.uri, job).await
}

/// What a selection grows to.
pub(crate) async fn selections(
    server: &Server,
    params: lsp::SelectionRangeParams,
) -> Result<Option<Vec<lsp::SelectionRange>>> {
    let ask = move |view: &mut View<'_>| {
        let one = |it: &lsp::Position| {
            let ranges = selection::selection(view.document.source(), view.offset(*it));
            to_proto::symbol::selection(view, &ranges)
        };
        params.positions.iter().map(one).collect()
    };
    Ok(Some(server.ask(&params.text_document.uri, ask).await?.unwrap_or_default()))
}

/// What leads elsewhere.
pub(crate) async fn links(
    server: &Server,
    params: lsp::DocumentLinkParams,
) -> Result<Option<Vec<lsp::DocumentLink>>> {
    let (mut links, mut out) = (link::Links::default(), JsonArray::new());
    let job = move |view: &mut View<'_>| {
        let more = links.step(view.document.source(), &mut |it| {
            if let Some(link) = to_proto::navigation::link(view, &it) {
                out.push(&link);
            }
        });
        (!more).then(|| out.take())
    };
    server.list(&params.text_document.uri, job).await
}
