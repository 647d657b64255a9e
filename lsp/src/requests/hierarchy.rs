//! The call hierarchy.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::features::find::hierarchy::{self, CallsOfFunction};
use crate::proto::symbol::call_item;
use crate::proto::view::DocumentView;
use crate::session::Session;

/// The function at a position.
pub(crate) async fn prepare(
    session: &Session,
    params: lsp::CallHierarchyPrepareParams,
) -> Result<Option<Vec<lsp::CallHierarchyItem>>> {
    let at = params.text_document_position_params;
    let ask = move |view: &mut DocumentView<'_>| {
        let found = hierarchy::function_named_at(view.document.source(), view.offset(at.position));
        found.and_then(|op| call_item(view, op)).into_iter().collect()
    };
    Ok(Some(
        session.exclusive_documents().ask(&at.text_document.uri, ask).await?.unwrap_or_default(),
    ))
}

/// The callers of a function.
pub(crate) async fn incoming(
    session: &Session,
    params: lsp::CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<lsp::CallHierarchyIncomingCall>>> {
    let item = params.item;
    let ask = move |view: &mut DocumentView<'_>| {
        let at = view.offset(item.selection_range.start);
        let function = hierarchy::function_named_at(view.document.source(), at)?;
        let call = |it: &CallsOfFunction| {
            Some(lsp::CallHierarchyIncomingCall {
                from: call_item(view, it.function)?,
                from_ranges: it.ranges.iter().map(|it| view.range(it)).collect(),
            })
        };
        Some(hierarchy::callers(view.document.ir(), function).iter().filter_map(call).collect())
    };
    Ok(Some(session.exclusive_documents().ask(&item.uri, ask).await?.flatten().unwrap_or_default()))
}

/// The callees of a function.
pub(crate) async fn outgoing(
    session: &Session,
    params: lsp::CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<lsp::CallHierarchyOutgoingCall>>> {
    let item = params.item;
    let ask = move |view: &mut DocumentView<'_>| {
        let at = view.offset(item.selection_range.start);
        let function = hierarchy::function_named_at(view.document.source(), at)?;
        let call = |it: &CallsOfFunction| {
            Some(lsp::CallHierarchyOutgoingCall {
                to: call_item(view, it.function)?,
                from_ranges: it.ranges.iter().map(|it| view.range(it)).collect(),
            })
        };
        Some(hierarchy::callees(view.document.ir(), function).iter().filter_map(call).collect())
    };
    Ok(Some(session.exclusive_documents().ask(&item.uri, ask).await?.flatten().unwrap_or_default()))
}
