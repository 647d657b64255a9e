//! One file: read, check, mend.

use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use noisy_analyses::{Diagnostic, Document, Fix, Severity, TextEdit};
use noisy_settings::Settings;
use ropey::Rope;

use crate::args::{Fixing, Verify};
use crate::mend::{self, Note};
use crate::pieces::Pieces;
use crate::split::chunks;
use crate::verify;
use crate::walk::{Input, reason};
use crate::write;

/// What became of one file.
#[derive(Debug)]
pub(crate) struct Checked {
    /// Its name as reported.
    pub name: String,
    /// Its text, after mending.
    pub text: Rope,
    /// What is wrong with it, after mending.
    pub diagnostics: Vec<Diagnostic>,
    /// What would mend each of them, where that was asked for.
    pub fixes: Vec<Vec<Fix>>,
    /// How many more there are than are wanted.
    pub n_left_out: usize,
    /// All that there are, also those left out.
    pub counts: Counts,
    /// What mending did.
    pub mended: Mended,
    /// Why it could not be checked or written.
    pub failure: Option<Failure>,
}

/// How many diagnostics there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// What mending did to a file.
#[derive(Debug, Default)]
pub(crate) struct Mended {
    /// Function by function, where there is something to say.
    pub notes: Vec<Note>,
    /// How many diagnostics were mended by their own fixes.
    pub n_fixed: usize,
    /// Whether there is any change.
    pub is_changed: bool,
    /// The text before and the edits, if there are any.
    pub change: Option<(String, Vec<TextEdit>)>,
}

/// Why a file could not be checked or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// A stable code.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// Where, in lines and columns from 1, if it has a place.
    pub place: Option<(usize, usize)>,
}

/// What to do with a file.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// What counts for it.
    pub settings: Arc<Settings>,
    /// What to mend.
    pub fixing: Fixing,
    /// Time for the optimizer, for this file.
    pub time: Duration,
    /// The name of standard input.
    pub stdin: String,
    /// Whether it is several programs.
    pub split: bool,
    /// Compare with what is expected instead.
    pub verify: Option<Verify>,
    /// Whether fixes are to be told of.
    pub wants_fixes: bool,
    /// The most diagnostics that are wanted.
    pub most: usize,
}

impl Task {
    fn mends(&self) -> bool {
        self.fixing.fix || self.fixing.fix_only || self.fixing.diff
    }

    fn writes(&self) -> bool {
        self.mends() && !self.fixing.diff
    }
}

impl Checked {
    /// A file of which nothing is known but that it could not be checked.
    pub(crate) fn failed(name: String, failure: Failure) -> Self {
        Self { failure: Some(failure), ..Self::empty(name) }
    }

    /// Lets go of all that is as large as the file.
    pub(crate) fn forget(&mut self) {
        self.text = Rope::new();
        self.diagnostics = Vec::new();
        self.fixes = Vec::new();
        self.mended.change = None;
    }

    /// A file of which there is nothing to say.
    pub(crate) fn empty(name: String) -> Self {
        Self {
            name,
            text: Rope::new(),
            diagnostics: Vec::new(),
            fixes: Vec::new(),
            n_left_out: 0,
            counts: Counts::default(),
            mended: Mended::default(),
            failure: None,
        }
    }
}

impl Failure {
    fn io(message: String) -> Self {
        Self { code: "io-error", message, place: None }
    }

    /// A defect of this program.
    pub(crate) fn internal(why: &str) -> Self {
        let message = format!("internal error, please report it: {why}");
        Self { code: "internal-error", message, place: None }
    }
}

/// The name of an input as it is reported.
pub(crate) fn name(input: &Input, stdin: &str) -> String {
    match input {
        Input::File(path) => path.display().to_string(),
        Input::Stdin => stdin.to_owned(),
    }
}

/// Does something with a file; what panics is caught and said.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<String>().cloned();
        let why = why.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        Err(Failure::internal(&why.unwrap_or_default()))
    })
}

/// Checks one input.
pub(crate) fn check(input: &Input, task: &Task) -> Checked {
    let name = name(input, &task.stdin);
    let done = guarded(|| {
        let text = read(input)?;
        Ok(analyze(&name, &text, input, task))
    });
    done.unwrap_or_else(|failure| Checked::failed(name, failure))
}

/// The text of an input.
///
/// # Errors
///
/// When it cannot be read, is too large, or is not UTF-8.
pub(crate) fn read(input: &Input) -> Result<String, Failure> {
    let bytes = match input {
        Input::File(path) => fs::read(path),
        Input::Stdin => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
    };
    let bytes = bytes.map_err(|error| Failure::io(reason(&error)))?;
    if bytes.len() >= u32::MAX as usize {
        return Err(Failure::io("the file is too large (4 GiB or more)".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let text = String::from_utf8_lossy(valid);
        let line = text.matches('\n').count() + 1;
        let column = text.rsplit('\n').next().map_or(0, |it| it.chars().count()) + 1;
        let message = "the file is not valid UTF-8".to_owned();
        Failure { code: "invalid-utf8", message, place: Some((line, column)) }
    })
}

/// One program of a file.
struct Program {
    start: usize,
    document: Document,
}

fn analyze(name: &str, text: &str, input: &Input, task: &Task) -> Checked {
    let mut checked = Checked::empty(name.to_owned());
    let model = task.settings.model.noise();
    let programs = chunks(text, task.split).into_iter().map(|it| Program {
        start: it.start,
        document: Document::with_model(&text[it], model.clone()),
    });
    let mut programs: Vec<Program> = programs.collect();
    if let Some(which) = task.verify {
        let mut found = Vec::new();
        for it in &programs {
            let mut diagnostics = it.document.diagnostics();
            task.settings.rules.apply(&mut diagnostics);
            verify::verify(it.document.source().text(), &diagnostics, which, it.start, &mut found);
        }
        finish(&mut checked, Rope::from_str(text), found, task);
        return checked;
    }
    if task.mends() {
        let wanted =
            |it: &Program| mend::is_wanted(&it.document, &task.settings, task.fixing.unsafe_fixes);
        // Known before the work, not after it.
        if task.writes() && programs.iter().any(wanted) && is_read_only(input) {
            checked.failure = Some(Failure::io("not written: the file is read-only".to_owned()));
        } else if let Err(failure) = mend_all(&mut checked, text, &mut programs, input, task) {
            checked.failure = Some(failure);
        }
    }
    let whole = match &programs[..] {
        [one] => one.document.source().text().clone(),
        all => all_text(text, all, task),
    };
    let mut found = Vec::new();
    for it in &programs {
        let mut diagnostics = it.document.diagnostics();
        task.settings.rules.apply(&mut diagnostics);
        if task.wants_fixes {
            let fixes = diagnostics.iter().take(task.most.saturating_sub(found.len()));
            checked.fixes.extend(fixes.map(|one| {
                let mut fixes = it.document.fixes(one);
                fixes
                    .iter_mut()
                    .flat_map(|fix| &mut fix.edits)
                    .for_each(|edit| shift(&mut edit.range, it.start));
                fixes
            }));
        }
        for one in &mut diagnostics {
            shift(&mut one.range, it.start);
            one.related.iter_mut().for_each(|related| shift(&mut related.range, it.start));
        }
        found.append(&mut diagnostics);
    }
    finish(&mut checked, whole, found, task);
    checked
}

/// The text that several programs make, with the markers between them as they were.
fn all_text(text: &str, programs: &[Program], task: &Task) -> Rope {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, program) in chunks(text, task.split).into_iter().zip(programs) {
        out.push_str(&text[at..range.start]);
        program.document.source().text().chunks().for_each(|it| out.push_str(it));
        at = range.end;
    }
    Rope::from_str(&out)
}

fn shift(range: &mut std::ops::Range<usize>, by: usize) {
    *range = range.start + by..range.end + by;
}

/// Takes what was found into account.
fn finish(checked: &mut Checked, text: Rope, mut found: Vec<Diagnostic>, task: &Task) {
    for it in &found {
        match it.severity {
            Severity::Error => checked.counts.errors += 1,
            Severity::Warning => checked.counts.warnings += 1,
            Severity::Info | Severity::Hint => checked.counts.hints += 1,
        }
        match checked.counts.codes.iter_mut().find(|of| of.0 == it.code) {
            Some(of) => of.1 += 1,
            None => checked.counts.codes.push((it.code, 1)),
        }
    }
    checked.n_left_out = found.len().saturating_sub(task.most);
    found.truncate(task.most);
    checked.diagnostics = found;
    checked.text = text;
}

/// Mends each program and writes the file; all of it or nothing.
fn mend_all(
    checked: &mut Checked,
    text: &str,
    programs: &mut [Program],
    input: &Input,
    task: &Task,
) -> Result<(), Failure> {
    let mut edits: Vec<TextEdit> = Vec::new();
    let (mut notes, mut n_fixed) = (Vec::new(), 0);
    let (mut after, mut shifted) = (Vec::new(), 0_isize);
    for it in programs.iter() {
        let before = it.document.source().text().to_string();
        let mut pieces = Pieces::new(&before);
        let mended = mend::mend(
            &it.document,
            &mut pieces,
            &task.settings,
            task.fixing.unsafe_fixes,
            task.time,
        )?;
        notes.extend(mended.notes);
        n_fixed += mended.n_fixed;
        let start = it.start.saturating_add_signed(shifted);
        let document = mended.document;
        if let Some(document) = &document {
            edits.extend(pieces.edits().into_iter().map(|mut edit| {
                shift(&mut edit.range, it.start);
                edit
            }));
            shifted += document.source().text().len_bytes() as isize - before.len() as isize;
        }
        after.push((start, document));
    }
    checked.mended.notes = notes;
    if edits.is_empty() {
        return Ok(());
    }
    if task.writes()
        && let Input::File(path) = input
    {
        let mut pieces = Pieces::new(text);
        pieces.apply(&edits);
        write::replace(path, text, &pieces.text()).map_err(|why| {
            checked.mended.notes.clear();
            Failure::io(format!("not written: {why}"))
        })?;
    }
    for (program, (start, document)) in programs.iter_mut().zip(after) {
        program.start = start;
        if let Some(document) = document {
            program.document = document;
        }
    }
    checked.mended.n_fixed = n_fixed;
    checked.mended.is_changed = true;
    checked.mended.change = Some((text.to_owned(), edits));
    Ok(())
}

fn is_read_only(input: &Input) -> bool {
    matches!(input, Input::File(path) if path.metadata().is_ok_and(|it| it.permissions().readonly()))
}

/// The real file behind a path.
pub(crate) fn real(path: &std::path::Path) -> std::io::Result<PathBuf> {
    fs::canonicalize(path)
}
