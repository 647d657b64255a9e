//! `--dump STAGE`: every arrow is a function, and every value has a printer.

use std::io::{self, Read, Write};

use noisy_analyses::{Document, NoiseModel, dump};
use noisy_syntax::print::{self, Tool};
use noisy_syntax::{Source, dump as syntax};

use crate::args::Stage;
use crate::walk::{Input, Unreadable, reason};
use crate::{FAILED, complain};

/// Prints what a stage made of each input; the exit code.
pub(crate) fn run(
    stage: Stage,
    inputs: &[Input],
    unreadable: &[Unreadable],
    stdin: &str,
    out: &mut dyn Write,
) -> io::Result<i32> {
    let mut code = 0;
    for it in unreadable {
        complain(&format!("noisy-check: {}: {}", it.path.display(), it.why));
        code = FAILED;
    }
    for input in inputs {
        let (name, text) = match input {
            Input::File(path) => (path.display().to_string(), std::fs::read_to_string(path)),
            Input::Stdin => {
                let mut text = String::new();
                let read = io::stdin().read_to_string(&mut text);
                (stdin.to_owned(), read.map(|_| text))
            }
        };
        match text {
            Ok(text) => {
                if inputs.len() > 1 {
                    writeln!(out, "// {name}")?;
                }
                write!(out, "{}", printed(stage, &text))?;
            }
            Err(error) => {
                complain(&format!("noisy-check: {name}: {}", reason(&error)));
                code = FAILED;
            }
        }
    }
    out.flush()?;
    Ok(code)
}

fn printed(stage: Stage, text: &str) -> String {
    match stage {
        Stage::Tokens => syntax::tokens(text),
        Stage::Tree => syntax::tree(&Source::new(text)),
        Stage::Ir => syntax::ir(&Source::new(text)),
        Stage::Generic => print::generic_as(Source::new(text).ir(), Tool::Mlir19),
        Stage::Generic24 => print::generic_as(Source::new(text).ir(), Tool::Heir24),
        Stage::Custom => print::custom(Source::new(text).ir()),
        Stage::Facts => dump::facts(&Document::new(text)),
        Stage::Cfg => dump::cfg(&Document::new(text)),
        Stage::Trace => dump::trace(Source::new(text).ir(), NoiseModel::tutorial()),
    }
}
