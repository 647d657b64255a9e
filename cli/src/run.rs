//! Checking many files: on all cores, said in order.
//!
//! [`Plan::new`] makes of the command line what a run needs: which files, what counts for them, how they are printed. [`Plan::run`]
//! has each file checked on its own thread by [`Plan::one`], and takes the reports in the order of the files.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use noisy_analyses::fix::shared_cache;
use noisy_analyses::{Document, diff};
use noisy_output::{Output, reason};
use noisy_settings::{Invalid, Resolver, Settings};
use noisy_syntax::parallel;

use crate::args::{Check, Color, Format, Stage};
use crate::baseline::{self, Known};
use crate::cache::{Cache, Seen, Slot};
use crate::check::{self, Checked, Task};
use crate::failure::Failure;
use crate::format::{self, Frame};
use crate::outcome::{Outcome, count};
use crate::paint::{self, Look};
use crate::progress::Progress;
use crate::select::{self, Selection};
use crate::shared_time::SharedTime;
use crate::shown::shown;
use crate::stamp::Stamp;
use crate::walk::{self, Filter, Input, Unreadable};
use crate::write::GroupCommit;
use crate::{CLEAN, FAILED, complain, dump, ranges, setup, shard};

/// What a run needs, made from the command line.
pub(crate) struct Plan<'a> {
    args: &'a Check,
    format: Format,
    look: Look,
    /// The settings of each file.
    pub resolver: Resolver,
    selection: Selection,
    /// What is not reported.
    known: Option<Arc<Known>>,
    /// The files.
    pub inputs: Vec<Input>,
    /// What was named or found and cannot be checked.
    pub unreadable: Vec<Unreadable>,
    cache: Option<Cache>,
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

impl From<Report> for Done {
    fn from(report: Report) -> Self {
        Self::Checked(Box::new(report))
    }
}

/// What one file is checked with.
struct Counting<'a> {
    settings: Arc<Settings>,
    /// Rules that the command line turns off, which are off in the settings.
    silenced: Vec<&'a str>,
    /// Its place in the cache depends on the settings without that.
    layered: Arc<Settings>,
}

/// Checks, or does what is wanted instead; the exit code.
///
/// # Errors
///
/// When the output cannot be written.
pub(crate) fn run(args: &Check) -> io::Result<i32> {
    let done = Plan::new(args).and_then(|plan| {
        if args.show.show_settings {
            let first = match plan.inputs.first() {
                Some(Input::File(path)) => path.clone(),
                _ => PathBuf::from(&args.files.stdin_filename),
            };
            return Ok(setup::show(&plan.resolver, &first, &mut io::stdout().lock()));
        }
        if args.show.show_files {
            return Ok(plan.show_files());
        }
        let out = plan.output()?;
        let code = plan.run(out);
        // The process ends: what it knows of ten thousand files need not be taken apart.
        std::mem::forget(plan);
        Ok(code)
    });
    done.unwrap_or_else(|why| {
        complain(&format!("noisy-check: {why}"));
        Ok(FAILED)
    })
}

impl<'a> Plan<'a> {
    /// Reads the command line, and finds the files.
    ///
    /// # Errors
    ///
    /// What is wrong with the command line.
    pub(crate) fn new(args: &'a Check) -> Result<Self, String> {
        let format = chosen_format(args)?;
        let resolver = setup::resolver(&args.settings)?;
        let files = &args.files;
        let selection = Selection::new(&files.exclude, &files.per_file_ignores)?;
        let known = args.baseline.as_deref().map(Known::read).transpose()?.map(Arc::new);
        let filter = Filter {
            is_excluded: &|path| selection.is_excluded(&resolver, path),
            force: files.force_exclude,
            gitignore: !files.no_respect_gitignore,
        };
        let (mut inputs, mut unreadable) = walk::inputs(&args.paths, filter);
        if let Some((index, count)) = files.shard
            && !args.show.show_settings
        {
            inputs = shard::part(inputs, index, count);
            if index > 1 {
                // Said by the first.
                unreadable.clear();
            }
        }
        if args.fixing.writes() {
            // One file under two names is fixed once.
            let mut seen = HashSet::new();
            inputs.retain(|it| match it {
                Input::File(path) => walk::identity(path).is_none_or(|it| seen.insert(it)),
                Input::Stdin => true,
            });
        }
        if args.certificate.is_some() && inputs.len() + unreadable.len() != 1 {
            return Err("--certificate works with one file only".to_owned());
        }
        let is_filter = args.fixing.writes() && inputs.contains(&Input::Stdin);
        let terminal = args.output_file.is_none() && !is_filter && io::stdout().is_terminal();
        let look = Look { color: use_color(args, is_filter), terminal };
        let mut plan = Self {
            args,
            format,
            look,
            resolver,
            selection,
            known,
            inputs,
            unreadable,
            cache: None,
        };
        plan.cache = plan.cache();
        Ok(plan)
    }

    /// The cache, if what is wanted is kept there.
    fn cache(&self) -> Option<Cache> {
        let Check { fixing, show, settings, cache, .. } = self.args;
        let is_kept = !fixing.diff
            && self.args.certificate.is_none()
            && show.verify_diagnostics.is_none()
            && !show.show_ranges;
        let wants_entries = self.args.write_baseline.is_some();
        let options =
            (self.format, self.look, fixing, self.args.max_diagnostics, &self.known, wants_entries);
        if is_kept { Cache::new(cache, settings.isolated, &options) } else { None }
    }

    /// A program fixed on its way through goes where it would have gone; the findings go beside it.
    fn is_filter(&self) -> bool {
        self.args.fixing.writes() && self.inputs.contains(&Input::Stdin)
    }

    /// Where the output goes.
    fn output(&self) -> Result<Output, String> {
        let named = self.args.output_file.as_deref().or(self.args.write_baseline.as_deref());
        if let Some(output) = named.and_then(walk::identity) {
            let is_output = |it: &Path| walk::identity(it).as_ref() == Some(&output);
            let input = self.inputs.iter().find_map(|it| match it {
                Input::File(path) if is_output(path) => Some(path),
                _ => None,
            });
            if let Some(path) = input {
                let path = path.display();
                return Err(format!("{path}: this is an input file; choose another file for -o"));
            }
        }
        match &self.args.output_file {
            Some(path) => Output::to_file(path)
                .map_err(|error| format!("{}: {}", path.display(), reason(&error))),
            None if self.is_filter() => Ok(Output::Stream(Box::new(io::stderr()))),
            None => Ok(Output::Stream(Box::new(BufWriter::new(io::stdout())))),
        }
    }

    /// `--show-files`: a line for each file.
    fn show_files(&self) -> io::Result<i32> {
        let mut out = BufWriter::new(io::stdout().lock());
        for input in &self.inputs {
            let name = check::name(input, &self.args.files.stdin_filename);
            writeln!(out, "{}", shown(&name))?;
        }
        out.flush()?;
        for it in &self.unreadable {
            complain(&format!("noisy-check: {}: {}", it.path.display(), it.why));
        }
        Ok(if self.unreadable.is_empty() { CLEAN } else { FAILED })
    }

    /// Checks, or dumps; the exit code.
    ///
    /// # Errors
    ///
    /// When the output cannot be written.
    pub(crate) fn run(&self, mut out: Output) -> io::Result<i32> {
        let traced = self.args.show.trace_solver.then_some(Stage::Trace);
        let code = if let Some(stage) = self.args.show.dump.or(traced) {
            let stdin = &self.args.files.stdin_filename;
            let Self { format, resolver, inputs, unreadable, .. } = self;
            dump::run(stage, *format, resolver, inputs, unreadable, stdin, &mut out)?
        } else {
            self.check_all(&mut out)?
        };
        out.finish()?;
        Ok(code)
    }

    /// Whether something else is shown than findings.
    fn is_silent(&self) -> bool {
        let Check { fixing, show, .. } = self.args;
        fixing.fix_only || show.verify_diagnostics.is_some() || show.show_ranges
    }

    fn check_all(&self, out: &mut Output) -> io::Result<i32> {
        let mut sink = Sink::new(self, out)?;
        for it in &self.unreadable {
            let failure = Failure { code: "io-error", message: it.why.clone(), place: None };
            sink.take(self.failed(it.path.display().to_string(), failure), Ok(()))?;
        }
        let progress = Progress::new(self.inputs.len());
        let time = SharedTime::new(self.inputs.len(), shared_cache().worked());
        let work = |n: usize| self.one(&self.inputs[n], &time, &progress);
        let mut group = GroupCommit::new();
        let mut error = None;
        let mut broken: HashSet<PathBuf> = HashSet::new();
        let mut take = |done: Vec<(Report, Result<(), String>)>, sink: &mut Sink<'_, '_>| {
            let n = done.len();
            let print = || done.into_iter().try_for_each(|it| sink.take(it.0, it.1));
            if n > 0
                && let Err(it) = progress.step(n, print)
            {
                error.get_or_insert(it);
            }
            // Nobody reads on: no need to go on.
            error.is_none()
        };
        parallel::in_order(parallel::cores(), self.inputs.len(), work, |done| {
            let mut report = match done {
                Done::Checked(report) => *report,
                // Said once, for all the files it counts for.
                Done::Invalid(invalid) if broken.insert(invalid.path.clone()) => {
                    self.invalid(&invalid)
                }
                Done::Invalid(_) => {
                    sink.outcome.n_unchecked += 1;
                    progress.step(1, || ());
                    return true;
                }
            };
            let replacement = report.checked.fixed.replacement.take();
            take(group.push(report, replacement), &mut sink)
        });
        take(group.finish(), &mut sink);
        drop(progress);
        if let Some(error) = error {
            return Err(error);
        }
        if let Some(cache) = &self.cache
            && let Err(why) = cache.save()
        {
            let (folder, why) = (cache.folder().display(), reason(&why));
            complain(&format!("noisy-check: the cache {folder} cannot be written: {why}"));
        }
        sink.finish()
    }

    /// The settings of a file.
    fn counting(&self, path: &Path) -> Result<Counting<'_>, Arc<Invalid>> {
        let config = self.resolver.config(path)?;
        let layered = config.for_path(path).map_err(|problems| {
            let path = config.path().map(Path::to_owned).unwrap_or_default();
            Arc::new(Invalid { path, problems, unreadable: None })
        })?;
        let silenced = self.selection.silenced(path);
        let settings = select::without(Arc::clone(&layered), &silenced);
        Ok(Counting { settings, silenced, layered })
    }

    /// One file, on its thread.
    fn one(&self, input: &Input, time: &SharedTime, progress: &Progress) -> Done {
        let args = self.args;
        let name = check::name(input, &args.files.stdin_filename);
        let path = input.path(&args.files.stdin_filename);
        let Counting { settings, silenced, layered } = match self.counting(path) {
            Ok(it) => it,
            Err(invalid) => return Done::Invalid(invalid),
        };
        let limit = settings.placement.time_limit.duration();
        let share = time.share(limit, shared_cache().worked());
        let place: Option<(&Cache, Slot)> = match input {
            Input::File(path) => self
                .cache
                .as_ref()
                .and_then(|cache| Some((cache, cache.slot(path, &layered, &silenced)?))),
            Input::Stdin => None,
        };
        let known = |(checked, piece)| Report { checked, piece, through: None }.into();
        if let Some(it) = place.as_ref().and_then(|(_, slot)| slot.untouched()) {
            return known(it);
        }
        let mut stamp = None;
        let mut look = |file: &File, metadata: &Metadata| {
            stamp = place.as_ref().and_then(|it| Stamp::settled(file, metadata, it.0.start()));
        };
        let text = match check::guarded(|| check::read_with(input, &mut look)) {
            Ok(it) => it,
            Err(failure) => return self.failed(name, failure).into(),
        };
        if args.show.show_ranges {
            let ranges = check::guarded(|| {
                let document = Document::with_model(&text, settings.model.noise().clone());
                Ok(paint::copy(ranges::annotated(&document), self.look))
            });
            return match ranges {
                Ok(piece) => Report { checked: Checked::empty(name), piece, through: None },
                Err(failure) => self.failed(name, failure),
            }
            .into();
        }
        let place = place.map(|(_, slot)| (slot, Seen::new(&text, stamp)));
        if let Some(it) = place.as_ref().and_then(|(slot, seen)| slot.get(seen)) {
            return known(it);
        }
        let show = args.show;
        let task = Task {
            fixing: args.fixing,
            time: share,
            watch: progress.watch(name.clone()),
            settings,
            verify: show.verify_diagnostics,
            wants_proofs: args.statistics,
            wants_fixes: matches!(self.format, Format::Sarif | Format::Json | Format::JsonLines),
            known: self.known.clone(),
            wants_entries: args.write_baseline.is_some(),
            certificate: args.certificate.clone(),
            most: if show.verify_diagnostics.is_some() { usize::MAX } else { args.max_diagnostics },
        };
        if task.fixing.changes() {
            progress.say(name.clone());
        }
        let mut checked = check::check(&name, &text, input, &task);
        let piece = self.piece(&checked);
        let is_filter = matches!(input, Input::Stdin) && args.fixing.writes();
        let through = (is_filter && checked.failure.is_none()).then(|| checked.text.to_string());
        checked.forget();
        if let Some((slot, seen)) = place {
            slot.put(seen, &checked, &piece);
        }
        Report { checked, piece, through }.into()
    }

    /// What is printed of a file.
    fn piece(&self, checked: &Checked) -> String {
        let Check { fixing, show, .. } = self.args;
        match &checked.fixed.change {
            _ if show.verify_diagnostics.is_some() => format::mismatches(checked),
            Some((before, after)) if fixing.diff => {
                paint::diff(diff::unified(&checked.name, before, after), self.look)
            }
            _ if fixing.diff || fixing.fix_only => String::new(),
            _ => format::piece(self.format, checked, self.look.color),
        }
    }

    /// A file, or a configuration, of which there is nothing to say but why. People read that on standard error.
    fn failed(&self, name: String, failure: Failure) -> Report {
        let checked = Checked::failed(name, failure);
        let piece = if self.format.is_for_people() || self.args.fixing.diff || self.is_silent() {
            String::new()
        } else {
            format::piece(self.format, &checked, self.look.color)
        };
        Report { checked, piece, through: None }
    }

    fn invalid(&self, invalid: &Invalid) -> Report {
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
        self.failed(invalid.path.display().to_string(), failure)
    }
}

/// Where the reports go, in their order.
struct Sink<'a, 'b> {
    plan: &'a Plan<'b>,
    out: &'a mut Output,
    frame: Frame,
    /// Something goes around the pieces.
    framed: bool,
    n_pieces: usize,
    outcome: Outcome,
    /// Of a baseline.
    entries: Vec<baseline::Entry>,
}

impl<'a, 'b> Sink<'a, 'b> {
    fn new(plan: &'a Plan<'b>, out: &'a mut Output) -> io::Result<Self> {
        // What is shown instead of findings has no frame around it.
        let framed =
            !(plan.args.fixing.diff || plan.is_silent() || plan.args.write_baseline.is_some());
        let frame = format::frame(plan.format);
        if framed {
            write!(out, "{}", frame.open)?;
        }
        let (outcome, entries) = (Outcome::default(), Vec::new());
        Ok(Self { plan, out, frame, framed, n_pieces: 0, outcome, entries })
    }

    fn put(&mut self, piece: &str) -> io::Result<()> {
        if piece.is_empty() || self.plan.args.write_baseline.is_some() {
            return Ok(());
        }
        let between = if self.framed && self.n_pieces > 0 { self.frame.between } else { "" };
        self.n_pieces += 1;
        write!(self.out, "{between}{piece}")
    }

    /// Takes the next report, with what became of its file.
    fn take(&mut self, report: Report, written: Result<(), String>) -> io::Result<()> {
        let mut report = report;
        if let Err(why) = written {
            let failure = Failure::io(format!("not written: {why}"));
            report = self.plan.failed(report.checked.name, failure);
        }
        let args = self.plan.args;
        let Report { mut checked, piece, through } = report;
        say_failure(&checked);
        self.outcome.note(&checked);
        self.entries.append(&mut checked.entries);
        self.put(&piece)?;
        if let Some(text) = through {
            io::stdout().write_all(text.as_bytes())?;
        }
        let name = &checked.name;
        let silent = self.plan.is_silent();
        if !matches!(self.plan.format, Format::Full) || silent || args.fixing.diff {
            for it in &checked.fixed.notes {
                complain(&format!("{name}: @{}: {}", it.function, it.text));
            }
        }
        for it in &checked.fixed.placed {
            complain(&format!("{name}: {it}"));
        }
        if checked.n_left_out > 0 && !silent && !args.quiet && !args.fixing.diff {
            complain(&format!("{name}: {} more not shown", checked.n_left_out));
        }
        Ok(())
    }

    /// Says the end; the exit code.
    fn finish(self) -> io::Result<i32> {
        let Self { plan, out, outcome, .. } = self;
        let args = plan.args;
        if let Some(path) = &args.write_baseline {
            let n = self.entries.len();
            let mut file = Output::to_file(path)?;
            file.write_all(baseline::text(self.entries).as_bytes())?;
            file.finish()?;
            complain(&format!("{}: {}", path.display(), count(n, "finding")));
            return Ok(outcome.exit_code(args));
        }
        if self.framed {
            write!(out, "{}", format::close(plan.format, &outcome.codes))?;
        }
        out.flush()?;
        if args.statistics {
            outcome.statistics()?;
        }
        if plan.format.is_for_people() && (self.framed || args.fixing.fix_only) && !args.quiet {
            writeln!(out, "{}", outcome.summary(args))?;
        }
        out.flush()?;
        Ok(outcome.exit_code(args))
    }
}

fn chosen_format(args: &Check) -> Result<Format, String> {
    let format = wanted_format(args)?;
    let is_traced = args.show.trace_solver || args.show.dump == Some(Stage::Trace);
    if format == Format::Html && !is_traced {
        return Err("the format 'html' is one of `--dump trace` alone".to_owned());
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

/// What keeps a file from being checked is said on standard error, whatever the format.
fn say_failure(checked: &Checked) {
    if let Some(it) = &checked.failure {
        let place = it.place.map_or(String::new(), |(row, column)| format!(":{row}:{column}"));
        complain(&format!("noisy-check: {}{place}: {}", checked.name, it.message));
    }
}
