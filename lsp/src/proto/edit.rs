//! Edits.

use std::collections::HashMap;

use noisy_analyses::TextEdit;
use ropey::Rope;
use tower_lsp::ls_types as lsp;

use crate::connection::Connection;
use crate::text::encoding::Encoding;
use crate::text::position;

/// Edits of a text.
pub(crate) fn edits(text: &Rope, encoding: Encoding, edits: &[TextEdit]) -> Vec<lsp::TextEdit> {
    let edit = |it: &TextEdit| lsp::TextEdit {
        range: position::range(text, &it.range, encoding),
        new_text: it.text.clone(),
    };
    edits.iter().map(edit).collect()
}

/// Edits of a version of a document.
pub(crate) fn workspace(
    connection: &Connection,
    uri: &lsp::Uri,
    version: i32,
    edits: Vec<lsp::TextEdit>,
) -> lsp::WorkspaceEdit {
    if connection.capabilities().document_changes {
        let text_document = lsp::OptionalVersionedTextDocumentIdentifier {
            uri: uri.clone(),
            version: Some(version),
        };
        let edits = edits.into_iter().map(lsp::OneOf::Left).collect();
        let changes =
            lsp::DocumentChanges::Edits(vec![lsp::TextDocumentEdit { text_document, edits }]);
        return lsp::WorkspaceEdit {
            document_changes: Some(changes),
            ..lsp::WorkspaceEdit::default()
        };
    }
    let changes = HashMap::from([(uri.clone(), edits)]);
    lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() }
}
