//! Expectations of users about commands, outputs and exit codes.

use crate::tool::{CLEAN, Folder, TUTORIAL};

/// A program with a redundant reduction, which is a hint.
const HINT: &str = "\
func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %0 = noisy.reduce_noise %a : !noisy.i32
  return %0 : !noisy.i32
}
";

#[test]
fn common_spellings_of_commands_work() {
    let folder = Folder::with_files(&[("a.mlir", CLEAN), ("b.mlir", TUTORIAL)]);
    let run = folder.run(&["help"]);
    assert!(run.code == 0 && run.out.contains("explain"), "{run:?}");
    let run = folder.run(&["help", "explain"]);
    assert!(run.code == 0 && run.out.contains("CODE"), "{run:?}");
    assert_eq!(folder.run(&["check", "a.mlir"]), folder.run(&["a.mlir"]));
    assert_eq!(folder.run(&["check", "b.mlir"]), folder.run(&["b.mlir"]));
    assert_eq!(
        folder.run(&["fmt", "--check", "a.mlir"]),
        folder.run(&["format", "--check", "a.mlir"])
    );
    for args in [["--time-limit", "-1"], ["--time-limit=-1", "a.mlir"]] {
        let run = folder.run(&args);
        assert_eq!(run.code, 2);
        assert!(run.err.contains("expected a number of seconds"), "{run:?}");
    }
    let run = folder.run(&["--help"]);
    assert!(run.out.contains("--dump"), "{run:?}");
}

#[test]
fn explain_alone_lists_the_codes() {
    let run = Folder::new().run(&["explain"]);
    assert_eq!(run.code, 0);
    for rule in noisy_analyses::Rule::all() {
        let line =
            run.out.lines().find(|it| it.trim_start().starts_with(&format!("{} ", rule.code())));
        assert!(line.is_some_and(|it| it.contains(rule.title())), "{}", rule.code());
    }
}

#[test]
fn no_output_replaces_a_file_of_another_kind_unless_forced() {
    let files = [("a.mlir", CLEAN), ("b.mlir", TUTORIAL), ("c.html", "<!doctype html>\n")];
    for args in [
        &["graph", "a.mlir", "--format", "html", "-o", "b.mlir"][..],
        &["nest", "a.mlir", "-o", "b.mlir"],
        &["a.mlir", "-o", "b.mlir"],
        &["a.mlir", "-o", "c.html"],
        &["a.mlir", "--output-format", "sarif", "-o", "b.mlir"],
        &["a.mlir", "--write-baseline", "b.mlir"],
        &["--fix", "a.mlir", "--certificate", "b.mlir"],
    ] {
        let folder = Folder::with_files(&files);
        let run = folder.run(args);
        assert_eq!(run.code, 2, "{args:?} {run:?}");
        assert!(run.err.contains("this file holds"), "{args:?} {run:?}");
        for (name, text) in files {
            assert_eq!(folder.read(name), text, "{args:?}");
        }
    }
    let folder = Folder::with_files(&files);
    assert_eq!(folder.run(&["a.mlir", "-o", "b.mlir", "--force"]).code, 0);
    assert_eq!(folder.read("b.mlir"), "No problems in 1 file.\n");
}

#[test]
fn an_empty_folder_is_not_an_unchecked_file() {
    let folder = Folder::with_files(&[("empty/notes.txt", "")]);
    let run = folder.run(&["empty"]);
    let said = "noisy-check: empty: no .mlir files in this folder\n";
    assert_eq!((run.code, &*run.err), (2, said));
    assert_eq!(run.out, "No files to check.\n");
}

#[test]
fn warnings_fail_a_junit_test_only_if_they_fail_the_run() {
    let folder = Folder::with_files(&[("hint.mlir", HINT)]);
    let options = ["hint.mlir", "--warn", "redundant-reduce", "--output-format", "junit"];
    let run = folder.run(&options);
    assert_eq!(run.code, 0);
    assert!(run.out.contains(" tests=\"1\" failures=\"0\""), "{run:?}");
    assert!(run.out.contains("<system-out>warning: hint.mlir:2:8: redundant-reduce: "), "{run:?}");
    let run = folder.run(&[&options[..], &["--error-on-warning"]].concat());
    assert_eq!(run.code, 1);
    assert!(run.out.contains(" tests=\"1\" failures=\"1\""), "{run:?}");
    assert!(run.out.contains("<failure type=\"warning\""), "{run:?}");
}

#[test]
fn a_file_that_is_no_certificate_is_wrong_usage() {
    let folder = Folder::with_files(&[("a.mlir", CLEAN), ("a.json", "{"), ("b.json", "hello\n")]);
    for name in ["a.json", "b.json", "a.mlir", "missing.json"] {
        let run = folder.run(&["verify-certificate", name, "a.mlir"]);
        assert_eq!((run.code, &*run.out), (2, ""), "{run:?}");
        assert!(run.err.contains(name), "{run:?}");
    }
}
