//! Checks many files on all cores and reports them in order.
//!
//! [`Plan::run`] checks files on all threads, a few at a time (`group.rs`), and takes the reports
//! in the order of the files.

pub(crate) mod group;
pub(crate) mod outcome;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod shared_time;
pub(crate) mod watch;

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::PathBuf;

use noisy_analyses::repair::placement::shared_cache;
use noisy_output::{Output, reason, shown_line, shown_path};
use noisy_syntax::parallel;

use crate::file::baseline;
use crate::file::check::{self, Checked};
use crate::file::write::GroupCommit;
use crate::input::args::{Check, Format, Stage};
use crate::input::failure::Failure;
use crate::input::setup;
use crate::input::walk::{self, Input};
use crate::output::dump;
use crate::output::format::{self, Frame};
use crate::run::group::{Done, Report};
use crate::run::outcome::{Outcome, count};
use crate::run::plan::Plan;
use crate::run::progress::Progress;
use crate::run::shared_time::SharedTime;
use crate::{CLEAN, FAILED, complain};

/// Checks, or does the requested alternative; returns the exit code.
///
/// # Errors
///
/// If the output cannot be written.
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
        // The process ends now, so freeing the data of ten thousand files would only take time.
        std::mem::forget(plan);
        Ok(code)
    });
    done.unwrap_or_else(|why| {
        complain(&format!("noisy-check: {why}"));
        Ok(FAILED)
    })
}

impl Plan<'_> {
    /// The target of the output.
    fn output(&self) -> Result<Output, String> {
        match &self.args.output_file {
            Some(path) => Output::to_file(path)
                .map_err(|error| format!("{}: {}", shown_path(path), reason(&error))),
            None if self.is_filter() => Ok(Output::Stream(Box::new(io::stderr()))),
            None => Ok(Output::Stream(Box::new(BufWriter::new(io::stdout())))),
        }
    }

    /// `--show-files`: prints one line for each file.
    fn show_files(&self) -> io::Result<i32> {
        let mut out = BufWriter::new(io::stdout().lock());
        for input in &self.inputs {
            writeln!(out, "{}", check::shown_name(input, &self.args.files.stdin_filename))?;
        }
        out.flush()?;
        for it in &self.unreadable {
            complain(&format!("noisy-check: {}: {}", shown_path(&it.path), it.why));
        }
        Ok(if self.unreadable.is_empty() { CLEAN } else { FAILED })
    }

    /// Checks or dumps; returns the exit code.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub(crate) fn run(&self, mut out: Output) -> io::Result<i32> {
        if self.excludes_stdin && self.args.fixing.writes() {
            walk::echo_stdin()?;
        }
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

    fn check_all(&self, out: &mut Output) -> io::Result<i32> {
        let mut sink = Sink::new(self, out)?;
        for it in &self.unreadable {
            let failure = Failure { code: "io-error", message: it.why.clone(), place: None };
            sink.take(self.failed(&it.path, failure), Ok(()))?;
            if it.is_empty_folder {
                sink.outcome.n_unchecked -= 1;
            }
        }
        if let Some(cache) = &self.cache {
            cache.read_ahead(self.inputs.iter().filter_map(Input::file));
        }
        let progress = Progress::new(self.inputs.len());
        let time = SharedTime::new(self.inputs.len(), shared_cache().worked());
        let work = |run: Range<usize>| self.some(&self.inputs[run], &time, &progress);
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
            // A closed output stops the run.
            error.is_none()
        };
        parallel::in_order_by_runs(parallel::cores(), self.inputs.len(), work, |done| {
            let mut report = match done {
                Done::Checked(report) => *report,
                // A configuration is reported once for all files that use it.
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
            let (folder, why) = (shown_path(cache.folder()), reason(&why));
            complain(&format!("noisy-check: the cache {folder} cannot be written: {why}"));
        }
        sink.finish()
    }
}

/// Receives the reports in their order.
struct Sink<'a, 'b> {
    plan: &'a Plan<'b>,
    out: &'a mut Output,
    frame: Frame,
    /// True if the format has a frame.
    framed: bool,
    n_pieces: usize,
    outcome: Outcome,
    /// Entries of a new baseline.
    entries: Vec<baseline::BaselineFinding>,
}

impl<'a, 'b> Sink<'a, 'b> {
    fn new(plan: &'a Plan<'b>, out: &'a mut Output) -> io::Result<Self> {
        // Output other than findings has no frame.
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

    /// Handles the next report, with the result of writing its file.
    fn take(&mut self, report: Report, written: Result<(), String>) -> io::Result<()> {
        let mut report = report;
        if let Err(why) = written {
            let failure = Failure::io(format!("not written: {why}"));
            report = self.plan.failed(report.checked.path, failure);
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
        let name = shown_line(&checked.name);
        let silent = self.plan.is_silent();
        if !matches!(self.plan.format, Format::Full) || silent || args.fixing.diff {
            for it in &checked.fixed.notes {
                let said = format!("@{}: {}", it.function, it.text);
                complain(&format!("{name}: {}", shown_line(&said)));
            }
        }
        for it in &checked.fixed.placed {
            complain(&format!("{name}: {}", shown_line(&it.to_string())));
        }
        if checked.n_left_out > 0 && !silent && !args.quiet && !args.fixing.diff {
            complain(&format!("{name}: {} more not shown", checked.n_left_out));
        }
        Ok(())
    }

    /// Writes the end of the output; returns the exit code.
    fn finish(self) -> io::Result<i32> {
        let Self { plan, out, outcome, .. } = self;
        let args = plan.args;
        if let Some(path) = &args.write_baseline {
            let n = self.entries.len();
            let mut file = Output::to_file(path)?;
            file.write_all(baseline::text(path, self.entries).as_bytes())?;
            file.finish()?;
            complain(&format!("{}: {}", shown_path(path), count(n, "finding")));
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

/// Reports the failure of a file on standard error, in every format.
fn say_failure(checked: &Checked) {
    if let Some(it) = &checked.failure {
        let place = it.place.map_or(String::new(), |(row, column)| format!(":{row}:{column}"));
        let name = shown_line(&checked.name);
        complain(&format!("noisy-check: {name}{place}: {}", it.message));
    }
}
