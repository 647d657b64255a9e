//! Positions in documents.

use tower_lsp::ls_types as lsp;

use crate::connection::docs;
use crate::features::definition::Definition;
use crate::features::link::{Link, Target};
use crate::proto::view::View;

/// Definitions, as links if the client accepts them.
pub(crate) fn definition(view: &View<'_>, it: &Definition) -> lsp::GotoDefinitionResponse {
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
pub(crate) fn link(view: &View<'_>, it: &Link) -> Option<lsp::DocumentLink> {
    let (target, tooltip) = match &it.target {
        Target::Code(code) => (docs::link(view.connection, code)?, format!("What {code} means")),
        Target::File(path, line, column) => {
            let here = view.uri.to_file_path()?;
            let file = lsp::Uri::from_file_path(here.parent()?.join(path))?;
            // Editors take the line and the column from the fragment.
            let place = format!("{}#L{line},{column}", file.as_str());
            (place.parse().ok()?, format!("{path}:{line}:{column}"))
        }
    };
    let (target, tooltip) = (Some(target), Some(tooltip));
    Some(lsp::DocumentLink { range: view.range(&it.range), target, tooltip, data: None })
}
