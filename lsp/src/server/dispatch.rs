//! Handles one message after the other. A program and a web worker share this part of the main
//! loop.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_util::{FutureExt, Sink, StreamExt};
use tokio::runtime::Handle;
use tower::Service;
use tower_lsp::jsonrpc::Response;
use tower_lsp::ls_types as lsp;
use tower_lsp::{ExitedError, LspService};

use super::Server;
use super::ingress::{Ingress, Reply};
use crate::session::Session;
use crate::wire::outbox::Outbox;
use crate::wire::transport::Incoming;
use crate::{host, log};

/// A server and the connection to its client.
pub(crate) struct Dispatch {
    runtime: Handle,
    pub outbox: Outbox,
    ingress: Ingress,
    answers: Pin<Box<dyn Sink<Response, Error = ExitedError> + Send>>,
}

impl Dispatch {
    /// Creates a server. Its tasks run in `runtime`.
    pub(crate) fn new(runtime: &Handle) -> Self {
        let session = Arc::new(Session::new(runtime.clone()));
        let outbox = session.connection.outbox.clone();
        let server = Server { session };
        let (service, socket) = LspService::new(|client| {
            server.session.connection.set_client(client);
            server.clone()
        });
        let (mut requests, answers) = socket.split();
        let sender = outbox.clone();
        host::spawn(runtime, async move {
            while let Some(request) = requests.next().await {
                sender.send(&request);
            }
        });
        let ingress = Ingress::new(service, server);
        Self { runtime: runtime.clone(), outbox, ingress, answers: Box::pin(answers) }
    }

    /// Handles a message. Returns the exit code if the message is `exit`.
    pub(crate) fn take(&mut self, incoming: Incoming) -> Option<u8> {
        warn_about_invalid_names(&self.outbox);
        match incoming {
            Incoming::Call(request) => {
                if request.method() == "exit" && request.id().is_none() {
                    return Some(self.ingress.exit_code());
                }
                // The service is always ready: `initialize`, the only request that it waits for, is
                // answered in its first poll.
                let mut context = Context::from_waker(Waker::noop());
                if self.ingress.poll_ready(&mut context).is_pending() {
                    log::line(format_args!("not ready for {}", request.method()));
                }
                let mut future = self.ingress.call(request);
                match future.poll_unpin(&mut context) {
                    Poll::Ready(reply) => send_reply(&self.outbox, reply.ok().flatten()),
                    Poll::Pending => {
                        let outbox = self.outbox.clone();
                        host::spawn(&self.runtime, async move {
                            send_reply(&outbox, future.await.ok().flatten());
                        });
                    }
                }
            }
            Incoming::Answer(response) => {
                // The sink accepts each answer immediately, and ignores unknown ones.
                let _ = self.answers.as_mut().start_send(response);
            }
            Incoming::Broken(reply) => send_reply(&self.outbox, reply.map(Reply::Plain)),
        }
        None
    }

    /// The exit code at the end of the input.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn exit_code(&self) -> u8 {
        self.ingress.exit_code()
    }
}

/// Warns the user about documents that get no answers, because their names are not URIs.
fn warn_about_invalid_names(outbox: &Outbox) {
    for name in outbox.spellings().take_unreported() {
        let message = format!("noisy-lsp: ignoring the document: '{name}' is not a valid URI");
        let params = lsp::LogMessageParams { typ: lsp::MessageType::WARNING, message };
        outbox.notify("window/logMessage", params);
    }
}

fn send_reply(outbox: &Outbox, reply: Option<Reply>) {
    match reply {
        Some(Reply::Plain(response)) => outbox.send(&response),
        Some(Reply::JsonText(body)) => outbox.send_body(body),
        None => {}
    }
}
