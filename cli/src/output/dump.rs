//! `--dump STAGE`: prints the result of one stage between text and facts.

use std::io::{self, Write};
use std::sync::Arc;

use noisy_analyses::{Document, dump};
use noisy_loops::{AliasAssumptions, DependenceLimits};
use noisy_output::shown_path;
use noisy_settings::{ConfigResolver, Settings};
use noisy_syntax::print::{self, Tool};
use noisy_syntax::{Source, dump as syntax};

use crate::file::check;
use crate::input::args::{DumpStage, OutputFormat};
use crate::input::failure::UnreadablePath;
use crate::input::setup::settings;
use crate::input::walk::Input;
use crate::{EXIT_FAILURE, print_error};

/// Prints the result of a stage for each input, facts and visits in the requested format; returns
/// the exit code.
pub(crate) fn run(
    stage: DumpStage,
    format: OutputFormat,
    resolver: &ConfigResolver,
    inputs: &[Input],
    unreadable: &[UnreadablePath],
    stdin: &str,
    out: &mut dyn Write,
) -> io::Result<i32> {
    let mut code = 0;
    if format == OutputFormat::Html && inputs.len() > 1 {
        print_error("noisy-check: --output-format html works with one file only");
        return Ok(EXIT_FAILURE);
    }
    for it in unreadable {
        print_error(&format!("noisy-check: {}: {}", shown_path(&it.path), it.why));
        code = EXIT_FAILURE;
    }
    for input in inputs {
        let name = check::shown_input_name(input, stdin);
        let text = check::read(input).map_err(|it| it.message);
        let printed = text.and_then(|text| {
            stage_text(stage, format, &name, &text, &|| settings(resolver, input.path(stdin)))
        });
        match printed {
            Ok(printed) => {
                if inputs.len() > 1 && format != OutputFormat::JsonLines {
                    writeln!(out, "// {name}")?;
                }
                write!(out, "{printed}")?;
            }
            Err(why) => {
                print_error(&format!("noisy-check: {name}: {why}"));
                code = EXIT_FAILURE;
            }
        }
    }
    out.flush()?;
    Ok(code)
}

/// The printed result of a stage. Settings are read only if the stage needs them.
fn stage_text(
    stage: DumpStage,
    format: OutputFormat,
    name: &str,
    text: &str,
    settings: &dyn Fn() -> Result<Arc<Settings>, String>,
) -> Result<String, String> {
    let model = || settings().map(|it| it.model.noise().clone());
    Ok(match stage {
        DumpStage::Tokens => syntax::tokens(text),
        DumpStage::Tree => syntax::tree(&Source::new(text)),
        DumpStage::Ir => syntax::ir(&Source::new(text)),
        DumpStage::Generic => print::generic_as(Source::new(text).ir(), Tool::Mlir19),
        DumpStage::Generic24 => print::generic_as(Source::new(text).ir(), Tool::Heir24),
        DumpStage::Custom => print::custom(Source::new(text).ir()),
        DumpStage::Facts if format == OutputFormat::JsonLines => {
            let mut out = String::new();
            dump::rows::for_each_row(&Document::with_model(text, model()?), &mut |row| {
                // Serialization of numbers and strings cannot fail.
                out.push_str(&serde_json::to_string(&row).unwrap_or_default());
                out.push('\n');
            });
            out
        }
        DumpStage::Facts => dump::facts(&Document::with_model(text, model()?)),
        DumpStage::Cfg => dump::cfg(&Document::with_model(text, model()?)),
        DumpStage::Dependences => {
            let arguments_may_alias = settings()?.loops.arguments_may_alias;
            let aliasing = AliasAssumptions { arguments_may_alias };
            let limits = DependenceLimits { aliasing, ..DependenceLimits::default() };
            noisy_loops::dump::dependences_json(&Source::new(text), &limits)
        }
        DumpStage::Trace => match format {
            OutputFormat::Html => {
                dump::recording(&Source::new(text), model()?).html(name, "solver")
            }
            OutputFormat::JsonLines => dump::recording(&Source::new(text), model()?).rows(),
            _ => dump::trace(Source::new(text).ir(), model()?),
        },
    })
}
