//! `--log FILE`: one line for each event, with the milliseconds since the start.

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

/// Empties a file and starts logging to it.
///
/// # Errors
/// If the file cannot be written.
pub fn start(path: &Path) -> std::io::Result<()> {
    let file = Mutex::new(File::create(path)?);
    // Only `main` calls this function, and only once.
    let _ = LOG.set(Log { file, start: Instant::now() });
    Ok(())
}

/// True if logging is on. Callers only compute a message if this is true.
pub(crate) fn is_on() -> bool {
    LOG.get().is_some()
}

pub fn line(text: std::fmt::Arguments<'_>) {
    if let Some(log) = LOG.get() {
        let ms = log.start.elapsed().as_secs_f64() * 1e3;
        let mut file = log.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not end the server.
        let _ = writeln!(file, "{ms:10.3} {text}");
    }
}
