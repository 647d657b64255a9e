//! The table of what the server does: each request, the feature that answers it, and the conversion.
//!
//! *Law.* A handler sends its question to the document's actor before its first `await`, and awaits nothing but the answer: never
//! the client. What must be asked of the client is spawned, with a time limit.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;
use tower_lsp::{Client, ClientSocket, LanguageServer, LspService, LspServiceBuilder};

use crate::actor::{Document, Job, NoAnswer, View};
use crate::config::Config;
use crate::features::{
    action, completion, definition, fold, hierarchy, hint, hover, lens, reference, rename,
    selection, signature, symbol, token,
};
use crate::from_proto::{self, Place};
use crate::ingress::leave_raw;
use crate::large::{Steps, TokenData, TokenEdit, TokenEdits, all_tokens, leave};
use crate::session::Session;
use crate::{capabilities, parent, solve, to_proto};

/// Not more symbols than this are found in a workspace.
const MAX_SYMBOLS: usize = 500;

/// How long to wait for an answer of the client.
const PATIENCE: Duration = Duration::from_secs(10);

/// The handlers.
#[derive(Debug)]
pub(crate) struct Server {
    client: Client,
    session: Arc<Session>,
}

/// Replaces the settings and has everything that depends on them shown anew.
pub(crate) fn configure(session: &Session, config: Config) {
    if !session.configure(config) {
        return;
    }
    for document in session.all_documents() {
        document.refresh();
    }
    let Some(client) = session.client() else { return };
    let abilities = session.abilities().clone();
    tokio::spawn(tokio::time::timeout(PATIENCE, async move {
        if abilities.refreshes_hints {
            let _ = client.inlay_hint_refresh().await;
        }
        if abilities.refreshes_diagnostics && abilities.pulls_diagnostics {
            let _ = client.workspace_diagnostic_refresh().await;
        }
    }));
}

/// Tells the user about a wrong setting.
pub(crate) fn complain(session: &Session, why: &str) {
    show(session, lsp::MessageType::WARNING, &format!("noisy: {why}"));
}

fn show(session: &Session, typ: lsp::MessageType, message: &str) {
    let params = lsp::ShowMessageParams { typ, message: message.to_owned() };
    session.outbox.notify("window/showMessage", params);
}

impl Server {
    /// The handlers of a connection.
    pub(crate) fn new(client: Client, session: Arc<Session>) -> Self {
        session.set_client(client.clone());
        Self { client, session }
    }

    /// Adds what is not part of the protocol.
    pub(crate) fn register(builder: LspServiceBuilder<Self>) -> (LspService<Self>, ClientSocket) {
        builder.finish()
    }

    /// Asks a document; nothing if it is not open.
    async fn ask<T: Send + 'static>(
        &self,
        uri: &lsp::Uri,
        ask: impl FnOnce(&mut View<'_>) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let Some(document) = self.session.document(uri) else { return Ok(None) };
        answer(document.query(ask).await)
    }

    /// As [`Server::ask`], for what may take longer.
    async fn run<J: Job>(&self, uri: &lsp::Uri, job: J) -> Result<Option<J::Output>> {
        let Some(document) = self.session.document(uri) else { return Ok(None) };
        answer(document.run(job).await)
    }

    /// Asks the client for its settings, later.
    fn pull_configuration(&self) {
        if !self.session.abilities().configuration {
            return;
        }
        let (client, session) = (self.client.clone(), self.session.clone());
        tokio::spawn(tokio::time::timeout(PATIENCE, async move {
            let item =
                lsp::ConfigurationItem { scope_uri: None, section: Some("noisy".to_owned()) };
            let Ok(sections) = client.configuration(vec![item]).await else { return };
            let Some(section) = sections.into_iter().next().filter(|it| !it.is_null()) else {
                return;
            };
            match Config::read(&section) {
                Ok(config) => configure(&session, config),
                Err(why) => complain(&session, &why),
            }
        }));
    }
}

fn answer<T>(answer: std::result::Result<T, NoAnswer>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(NoAnswer::Gone) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

impl LanguageServer for Server {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        self.session.met(&params.capabilities);
        if let Some(options) = &params.initialization_options {
            match Config::read(options) {
                Ok(config) => {
                    self.session.configure(config);
                }
                Err(why) => complain(&self.session, &why),
            }
        }
        if let Some(id) = params.process_id {
            parent::watch(id);
        }
        Ok(lsp::InitializeResult {
            capabilities: capabilities::of(&self.session),
            server_info: Some(lsp::ServerInfo {
                name: "noisy-lsp".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..lsp::InitializeResult::default()
        })
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        if self.session.abilities().registers_configuration {
            let client = self.client.clone();
            tokio::spawn(tokio::time::timeout(PATIENCE, async move {
                let registration = lsp::Registration {
                    id: "configuration".to_owned(),
                    method: "workspace/didChangeConfiguration".to_owned(),
                    register_options: Some(serde_json::json!({ "section": "noisy" })),
                };
                let _ = client.register_capability(vec![registration]).await;
            }));
        }
        self.pull_configuration();
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_change_configuration(&self, _: lsp::DidChangeConfigurationParams) {
        // What the notification itself says took effect already, in order.
        self.pull_configuration();
    }

    async fn diagnostic(
        &self,
        params: lsp::DocumentDiagnosticParams,
    ) -> Result<lsp::DocumentDiagnosticReportResult> {
        let found = self
            .ask(&params.text_document.uri, |view| to_proto::diagnostics(view))
            .await?
            .unwrap_or_default();
        let id = result_id(&found);
        let report = if params.previous_result_id.as_ref() == Some(&id) {
            let unchanged = lsp::UnchangedDocumentDiagnosticReport { result_id: id };
            lsp::DocumentDiagnosticReport::Unchanged(
                lsp::RelatedUnchangedDocumentDiagnosticReport {
                    related_documents: None,
                    unchanged_document_diagnostic_report: unchanged,
                },
            )
        } else {
            let full = lsp::FullDocumentDiagnosticReport { result_id: Some(id), items: found };
            lsp::DocumentDiagnosticReport::Full(lsp::RelatedFullDocumentDiagnosticReport {
                related_documents: None,
                full_document_diagnostic_report: full,
            })
        };
        Ok(lsp::DocumentDiagnosticReportResult::Report(report))
    }

    async fn hover(&self, params: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        let at = params.text_document_position_params;
        let ask = move |view: &mut View<'_>| {
            hover::hover(view.document, view.offset(at.position))
                .map(|it| to_proto::hover(view, it))
        };
        Ok(self.ask(&at.text_document.uri, ask).await?.flatten())
    }

    async fn inlay_hint(
        &self,
        params: lsp::InlayHintParams,
    ) -> Result<Option<Vec<lsp::InlayHint>>> {
        let ask = move |view: &mut View<'_>| {
            let config = view.session.config();
            if !config.inlay_hints.noise {
                return Vec::new();
            }
            let hints =
                hint::hints(view.document, &view.offsets(params.range), config.inlay_hints.budget);
            hints.into_iter().map(|it| to_proto::hint(view, it)).collect()
        };
        Ok(Some(self.ask(&params.text_document.uri, ask).await?.unwrap_or_default()))
    }

    async fn inlay_hint_resolve(&self, hint: lsp::InlayHint) -> Result<lsp::InlayHint> {
        let mut hint = hint;
        let data = hint.data.clone().unwrap_or_default();
        let Ok((uri, version, offset)) = serde_json::from_value::<(lsp::Uri, i32, usize)>(data)
        else {
            return Ok(hint);
        };
        let ask = move |view: &mut View<'_>| {
            (view.version == version).then(|| hover::hover(view.document, offset)).flatten()
        };
        if let Some(hover) = self.ask(&uri, ask).await?.flatten() {
            let text = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: hover.text };
            hint.tooltip = Some(text.into());
        }
        Ok(hint)
    }

    async fn code_action(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        let ask = move |view: &mut View<'_>| {
            let diagnostics = view.document.diagnostics();
            let found = action::actions(view.document, &view.offsets(params.range), &diagnostics);
            let mut out = Vec::new();
            for it in &found {
                let is_file = matches!(it, action::Action::Place(action::Placement::File, _));
                let (kind, name) = if is_file {
                    (lsp::CodeActionKind::new("source.fixAll.noisy"), "source.fixAll.noisy")
                } else {
                    (lsp::CodeActionKind::QUICKFIX, "quickfix")
                };
                if from_proto::wants(&params.context, name) {
                    out.push(lsp::CodeActionOrCommand::CodeAction(to_proto::action(
                        view, it, kind,
                    )));
                }
            }
            out
        };
        Ok(Some(self.ask(&params.text_document.uri, ask).await?.unwrap_or_default()))
    }

    async fn code_action_resolve(&self, action: lsp::CodeAction) -> Result<lsp::CodeAction> {
        let mut action = action;
        let Some(data) = action.data.clone() else { return Ok(action) };
        let place: Place =
            serde_json::from_value(data).map_err(|it| Error::invalid_params(it.to_string()))?;
        let document = self.document(&place.uri)?;
        let solved = solve::solve(self.session.clone(), document, place).await?;
        if solved.edit.is_none() {
            show(&self.session, lsp::MessageType::WARNING, &solved.report);
        }
        action.edit = solved.edit;
        Ok(action)
    }

    async fn execute_command(&self, params: lsp::ExecuteCommandParams) -> Result<Option<Value>> {
        let mut arguments = params.arguments.into_iter();
        match params.command.as_str() {
            to_proto::PLACE => {
                let place = arguments.next().unwrap_or_default();
                let place: Place = serde_json::from_value(place)
                    .map_err(|it| Error::invalid_params(it.to_string()))?;
                let document = self.document(&place.uri)?;
                let solved = solve::solve(self.session.clone(), document, place).await?;
                if let Some(edit) = solved.edit {
                    let client = self.client.clone();
                    tokio::spawn(tokio::time::timeout(PATIENCE, async move {
                        client.apply_edit(edit).await
                    }));
                }
                show(&self.session, lsp::MessageType::INFO, &solved.report);
                Ok(None)
            }
            capabilities::DEBUG => Ok(Some(self.debug().await.into())),
            name => Err(Error::invalid_params(format!("unknown command '{name}'"))),
        }
    }

    async fn goto_definition(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        let at = params.text_document_position_params;
        let ask = move |view: &mut View<'_>| {
            let found = definition::definition(view.document.source(), view.offset(at.position));
            found.map(|it| to_proto::definition(view, &it))
        };
        let found = self.ask(&at.text_document.uri, ask).await?.flatten();
        Ok(Some(found.unwrap_or(lsp::GotoDefinitionResponse::Array(Vec::new()))))
    }

    async fn references(&self, params: lsp::ReferenceParams) -> Result<Option<Vec<lsp::Location>>> {
        let at = params.text_document_position;
        let with_definition = params.context.include_declaration;
        let ask = move |view: &mut View<'_>| {
            let found = reference::references(view.document.source(), view.offset(at.position));
            to_proto::locations(view, &found, with_definition)
        };
        Ok(Some(self.ask(&at.text_document.uri, ask).await?.unwrap_or_default()))
    }

    async fn document_highlight(
        &self,
        params: lsp::DocumentHighlightParams,
    ) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
        let at = params.text_document_position_params;
        let ask = move |view: &mut View<'_>| {
            let found = reference::references(view.document.source(), view.offset(at.position));
            to_proto::highlights(view, &found)
        };
        Ok(Some(self.ask(&at.text_document.uri, ask).await?.unwrap_or_default()))
    }

    async fn prepare_rename(
        &self,
        at: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        let ask = move |view: &mut View<'_>| {
            let target = rename::prepare(view.document.source(), view.offset(at.position))?;
            let range = view.range(&target.range);
            Some(lsp::PrepareRenameResponse::RangeWithPlaceholder {
                range,
                placeholder: target.text,
            })
        };
        Ok(self.ask(&at.text_document.uri, ask).await?.flatten())
    }

    async fn rename(&self, params: lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
        let at = params.text_document_position;
        let ask = move |view: &mut View<'_>| {
            let edits =
                rename::rename(view.document.source(), view.offset(at.position), &params.new_name)?;
            let edits = to_proto::edits(view.text(), view.session.abilities().encoding, &edits);
            Ok(to_proto::workspace_edit(view.session, view.uri, view.version, edits))
        };
        let done = self.ask(&at.text_document.uri, ask).await?.transpose();
        done.map_err(|why: String| Error {
            code: lsp_request_failed(),
            message: why.into(),
            data: None,
        })
    }

    async fn document_symbol(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<lsp::DocumentSymbolResponse>> {
        let uri = params.text_document.uri;
        let mut outline = None;
        let job = move |view: &mut View<'_>, until: Instant| {
            let source = view.document.source();
            let outline = outline.get_or_insert_with(|| symbol::Outline::new(source));
            let found = outline.step(source, until)?;
            Some(found.iter().map(|it| to_proto::symbol(view, it)).collect::<Vec<_>>())
        };
        let symbols = self.run(&uri, Steps(job)).await?.unwrap_or_default();
        if self.session.abilities().symbol_tree {
            leave(to_proto::tree(symbols)).await;
        } else {
            leave(to_proto::flat(&uri, symbols)).await;
        }
        Ok(None)
    }

    async fn folding_range(
        &self,
        params: lsp::FoldingRangeParams,
    ) -> Result<Option<Vec<lsp::FoldingRange>>> {
        let mut folds = None;
        let job = move |view: &mut View<'_>, until: Instant| {
            let source = view.document.source();
            let folds = folds.get_or_insert_with(|| fold::Folds::new(source));
            let found = folds.step(source, until)?;
            Some(found.iter().filter_map(|it| to_proto::fold(view, it)).collect::<Vec<_>>())
        };
        leave(self.run(&params.text_document.uri, Steps(job)).await?.unwrap_or_default()).await;
        Ok(None)
    }

    async fn selection_range(
        &self,
        params: lsp::SelectionRangeParams,
    ) -> Result<Option<Vec<lsp::SelectionRange>>> {
        let ask = move |view: &mut View<'_>| {
            let one = |it: &lsp::Position| {
                let ranges = selection::selection(view.document.source(), view.offset(*it));
                to_proto::selection(view, &ranges)
            };
            params.positions.iter().map(one).collect()
        };
        Ok(Some(self.ask(&params.text_document.uri, ask).await?.unwrap_or_default()))
    }

    async fn semantic_tokens_full(
        &self,
        params: lsp::SemanticTokensParams,
    ) -> Result<Option<lsp::SemanticTokensResult>> {
        let mut tokens = all_tokens();
        let job = move |view: &mut View<'_>, until: Instant| {
            let data = tokens(view, until)?;
            view.cache.last_tokens += 1;
            view.cache.tokens = Some((view.cache.last_tokens, data.clone()));
            Some(TokenData { result_id: Some(view.cache.last_tokens.to_string()), data })
        };
        if let Some(data) = self.run(&params.text_document.uri, Steps(job)).await? {
            leave(data).await;
        }
        Ok(None)
    }

    async fn semantic_tokens_full_delta(
        &self,
        params: lsp::SemanticTokensDeltaParams,
    ) -> Result<Option<lsp::SemanticTokensFullDeltaResult>> {
        let mut tokens = all_tokens();
        let previous = params.previous_result_id;
        let job = move |view: &mut View<'_>, until: Instant| {
            let data = tokens(view, until)?;
            let old = view.cache.tokens.take().filter(|it| it.0.to_string() == previous);
            view.cache.last_tokens += 1;
            let result_id = view.cache.last_tokens.to_string();
            view.cache.tokens = Some((view.cache.last_tokens, data.clone()));
            let Some((_, old)) = old else {
                return Some(Err(TokenData { result_id: Some(result_id), data }));
            };
            let (start, delete_count, new) = token::difference(&old, &data);
            let edit = TokenEdit { start, delete_count, data: new.to_vec() };
            let edits = if delete_count == 0 && new.is_empty() { Vec::new() } else { vec![edit] };
            Some(Ok(TokenEdits { result_id, edits }))
        };
        match self.run(&params.text_document.uri, Steps(job)).await? {
            Some(Ok(edits)) => leave(edits).await,
            Some(Err(data)) => leave(data).await,
            None => {}
        }
        Ok(None)
    }

    async fn semantic_tokens_range(
        &self,
        params: lsp::SemanticTokensRangeParams,
    ) -> Result<Option<lsp::SemanticTokensRangeResult>> {
        let mut tokens = None;
        let job = move |view: &mut View<'_>, until: Instant| {
            let source = view.document.source();
            let tokens = tokens.get_or_insert_with(|| {
                token::Tokens::new(
                    source,
                    view.offsets(params.range),
                    view.session.abilities().encoding,
                )
            });
            Some(TokenData { result_id: None, data: tokens.step(source, until)? })
        };
        if let Some(data) = self.run(&params.text_document.uri, Steps(job)).await?
            && let Ok(json) = serde_json::to_string(&data)
        {
            leave_raw(json);
        }
        Ok(None)
    }

    async fn completion(
        &self,
        params: lsp::CompletionParams,
    ) -> Result<Option<lsp::CompletionResponse>> {
        let at = params.text_document_position;
        let ask = move |view: &mut View<'_>| {
            let found = completion::completion(view.document, view.offset(at.position));
            to_proto::completion(view, found)
        };
        let list = self.ask(&at.text_document.uri, ask).await?.unwrap_or_default();
        Ok(Some(lsp::CompletionResponse::List(list)))
    }

    async fn signature_help(
        &self,
        params: lsp::SignatureHelpParams,
    ) -> Result<Option<lsp::SignatureHelp>> {
        let at = params.text_document_position_params;
        let ask = move |view: &mut View<'_>| {
            let found = signature::signature(view.document, view.offset(at.position));
            found.map(|it| to_proto::signature(&it))
        };
        Ok(self.ask(&at.text_document.uri, ask).await?.flatten())
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        let mut lenses = None;
        let job = move |view: &mut View<'_>, until: Instant| {
            let lenses = lenses.get_or_insert_with(|| lens::Lenses::new(view.document));
            let found = lenses.step(view.document, until)?;
            Some(found.iter().map(|it| to_proto::lens(view, it)).collect::<Vec<_>>())
        };
        leave(self.run(&params.text_document.uri, Steps(job)).await?.unwrap_or_default()).await;
        Ok(None)
    }

    async fn prepare_call_hierarchy(
        &self,
        params: lsp::CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyItem>>> {
        let at = params.text_document_position_params;
        let ask = move |view: &mut View<'_>| {
            let found = hierarchy::function_at(view.document.source(), view.offset(at.position));
            found.and_then(|op| to_proto::call_item(view, op)).into_iter().collect()
        };
        Ok(Some(self.ask(&at.text_document.uri, ask).await?.unwrap_or_default()))
    }

    async fn incoming_calls(
        &self,
        params: lsp::CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyIncomingCall>>> {
        let item = params.item;
        let ask = move |view: &mut View<'_>| {
            let at = view.offset(item.selection_range.start);
            let function = hierarchy::function_at(view.document.source(), at)?;
            let calls = hierarchy::incoming(view.document.ir(), function);
            let call = |it: &hierarchy::Calls| {
                Some(lsp::CallHierarchyIncomingCall {
                    from: to_proto::call_item(view, it.function)?,
                    from_ranges: it.places.iter().map(|it| view.range(it)).collect(),
                })
            };
            Some(calls.iter().filter_map(call).collect())
        };
        Ok(Some(self.ask(&item.uri, ask).await?.flatten().unwrap_or_default()))
    }

    async fn outgoing_calls(
        &self,
        params: lsp::CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyOutgoingCall>>> {
        let item = params.item;
        let ask = move |view: &mut View<'_>| {
            let at = view.offset(item.selection_range.start);
            let function = hierarchy::function_at(view.document.source(), at)?;
            let calls = hierarchy::outgoing(view.document.ir(), function);
            let call = |it: &hierarchy::Calls| {
                Some(lsp::CallHierarchyOutgoingCall {
                    to: to_proto::call_item(view, it.function)?,
                    from_ranges: it.places.iter().map(|it| view.range(it)).collect(),
                })
            };
            Some(calls.iter().filter_map(call).collect())
        };
        Ok(Some(self.ask(&item.uri, ask).await?.flatten().unwrap_or_default()))
    }

    async fn symbol(
        &self,
        params: lsp::WorkspaceSymbolParams,
    ) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
        // All documents are asked before the first answer is awaited.
        let asked: Vec<_> = self
            .session
            .all_documents()
            .into_iter()
            .map(|document| {
                let (query, mut outline) = (params.query.clone(), None);
                let job = move |view: &mut View<'_>, until: Instant| {
                    let source = view.document.source();
                    let outline = outline.get_or_insert_with(|| symbol::Outline::new(source));
                    let mut found = outline.step(source, until)?;
                    found.retain(|it| symbol::matches(&it.name, &query));
                    found.truncate(MAX_SYMBOLS);
                    Some(to_proto::flat(
                        view.uri,
                        found.iter().map(|it| to_proto::symbol(view, it)).collect(),
                    ))
                };
                document.run(Steps(job))
            })
            .collect();
        let mut out = Vec::new();
        for answer in asked {
            out.extend(answer.await.unwrap_or_default());
        }
        out.truncate(MAX_SYMBOLS);
        Ok(Some(lsp::WorkspaceSymbolResponse::Flat(out)))
    }

    async fn completion_resolve(&self, item: lsp::CompletionItem) -> Result<lsp::CompletionItem> {
        let mut item = item;
        if let Some(text) = completion::documentation(&item.label) {
            let text =
                lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: text.to_owned() };
            item.documentation = Some(lsp::Documentation::MarkupContent(text));
        }
        Ok(item)
    }
}

/// `RequestFailed`: the request is right, but what it asks for cannot be done.
fn lsp_request_failed() -> tower_lsp::jsonrpc::ErrorCode {
    tower_lsp::jsonrpc::ErrorCode::ServerError(-32803)
}

/// Equal for equal diagnostics.
fn result_id(diagnostics: &[lsp::Diagnostic]) -> String {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(&serde_json::to_vec(diagnostics).unwrap_or_default());
    format!("{:016x}", hasher.finish())
}

impl Server {
    fn document(&self, uri: &lsp::Uri) -> Result<Document> {
        self.session.document(uri).ok_or_else(|| Error::invalid_params("the document is not open"))
    }

    /// What is open, for reports of faults.
    async fn debug(&self) -> String {
        let mut out =
            format!("noisy-lsp {}\n{:#?}\n", env!("CARGO_PKG_VERSION"), self.session.abilities());
        let _ = writeln!(out, "{:#?}", self.session.config());
        let asked: Vec<_> = self
            .session
            .all_documents()
            .into_iter()
            .map(|it| {
                let answer = it.query(|view| {
                    let (ops, values, ..) = view.document.ir().bounds();
                    let (bytes, version) = (view.text().len_bytes(), view.version);
                    format!(
                        "version {version}, {bytes} bytes, {ops} ops, {values} values, {}",
                        view.document.ir().interner.summary()
                    )
                });
                (it.uri, answer)
            })
            .collect();
        for (uri, answer) in asked {
            let text = answer.await.unwrap_or_else(|why| format!("{why:?}"));
            let _ = writeln!(out, "{}: {text}", uri.as_str());
        }
        out
    }
}
