//! Overlays of the text: hovers, hints, lenses.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower_lsp::ls_types as lsp;

use super::action::{PLACE, place};
use crate::features::read::budget::{Most, Used};
use crate::features::read::hint::Hint;
use crate::features::read::hover::Hover;
use crate::features::read::lens::Lens;
use crate::features::write::action::{RepairRequest, Scope, placed_ops};
use crate::optimizer::Found;
use crate::proto::markup::content;
use crate::proto::view::View;

pub(crate) fn hover(view: &View<'_>, it: Hover) -> lsp::Hover {
    let is_plain = view.connection.capabilities().plain_hovers;
    lsp::Hover {
        contents: lsp::HoverContents::Markup(content(is_plain, it.text)),
        range: Some(view.range(&it.range)),
    }
}

/// Data of an inlay hint. The server resolves the hint with it, and clients may color hints over
/// the budget.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HintData<Uri> {
    pub uri: Uri,
    /// The version of the document.
    pub version: i32,
    /// Byte offset in that version.
    pub offset: usize,
    /// True if it shows noise over the budget.
    pub is_over: bool,
}

/// An inlay hint in the format of the protocol. [`lsp::InlayHint`] would store its data as a JSON
/// tree.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownHint<'a> {
    position: lsp::Position,
    label: String,
    kind: lsp::InlayHintKind,
    padding_left: bool,
    data: HintData<&'a lsp::Uri>,
}

/// An inlay hint. A hint over the budget is marked, because clients show all hints in one color.
pub(crate) fn hint<'a>(view: &View<'a>, position: lsp::Position, it: Hint) -> ShownHint<'a> {
    ShownHint {
        position,
        label: if it.is_over { format!("⚠ {}", it.label) } else { it.label },
        kind: lsp::InlayHintKind::TYPE,
        padding_left: true,
        data: HintData {
            uri: view.uri,
            version: view.version,
            offset: it.offset,
            is_over: it.is_over,
        },
    }
}

/// A code lens. For a function over the budget, a click places reductions, and the title shows the
/// result once it is known.
pub(crate) fn lens(view: &View<'_>, it: &Lens) -> lsp::CodeLens {
    let mut command =
        lsp::Command { title: it.title.clone(), command: String::new(), arguments: None };
    // A client that applies no edits cannot run the placement command.
    let places = view.connection.capabilities().applies_edits;
    if let Some((start, name)) = it.function.as_ref().filter(|_| places) {
        let scope = Scope::Function(*start, name.clone());
        let repair = RepairRequest::of(scope);
        let solution = view.solution(&repair);
        let what = match solution.map(|it| &it.found) {
            Some(Found::Fix(fix)) => uncapitalized(&fix.title),
            Some(Found::Refused(why)) => format!("cannot place: {why}"),
            Some(Found::Nothing) => "nothing to insert".to_owned(),
            None => format!("insert optimal {}", placed_ops(view.document)),
        };
        command.title = format!("{}: {what}", command.title);
        if !matches!(solution.map(|it| &it.found), Some(Found::Nothing | Found::Refused(_))) {
            let place = place(view, &repair);
            PLACE.clone_into(&mut command.command);
            command.arguments = Some(serde_json::to_value(place).into_iter().collect());
        }
    }
    lsp::CodeLens { range: view.range(&it.range), command: Some(command), data: None }
}

/// A code lens with the savings of rewriting a function. A click rewrites the function. `None`
/// while the savings are unknown, or if there are none.
pub(crate) fn rewriting_lens(view: &View<'_>, it: &Lens) -> Option<lsp::CodeLens> {
    if !view.settings.editor.rewriting_lenses || !view.connection.capabilities().applies_edits {
        return None;
    }
    let (start, name) = it.function.as_ref()?;
    let repair = RepairRequest::rewriting(Scope::Function(*start, name.clone()));
    let Found::Fix(fix) = &view.solution(&repair)?.found else { return None };
    let command = lsp::Command {
        title: uncapitalized(&fix.title),
        command: PLACE.to_owned(),
        arguments: Some(serde_json::to_value(place(view, &repair)).into_iter().collect()),
    };
    Some(lsp::CodeLens { range: view.range(&it.range), command: Some(command), data: None })
}

/// An op in the answer of `noisy/budget`.
pub(crate) fn used(view: &View<'_>, it: Used) -> Value {
    json!({ "line": view.position(it.offset).line, "percent": it.percent })
}

/// The function in the answer of `noisy/budget`.
pub(crate) fn most(it: Most) -> Value {
    json!({ "name": it.function, "text": it.text, "isOver": it.is_over })
}

/// Converts the first letter of a title to lower case, for the middle of a sentence.
fn uncapitalized(title: &str) -> String {
    let mut chars = title.chars();
    chars.next().map_or_else(String::new, |it| it.to_lowercase().chain(chars).collect())
}
