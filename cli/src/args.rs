//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

/// Checks noisy arithmetic in MLIR files, and inserts the cheapest `reduce_noise`.
#[derive(Clone, Debug, Parser)]
#[command(name = "noisy-check", version, about, long_about = None, after_help = EXIT_CODES)]
#[expect(clippy::struct_excessive_bools, reason = "a switch each")]
#[expect(clippy::doc_markdown, reason = "the comments are printed as help")]
pub(crate) struct Args {
    /// Files and directories; `-` is standard input. Of directories all *.mlir that git does not ignore
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// How to print what is found [env: NOISY_OUTPUT_FORMAT]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub output_format: Option<Format>,

    /// Write what is found to a file
    #[arg(short, long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,

    /// Insert reduce_noise wherever noise exceeds the budget, and write the files back
    #[arg(long)]
    pub fix: bool,

    /// Print what --fix would change; exit code 1 if anything
    #[arg(long, conflicts_with = "fix")]
    pub diff: bool,

    /// Time for the optimizer, for all files together
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub time_limit: Duration,

    /// What the optimizer makes least
    #[arg(long, value_enum, value_name = "WHAT", default_value = "executed")]
    pub objective: Objective,

    /// Place anew: reduce_noise that is there already may go
    #[arg(long)]
    pub replace: bool,

    /// Exit with 0 also if there are errors
    #[arg(long)]
    pub exit_zero: bool,

    /// Read no configuration file
    #[arg(long)]
    pub isolated: bool,

    /// The name of standard input
    #[arg(long, value_name = "NAME", default_value = "<stdin>", hide_default_value = true)]
    pub stdin_filename: String,

    /// Count the diagnostics of each code
    #[arg(long)]
    pub statistics: bool,

    /// Print what a stage made of each file, and check nothing
    #[arg(long, value_enum, value_name = "STAGE", hide = true)]
    pub dump: Option<Stage>,

    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

const EXIT_CODES: &str = "\
Exit codes: 0 no errors, 1 errors (with --fix: that are left), 2 wrong usage or a file that cannot be read or written";

/// How to print what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(clippy::doc_markdown, reason = "the comments are printed as help")]
pub(crate) enum Format {
    /// On the source, with the chain that fed the noise
    Full,
    /// One line each
    Concise,
    /// One JSON array
    Json,
    /// One JSON object on each line
    JsonLines,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// Code Quality of GitLab
    Gitlab,
    /// JUnit XML
    Junit,
    /// Checkstyle XML
    Checkstyle,
    /// Reviewdog Diagnostic Format, one object
    Rdjson,
}

/// What the optimizer makes least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(clippy::doc_markdown, reason = "the comments are printed as help")]
pub(crate) enum Objective {
    /// How many reduce_noise are executed: trip counts multiply, branches divide
    Executed,
    /// How many reduce_noise are written
    Count,
}

impl From<Objective> for noisy_analyses::Objective {
    fn from(it: Objective) -> Self {
        match it {
            Objective::Executed => Self::Executed,
            Objective::Count => Self::Count,
        }
    }
}

/// A stage of the way from text to facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// What the lexer makes of it
    Tokens,
    /// Items and where they stand
    Tree,
    /// Ops with their operands, results and types
    Ir,
    /// The generic form, as mlir-opt of LLVM 19 prints it
    Generic,
    /// The generic form, as heir-opt on LLVM 24 prints it
    #[value(name = "generic-24")]
    Generic24,
    /// Each op in its own form, as mlir-opt of LLVM 19 prints it
    Custom,
    /// The noise of every value
    Facts,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(clippy::doc_markdown, reason = "the comments are printed as help")]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if !(0.0..=1e6).contains(&seconds) {
        return Err("expected a number of seconds between 0 and 1000000".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn seconds_are_checked() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["-1", "x", "inf", "NaN", ""] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
