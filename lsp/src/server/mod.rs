//! The table of requests, each with the function in [`crate::requests`] that answers it.
//!
//! *Law.* A handler sends its query to the document's actor before its first `await`, and awaits
//! nothing but the answer: never the client. Requests to the client are sent in separate tasks,
//! with a time limit (see [`crate::connection::client_requests`]).

pub(crate) mod capabilities;
pub(crate) mod dispatch;
pub(crate) mod ingress;
pub(crate) mod lifecycle;
pub(crate) mod parent;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod run;
#[cfg(target_family = "wasm")]
pub mod web;

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use tower_lsp::LanguageServer;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::proto::params::{BudgetParams, ExplainParams, GraphParams};
use crate::requests::{
    action, command, diagnostic, format, hierarchy, navigation, outline, overlay, picture, token,
    writing,
};
use crate::session::Session;
use crate::wire::json::JsonBuffer;

/// The handlers.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// The state of all handlers.
    pub session: Arc<Session>,
}

/// An answer that is written as JSON text.
pub(crate) type JsonAnswer = BoxFuture<'static, Result<JsonBuffer>>;

/// One line for each request: its types and its handler. A `made` answer has few items, and
/// `tower_lsp` converts it to a tree of JSON values. A `written` answer covers a whole file, and
/// the handler writes it as text.
macro_rules! table {
    (
        made: $($method:ident($params:ty) -> $answer:ty = $handler:path;)*
    ; written: $($name:literal($list:ty) = $writer:path;)*
    ) => {
        impl LanguageServer for Server {
            async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
                lifecycle::initialize(&self.session, params)
            }

            async fn initialized(&self, _: lsp::InitializedParams) {
                lifecycle::initialized(&self.session);
            }

            async fn shutdown(&self) -> Result<()> {
                Ok(())
            }

            $(async fn $method(&self, params: $params) -> Result<$answer> {
                $handler(&self.session, params).await
            })*
        }

        impl Server {
            /// Answers a request with a `written` answer; `None` for other requests.
            pub(crate) fn json_answer(&self, method: &str, params: Option<&Value>) -> Option<JsonAnswer> {
                let session = self.session.clone();
                match method {
                    $($name => {
                        let params = <$list>::deserialize(params.unwrap_or(&Value::Null));
                        Some(async move {
                            let params = params.map_err(|it| Error::invalid_params(it.to_string()))?;
                            $writer(&session, params).await
                        }.boxed())
                    })*
                    _ => None,
                }
            }
        }
    };
}

table! {
    made:

    hover(lsp::HoverParams) -> Option<lsp::Hover> = overlay::hover;
    inlay_hint_resolve(lsp::InlayHint) -> lsp::InlayHint = overlay::resolve_hint;

    code_action(lsp::CodeActionParams) -> Option<lsp::CodeActionResponse> = action::actions;
    code_action_resolve(lsp::CodeAction) -> lsp::CodeAction = action::resolve;
    execute_command(lsp::ExecuteCommandParams) -> Option<Value> = command::execute;

    formatting(lsp::DocumentFormattingParams) -> Option<Vec<lsp::TextEdit>> = format::format_document;
    range_formatting(lsp::DocumentRangeFormattingParams) -> Option<Vec<lsp::TextEdit>> = format::format_range;
    on_type_formatting(lsp::DocumentOnTypeFormattingParams) -> Option<Vec<lsp::TextEdit>> = format::format_on_type;

    goto_definition(lsp::GotoDefinitionParams) -> Option<lsp::GotoDefinitionResponse> = navigation::definition;
    prepare_rename(lsp::TextDocumentPositionParams) -> Option<lsp::PrepareRenameResponse> = navigation::prepare_rename;
    rename(lsp::RenameParams) -> Option<lsp::WorkspaceEdit> = navigation::rename;
    linked_editing_range(lsp::LinkedEditingRangeParams) -> Option<lsp::LinkedEditingRanges> = navigation::linked;

    prepare_call_hierarchy(lsp::CallHierarchyPrepareParams) -> Option<Vec<lsp::CallHierarchyItem>> = hierarchy::prepare;
    incoming_calls(lsp::CallHierarchyIncomingCallsParams) -> Option<Vec<lsp::CallHierarchyIncomingCall>> = hierarchy::incoming;
    outgoing_calls(lsp::CallHierarchyOutgoingCallsParams) -> Option<Vec<lsp::CallHierarchyOutgoingCall>> = hierarchy::outgoing;

    symbol(lsp::WorkspaceSymbolParams) -> Option<lsp::WorkspaceSymbolResponse> = outline::workspace_symbols;
    selection_range(lsp::SelectionRangeParams) -> Option<Vec<lsp::SelectionRange>> = outline::selections;

    completion(lsp::CompletionParams) -> Option<lsp::CompletionResponse> = writing::completion;
    completion_resolve(lsp::CompletionItem) -> lsp::CompletionItem = writing::resolve_completion;
    signature_help(lsp::SignatureHelpParams) -> Option<lsp::SignatureHelp> = writing::signature;

    ; written:

    "textDocument/diagnostic"(lsp::DocumentDiagnosticParams) = diagnostic::pull_diagnostics;

    "textDocument/inlayHint"(lsp::InlayHintParams) = overlay::hints;
    "textDocument/codeLens"(lsp::CodeLensParams) = overlay::lenses;
    "noisy/budget"(BudgetParams) = overlay::budget;
    "noisy/graph"(GraphParams) = picture::graph;
    "noisy/explain"(ExplainParams) = picture::explain;

    "textDocument/references"(lsp::ReferenceParams) = navigation::references;
    "textDocument/documentHighlight"(lsp::DocumentHighlightParams) = navigation::highlights;

    "textDocument/documentSymbol"(lsp::DocumentSymbolParams) = outline::symbols;
    "textDocument/foldingRange"(lsp::FoldingRangeParams) = outline::folds;
    "textDocument/documentLink"(lsp::DocumentLinkParams) = outline::links;

    "textDocument/semanticTokens/full"(lsp::SemanticTokensParams) = token::full_tokens;
    "textDocument/semanticTokens/full/delta"(lsp::SemanticTokensDeltaParams) = token::delta_tokens;
    "textDocument/semanticTokens/range"(lsp::SemanticTokensRangeParams) = token::range_tokens;
}
