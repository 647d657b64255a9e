//! From the protocol's types to plain data, where that is more than a position.

use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::ls_types as lsp;

use crate::features::action::{RepairRequest, Scope};
use crate::features::refactor;

/// What a code action, a code lens or a command carries to say what the optimizer shall do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlaceRequest {
    /// The document.
    pub uri: lsp::Uri,
    /// The version of the document that it is about; of a command any will do.
    pub version: Option<i32>,
    /// Where the function starts, in bytes of that version, and its name; all functions if left out.
    pub function: Option<(usize, String)>,
    /// Repair the diagnostics of this code, and place nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Existing `reduce_noise` may be removed.
    #[serde(default)]
    pub anew: bool,
    /// Functions may be rewritten so that they need fewer `reduce_noise`.
    #[serde(default)]
    pub rewrites: bool,
}

impl PlaceRequest {
    /// Returns the repair that is asked for.
    pub(crate) fn repair(&self) -> RepairRequest {
        let scope = match (&self.code, &self.function) {
            (Some(code), _) => Scope::Code(code.clone()),
            (None, Some((start, name))) => Scope::Function(*start, name.clone()),
            (None, None) => Scope::File,
        };
        RepairRequest { scope, anew: self.anew, rewrites: self.rewrites }
    }
}

/// What a code action carries to be resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ResolveData {
    /// Repair a scope.
    Place(PlaceRequest),
    /// Change the text and not what it computes.
    Refactor {
        /// The document.
        uri: lsp::Uri,
        /// The version of the document that it is about.
        version: i32,
        /// What.
        kind: refactor::Kind,
        /// With what, in bytes of that version.
        range: std::ops::Range<usize>,
        /// What it is called.
        title: String,
    },
    /// Find the best order of a nest.
    Schedule {
        /// The document.
        uri: lsp::Uri,
        /// The version of the document that it is about.
        version: i32,
        /// Where the nest starts, in bytes of that version.
        nest: usize,
    },
}

/// What `noisy/budget` is asked with.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BudgetParams {
    /// The document.
    pub text_document: lsp::TextDocumentIdentifier,
    /// The ops that are asked about.
    pub range: lsp::Range,
    /// A place in the function that is asked about.
    pub position: Option<lsp::Position>,
}

/// `RequestFailed`: the request is right, but what it asks for cannot be done.
pub(crate) fn refused(why: String) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: why.into(), data: None }
}

/// Whether actions of a kind are asked for.
pub(crate) fn wants(context: &lsp::CodeActionContext, kind: &str) -> bool {
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
        assert!(wants(&lsp::CodeActionContext::default(), "quickfix"));
        for (asked, yes) in [
            ("source.fixAll.noisy", true),
            ("source.fixAll", true),
            ("source", true),
            ("", true),
            ("sour", false),
            ("source.fixAll.ruff", false),
            ("quickfix", false),
        ] {
            assert_eq!(wants(&only(&[asked]), "source.fixAll.noisy"), yes, "{asked}");
        }
        assert!(!wants(&only(&[]), "quickfix"));
    }
}
