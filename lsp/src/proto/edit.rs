//! Edits.

use std::collections::HashMap;
use std::ops::Range;

use noisy_analyses::TextEdit;
use ropey::Rope;
use tower_lsp::ls_types as lsp;

use crate::connection::Connection;
use crate::text::encoding::Encoding;
use crate::text::position;

/// One edit of a text.
pub(crate) fn edit(
    text: &Rope,
    encoding: Encoding,
    range: &Range<usize>,
    new: &str,
) -> lsp::TextEdit {
    let range = position::range(text, range, encoding);
    lsp::TextEdit { range, new_text: new.to_owned() }
}

/// Edits of a text.
pub(crate) fn edits(text: &Rope, encoding: Encoding, edits: &[TextEdit]) -> Vec<lsp::TextEdit> {
    let edit = |it: &TextEdit| edit(text, encoding, &it.range, &it.text);
    edits.iter().map(edit).collect()
}

/// Edits with a title, for clients that show a preview of edits. Clients show edits that need
/// confirmation as a diff, and apply only those that the user selects.
pub(crate) fn titled_workspace_edit(
    connection: &Connection,
    uri: &lsp::Uri,
    version: i32,
    edits: Vec<lsp::TextEdit>,
    title: &str,
    needs_confirmation: bool,
) -> lsp::WorkspaceEdit {
    let capabilities = connection.capabilities();
    if !(capabilities.document_changes && capabilities.annotates_edits) {
        return versioned_workspace_edit(connection, uri, version, edits);
    }
    let id = "noisy".to_owned();
    let annotated = |text_edit| {
        lsp::OneOf::Right(lsp::AnnotatedTextEdit { text_edit, annotation_id: id.clone() })
    };
    let text_document =
        lsp::OptionalVersionedTextDocumentIdentifier { uri: uri.clone(), version: Some(version) };
    let edits = edits.into_iter().map(annotated).collect();
    let annotation = lsp::ChangeAnnotation {
        label: title.to_owned(),
        needs_confirmation: Some(needs_confirmation),
        description: None,
    };
    lsp::WorkspaceEdit {
        document_changes: Some(lsp::DocumentChanges::Edits(vec![lsp::TextDocumentEdit {
            text_document,
            edits,
        }])),
        change_annotations: Some(HashMap::from([(id.clone(), annotation)])),
        ..lsp::WorkspaceEdit::default()
    }
}

/// Edits of a document version.
pub(crate) fn versioned_workspace_edit(
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
