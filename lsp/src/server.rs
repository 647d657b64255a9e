//! The table of what the server does: each request, and the function in [`crate::request`] that answers it.
//!
//! *Law.* A handler sends its question to the document's actor before its first `await`, and awaits nothing but the answer: never
//! the client. What must be asked of the client is spawned, with a time limit (see [`crate::ask`]).

use std::sync::Arc;

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;
use tower_lsp::{Client, LanguageServer};

use crate::actor::{Document, NoAnswer};
use crate::ingress::leave_raw;
use crate::job::Job;
use crate::json::{JsonArray, Pieces};
use crate::request::{
    action, command, diagnostic, hierarchy, lifecycle, navigation, outline, overlay, token, writing,
};
use crate::session::Session;
use crate::view::View;

/// The handlers.
#[derive(Debug)]
pub(crate) struct Server {
    /// What all of them share.
    pub session: Arc<Session>,
}

impl Server {
    /// The handlers of a connection.
    pub(crate) fn new(client: Client, session: Arc<Session>) -> Self {
        session.set_client(client);
        Self { session }
    }

    /// Asks a document; nothing if it is not open.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        uri: &lsp::Uri,
        ask: impl FnOnce(&mut View<'_>) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let Some(document) = self.session.document(uri) else { return Ok(None) };
        answer(document.query(ask).await)
    }

    /// As [`Server::ask`], for what may take longer.
    pub(crate) async fn run<J: Job>(&self, uri: &lsp::Uri, job: J) -> Result<Option<J::Output>> {
        let Some(document) = self.session.document(uri) else { return Ok(None) };
        answer(document.run(job).await)
    }

    /// As [`Server::run`], for a list that is written by the job; there is nothing in that of a document that is not open. The text is left
    /// to be sent as it is, which the answer of a handler's type would say item by item.
    pub(crate) async fn list<J, T>(&self, uri: &lsp::Uri, job: J) -> Result<Option<T>>
    where
        J: Job<Output = Pieces>,
    {
        leave_raw(self.run(uri, job).await?.unwrap_or_else(|| JsonArray::new().take()));
        Ok(None)
    }

    /// An open document.
    pub(crate) fn document(&self, uri: &lsp::Uri) -> Result<Document> {
        self.session.document(uri).ok_or_else(|| Error::invalid_params("the document is not open"))
    }
}

fn answer<T>(answer: std::result::Result<T, NoAnswer>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(NoAnswer::Gone) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

/// One line for each request: the method, what it takes and gives, and what answers it.
macro_rules! table {
    ($($method:ident($params:ty) -> $answer:ty = $handler:path;)*) => {
        impl LanguageServer for Server {
            async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
                lifecycle::initialize(self, params)
            }

            async fn initialized(&self, _: lsp::InitializedParams) {
                lifecycle::initialized(self);
            }

            async fn shutdown(&self) -> Result<()> {
                Ok(())
            }

            $(async fn $method(&self, params: $params) -> Result<$answer> {
                $handler(self, params).await
            })*
        }
    };
}

table! {
    diagnostic(lsp::DocumentDiagnosticParams) -> lsp::DocumentDiagnosticReportResult = diagnostic::pull;

    hover(lsp::HoverParams) -> Option<lsp::Hover> = overlay::hover;
    inlay_hint(lsp::InlayHintParams) -> Option<Vec<lsp::InlayHint>> = overlay::hints;
    inlay_hint_resolve(lsp::InlayHint) -> lsp::InlayHint = overlay::resolve_hint;
    code_lens(lsp::CodeLensParams) -> Option<Vec<lsp::CodeLens>> = overlay::lenses;

    code_action(lsp::CodeActionParams) -> Option<lsp::CodeActionResponse> = action::actions;
    code_action_resolve(lsp::CodeAction) -> lsp::CodeAction = action::resolve;
    execute_command(lsp::ExecuteCommandParams) -> Option<Value> = command::execute;

    goto_definition(lsp::GotoDefinitionParams) -> Option<lsp::GotoDefinitionResponse> = navigation::definition;
    references(lsp::ReferenceParams) -> Option<Vec<lsp::Location>> = navigation::references;
    document_highlight(lsp::DocumentHighlightParams) -> Option<Vec<lsp::DocumentHighlight>> = navigation::highlights;
    prepare_rename(lsp::TextDocumentPositionParams) -> Option<lsp::PrepareRenameResponse> = navigation::prepare_rename;
    rename(lsp::RenameParams) -> Option<lsp::WorkspaceEdit> = navigation::rename;

    linked_editing_range(lsp::LinkedEditingRangeParams) -> Option<lsp::LinkedEditingRanges> = navigation::linked;
    document_link(lsp::DocumentLinkParams) -> Option<Vec<lsp::DocumentLink>> = outline::links;

    prepare_call_hierarchy(lsp::CallHierarchyPrepareParams) -> Option<Vec<lsp::CallHierarchyItem>> = hierarchy::prepare;
    incoming_calls(lsp::CallHierarchyIncomingCallsParams) -> Option<Vec<lsp::CallHierarchyIncomingCall>> = hierarchy::incoming;
    outgoing_calls(lsp::CallHierarchyOutgoingCallsParams) -> Option<Vec<lsp::CallHierarchyOutgoingCall>> = hierarchy::outgoing;

    document_symbol(lsp::DocumentSymbolParams) -> Option<lsp::DocumentSymbolResponse> = outline::symbols;
    symbol(lsp::WorkspaceSymbolParams) -> Option<lsp::WorkspaceSymbolResponse> = outline::workspace_symbols;
    folding_range(lsp::FoldingRangeParams) -> Option<Vec<lsp::FoldingRange>> = outline::folds;
    selection_range(lsp::SelectionRangeParams) -> Option<Vec<lsp::SelectionRange>> = outline::selections;

    semantic_tokens_full(lsp::SemanticTokensParams) -> Option<lsp::SemanticTokensResult> = token::full;
    semantic_tokens_full_delta(lsp::SemanticTokensDeltaParams) -> Option<lsp::SemanticTokensFullDeltaResult> = token::delta;
    semantic_tokens_range(lsp::SemanticTokensRangeParams) -> Option<lsp::SemanticTokensRangeResult> = token::range;

    completion(lsp::CompletionParams) -> Option<lsp::CompletionResponse> = writing::completion;
    completion_resolve(lsp::CompletionItem) -> lsp::CompletionItem = writing::resolve_completion;
    signature_help(lsp::SignatureHelpParams) -> Option<lsp::SignatureHelp> = writing::signature;
}
