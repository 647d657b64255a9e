//! Pages that an editor shows beside a program: requests of this server, documented in
//! docs/editors.md. Each answer contains the whole page.

use noisy_analyses::{Document, Rule};
use ropey::Rope;
use tower_lsp::jsonrpc::{Error, Result};

use super::placement;
use crate::documents::job::NoAnswer;
use crate::features::find::cursor;
use crate::host;
use crate::optimizer::RepairAnswer;
use crate::proto::params::{ExplainParams, GraphParams, PlaceRequest, request_failed};
use crate::proto::view::DocumentView;
use crate::session::Session;
use crate::wire::json::JsonBuffer;

/// The noise graph of the function at a position, as HTML; without a position, of the first
/// function that is over the budget. With `fix`, also the graph after the placement.
pub(crate) async fn graph(session: &Session, params: GraphParams) -> Result<JsonBuffer> {
    let uri = params.text_document.uri;
    let document = session.open_document(&uri)?;
    let look = move |view: &mut DocumentView<'_>| {
        let ir = view.document.ir();
        let at = params.position.and_then(|it| cursor::function_at(ir, view.offset(it)));
        let function = match at {
            Some(it) => it,
            None => noisy_graph::choose_function(view.document, None)?,
        };
        let name = view.document.function_name(function);
        Ok((view.text().clone(), view.document.model().clone(), ir.range(function).start, name))
    };
    let (text, model, start, name) = document.query(look).await?.map_err(request_failed)?;
    let mut fixed = None;
    if params.fix {
        let function = Some((start, name));
        let request = PlaceRequest { function, ..PlaceRequest::of(uri.clone()) };
        let (placed, _, solution) = placement::solution(session, &document, &request).await?;
        if placed != text {
            return Err(NoAnswer::Modified.into());
        }
        match solution.found {
            RepairAnswer::Fix(fix) => fixed = Some(fix),
            RepairAnswer::Refused(why) => return Err(request_failed(why)),
            RepairAnswer::Nothing => {}
        }
    }
    let draw = move |text: Rope| {
        let text = text.to_string();
        let document = Document::with_model(&text, model.clone());
        let function = cursor::function_at(document.ir(), start)?;
        let fixed =
            fixed.map(|fix| (Document::with_model(&fix.apply(&text), model), fix.title.clone()));
        let fixed = fixed.as_ref().map(|it| (&it.0, &*it.1));
        let name = uri.path().as_str().rsplit('/').next().unwrap_or_default();
        Some(noisy_graph::html(name, &noisy_graph::build_graphs(&document, function, fixed)))
    };
    let page = host::apart("graph", move || draw(text)).map_err(|_| Error::internal_error())?;
    let page = page.await.flatten().ok_or_else(Error::internal_error)?;
    Ok(json_string(&page))
}

/// The page of a code, in Markdown.
pub(crate) async fn explain(_: &Session, params: ExplainParams) -> Result<JsonBuffer> {
    let rule = Rule::find(&params.code);
    let rule = rule.ok_or_else(|| request_failed(format!("unknown code {}", params.code)))?;
    Ok(json_string(&rule.page()))
}

fn json_string(text: &str) -> JsonBuffer {
    JsonBuffer::from(serde_json::Value::from(text).to_string().into_bytes())
}
