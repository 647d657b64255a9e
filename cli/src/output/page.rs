//! Writes a picture or page to a file or to standard output.

use std::io::{self, Write};
use std::path::Path;

use noisy_output::{Kind, Output, is_no_input, is_replaceable};

use crate::{CLEAN, FAILED, complain};

/// The target of a picture or page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// The file; `None` for standard output.
    pub file: Option<&'a Path>,
    /// The kind of the picture.
    pub kind: Kind,
    /// True if a file of another kind may be replaced.
    pub force: bool,
}

/// Draws a picture of an input and writes it, or reports the reason why there is none. Returns the
/// exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn deliver(
    draw: impl FnOnce() -> Result<String, String>,
    input: &Path,
    target: Target<'_>,
) -> io::Result<i32> {
    let Target { file, kind, force } = target;
    let is_fine = file.map_or(Ok(()), |it| {
        is_no_input(it, [input])?;
        if force { Ok(()) } else { is_replaceable(it, kind) }
    });
    match (is_fine.and_then(|()| draw()), file) {
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
