//! The edited texts of placements.

mod calls;
mod cost;
mod large;
mod layout;
mod replace;

use std::fmt::Write as _;

use super::*;
use crate::{Document, Severity};

fn fixed(text: &str) -> (PlacementOutcome, String) {
    fixed_with(text, &PlacementOptions::default())
}

fn fixed_with(text: &str, options: &PlacementOptions) -> (PlacementOutcome, String) {
    let document = Document::new(text);
    let functions = document.ir().functions();
    let outcome = insert_reduces(&document, &functions, options);
    let outcome = outcome.unwrap_or_else(|it| panic!("{it}\n{text}"));
    let after = outcome.fix.as_ref().map_or(text.to_owned(), |it| it.apply(text));
    let (edited, found) = edited(text, options);
    assert_eq!(edited.source().text().to_string(), after);
    assert_eq!(found.groups, outcome.groups);
    let verdicts =
        |it: &PlacementOutcome| it.functions.iter().map(|it| it.verdict.clone()).collect();
    let (of_edited, of_copy): (Vec<PlacementVerdict>, Vec<PlacementVerdict>) =
        (verdicts(&found), verdicts(&outcome));
    assert_eq!(of_edited, of_copy);
    (outcome, after)
}

fn options() -> PlacementOptions {
    let limits =
        PlacementLimits { time: None, work: Some(5_000_000), ..PlacementLimits::default() };
    PlacementOptions { limits, ..PlacementOptions::default() }
}

fn errors(text: &str) -> Vec<crate::Diagnostic> {
    let mut found = Document::new(text).diagnostics();
    found.retain(|it| it.severity == Severity::Error);
    found
}

/// Inserts resets into a document in place, and compares it with a new document.
fn edited(text: &str, options: &PlacementOptions) -> (Document, PlacementOutcome) {
    let mut document = Document::new(text);
    let functions = document.ir().functions();
    let outcome = document.insert_reduces(&functions, options);
    let outcome = outcome.unwrap_or_else(|it| panic!("{it}\n{text}"));
    let anew = Document::new(&document.source().text().to_string());
    // The brief diagnostics are the same.
    let key = |it: &crate::Diagnostic| (it.code, it.severity, it.range.clone(), it.message.clone());
    let before = Document::new(text);
    let found = |all: Vec<crate::Diagnostic>| all.iter().map(key).collect::<Vec<_>>();
    assert_eq!(found(before.diagnostics_in_brief(&[])), found(before.diagnostics()));
    assert_eq!(document.diagnostics(), anew.diagnostics(), "{text}");
    assert_eq!(document.ir().functions().len(), anew.ir().functions().len());
    let noise = |it: &Document| -> Vec<String> {
        let ir = it.ir();
        let mut out = Vec::new();
        ir.walk(ir.root(), &mut |op| {
            out.extend(ir.op(op).results.iter().map(|&of| format!("{:?}", it.noise(of))));
        });
        out
    };
    assert_eq!(noise(&document), noise(&anew), "{text}");
    (document, outcome)
}

/// Reparsed ops would have other ids.
#[test]
fn kept_ops_are_not_reparsed() {
    let line = |at: usize| format!("  %{} = noisy.add %{at}, %{at} : !noisy.i32\n", at + 1);
    let text = format!(
        "func.func @f(%0: !noisy.i32) -> !noisy.i32 {{\n{}  return %40 : !noisy.i32\n}}\n",
        (0..40).map(line).collect::<Vec<_>>().concat()
    );
    let before = Document::new(&text);
    let last = *before
        .ir()
        .items(before.ir().op(before.ir().functions()[0]).regions[0].1)
        .collect::<Vec<_>>()
        .last()
        .expect("ops");
    let (after, outcome) = edited(&text, &PlacementOptions::default());
    assert!(outcome.n_inserted() > 1 && after.ir().op_name(last) == "func.return", "{outcome:?}");
    assert_eq!(after.ir().range(last).end, after.source().text().len_bytes() - 3);
}

fn check(before: &str, after: &str) {
    check_with(before, after, &PlacementOptions::default());
}

fn check_with(before: &str, after: &str, options: &PlacementOptions) {
    let (outcome, found) = fixed_with(before, options);
    assert_eq!(found, after, "{outcome:?}");
    if before != after {
        let errors = Document::new(&found).diagnostics();
        assert!(errors.iter().all(|it| it.severity != Severity::Error), "{errors:?}");
    }
}

fn refused(text: &str, reason: &str) {
    let (outcome, after) = fixed(text);
    assert_eq!(after, text);
    let verdict = outcome.functions.last().map(|it| &it.verdict);
    assert_eq!(verdict, Some(&PlacementVerdict::Refused(reason.to_owned())));
}

#[test]
fn three_squarings_need_three() {
    let text = "func.func @f(%x: i5, %y: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.encode %y : i5 -> !noisy.i32
  %2 = noisy.mul %0, %1 : !noisy.i32
  %3 = noisy.mul %2, %2 : !noisy.i32 // first
  %4 = noisy.mul %3, %3 : !noisy.i32 loc(\"here\")
  %5 = noisy.mul %4, %4 : !noisy.i32
  %6 = noisy.decode %5 : !noisy.i32 -> i5
  return %6 : i5
}
";
    let (outcome, after) = fixed(text);
    assert_eq!(
        outcome.fix.map(|it| it.title),
        Some("Insert 3 reduce_noise (proven optimal)".into())
    );
    assert_eq!(
        after,
        "func.func @f(%x: i5, %y: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.encode %y : i5 -> !noisy.i32
  %2 = noisy.mul %0, %1 : !noisy.i32
  %r2 = noisy.reduce_noise %2 : !noisy.i32
  %3 = noisy.mul %r2, %r2 : !noisy.i32 // first
  %r3 = noisy.reduce_noise %3 : !noisy.i32
  %4 = noisy.mul %r3, %r3 : !noisy.i32 loc(\"here\")
  %r4 = noisy.reduce_noise %4 : !noisy.i32
  %5 = noisy.mul %r4, %r4 : !noisy.i32
  %6 = noisy.decode %5 : !noisy.i32 -> i5
  return %6 : i5
}
"
    );
}

#[test]
fn one_reduce_serves_two_branches() {
    let mut text = "func.func @f(%a: !noisy.i32) -> (!noisy.i32, !noisy.i32) {
  %m = noisy.mul %a, %a : !noisy.i32
"
    .to_owned();
    for branch in ["x", "y"] {
        let mut last = "m".to_owned();
        for n in 0..4 {
            let op = ["add", "sub"][n % 2];
            let _ = writeln!(text, "  %{branch}{n} = noisy.{op} %{last}, %a : !noisy.i32");
            last = format!("{branch}{n}");
        }
    }
    let tail = "  return %x3, %y3 : !noisy.i32, !noisy.i32\n}\n";
    let (outcome, after) = fixed(&(text.clone() + tail));
    assert_eq!(outcome.n_inserted(), 1);
    let line =
        "  %m = noisy.mul %a, %a : !noisy.i32\n  %m_r = noisy.reduce_noise %m : !noisy.i32\n";
    assert!(after.contains(line), "{after}");
    // The product of both branches.
    text += "  %p = noisy.mul %x3, %y3 : !noisy.i32\n";
    let (outcome, _) = fixed(&(text + "  return %p, %p : !noisy.i32, !noisy.i32\n}\n"));
    assert_eq!(outcome.n_inserted(), 3);
    assert!(outcome.functions[0].verdict.is_optimal());
}

#[test]
fn legal_programs_are_left_alone() {
    check(
        "func.func @f(%a: !noisy.i32) {
  %0 = noisy.mul %a, %a : !noisy.i32
  %1 = noisy.add %0, %0 : !noisy.i32
  %2 = noisy.add %1, %1 : !noisy.i32
  return
}
",
        "func.func @f(%a: !noisy.i32) {
  %0 = noisy.mul %a, %a : !noisy.i32
  %1 = noisy.add %0, %0 : !noisy.i32
  %2 = noisy.add %1, %1 : !noisy.i32
  return
}
",
    );
}

#[test]
fn contracts_are_kept() {
    // Passed and returned values.
    check(
        "func.func private @g(!noisy.i32 {noisy.bound = 14 : i64}) -> (!noisy.i32 {noisy.bound = 20 : i64})
func.func @f(%a: !noisy.i32) -> (!noisy.i32 {noisy.bound = 13 : i64}) {
  %0 = noisy.add %a, %a : !noisy.i32
  %1 = noisy.add %0, %0 : !noisy.i32
  %2 = noisy.add %1, %1 : !noisy.i32
  %3 = call @g(%1) : (!noisy.i32) -> !noisy.i32
  %4 = call @g(%2) : (!noisy.i32) -> !noisy.i32
  return %3 : !noisy.i32
}
",
        "func.func private @g(!noisy.i32 {noisy.bound = 14 : i64}) -> (!noisy.i32 {noisy.bound = 20 : i64})
func.func @f(%a: !noisy.i32) -> (!noisy.i32 {noisy.bound = 13 : i64}) {
  %0 = noisy.add %a, %a : !noisy.i32
  %1 = noisy.add %0, %0 : !noisy.i32
  %2 = noisy.add %1, %1 : !noisy.i32
  %r2 = noisy.reduce_noise %2 : !noisy.i32
  %3 = call @g(%1) : (!noisy.i32) -> !noisy.i32
  %r3 = noisy.reduce_noise %3 : !noisy.i32
  %4 = call @g(%r2) : (!noisy.i32) -> !noisy.i32
  return %r3 : !noisy.i32
}
",
    );
    // A reset cannot give less noise than its level.
    refused(
        "func.func private @g(!noisy.i32 {noisy.bound = 11 : i64})
func.func @f(%a: !noisy.i32) {
  %0 = noisy.add %a, %a : !noisy.i32
  call @g(%0) : (!noisy.i32) -> ()
  return
}
",
        "no placement is possible: %0 on line 3 has at least 12 bits of noise, and at most 11 are allowed",
    );
}

#[test]
fn functions_with_unknown_facts_are_not_changed() {
    refused(
        "func.func @f(%a: !noisy.i32) {
  %0 = noisy.mul %a, %a : !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = \"other.op\"() : () -> !noisy.i32
  return
}
",
        "the noise of %2 is unknown",
    );
    refused(
        "func.func @f(%a: !noisy.i32) {
  %0 = noisy.mul %a, %a : !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.add %zero, %1 : !noisy.i32
  return
}
",
        "error on line 4: use of undefined value %zero",
    );
}
