//! Every output format.

use expect_test::{Expect, expect};

use crate::tool::{CLEAN, Folder, TUTORIAL, UNDEFINED};

fn check(format: &str, wanted: &Expect) {
    let folder = Folder::with(&[("a/clean.mlir", CLEAN), ("a/tutorial.mlir", TUTORIAL), ("b & c.mlir", UNDEFINED)]);
    let run = folder.run(&["--output-format", format, "."]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    wanted.assert_eq(&run.out);
}

#[test]
fn full() {
    check("full", &expect![[r#""#]]);
}

#[test]
fn concise() {
    check("concise", &expect![[r#""#]]);
}

#[test]
fn json() {
    check("json", &expect![[r#""#]]);
}

#[test]
fn json_lines() {
    check("json-lines", &expect![[r#""#]]);
}

#[test]
fn sarif() {
    check("sarif", &expect![[r#""#]]);
}

#[test]
fn github() {
    check("github", &expect![[r#""#]]);
}

#[test]
fn gitlab() {
    check("gitlab", &expect![[r#""#]]);
}

#[test]
fn junit() {
    check("junit", &expect![[r#""#]]);
}

#[test]
fn checkstyle() {
    check("checkstyle", &expect![[r#""#]]);
}

#[test]
fn rdjson() {
    check("rdjson", &expect![[r#""#]]);
}

#[test]
fn without_findings_every_format_is_whole() {
    let folder = Folder::with(&[("clean.mlir", CLEAN)]);
    for format in ["json", "gitlab", "sarif", "rdjson"] {
        let run = folder.run(&["--output-format", format]);
        assert_eq!(run.code, 0);
        assert!(serde_json::from_str::<serde_json::Value>(&run.out).is_ok(), "{format}: {}", run.out);
    }
    for format in ["json-lines", "github"] {
        assert_eq!(folder.run(&["--output-format", format]).out, "", "{format}");
    }
}

#[test]
fn the_format_may_come_from_the_environment() {
    let folder = Folder::with(&[("clean.mlir", CLEAN)]);
    assert_eq!(folder.run_with(&[], "", &[("NOISY_OUTPUT_FORMAT", "json")]).out, "[\n\n]\n");
    assert_eq!(folder.run_with(&[], "", &[("NOISY_OUTPUT_FORMAT", "cuneiform")]).code, 2);
}

#[test]
fn colors_when_wanted() {
    let folder = Folder::with(&[("tutorial.mlir", TUTORIAL)]);
    let colored = |args: &[&str], env: &[(&str, &str)]| folder.run_with(args, "", env).out.contains('\u{1b}');
    assert!(!colored(&[], &[]), "not into a pipe");
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn odd_lines_are_drawn_without_harm() {
    let long = format!("\"t.a\"() {{s = \"{}\"}} : () -> () \"t.b\"(%u) : (i32) -> ()\n", "x".repeat(100_000));
    for text in [
        "\"t.a\"(%u) : (i32) -> () // \u{2028}\u{85}\u{c}\u{b}\n\"t.b\"(%v) : (i32) -> ()",
        "\"t.a\"(%u)\r\n: (i32) -> ()\r\r\n\"t.b\"(%v) : (i32) -> ()\r",
        "\t\"t.\u{4e2d}\"(%u) : (i32) -> ()",
        "func.func @f(",
        "}",
        "\u{feff}}",
        "\0",
        &long,
    ] {
        let folder = Folder::with(&[("a.mlir", text)]);
        let run = folder.run(&["a.mlir"]);
        assert_eq!(run.err, "", "{text:.60}");
        assert!(run.code == 1 || text == "\0", "{text:.60}: {run:?}");
        assert!(run.out.len() < 5000, "{text:.60}");
    }
}

#[test]
fn statistics_count_the_codes() {
    let folder = Folder::with(&[("a.mlir", UNDEFINED), ("b.mlir", UNDEFINED), ("c.mlir", TUTORIAL)]);
    let run = folder.run(&["--statistics", "--output-format", "json-lines"]);
    assert_eq!(run.err, "       2  undefined-value\n       1  noise-overflow\n");
}
