//! The command line arguments. Errors have the wording of MLIR's tools.

use std::path::Path;

use noisy_output::{FileKind, check_replaceable};
use noisy_syntax::MAX_PADDING;
use noisy_syntax::parallel::n_cores;
use noisy_syntax::print::Style;

use super::flags::{self, Flag};
use super::manager::{ManagerSettings, PassSet};
use super::pipeline::Pipeline;
use super::{EarlyExit, OptRun, RunGoal};
use crate::pass::OptionKind;
use crate::passes;
use crate::timing::TimingFormat;

impl OptRun {
    pub(super) fn from_args(args: &[String]) -> Result<Self, EarlyExit> {
        let wrong = |it: String| EarlyExit::InvalidArguments(format!("noisy-opt: {it}"));
        let invalid = |it: String| EarlyExit::InvalidArguments(format!("error: {it}"));
        let flags = flags::parse(args, &|it| passes::find(it).is_some()).map_err(wrong)?;
        let mut run = OptRun {
            input: "-".to_owned(),
            output: "-".to_owned(),
            pipeline: Pipeline::new("builtin.module"),
            settings: ManagerSettings {
                style: Style {
                    is_custom: true,
                    has_names: true,
                    has_aliases: true,
                    ..Style::default()
                },
                verify_each: true,
                ..ManagerSettings::default()
            },
            is_threaded: true,
            is_forced: flags.iter().any(|it| it.name == "force" && it.is_on()),
            ..OptRun::default()
        };
        let mut display = TimingFormat { is_list: false, is_json: false };
        let mut has_timing = false;
        let (mut text, mut has_passes, mut n_inputs) = (None, false, 0);
        for flag in &flags {
            let value = flag.value.clone().unwrap_or_default();
            let print = &mut run.settings.print_ir;
            match flag.name.as_str() {
                "" => {
                    n_inputs += 1;
                    run.input = value;
                }
                "help" | "h" => return Err(EarlyExit::PrintText(help())),
                "version" => {
                    let version = env!("CARGO_PKG_VERSION");
                    return Err(EarlyExit::PrintText(format!("noisy-opt {version}\n")));
                }
                "list-passes" => return Err(EarlyExit::PrintText(pass_list())),
                "o" => run.output = value,
                "force" => {}
                "allow-unregistered-dialect" => run.allow_unregistered = flag.is_on(),
                "verify-diagnostics" => run.verify_diagnostics = value != "false",
                "split-input-file" => run.split_at = split_marker(flag),
                "verify-each" => run.settings.verify_each = flag.is_on(),
                "dump-pass-pipeline" => run.dump_pipeline = flag.is_on(),
                "pass-pipeline" => text = Some(value),
                "mlir-disable-threading" => run.is_threaded = !flag.is_on(),
                "arguments-may-alias" => {
                    run.settings.aliasing.arguments_may_alias = flag.is_on();
                }
                "mlir-print-op-generic" => run.settings.style.is_custom = !flag.is_on(),
                "mlir-print-debuginfo" => run.settings.style.has_locations = flag.is_on(),
                "mlir-print-local-scope" => run.settings.style.has_aliases = !flag.is_on(),
                "mlir-timing" => has_timing = flag.is_on(),
                "mlir-timing-display" => match value.as_str() {
                    "list" => display.is_list = true,
                    "tree" => display.is_list = false,
                    _ => return Err(wrong(no_such_value(flag))),
                },
                "mlir-output-format" => match value.as_str() {
                    "json" => display.is_json = true,
                    "text" => display.is_json = false,
                    _ => return Err(wrong(no_such_value(flag))),
                },
                "mlir-pass-statistics" => run.statistics = flag.is_on(),
                "mlir-print-ir-before" => print.before = Some(pass_names(&value)),
                "mlir-print-ir-after" => print.after = Some(pass_names(&value)),
                "mlir-print-ir-before-all" => print.before = Some(PassSet::All),
                "mlir-print-ir-after-all" => print.after = Some(PassSet::All),
                "mlir-print-ir-after-change" => print.only_changed = flag.is_on(),
                "mlir-print-ir-after-failure" => print.only_failed = flag.is_on(),
                "mlir-print-ir-module-scope" => print.is_module_scope = flag.is_on(),
                "mlir-print-ir-diff" => print.as_diff = flag.is_on(),
                "no-implicit-module" => run.no_implicit_module = flag.is_on(),
                "run-reproducer" => run.is_reproducer = flag.is_on(),
                "log-actions-to" => {
                    if value != "-" && !run.is_forced {
                        check_replaceable(Path::new(&value), FileKind::Text).map_err(wrong)?;
                    }
                    run.actions.log_to(&value).map_err(invalid)?;
                }
                "log-mlir-actions-filter" => run.actions.filter_log(&value).map_err(invalid)?,
                "mlir-debug-counter" => run.actions.add_counters(&value).map_err(invalid)?,
                "mlir-print-debug-counter" => run.prints_counters = flag.is_on(),
                "in-place" => run.is_in_place = flag.is_on(),
                "keep-source" => run.keeps_source = flag.is_on(),
                "bisect" => run.goal = RunGoal::Bisect(value),
                "replay" => run.replay = Some(value),
                "reduce" => run.goal = RunGoal::Reduce(value),
                "bisect-limit" => run.actions.limit_to(number(flag).map_err(wrong)?),
                "mlir-pass-pipeline-crash-reproducer" => run.crash_reproducer = Some(value),
                "mlir-pass-pipeline-local-reproducer" => {
                    run.settings.keeps_before = flag.is_on();
                }
                name => {
                    let Some(info) = passes::find(name) else { continue };
                    has_passes = true;
                    let options =
                        info.parse_options(&value).map_err(EarlyExit::InvalidArguments)?;
                    run.pipeline.add(info, options).map_err(invalid)?;
                }
            }
        }
        if n_inputs > 1 {
            return Err(wrong("Too many positional arguments specified!".to_owned()));
        }
        if let Some(text) = text {
            if has_passes {
                let message = "'-pass-pipeline' option can't be used with individual pass options";
                return Err(EarlyExit::InvalidArguments(message.to_owned()));
            }
            run.pipeline = parse_pipeline(&text)?;
        }
        if run.settings.print_ir.is_module_scope && run.is_threaded {
            return Err(EarlyExit::InvalidArguments(
                "IR print for module scope can't be setup on a pass-manager without disabling \
                 multi-threading first."
                    .to_owned(),
            ));
        }
        if run.settings.keeps_before && run.is_threaded && run.crash_reproducer.is_some() {
            return Err(EarlyExit::InvalidArguments(
                "Local crash reproduction can't be setup on a pass-manager without disabling \
                 multi-threading first."
                    .to_owned(),
            ));
        }
        if run.is_in_place {
            if run.input == "-" || run.output != "-" {
                return Err(wrong(
                    "--in-place needs a file, and cannot be combined with -o".to_owned(),
                ));
            }
            run.output.clone_from(&run.input);
        }
        if run.keeps_source && run.replay.is_some() {
            return Err(wrong("--replay cannot be combined with --keep-source".to_owned()));
        }
        if run.keeps_source && run.verify_diagnostics {
            return Err(wrong(
                "--keep-source cannot be combined with --verify-diagnostics".to_owned(),
            ));
        }
        run.settings.keeps_before &= run.crash_reproducer.is_some();
        run.settings.n_threads = if run.is_threaded { n_cores() } else { 0 };
        run.timing = has_timing.then_some(display);
        Ok(run)
    }
}

/// Returns the marker between the parts of the file, if the file is split.
fn split_marker(flag: &Flag) -> Option<String> {
    match flag.value.as_deref() {
        None | Some("true" | "") => Some("// -----".to_owned()),
        Some("false") => None,
        Some(marker) => Some(marker.to_owned()),
    }
}

/// Returns the numeric value of a flag.
fn number(flag: &Flag) -> Result<usize, String> {
    let value = flag.value.as_deref().unwrap_or_default();
    value.parse().map_err(|_| {
        format!("for the --{} option: '{value}' value invalid for uint argument!", flag.name)
    })
}

fn no_such_value(flag: &Flag) -> String {
    let value = flag.value.as_deref().unwrap_or_default();
    format!("for the --{} option: Cannot find option named '{value}'!", flag.name)
}

fn pass_names(value: &str) -> PassSet {
    PassSet::These(value.split(',').map(str::to_owned).collect())
}

fn help() -> String {
    let mut out = String::from(
        "noisy-opt reads an MLIR program, runs passes on it and prints the result.\n\nUSAGE: noisy-opt [options] [--pass...] [file]\n\nWithout a file, or with -, it reads standard input. A value follows `=` or is the next argument.\n\nOPTIONS:\n",
    );
    out += &flags::help();
    out += "\nPASSES:\n";
    out + &pass_list()
}

fn pass_list() -> String {
    let mut out = String::new();
    for it in passes::all() {
        out += &format!("  --{:<42} - {}\n", it.name, it.summary);
        for option in it.options {
            let value = match option.kind {
                OptionKind::Bool => String::new(),
                OptionKind::Int => "=<n>".to_owned(),
                OptionKind::Text => "=<text>".to_owned(),
                OptionKind::Ints => "=<n,...>".to_owned(),
                OptionKind::Texts => "=<text,...>".to_owned(),
                OptionKind::OneOf(texts) => format!("=<{}>", texts.join("|")),
            };
            let option = (format!("--{}{value}", option.name), option.summary);
            out += &format!("      {:<40} - {}\n", option.0, option.1);
        }
    }
    out
}

/// Parses a pipeline. An error message shows the position.
pub(super) fn parse_pipeline(text: &str) -> Result<Pipeline, EarlyExit> {
    Pipeline::parse(text).map_err(|error| {
        let at = (error.at + 1).min(MAX_PADDING);
        let mut out = format!("error: {}\n{text}\n{:>width$}", error.message, "^", width = at);
        if let Some(name) = error.suggestion {
            out += &format!("\nnote: did you mean '{name}'?");
        }
        EarlyExit::InvalidArguments(out)
    })
}
