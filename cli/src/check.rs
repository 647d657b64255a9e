//! One file: read, check, fix.

use std::fs::{File, Metadata};
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use noisy_analyses::{Diagnostic, Document, Fix, Options, Severity, Watch, worst};
use noisy_output::{MAX_FILE, MAX_STREAM, Output, reason, shown_line, shown_path};
use noisy_settings::Settings;
use ropey::Rope;
use serde::Serialize;

use crate::args::{Fixing, Verify};
use crate::baseline::{self, Entry, Known};
use crate::failure::Failure;
use crate::fix::{self, Note, PlacedGroup};
use crate::verify;
use crate::walk::Input;
use crate::write::Replacement;

/// What became of one file.
#[derive(Debug)]
pub(crate) struct Checked {
    /// Its path as it was given or found; that of standard input is its name.
    pub path: PathBuf,
    /// Its name for people.
    pub name: String,
    /// Whether it could be read, and so was checked.
    pub is_read: bool,
    /// Its text, after fixing.
    pub text: Rope,
    /// What is wrong with it, after fixing.
    pub diagnostics: Vec<Diagnostic>,
    /// What would fix each of them, where that was asked for.
    pub fixes: Vec<Option<Fix>>,
    /// How many more there are than are wanted.
    pub n_left_out: usize,
    /// All that there are, also those left out.
    pub counts: Counts,
    /// What fixing did.
    pub fixed: FileFix,
    /// Why it could not be checked or written.
    pub failure: Option<Failure>,
    /// What a baseline says of it, where that was asked for.
    pub entries: Vec<Entry>,
}

/// How many diagnostics there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Infos and hints.
    pub hints: usize,
    /// Of each code.
    pub codes: Vec<(&'static str, usize)>,
}

/// What fixing did to a file.
#[derive(Debug, Default)]
pub(crate) struct FileFix {
    /// Function by function, where there is something to say.
    pub notes: Vec<Note>,
    /// What was placed together, and what proves that it is cheap, where that was asked for.
    pub placed: Vec<PlacedGroup>,
    /// How many diagnostics were fixed by themselves, without a placement.
    pub n_fixed: usize,
    /// How many are allowed by comments that were added.
    pub n_suppressed: usize,
    /// Whether there is any change.
    pub is_changed: bool,
    /// The text before and after, if it is another.
    pub change: Option<(String, String)>,
    /// The change on its way into the file.
    pub replacement: Option<Replacement>,
}

/// What to do with a file.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// What counts for it.
    pub settings: Arc<Settings>,
    /// What to fix.
    pub fixing: Fixing,
    /// Nobody may write into the file.
    pub is_read_only: bool,
    /// Time for the optimizer, for this file.
    pub time: Duration,
    /// Who is told how far the optimizer is.
    pub watch: Watch,
    /// Compare with what is expected instead.
    pub verify: Option<Verify>,
    /// Whether fixes are to be told of.
    pub wants_fixes: bool,
    /// Whether what proves a placement is to be told of.
    pub wants_proofs: bool,
    /// The most diagnostics that are wanted.
    pub most: usize,
    /// What is not reported.
    pub known: Option<Arc<Known>>,
    /// Whether a baseline is made.
    pub wants_entries: bool,
    /// Where to write what proves the placements.
    pub certificate: Option<PathBuf>,
}

impl Checked {
    /// A file of which nothing is known but that it could not be checked.
    pub(crate) fn failed(path: impl Into<PathBuf>, failure: Failure) -> Self {
        Self { is_read: false, failure: Some(failure), ..Self::empty(path) }
    }

    /// Lets go of all that is as large as the file.
    pub(crate) fn forget(&mut self) {
        self.text = no_text();
        self.diagnostics = Vec::new();
        self.fixes = Vec::new();
        self.fixed.change = None;
    }

    /// A file of which there is nothing to say.
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
            counts: Counts::default(),
            fixed: FileFix::default(),
            failure: None,
            entries: Vec::new(),
        }
    }
}

/// A text without anything: the same for all, as each has room for some.
fn no_text() -> Rope {
    static NOTHING: LazyLock<Rope> = LazyLock::new(Rope::new);
    NOTHING.clone()
}

/// The name of an input, for programs: as it is.
pub(crate) fn name(input: &Input, stdin: &str) -> String {
    match input {
        Input::File(path) => path.display().to_string(),
        Input::Stdin => stdin.to_owned(),
    }
}

/// The name of an input, for people: in one line, without what acts on a terminal.
pub(crate) fn shown_name(input: &Input, stdin: &str) -> String {
    shown_line(&name(input, stdin)).into_owned()
}

/// Does something with a file; what panics is caught and said.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<String>().cloned();
        let why = why.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        Err(Failure::internal(&why.unwrap_or_default()))
    })
}

/// Checks a text of an input, which has a path. Its document, if it was made already, becomes the fixed one.
pub(crate) fn check(
    path: &Path,
    text: &str,
    input: &Input,
    task: &Task,
    document: &mut Option<Document>,
) -> Checked {
    guarded(|| Ok(analyze(path, text, input, task, document)))
        .unwrap_or_else(|failure| Checked::failed(path, failure))
}

/// The text of an input.
///
/// # Errors
///
/// When it cannot be read, is too large, or is not UTF-8.
pub(crate) fn read(input: &Input) -> Result<String, Failure> {
    read_with(input, &mut |_, _| ())
}

/// As [`read`], with the open file and what is known of it shown to somebody before it is read.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn read_with(
    input: &Input,
    look: &mut dyn FnMut(&File, &Metadata),
) -> Result<String, Failure> {
    let bytes = match input {
        Input::File(path) => File::open(path).and_then(|file| {
            let metadata = file.metadata()?;
            look(&file, &metadata);
            let most = if metadata.is_file() { MAX_FILE } else { MAX_STREAM };
            // What is read cannot be trusted to be as long as it says.
            let likely = if metadata.is_file() { metadata.len().min(LIKELY) } else { 0 };
            if metadata.len() > most { Ok(None) } else { bounded(file, most, likely as usize) }
        }),
        Input::Stdin => bounded(std::io::stdin(), MAX_STREAM, 0),
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
        Failure { code: "invalid-utf8", message, place: Some((line, column)) }
    })
}

/// Room for so much of a file is made at once, in bytes.
const LIKELY: u64 = 1 << 20;

/// All of an input, which likely has so many bytes; nothing if it has more than `most`.
fn bounded(input: impl Read, most: u64, likely: usize) -> std::io::Result<Option<Vec<u8>>> {
    // One byte more, which the end of the file does not fill.
    let mut bytes = Vec::with_capacity(likely + 1);
    input.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

fn analyze(
    path: &Path,
    text: &str,
    input: &Input,
    task: &Task,
    document: &mut Option<Document>,
) -> Checked {
    let mut checked = Checked::empty(path);
    let read = || Document::with_model(text, task.settings.model.noise().clone());
    let document = document.get_or_insert_with(read);
    if task.fixing.changes()
        && let Err(failure) = fix_file(&mut checked, text, document, input, task)
    {
        checked.failure = Some(failure);
        // It stays as it was.
        *document = read();
    }
    let rope = document.source().text();
    let mut found = task.settings.rules.diagnostics(document);
    if let Some(which) = task.verify {
        found = verify::verify(document, &found, which);
    }
    if task.wants_entries || task.known.is_some() {
        let entries = baseline::entries(&checked.name, rope, &found);
        if let Some(known) = &task.known {
            let mut is_known = known.has(&entries).into_iter();
            found.retain(|_| is_known.next() != Some(true));
        }
        if task.wants_entries {
            checked.entries = entries;
            found.clear();
        }
    }
    checked.counts = Counts::of(&found);
    (found, checked.n_left_out) = worst(found, task.most);
    if task.wants_fixes {
        checked.fixes = document.fixes(&found);
    }
    checked.diagnostics = found;
    checked.text = rope.clone();
    checked
}

/// Fixes a program and prepares the file.
fn fix_file(
    checked: &mut Checked,
    text: &str,
    document: &mut Document,
    input: &Input,
    task: &Task,
) -> Result<(), Failure> {
    let fixed = if task.fixing.add_suppressions {
        fix::suppress(document, &task.settings)
    } else {
        let unsafe_too = task.fixing.unsafe_fixes;
        let options = Options {
            watch: Some(task.watch.clone()),
            wants_proofs: task.certificate.is_some(),
            ..task.settings.placement.options(task.time)
        };
        // Known before the work, not after it.
        let writes = task.fixing.writes() && task.is_read_only;
        if writes && fix::is_wanted(document, &task.settings, unsafe_too, &options) {
            return Err(Failure::io("not written: the file is read-only".to_owned()));
        }
        fix::fix(document, &task.settings, unsafe_too, &options)?
    };
    if let (Some(path), Some(certificate)) = (&task.certificate, &fixed.certificate) {
        if task.fixing.writes() && fixed.is_changed && task.is_read_only {
            return Err(Failure::io("not written: the file is read-only".to_owned()));
        }
        let written = Output::to_file(path).and_then(|mut out| {
            writeln!(out, "{certificate}")?;
            out.finish()
        });
        written.map_err(|why| {
            Failure::io(format!("not written to {}: {}", shown_path(path), reason(&why)))
        })?;
    }
    if fixed.is_changed {
        let after = document.source().text().to_string();
        if task.fixing.writes()
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

impl Counts {
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
