//! Reads the program for a picture or page, and writes the picture to a file or to standard output.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use noisy_output::{FileKind, Output, check_not_an_input, check_replaceable, shown_line};
use noisy_settings::Settings;

use crate::file::check;
use crate::input::args::SettingsArgs;
use crate::input::setup;
use crate::input::walk::Input;
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

/// The program that a picture shows.
#[derive(Debug)]
pub(crate) struct PictureInput {
    /// The name in messages and titles.
    pub name: String,
    pub text: String,
    pub settings: Arc<Settings>,
}

impl PictureInput {
    /// Reads a file, or standard input if `path` is `-`.
    ///
    /// # Errors
    ///
    /// If the settings or the text cannot be read: the reason.
    pub(crate) fn read(path: &Path, args: &SettingsArgs) -> Result<Self, String> {
        let input = if path == Path::new("-") { Input::Stdin } else { Input::File(path.into()) };
        let name = check::shown_input_name(&input, "<stdin>");
        let settings = setup::settings(&setup::resolver(args)?, input.path("<stdin>"))?;
        let text = check::catch_panics(|| check::read(&input))
            .map_err(|it| format!("{name}: {}", it.message))?;
        Ok(Self { name, text, settings })
    }

    /// Returns the reason why there is no picture, after the name of the program.
    pub(crate) fn error(&self, why: &str) -> String {
        format!("{}: {}", self.name, shown_line(why))
    }
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
