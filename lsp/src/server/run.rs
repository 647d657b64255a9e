//! The main loop of a program: reads until the input ends or the client sends `exit`.

use std::fs::File;
use std::io::{self, BufReader};
use std::thread;
use std::time::Duration;

use super::dispatch::Dispatch;
use crate::wire::transport;

/// Maximum time to write the last messages, because the client may not read them.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves standard input and output; returns the exit code.
///
/// # Errors
///
/// If standard input cannot be read, or a thread cannot be started.
pub fn run() -> io::Result<u8> {
    // Handlers only wait for actors, so one thread is enough. The optimizer has its own threads.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
    let _inside = runtime.enter();
    let mut dispatch = Dispatch::new(runtime.handle());
    let outbox = dispatch.outbox.clone();
    let writer = outbox.clone();
    let output = unbuffered_stdout()?;
    thread::Builder::new().name("write".to_owned()).spawn(move || writer.run(output))?;

    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut code = None;
    while code.is_none()
        && let Some(incoming) = transport::read(&mut input, outbox.spellings())?
    {
        code = dispatch.take(incoming);
    }
    outbox.close(CLOSE_TIMEOUT);
    Ok(code.unwrap_or_else(|| dispatch.exit_code()))
}

/// Returns standard output as a file. `io::stdout` would write a message in two parts, the first up
/// to its last line break.
fn unbuffered_stdout() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    owned.map(File::from)
}
