//! Flags in LLVM's syntax: `-x` and `--x`, `--x=v`, and `--x v` if a value is required. All other
//! arguments are files.
//!
//! A flag with the name of a pass adds this pass to the pipeline. The value of the flag has the
//! options of the pass.

use crate::passes;

/// A flag, or the input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The name without dashes; empty for the input file.
    pub name: String,
    /// The value after `=`, or the next argument.
    pub value: Option<String>,
}

/// The kind of value that a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlagValue {
    /// Nothing, or `=true` and `=false`.
    Bool,
    /// A value, after `=` or as the next argument. The help shows this placeholder for it.
    Value(&'static str),
    /// An optional value after `=`, with its placeholder.
    Optional(&'static str),
}

/// The flags of the tool, without those of passes: name, kind of value, help text.
const FLAGS: &[(&str, FlagValue, &str)] = {
    use FlagValue::{Bool, Optional, Value};
    &[
        ("allow-unregistered-dialect", Bool, "Allow ops of unknown dialects"),
        (
            "bisect",
            Value("command"),
            "Find the first step after which COMMAND fails on the program",
        ),
        ("bisect-limit", Value("n"), "Stop after N steps (pass runs and rewrites)"),
        ("dump-pass-pipeline", Bool, "Print the pipeline that will be run, on stderr"),
        ("force", Bool, "Replace an output file even if it is of another kind, such as a program"),
        ("h", Bool, "Print this help, like --help"),
        ("help", Bool, "Print this help"),
        ("in-place", Bool, "Write the output over the input"),
        (
            "keep-source",
            Bool,
            "Edit the source instead of printing the program again: unchanged ops keep their text, names and comments",
        ),
        ("list-passes", Bool, "Print the registered passes and exit"),
        (
            "mlir-debug-counter",
            Value("counters"),
            "Comma separated list of debug counter skip and count arguments",
        ),
        ("mlir-disable-threading", Bool, "Read, verify and run passes on one thread"),
        ("mlir-output-format", Value("format"), "Format of timing data: text or json"),
        ("mlir-print-assume-verified", Bool, "Skip verification when printing custom forms"),
        (
            "mlir-print-debug-counter",
            Bool,
            "Print out debug counter information after all counters have been accumulated",
        ),
        ("mlir-print-debuginfo", Bool, "Print the locations of ops and block arguments: loc(..)"),
        ("mlir-print-ir-after", Value("passes"), "Print IR after specified passes"),
        ("mlir-print-ir-after-all", Bool, "Print IR after each pass"),
        (
            "mlir-print-ir-after-change",
            Bool,
            "When printing the IR after a pass, only print if the IR changed",
        ),
        (
            "mlir-print-ir-after-failure",
            Bool,
            "When printing the IR after a pass, only print if the pass failed",
        ),
        (
            "mlir-print-ir-diff",
            Bool,
            "When printing the IR after a pass, print its changes as a unified diff",
        ),
        ("mlir-print-ir-before", Value("passes"), "Print IR before specified passes"),
        ("mlir-print-ir-before-all", Bool, "Print IR before each pass"),
        (
            "mlir-print-ir-module-scope",
            Bool,
            "When printing IR, always print the top-level operation",
        ),
        (
            "arguments-may-alias",
            Bool,
            "Assume that memref arguments and globals may share elements",
        ),
        ("mlir-print-local-scope", Bool, "Print with local scope and inline information"),
        ("mlir-print-op-generic", Bool, "Print the generic op form"),
        ("mlir-timing", Bool, "Display execution times"),
        ("mlir-timing-display", Value("method"), "Display method for timing data: list or tree"),
        ("mlir-pass-statistics", Bool, "Display the statistics of each pass"),
        (
            "mlir-pass-statistics-display",
            Value("method"),
            "Display method for pass statistics: list or pipeline",
        ),
        (
            "mlir-pass-pipeline-crash-reproducer",
            Value("file"),
            "Write a reproducer to the given file if a pass fails",
        ),
        (
            "mlir-pass-pipeline-local-reproducer",
            Bool,
            "Write a reproducer of the failing pass only",
        ),
        (
            "no-implicit-module",
            Bool,
            "Disable implicit addition of a top-level module op during parsing",
        ),
        (
            "log-actions-to",
            Value("file"),
            "Log action execution to a file, or stdout if '-' is passed",
        ),
        (
            "log-mlir-actions-filter",
            Value("locations"),
            "Log only actions on ops at these locations: file, file:line or file:line:column, separated by commas",
        ),
        ("o", Value("file"), "Output filename"),
        ("pass-pipeline", Value("pipeline"), "Textual description of the pass pipeline to run"),
        ("reduce", Value("command"), "Reduce the program while COMMAND still fails, and print it"),
        (
            "replay",
            Value("file"),
            "Write a page (FILE.html) or one JSON object per line (FILE.jsonl) with each step of the passes",
        ),
        ("run-reproducer", Bool, "Run the pipeline stored in the reproducer"),
        (
            "split-input-file",
            Optional("marker"),
            "Split the input file into pieces and process each chunk independently",
        ),
        (
            "verify-diagnostics",
            Optional("which"),
            "Check that emitted diagnostics match expected-* lines",
        ),
        ("verify-each", Bool, "Run the verifier after each transformation pass"),
        ("version", Bool, "Print the version"),
    ]
};

/// Returns the help text of the tool's own flags.
pub fn help() -> String {
    let mut out = String::new();
    for (name, takes, text) in FLAGS {
        let value = match takes {
            FlagValue::Bool => "",
            FlagValue::Value(placeholder) => &format!("=<{placeholder}>"),
            FlagValue::Optional(placeholder) => &format!("[=<{placeholder}>]"),
        };
        let dashes = if name.len() == 1 { " -" } else { "--" };
        let flag = format!("{dashes}{name}{value}");
        out += &format!("  {flag:<44} - {text}\n");
    }
    out
}

/// Parses the arguments, in order. `is_pass` returns true for the name of a pass.
///
/// # Errors
/// An unknown flag or an invalid value. The message has the wording of LLVM.
pub fn parse(args: &[String], is_pass: &dyn Fn(&str) -> bool) -> Result<Vec<Flag>, String> {
    let mut out = Vec::new();
    let mut args = args.iter();
    let mut only_files = false;
    while let Some(arg) = args.next() {
        let bare = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'));
        let Some(bare) = bare.filter(|it| !it.is_empty() && !only_files) else {
            if arg == "--" && !only_files {
                only_files = true;
                continue;
            }
            out.push(Flag { name: String::new(), value: Some(arg.clone()) });
            continue;
        };
        let (name, value) = match bare.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (bare, None),
        };
        let known = FLAGS.iter().find(|it| it.0 == name);
        let value = match (known.map(|it| it.1), value) {
            (Some(FlagValue::Value(_)), None) => match args.next() {
                Some(value) => Some(value.clone()),
                None => return Err(format!("for the --{name} option: requires a value!")),
            },
            (Some(FlagValue::Bool), Some(value)) if !is_bool(&value) => {
                return Err(format!(
                    "for the --{name} option: '{value}' is invalid value for boolean argument! Try 0 or 1"
                ));
            }
            (None, _) if !is_pass(name) => {
                let mut text =
                    format!("Unknown command line argument '{arg}'.  Try: 'noisy-opt --help'");
                if let Some(near) = nearest(
                    name,
                    FLAGS.iter().map(|it| it.0).chain(passes::all().map(|it| it.name)),
                ) {
                    text += &format!("\nnoisy-opt: Did you mean '--{near}'?");
                }
                return Err(text);
            }
            (_, value) => value,
        };
        out.push(Flag { name: name.to_owned(), value });
    }
    Ok(out)
}

fn is_bool(value: &str) -> bool {
    matches!(value, "true" | "TRUE" | "True" | "1" | "false" | "FALSE" | "False" | "0")
}

impl Flag {
    /// Returns true if a Boolean flag is on.
    pub(crate) fn is_on(&self) -> bool {
        self.value.as_deref().is_none_or(|it| matches!(it, "true" | "TRUE" | "True" | "1"))
    }
}

/// Returns the most similar name, if a name is similar enough.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|it| (strsim::jaro_winkler(name, it), it));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.85).then_some(best.1)
}
