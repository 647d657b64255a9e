//! `--verify-diagnostics`: compares diagnostics with the expectations in comments, in the grammar
//! of `mlir-opt`.
//!
//! The grammar is in [`noisy_analyses::report::expectation`]. Every error and warning must be
//! expected. Infos and hints are remarks, the steps of a chain are notes. Each program between `//
//! -----` lines is compared separately.
//!
//! Messages, their order and the exit code are those of `mlir-opt` 19; a test compares them
//! (`cli/tests/e2e/expectations.rs`). `docs/checker.md` lists the differences: remarks and notes
//! need not be expected, because `mlir-opt` has no hints and chains; positions are those of the
//! file, not of one program in it.

use std::ops::Range;

use noisy_analyses::report::expectation::{Expectations, Mismatch};
use noisy_analyses::{Category, Diagnostic, Document, Severity};
use noisy_syntax::Op;
use ropey::Rope;

use crate::input::args::ExpectationMode;

/// Returns the mismatches as errors at their ranges, in the order of the programs.
pub(crate) fn mismatches(
    document: &Document,
    found: &[Diagnostic],
    which: ExpectationMode,
) -> Vec<Diagnostic> {
    let (ir, text) = (document.ir(), document.source().text());
    let mut found = found;
    let mut wrong = Vec::new();
    let mut end = 0;
    let programs: Vec<Op> = ir.items(ir.root()).collect();
    for (n, &program) in programs.iter().enumerate() {
        let start = end + ir.op(program).own_len as usize;
        end += ir.item_len(program);
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
        repair: noisy_analyses::RepairKind::None,
    };
    wrong.into_iter().map(error).collect()
}

/// Compares the diagnostics of one program, given by its byte range.
fn compare(
    text: &Rope,
    program: Range<usize>,
    found: &[Diagnostic],
    which: ExpectationMode,
    wrong: &mut Vec<Mismatch>,
) {
    let (first_byte, first_row) = (program.start, text.byte_to_line(program.start));
    let (mut expected, invalid) = Expectations::read(&text.byte_slice(program).to_string());
    let in_file = |range: Range<usize>| first_byte + range.start..first_byte + range.end;
    wrong.extend(invalid.into_iter().map(|(range, why)| (in_file(range), why)));
    let row = |range: &Range<usize>| {
        let row = text.byte_to_line(range.start.min(text.len_bytes()));
        // A step of a chain may be in an earlier program.
        Some(row.checked_sub(first_row).unwrap_or(usize::MAX))
    };
    for it in found {
        let kind = match it.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => "remark",
        };
        // Tests of MLIR contain the wording of `mlir-opt`.
        let wording = it.mlir_wording.as_deref();
        let is_met =
            wording.is_some_and(|said| expected.mark_met(kind, row(&it.range), said).is_ok());
        if !is_met
            && let Err((place, why)) = expected.mark_met(kind, row(&it.range), &it.message)
            && which == ExpectationMode::All
            && kind != "remark"
        {
            wrong.push((place.map_or_else(|| it.range.clone(), in_file), why));
        }
        for it in &it.related {
            // Notes need not be expected.
            let _ = expected.mark_met("note", row(&it.range), &it.message);
        }
    }
    wrong.extend(expected.unmet().map(|(range, why)| (in_file(range), why)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use noisy_analyses::RelatedLocation;

    fn check(text: &str, which: ExpectationMode) -> Vec<String> {
        let document = Document::new(text);
        let out = mismatches(&document, &document.diagnostics(), which);
        let rope = document.source().text();
        out.iter()
            .map(|it| format!("{}: {}", rope.byte_to_line(it.range.start) + 1, it.message))
            .collect()
    }

    /// Checks a text after `USE` is replaced by an op with an error.
    fn all(text: &str) -> Vec<String> {
        check(&text.replace("USE", "\"t.a\"(%u) : (i32) -> ()"), ExpectationMode::All)
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
            // If two expectations match one diagnostic, the first one consumes it.
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
        assert_eq!(check("\"t.a\"(%u) : (i32) -> ()", ExpectationMode::OnlyExpected), [""; 0]);
        assert_eq!(check("// expected-error {{x}}", ExpectationMode::OnlyExpected).len(), 1);
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
        let related = vec![RelatedLocation { range: 0..1, message: "a step".to_owned() }];
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
            repair: noisy_analyses::RepairKind::None,
        };
        assert_eq!(mismatches(&document, std::slice::from_ref(&it), ExpectationMode::All), []);
        let without = Diagnostic { related: Vec::new(), ..it };
        assert_eq!(mismatches(&document, &[without], ExpectationMode::All).len(), 1);
    }
}
