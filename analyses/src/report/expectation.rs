//! Expected diagnostics in comments, in the grammar of `mlir-opt --verify-diagnostics`.
//!
//! ```mlir
//! // expected-error@below {{noise 48 exceeds}}
//! %2 = noisy.mul %1, %1 : !noisy.i32  // expected-note {{24 + 24}}
//! ```
//!
//! The grammar is that of MLIR's `SourceMgrDiagnosticVerifierHandler`:
//! `expected-(error|warning|remark|note)`, `-re` for a text with regular expressions in `{{}}`,
//! then optionally `@+1`, `@-1`, `@above`, `@below` or `@unknown`, then `{{text}}` at the end of
//! the line. The text may be any part of the message. Several diagnostics may match one
//! expectation.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A mismatch: the byte range of the expectation, and a message.
pub type Mismatch = (Range<usize>, String);

#[derive(Debug)]
enum ExpectedText {
    Part(String),
    Pattern(Regex),
}

impl ExpectedText {
    fn is_in(&self, message: &str) -> bool {
        match self {
            ExpectedText::Part(part) => message.contains(part.as_str()),
            ExpectedText::Pattern(pattern) => pattern.is_match(message),
        }
    }
}

#[derive(Debug)]
struct Expectation {
    /// `error`, `warning`, `remark` or `note`.
    kind: String,
    /// The line, from 0; `None` for a diagnostic without a position.
    row: Option<usize>,
    text: ExpectedText,
    written: String,
    range: Range<usize>,
    is_met: bool,
}

/// The expectations of a text.
#[derive(Debug)]
pub struct Expectations {
    all: Vec<Expectation>,
}

impl Expectations {
    /// Reads the expectations of a text. Also returns the regular expressions that are invalid.
    pub fn read(text: &str) -> (Self, Vec<Mismatch>) {
        // The pattern is a constant that a test compiles.
        static GRAMMAR: LazyLock<Option<Regex>> = LazyLock::new(|| {
            Regex::new(r"expected-(error|note|remark|warning)(-re)? *(@([+-][0-9]+|above|below|unknown))? *\{\{(.*)\}\}$").ok()
        });
        let (mut all, mut wrong): (Vec<Expectation>, Vec<Mismatch>) = (Vec::new(), Vec::new());
        // The `@below` expectations since the last line without an expectation, and that line.
        let (mut below, mut last_other) = (Vec::new(), 0);
        let mut end = 0;
        for (row, line) in text.split_inclusive('\n').enumerate() {
            let start = end;
            end += line.len();
            let Some(found) = GRAMMAR.as_ref().and_then(|it| it.captures(line.trim_end())) else {
                for it in below.drain(..) {
                    let it: &mut Expectation = &mut all[it];
                    it.row = Some(row);
                }
                last_other = row;
                continue;
            };
            let range = found.get(0).map_or(0..0, |it| it.range());
            let range = start + range.start..start + range.end;
            let written = found[5].to_owned();
            let content = if found.get(2).is_some() {
                match pattern(&written) {
                    Ok(pattern) => ExpectedText::Pattern(pattern),
                    Err(why) => {
                        wrong.push((range, why));
                        continue;
                    }
                }
            } else {
                ExpectedText::Part(written.clone())
            };
            let row = match found.get(4).map(|it| it.as_str()) {
                None => Some(row),
                Some("above") => Some(last_other),
                Some("below") => {
                    below.push(all.len());
                    // Stays `None` if no line without an expectation follows.
                    None
                }
                Some("unknown") => None,
                Some(offset) => offset.parse().ok().and_then(|it| row.checked_add_signed(it)),
            };
            let kind = found[1].to_owned();
            all.push(Expectation { kind, row, text: content, written, range, is_met: false });
        }
        (Self { all }, wrong)
    }

    /// Marks the expectation that matches a diagnostic as met. Lines are counted from 0. A
    /// diagnostic without a line may match an expectation at any line.
    ///
    /// # Errors
    ///
    /// No expectation matches. If one with another kind matches, the error contains its range.
    pub fn mark_met(
        &mut self,
        kind: &str,
        row: Option<usize>,
        message: &str,
    ) -> Result<(), (Option<Range<usize>>, String)> {
        let mut near = None;
        let is_here = |it: &&mut Expectation| row.is_none() || it.row == row;
        for it in self.all.iter_mut().filter(is_here).filter(|it| it.text.is_in(message)) {
            if it.kind == kind {
                it.is_met = true;
                return Ok(());
            }
            near = Some(&*it);
        }
        Err(match near {
            Some(it) => {
                let why = format!("'{kind}' diagnostic emitted when expecting a '{}'", it.kind);
                (Some(it.range.clone()), why)
            }
            None => (None, format!("unexpected {kind}: {message}")),
        })
    }

    /// The expectations that no diagnostic matched.
    pub fn unmet(&self) -> impl Iterator<Item = Mismatch> {
        let unmet = self.all.iter().filter(|it| !it.is_met);
        unmet.map(|it| {
            let why = format!("expected {} \"{}\" was not produced", it.kind, it.written);
            (it.range.clone(), why)
        })
    }
}

/// Returns the regular expression of a text with regular expressions in `{{}}`.
fn pattern(text: &str) -> Result<Regex, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((inside, after)) = after.split_once("}}") else {
            return Err("found start of regex with no end '}}'".to_owned());
        };
        out.push_str(&regex::escape(before));
        out.push_str(&format!("({inside})"));
        rest = after;
    }
    out.push_str(&regex::escape(rest));
    Regex::new(&out).map_err(|it| {
        format!("invalid regex: {}", it.to_string().lines().last().unwrap_or_default())
    })
}
