//! unused-suppression: a comment allows what is not there
//!
//! `// noisy: allow(code)` in the line of an op, or in a line of its own before it, keeps quiet about that code there; several codes are
//! separated by commas. One that keeps nothing quiet, or names a code that does not exist, is told.
//!
//! ```mlir
//! func.func @f(%x: i5) -> !noisy.i32 {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32      // noisy: allow(noise-overflow): 24 is within the budget of 26
//!   %2 = noisy.add %1, %1 : !noisy.i32      // noisy: allow(noise-overfow): no such code
//!   return %2 : !noisy.i32
//! }
//! ```
//!
//! Take the comment out. What the noise analysis and the lints find can be allowed; errors of syntax, names, types and structure cannot.
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
use std::ops::Range;

use super::{ALL, Check, find};
use crate::{Category, Diagnostic, Document, Severity};

pub(super) const CHECK: Check = Check {
    code: "unused-suppression",
    category: Category::Lint,
    severity: Severity::Warning,
    tag: None,
    source: include_str!("suppression.rs"),
    // Told last, when all others have been asked.
    run: |_, _| {},
    fix: None,
};

/// What every such comment holds.
pub(crate) const MARK: &str = "noisy: allow(";

/// One code of one comment.
#[derive(Debug)]
struct Entry {
    code: String,
    /// The code, in bytes of the text.
    range: Range<usize>,
    /// The line it is about; `None` if there is no op.
    line: Option<usize>,
    used: Cell<bool>,
}

/// The comments of a document.
#[derive(Debug)]
pub(super) struct Allowed {
    entries: Vec<Entry>,
}

impl Allowed {
    /// Finds them; nothing is looked at in a text that has none.
    pub(super) fn of(document: &Document) -> Self {
        let mut entries = Vec::new();
        if document.n_allows() == 0 {
            return Self { entries };
        }
        let text = document.source().text();
        let mut start = 0;
        for (number, line) in text.lines().enumerate() {
            let line = line.to_string();
            if line.contains(MARK)
                && let Some(at) = comment(&line)
            {
                let is_alone = line[..at].trim().is_empty();
                let target = if is_alone { next_op(document, number + 1) } else { Some(number) };
                for (range, code) in codes(&line[at..]) {
                    let range = start + at + range.start..start + at + range.end;
                    entries.push(Entry { code, range, line: target, used: Cell::new(false) });
                }
            }
            start += line.len();
        }
        Self { entries }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a code is allowed where a diagnostic stands: in its line, or in the first line of its op.
    pub(super) fn has(&self, document: &Document, code: &str, range: &Range<usize>) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let (ir, text) = (document.ir(), document.source().text());
        let op = ir.item_at(range.start);
        let lines = [Some(range.start), op.map(|it| ir.range(it).start)]
            .map(|it| it.map(|at| text.byte_to_line(at)));
        let mut found = false;
        for it in self.entries.iter().filter(|it| it.line.is_some() && it.code == code) {
            if lines.contains(&it.line) {
                it.used.set(true);
                found = true;
            }
        }
        found
    }
}

/// Takes out what is allowed, and tells which comments allow nothing.
pub(super) fn apply(document: &Document, out: &mut Vec<Diagnostic>) {
    let allowed = Allowed::of(document);
    if allowed.is_empty() {
        return;
    }
    out.retain(|it| find(it.code).is_none() || !allowed.has(document, it.code, &it.range));
    for entry in &allowed.entries {
        if entry.used.get() {
            continue;
        }
        let message = if find(&entry.code).is_none() {
            format!("there is no code {:?}", entry.code)
        } else if entry.line.is_none() {
            "no op follows that this could be about".to_owned()
        } else {
            format!("nothing here is told as {}", entry.code)
        };
        let mut it = CHECK.at(entry.range.clone(), message);
        if find(&entry.code).is_none() {
            let all: Vec<&str> = ALL.iter().map(|it| it.code).collect();
            it.help = Some(format!("the codes are {}", all.join(", ")));
        }
        out.push(it);
    }
}

/// Where a comment starts in a line.
fn comment(line: &str) -> Option<usize> {
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

/// The codes in a comment that starts with `// noisy: allow(`, with their places in it.
fn codes(comment: &str) -> Vec<(Range<usize>, String)> {
    let inside = comment.trim_start_matches('/').trim_start();
    let Some(list) = inside.strip_prefix(MARK).and_then(|it| it.split_once(')')) else {
        return Vec::new();
    };
    let mut at = comment.len() - inside.len() + MARK.len();
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

/// The line of the op that a comment in the line before is about: comments of their own may stand between.
fn next_op(document: &Document, from: usize) -> Option<usize> {
    let text = document.source().text();
    for number in from..text.len_lines() {
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
        assert_eq!(comment("  %0 = a.b // x"), Some(11));
        assert_eq!(comment("\"// x\" // y"), Some(7));
        assert_eq!(comment("\"\\\"// x"), None);
        let text = "// noisy: allow(a, b-c)";
        let found: Vec<_> = codes(text).into_iter().map(|it| (&text[it.0.clone()], it.1)).collect();
        assert_eq!(found, [("a", "a".to_owned()), ("b-c", "b-c".to_owned())]);
        assert_eq!(codes("// see noisy: allow(a)"), []);
    }
}
