//! `noisy-check`: checks noisy arithmetic in MLIR files, and mends it.
//!
//! The arrows: [`args`] says what is wanted, [`walk`] finds the files, [`check`] makes a document of each and asks for its
//! diagnostics and, if wanted, for a placement; [mod@format] makes text of them on the same thread; [`parallel`] runs this on all
//! cores and hands the texts over in order.

mod args;
mod check;
mod diff;
mod dump;
mod format;
mod parallel;
mod place;
mod walk;
mod write;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::exit;
use std::sync::Mutex;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use noisy_analyses::Severity;

use crate::args::{Args, Color, Format};
use crate::check::{Checked, Task};
use crate::format::Totals;
use crate::walk::{Input, Unreadable};

const CLEAN: i32 = 0;
const FOUND: i32 = 1;
const FAILED: i32 = 2;
const INTERNAL: i32 = 101;

fn main() {
    // Panics while a file is checked are said with the file.
    std::panic::set_hook(Box::new(|panic| {
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            complain(&format!("{panic}\n{}", std::backtrace::Backtrace::capture()));
        }
    }));
    let args = Args::parse();
    let code = match run(&args) {
        Ok(code) => code,
        // Whoever reads has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => FAILED,
        Err(error) => {
            complain(&format!("noisy-check: {error}"));
            FAILED
        }
    };
    exit(code)
}

fn complain(text: &str) {
    // Nobody listens to an error here.
    let _ = writeln!(io::stderr(), "{text}");
}

/// What is known when all is done.
#[derive(Default)]
struct Outcome {
    totals: Totals,
    codes: BTreeMap<&'static str, usize>,
    n_changed: usize,
    n_inserted: usize,
    failed: bool,
    internal: bool,
}

fn run(args: &Args) -> io::Result<i32> {
    let format = match chosen_format(args) {
        Ok(format) => format,
        Err(why) => {
            complain(&format!("noisy-check: {why}"));
            return Ok(FAILED);
        }
    };
    let (inputs, unreadable) = walk::inputs(&args.paths);
    let reads_stdin = inputs.contains(&Input::Stdin);
    // A program mended on its way through goes where it would have gone; the findings go beside it.
    let is_filter = args.fix && reads_stdin;
    let color = use_color(args, is_filter);
    let mut out: Box<dyn Write> = match &args.output_file {
        Some(path) => Box::new(BufWriter::new(std::fs::File::create(path)?)),
        None if is_filter => Box::new(io::stderr().lock()),
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    if let Some(stage) = args.dump {
        return dump::run(stage, &inputs, &unreadable, &args.stdin_filename, &mut out);
    }

    let mut outcome = Outcome::default();
    let frame = format::frame(format);
    write!(out, "{}", frame.open)?;
    let mut n_pieces = 0;
    let mut put = |out: &mut dyn Write, piece: &str| -> io::Result<()> {
        if !piece.is_empty() {
            let between = if n_pieces > 0 { frame.between } else { "" };
            n_pieces += 1;
            write!(out, "{between}{piece}")?;
        }
        Ok(())
    };
    for it in &unreadable {
        let checked = failed(it);
        note(&mut outcome, &checked);
        say_failure(&checked, format);
        if !matches!(format, Format::Full | Format::Concise) {
            put(&mut out, &format::piece(format, &checked, color))?;
        }
    }

    let time = SharedTime::new(args, inputs.len());
    let mut error = None;
    let work = |n: usize| {
        let task = Task {
            mend: args.fix || args.diff,
            write: args.fix,
            time: time.share(n),
            objective: args.objective.into(),
            replace: args.replace,
            stdin: args.stdin_filename.clone(),
        };
        let checked = check::check(&inputs[n], &task);
        let piece = match (&checked.mended.change, args.diff) {
            (Some((before, edits)), true) => diff::unified(&checked.name, before, edits),
            (None, true) => String::new(),
            (_, false) => format::piece(format, &checked, color),
        };
        (checked, piece, matches!(inputs[n], Input::Stdin))
    };
    parallel::in_order(
        inputs.len(),
        work,
        |(checked, piece, is_stdin): (Checked, String, bool)| {
            note(&mut outcome, &checked);
            say_failure(&checked, format);
            let written =
                if checked.failure.is_some() && matches!(format, Format::Full | Format::Concise) {
                    Ok(())
                } else {
                    put(&mut out, &piece)
                };
            let through = if is_stdin && is_filter {
                write!(io::stdout(), "{}", checked.text)
            } else {
                Ok(())
            };
            if let Err(it) = written.and(through) {
                error.get_or_insert(it);
            }
            if !matches!(format, Format::Full) {
                for it in &checked.mended.notes {
                    complain(&format!("{}: @{}: {}", checked.name, it.function, it.text));
                }
            }
        },
    );
    if let Some(error) = error {
        return Err(error);
    }
    write!(out, "{}", format::close(format, &outcome.codes))?;
    if args.statistics {
        statistics(&outcome)?;
    }
    if matches!(format, Format::Full | Format::Concise) && !args.diff {
        writeln!(out, "{}", summary(&outcome, args))?;
    }
    out.flush()?;
    Ok(exit_code(&outcome, args))
}

fn chosen_format(args: &Args) -> Result<Format, String> {
    if let Some(format) = args.output_format {
        return Ok(format);
    }
    match std::env::var("NOISY_OUTPUT_FORMAT") {
        Ok(name) if !name.is_empty() => Format::from_str(&name, true)
            .map_err(|_| format!("NOISY_OUTPUT_FORMAT: unknown format '{name}'")),
        _ => Ok(Format::Full),
    }
}

fn use_color(args: &Args, is_filter: bool) -> bool {
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
    limit: std::time::Duration,
    threads: usize,
    left: Mutex<usize>,
}

impl SharedTime {
    fn new(args: &Args, n_files: usize) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { start: Instant::now(), limit: args.time_limit, threads, left: Mutex::new(n_files) }
    }

    fn share(&self, _: usize) -> std::time::Duration {
        let mut left = self.left.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let rounds = left.div_ceil(self.threads).max(1) as u32;
        *left = left.saturating_sub(1);
        self.limit.saturating_sub(self.start.elapsed()) / rounds
    }
}

fn failed(it: &Unreadable) -> Checked {
    Checked {
        name: it.path.display().to_string(),
        text: ropey::Rope::new(),
        diagnostics: Vec::new(),
        mended: check::Mended::default(),
        failure: Some(check::Failure { code: "io-error", message: it.why.clone(), place: None }),
    }
}

/// What keeps a file from being checked is said on standard error, whatever the format.
fn say_failure(checked: &Checked, _: Format) {
    if let Some(it) = &checked.failure {
        let place = it.place.map_or(String::new(), |(row, column)| format!(":{row}:{column}"));
        complain(&format!("noisy-check: {}{place}: {}", checked.name, it.message));
    }
}

fn note(outcome: &mut Outcome, checked: &Checked) {
    let totals = &mut outcome.totals;
    totals.files += 1;
    totals.files_with += usize::from(!checked.diagnostics.is_empty());
    for it in &checked.diagnostics {
        match it.severity {
            Severity::Error => totals.errors += 1,
            Severity::Warning => totals.warnings += 1,
            Severity::Info | Severity::Hint => totals.hints += 1,
        }
        *outcome.codes.entry(it.code).or_default() += 1;
    }
    if let Some(failure) = &checked.failure {
        outcome.failed = true;
        outcome.internal |= failure.code == "internal-error";
    }
    if checked.mended.change.is_some() {
        outcome.n_changed += 1;
        outcome.n_inserted +=
            checked.mended.notes.iter().filter_map(|it| it.inserted).sum::<usize>();
    }
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn summary(outcome: &Outcome, args: &Args) -> String {
    use std::fmt::Write as _;
    let Totals { files, files_with, errors, warnings, hints } = outcome.totals;
    let mut out = String::new();
    if args.fix && outcome.n_changed > 0 {
        out = format!(
            "Inserted {} reduce_noise in {}. ",
            outcome.n_inserted,
            count(outcome.n_changed, "file")
        );
    }
    let left = if args.fix { "left " } else { "" };
    let parts: Vec<_> = [(errors, "error"), (warnings, "warning"), (hints, "hint")]
        .iter()
        .filter(|it| it.0 > 0)
        .map(|&(n, what)| count(n, what))
        .collect();
    if parts.is_empty() {
        let _ = write!(out, "No problems {left}in {}.", count(files, "file"));
    } else {
        let of = if files > files_with { format!(" of {files}") } else { String::new() };
        let files = if of.is_empty() {
            count(files_with, "file")
        } else {
            format!("{files_with}{of} files")
        };
        let _ = write!(out, "{} {left}in {files}.", parts.join(", "));
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

fn exit_code(outcome: &Outcome, args: &Args) -> i32 {
    if outcome.internal {
        INTERNAL
    } else if outcome.failed {
        FAILED
    } else {
        let found = if args.diff {
            outcome.n_changed > 0
        } else {
            outcome.totals.errors > 0 && !args.exit_zero
        };
        if found { FOUND } else { CLEAN }
    }
}
