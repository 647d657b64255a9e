//! Checks many files on all cores and reports them in order.
//!
//! [`CheckPlan::run`] checks files on all threads, a few at a time (`group.rs`), and takes the
//! reports in the order of the files.

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
use crate::file::check::{self, FileReport};
use crate::file::write::GroupCommit;
use crate::input::args::{CheckArgs, DumpStage, OutputFormat};
use crate::input::failure::Failure;
use crate::input::setup;
use crate::input::walk::{self, Input};
use crate::output::dump;
use crate::output::format::{self, OutputFrame};
use crate::run::group::{CheckOutcome, PrintedReport};
use crate::run::outcome::{RunTotals, count_text};
use crate::run::plan::CheckPlan;
use crate::run::progress::RunProgress;
use crate::run::shared_time::SharedTime;
use crate::{EXIT_CLEAN, EXIT_FAILURE, print_error};

/// Checks, or does the requested alternative; returns the exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn run(args: &CheckArgs) -> io::Result<i32> {
    let done = CheckPlan::new(args).and_then(|plan| {
        if args.show.show_settings {
            let first = match plan.inputs.first() {
                Some(Input::File(path)) => path.clone(),
                _ => PathBuf::from(&args.files.stdin_filename),
            };
            return Ok(setup::show_settings(&plan.resolver, &first, &mut io::stdout().lock()));
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
        print_error(&format!("noisy-check: {why}"));
        Ok(EXIT_FAILURE)
    })
}

impl CheckPlan<'_> {
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
            writeln!(out, "{}", check::shown_input_name(input, &self.args.files.stdin_filename))?;
        }
        out.flush()?;
        for it in &self.unreadable {
            print_error(&format!("noisy-check: {}: {}", shown_path(&it.path), it.why));
        }
        Ok(if self.unreadable.is_empty() { EXIT_CLEAN } else { EXIT_FAILURE })
    }

    /// Checks or dumps; returns the exit code.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub(crate) fn run(&self, mut out: Output) -> io::Result<i32> {
        if self.excludes_stdin && self.args.fixing.is_writing() {
            walk::echo_stdin()?;
        }
        let traced = self.args.show.trace_solver.then_some(DumpStage::Trace);
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
        let mut sink = ReportSink::new(self, out)?;
        for it in &self.unreadable {
            let failure = Failure { code: "io-error", message: it.why.clone(), position: None };
            sink.take(self.failure_report(&it.path, failure), Ok(()))?;
            if it.is_empty_folder {
                sink.outcome.n_unchecked -= 1;
            }
        }
        if let Some(cache) = &self.cache {
            cache.read_ahead(self.inputs.iter().filter_map(Input::file));
        }
        let progress = RunProgress::new(self.inputs.len());
        let time = SharedTime::new(self.inputs.len(), shared_cache().total_time());
        let work = |run: Range<usize>| self.check_group(&self.inputs[run], &time, &progress);
        let mut group = GroupCommit::new();
        let mut error = None;
        let mut broken: HashSet<PathBuf> = HashSet::new();
        let mut take = |done: Vec<(PrintedReport, Result<(), String>)>,
                        sink: &mut ReportSink<'_, '_>| {
            let n = done.len();
            let print = || done.into_iter().try_for_each(|it| sink.take(it.0, it.1));
            if n > 0
                && let Err(it) = progress.count_files(n, print)
            {
                error.get_or_insert(it);
            }
            // A closed output stops the run.
            error.is_none()
        };
        parallel::map_runs_in_order(parallel::n_cores(), self.inputs.len(), work, |done| {
            let mut report = match done {
                CheckOutcome::Checked(report) => *report,
                // A configuration is reported once for all files that use it.
                CheckOutcome::Invalid(invalid) if broken.insert(invalid.path.clone()) => {
                    self.invalid_config_report(&invalid)
                }
                CheckOutcome::Invalid(_) => {
                    sink.outcome.n_unchecked += 1;
                    progress.count_files(1, || ());
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
            print_error(&format!("noisy-check: the cache {folder} cannot be written: {why}"));
        }
        sink.finish()
    }
}

/// Receives the reports in their order.
struct ReportSink<'a, 'b> {
    plan: &'a CheckPlan<'b>,
    out: &'a mut Output,
    frame: OutputFrame,
    /// True if the format has a frame.
    has_frame: bool,
    n_pieces: usize,
    outcome: RunTotals,
    /// Entries of a new baseline.
    baseline_findings: Vec<baseline::BaselineFinding>,
}

impl<'a, 'b> ReportSink<'a, 'b> {
    fn new(plan: &'a CheckPlan<'b>, out: &'a mut Output) -> io::Result<Self> {
        // Output other than findings has no frame.
        let framed = !(plan.args.fixing.diff
            || plan.is_without_findings()
            || plan.args.write_baseline.is_some());
        let frame = format::frame(plan.format);
        if framed {
            write!(out, "{}", frame.open)?;
        }
        let (outcome, entries) = (RunTotals::default(), Vec::new());
        Ok(Self {
            plan,
            out,
            frame,
            has_frame: framed,
            n_pieces: 0,
            outcome,
            baseline_findings: entries,
        })
    }

    fn put(&mut self, piece: &str) -> io::Result<()> {
        if piece.is_empty() || self.plan.args.write_baseline.is_some() {
            return Ok(());
        }
        let between = if self.has_frame && self.n_pieces > 0 { self.frame.between } else { "" };
        self.n_pieces += 1;
        write!(self.out, "{between}{piece}")
    }

    /// Handles the next report, with the result of writing its file.
    fn take(&mut self, report: PrintedReport, written: Result<(), String>) -> io::Result<()> {
        let mut report = report;
        if let Err(why) = written {
            let failure = Failure::io(format!("not written: {why}"));
            report = self.plan.failure_report(report.checked.path, failure);
        }
        let args = self.plan.args;
        let PrintedReport { mut checked, piece, echoed_text: through } = report;
        report_failure(&checked);
        self.outcome.add_file(&checked);
        self.baseline_findings.append(&mut checked.baseline_findings);
        self.put(&piece)?;
        if let Some(text) = through {
            io::stdout().write_all(text.as_bytes())?;
        }
        let name = shown_line(&checked.name);
        let silent = self.plan.is_without_findings();
        if !matches!(self.plan.format, OutputFormat::Full) || silent || args.fixing.diff {
            for it in &checked.fixed.notes {
                let said = format!("@{}: {}", it.function, it.text);
                print_error(&format!("{name}: {}", shown_line(&said)));
            }
        }
        for it in &checked.fixed.placed {
            print_error(&format!("{name}: {}", shown_line(&it.to_string())));
        }
        if checked.n_left_out > 0 && !silent && !args.quiet && !args.fixing.diff {
            print_error(&format!("{name}: {} more not shown", checked.n_left_out));
        }
        Ok(())
    }

    /// Writes the end of the output; returns the exit code.
    fn finish(self) -> io::Result<i32> {
        let Self { plan, out, outcome, .. } = self;
        let args = plan.args;
        if let Some(path) = &args.write_baseline {
            let n = self.baseline_findings.len();
            let mut file = Output::to_file(path)?;
            file.write_all(baseline::baseline_text(path, self.baseline_findings).as_bytes())?;
            file.finish()?;
            print_error(&format!("{}: {}", shown_path(path), count_text(n, "finding")));
            return Ok(outcome.exit_code(args));
        }
        if self.has_frame {
            write!(out, "{}", format::closing_text(plan.format, &outcome.codes))?;
        }
        out.flush()?;
        if args.statistics {
            outcome.print_statistics()?;
        }
        if plan.format.is_for_people() && (self.has_frame || args.fixing.fix_only) && !args.quiet {
            writeln!(out, "{}", outcome.summary(args))?;
        }
        out.flush()?;
        Ok(outcome.exit_code(args))
    }
}

/// Reports the failure of a file on standard error, in every format.
fn report_failure(checked: &FileReport) {
    if let Some(it) = &checked.failure {
        let place = it.position.map_or(String::new(), |(row, column)| format!(":{row}:{column}"));
        let name = shown_line(&checked.name);
        print_error(&format!("noisy-check: {name}{place}: {}", it.message));
    }
}
