//! The service in front of `tower_lsp`'s: what must happen in the order of the wire happens here, before anything waits.
//!
//! *Laws.*
//! - `call` is called by the one thread that reads, in wire order. Notifications about documents and settings take effect in it.
//! - The future of a request is polled once in it. A handler sends its question to the document's actor before its first
//!   `await`, so the question stands in the actor's mailbox where the request stood on the wire.
//! - Every request is answered once: a handler that panics is answered with an internal error, a cancelled one (by
//!   `tower_lsp`) with -32800, an unknown one with -32601, also if its name starts with `$/`.
//! - A large answer need not become a tree of JSON values: a handler may leave its text in [`leave_raw`].

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::Service;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};
use tower_lsp::ls_types as lsp;
use tower_lsp::{ExitedError, LspService};

use crate::actor::Document;
use crate::json::Pieces;
use crate::server::Server;
use crate::session::Session;
use crate::{ask, log, watch};

tokio::task_local! {
    /// The text of the answer to the request that is being handled, if its handler leaves one.
    static RAW: RefCell<Option<Pieces>>;
}

/// Answers the request that is being handled with a JSON text; the handler's own result is then not looked at.
pub(crate) fn leave_raw(json: Pieces) {
    // Outside of a request, in a test of a handler, there is no place for it.
    let _ = RAW.try_with(|raw| *raw.borrow_mut() = Some(json));
}

/// Where the connection is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    New,
    Running,
    ShutDown,
}

/// What an answer is.
#[derive(Debug)]
pub(crate) enum Reply {
    /// As `tower_lsp` makes it.
    Plain(Response),
    /// The JSON text of a whole message.
    Raw(Pieces),
}

/// See the module.
pub(crate) struct Ingress {
    inner: LspService<Server>,
    session: Arc<Session>,
    phase: Arc<AtomicU8>,
}

impl std::fmt::Debug for Ingress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ingress").field("phase", &self.phase).finish_non_exhaustive()
    }
}

/// What an editor says about a document in `textDocument/didOpen`; the language is not asked for.
#[derive(Deserialize)]
struct Opened {
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

fn read<T: DeserializeOwned>(params: Option<Value>) -> Option<T> {
    serde_json::from_value(params?).ok()
}

/// Whether it is a notification that must take effect in order.
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

impl Ingress {
    /// Puts itself in front of a service.
    pub(crate) fn new(inner: LspService<Server>, session: Arc<Session>) -> Self {
        let phase = Arc::new(AtomicU8::new(Phase::New as u8));
        Self { inner, session, phase }
    }

    fn is(&self, phase: Phase) -> bool {
        self.phase.load(Ordering::SeqCst) == phase as u8
    }

    /// The code to exit with.
    pub(crate) fn exit_code(&self) -> i32 {
        i32::from(!self.is(Phase::ShutDown))
    }

    fn notify(&self, method: &str, params: Option<Value>) {
        let known = match method {
            "textDocument/didOpen" => read::<Opened>(params).map(|it| self.open(it.document)),
            "textDocument/didChange" => {
                read::<lsp::DidChangeTextDocumentParams>(params).map(|it| {
                    if let Some(document) = self.session.document(&it.text_document.uri) {
                        document.change(it.text_document.version, it.content_changes);
                    }
                })
            }
            "textDocument/didClose" => read::<lsp::DidCloseTextDocumentParams>(params).map(|it| {
                let uri = it.text_document.uri;
                if self.session.remove(&uri) {
                    let clear = !self.session.abilities().pulls_diagnostics;
                    self.session.outbox.closed(&uri.as_str().into(), clear);
                }
            }),
            "workspace/didChangeConfiguration" => read::<lsp::DidChangeConfigurationParams>(params)
                .map(|it| self.configure(&it.settings)),
            "workspace/didChangeWatchedFiles" => {
                watch::changed(&self.session);
                Some(())
            }
            "workspace/didChangeWorkspaceFolders" => {
                read::<lsp::DidChangeWorkspaceFoldersParams>(params).map(|it| {
                    let uris = |it: Vec<lsp::WorkspaceFolder>| it.into_iter().map(|it| it.uri);
                    let removed: Vec<_> = uris(it.event.removed).collect();
                    self.session.settings.set_roots(uris(it.event.added).collect(), &removed);
                    self.session.refresh();
                    ask::configuration(&self.session);
                })
            }
            "$/setTrace" => {
                read::<lsp::SetTraceParams>(params).map(|it| self.session.set_trace(it.value))
            }
            "window/workDoneProgress/cancel" => read::<lsp::WorkDoneProgressCancelParams>(params)
                .map(|it| self.session.progress.cancel(&it.token)),
            _ => Some(()),
        };
        if known.is_none() {
            log::line(format_args!("{method}: not understood, ignored"));
        }
    }

    fn open(&self, document: OpenedDocument) {
        let OpenedDocument { uri, version, text } = document;
        match Document::open(&self.session, uri.clone(), version, text) {
            Ok(document) => self.session.insert(&uri, document),
            Err(error) => {
                self.session.remove(&uri);
                log::line(format_args!("{}: not opened: {error}", uri.as_str()));
            }
        }
    }

    fn configure(&self, settings: &Value) {
        if settings.as_object().is_some_and(|it| !it.is_empty()) {
            self.session.reconfigure(None, settings);
        }
        // Clients that are asked for their settings send none here.
        ask::configuration(&self.session);
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
            if !self.is(Phase::Running) {
                return futures_util::future::ready(Ok(None)).boxed();
            }
            let (method, _, params) = request.into_parts();
            self.notify(&method, params);
            return futures_util::future::ready(Ok(None)).boxed();
        }
        let id = request.id().cloned();
        let method = request.method().to_owned();
        if let Some(id) = &id
            && method.starts_with("$/")
        {
            let reply = Response::from_error(id.clone(), Error::method_not_found());
            return futures_util::future::ready(Ok(Some(Reply::Plain(reply)))).boxed();
        }
        let future = self.inner.call(request);
        let (phase, session) = (self.phase.clone(), self.session.clone());
        let start = Instant::now();
        let handled = async move {
            let answer = AssertUnwindSafe(future).catch_unwind().await;
            let response = match answer {
                Ok(response) => response?,
                Err(_) => id.map(|id| Response::from_error(id, Error::internal_error())),
            };
            if let Some(response) = &response {
                match &*method {
                    "initialize" if response.is_ok() => {
                        phase.store(Phase::Running as u8, Ordering::SeqCst);
                    }
                    "shutdown" if response.is_ok() => {
                        phase.store(Phase::ShutDown as u8, Ordering::SeqCst);
                    }
                    _ => {}
                }
                let trace = session.trace();
                if log::is_on() || trace != lsp::TraceValue::Off {
                    let ms = start.elapsed().as_secs_f64() * 1e3;
                    let error = response.error().map(|it| format!(" error {}", it.code.code()));
                    let error = error.unwrap_or_default();
                    let line = format!("{method} {} {ms:.3} ms{error}", response.id());
                    log::line(format_args!("{line}"));
                    if trace != lsp::TraceValue::Off {
                        let params = lsp::LogTraceParams { message: line, verbose: None };
                        session.outbox.notify("$/logTrace", params);
                    }
                }
            }
            let raw = RAW.with(RefCell::take);
            Ok(match (response, raw) {
                (Some(response), Some(raw)) if response.is_ok() => {
                    Some(Reply::Raw(with_result(response.id(), raw)))
                }
                (response, _) => response.map(Reply::Plain),
            })
        };
        let mut handled = RAW.scope(RefCell::new(None), handled).boxed();
        // The first poll, in wire order. Nobody is woken: who goes on with the future polls it again.
        match Pin::new(&mut handled).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reply) => futures_util::future::ready(reply).boxed(),
            Poll::Pending => handled,
        }
    }
}

/// The text of a response.
fn with_result(id: &Id, result: Pieces) -> Pieces {
    let id = serde_json::to_vec(id).unwrap_or_else(|_| b"null".to_vec());
    let before = [br#"{"jsonrpc":"2.0","id":"#, &*id, br#","result":"#].concat();
    result.within(before, b"}")
}
