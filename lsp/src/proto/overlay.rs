//! Overlays of the text: hovers, hints, lenses.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower_lsp::ls_types as lsp;

use super::action::{PLACE_COMMAND, place_request};
use crate::features::read::budget::{BudgetUse, LargestNoise};
use crate::features::read::hint::Hint;
use crate::features::read::hover::Hover;
use crate::features::read::lens::Lens;
use crate::features::write::action::{ActionScope, RepairRequest, placed_ops};
use crate::optimizer::RepairAnswer;
use crate::proto::markup::markup_content;
use crate::proto::view::DocumentView;

pub(crate) fn hover(view: &DocumentView<'_>, it: Hover) -> lsp::Hover {
    let is_plain = view.connection.capabilities().needs_plain_hovers;
    lsp::Hover {
        contents: lsp::HoverContents::Markup(markup_content(is_plain, it.text)),
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
pub(crate) fn hint<'a>(
    view: &DocumentView<'a>,
    position: lsp::Position,
    it: Hint,
) -> ShownHint<'a> {
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
pub(crate) fn lens(view: &DocumentView<'_>, it: &Lens) -> lsp::CodeLens {
    let mut command =
        lsp::Command { title: it.title.clone(), command: String::new(), arguments: None };
    // A client that applies no edits cannot run the placement command.
    let places = view.connection.capabilities().applies_edits;
    if let Some((start, name)) = it.function.as_ref().filter(|_| places) {
        let scope = ActionScope::Function(*start, name.clone());
        let repair = RepairRequest::of(scope);
        let solution = view.solution(&repair);
        let what = match solution.map(|it| &it.found) {
            Some(RepairAnswer::Fix(fix)) => uncapitalized(&fix.title),
            Some(RepairAnswer::Refused(why)) => format!("cannot place: {why}"),
            Some(RepairAnswer::Nothing) => "nothing to insert".to_owned(),
            None => format!("insert optimal {}", placed_ops(view.document)),
        };
        command.title = format!("{}: {what}", command.title);
        if !matches!(
            solution.map(|it| &it.found),
            Some(RepairAnswer::Nothing | RepairAnswer::Refused(_))
        ) {
            let place = place_request(view, &repair);
            PLACE_COMMAND.clone_into(&mut command.command);
            command.arguments = Some(serde_json::to_value(place).into_iter().collect());
        }
    }
    lsp::CodeLens { range: view.range(&it.range), command: Some(command), data: None }
}

/// A code lens with the savings of rewriting a function. A click rewrites the function. `None`
/// while the savings are unknown, or if there are none.
pub(crate) fn rewriting_lens(view: &DocumentView<'_>, it: &Lens) -> Option<lsp::CodeLens> {
    if !view.settings.editor.shows_rewriting_lenses || !view.connection.capabilities().applies_edits
    {
        return None;
    }
    let (start, name) = it.function.as_ref()?;
    let repair = RepairRequest::rewriting(ActionScope::Function(*start, name.clone()));
    let RepairAnswer::Fix(fix) = &view.solution(&repair)?.found else { return None };
    let command = lsp::Command {
        title: uncapitalized(&fix.title),
        command: PLACE_COMMAND.to_owned(),
        arguments: Some(serde_json::to_value(place_request(view, &repair)).into_iter().collect()),
    };
    Some(lsp::CodeLens { range: view.range(&it.range), command: Some(command), data: None })
}

/// An op in the answer of `noisy/budget`.
pub(crate) fn budget_use(view: &DocumentView<'_>, it: BudgetUse) -> Value {
    json!({ "line": view.position(it.offset).line, "percent": it.percent })
}

/// The function in the answer of `noisy/budget`.
pub(crate) fn largest_noise(it: LargestNoise) -> Value {
    json!({ "name": it.function, "text": it.text, "isOver": it.is_over })
}

/// Converts the first letter of a title to lower case, for the middle of a sentence.
fn uncapitalized(title: &str) -> String {
    let mut chars = title.chars();
    chars.next().map_or_else(String::new, |it| it.to_lowercase().chain(chars).collect())
}
