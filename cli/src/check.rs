//! One file: read, check, mend.

use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use noisy_analyses::{
    self as analyses, Category, Diagnostic, Document, Limits, Objective, Options, Severity, Verdict,
};
use ropey::Rope;

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
    /// What mending did.
    pub mended: Mended,
    /// Why it could not be checked or written.
    pub failure: Option<Failure>,
}

/// What mending did to a file.
#[derive(Debug, Default)]
pub(crate) struct Mended {
    /// Function by function, where there is something to say.
    pub notes: Vec<Note>,
    /// The text before and the edits, if there are any.
    pub change: Option<(String, Vec<analyses::TextEdit>)>,
}

/// What became of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// Its name.
    pub function: String,
    /// How many ops were inserted; nothing if it was left as it was.
    pub inserted: Option<usize>,
    /// In words.
    pub text: String,
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

/// What to do with files.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// Look for a placement.
    pub mend: bool,
    /// Write it.
    pub write: bool,
    /// Time for the optimizer, for this file.
    pub time: Duration,
    /// What is to be least.
    pub objective: Objective,
    /// Whether ops that are there already may go.
    pub replace: bool,
    /// The name of standard input.
    pub stdin: String,
}

/// Checks one input. What panics is caught and said.
pub(crate) fn check(input: &Input, task: &Task) -> Checked {
    let name = match input {
        Input::File(path) => path.display().to_string(),
        Input::Stdin => task.stdin.clone(),
    };
    let done = catch_unwind(AssertUnwindSafe(|| {
        let text = read(input)?;
        Ok(analyze(&name, &text, input, task))
    }));
    let failure = match done {
        Ok(Ok(checked)) => return checked,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let why = panic.downcast_ref::<String>().cloned();
            let why = why.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
            let why = why.unwrap_or_default();
            Failure {
                code: "internal-error",
                message: format!("internal error, please report it: {why}"),
                place: None,
            }
        }
    };
    Checked {
        name,
        text: Rope::new(),
        diagnostics: Vec::new(),
        mended: Mended::default(),
        failure: Some(failure),
    }
}

fn read(input: &Input) -> Result<String, Failure> {
    let bytes = match input {
        Input::File(path) => fs::read(path),
        Input::Stdin => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
    };
    let bytes = bytes.map_err(|error| Failure {
        code: "io-error",
        message: reason(&error),
        place: None,
    })?;
    if bytes.len() >= u32::MAX as usize {
        return Err(Failure {
            code: "io-error",
            message: "the file is too large (4 GiB or more)".to_owned(),
            place: None,
        });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let text = String::from_utf8_lossy(valid);
        let line = text.matches('\n').count() + 1;
        let column = text.rsplit('\n').next().map_or(0, |it| it.chars().count()) + 1;
        Failure {
            code: "invalid-utf8",
            message: "the file is not valid UTF-8".to_owned(),
            place: Some((line, column)),
        }
    })
}

fn analyze(name: &str, text: &str, input: &Input, task: &Task) -> Checked {
    let document = Document::new(text);
    let mut checked = Checked {
        name: name.to_owned(),
        text: document.source().text().clone(),
        diagnostics: document.diagnostics(),
        mended: Mended::default(),
        failure: None,
    };
    if !task.mend || !(task.replace || checked.diagnostics.iter().any(is_over)) {
        return checked;
    }
    // Known before the work, not after it.
    if task.write
        && let Input::File(path) = input
        && path.metadata().is_ok_and(|it| it.permissions().readonly())
    {
        let message = "not written: the file is read-only".to_owned();
        checked.failure = Some(Failure { code: "io-error", message, place: None });
        return checked;
    }
    let functions = document.ir().functions();
    let limits = Limits { time: Some(task.time), ..Limits::default() };
    let options = Options { limits, objective: task.objective, replace: task.replace };
    let outcome = match analyses::insert_reduces(&document, &functions, &options) {
        Ok(outcome) => outcome,
        Err(error) => {
            let message = format!("internal error, please report it: {error}");
            checked.failure = Some(Failure { code: "internal-error", message, place: None });
            return checked;
        }
    };
    checked.mended.notes = outcome.functions.iter().filter_map(note).collect();
    let Some(fix) = outcome.fix.filter(|it| !it.edits.is_empty()) else { return checked };
    let after = fix.apply(text);
    if task.write
        && let Input::File(path) = input
        && let Err(why) = write::replace(path, text, &after)
    {
        checked.failure =
            Some(Failure { code: "io-error", message: format!("not written: {why}"), place: None });
        return checked;
    }
    let mended = Document::new(&after);
    checked.text = mended.source().text().clone();
    checked.diagnostics = mended.diagnostics();
    checked.mended.change = Some((text.to_owned(), fix.edits));
    checked
}

fn is_over(it: &Diagnostic) -> bool {
    it.category == Category::Noise && it.severity == Severity::Error
}

fn note(it: &analyses::FunctionOutcome) -> Option<Note> {
    let (inserted, text) = match &it.verdict {
        Verdict::Legal => return None,
        Verdict::Mended(mended) => {
            let removed = match mended.removed {
                0 => String::new(),
                n => format!(", removed {n}"),
            };
            let proof = if it.verdict.is_optimal() {
                "optimal".to_owned()
            } else {
                let (cost, least) = (mended.price(), mended.least_price());
                format!("cost {cost}; no placement costs less than {least}")
            };
            let text = format!("inserted {} reduce_noise{removed} ({proof})", mended.inserted);
            (Some(mended.inserted), text)
        }
        Verdict::Refused(why) => (None, format!("left as it is: {why}")),
    };
    Some(Note { function: it.name.clone(), inserted, text })
}

/// The real file behind a path.
pub(crate) fn real(path: &Path) -> std::io::Result<PathBuf> {
    fs::canonicalize(path)
}
