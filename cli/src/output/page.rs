//! Writes a picture or page to a file or to standard output.

use std::io::{self, Write};
use std::path::Path;

use noisy_output::{Output, is_no_input};

use crate::{CLEAN, FAILED, complain};

/// Writes a picture of an input, or reports why there is none; returns the exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn deliver(
    picture: Result<String, String>,
    input: &Path,
    file: Option<&Path>,
) -> io::Result<i32> {
    let is_fine = file.map_or(Ok(()), |it| is_no_input(it, [input]));
    match (is_fine.and(picture), file) {
        (Ok(text), Some(path)) => {
            let mut out = Output::to_file(path)?;
            out.write_all(text.as_bytes())?;
            out.finish()?;
            Ok(CLEAN)
        }
        (Ok(text), None) => {
            io::stdout().write_all(text.as_bytes())?;
            Ok(CLEAN)
        }
        (Err(why), _) => {
            complain(&format!("noisy-check: {why}"));
            Ok(FAILED)
        }
    }
}
