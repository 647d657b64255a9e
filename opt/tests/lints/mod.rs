//! Applies the fixes of lints to programs.

use std::fmt::Write as _;

use noisy_analyses::{Document, TextEdit};

/// The lints that report what passes would change.
const CODES: [&str; 4] = ["same-value", "folds-to-constant", "loop-invariant", "dead-store"];

/// Returns a program with a comment at the end of each line.
pub(crate) fn with_line_comments(text: &str) -> String {
    let mut out = String::new();
    for (n, line) in text.lines().enumerate() {
        let _ = writeln!(out, "{line} // line {n}");
    }
    out
}

/// Applies the safe fixes of the lints until none is left. Returns the program and the number of
/// fixed diagnostics. With `unsafe_too`, also applies fixes of constant conditions that need a
/// review. Without it, checks that comments are kept.
pub(crate) fn apply_fixes(text: &str, unsafe_too: bool) -> (String, usize) {
    let (mut now, mut n_fixed) = (text.to_owned(), 0);
    for _ in 0..60 {
        let document = Document::new(&now);
        assert!(document.source().problems().is_empty(), "{text}became\n{now}");
        let mut found = document.diagnostics_with(&CODES);
        found.retain(|it| CODES.contains(&it.code) || it.code == "constant-condition");
        let (edits, n) = document.fix_all(&found, unsafe_too);
        if edits.is_empty() {
            let lines = text.lines().filter_map(|it| it.split_once("// ")).map(|it| it.1);
            for comment in lines.filter(|_| !unsafe_too) {
                assert_eq!(
                    now.matches(&format!("// {comment}\n")).count(),
                    1,
                    "{text}became\n{now}"
                );
            }
            return (now, n_fixed);
        }
        now = TextEdit::apply_all(&edits, &now);
        n_fixed += n;
    }
    panic!("the fixes have no end:\n{text}became\n{now}");
}
