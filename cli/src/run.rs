//! Checking many files: on all cores, said in order.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use noisy_analyses::Document;
use noisy_settings::{Invalid, Resolver, Rules, Settings};

use crate::args::{Check, Color, Fixing, Format, Stage};
use crate::baseline::{self, Known};
use crate::check::{self, Checked, Task};
use crate::failure::Failure;
use crate::format::{self, Totals};
use crate::paint::{self, Look};
use crate::progress::Progress;
use crate::shown::shown;
use crate::walk::{self, Filter, Input, Unreadable};
use crate::write::Output;
use crate::{CLEAN, FAILED, FOUND, INTERNAL, complain, diff, dump, parallel, ranges, setup, shard};

/// What is known when all is done.
#[derive(Default)]
struct Outcome {
    totals: Totals,
    codes: BTreeMap<&'static str, usize>,
    n_changed: usize,
    /// By name of the op.
    inserted: BTreeMap<String, usize>,
    n_fixed: usize,
    n_left_out: usize,
    /// Files that could not be checked.
    n_unchecked: usize,
    failed: bool,
    internal: bool,
}

/// What is left of a file when it has been checked: its text is gone.
struct Report {
    checked: Checked,
    piece: String,
    /// Standard input, fixed, on its way through.
    through: Option<String>,
}

/// What becomes of one file on its thread.
enum Done {
    Checked(Box<Report>),
    /// Its configuration cannot be used.
    Invalid(Arc<Invalid>),
}

/// Checks; the exit code.
///
/// # Errors
///
/// When the output cannot be written.
pub(crate) fn run(args: &Check) -> io::Result<i32> {
    let usage = |why: String| {
        complain(&format!("noisy-check: {why}"));
        Ok(FAILED)
    };
    let format = match chosen_format(args) {
        Ok(format) => format,
        Err(why) => return usage(why),
    };
    let resolver = match setup::resolver(&args.settings) {
        Ok(resolver) => resolver,
        Err(why) => return usage(why),
    };
    let excluded = match exclude(&args.files.exclude) {
        Ok(it) => it,
        Err(why) => return usage(why),
    };
    let is_excluded = |path: &Path| is_excluded(&excluded, &resolver, path);
    let silenced = match per_file_ignores(&args.files.per_file_ignores) {
        Ok(it) => it,
        Err(why) => return usage(why),
    };
    let known = match args.baseline.as_deref().map(Known::read).transpose() {
        Ok(it) => it.map(Arc::new),
        Err(why) => return usage(why),
    };
    let filter = Filter {
        is_excluded: &is_excluded,
        force: args.files.force_exclude,
        gitignore: !args.files.no_respect_gitignore,
    };
    let (mut inputs, mut unreadable) = walk::inputs(&args.paths, filter);
    if args.show.show_settings {
        let first = match inputs.first() {
            Some(Input::File(path)) => path.clone(),
            _ => PathBuf::from(&args.files.stdin_filename),
        };
        return setup::show(&resolver, &first, &mut io::stdout().lock());
    }
    if let Some((index, count)) = args.files.shard {
        inputs = shard::part(inputs, index, count);
        if index > 1 {
            // Said by the first.
            unreadable.clear();
        }
    }
    if args.show.show_files {
        return show_files(args, &inputs, &unreadable);
    }
    let writes = args.fixing.fix || args.fixing.fix_only;
    if writes {
        // One file under two names is fixed once.
        let mut seen = HashSet::new();
        inputs.retain(|it| match it {
            Input::File(path) => walk::identity(path).is_none_or(|it| seen.insert(it)),
            Input::Stdin => true,
        });
    }
    if args.certificate.is_some() && inputs.len() + unreadable.len() != 1 {
        return usage("--certificate is for one program".to_owned());
    }
    let output = args.output_file.as_deref().or(args.write_baseline.as_deref());
    if let Some(output) = output.and_then(walk::identity) {
        let is_output = |it: &&Input| matches!(it, Input::File(path) if walk::identity(path).as_ref() == Some(&output));
        if let Some(Input::File(path)) = inputs.iter().find(is_output) {
            return usage(format!(
                "{}: this is an input file; choose another file for -o",
                path.display()
            ));
        }
    }
    let reads_stdin = inputs.contains(&Input::Stdin);
    // A program fixed on its way through goes where it would have gone; the findings go beside it.
    let is_filter = writes && reads_stdin;
    let terminal = args.output_file.is_none() && !is_filter && io::stdout().is_terminal();
    let look = Look { color: use_color(args, is_filter), terminal };
    let mut out = match &args.output_file {
        Some(path) => match Output::to_file(path) {
            Ok(file) => file,
            Err(error) => return usage(format!("{}: {}", path.display(), walk::reason(&error))),
        },
        None if is_filter => Output::Stream(Box::new(io::stderr())),
        None => Output::Stream(Box::new(BufWriter::new(io::stdout()))),
    };
    let traced = args.show.trace_solver.then_some(Stage::Trace);
    let code = if let Some(stage) = args.show.dump.or(traced) {
        let stdin = &args.files.stdin_filename;
        let as_lines = format == Format::JsonLines;
        dump::run(stage, as_lines, &resolver, &inputs, &unreadable, stdin, &mut out)?
    } else {
        check_all(
            args,
            format,
            look,
            &resolver,
            &silenced,
            known.as_ref(),
            &inputs,
            &unreadable,
            &mut out,
        )?
    };
    out.finish()?;
    Ok(code)
}

/// `--show-files`: a line for each file.
fn show_files(args: &Check, inputs: &[Input], unreadable: &[Unreadable]) -> io::Result<i32> {
    let mut out = BufWriter::new(io::stdout().lock());
    for input in inputs {
        writeln!(out, "{}", shown(&check::name(input, &args.files.stdin_filename)))?;
    }
    out.flush()?;
    for it in unreadable {
        complain(&format!("noisy-check: {}: {}", it.path.display(), it.why));
    }
    Ok(if unreadable.is_empty() { CLEAN } else { FAILED })
}

/// Rules that are off in files that match.
type Silenced = Vec<(Gitignore, String)>;

/// The rules of `--per-file-ignores`.
fn per_file_ignores(options: &[String]) -> Result<Silenced, String> {
    let one = |it: &String| {
        let wrong = |why: String| format!("--per-file-ignores '{it}': {why}");
        let (pattern, rule) =
            it.rsplit_once(':').ok_or_else(|| wrong("expected PATTERN:RULE".to_owned()))?;
        Rules::default().turn_off(rule).map_err(wrong)?;
        let mut builder = GitignoreBuilder::new("");
        builder.add_line(None, pattern).map_err(|why| wrong(why.to_string()))?;
        let pattern = builder.build().map_err(|why| wrong(why.to_string()))?;
        Ok((pattern, rule.to_owned()))
    };
    options.iter().map(one).collect()
}

/// Settings without the rules that are off in a file.
fn without(settings: Arc<Settings>, silenced: &Silenced, path: &Path) -> Arc<Settings> {
    let mut settings = settings;
    for (pattern, rule) in silenced {
        if is_matched(pattern, path) {
            // It was looked up when the option was read.
            let _ = Arc::make_mut(&mut settings).rules.turn_off(rule);
        }
    }
    settings
}

/// Whether patterns of the command line match a file or a folder above it.
fn is_matched(patterns: &Gitignore, path: &Path) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    let here = std::env::current_dir().ok();
    let path = here.and_then(|it| path.strip_prefix(it).ok()).unwrap_or(path);
    // What stands elsewhere has no place in patterns that are about what is here, but a name.
    let path =
        if path.is_absolute() { Path::new(path.file_name().unwrap_or_default()) } else { path };
    patterns.matched_path_or_any_parents(path, false).is_ignore()
}

#[expect(clippy::too_many_arguments, reason = "what one run is about")]
fn check_all(
    args: &Check,
    format: Format,
    look: Look,
    resolver: &Resolver,
    silenced: &Silenced,
    known: Option<&Arc<Known>>,
    inputs: &[Input],
    unreadable: &[Unreadable],
    out: &mut dyn Write,
) -> io::Result<i32> {
    let quiet =
        args.fixing.fix_only || args.show.verify_diagnostics.is_some() || args.show.show_ranges;
    let is_text =
        matches!(format, Format::Full | Format::Concise | Format::Grouped | Format::Pylint);
    // What is shown instead of findings has no frame around it.
    let framed = !(args.fixing.diff || quiet);
    let framed = framed && args.write_baseline.is_none();
    let mut entries = Vec::new();
    let mut outcome = Outcome::default();
    let frame = format::frame(format);
    if framed {
        write!(out, "{}", frame.open)?;
    }
    let mut n_pieces = 0;
    let mut put = |out: &mut dyn Write, piece: &str| -> io::Result<()> {
        if !piece.is_empty() {
            let between = if framed && n_pieces > 0 { frame.between } else { "" };
            n_pieces += 1;
            write!(out, "{between}{piece}")?;
        }
        Ok(())
    };
    for it in unreadable {
        let failure = Failure { code: "io-error", message: it.why.clone(), place: None };
        let checked = Checked::failed(it.path.display().to_string(), failure);
        outcome.note(&checked);
        say_failure(&checked);
        if framed && !is_text {
            put(out, &format::piece(format, &checked, look.color))?;
        }
    }

    let progress = Progress::new(inputs.len());
    let time = SharedTime::new(inputs.len());
    let work =
        |n: usize| one(args, format, look, resolver, silenced, known, &inputs[n], &time, &progress);
    let mut error = None;
    let mut broken: HashSet<PathBuf> = HashSet::new();
    parallel::in_order(inputs.len(), work, |done| {
        let mut report = match done {
            Done::Checked(report) => *report,
            Done::Invalid(invalid) => {
                // Said once, for all the files it counts for.
                if !broken.insert(invalid.path.clone()) {
                    outcome.n_unchecked += 1;
                    progress.step(|| ());
                    return error.is_none();
                }
                invalid_report(&invalid, format, look.color, is_text)
            }
        };
        entries.append(&mut report.checked.entries);
        let step = || -> io::Result<()> {
            say_failure(&report.checked);
            outcome.note(&report.checked);
            if args.write_baseline.is_none() {
                put(out, &report.piece)?;
            }
            if let Some(text) = &report.through {
                io::stdout().write_all(text.as_bytes())?;
            }
            let name = &report.checked.name;
            if !matches!(format, Format::Full) || quiet || args.fixing.diff {
                for it in &report.checked.fixed.notes {
                    complain(&format!("{name}: @{}: {}", it.function, it.text));
                }
            }
            for it in &report.checked.fixed.placed {
                complain(&format!("{name}: {it}"));
            }
            if report.checked.n_left_out > 0 && !quiet && !args.quiet && !args.fixing.diff {
                complain(&format!("{name}: {} more not shown", report.checked.n_left_out));
            }
            Ok(())
        };
        if let Err(it) = progress.step(step) {
            error.get_or_insert(it);
        }
        // Nobody reads on: no need to go on.
        error.is_none()
    });
    drop(progress);
    if let Some(error) = error {
        return Err(error);
    }
    if let Some(path) = &args.write_baseline {
        let n = entries.len();
        let mut file = Output::to_file(path)?;
        file.write_all(baseline::text(entries).as_bytes())?;
        file.finish()?;
        complain(&format!("{}: {}", path.display(), count(n, "finding")));
        return Ok(exit_code(&outcome, args));
    }
    if framed {
        write!(out, "{}", format::close(format, &outcome.codes))?;
    }
    out.flush()?;
    if args.statistics {
        statistics(&outcome)?;
    }
    if matches!(format, Format::Full | Format::Concise | Format::Grouped)
        && (framed || args.fixing.fix_only)
        && !args.quiet
    {
        writeln!(out, "{}", summary(&outcome, args.fixing))?;
    }
    out.flush()?;
    Ok(exit_code(&outcome, args))
}

/// One file, on its thread.
#[expect(clippy::too_many_arguments, reason = "what one run is about")]
fn one(
    args: &Check,
    format: Format,
    look: Look,
    resolver: &Resolver,
    silenced: &Silenced,
    known: Option<&Arc<Known>>,
    input: &Input,
    time: &SharedTime,
    progress: &Progress,
) -> Done {
    let name = check::name(input, &args.files.stdin_filename);
    let path = input.path(&args.files.stdin_filename);
    let config = match resolver.config(path) {
        Ok(config) => config,
        Err(invalid) => return Done::Invalid(invalid),
    };
    let settings = match config.for_path(path) {
        Ok(settings) => without(settings, silenced, path),
        Err(problems) => {
            let path = config.path().map(Path::to_owned).unwrap_or_default();
            return Done::Invalid(Arc::new(Invalid { path, problems, unreadable: None }));
        }
    };
    let show = args.show;
    if show.show_ranges {
        let ranges = check::guarded(|| {
            let text = check::read(input)?;
            let document = Document::with_model(&text, settings.model.noise().clone());
            Ok(paint::copy(ranges::annotated(&document), look))
        });
        return Done::Checked(Box::new(match ranges {
            Ok(piece) => Report { checked: Checked::empty(name), piece, through: None },
            Err(failure) => Report {
                checked: Checked::failed(name, failure),
                piece: String::new(),
                through: None,
            },
        }));
    }
    let task = Task {
        fixing: args.fixing,
        time: time.share(settings.placement.time_limit.duration()),
        watch: progress.watch(name.clone()),
        settings,
        stdin: args.files.stdin_filename.clone(),
        verify: show.verify_diagnostics,
        wants_proofs: args.statistics,
        wants_fixes: matches!(format, Format::Sarif | Format::Json | Format::JsonLines),
        known: known.cloned(),
        wants_entries: args.write_baseline.is_some(),
        certificate: args.certificate.clone(),
        most: if show.verify_diagnostics.is_some() { usize::MAX } else { args.max_diagnostics },
    };
    if task.fixing.fix || task.fixing.fix_only || task.fixing.diff {
        progress.say(name);
    }
    let mut checked = check::check(input, &task);
    let piece = match &checked.fixed.change {
        _ if show.verify_diagnostics.is_some() => format::mismatches(&checked),
        Some((before, after)) if args.fixing.diff => {
            paint::diff(diff::unified(&checked.name, before, after), look)
        }
        _ if args.fixing.diff || args.fixing.fix_only => String::new(),
        _ => format::piece(format, &checked, look.color),
    };
    let is_filter = matches!(input, Input::Stdin) && (args.fixing.fix || args.fixing.fix_only);
    let through = (is_filter && checked.failure.is_none()).then(|| checked.text.to_string());
    checked.forget();
    Done::Checked(Box::new(Report { checked, piece, through }))
}

fn invalid_report(invalid: &Invalid, format: Format, color: bool, is_text: bool) -> Report {
    let first = invalid.problems.first();
    let mut message = match (first, &invalid.unreadable) {
        (Some(it), _) => it.message.clone(),
        (None, why) => why.clone().unwrap_or_default(),
    };
    for it in invalid.problems.iter().skip(1) {
        message.push_str(&format!("\n{}:{it}", invalid.path.display()));
    }
    let place = first.map(|it| (it.line, it.column));
    let failure = Failure { code: "invalid-configuration", message, place };
    let checked = Checked::failed(invalid.path.display().to_string(), failure);
    let piece = if is_text { String::new() } else { format::piece(format, &checked, color) };
    Report { checked, piece, through: None }
}

/// Whether a path is excluded, on the command line or by its configuration.
pub(crate) fn is_excluded(excluded: &Gitignore, resolver: &Resolver, path: &Path) -> bool {
    is_matched(excluded, path) || resolver.config(path).is_ok_and(|it| it.is_excluded(path))
}

/// The patterns of `--exclude`.
pub(crate) fn exclude(patterns: &[String]) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new("");
    for it in patterns {
        builder.add_line(None, it).map_err(|why| format!("--exclude '{it}': {why}"))?;
    }
    builder.build().map_err(|why| format!("--exclude: {why}"))
}

fn chosen_format(args: &Check) -> Result<Format, String> {
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

/// The time limit, shared by all files: each may take its part of what is left when its turn comes.
struct SharedTime {
    start: Instant,
    threads: usize,
    left: Mutex<usize>,
}

impl SharedTime {
    fn new(n_files: usize) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { start: Instant::now(), threads, left: Mutex::new(n_files) }
    }

    fn share(&self, limit: Duration) -> Duration {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let rounds = left.div_ceil(self.threads).max(1) as u32;
        *left = left.saturating_sub(1);
        limit.saturating_sub(self.start.elapsed()) / rounds
    }
}

/// What keeps a file from being checked is said on standard error, whatever the format.
fn say_failure(checked: &Checked) {
    if let Some(it) = &checked.failure {
        let place = it.place.map_or(String::new(), |(row, column)| format!(":{row}:{column}"));
        complain(&format!("noisy-check: {}{place}: {}", checked.name, it.message));
    }
}

impl Outcome {
    fn note(&mut self, checked: &Checked) {
        let (totals, counts) = (&mut self.totals, &checked.counts);
        totals.files += usize::from(checked.is_read);
        self.n_unchecked += usize::from(!checked.is_read);
        totals.files_with += usize::from(!counts.codes.is_empty());
        totals.errors += counts.errors;
        totals.warnings += counts.warnings;
        totals.hints += counts.hints;
        for (code, n) in &counts.codes {
            *self.codes.entry(code).or_default() += n;
        }
        self.n_left_out += checked.n_left_out;
        if let Some(failure) = &checked.failure {
            self.failed = true;
            self.internal |= failure.code == "internal-error";
        }
        if checked.fixed.is_changed {
            self.n_changed += 1;
            self.n_fixed += checked.fixed.n_fixed;
            for note in &checked.fixed.notes {
                if let Some(n) = note.inserted.filter(|&it| it > 0) {
                    *self.inserted.entry(note.op.clone()).or_default() += n;
                }
            }
        }
    }
}

pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn summary(outcome: &Outcome, fixing: Fixing) -> String {
    let Totals { files, files_with, errors, warnings, hints } = outcome.totals;
    let mut out = String::new();
    let mut done = Vec::new();
    if outcome.n_fixed > 0 {
        done.push(format!("Fixed {}", count(outcome.n_fixed, "problem")));
    }
    for (op, n) in &outcome.inserted {
        let verb = if done.is_empty() { "Inserted" } else { "inserted" };
        done.push(format!("{verb} {n} {op}"));
    }
    if !done.is_empty() {
        out = format!("{} in {}. ", done.join(", "), count(outcome.n_changed, "file"));
    }
    let left = if fixing.fix || fixing.fix_only { "left " } else { "" };
    let parts: Vec<_> = [(errors, "error"), (warnings, "warning"), (hints, "hint")]
        .iter()
        .filter(|it| it.0 > 0)
        .map(|&(n, what)| count(n, what))
        .collect();
    if files == 0 && outcome.n_unchecked > 0 {
        // Nothing can be said.
    } else if parts.is_empty() {
        out.push_str(&format!("No problems {left}in {}.", count(files, "file")));
    } else {
        let files = match (files_with, files) {
            (with, all) if all > with => format!("{with} of {all} files"),
            (with, _) => count(with, "file"),
        };
        out.push_str(&format!("{} {left}in {files}.", parts.join(", ")));
    }
    if outcome.n_left_out > 0 {
        out.push_str(&format!(" {} not shown.", outcome.n_left_out));
    }
    if outcome.n_unchecked > 0 {
        let separator = if out.is_empty() { "" } else { " " };
        let files = count(outcome.n_unchecked, "file");
        out.push_str(&format!("{separator}{files} could not be checked."));
    }
    out
}

fn statistics(outcome: &Outcome) -> io::Result<()> {
    let mut codes: Vec<_> = outcome.codes.iter().collect();
    codes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    for (code, n) in codes {
        writeln!(io::stderr(), "{n:>8}  {code}")?;
    }
    Ok(())
}

fn exit_code(outcome: &Outcome, args: &Check) -> i32 {
    let totals = outcome.totals;
    if outcome.internal {
        INTERNAL
    } else if outcome.failed {
        FAILED
    } else if args.show.show_ranges || args.fixing.fix_only {
        CLEAN
    } else {
        let found = if args.fixing.diff {
            outcome.n_changed > 0
        } else {
            let wrong = totals.errors > 0 || (args.error_on_warning && totals.warnings > 0);
            wrong && !args.exit_zero
        };
        if found { FOUND } else { CLEAN }
    }
}
