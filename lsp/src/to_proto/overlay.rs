//! What is shown over the text: hovers, hints, lenses.

use tower_lsp::ls_types as lsp;

use super::action::PLACE;
use crate::features::hint::Hint;
use crate::features::hover::Hover;
use crate::features::lens::Lens;
use crate::from_proto::Place;
use crate::view::View;

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

/// A code lens; one on a function over the budget places when it is clicked.
pub(crate) fn lens(view: &View<'_>, it: &Lens) -> lsp::CodeLens {
    let place = Place {
        uri: view.uri.clone(),
        version: Some(view.version),
        function: Some(it.function.clone()),
    };
    let is_over = it.max > it.budget;
    let arguments = is_over.then(|| vec![serde_json::to_value(place).unwrap_or_default()]);
    // Without a command a lens is only text.
    let command = if is_over { PLACE.to_owned() } else { String::new() };
    lsp::CodeLens {
        range: view.range(&it.range),
        command: Some(lsp::Command { title: it.title(), command, arguments }),
        data: None,
    }
}
