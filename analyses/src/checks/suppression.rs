//! unused-suppression: unused suppression comment
//!
//! `// noisy: allow(code)` on the line of an op, or on a line of its own before it, suppresses
//! diagnostics of that code on that line. Several codes are separated by commas. A comment that
//! suppresses nothing, or that names an unknown code, is reported.
//!
//! ```mlir
//! func.func @f(%x: i5) -> !noisy.i32 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32      // noisy: allow(noise-overflow): 24 is within the budget of 26
//!   %2 = noisy.add %1, %1 : !noisy.i32      // noisy: allow(noise-overfow): unknown code
//!   return %2 : !noisy.i32
//! }
//! ```
//!
//! Remove the comment. Diagnostics of noise and lints can be suppressed; errors of syntax, names,
//! types and structure cannot.
//!
//! ```mlir
//! func.func @f(%x: i5) -> !noisy.i32 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32
//!   %2 = noisy.add %1, %1 : !noisy.i32
//!   return %2 : !noisy.i32
//! }
//! ```

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

use noisy_syntax::{Code, nearest};
use rustc_hash::FxHashMap;

use super::index::SUPPRESSION_MARK;
use super::{ALL, Check, FixFunction, Index, check_by_code};
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Category, Diagnostic, Fix, TextEdit};

pub(super) const CHECK: Check = Check {
    code: "unused-suppression",
    category: Category::Lint,
    header: header!("suppression.rs"),
    // Its `run` does nothing: `apply` reports after all other checks.
    fix: Some(FixFunction::Each(fix)),
    ..Check::WARNING
};

/// Returns the existing code that an unknown code most likely misspells.
fn near_code(written: &str) -> Option<&'static str> {
    match nearest(written, ALL.iter().map(|it| it.code))[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// Corrects a misspelled code, or removes a code that suppresses nothing. If it is the only code of
/// the comment, removes the comment.
fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    let text = program.source().text();
    let code = diagnostic.range.clone();
    let written = text.byte_slice(code.clone()).to_string();
    if check_by_code(&written).is_none() {
        let near = near_code(&written)?;
        let edits = vec![TextEdit { range: code, text: near.to_owned() }];
        let title = format!("Replace by {near}");
        return Some(Fix { title, applicability: Applicability::Safe, edits });
    }
    // Reads only the text next to the code: a comment may contain any number of codes.
    let is_blank = |it: &usize| matches!(text.byte(*it), b' ' | b'\t');
    let before = (0..code.start).rev().find(|it| !is_blank(it))?;
    let after = (code.end..text.len_bytes()).find(|it| !is_blank(it))?;
    let range = if text.byte(after) == b',' {
        let next = (after + 1..text.len_bytes()).find(|it| !is_blank(it))?;
        code.start..next
    } else if text.byte(before) == b',' {
        before..code.end
    } else {
        let number = text.byte_to_line(code.start);
        let start = text.line_to_byte(number);
        let line = text.line(number).to_string();
        let at = comment_start(&line)?;
        let own = if line[..at].trim().is_empty() {
            0..line.len()
        } else {
            line[..at].trim_end().len()..line.trim_end_matches(['\n', '\r']).len()
        };
        start + own.start..start + own.end
    };
    let title = "Remove this suppression".to_owned();
    let edits = vec![TextEdit { range, text: String::new() }];
    Some(Fix { title, applicability: Applicability::Safe, edits })
}

/// Returns true if a comment can suppress diagnostics of a code: true for all checks except that of
/// unused suppressions, false for errors of syntax, names, types and structure.
pub fn can_be_suppressed(code: &str) -> bool {
    code != CHECK.code && check_by_code(code).is_some()
}

/// Returns the edits that suppress diagnostics by comments, in textual order. A code is added to
/// the suppression comment of the line. If the line has no comment, a new one is appended to the
/// line; if it has another comment, a new one is inserted before the op. Diagnostics that cannot be
/// suppressed are skipped.
pub fn suppression_edits<'a>(
    program: &Program,
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
) -> Vec<TextEdit> {
    let text = program.source().text();
    // For each offset of an insertion: the text around the codes, and the codes.
    let mut places: BTreeMap<usize, ([String; 2], Vec<&str>)> = BTreeMap::new();
    // For each line: the offset of the first code in its comment, and the end of the line. The
    // outer option is `None` without a comment, the inner one if the comment suppresses nothing.
    let mut lines: FxHashMap<usize, (Option<Option<usize>>, usize)> = FxHashMap::default();
    for it in diagnostics {
        if !can_be_suppressed(it.code) {
            continue;
        }
        let number = text.byte_to_line(it.range.start);
        let &mut (said, end) = lines.entry(number).or_insert_with(|| {
            let (start, line) = (text.line_to_byte(number), text.line(number).to_string());
            let said = comment_start(&line).map(|at| {
                let first = codes(&line[at..]).into_iter().next();
                first.map(|it| start + at + it.0.start)
            });
            (said, start + line.trim_end().len())
        });
        let (place, around) = match said {
            Some(Some(first)) => (first, [String::new(), ", ".to_owned()]),
            Some(None) => {
                let Some(op) = program.ir().item_at(it.range.start) else { continue };
                let op = program.ir().range(op).start;
                let number = text.byte_to_line(op);
                let line = text.line(number);
                let indent = program.source().indentation(op);
                let is_dos = line.len_bytes() > 1 && line.byte(line.len_bytes() - 2) == b'\r';
                let end = if is_dos { ")\r\n" } else { ")\n" };
                (
                    text.line_to_byte(number),
                    [format!("{indent}// {SUPPRESSION_MARK}"), end.to_owned()],
                )
            }
            None => (end, [format!("  // {SUPPRESSION_MARK}"), ")".to_owned()]),
        };
        let codes = &mut places.entry(place).or_insert_with(|| (around, Vec::new())).1;
        if !codes.contains(&it.code) {
            codes.push(it.code);
        }
    }
    let edit = |(place, ([before, after], codes)): (usize, ([String; 2], Vec<&str>))| TextEdit {
        range: place..place,
        text: format!("{before}{}{after}", codes.join(", ")),
    };
    places.into_iter().map(edit).collect()
}

/// A code in a suppression comment.
#[derive(Debug)]
struct SuppressedCode {
    code: String,
    /// The range of the code in the text, in bytes.
    range: Range<usize>,
    /// The line whose diagnostics it suppresses; `None` if no op follows the comment.
    line: Option<usize>,
    is_used: Cell<bool>,
}

/// The suppression comments of a program.
#[derive(Debug, Default)]
pub(super) struct Suppressions {
    entries: Vec<SuppressedCode>,
    /// The indices of the entries that suppress diagnostics on each line.
    by_line: FxHashMap<usize, Vec<usize>>,
}

impl Suppressions {
    /// Reads the suppression comments of a program. *Cost.* Linear in their lines and the lines
    /// between them and their ops.
    pub(super) fn of(program: &Program, index: &Index) -> Self {
        let mut out = Self::default();
        let text = program.source().text();
        let mut numbers: Vec<usize> = index.marks.iter().map(|&it| text.byte_to_line(it)).collect();
        numbers.dedup();
        // In reverse order: of several comments before an op, each needs only the result of the
        // next one.
        let mut below = None;
        for number in numbers.into_iter().rev() {
            let (start, line) = (text.line_to_byte(number), text.line(number).to_string());
            let Some(at) = comment_start(&line) else { continue };
            let target = if line[..at].trim().is_empty() {
                let target = next_op_line(program, number + 1, below);
                below = Some((number, target));
                target
            } else {
                Some(number)
            };
            for (range, code) in codes(&line[at..]).into_iter().rev() {
                let range = start + at + range.start..start + at + range.end;
                out.entries.push(SuppressedCode {
                    code,
                    range,
                    line: target,
                    is_used: Cell::new(false),
                });
            }
        }
        out.entries.reverse();
        for (n, it) in out.entries.iter().enumerate() {
            if let Some(line) = it.line {
                out.by_line.entry(line).or_default().push(n);
            }
        }
        out
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns true if a code is suppressed on the line of a range, or on the first line of its op.
    pub(super) fn is_suppressed(
        &self,
        program: &Program,
        code: &str,
        range: &Range<usize>,
    ) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let (ir, text) = (program.ir(), program.source().text());
        let op = ir.item_at(range.start);
        let mut found = false;
        for at in [Some(range.start), op.map(|it| ir.range(it).start)].into_iter().flatten() {
            for &n in self.by_line.get(&text.byte_to_line(at)).into_iter().flatten() {
                if self.entries[n].code == code {
                    self.entries[n].is_used.set(true);
                    found = true;
                }
            }
        }
        found
    }
}

/// Removes suppressed diagnostics, and reports codes that suppress nothing, except codes of checks
/// that did not run.
pub(super) fn apply(
    program: &Program,
    index: &Index,
    is_run: &impl Fn(&Check) -> bool,
    out: &mut Vec<Diagnostic>,
) {
    let allowed = Suppressions::of(program, index);
    if allowed.is_empty() {
        return;
    }
    out.retain(|it| {
        check_by_code(it.code).is_none() || !allowed.is_suppressed(program, it.code, &it.range)
    });
    for entry in &allowed.entries {
        if entry.is_used.get() || check_by_code(&entry.code).is_some_and(|it| !is_run(it)) {
            continue;
        }
        let problem = Code::ALL.iter().find(|it| it.name() == entry.code);
        let message = if let Some(code) = problem {
            let category = Category::from(code.category()).name();
            format!("{} cannot be suppressed: it is an error of {category}", code.name())
        } else if check_by_code(&entry.code).is_none() {
            format!("unknown code {:?} in a suppression comment", entry.code)
        } else if entry.line.is_none() {
            format!("unused suppression of {}: no op follows this comment", entry.code)
        } else {
            format!("unused suppression: {} is not reported on this line", entry.code)
        };
        let mut it = CHECK.diagnostic_at(entry.range.clone(), message);
        if check_by_code(&entry.code).is_none() {
            it.help = Some(match near_code(&entry.code) {
                Some(near) => {
                    it.message.push_str(&format!("; did you mean {near}?"));
                    format!("Write {near}")
                }
                None => {
                    let all: Vec<&str> = ALL.iter().map(|it| it.code).collect();
                    format!("Codes that can be suppressed: {}", all.join(", "))
                }
            });
        } else {
            it.help = Some(format!("Remove {}", entry.code));
        }
        out.push(it);
    }
}

/// Returns the start of the comment in a line.
fn comment_start(line: &str) -> Option<usize> {
    let mut in_string = false;
    let mut bytes = line.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if in_string => {
                bytes.next();
            }
            b'"' => in_string = !in_string,
            b'/' if !in_string && line[at..].starts_with("//") => return Some(at),
            _ => {}
        }
    }
    None
}

/// Returns the codes in a comment that starts with `// noisy: allow(`, with their ranges in the
/// comment.
fn codes(comment: &str) -> Vec<(Range<usize>, String)> {
    let inside = comment.trim_start_matches('/').trim_start();
    let Some(list) = inside.strip_prefix(SUPPRESSION_MARK).and_then(|it| it.split_once(')')) else {
        return Vec::new();
    };
    let mut at = comment.len() - inside.len() + SUPPRESSION_MARK.len();
    let mut out = Vec::new();
    for part in list.0.split(',') {
        let code = part.trim();
        let start = at + part.len() - part.trim_start().len();
        if !code.is_empty() {
            out.push((start..start + code.len(), code.to_owned()));
        }
        at += part.len() + 1;
    }
    out
}

/// Returns the line of the op after a comment, across further lines of comments. `below` is the
/// next comment with its own target, which is reused.
fn next_op_line(
    program: &Program,
    from: usize,
    below: Option<(usize, Option<usize>)>,
) -> Option<usize> {
    let text = program.source().text();
    for number in from..text.len_lines() {
        if let Some((known, target)) = below
            && known == number
        {
            return target;
        }
        let line = text.line(number).to_string();
        let line = line.trim();
        if !line.starts_with("//") {
            return (!line.is_empty()).then_some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found_outside_of_strings() {
        assert_eq!(comment_start("  %0 = a.b // x"), Some(11));
        assert_eq!(comment_start("\"// x\" // y"), Some(7));
        assert_eq!(comment_start("\"\\\"// x"), None);
        let text = "// noisy: allow(a, b-c)";
        let found: Vec<_> = codes(text).into_iter().map(|it| (&text[it.0.clone()], it.1)).collect();
        assert_eq!(found, [("a", "a".to_owned()), ("b-c", "b-c".to_owned())]);
        assert_eq!(codes("// see noisy: allow(a)"), []);
    }
}
