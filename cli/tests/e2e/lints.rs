//! Lints are off by default, turned on by their codes, shown in each format, and fixed.

use expect_test::expect;

use crate::tool::Folder;

/// A program with a finding of each of the four lints.
const PROGRAM: &str = "\
func.func @f(%a: i32, %b: i32, %n: index, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  %0 = arith.muli %a, %b : i32
  // Why.
  %1 = arith.muli %b, %a : i32 // the product
  %2 = arith.addi %c3, %c3 : i32
  scf.for %i = %c0 to %n step %c1 {
    %3 = arith.addi %1, %2 : i32
    memref.store %0, %m[%i] : memref<?xi32>
    memref.store %3, %m[%i] : memref<?xi32>
  }
  return
}
";

const ALL: &str = "[rules]\nsame-value = \"warning\"\nfolds-to-constant = \"warning\"\nloop-invariant = \"warning\"\ndead-store = \"warning\"\n";

#[test]
fn are_off_until_turned_on_by_code() {
    let folder = Folder::with_files(&[("a.mlir", PROGRAM)]);
    let of = |args: &[&str]| {
        let run = folder.run(args);
        assert_eq!(run.err, "");
        run.out.lines().filter(|it| it.contains(".mlir:")).map(str::to_owned).collect::<Vec<_>>()
    };
    let concise = ["--output-format", "concise"];
    assert_eq!(of(&concise), [""; 0]);
    for rules in ["rules.lint=\"warning\"", "rules.all=\"warning\"", "rules.same-value=\"off\""] {
        assert_eq!(of(&[&concise[..], &["--config", rules]].concat()), [""; 0], "{rules}");
    }
    let on = of(&[&concise[..], &["--config", "rules.same-value=\"on\""]].concat());
    assert_eq!(on.len(), 1, "{on:?}");
    assert!(on[0].contains("same-value") && on[0].contains("hint"), "{on:?}");
    folder.write("noisy.toml", ALL);
    expect![[r#"
        a.mlir:7:8: warning[same-value] %1 is the same value as %0 in line 5
        a.mlir:8:8: warning[folds-to-constant] %2 folds to 6
        a.mlir:10:10: warning[loop-invariant] %3 does not change in the loop
        a.mlir:11:5: warning[dead-store] line 12 overwrites this before anything reads it
        4 warnings in 1 file.
    "#]]
    .assert_eq(&folder.run(&concise).out);
    expect![[r#"
        warning[same-value]: %1 is the same value as %0 in line 5
           ╭─[ a.mlir:7:8 ]
           │
         5 │   %0 = arith.muli %a, %b : i32
           │        ────────┬────────
           │                ╰────────── %0 is computed here
           │
         7 │   %1 = arith.muli %b, %a : i32 // the product
           │        ────────┬────────
           │                ╰────────── an op that computes the same value as another op
           │
           │ Help: Use %0 instead
        ───╯

        warning[folds-to-constant]: %2 folds to 6
           ╭─[ a.mlir:8:8 ]
           │
         8 │   %2 = arith.addi %c3, %c3 : i32
           │        ─────────┬─────────
           │                 ╰─────────── a computed value that is always one number
           │
           │ Help: Replace it by its value
        ───╯

        warning[loop-invariant]: %3 does not change in the loop
            ╭─[ a.mlir:10:10 ]
            │
          9 │   scf.for %i = %c0 to %n step %c1 {
            │   ───┬───
            │      ╰───── the loop
         10 │     %3 = arith.addi %1, %2 : i32
            │          ────────┬────────
            │                  ╰────────── an op in a loop that computes the same value in each iteration
            │
            │ Help: Move it before the loop
        ────╯

        warning[dead-store]: line 12 overwrites this before anything reads it
            ╭─[ a.mlir:11:5 ]
            │
         11 │     memref.store %0, %m[%i] : memref<?xi32>
            │     ───────────┬──────────
            │                ╰──────────── a store that nothing reads
         12 │     memref.store %3, %m[%i] : memref<?xi32>
            │     ───────────┬──────────
            │                ╰──────────── the next store of the same element
            │
            │ Help: Remove this store
        ────╯

        4 warnings in 1 file.
    "#]]
    .assert_eq(&folder.run(&[]).out);
    assert_eq!(of(&[&concise[..], &["--config", "rules.lint=\"off\""]].concat()), [""; 0]);
}

#[test]
fn machine_formats_contain_lints_and_fixes() {
    let folder = Folder::with_files(&[("a.mlir", PROGRAM), ("noisy.toml", ALL)]);
    let json: serde_json::Value =
        serde_json::from_str(&folder.run(&["--output-format", "json"]).out).expect("JSON");
    let found = json.as_array().expect("a list");
    let found: Vec<_> = found
        .iter()
        .map(|it| (it["code"].as_str().unwrap_or_default(), it["fixes"][0]["title"].as_str()))
        .collect();
    let expected = [
        ("same-value", Some("Use %0 instead")),
        ("folds-to-constant", Some("Replace %2 by its value, 6")),
        ("loop-invariant", Some("Move %3 before the loop")),
        ("dead-store", Some("Remove this store")),
    ];
    assert_eq!(found, expected);
    let sarif: serde_json::Value =
        serde_json::from_str(&folder.run(&["--output-format", "sarif"]).out).expect("JSON");
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in run["results"].as_array().expect("results") {
        let rule = &rules[result["ruleIndex"].as_u64().expect("an index") as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert_eq!(rule["defaultConfiguration"]["enabled"], false, "{rule}");
        assert_eq!(result["fixes"].as_array().map(Vec::len), Some(1), "{result}");
    }
    let overflow = rules.iter().find(|it| it["id"] == "noise-overflow").expect("it is there");
    assert_eq!(overflow["defaultConfiguration"]["enabled"], serde_json::Value::Null);
}

#[test]
fn fixes_warnings_and_keeps_comments() {
    let folder = Folder::with_files(&[("a.mlir", PROGRAM), ("noisy.toml", ALL)]);
    let run = folder.run(&["--fix"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let fixed = folder.read("a.mlir");
    expect![[r#"
        func.func @f(%a: i32, %b: i32, %n: index, %m: memref<?xi32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c3 = arith.constant 3 : i32
          %0 = arith.muli %a, %b : i32
          // Why.
          // the product
          %2 = arith.constant 6 : i32
          %3 = arith.addi %0, %2 : i32
          scf.for %i = %c0 to %n step %c1 {
            memref.store %3, %m[%i] : memref<?xi32>
          }
          return
        }
    "#]]
    .assert_eq(&fixed);
    assert_eq!(folder.run(&["--fix"]).code, 0);
    assert_eq!(folder.read("a.mlir"), fixed, "nothing is left to do");
    // Hints are reported but not fixed.
    let hints = ALL.replace("warning", "hint");
    let folder = Folder::with_files(&[("a.mlir", PROGRAM), ("noisy.toml", &hints)]);
    assert_eq!(folder.run(&["--fix"]).code, 0);
    assert_eq!(folder.read("a.mlir"), PROGRAM);
}

#[test]
fn a_suppression_is_not_unused_while_its_rule_is_off() {
    let text = PROGRAM.replace("// the product", "// noisy: allow(same-value)");
    let folder = Folder::with_files(&[("a.mlir", &text)]);
    let of = |args: &[&str]| folder.run(&[&["--output-format", "concise"], args].concat()).out;
    assert!(!of(&[]).contains("unused-suppression"), "{}", of(&[]));
    let on = ["--config", "rules.same-value=\"warning\""];
    assert!(!of(&on).contains("a.mlir:"), "{}", of(&on));
    folder.write("a.mlir", text.replace("arith.muli %b, %a", "arith.muli %b, %b"));
    assert!(of(&on).contains("unused-suppression"), "{}", of(&on));
}

#[test]
fn explain_shows_how_to_turn_on_a_lint() {
    let folder = Folder::new();
    for code in ["same-value", "folds-to-constant", "loop-invariant", "dead-store"] {
        let page = folder.run(&["explain", code]).out;
        assert!(page.contains("*hint, lint, off by default*"), "{page}");
        assert!(
            page.contains(&format!("`{code} = \"hint\"` under `[rules]` turns it on")),
            "{page}"
        );
    }
}
