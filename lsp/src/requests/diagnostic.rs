//! Diagnostics for clients that ask for them; the others get them from the actor after each edit.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use crate::proto;
use crate::session::Session;

/// The diagnostics of a document, or that they are those of the last time.
pub(crate) async fn pull(
    session: &Session,
    params: lsp::DocumentDiagnosticParams,
) -> Result<lsp::DocumentDiagnosticReportResult> {
    let found = session
        .ask(&params.text_document.uri, |view| proto::diagnostic::all(view))
        .await?
        .unwrap_or_default();
    let id = result_id(&found);
    let report = if params.previous_result_id.as_ref() == Some(&id) {
        let unchanged = lsp::UnchangedDocumentDiagnosticReport { result_id: id };
        lsp::DocumentDiagnosticReport::Unchanged(lsp::RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: unchanged,
        })
    } else {
        let full = lsp::FullDocumentDiagnosticReport { result_id: Some(id), items: found };
        lsp::DocumentDiagnosticReport::Full(lsp::RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: full,
        })
    };
    Ok(lsp::DocumentDiagnosticReportResult::Report(report))
}

/// Equal for equal diagnostics.
fn result_id(diagnostics: &[lsp::Diagnostic]) -> String {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(&serde_json::to_vec(diagnostics).unwrap_or_default());
    format!("{:016x}", hasher.finish())
}
