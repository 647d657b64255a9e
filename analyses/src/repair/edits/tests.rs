//! Fixes that are applied to a document, in place and on a copy.

use super::*;
use crate::Severity;

/// The document after the fixes is the program that verified them, or a new one if some fixes were
/// rejected. If the caller rejects it, the document is unchanged.
#[test]
fn fixed_documents_equal_new_ones() {
    let n_errors =
        |it: &Document| it.diagnostics().iter().filter(|it| it.severity == Severity::Error).count();
    let long = "x".repeat(2000);
    let (mut n_fixed, mut n_edited) = ([0; 4], 0);
    for (n_unused, n_fixed) in n_fixed.iter_mut().enumerate() {
        for is_tied in [false, true] {
            let op = |n: usize| format!("  %d{n} = arith.constant {n} : i32\n");
            let unused = (0..n_unused).map(op).collect::<Vec<_>>().concat();
            // Either of them can be removed, but not both.
            let tied = "  %a = arith.constant 1 : i8\n  %a = arith.constant 2 : i8\n";
            let text = format!(
                "// {long}\nfunc.func @f() {{\n{unused}{}  return\n}}\n",
                if is_tied { tied } else { "" }
            );
            let document = Document::new(&text);
            let found = document.diagnostics();
            let (edits, n) = document.fix_all(&found, true);
            let after = document.with_all_fixed(&found, true);
            assert_eq!(after.is_some(), !edits.is_empty(), "{text}");
            let Some((after, its_edits, n_after)) = after else { continue };
            assert_eq!(its_edits, edits);
            *n_fixed += n_after;
            let anew = document.after(&edits);
            assert_eq!(n_after, n);
            assert_eq!(after.source().text(), anew.source().text());
            assert_eq!(after.diagnostics(), anew.diagnostics());
            let mut edited = Document::new(&text);
            let mut n_asked = 0;
            let mut is_kept = |after: &Document| {
                n_asked += 1;
                n_errors(after) <= n_errors(&document)
            };
            assert_eq!(edited.apply_fixes(&found, true, &mut is_kept), Some((edits, n)));
            assert_eq!(edited.source().text(), anew.source().text());
            assert_eq!(edited.diagnostics(), anew.diagnostics());
            n_edited += usize::from(n_asked == 1);
            let mut kept = Document::new(&text);
            assert_eq!(kept.apply_fixes(&found, true, &mut |_| false), None);
            assert_eq!(kept.source().text(), document.source().text());
            assert_eq!(kept.diagnostics(), found);
        }
    }
    assert!(n_edited >= 3);
    assert!(n_fixed[1] >= 1 && n_fixed[3] >= 3, "{n_fixed:?}");
}

/// The solver treats blocks in reverse textual order as a cycle, and each edit solves the cycle
/// again: 35 edits in place would cost 35 times as much as reparsing. The equal bounds of ids show
/// that the text was reparsed.
#[test]
fn many_reduces_are_not_inserted_one_by_one() {
    use std::fmt::Write as _;
    let mut text = "func.func @f(%x: i5) {\n  %v = noisy.encode %x : i5 -> !noisy.i32\n  cf.br ^b499(%v : !noisy.i32)\n^b0(%a0: !noisy.i32):\n  return\n".to_owned();
    for it in 1..500 {
        let _ = write!(
            text,
            "^b{it}(%a{it}: !noisy.i32):\n  %s{it} = noisy.add %a{it}, %a{it} : !noisy.i32\n  cf.br ^b{}(%s{it} : !noisy.i32)\n",
            it - 1
        );
    }
    text.push_str("}\n");
    let mut document = Document::new(&text);
    let functions = document.ir().functions();
    let outcome = document.insert_reduces(&functions, &PlacementOptions::default());
    assert!(outcome.is_ok_and(|it| it.n_inserted() > 30));
    let anew = Document::new(&document.source().text().to_string());
    assert_eq!(document.ir().n_slots(), anew.ir().n_slots());
    assert_eq!(document.diagnostics(), anew.diagnostics());
}
