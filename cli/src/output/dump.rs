//! `--dump STAGE`: prints the result of one stage between text and facts.

use std::io::{self, Write};
use std::sync::Arc;

use noisy_analyses::{Document, dump};
use noisy_loops::{Aliasing, Limits};
use noisy_output::shown_path;
use noisy_settings::{Resolver, Settings};
use noisy_syntax::print::{self, Tool};
use noisy_syntax::{Source, dump as syntax};

use crate::file::check;
use crate::input::args::{Format, Stage};
use crate::input::failure::Unreadable;
use crate::input::setup::settings;
use crate::input::walk::Input;
use crate::{FAILED, complain};

/// Prints the result of a stage for each input, facts and visits in the requested format; returns
/// the exit code.
pub(crate) fn run(
    stage: Stage,
    format: Format,
    resolver: &Resolver,
    inputs: &[Input],
    unreadable: &[Unreadable],
    stdin: &str,
    out: &mut dyn Write,
) -> io::Result<i32> {
    let mut code = 0;
    if format == Format::Html && inputs.len() > 1 {
        complain("noisy-check: --output-format html works with one file only");
        return Ok(FAILED);
    }
    for it in unreadable {
        complain(&format!("noisy-check: {}: {}", shown_path(&it.path), it.why));
        code = FAILED;
    }
    for input in inputs {
        let name = check::shown_name(input, stdin);
        let text = check::read(input).map_err(|it| it.message);
        let printed = text.and_then(|text| {
            printed(stage, format, &name, &text, &|| settings(resolver, input.path(stdin)))
        });
        match printed {
            Ok(printed) => {
                if inputs.len() > 1 && format != Format::JsonLines {
                    writeln!(out, "// {name}")?;
                }
                write!(out, "{printed}")?;
            }
            Err(why) => {
                complain(&format!("noisy-check: {name}: {why}"));
                code = FAILED;
            }
        }
    }
    out.flush()?;
    Ok(code)
}

/// The printed result of a stage. Settings are read only if the stage needs them.
fn printed(
    stage: Stage,
    format: Format,
    name: &str,
    text: &str,
    settings: &dyn Fn() -> Result<Arc<Settings>, String>,
) -> Result<String, String> {
    let model = || settings().map(|it| it.model.noise().clone());
    Ok(match stage {
        Stage::Tokens => syntax::tokens(text),
        Stage::Tree => syntax::tree(&Source::new(text)),
        Stage::Ir => syntax::ir(&Source::new(text)),
        Stage::Generic => print::generic_as(Source::new(text).ir(), Tool::Mlir19),
        Stage::Generic24 => print::generic_as(Source::new(text).ir(), Tool::Heir24),
        Stage::Custom => print::custom(Source::new(text).ir()),
        Stage::Facts if format == Format::JsonLines => {
            let mut out = String::new();
            dump::rows::rows(&Document::with_model(text, model()?), &mut |row| {
                // Serialization of numbers and strings cannot fail.
                out.push_str(&serde_json::to_string(&row).unwrap_or_default());
                out.push('\n');
            });
            out
        }
        Stage::Facts => dump::facts(&Document::with_model(text, model()?)),
        Stage::Cfg => dump::cfg(&Document::with_model(text, model()?)),
        Stage::Dependences => {
            let arguments_may_alias = settings()?.loops.arguments_may_alias;
            let aliasing = Aliasing { arguments_may_alias };
            let limits = Limits { aliasing, ..Limits::default() };
            noisy_loops::dump::dependences_json(&Source::new(text), &limits)
        }
        Stage::Trace => match format {
            Format::Html => dump::recording(&Source::new(text), model()?).html(name, "solver"),
            Format::JsonLines => dump::recording(&Source::new(text), model()?).rows(),
            _ => dump::trace(Source::new(text).ir(), model()?),
        },
    })
}
