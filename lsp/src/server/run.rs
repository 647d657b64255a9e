//! The main loop: reads until the input ends or the client says `exit`.

use std::fs::File;
use std::io::{self, BufReader};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use futures_util::{FutureExt, Sink, StreamExt};
use tower::Service;
use tower_lsp::LspService;
use tower_lsp::ls_types as lsp;

use super::Server;
use super::ingress::{Ingress, Reply};
use crate::log;
use crate::session::Session;
use crate::wire::outbox::Outbox;
use crate::wire::transport::{self, Incoming};

/// Maximum time that a client which does not read may delay the end of the process.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves standard input and output; returns the exit code.
pub(crate) fn run() -> io::Result<u8> {
    // Handlers only wait for actors, so one thread is enough; the optimizer has threads of its own.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
    let _inside = runtime.enter();
    let session = Arc::new(Session::new(runtime.handle().clone()));
    let outbox = session.connection.outbox.clone();
    let writer = outbox.clone();
    let output = unbuffered_stdout()?;
    thread::Builder::new().name("write".to_owned()).spawn(move || writer.run(output))?;

    let server = Server { session };
    let (service, socket) = LspService::new(|client| {
        server.session.connection.set_client(client);
        server.clone()
    });
    let mut ingress = Ingress::new(service, server);
    let (mut requests, mut answers) = socket.split();
    let sender = outbox.clone();
    runtime.spawn(async move {
        while let Some(request) = requests.next().await {
            sender.send(&request);
        }
    });

    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut context = Context::from_waker(Waker::noop());
    while let Some(incoming) = transport::read(&mut input, outbox.spellings())? {
        tell_useless_names(&outbox);
        match incoming {
            Incoming::Call(request) => {
                let is_exit = request.method() == "exit" && request.id().is_none();
                if is_exit {
                    break;
                }
                // Always ready: `initialize`, the only future to wait for, is answered in its first
                // poll.
                if ingress.poll_ready(&mut context).is_pending() {
                    log::line(format_args!("not ready for {}", request.method()));
                }
                let mut future = ingress.call(request);
                match future.poll_unpin(&mut context) {
                    std::task::Poll::Ready(reply) => answer(&outbox, reply.ok().flatten()),
                    std::task::Poll::Pending => {
                        let outbox = outbox.clone();
                        runtime.spawn(async move { answer(&outbox, future.await.ok().flatten()) });
                    }
                }
            }
            Incoming::Answer(response) => {
                // The sink takes everything at once, and ignores unknown answers.
                let _ = Pin::new(&mut answers).start_send(response);
            }
            Incoming::Broken(reply) => answer(&outbox, reply.map(Reply::Plain)),
        }
    }
    outbox.close(LAST_WORDS);
    Ok(ingress.exit_code())
}

/// Standard output as a file: the standard library's would write a message in two parts, the first
/// up to its last line break.
fn unbuffered_stdout() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    owned.map(File::from)
}

/// Tells the user about documents without answers, because their names are no URIs.
fn tell_useless_names(outbox: &Outbox) {
    for name in outbox.spellings().take_untold() {
        let message = format!("noisy-lsp: ignoring the document: '{name}' is not a valid URI");
        let params = lsp::LogMessageParams { typ: lsp::MessageType::WARNING, message };
        outbox.notify("window/logMessage", params);
    }
}

fn answer(outbox: &Outbox, reply: Option<Reply>) {
    match reply {
        Some(Reply::Plain(response)) => outbox.send(&response),
        Some(Reply::Written(body)) => outbox.send_body(body),
        None => {}
    }
}
