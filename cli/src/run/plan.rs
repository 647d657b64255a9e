//! Converts the command line to the plan of a run: the files, their settings, the output format.

use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use noisy_output::{Kind, identity, is_no_input, is_replaceable};
use noisy_settings::Resolver;
use noisy_syntax::parallel;

use crate::file::baseline::Baseline;
use crate::file::cache::Cache;
use crate::file::equality;
use crate::input::args::{Check, Color, Format, Stage};
use crate::input::failure::Unreadable;
use crate::input::select::Selection;
use crate::input::setup;
use crate::input::shard;
use crate::input::walk::{self, Filter, Input};
use crate::output::paint::Look;

/// The plan of a run of `noisy-check`.
pub(crate) struct Plan<'a> {
    pub args: &'a Check,
    pub format: Format,
    pub look: Look,
    /// Finds the settings of each file.
    pub resolver: Resolver,
    pub selection: Selection,
    /// The baseline, whose findings are not reported.
    pub baseline: Option<Arc<Baseline>>,
    /// The files.
    pub inputs: Vec<Input>,
    /// True if standard input was named and its name is excluded.
    pub excludes_stdin: bool,
    /// Paths that were named or found and cannot be checked.
    pub unreadable: Vec<Unreadable>,
    pub cache: Option<Cache>,
}

impl<'a> Plan<'a> {
    /// Reads the command line and finds the files.
    ///
    /// # Errors
    ///
    /// A mistake in the command line.
    pub(crate) fn new(args: &'a Check) -> Result<Self, String> {
        let format = chosen_format(args)?;
        let resolver = setup::resolver(&args.settings)?;
        let files = &args.files;
        let selection = Selection::new(&files.exclude, &files.per_file_ignores)?;
        let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?.map(Arc::new);
        let mut configs = resolver.in_a_row();
        let filter = Filter {
            is_excluded: &mut |path| selection.is_excluded(&mut configs, path),
            force: files.force_exclude,
            gitignore: !files.no_respect_gitignore,
            stdin_filename: &files.stdin_filename,
        };
        let found = walk::inputs(&args.paths, filter);
        found.say_left_out();
        let excludes_stdin = found.excludes_stdin;
        let walk::Files { mut inputs, mut unreadable, .. } = found;
        outputs_are_no_inputs(args, &resolver, &inputs)?;
        outputs_are_replaceable(args, format)?;
        if let Some((index, count)) = files.shard
            && !args.show.show_settings
        {
            inputs = shard::part(inputs, index, count);
            if index > 1 {
                // The first part reports unreadable paths.
                unreadable.clear();
            }
        }
        if args.fixing.writes() {
            // A file with two names is fixed once.
            let mut is_first = Vec::with_capacity(inputs.len());
            let mut seen = HashSet::new();
            let of = |n: usize| inputs[n].file().and_then(identity);
            parallel::in_order(parallel::cores(), inputs.len(), of, |it| {
                is_first.push(it.is_none_or(|it| seen.insert(it)));
                true
            });
            let mut is_first = is_first.into_iter();
            inputs.retain(|_| is_first.next() == Some(true));
        }
        if args.certificate.is_some() && inputs.len() + unreadable.len() != 1 {
            return Err("--certificate works with one file only".to_owned());
        }
        let is_filter = args.fixing.writes() && (excludes_stdin || inputs.contains(&Input::Stdin));
        let terminal = args.output_file.is_none() && !is_filter && io::stdout().is_terminal();
        let look = Look {
            color: use_color(args, is_filter),
            terminal,
            with_warnings: args.error_on_warning,
        };
        let mut plan = Self {
            args,
            format,
            look,
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
        let Check { fixing, show, settings, cache, .. } = self.args;
        let is_kept = !fixing.diff
            && self.args.certificate.is_none()
            && show.verify_diagnostics.is_none()
            && !show.show_ranges;
        let wants_entries = self.args.write_baseline.is_some();
        let options = (
            self.format,
            self.look,
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
        self.args.fixing.writes() && (self.excludes_stdin || self.inputs.contains(&Input::Stdin))
    }

    /// True if something other than findings is printed.
    pub(crate) fn is_silent(&self) -> bool {
        let Check { fixing, show, .. } = self.args;
        fixing.fix_only || show.verify_diagnostics.is_some() || show.show_ranges
    }
}

/// Checks that no output overwrites a checked file or a configuration.
fn outputs_are_no_inputs(
    args: &Check,
    resolver: &Resolver,
    inputs: &[Input],
) -> Result<(), String> {
    let equality = args.certificate.as_deref().map(equality::path);
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
        is_no_input(it, all.iter().copied().chain(args.baseline.as_deref()))?;
    }
    Ok(())
}

/// Checks that no output replaces a file of another kind, unless forced.
fn outputs_are_replaceable(args: &Check, format: Format) -> Result<(), String> {
    if args.force {
        return Ok(());
    }
    let equality = args.certificate.as_deref().map(equality::path);
    let outputs = [
        (&args.output_file, output_kind(args, format)),
        (&args.write_baseline, Kind::Json),
        (&args.certificate, Kind::Json),
        (&equality, Kind::Json),
    ];
    let mut outputs = outputs.into_iter().filter_map(|(it, kind)| Some((it.as_deref()?, kind)));
    outputs.try_for_each(|(path, kind)| is_replaceable(path, kind))
}

/// The kind of the main output.
fn output_kind(args: &Check, format: Format) -> Kind {
    if args.show.show_ranges {
        return Kind::Program;
    }
    if args.fixing.diff || args.show.verify_diagnostics.is_some() {
        return Kind::Text;
    }
    let json = match format {
        Format::Json | Format::JsonLines | Format::Sarif | Format::Gitlab | Format::Rdjson => true,
        Format::Html => return Kind::Html,
        Format::Junit | Format::Checkstyle => return Kind::Xml,
        Format::Full
        | Format::Concise
        | Format::Grouped
        | Format::Pylint
        | Format::Github
        | Format::Azure => false,
    };
    match args.show.dump {
        Some(Stage::Cfg) => Kind::Dot,
        Some(Stage::Generic | Stage::Generic24 | Stage::Custom) => Kind::Program,
        Some(Stage::Dependences) => Kind::Json,
        _ if json => Kind::Json,
        _ => Kind::Text,
    }
}

fn chosen_format(args: &Check) -> Result<Format, String> {
    let format = wanted_format(args)?;
    let is_traced = args.show.trace_solver || args.show.dump == Some(Stage::Trace);
    if format == Format::Html && !is_traced {
        return Err("the format 'html' needs `--dump trace`".to_owned());
    }
    Ok(format)
}

fn wanted_format(args: &Check) -> Result<Format, String> {
    if let Some(format) = args.output_format {
        return Ok(format);
    }
    match std::env::var("NOISY_OUTPUT_FORMAT") {
        Ok(name) if !name.is_empty() => Format::from_str(&name, true)
            .map_err(|_| format!("NOISY_OUTPUT_FORMAT: unknown format '{name}'")),
        _ => Ok(Format::Full),
    }
}

fn use_color(args: &Check, is_filter: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    match args.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") || args.output_file.is_some() => false,
        Color::Auto if std::env::var_os("CLICOLOR_FORCE").is_some_and(|it| it != "0") => true,
        Color::Auto if is_filter => io::stderr().is_terminal(),
        Color::Auto => io::stdout().is_terminal(),
    }
}
