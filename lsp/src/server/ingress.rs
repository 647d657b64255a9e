//! The service in front of the one of `tower_lsp`. It does everything that must happen in the order
//! of the received messages, before any handler waits.
//!
//! *Laws.*
//! - The thread that reads messages runs `call` in the order of the messages. Notifications about
//!   documents and settings take effect during this call.
//! - The future of a request is polled once during this call. A handler sends its query to the
//!   document's actor before its first `await`, so the query has the same position in the actor's
//!   mailbox as the request among the received messages.
//! - Every request is answered once: a panicking handler with an internal error, a cancelled one
//!   (by `tower_lsp`) with -32800, an unknown one with -32601, even if its name starts with `$/`.
//!   Before `initialize` all others are answered with -32002, and after `shutdown` all with -32600.
//! - Answers that handlers write as text ([`Server::json_answer`]) bypass `tower_lsp`, which would
//!   build a tree of JSON values for each. This service cancels them on `$/cancelRequest`.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::{AbortHandle, BoxFuture, abortable};
use ropey::Rope;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::Service;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp::ls_types as lsp;
use tower_lsp::{ExitedError, LspService};

use super::{JsonAnswer, Server};
use crate::connection::problems;
use crate::documents::actor::OpenDocument;
use crate::log;
use crate::requests;
use crate::session::{Session, configuration, watch};
use crate::text::config_file::{self, ConfigFile};
use crate::wire::json::JsonBuffer;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    New,
    Running,
    ShutDown,
}

#[derive(Debug)]
pub(crate) enum Reply {
    /// An answer that `tower_lsp` serializes.
    Plain(Response),
    /// The JSON text of a whole message.
    JsonText(JsonBuffer),
}

impl Reply {
    /// The error code, if it is an error.
    fn error(&self) -> Option<i64> {
        match self {
            Reply::Plain(response) => response.error().map(|it| it.code.code()),
            Reply::JsonText(_) => None,
        }
    }
}

/// The requests whose answers are being written, with handles to cancel them.
#[derive(Clone, Debug, Default)]
struct PendingAnswers(Arc<Mutex<FxHashMap<Id, AbortHandle>>>);

impl PendingAnswers {
    fn all(&self) -> MutexGuard<'_, FxHashMap<Id, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Turns an answer into a message, unless the request is cancelled before.
    fn reply(&self, id: Id, answer: JsonAnswer) -> impl Future<Output = Reply> + Send + use<> {
        let (answer, abort) = abortable(answer);
        self.all().insert(id.clone(), abort);
        let pending = self.clone();
        async move {
            let answer = AssertUnwindSafe(answer).catch_unwind().await;
            pending.all().remove(&id);
            let error = match answer {
                Ok(Ok(Ok(json))) => return Reply::JsonText(with_result(&id, json)),
                Ok(Ok(Err(error))) => error,
                Ok(Err(_)) => Error::request_cancelled(),
                Err(_) => Error::internal_error(),
            };
            Reply::Plain(Response::from_error(id, error))
        }
    }

    fn cancel(&self, params: Option<&Value>) {
        let id = params.and_then(|it| Id::deserialize(&it["id"]).ok());
        if let Some(abort) = id.and_then(|it| self.all().remove(&it)) {
            abort.abort();
        }
    }
}

/// See the documentation of the module.
pub(crate) struct Ingress {
    inner: LspService<Server>,
    server: Server,
    pending: PendingAnswers,
    phase: Arc<AtomicU8>,
}

impl std::fmt::Debug for Ingress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ingress").field("phase", &self.phase).finish_non_exhaustive()
    }
}

/// Parameters of `textDocument/didOpen`; the language is not used.
#[derive(Deserialize)]
struct DidOpenParams {
    #[serde(rename = "textDocument")]
    document: OpenedDocument,
}

#[derive(Deserialize)]
struct OpenedDocument {
    uri: lsp::Uri,
    #[serde(default)]
    version: i32,
    text: String,
}

fn parse_params<T: DeserializeOwned>(params: Option<Value>) -> Option<T> {
    serde_json::from_value(params?).ok()
}

/// True for a notification that must take effect in order.
fn is_ordered(request: &Request) -> bool {
    request.id().is_none()
        && matches!(
            request.method(),
            "textDocument/didOpen"
                | "textDocument/didChange"
                | "textDocument/didClose"
                | "textDocument/didSave"
                | "workspace/didChangeConfiguration"
                | "workspace/didChangeWatchedFiles"
                | "workspace/didChangeWorkspaceFolders"
                | "window/workDoneProgress/cancel"
                | "$/setTrace"
        )
}

/// Removes the parameters of a request that takes none, because some clients send them.
fn without_params(request: Request) -> Request {
    let (method, id, _) = request.into_parts();
    let request = Request::build(method);
    match id {
        Some(id) => request.id(id).finish(),
        None => request.finish(),
    }
}

impl Ingress {
    /// Wraps a service.
    pub(crate) fn new(inner: LspService<Server>, server: Server) -> Self {
        let phase = Arc::new(AtomicU8::new(Phase::New as u8));
        Self { inner, server, pending: PendingAnswers::default(), phase }
    }

    fn session(&self) -> &Arc<Session> {
        &self.server.session
    }

    fn is_in_phase(&self, phase: Phase) -> bool {
        self.phase.load(Ordering::SeqCst) == phase as u8
    }

    /// The error for a request that the current phase does not allow.
    fn phase_error(&self, method: &str) -> Option<Error> {
        if self.is_in_phase(Phase::ShutDown) {
            return Some(Error::invalid_request());
        }
        if self.is_in_phase(Phase::New) && method != "initialize" {
            let code = ErrorCode::ServerError(-32002);
            return Some(Error { code, message: "Server not initialized".into(), data: None });
        }
        method.starts_with("$/").then(Error::method_not_found)
    }

    /// The exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        u8::from(!self.is_in_phase(Phase::ShutDown))
    }

    fn handle_notification(&self, method: &str, params: Option<Value>) {
        let known = match method {
            "textDocument/didOpen" => {
                parse_params::<DidOpenParams>(params).map(|it| self.open(it.document))
            }
            "textDocument/didChange" => parse_params::<lsp::DidChangeTextDocumentParams>(params)
                .map(|it| {
                    let lsp::VersionedTextDocumentIdentifier { uri, version } = it.text_document;
                    if let Some(document) = self.session().document(&uri) {
                        document.change(version, it.content_changes);
                    } else if let Some(mut file) = self.session().config_file(&uri) {
                        let encoding = self.session().connection.capabilities().encoding;
                        file.change(version, &it.content_changes, encoding);
                        self.set_config_file(file);
                    }
                }),
            "textDocument/didClose" => {
                parse_params::<lsp::DidCloseTextDocumentParams>(params).map(|it| {
                    let uri = it.text_document.uri;
                    if self.session().remove(&uri) {
                        let clear = !self.session().connection.capabilities().pulls_diagnostics;
                        self.session().connection.outbox.closed(&uri.as_str().into(), clear);
                    } else if self.session().remove_config_file(&uri) {
                        problems::set_closed(&self.session().connection, &uri);
                    }
                })
            }
            "workspace/didChangeConfiguration" => {
                parse_params::<lsp::DidChangeConfigurationParams>(params)
                    .map(|it| self.configure(&it.settings))
            }
            "workspace/didChangeWatchedFiles" => {
                watch::reload_config_files(self.session());
                Some(())
            }
            "workspace/didChangeWorkspaceFolders" => {
                parse_params::<lsp::DidChangeWorkspaceFoldersParams>(params).map(|it| {
                    let uris = |it: Vec<lsp::WorkspaceFolder>| it.into_iter().map(|it| it.uri);
                    let removed: Vec<_> = uris(it.event.removed).collect();
                    self.session()
                        .connection
                        .settings
                        .set_roots(uris(it.event.added).collect(), &removed);
                    self.session().refresh();
                    configuration::request_settings(self.session());
                })
            }
            "$/setTrace" => parse_params::<lsp::SetTraceParams>(params)
                .map(|it| self.session().connection.set_trace(it.value)),
            "window/workDoneProgress/cancel" => {
                parse_params::<lsp::WorkDoneProgressCancelParams>(params)
                    .map(|it| self.session().connection.progress.cancel(&it.token))
            }
            _ => Some(()),
        };
        if known.is_none() {
            log::line(format_args!("{method}: invalid parameters, ignored"));
        }
    }

    fn open(&self, document: OpenedDocument) {
        let OpenedDocument { uri, version, text } = document;
        if config_file::is_config(&uri) {
            self.set_config_file(ConfigFile { uri, version, text: Rope::from_str(&text) });
            return;
        }
        match OpenDocument::open(&self.session().connection, uri.clone(), version, text) {
            Ok(document) => self.session().insert(&uri, document),
            Err(error) => {
                self.session().remove(&uri);
                log::line(format_args!("{}: not opened: {error}", uri.as_str()));
            }
        }
    }

    /// Stores the text of a configuration file, and starts a check of it.
    fn set_config_file(&self, file: ConfigFile) {
        let number = self.session().set_config_file(file.clone());
        requests::config_file::check(self.session(), file, number);
    }

    /// Passes a request to `tower_lsp`.
    fn forward(
        &mut self,
        id: Option<Id>,
        request: Request,
    ) -> impl Future<Output = Result<Option<Reply>, ExitedError>> + Send + use<> {
        let method = request.method().to_owned();
        let future = self.inner.call(request);
        let phase = self.phase.clone();
        async move {
            let response = match AssertUnwindSafe(future).catch_unwind().await {
                Ok(response) => response?,
                Err(_) => id.map(|id| Response::from_error(id, Error::internal_error())),
            };
            if response.as_ref().is_some_and(Response::is_ok) {
                match &*method {
                    "initialize" => phase.store(Phase::Running as u8, Ordering::SeqCst),
                    "shutdown" => phase.store(Phase::ShutDown as u8, Ordering::SeqCst),
                    _ => {}
                }
            }
            Ok(response.map(Reply::Plain))
        }
    }

    fn configure(&self, settings: &Value) {
        if settings.as_object().is_some_and(|it| !it.is_empty()) {
            configuration::set_pushed_settings(self.session(), settings);
        }
        // Clients that answer requests for settings send none in the notification.
        configuration::request_settings(self.session());
    }
}

impl Service<Request> for Ingress {
    type Response = Option<Reply>;
    type Error = ExitedError;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if is_ordered(&request) {
            if !self.is_in_phase(Phase::Running) {
                return futures_util::future::ready(Ok(None)).boxed();
            }
            let (method, _, params) = request.into_parts();
            self.handle_notification(&method, params);
            return futures_util::future::ready(Ok(None)).boxed();
        }
        let id = request.id().cloned();
        let method = request.method().to_owned();
        if let Some(id) = &id
            && let Some(error) = self.phase_error(&method)
        {
            let reply = Response::from_error(id.clone(), error);
            return futures_util::future::ready(Ok(Some(Reply::Plain(reply)))).boxed();
        }
        let request = if method == "shutdown" { without_params(request) } else { request };
        if method == "$/cancelRequest" {
            self.pending.cancel(request.params());
        }
        let is_running = self.is_in_phase(Phase::Running);
        let written = id.clone().filter(|_| is_running).and_then(|id| {
            let answer = self.server.json_answer(&method, request.params())?;
            Some(self.pending.reply(id, answer))
        });
        let reply = match written {
            Some(reply) => reply.map(|it| Ok(Some(it))).boxed(),
            None => self.forward(id.clone(), request).boxed(),
        };
        let connection = self.session().connection.clone();
        let start = Instant::now();
        let handled = async move {
            let reply = reply.await?;
            let trace = connection.trace();
            if let (Some(reply), Some(id)) = (&reply, &id)
                && (log::is_on() || trace != lsp::TraceValue::Off)
            {
                let ms = start.elapsed().as_secs_f64() * 1e3;
                let error = reply.error().map(|it| format!(" error {it}")).unwrap_or_default();
                let line = format!("{method} {id} {ms:.3} ms{error}");
                log::line(format_args!("{line}"));
                if trace != lsp::TraceValue::Off {
                    let params = lsp::LogTraceParams { message: line, verbose: None };
                    connection.outbox.notify("$/logTrace", params);
                }
            }
            Ok(reply)
        };
        let mut handled = handled.boxed();
        // The first poll, in the order of the messages. It needs no waker, because the future is
        // polled again later in any case.
        match Pin::new(&mut handled).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reply) => futures_util::future::ready(reply).boxed(),
            Poll::Pending => handled,
        }
    }
}

/// The text of a response.
fn with_result(id: &Id, result: JsonBuffer) -> JsonBuffer {
    let id = serde_json::to_vec(id).unwrap_or_else(|_| b"null".to_vec());
    let before = [br#"{"jsonrpc":"2.0","id":"#, &*id, br#","result":"#].concat();
    result.surround(before, b"}")
}
