//! Programs with one mistake each: the advice, and the program after the first proposal that helps.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::Source;

fn check(text: &str, expected: &Expect) {
    let source = Source::new(text);
    let problems = source.problems();
    let mut out = String::new();
    let row = |at: usize| text[..at].matches('\n').count() + 1;
    for it in &problems {
        let advice = source.advice(it.0, &it.1, &it.2);
        let _ = writeln!(out, "{}: {}", row(it.1.start), advice.message);
        for (range, message) in advice.related {
            let _ = writeln!(out, "  at {} `{}`: {message}", row(range.start), &text[range]);
        }
        let _ = writeln!(out, "  help: {}", advice.help.unwrap_or_default());
        for it in &source.proven(&[it])[0] {
            let sure = if it.is_sure { " (sure)" } else { "" };
            let _ = writeln!(out, "  fix{sure}: {}", it.title);
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn similar_names_are_proposed() {
    check(
        "func.func @f(%sum: i32) -> i32 {
  %0 = arith.addi %smu, %sum : i32
  return %0 : i32
}
",
        &expect![[""]],
    );
}
