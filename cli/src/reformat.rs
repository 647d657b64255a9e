//! `format`: formats files, or shows the changes.

use std::io::{self, IsTerminal, Write};

use noisy_analyses::report::diff;
use noisy_output::{quoted_name, shown_line, shown_path};
use noisy_settings::{ConfigOrigin, ConfigResolver, Overrides};
use noisy_syntax::{Source, TextEdit, parallel};

use crate::file::check;
use crate::file::write::{GroupCommit, Replacement};
use crate::input::args;
use crate::input::failure::Failure;
use crate::input::select::Selection;
use crate::input::walk::{self, Input, InputFilter};
use crate::output::paint::{self, OutputStyle};
use crate::run::outcome::count_text;
use crate::{EXIT_CLEAN, EXIT_FAILURE, EXIT_FINDINGS, EXIT_INTERNAL_ERROR, print_error};

/// The result of one file.
enum FormatOutcome {
    /// The file is formatted: the text to print, and true if it changes.
    Formatted(String, bool),
    /// The file has a syntax error, at a line and column from 1: the message, and the text to echo.
    Unparsed((usize, usize), String, String),
    Failed(Failure),
}

/// Formats files; returns the exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn run(args: &args::FormatArgs) -> io::Result<i32> {
    let usage = |why: String| {
        print_error(&format!("noisy-check: {why}"));
        Ok(EXIT_FAILURE)
    };
    let origin = if args.isolated { ConfigOrigin::NoFile } else { ConfigOrigin::Nearest };
    let resolver = ConfigResolver::new(origin, Overrides::default());
    let selection = match Selection::new(&args.exclude, &[]) {
        Ok(it) => it,
        Err(why) => return usage(why),
    };
    let mut configs = resolver.by_folder();
    let found = walk::find_inputs(
        &args.paths,
        InputFilter {
            is_excluded: &mut |path| selection.is_excluded(&mut configs, path),
            applies_to_named: args.force_exclude,
            respects_gitignore: !args.no_respect_gitignore,
            stdin_filename: &args.stdin_filename,
        },
    );
    found.report_left_out();
    if found.excludes_stdin && !args.check && !args.diff {
        walk::echo_stdin()?;
    }
    let is_filter =
        found.inputs == [Input::Stdin] || found.excludes_stdin && found.inputs.is_empty();
    let walk::FoundInputs { inputs, unreadable, .. } = found;
    let mut code = EXIT_CLEAN;
    let worse = |code: &mut i32, it: i32| *code = (*code).max(it);
    for it in &unreadable {
        print_error(&format!("noisy-check: {}: {}", shown_path(&it.path), it.why));
        worse(&mut code, EXIT_FAILURE);
    }
    let mut names = inputs.iter().map(|it| check::shown_input_name(it, &args.stdin_filename));
    let mut out = io::stdout();
    let (mut n_changed, mut n_same, mut n_unparsed) = (0, 0, 0);
    let mut error = None;
    let mut take = |done: FormatOutcome, written: Result<(), String>| {
        let done = written.map_or_else(
            |why| FormatOutcome::Failed(Failure::io(format!("not written: {why}"))),
            |()| done,
        );
        let name = names.next().unwrap_or_default();
        let text = match done {
            FormatOutcome::Formatted(text, changes) => {
                n_changed += usize::from(changes);
                n_same += usize::from(!changes);
                if changes && (args.check || args.diff) {
                    worse(&mut code, EXIT_FINDINGS);
                }
                if changes && args.check {
                    print_error(&format!("would format {name}"));
                }
                text
            }
            FormatOutcome::Unparsed((line, column), why, text) => {
                n_unparsed += 1;
                worse(&mut code, EXIT_FINDINGS);
                let why = shown_line(&why);
                print_error(&format!("noisy-check: {name}:{line}:{column}: not formatted: {why}"));
                text
            }
            FormatOutcome::Failed(failure) => {
                let place = failure
                    .position
                    .map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
                print_error(&format!("noisy-check: {name}{place}: {}", failure.message));
                worse(
                    &mut code,
                    if failure.code == "internal-error" {
                        EXIT_INTERNAL_ERROR
                    } else {
                        EXIT_FAILURE
                    },
                );
                String::new()
            }
        };
        if let Err(it) = out.write_all(text.as_bytes()) {
            error.get_or_insert(it);
        }
        error.is_none()
    };
    let work = |n: usize| {
        check::catch_panics(|| Ok(format_file(&inputs[n], args)))
            .unwrap_or_else(|it| (FormatOutcome::Failed(it), None))
    };
    let mut group = GroupCommit::new();
    parallel::map_in_order(parallel::n_cores(), inputs.len(), work, |(done, file)| {
        group.push(done, file).into_iter().all(|(done, written)| take(done, written))
    });
    for (done, written) in group.finish() {
        take(done, written);
    }
    if let Some(error) = error {
        return Err(error);
    }
    out.flush()?;
    // A filter prints only errors.
    if !is_filter {
        print_error(&summary(args.check || args.diff, n_changed, n_same, n_unparsed));
    }
    Ok(code)
}

/// Formats one file on its thread, and prepares its replacement.
fn format_file(input: &Input, args: &args::FormatArgs) -> (FormatOutcome, Option<Replacement>) {
    let text = match check::read(input) {
        Ok(it) => it,
        Err(failure) => return (FormatOutcome::Failed(failure), None),
    };
    // A filter echoes its input even if it cannot be formatted.
    let is_filter = matches!(input, Input::Stdin) && !args.check && !args.diff;
    let source = Source::new(&text);
    let edits = match noisy_format::format(&source) {
        Ok(it) => it,
        Err(why) => {
            let line = source.text().byte_to_line(why.range.start);
            let column =
                source.slice(source.text().line_to_byte(line)..why.range.start).chars().count();
            let through = if is_filter { text } else { String::new() };
            return (FormatOutcome::Unparsed((line + 1, column + 1), why.message, through), None);
        }
    };
    let changes = !edits.is_empty();
    let after = TextEdit::apply_all(&edits, &text);
    if args.diff {
        let name = quoted_name(input.path(&args.stdin_filename));
        let terminal = io::stdout().is_terminal();
        let diff = diff::unified(&name, &text, &after);
        let diff = paint::colored_diff(
            diff,
            OutputStyle { has_color: false, is_terminal: terminal, fails_on_warnings: false },
        );
        return (FormatOutcome::Formatted(diff, changes), None);
    }
    match input {
        Input::Stdin if is_filter => (FormatOutcome::Formatted(after, changes), None),
        Input::File(path) if changes && !args.check => {
            match Replacement::new(path, &text, &after) {
                Ok(file) => (FormatOutcome::Formatted(String::new(), true), Some(file)),
                Err(why) => {
                    (FormatOutcome::Failed(Failure::io(format!("not written: {why}"))), None)
                }
            }
        }
        _ => (FormatOutcome::Formatted(String::new(), changes), None),
    }
}

fn summary(only_told: bool, n_changed: usize, n_same: usize, n_unparsed: usize) -> String {
    let verb = if only_told { "would be formatted" } else { "formatted" };
    let mut parts = Vec::new();
    if n_changed > 0 || n_same + n_unparsed == 0 {
        parts.push(format!("{} {verb}", count_text(n_changed, "file")));
    }
    if n_same > 0 {
        parts.push(format!("{} left unchanged", count_text(n_same, "file")));
    }
    if n_unparsed > 0 {
        parts.push(format!("{} with syntax errors not formatted", count_text(n_unparsed, "file")));
    }
    parts.join(", ")
}
