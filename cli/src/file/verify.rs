//! `--verify-diagnostics`: compares diagnostics with the expectations in comments, in the grammar
//! of `mlir-opt`.
//!
//! ```mlir
//! // expected-error@below {{noise 48 exceeds}}
//! %2 = noisy.mul %1, %1 : !noisy.i32  // expected-note {{24 + 24}}
//! ```
//!
//! The grammar is that of MLIR's `SourceMgrDiagnosticVerifierHandler`:
//! `expected-(error|warning|remark|note)`, `-re` for a text with regular expressions in `{{}}`,
//! then `@+1`, `@-1`, `@above`, `@below` or `@unknown`, then `{{text}}` at the end of the line. The
//! text may be any part of the message. An expectation may be met more than once, and every error
//! and warning must be expected. Infos and hints are remarks, the steps of a chain are notes. Each
//! program between `// -----` is compared by itself.
//!
//! Messages, their order and the exit code are those of `mlir-opt` 19, which a test compares
//! (`cli/tests/e2e/expectations.rs`). `docs/checker.md` lists the differences: remarks and notes
//! need not be expected, because `mlir-opt` has no hints and chains; positions are those of the
//! file, not of one program in it.

use std::ops::Range;
use std::sync::LazyLock;

use noisy_analyses::{Category, Diagnostic, Document, Severity};
use noisy_syntax::Op;
use regex::Regex;
use ropey::Rope;

use crate::input::args::Verify;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Error,
    Warning,
    Remark,
    Note,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Error => "error",
            Kind::Warning => "warning",
            Kind::Remark => "remark",
            Kind::Note => "note",
        }
    }
}

enum Text {
    Part(String),
    Pattern(Regex),
}

struct Expected {
    kind: Kind,
    /// Line in the file, from 0; `None` for a diagnostic without a position, which this checker
    /// never reports.
    row: Option<usize>,
    text: Text,
    written: String,
    /// Range of `expected-...`, in bytes.
    range: Range<usize>,
    is_met: bool,
}

impl Expected {
    fn fits(&self, message: &str) -> bool {
        match &self.text {
            Text::Part(part) => message.contains(part.as_str()),
            Text::Pattern(pattern) => pattern.is_match(message),
        }
    }
}

/// Mismatches, as errors at their ranges, program by program.
pub(crate) fn verify(document: &Document, found: &[Diagnostic], which: Verify) -> Vec<Diagnostic> {
    let (ir, text) = (document.ir(), document.source().text());
    let mut found = found;
    let mut wrong = Vec::new();
    let mut end = 0;
    let programs: Vec<Op> = ir.items(ir.root()).collect();
    for (n, &program) in programs.iter().enumerate() {
        let start = end + ir.op(program).own_len as usize;
        end += ir.len(program);
        let is_last = n + 1 == programs.len();
        let n_found = found.partition_point(|it| is_last || it.range.start < end);
        let (here, rest) = found.split_at(n_found);
        found = rest;
        compare(text, start..end, here, which, &mut wrong);
    }
    let error = |(range, message)| Diagnostic {
        code: "verify-diagnostics",
        category: Category::Structure,
        severity: Severity::Error,
        range,
        message,
        related: Vec::new(),
        help: None,
        mlir_wording: None,
        tags: Vec::new(),
        repair: noisy_analyses::Repair::None,
    };
    wrong.into_iter().map(error).collect()
}

/// Compares the diagnostics of one program, given by its byte range.
fn compare(
    text: &Rope,
    program: Range<usize>,
    found: &[Diagnostic],
    which: Verify,
    wrong: &mut Vec<Wrong>,
) {
    let mut expected = expectations(text, program, wrong);
    for it in found {
        let kind = match it.severity {
            Severity::Error => Kind::Error,
            Severity::Warning => Kind::Warning,
            Severity::Info | Severity::Hint => Kind::Remark,
        };
        // Tests of MLIR are written in its words.
        let wording = it.mlir_wording.as_deref();
        let is_met =
            wording.is_some_and(|said| meet(&mut expected, text, &it.range, kind, said).is_ok());
        if !is_met
            && let Err(why) = meet(&mut expected, text, &it.range, kind, &it.message)
            && which == Verify::All
            && kind != Kind::Remark
        {
            wrong.push(why);
        }
        for it in &it.related {
            // NB notes need not be expected.
            let _ = meet(&mut expected, text, &it.range, Kind::Note, &it.message);
        }
    }
    for it in expected.iter().filter(|it| !it.is_met) {
        let why = format!("expected {} \"{}\" was not produced", it.kind.name(), it.written);
        wrong.push((it.range.clone(), why));
    }
}

/// A mismatch: range and message.
type Wrong = (Range<usize>, String);

/// Marks the expectation that a diagnostic meets; otherwise returns the message of the mismatch.
fn meet(
    expected: &mut [Expected],
    text: &Rope,
    range: &Range<usize>,
    kind: Kind,
    message: &str,
) -> Result<(), Wrong> {
    let row = text.byte_to_line(range.start.min(text.len_bytes()));
    let mut near = None;
    for it in expected.iter_mut().filter(|it| it.row == Some(row) && it.fits(message)) {
        if it.kind == kind {
            it.is_met = true;
            return Ok(());
        }
        near = Some((it.kind, it.range.clone()));
    }
    let kind = kind.name();
    Err(match near {
        Some((near, place)) => {
            let near = near.name();
            (place, format!("'{kind}' diagnostic emitted when expecting a '{near}'"))
        }
        None => (range.clone(), format!("unexpected {kind}: {message}")),
    })
}

/// The expectations in the comments of a program.
fn expectations(text: &Rope, program: Range<usize>, wrong: &mut Vec<Wrong>) -> Vec<Expected> {
    // The pattern is a constant that a test compiles.
    static GRAMMAR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"expected-(error|note|remark|warning)(-re)? *(@([+-][0-9]+|above|below|unknown))? *\{\{(.*)\}\}$").ok()
    });
    let mut out: Vec<Expected> = Vec::new();
    let first = text.byte_to_line(program.start);
    // Expectations that wait for the next line without one, and the last such line.
    let (mut below, mut last_other) = (Vec::new(), first);
    let mut start = program.start;
    for (line, row) in text.byte_slice(program).lines().zip(first..) {
        let line = line.to_string();
        let found = GRAMMAR.as_ref().and_then(|it| it.captures(line.trim_end()));
        let at = start;
        start += line.len();
        let Some(found) = found else {
            for it in below.drain(..) {
                let it: &mut Expected = &mut out[it];
                it.row = Some(row);
            }
            last_other = row;
            continue;
        };
        let range = found.get(0).map_or(at..at, |it| at + it.start()..at + it.end());
        let kind = match &found[1] {
            "error" => Kind::Error,
            "warning" => Kind::Warning,
            "remark" => Kind::Remark,
            _ => Kind::Note,
        };
        let written = found[5].to_owned();
        let content = if found.get(2).is_some() {
            match pattern(&written) {
                Ok(pattern) => Text::Pattern(pattern),
                Err(why) => {
                    wrong.push((range, why));
                    continue;
                }
            }
        } else {
            Text::Part(written.clone())
        };
        let place = match found.get(4).map(|it| it.as_str()) {
            None => Some(row),
            Some("above") => Some(last_other),
            Some("below") => {
                below.push(out.len());
                // `None` if no such line follows.
                None
            }
            Some("unknown") => None,
            Some(offset) => offset.parse().ok().and_then(|it| row.checked_add_signed(it)),
        };
        out.push(Expected { kind, row: place, text: content, written, range, is_met: false });
    }
    out
}

/// A text with regular expressions in `{{}}`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use noisy_analyses::Related;

    fn check(text: &str, which: Verify) -> Vec<String> {
        let document = Document::new(text);
        let out = verify(&document, &document.diagnostics(), which);
        let rope = document.source().text();
        out.iter()
            .map(|it| format!("{}: {}", rope.byte_to_line(it.range.start) + 1, it.message))
            .collect()
    }

    /// Checks a text in which `USE` stands for an op with an error.
    fn all(text: &str) -> Vec<String> {
        check(&text.replace("USE", "\"t.a\"(%u) : (i32) -> ()"), Verify::All)
    }

    #[test]
    fn expectations_that_are_met() {
        for text in [
            "USE // expected-error {{undefined value %u}}",
            "// expected-error@+1 {{undefined}}\nUSE",
            "USE\n// expected-error@-1{{undefined}}",
            "// expected-error @below {{undefined}}\n// expected-error@below {{use of}}\nUSE",
            "USE\n// expected-error@above {{undefined}}\n// expected-error@above {{%u}}",
            "USE USE // expected-error {{undefined}}",
            "USE // expected-error-re {{use of {{un[a-z]+}} value %{{.}}}}",
            "// no expectation {{at all}}",
        ] {
            let wrong = all(text);
            // Two expectations match one diagnostic: the first takes it.
            let n = text.matches("expected-").count().saturating_sub(1);
            assert_eq!(wrong.len(), n, "{text}: {wrong:?}");
        }
    }

    #[test]
    fn expectations_that_are_not_met() {
        assert_eq!(all("USE"), ["1: unexpected error: use of undefined value %u"]);
        assert_eq!(all("// expected-error {{x}}"), ["1: expected error \"x\" was not produced"]);
        assert_eq!(
            all("USE // expected-warning {{undefined}}"),
            [
                "1: 'error' diagnostic emitted when expecting a 'warning'",
                "1: expected warning \"undefined\" was not produced"
            ]
        );
        assert_eq!(
            all("// expected-error@unknown {{x}}"),
            ["1: expected error \"x\" was not produced"]
        );
        assert_eq!(
            all("// expected-error@below {{x}}"),
            ["1: expected error \"x\" was not produced"]
        );
        assert_eq!(all("// expected-error@-5 {{x}}"), ["1: expected error \"x\" was not produced"]);
        assert_eq!(
            all("// expected-error-re {{x {{y}}"),
            ["1: found start of regex with no end '}}'"]
        );
        assert_eq!(all("// expected-error-re {{x {{(}}}}").len(), 1);
        assert_eq!(check("\"t.a\"(%u) : (i32) -> ()", Verify::OnlyExpected), [""; 0]);
        assert_eq!(check("// expected-error {{x}}", Verify::OnlyExpected).len(), 1);
    }

    #[test]
    fn no_expectation_reaches_into_another_program() {
        let wanted = |row| {
            [
                format!("{row}: expected error \"\" was not produced"),
                format!("{}: unexpected error: use of undefined value %u", row + 2),
            ]
        };
        for text in [
            "// expected-error@+2 {{}}\n// -----\nUSE",
            "// expected-error@below {{}}\n// -----\nUSE",
        ] {
            assert_eq!(all(text), wanted(1), "{text}");
        }
        assert_eq!(
            all("USE // -----\n// expected-error@above {{}}"),
            [
                "1: unexpected error: use of undefined value %u",
                "2: expected error \"\" was not produced"
            ]
        );
        assert_eq!(all("USE // expected-error {{}} // -----\nUSE // expected-error {{}}"), [""; 0]);
        assert_eq!(
            all("// -----\nUSE\n// -----\nUSE // expected-error {{}}\n"),
            ["2: unexpected error: use of undefined value %u"]
        );
    }

    #[test]
    fn notes_may_be_expected() {
        let document = Document::new("a // expected-note {{step}}\nb // expected-error {{bad}}\n");
        let related = vec![Related { range: 0..1, message: "a step".to_owned() }];
        let it = Diagnostic {
            code: "x",
            category: Category::Noise,
            severity: Severity::Error,
            range: 28..29,
            message: "bad".to_owned(),
            related,
            help: None,
            mlir_wording: None,
            tags: Vec::new(),
            repair: noisy_analyses::Repair::None,
        };
        assert_eq!(verify(&document, std::slice::from_ref(&it), Verify::All), []);
        let without = Diagnostic { related: Vec::new(), ..it };
        assert_eq!(verify(&document, &[without], Verify::All).len(), 1);
    }
}
