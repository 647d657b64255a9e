//! Parameters of requests, and their conversion to plain data.

use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::ls_types as lsp;

use crate::features::write::action::{ActionScope, RepairRequest};
use crate::features::write::refactor;

/// The task for the optimizer that a code action, a code lens or a command contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlaceRequest {
    pub uri: lsp::Uri,
    /// The version of the document; `None` for the newest one.
    pub version: Option<i32>,
    /// The byte offset of the function in that version, and its name; `None` for all functions.
    pub function: Option<(usize, String)>,
    /// If given, only the diagnostics of this code are repaired, without a placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// True if existing `reduce_noise` may be removed.
    #[serde(default)]
    pub anew: bool,
    /// True if functions may be rewritten so that they need fewer `reduce_noise`.
    #[serde(default)]
    pub rewrites: bool,
}

impl PlaceRequest {
    /// A request for the placement in all functions of the newest version of a document.
    pub(crate) fn of(uri: lsp::Uri) -> Self {
        Self { uri, version: None, function: None, code: None, anew: false, rewrites: false }
    }

    /// Returns the requested repair.
    pub(crate) fn repair(&self) -> RepairRequest {
        let scope = match (&self.code, &self.function) {
            (Some(code), _) => ActionScope::Code(code.clone()),
            (None, Some((start, name))) => ActionScope::Function(*start, name.clone()),
            (None, None) => ActionScope::File,
        };
        RepairRequest { scope, anew: self.anew, rewrites: self.rewrites }
    }
}

/// Data of a code action, from which the server resolves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ResolveData {
    /// Repairs a scope.
    Place(PlaceRequest),
    /// Changes the text without changing the meaning of the program.
    Refactor {
        uri: lsp::Uri,
        /// The version of the document.
        version: i32,
        kind: refactor::RefactorKind,
        /// Range in bytes of that version.
        range: std::ops::Range<usize>,
        title: String,
    },
    /// Applies the best schedule of a nest.
    Schedule {
        uri: lsp::Uri,
        /// The version of the document.
        version: i32,
        /// Byte offset of the nest in that version.
        nest: usize,
    },
}

/// Parameters of `noisy/budget`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BudgetParams {
    pub text_document: lsp::TextDocumentIdentifier,
    /// The range of the ops.
    pub range: lsp::Range,
    /// A position in the function.
    pub position: Option<lsp::Position>,
}

/// Parameters of `noisy/graph`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphParams {
    pub text_document: lsp::TextDocumentIdentifier,
    /// A position in the function.
    pub position: Option<lsp::Position>,
    /// True if the function is also drawn after the placement.
    #[serde(default)]
    pub fix: bool,
}

/// Parameters of `noisy/explain`.
#[derive(Debug, Deserialize)]
pub(crate) struct ExplainParams {
    pub code: String,
}

/// `RequestFailed`: the request is valid but cannot be fulfilled.
pub(crate) fn request_failed(why: String) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: why.into(), data: None }
}

/// True if actions of a kind are requested.
pub(crate) fn is_requested(context: &lsp::CodeActionContext, kind: &str) -> bool {
    context.only.as_ref().is_none_or(|only| {
        only.iter().any(|it| {
            let asked = it.as_str();
            asked.is_empty()
                || kind == asked
                || kind.strip_prefix(asked).is_some_and(|it| it.starts_with('.'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_a_hierarchy() {
        let only = |kinds: &[&str]| lsp::CodeActionContext {
            only: Some(
                kinds.iter().map(|it| lsp::CodeActionKind::from((*it).to_owned())).collect(),
            ),
            ..lsp::CodeActionContext::default()
        };
        assert!(is_requested(&lsp::CodeActionContext::default(), "quickfix"));
        for (asked, yes) in [
            ("source.fixAll.noisy", true),
            ("source.fixAll", true),
            ("source", true),
            ("", true),
            ("sour", false),
            ("source.fixAll.ruff", false),
            ("quickfix", false),
        ] {
            assert_eq!(is_requested(&only(&[asked]), "source.fixAll.noisy"), yes, "{asked}");
        }
        assert!(!is_requested(&only(&[]), "quickfix"));
    }
}
