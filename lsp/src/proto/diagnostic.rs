//! Diagnostics.

use noisy_analyses::{Diagnostic, MAX_DIAGNOSTICS, Severity, Tag, most_severe};
use serde_json::json;
use tower_lsp::ls_types as lsp;

use crate::connection::code_pages;
use crate::proto::view::DocumentView;

/// The diagnostics of a document: all of them, or the most severe ones and the number of the
/// others.
pub(crate) fn all_diagnostics(view: &DocumentView<'_>) -> Vec<lsp::Diagnostic> {
    let (found, n_left) = most_severe(view.diagnostics(), MAX_DIAGNOSTICS);
    let mut out: Vec<_> = found.iter().map(|it| diagnostic(view, it)).collect();
    if n_left > 0 {
        out.push(lsp::Diagnostic {
            severity: Some(lsp::DiagnosticSeverity::INFORMATION),
            code: Some(lsp::NumberOrString::String("more".to_owned())),
            source: Some("noisy".to_owned()),
            message: format!("{n_left} more diagnostics in this file are not shown"),
            ..lsp::Diagnostic::default()
        });
    }
    out
}

/// The diagnostic of a document that cannot be analyzed.
pub(crate) fn internal_error() -> lsp::Diagnostic {
    lsp::Diagnostic {
        severity: Some(lsp::DiagnosticSeverity::WARNING),
        code: Some(lsp::NumberOrString::String("internal-error".to_owned())),
        source: Some("noisy".to_owned()),
        message: "noisy-lsp failed on this text; please report it".to_owned(),
        ..lsp::Diagnostic::default()
    }
}

pub(crate) fn diagnostic(view: &DocumentView<'_>, it: &Diagnostic) -> lsp::Diagnostic {
    let capabilities = view.connection.capabilities();
    let range = view.range(&it.range);
    let mut message = it.message.clone();
    let mut related = Vec::new();
    let mut relate = |range, message| {
        let location = lsp::Location { uri: view.uri.clone(), range };
        related.push(lsp::DiagnosticRelatedInformation { location, message });
    };
    if capabilities.related_information {
        for step in &it.related {
            relate(view.range(&step.range), step.message.clone());
        }
        if let Some(help) = &it.help {
            // Problem views truncate long lines, so each sentence gets its own line.
            for (n, sentence) in help.split(". ").enumerate() {
                relate(range, format!("{}{sentence}", if n == 0 { "help: " } else { "" }));
            }
        }
    } else if let Some(help) = &it.help {
        message = format!("{message}\nhelp: {help}");
    }
    let tag = |tag: &Tag| match tag {
        Tag::Unnecessary => lsp::DiagnosticTag::UNNECESSARY,
    };
    let tags: Vec<_> =
        if capabilities.diagnostic_tags { it.tags.iter().map(tag).collect() } else { Vec::new() };
    lsp::Diagnostic {
        range,
        severity: Some(match it.severity {
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            Severity::Info => lsp::DiagnosticSeverity::INFORMATION,
            Severity::Hint => lsp::DiagnosticSeverity::HINT,
        }),
        code: Some(lsp::NumberOrString::String(it.code.to_owned())),
        source: Some("noisy".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: (!tags.is_empty()).then_some(tags),
        code_description: code_pages::page_of_code(view.connection, it.code)
            .map(|href| lsp::CodeDescription { href }),
        data: capabilities
            .diagnostic_data
            .then(|| json!({ "category": it.category.name(), "version": view.version })),
    }
}
