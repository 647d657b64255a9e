//! Positions in documents.

use tower_lsp::ls_types as lsp;

use crate::connection::code_pages;
use crate::features::find::definition::Definition;
use crate::features::find::link::{Link, LinkTarget};
use crate::proto::view::DocumentView;

/// Definitions, as links if the client accepts them.
pub(crate) fn definition(view: &DocumentView<'_>, it: &Definition) -> lsp::GotoDefinitionResponse {
    let name = view.range(&it.name);
    if view.connection.capabilities().definition_links {
        return lsp::GotoDefinitionResponse::Link(vec![lsp::LocationLink {
            origin_selection_range: Some(view.range(&it.origin)),
            target_uri: view.uri.clone(),
            target_range: view.range(&it.whole),
            target_selection_range: name,
        }]);
    }
    lsp::GotoDefinitionResponse::Array(vec![lsp::Location { uri: view.uri.clone(), range: name }])
}

/// A link; `None` if it has no target.
pub(crate) fn link(view: &DocumentView<'_>, it: &Link) -> Option<lsp::DocumentLink> {
    let (target, tooltip) = match &it.target {
        LinkTarget::Code(code) => {
            (code_pages::page_of_code(view.connection, code)?, format!("Explain {code}"))
        }
        LinkTarget::File(path, line, column) => {
            let here = view.uri.to_file_path()?;
            let file = lsp::Uri::from_file_path(here.parent()?.join(path))?;
            // Editors read the line and the column from the fragment of the URI. Both count from 1;
            // in a location, 0 means unknown.
            let (fragment, tooltip) = match (line, column) {
                (0, _) => (String::new(), path.clone()),
                (_, 0) => (format!("#L{line}"), format!("{path}:{line}")),
                _ => (format!("#L{line},{column}"), format!("{path}:{line}:{column}")),
            };
            (format!("{}{fragment}", file.as_str()).parse().ok()?, tooltip)
        }
    };
    let (target, tooltip) = (Some(target), Some(tooltip));
    Some(lsp::DocumentLink { range: view.range(&it.range), target, tooltip, data: None })
}
