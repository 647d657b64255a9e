//! Converts the command line to the plan of a run: the files, their settings, the output format.

use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use noisy_output::{FileKind, check_not_an_input, check_replaceable, identity};
use noisy_settings::ConfigResolver;
use noisy_syntax::parallel;

use crate::file::baseline::Baseline;
use crate::file::cache::Cache;
use crate::file::equality;
use crate::input::args::{CheckArgs, ColorMode, DumpStage, OutputFormat};
use crate::input::failure::UnreadablePath;
use crate::input::select::Selection;
use crate::input::setup;
use crate::input::shard;
use crate::input::walk::{self, Input, InputFilter};
use crate::output::paint::OutputStyle;

/// The plan of a run of `noisy-check`.
pub(crate) struct CheckPlan<'a> {
    pub args: &'a CheckArgs,
    pub format: OutputFormat,
    pub style: OutputStyle,
    /// Finds the settings of each file.
    pub resolver: ConfigResolver,
    pub selection: Selection,
    /// The baseline, whose findings are not reported.
    pub baseline: Option<Arc<Baseline>>,
    /// The files.
    pub inputs: Vec<Input>,
    /// True if standard input was named and its name is excluded.
    pub excludes_stdin: bool,
    /// Paths that were named or found and cannot be checked.
    pub unreadable: Vec<UnreadablePath>,
    pub cache: Option<Cache>,
}

impl<'a> CheckPlan<'a> {
    /// Reads the command line and finds the files.
    ///
    /// # Errors
    ///
    /// A mistake in the command line.
    pub(crate) fn new(args: &'a CheckArgs) -> Result<Self, String> {
        let format = chosen_format(args)?;
        let resolver = setup::resolver(&args.settings)?;
        let files = &args.files;
        let selection = Selection::new(&files.exclude, &files.per_file_ignores)?;
        let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?.map(Arc::new);
        let mut configs = resolver.by_folder();
        let filter = InputFilter {
            is_excluded: &mut |path| selection.is_excluded(&mut configs, path),
            applies_to_named: files.force_exclude,
            respects_gitignore: !files.no_respect_gitignore,
            stdin_filename: &files.stdin_filename,
        };
        let found = walk::find_inputs(&args.paths, filter);
        found.report_left_out();
        let excludes_stdin = found.excludes_stdin;
        let walk::FoundInputs { mut inputs, mut unreadable, .. } = found;
        check_outputs_are_not_inputs(args, &resolver, &inputs)?;
        check_outputs_are_replaceable(args, format)?;
        if let Some((index, count)) = files.shard
            && !args.show.show_settings
        {
            inputs = shard::inputs_of_part(inputs, index, count);
            if index > 1 {
                // The first part reports unreadable paths.
                unreadable.clear();
            }
        }
        if args.fixing.is_writing() {
            // A file with two names is fixed once.
            let mut is_first = Vec::with_capacity(inputs.len());
            let mut seen = HashSet::new();
            let of = |n: usize| inputs[n].file().and_then(identity);
            parallel::map_in_order(parallel::n_cores(), inputs.len(), of, |it| {
                is_first.push(it.is_none_or(|it| seen.insert(it)));
                true
            });
            let mut is_first = is_first.into_iter();
            inputs.retain(|_| is_first.next() == Some(true));
        }
        if args.certificate.is_some() && inputs.len() + unreadable.len() != 1 {
            return Err("--certificate works with one file only".to_owned());
        }
        let is_filter =
            args.fixing.is_writing() && (excludes_stdin || inputs.contains(&Input::Stdin));
        let terminal = args.output_file.is_none() && !is_filter && io::stdout().is_terminal();
        let look = OutputStyle {
            has_color: has_color(args, is_filter),
            is_terminal: terminal,
            fails_on_warnings: args.error_on_warning,
        };
        let mut plan = Self {
            args,
            format,
            style: look,
            resolver,
            selection,
            baseline,
            inputs,
            excludes_stdin,
            unreadable,
            cache: None,
        };
        plan.cache = plan.cache();
        Ok(plan)
    }

    /// The cache, if it can hold the requested output.
    fn cache(&self) -> Option<Cache> {
        let CheckArgs { fixing, show, settings, cache, .. } = self.args;
        let is_kept = !fixing.diff
            && self.args.certificate.is_none()
            && show.verify_diagnostics.is_none()
            && !show.show_ranges;
        let wants_entries = self.args.write_baseline.is_some();
        let options = (
            self.format,
            self.style,
            fixing,
            self.args.max_diagnostics,
            &self.baseline,
            wants_entries,
        );
        if is_kept { Cache::new(cache, settings.isolated, &options) } else { None }
    }

    /// True if standard input is fixed: the program goes to standard output, the findings to
    /// standard error.
    pub(crate) fn is_filter(&self) -> bool {
        self.args.fixing.is_writing()
            && (self.excludes_stdin || self.inputs.contains(&Input::Stdin))
    }

    /// True if something other than findings is printed.
    pub(crate) fn is_without_findings(&self) -> bool {
        let CheckArgs { fixing, show, .. } = self.args;
        fixing.fix_only || show.verify_diagnostics.is_some() || show.show_ranges
    }
}

/// Checks that no output overwrites a checked file or a configuration.
fn check_outputs_are_not_inputs(
    args: &CheckArgs,
    resolver: &ConfigResolver,
    inputs: &[Input],
) -> Result<(), String> {
    let equality = args.certificate.as_deref().map(equality::certificate_path);
    let outputs = [&args.output_file, &args.write_baseline, &args.certificate, &equality];
    let mut outputs = outputs.into_iter().flatten().peekable();
    if outputs.peek().is_none() {
        return Ok(());
    }
    let first = inputs.first().map_or(Path::new(""), |it| it.path(&args.files.stdin_filename));
    // A broken configuration is reported later.
    let config = resolver.config(first).ok();
    let configs = config
        .iter()
        .flat_map(|it| it.path().into_iter().chain(it.extended().iter().map(PathBuf::as_path)));
    let files = inputs.iter().filter_map(Input::file);
    let all: Vec<&Path> = files.chain(configs).collect();
    for it in outputs {
        check_not_an_input(it, all.iter().copied().chain(args.baseline.as_deref()))?;
    }
    Ok(())
}

/// Checks that no output replaces a file of another kind, unless forced.
fn check_outputs_are_replaceable(args: &CheckArgs, format: OutputFormat) -> Result<(), String> {
    if args.force {
        return Ok(());
    }
    let equality = args.certificate.as_deref().map(equality::certificate_path);
    let outputs = [
        (&args.output_file, output_kind(args, format)),
        (&args.write_baseline, FileKind::Json),
        (&args.certificate, FileKind::Json),
        (&equality, FileKind::Json),
    ];
    let mut outputs = outputs.into_iter().filter_map(|(it, kind)| Some((it.as_deref()?, kind)));
    outputs.try_for_each(|(path, kind)| check_replaceable(path, kind))
}

/// The kind of the main output.
fn output_kind(args: &CheckArgs, format: OutputFormat) -> FileKind {
    if args.show.show_ranges {
        return FileKind::Program;
    }
    if args.fixing.diff || args.show.verify_diagnostics.is_some() {
        return FileKind::Text;
    }
    let json = match format {
        OutputFormat::Json
        | OutputFormat::JsonLines
        | OutputFormat::Sarif
        | OutputFormat::Gitlab
        | OutputFormat::Rdjson => true,
        OutputFormat::Html => return FileKind::Html,
        OutputFormat::Junit | OutputFormat::Checkstyle => return FileKind::Xml,
        OutputFormat::Full
        | OutputFormat::Concise
        | OutputFormat::Grouped
        | OutputFormat::Pylint
        | OutputFormat::Github
        | OutputFormat::Azure => false,
    };
    match args.show.dump {
        Some(DumpStage::Cfg) => FileKind::Dot,
        Some(DumpStage::Generic | DumpStage::Generic24 | DumpStage::Custom) => FileKind::Program,
        Some(DumpStage::Dependences) => FileKind::Json,
        _ if json => FileKind::Json,
        _ => FileKind::Text,
    }
}

fn chosen_format(args: &CheckArgs) -> Result<OutputFormat, String> {
    let format = wanted_format(args)?;
    let is_traced = args.show.trace_solver || args.show.dump == Some(DumpStage::Trace);
    if format == OutputFormat::Html && !is_traced {
        return Err("the format 'html' needs `--dump trace`".to_owned());
    }
    Ok(format)
}

fn wanted_format(args: &CheckArgs) -> Result<OutputFormat, String> {
    if let Some(format) = args.output_format {
        return Ok(format);
    }
    match std::env::var("NOISY_OUTPUT_FORMAT") {
        Ok(name) if !name.is_empty() => OutputFormat::from_str(&name, true)
            .map_err(|_| format!("NOISY_OUTPUT_FORMAT: unknown format '{name}'")),
        _ => Ok(OutputFormat::Full),
    }
}

fn has_color(args: &CheckArgs, is_filter: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    match args.color {
        ColorMode::Always => true,
        ColorMode::Never => false,
        ColorMode::Auto if set("NO_COLOR") || args.output_file.is_some() => false,
        ColorMode::Auto if std::env::var_os("CLICOLOR_FORCE").is_some_and(|it| it != "0") => true,
        ColorMode::Auto if is_filter => io::stderr().is_terminal(),
        ColorMode::Auto => io::stdout().is_terminal(),
    }
}
