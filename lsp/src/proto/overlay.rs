//! What is shown over the text: hovers, hints, lenses.

use tower_lsp::ls_types as lsp;

use super::action::{PLACE, place};
use crate::features::action::{Placement, Scope};
use crate::features::hint::Hint;
use crate::features::hover::Hover;
use crate::features::lens::Lens;
use crate::optimizer::{Found, Solution};
use crate::proto::view::View;

/// A hover.
pub(crate) fn hover(view: &View<'_>, it: Hover) -> lsp::Hover {
    let contents = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: it.text };
    lsp::Hover {
        contents: lsp::HoverContents::Markup(contents),
        range: Some(view.range(&it.range)),
    }
}

/// An inlay hint.
pub(crate) fn hint(view: &View<'_>, it: Hint) -> lsp::InlayHint {
    lsp::InlayHint {
        position: view.position(it.offset),
        label: it.label.into(),
        kind: Some(lsp::InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: serde_json::to_value((view.uri, view.version, it.offset)).ok(),
    }
}

/// A code lens; one on a function over the budget places when it is clicked, and says what that will do once that is known.
pub(crate) fn lens(view: &View<'_>, it: &Lens) -> lsp::CodeLens {
    let (start, name) = &it.function;
    let scope = Scope::Function(*start, name.clone());
    let placement = Placement { scope, anew: false };
    let solution = view.solution(&placement);
    let mut command = lsp::Command { title: it.title(), command: String::new(), arguments: None };
    if it.max > it.budget {
        let what = match solution.map(|it| &it.found) {
            Some(Found::Fix(fix)) => fix.title.clone(),
            Some(Found::Nothing) => "no placement helps".to_owned(),
            None => format!("Insert optimal {}", view.document.model().reset_name()),
        };
        command.title = format!("{}: {what}", command.title);
        if !matches!(solution, Some(Solution { found: Found::Nothing, .. })) {
            let place = place(view, &placement);
            PLACE.clone_into(&mut command.command);
            command.arguments = Some(serde_json::to_value(place).into_iter().collect());
        }
    }
    lsp::CodeLens { range: view.range(&it.range), command: Some(command), data: None }
}
