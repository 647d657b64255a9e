//! What is shown over the text: hovers, hints, lenses.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower_lsp::ls_types as lsp;

use super::action::{PLACE, place};
use crate::features::action::{Placement, Scope, placed_ops};
use crate::features::budget::{Most, Used};
use crate::features::hint::Hint;
use crate::features::hover::Hover;
use crate::features::lens::Lens;
use crate::optimizer::Found;
use crate::proto::view::View;

/// A hover.
pub(crate) fn hover(view: &View<'_>, it: Hover) -> lsp::Hover {
    let contents = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: it.text };
    lsp::Hover {
        contents: lsp::HoverContents::Markup(contents),
        range: Some(view.range(&it.range)),
    }
}

/// What an inlay hint carries to be resolved, and for clients that colour those over the budget.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HintData {
    /// The document.
    pub uri: lsp::Uri,
    /// The version that it is about.
    pub version: i32,
    /// Its place in that version, in bytes.
    pub offset: usize,
    /// Whether it tells of noise over the budget.
    pub is_over: bool,
}

/// An inlay hint; one over the budget is marked, since clients show all hints in one colour.
pub(crate) fn hint(view: &View<'_>, it: Hint) -> lsp::InlayHint {
    lsp::InlayHint {
        position: view.position(it.offset),
        label: if it.is_over { format!("⚠ {}", it.label) } else { it.label }.into(),
        kind: Some(lsp::InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: serde_json::to_value(HintData {
            uri: view.uri.clone(),
            version: view.version,
            offset: it.offset,
            is_over: it.is_over,
        })
        .ok(),
    }
}

/// A code lens; one on a function over the budget places when it is clicked, and says what that will do once that is known.
pub(crate) fn lens(view: &View<'_>, it: &Lens) -> lsp::CodeLens {
    let mut command =
        lsp::Command { title: it.title.clone(), command: String::new(), arguments: None };
    if let Some((start, name)) = &it.function {
        let scope = Scope::Function(*start, name.clone());
        let placement = Placement { scope, anew: false };
        let solution = view.solution(&placement);
        let what = match solution.map(|it| &it.found) {
            Some(Found::Fix(fix)) => uncapitalized(&fix.title),
            Some(Found::Refused(why)) => format!("cannot place: {why}"),
            Some(Found::Nothing) => "nothing to insert".to_owned(),
            None => format!("insert optimal {}", placed_ops(view.document)),
        };
        command.title = format!("{}: {what}", command.title);
        if !matches!(solution.map(|it| &it.found), Some(Found::Nothing | Found::Refused(_))) {
            let place = place(view, &placement);
            PLACE.clone_into(&mut command.command);
            command.arguments = Some(serde_json::to_value(place).into_iter().collect());
        }
    }
    lsp::CodeLens { range: view.range(&it.range), command: Some(command), data: None }
}

/// An op of `noisy/budget`.
pub(crate) fn used(view: &View<'_>, it: Used) -> Value {
    json!({ "line": view.position(it.offset).line, "percent": it.percent })
}

/// The function of `noisy/budget`.
pub(crate) fn most(it: Most) -> Value {
    json!({ "name": it.function, "text": it.text, "isOver": it.is_over })
}

/// A title for the middle of a sentence.
fn uncapitalized(title: &str) -> String {
    let mut chars = title.chars();
    chars.next().map_or_else(String::new, |it| it.to_lowercase().chain(chars).collect())
}
