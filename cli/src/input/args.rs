//! The command line.
#![expect(clippy::doc_markdown, reason = "the comments are printed as help")]

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Checks noise in MLIR programs with homomorphic arithmetic, and inserts the cheapest
/// `reduce_noise`.
#[derive(Clone, Debug, Parser)]
#[command(name = "noisy-check", version, about, long_about = None, after_help = EXIT_CODES)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Cli {
    /// The command other than checking
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Arguments of a check
    #[command(flatten)]
    pub check: CheckArgs,
}

/// A command other than checking.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Check files (the default command)
    Check(Box<CheckArgs>),
    /// Explain a diagnostic code and how to fix it; without a code, list all codes
    Explain {
        /// The code, such as noise-overflow
        #[arg(value_name = "CODE")]
        code: Option<String>,
        /// Explain all codes
        #[arg(long, conflicts_with = "code")]
        all: bool,
    },
    /// Format files: only indentation, spaces and line breaks change
    #[command(visible_alias = "fmt")]
    Format(FormatArgs),
    /// Draw the data-flow graph of a function with its noise
    Graph(GraphArgs),
    /// Draw the iterations of two loops and the dependences between them
    Nest(NestArgs),
    /// Verify a certificate written by --fix --certificate against the program before the fix
    VerifyCertificate(VerifyCertificateArgs),
    /// Print the JSON schema of noisy.toml
    Schema,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

/// Arguments of `format`.
#[derive(Clone, Debug, Args)]
#[command(after_help = FORMAT_EXIT_CODES)]
pub(crate) struct FormatArgs {
    /// Files or folders to format; `-` formats standard input to standard output. Folders are
    /// searched for *.mlir files, respecting .gitignore
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// Write nothing; list the files that would change
    #[arg(long, conflicts_with = "diff")]
    pub check: bool,

    /// Write nothing; print the changes as a diff
    #[arg(long)]
    pub diff: bool,

    /// Read no configuration file
    #[arg(long)]
    pub isolated: bool,

    /// Skip files that match a pattern, written as in .gitignore
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,

    /// Apply --exclude also to files that are named on the command line, and to --stdin-filename
    #[arg(long)]
    pub force_exclude: bool,

    /// Also format files that git ignores
    #[arg(long)]
    pub no_respect_gitignore: bool,

    /// The name of standard input
    #[arg(long, value_name = "NAME", default_value = "<stdin>", hide_default_value = true)]
    pub stdin_filename: String,
}

/// Arguments of `verify-certificate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = CERTIFICATE_EXIT_CODES)]
pub(crate) struct VerifyCertificateArgs {
    /// The certificate
    #[arg(value_name = "FILE")]
    pub certificate: PathBuf,
    /// The program before it was fixed; `-` is standard input
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,
    /// The certificate that the rewritten program computes the same; --certificate proof.json
    /// writes proof.equality.json, if --rewrite changes the program
    #[arg(long, value_name = "FILE")]
    pub equality: Option<PathBuf>,
    /// The program after it was fixed: verify that it differs in reduce_noise only from the program
    /// before, or from the rewritten one
    #[arg(long, value_name = "FILE")]
    pub fixed: Option<PathBuf>,
    /// The program was fixed with --unsafe-fixes
    #[arg(long)]
    pub unsafe_fixes: bool,
    /// Options that change settings.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// Arguments of `graph`.
#[derive(Clone, Debug, Args)]
pub(crate) struct GraphArgs {
    /// The file; `-` is standard input
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The function, with or without @ [default: the first one over the budget, or the first]
    #[arg(long, short, value_name = "NAME")]
    pub function: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value = "dot", value_name = "FORMAT")]
    pub format: GraphFormat,
    /// Insert reduce_noise first, and draw the program before and after
    #[arg(long)]
    pub fix: bool,
    /// Write to a file
    #[arg(short, long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// Replace an output file even if it is of another kind, such as a program
    #[arg(long)]
    pub force: bool,
    /// Options that change settings.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// Arguments of `nest`.
#[derive(Clone, Debug, Args)]
pub(crate) struct NestArgs {
    /// The file; `-` is standard input
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Line of the loop to draw, together with its inner (or outer) loop
    /// [default: the first nest of two loops]
    #[arg(long, short, value_name = "LINE")]
    pub line: Option<usize>,
    /// The order to draw beside the program [default: the first that changes it; none without
    /// --format html]
    #[arg(long, value_enum, value_name = "ORDER")]
    pub after: Option<LoopOrder>,
    /// Draw at most N iterations of each loop; also used where a bound is unknown
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(i64).range(1..=32), value_name = "N")]
    pub size: i64,
    /// Iterations of a tile in each direction
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(i64).range(1..=32), value_name = "N")]
    pub tile: i64,
    /// The output format
    #[arg(long, value_enum, default_value = "html", value_name = "FORMAT")]
    pub format: NestFormat,
    /// Write to a file
    #[arg(short, long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// Replace an output file even if it is of another kind, such as a program
    #[arg(long)]
    pub force: bool,
    /// Options that change settings.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// An output format of `nest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NestFormat {
    /// An HTML page to choose orders in
    Html,
    /// An SVG picture
    Svg,
    /// The points and dependences as JSON
    Json,
}

/// Another order of two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoopOrder {
    /// The inner loop outside
    Interchange,
    /// The outer variable added to the inner one
    Skew,
    /// Skewed, then interchanged
    Wavefront,
    /// The outer loop reversed
    ReverseOuter,
    /// The inner loop reversed
    ReverseInner,
    /// Tiled
    Tile,
}

/// An output format of `graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// DOT, for Graphviz
    Dot,
    /// An SVG picture
    Svg,
    /// An HTML page with one picture, or with two side by side
    Html,
}

/// Options that change settings.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingsArgs {
    /// Set a key, such as placement.time-limit=3, or use this configuration file for all files
    #[arg(long, value_name = "KEY=VALUE|FILE")]
    pub config: Vec<OsString>,

    /// Read no configuration file
    #[arg(long)]
    pub isolated: bool,

    /// Treat RULE (a code, a category, or `all`) as an error
    #[arg(long, value_name = "RULE")]
    pub error: Vec<String>,

    /// Treat RULE as a warning
    #[arg(long, value_name = "RULE")]
    pub warn: Vec<String>,

    /// Do not report RULE
    #[arg(long, value_name = "RULE")]
    pub ignore: Vec<String>,

    /// Time limit of the optimizer for all files together
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub time_limit: Option<f64>,

    /// The cost to minimize: executions of reduce_noise, or the number of reduce_noise in the text
    #[arg(long, value_parser = ["executed", "count"])]
    pub objective: Option<String>,

    /// Re-optimize: existing reduce_noise may be removed
    #[arg(long)]
    pub replace: bool,

    /// Before fixing, rewrite programs into equal ones that need fewer reduce_noise
    #[arg(long)]
    pub rewrite: bool,
}

/// Arguments of a check.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files or folders to check; `-` reads standard input. Folders are searched for *.mlir files,
    /// respecting .gitignore
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// The format of the diagnostics [env: NOISY_OUTPUT_FORMAT]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub output_format: Option<OutputFormat>,

    /// Write the diagnostics to a file
    #[arg(short, long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,

    /// Replace an output file even if it is of another kind, such as a program
    #[arg(long)]
    pub force: bool,

    /// Exit with 0 even if there are errors
    #[arg(long)]
    pub exit_zero: bool,

    /// Exit with 1 even if there are only warnings
    #[arg(long)]
    pub error_on_warning: bool,

    /// Print at most N diagnostics of a file, the most severe first, and count the others
    #[arg(long, value_name = "N", default_value_t = noisy_analyses::MAX_DIAGNOSTICS)]
    pub max_diagnostics: usize,

    /// Print how often each diagnostic occurs, and the proven cost of each placement
    #[arg(long)]
    pub statistics: bool,

    /// Hide the diagnostics listed in this baseline file (see --write-baseline)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["verify_diagnostics", "show_ranges"])]
    pub baseline: Option<PathBuf>,

    /// Write all current diagnostics to a baseline file and exit with 0
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "fix", "fix_only", "diff", "add_suppressions", "verify_diagnostics", "show_ranges", "output_file"])]
    pub write_baseline: Option<PathBuf>,

    /// Check again whenever a file or its configuration changes, until interrupted
    #[arg(long, conflicts_with_all = ["fix", "fix_only", "diff", "add_suppressions", "output_file", "write_baseline", "show_files", "show_settings", "dump", "trace_solver"])]
    pub watch: bool,

    /// Print only diagnostics, no summary
    #[arg(long, short)]
    pub quiet: bool,

    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: ColorMode,

    /// Options that change files.
    #[command(flatten)]
    pub fixing: FixArgs,

    /// Write a certificate that proves the placement legal and its cost bound (one file only, with
    /// --fix, --fix-only or --diff)
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Fixing",
        requires = "fixes",
        conflicts_with = "add_suppressions"
    )]
    pub certificate: Option<PathBuf>,

    /// Options that select files.
    #[command(flatten)]
    pub files: FileArgs,

    /// Options of the cache.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// Options that change settings.
    #[command(flatten)]
    pub settings: SettingsArgs,

    /// Options that print something other than diagnostics.
    #[command(flatten)]
    pub show: ShowArgs,
}

/// Options that change files.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Fixing")]
#[expect(clippy::struct_excessive_bools, reason = "a switch each")]
pub(crate) struct FixArgs {
    /// Insert reduce_noise where noise exceeds the budget, apply the safe fixes of errors and
    /// warnings, and write the files back
    #[arg(long, group = "fixes")]
    pub fix: bool,

    /// Print what --fix would change as a diff; exit code 1 if anything would change
    #[arg(long, conflicts_with_all = ["fix", "fix_only"], group = "fixes")]
    pub diff: bool,

    /// Also apply fixes that may change the meaning of the program
    #[arg(long)]
    pub unsafe_fixes: bool,

    /// Like --fix, without a report of the remaining diagnostics
    #[arg(long, group = "fixes")]
    pub fix_only: bool,

    /// Suppress all current errors and warnings by adding `// noisy: allow(CODE)` comments, and
    /// remove unused ones. Combine with --diff to preview
    #[arg(long, conflicts_with_all = ["fix", "fix_only", "unsafe_fixes"])]
    pub add_suppressions: bool,
}

impl FixArgs {
    /// True if the program is to be changed.
    pub(crate) fn has_changes(self) -> bool {
        self.fix || self.fix_only || self.diff || self.add_suppressions
    }

    /// True if files are to be written, or standard input is to be echoed.
    pub(crate) fn is_writing(self) -> bool {
        self.has_changes() && !self.diff
    }
}

/// Options that select files.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// Skip files that match a pattern, written as in .gitignore
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,

    /// Apply --exclude also to files that are named on the command line, and to --stdin-filename
    #[arg(long)]
    pub force_exclude: bool,

    /// Also check files that git ignores
    #[arg(long)]
    pub no_respect_gitignore: bool,

    /// Do not report RULE in files that match PATTERN, written as in .gitignore
    #[arg(long, value_name = "PATTERN:RULE")]
    pub per_file_ignores: Vec<String>,

    /// Check only the I-th of N parts of the files, of about equal size
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    pub shard: Option<(usize, usize)>,

    /// The name of standard input
    #[arg(long, value_name = "NAME", default_value = "<stdin>", hide_default_value = true)]
    pub stdin_filename: String,

    /// Check the parts of a file between // ----- lines separately; always on, accepted for
    /// mlir-opt compatibility
    #[arg(long)]
    pub split_input_file: bool,
}

/// Options of the cache.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cache")]
pub(crate) struct CacheArgs {
    /// Do not read or write the cache
    #[arg(long)]
    pub no_cache: bool,

    /// The folder of the cache [env: NOISY_CACHE_DIR] [default: .noisy_cache beside the
    /// configuration file of the current folder, or in the current folder]
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
}

/// Options that print something other than diagnostics.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Instead of checking")]
pub(crate) struct ShowArgs {
    /// Compare diagnostics with the expected-error, -warning, -remark and -note comments of the
    /// files, like mlir-opt
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    #[arg(conflicts_with_all = ["fix", "fix_only", "diff", "add_suppressions"])]
    pub verify_diagnostics: Option<ExpectationMode>,

    /// Print the program with the noise range of each value, in bits, as a comment
    #[arg(long, conflicts_with_all = ["fix", "fix_only", "diff", "add_suppressions", "verify_diagnostics"])]
    pub show_ranges: bool,

    /// Print the names of the files that would be checked
    #[arg(long, conflicts_with_all = ["fix", "fix_only", "diff", "add_suppressions", "verify_diagnostics", "show_ranges"])]
    pub show_files: bool,

    /// Print the configuration files that apply to the first file, and the resulting settings
    #[arg(long)]
    pub show_settings: bool,

    /// Print the result of a stage for each file
    #[arg(long, value_enum, value_name = "STAGE")]
    pub dump: Option<DumpStage>,

    /// Print each visit of the solver, with the facts of operands and results before and after
    #[arg(long, conflicts_with = "dump")]
    pub trace_solver: bool,
}

const EXIT_CODES: &str = "\
Exit codes: 0 no errors, 1 errors (with --fix: remaining errors), 2 wrong usage, invalid configuration, or a file that cannot
be read or written, 101 internal error, 130 ended by SIGINT (Ctrl-C), SIGTERM or SIGHUP";

const CERTIFICATE_EXIT_CODES: &str = "\
Exit codes: 0 the certificate is valid, 1 it is invalid, 2 wrong usage, an invalid configuration, or a file that cannot be read,
130 ended by SIGINT (Ctrl-C), SIGTERM or SIGHUP";

const FORMAT_EXIT_CODES: &str = "\
Exit codes: 0 done, 1 a file does not parse (it is not changed), or with --check or --diff anything would change, 2 wrong usage
or a file that cannot be read or written, 101 internal error, 130 ended by SIGINT (Ctrl-C), SIGTERM or SIGHUP";

/// The format of the diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// With source lines and the ops that the noise comes from
    Full,
    /// One line for each diagnostic
    Concise,
    /// Diagnostics grouped by file
    Grouped,
    /// One line for each diagnostic, as pylint prints it
    Pylint,
    /// One JSON array
    Json,
    /// One JSON object on each line
    JsonLines,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// Logging commands of Azure Pipelines
    Azure,
    /// Code Quality of GitLab
    Gitlab,
    /// JUnit XML
    Junit,
    /// Checkstyle XML
    Checkstyle,
    /// Reviewdog Diagnostic Format, one object
    Rdjson,
    /// A page that steps through the visits of the solver; only with --dump trace
    #[value(hide = true)]
    Html,
}

/// A stage between text and facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpStage {
    /// Tokens
    Tokens,
    /// Items and their ranges
    Tree,
    /// Ops with their operands, results and types
    Ir,
    /// The generic form, as mlir-opt of LLVM 19 prints it
    Generic,
    /// The generic form, as heir-opt on LLVM 24 prints it
    #[value(name = "generic-24")]
    Generic24,
    /// The custom form of each op, as mlir-opt of LLVM 19 prints it
    Custom,
    /// All facts of each value
    Facts,
    /// The control-flow graph of each function in DOT, with unreachable blocks dashed
    Cfg,
    /// The visits of the solver, by analysis
    Trace,
    /// Dependences of loop iterations: one JSON object per line for each pair of accesses and each
    /// loop
    Dependences,
}

/// Diagnostics that must be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExpectationMode {
    /// Errors and warnings
    All,
    /// Only check that expected diagnostics occur; allow others
    OnlyExpected,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Parses the command line. The option `--color` also applies to the messages about the command
/// line.
pub(crate) fn parse() -> Cli {
    let words: Vec<OsString> = std::env::args_os().collect();
    let color = words.iter().enumerate().rev().find_map(|(n, word)| match word.to_str()? {
        "--color" => words.get(n + 1)?.to_str().map(str::to_owned),
        word => word.strip_prefix("--color=").map(str::to_owned),
    });
    let choice = match color.as_deref() {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    };
    let matches = Cli::command().color(choice).get_matches_from(words);
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

fn parse_shard(text: &str) -> Result<(usize, usize), String> {
    let wrong = || "expected I/N with I from 1 to N, such as 1/4".to_owned();
    let (index, count) = text.split_once('/').ok_or_else(wrong)?;
    let (index, count) = (index.parse().map_err(|_| wrong())?, count.parse().map_err(|_| wrong())?);
    if (1..=count).contains(&index) { Ok((index, count)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn shards_are_checked() {
        assert_eq!(parse_shard("2/4"), Ok((2, 4)));
        for text in ["0/4", "5/4", "1", "a/b", "1/0", "", "-1/2"] {
            assert!(parse_shard(text).is_err(), "{text}");
        }
    }
}
