//! `format`: written files, output, and exit codes.

use crate::tool::Folder;

const MESSY: &str = "func.func @f(%a : i32)->i32{\n// why\n return %a:i32 }\n";
const NEAT: &str = "func.func @f(%a: i32) -> i32 {\n  // why\n  return %a : i32\n}\n";
const BROKEN: &str = "func.func @f(%a : i32)->i32{\n return %a i32 }\n";

#[test]
fn files_are_formatted_in_place() {
    let folder = Folder::with_files(&[("a.mlir", MESSY), ("sub/b.mlir", NEAT), ("c.txt", MESSY)]);
    let run = folder.run(&["format", "."]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    assert_eq!(run.err, "1 file formatted, 1 file left unchanged\n");
    assert_eq!(folder.read("a.mlir"), NEAT);
    assert_eq!(folder.read("sub/b.mlir"), NEAT);
    assert_eq!(folder.read("c.txt"), MESSY);
    let again = folder.run(&["format", "--check", "."]);
    assert_eq!((again.code, again.err.as_str()), (0, "2 files left unchanged\n"));
}

#[test]
fn nothing_is_written_by_check_and_diff() {
    let folder = Folder::with_files(&[("a.mlir", MESSY)]);
    let check = folder.run(&["format", "--check", "a.mlir"]);
    assert_eq!((check.code, check.out.as_str()), (1, ""));
    assert_eq!(check.err, "would format a.mlir\n1 file would be formatted\n");
    let diff = folder.run(&["format", "--diff", "a.mlir"]);
    assert_eq!(diff.code, 1);
    folder.write("a.patch", &diff.out);
    assert_eq!(folder.read("a.mlir"), MESSY);
    assert!(folder.shell("patch -s a.mlir a.patch").status.success(), "{}", diff.out);
    assert_eq!(folder.read("a.mlir"), NEAT);
}

#[test]
fn formats_standard_input() {
    let folder = Folder::new();
    let run = folder.run_with(&["format", "-"], MESSY, &[]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, NEAT, ""));
    let run = folder.run_with(&["format", "--stdin-filename", "x.mlir", "-"], BROKEN, &[]);
    assert_eq!((run.code, run.out.as_str()), (1, BROKEN));
    assert!(run.err.starts_with("noisy-check: x.mlir:2:11: not formatted: "), "{}", run.err);
    let run = folder.run_with(&["format", "--check", "-"], NEAT, &[]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""));
}

#[test]
fn does_not_change_files_with_syntax_errors() {
    let folder = Folder::with_files(&[("a.mlir", BROKEN), ("b.mlir", MESSY)]);
    let run = folder.run(&["format", "a.mlir", "b.mlir"]);
    assert_eq!(run.code, 1);
    assert!(
        run.err.ends_with("1 file formatted, 1 file with syntax errors not formatted\n"),
        "{}",
        run.err
    );
    assert_eq!(folder.read("a.mlir"), BROKEN);
    assert_eq!(folder.read("b.mlir"), NEAT);
}

#[test]
fn reports_wrong_usage() {
    let folder = Folder::with_files(&[("a.mlir", NEAT)]);
    folder.write("latin.mlir", b"// \xFF\n");
    let run = folder.run(&["format", "latin.mlir"]);
    assert_eq!(
        (run.code, run.err.contains("latin.mlir:1:4: the file is not valid UTF-8")),
        (2, true),
        "{}",
        run.err
    );
    assert_eq!(folder.run(&["format"]).code, 2);
    assert_eq!(folder.run(&["format", "--check", "--diff", "a.mlir"]).code, 2);
    assert_eq!(folder.run(&["format", "missing.mlir"]).code, 2);
}

#[test]
fn excluded_files() {
    let config = "exclude = [\"generated/\"]\n";
    let folder = Folder::with_files(&[
        ("noisy.toml", config),
        ("generated/a.mlir", MESSY),
        ("b.mlir", MESSY),
        ("c.mlir", MESSY),
    ]);
    let run = folder.run(&["format", "--exclude", "c.mlir", "."]);
    assert_eq!(run.err, "1 file formatted\n");
    assert_eq!(folder.read("generated/a.mlir"), MESSY);
    let run = folder.run(&["format", "--isolated", "--exclude", "c.mlir", "."]);
    assert_eq!(run.err, "1 file formatted, 1 file left unchanged\n");
    assert_eq!(folder.read("c.mlir"), MESSY);
}
