//! Reads, checks and fixes one file.

use std::fs::{File, Metadata};
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use noisy_analyses::{
    Diagnostic, Document, Fix, PlacementOptions, ProgressCallback, Severity, most_severe,
};
use noisy_output::{MAX_FILE, MAX_STREAM, Output, reason, shown_line, shown_path};
use noisy_settings::Settings;
use ropey::Rope;
use serde::Serialize;
use serde_json::{Value, json};

use crate::file::baseline::{self, Baseline, BaselineFinding};
use crate::file::equality;
use crate::file::fix::{self, FunctionNote, PlacedGroup};
use crate::file::verify;
use crate::file::write::Replacement;
use crate::input::args::{ExpectationMode, FixArgs};
use crate::input::failure::Failure;
use crate::input::walk::Input;

/// The result of one file.
#[derive(Debug)]
pub(crate) struct FileReport {
    /// The path as given or found; for standard input its name.
    pub path: PathBuf,
    /// The name shown to people.
    pub name: String,
    /// True if the file was read and checked.
    pub is_read: bool,
    /// The text after fixing.
    pub text: Rope,
    /// The diagnostics after fixing.
    pub diagnostics: Vec<Diagnostic>,
    /// The fixes of each diagnostic, the best first, if requested.
    pub fixes: Vec<Vec<Fix>>,
    /// Number of diagnostics over the limit, which are left out.
    pub n_left_out: usize,
    /// Counts of all diagnostics, including those left out.
    pub counts: DiagnosticCounts,
    /// The result of fixing.
    pub fixed: FileFix,
    /// The reason why the file could not be checked or written.
    pub failure: Option<Failure>,
    /// The entries of a baseline, if requested.
    pub baseline_findings: Vec<BaselineFinding>,
}

/// Numbers of diagnostics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct DiagnosticCounts {
    pub errors: usize,
    pub warnings: usize,
    /// Number of infos and hints.
    pub hints: usize,
    /// Number for each code.
    pub codes: Vec<(&'static str, usize)>,
}

/// The result of fixing a file.
#[derive(Debug, Default)]
pub(crate) struct FileFix {
    /// Notes about functions, if there is anything to report.
    pub notes: Vec<FunctionNote>,
    /// The joint placements with their proofs, if requested.
    pub placed: Vec<PlacedGroup>,
    /// Number of diagnostics that were fixed by their own edits, without a placement.
    pub n_fixed: usize,
    /// Number of diagnostics allowed by added comments.
    pub n_suppressed: usize,
    /// True if the text changed.
    pub is_changed: bool,
    /// The text before and after, if it changed.
    pub change: Option<(String, String)>,
    /// The replacement of the file, not yet on the disk.
    pub replacement: Option<Replacement>,
}

/// Instructions for one file.
#[derive(Clone, Debug)]
pub(crate) struct CheckTask {
    pub settings: Arc<Settings>,
    pub fixing: FixArgs,
    /// True if the file must not be written.
    pub is_read_only: bool,
    /// Time limit of the optimizer for this file.
    pub time_limit: Duration,
    /// Receives the progress of the optimizer.
    pub watch: ProgressCallback,
    /// If given, diagnostics are compared with the expectations in the text instead of reported.
    pub verify: Option<ExpectationMode>,
    /// True if fixes are requested.
    pub wants_fixes: bool,
    /// True if the proofs of placements are requested.
    pub wants_proofs: bool,
    /// Maximum number of diagnostics.
    pub max_diagnostics: usize,
    /// The baseline, whose findings are not reported.
    pub baseline: Option<Arc<Baseline>>,
    /// True if a baseline is written.
    pub wants_baseline: bool,
    /// The file for the certificate.
    pub certificate: Option<PathBuf>,
}

impl FileReport {
    /// The result of a file that could not be checked.
    pub(crate) fn failed(path: impl Into<PathBuf>, failure: Failure) -> Self {
        Self { is_read: false, failure: Some(failure), ..Self::empty(path) }
    }

    /// Drops all data with a size proportional to the file.
    pub(crate) fn drop_large_data(&mut self) {
        self.text = no_text();
        self.diagnostics = Vec::new();
        self.fixes = Vec::new();
        self.fixed.change = None;
    }

    /// The result of a file without findings.
    pub(crate) fn empty(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self {
            name: match path.to_str() {
                Some(it) => it.to_owned(),
                None => path.display().to_string(),
            },
            path,
            is_read: true,
            text: no_text(),
            diagnostics: Vec::new(),
            fixes: Vec::new(),
            n_left_out: 0,
            counts: DiagnosticCounts::default(),
            fixed: FileFix::default(),
            failure: None,
            baseline_findings: Vec::new(),
        }
    }
}

/// An empty text, shared because each new one allocates.
fn no_text() -> Rope {
    static NOTHING: LazyLock<Rope> = LazyLock::new(Rope::new);
    NOTHING.clone()
}

/// The exact name of an input, for programs.
pub(crate) fn input_name(input: &Input, stdin: &str) -> String {
    match input {
        Input::File(path) => path.display().to_string(),
        Input::Stdin => stdin.to_owned(),
    }
}

/// The name of an input on one line and without control characters, for people.
pub(crate) fn shown_input_name(input: &Input, stdin: &str) -> String {
    shown_line(&input_name(input, stdin)).into_owned()
}

/// Runs `work` on a file; a panic becomes a failure.
pub(crate) fn catch_panics<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<String>().cloned();
        let why = why.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        Err(Failure::internal(&why.unwrap_or_default()))
    })
}

/// Checks the text of an input. `document` is used if it exists, and becomes the fixed document.
pub(crate) fn check(
    path: &Path,
    text: &str,
    input: &Input,
    task: &CheckTask,
    document: &mut Option<Document>,
) -> FileReport {
    catch_panics(|| Ok(analyze(path, text, input, task, document)))
        .unwrap_or_else(|failure| FileReport::failed(path, failure))
}

/// Reads an input.
///
/// # Errors
///
/// If the input cannot be read, is too large, or is not UTF-8.
pub(crate) fn read(input: &Input) -> Result<String, Failure> {
    read_with(input, &mut |_, _| ())
}

/// Reads an input like [`read`], and before that calls `look` with the open file and its metadata.
///
/// # Errors
///
/// The same as [`read`].
pub(crate) fn read_with(
    input: &Input,
    look: &mut dyn FnMut(&File, &Metadata),
) -> Result<String, Failure> {
    let bytes = match input {
        Input::File(path) => File::open(path).and_then(|file| {
            let metadata = file.metadata()?;
            look(&file, &metadata);
            let most = if metadata.is_file() { MAX_FILE } else { MAX_STREAM };
            // The reported size is only a hint.
            let likely = if metadata.is_file() { metadata.len().min(INITIAL_CAPACITY) } else { 0 };
            if metadata.len() > most { Ok(None) } else { read_bounded(file, most, likely as usize) }
        }),
        Input::Stdin => read_bounded(std::io::stdin(), MAX_STREAM, 0),
    };
    let bytes = bytes.map_err(|error| Failure::io(reason(&error)))?;
    let Some(bytes) = bytes else {
        let limits =
            "the file is too large: the limit is 1 GiB for files and 256 MiB for pipes and devices";
        return Err(Failure::io(limits.to_owned()));
    };
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let text = String::from_utf8_lossy(valid);
        let line = text.matches('\n').count() + 1;
        let column = text.rsplit('\n').next().map_or(0, |it| it.chars().count()) + 1;
        let message = "the file is not valid UTF-8".to_owned();
        Failure { code: "invalid-utf8", message, position: Some((line, column)) }
    })
}

/// Initial capacity for the text of a file, in bytes.
const INITIAL_CAPACITY: u64 = 1 << 20;

/// Reads up to `most` bytes; `None` if the input is longer. `likely` is the expected size.
fn read_bounded(input: impl Read, most: u64, likely: usize) -> std::io::Result<Option<Vec<u8>>> {
    // One more byte, so that the end of the file needs no second allocation.
    let mut bytes = Vec::with_capacity(likely + 1);
    input.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

fn analyze(
    path: &Path,
    text: &str,
    input: &Input,
    task: &CheckTask,
    document: &mut Option<Document>,
) -> FileReport {
    let mut checked = FileReport::empty(path);
    let read = || Document::with_model(text, task.settings.model.noise().clone());
    let document = document.get_or_insert_with(read);
    if task.fixing.has_changes()
        && let Err(failure) = fix_file(&mut checked, text, document, input, task)
    {
        checked.failure = Some(failure);
        // The failed fix may have changed the document.
        *document = read();
    }
    let rope = document.source().text();
    let mut found = task.settings.rules.diagnostics(document);
    if let Some(which) = task.verify {
        found = verify::mismatches(document, &found, which);
    }
    if task.wants_baseline || task.baseline.is_some() {
        let entries = baseline::baseline_findings(&checked.name, rope, &found);
        if let Some(baseline) = &task.baseline {
            let mut is_known = baseline.contains(&entries).into_iter();
            found.retain(|_| is_known.next() != Some(true));
        }
        if task.wants_baseline {
            checked.baseline_findings = entries;
            found.clear();
        }
    }
    checked.counts = DiagnosticCounts::of(&found);
    (found, checked.n_left_out) = most_severe(found, task.max_diagnostics);
    if task.wants_fixes {
        checked.fixes = document.choices(&found);
    }
    checked.diagnostics = found;
    checked.text = rope.clone();
    checked
}

/// Fixes a program and prepares the replacement of its file.
fn fix_file(
    checked: &mut FileReport,
    text: &str,
    document: &mut Document,
    input: &Input,
    task: &CheckTask,
) -> Result<(), Failure> {
    let fixed = if task.fixing.add_suppressions {
        fix::suppress(document, &task.settings)
    } else {
        let unsafe_too = task.fixing.unsafe_fixes;
        let options = PlacementOptions {
            watch: Some(task.watch.clone()),
            wants_proofs: task.certificate.is_some(),
            ..task.settings.placement.options(task.time_limit)
        };
        // A read-only file is reported before the work of fixing.
        let writes = task.fixing.is_writing() && task.is_read_only;
        if writes && fix::would_fix(document, &task.settings, unsafe_too, &options) {
            return Err(Failure::io("not written: the file is read-only".to_owned()));
        }
        fix::fix(document, &task.settings, unsafe_too, &options)?
    };
    if let (Some(path), Some(certificate)) = (&task.certificate, &fixed.certificate) {
        if task.fixing.is_writing() && fixed.is_changed && task.is_read_only {
            return Err(Failure::io("not written: the file is read-only".to_owned()));
        }
        if let Some(equality) = &fixed.equality {
            write_certificate(&equality::certificate_path(path), &json!(equality))?;
        }
        write_certificate(path, certificate)?;
    }
    if fixed.is_changed {
        let after = document.source().text().to_string();
        if task.fixing.is_writing()
            && let Input::File(path) = input
        {
            let replacement = Replacement::new(path, text, &after);
            checked.fixed.replacement =
                Some(replacement.map_err(|why| Failure::io(format!("not written: {why}")))?);
        }
        checked.fixed.is_changed = true;
        checked.fixed.change = Some((text.to_owned(), after));
    }
    checked.fixed.n_fixed = fixed.n_applied;
    checked.fixed.n_suppressed = fixed.n_suppressed;
    checked.fixed.notes = fixed.notes;
    if task.wants_proofs {
        checked.fixed.placed = fixed.placed;
    }
    Ok(())
}

fn write_certificate(path: &Path, certificate: &Value) -> Result<(), Failure> {
    let written = Output::to_file(path).and_then(|mut out| {
        writeln!(out, "{certificate}")?;
        out.finish()
    });
    written.map_err(|why| {
        Failure::io(format!("not written to {}: {}", shown_path(path), reason(&why)))
    })
}

impl DiagnosticCounts {
    fn of(found: &[Diagnostic]) -> Self {
        let mut it = Self::default();
        for one in found {
            match one.severity {
                Severity::Error => it.errors += 1,
                Severity::Warning => it.warnings += 1,
                Severity::Info | Severity::Hint => it.hints += 1,
            }
            match it.codes.iter_mut().find(|of| of.0 == one.code) {
                Some(of) => of.1 += 1,
                None => it.codes.push((one.code, 1)),
            }
        }
        it
    }
}
