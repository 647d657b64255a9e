//! Writes a picture or page to a file or to standard output.

use std::io::{self, Write};
use std::path::Path;

use noisy_output::{FileKind, Output, check_not_an_input, check_replaceable};

use crate::{EXIT_CLEAN, EXIT_FAILURE, print_error};

/// The target of a picture or page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PictureTarget<'a> {
    /// The file; `None` for standard output.
    pub file: Option<&'a Path>,
    /// The kind of the picture.
    pub kind: FileKind,
    /// True if a file of another kind may be replaced.
    pub force: bool,
}

/// Draws a picture of an input and writes it, or reports the reason why there is none. Returns the
/// exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn write_picture(
    draw: impl FnOnce() -> Result<String, String>,
    input: &Path,
    target: PictureTarget<'_>,
) -> io::Result<i32> {
    let PictureTarget { file, kind, force } = target;
    let is_fine = file.map_or(Ok(()), |it| {
        check_not_an_input(it, [input])?;
        if force { Ok(()) } else { check_replaceable(it, kind) }
    });
    match (is_fine.and_then(|()| draw()), file) {
        (Ok(text), Some(path)) => {
            let mut out = Output::to_file(path)?;
            out.write_all(text.as_bytes())?;
            out.finish()?;
            Ok(EXIT_CLEAN)
        }
        (Ok(text), None) => {
            io::stdout().write_all(text.as_bytes())?;
            Ok(EXIT_CLEAN)
        }
        (Err(why), _) => {
            print_error(&format!("noisy-check: {why}"));
            Ok(EXIT_FAILURE)
        }
    }
}
