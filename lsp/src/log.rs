//! `--log FILE`: what happened, one line each, with the milliseconds since the start.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

struct Log {
    file: Mutex<File>,
    start: Instant,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Starts logging to a file, which is emptied.
pub(crate) fn start(path: &Path) -> std::io::Result<()> {
    let file = Mutex::new(File::create(path)?);
    // A second call has no effect; there is one, from `main`.
    let _ = LOG.set(Log { file, start: Instant::now() });
    Ok(())
}

/// Whether anything is logged, for who would have to compute what to say.
pub(crate) fn is_on() -> bool {
    LOG.get().is_some()
}

/// Writes a line.
pub(crate) fn line(text: std::fmt::Arguments<'_>) {
    if let Some(log) = LOG.get() {
        let ms = log.start.elapsed().as_secs_f64() * 1e3;
        let mut file = log.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not end the server.
        let _ = writeln!(file, "{ms:10.3} {text}");
    }
}
