//! What documents say, and that edits say the same as reading anew.

use super::*;

fn check(text: &str, expected: &[&str]) {
    let document = Document::new(text);
    let found: Vec<String> = document
        .diagnostics()
        .iter()
        .map(|it| format!("{} {:?}: {}", it.code, &text[it.range.clone()], it.message))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn one_chain_gives_one_error() {
    let text = "func.func @f(%x: i5, %y: i5) {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.encode %y : i5 -> !noisy.i32
  %2 = noisy.mul %0, %1 : !noisy.i32
  %3 = noisy.mul %2, %2 : !noisy.i32
  %4 = noisy.mul %3, %3 : !noisy.i32
  %5 = noisy.mul %4, %4 : !noisy.i32
  return
}
";
    check(
        text,
        &[
            "noise-overflow \"noisy.mul %2, %2\": noise 48 exceeds the budget of 26",
            "unused-op \"noisy.mul %4, %4\": %5 is not used",
        ],
    );
    let document = Document::new(text);
    let it = &document.diagnostics()[0];
    let chain: Vec<&str> = it.related.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(chain, ["%0: fresh: 12", "%2: 12 + 12 = 24", "%3: 24 + 24 = 48"]);
    assert!(
        it.help.as_ref().is_some_and(|it| it.ends_with("2 later values are over because of it"))
    );
}

#[test]
fn a_mul_and_two_adds_are_legal() {
    check(
        "func.func @f(%0: !noisy.i32) -> !noisy.i32 {
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.add %1, %0 : !noisy.i32
  %3 = noisy.sub %0, %2 : !noisy.i32
  return %3 : !noisy.i32
}
",
        &[],
    );
}

#[test]
fn loops_are_exact() {
    let program = |n: &str| {
        format!(
            "func.func @f(%0: !noisy.i32, %n: index) -> !noisy.i32 {{
  %lo = arith.constant 0 : index
  %hi = arith.constant {n} : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %lo to %hi step %one iter_args(%acc = %0) -> (!noisy.i32) {{
    %s = noisy.add %acc, %0 : !noisy.i32
    scf.yield %s : !noisy.i32
  }}
  return %r : !noisy.i32
}}
"
        )
    };
    check(&program("14"), &[]);
    check(
        &program("15"),
        &[
            "noise-overflow \"noisy.add %acc, %0\": noise 27 exceeds the budget of 26 in round 15 of the loop",
        ],
    );
    check(
        &program("1000000000"),
        &[
            "noise-overflow \"noisy.add %acc, %0\": noise 27 exceeds the budget of 26 in round 15 of the loop",
        ],
    );
    check(
        &program("10").replace("to %hi", "to %n"),
        &[
            "unused-op \"arith.constant\": %hi is not used",
            "noise-grows \"%s\": noise grows by 1 in each round and exceeds the budget of 26 in round 15",
        ],
    );
}
