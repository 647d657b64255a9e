//! The checked files, and reports about files that cannot be checked.

use crate::tool::{CLEAN, Folder, Run, TUTORIAL, UNDEFINED};

fn names(run: &Run) -> Vec<&str> {
    run.out.lines().filter_map(|it| it.split_once(".mlir:").map(|it| it.0)).collect()
}

#[test]
fn exit_codes() {
    let folder = Folder::with_files(&[("clean.mlir", CLEAN), ("tutorial.mlir", TUTORIAL)]);
    let code = |args: &[&str]| folder.run(args).code;
    assert_eq!(code(&["clean.mlir"]), 0);
    assert_eq!(code(&["tutorial.mlir"]), 1);
    assert_eq!(code(&["--exit-zero", "tutorial.mlir"]), 0);
    assert_eq!(code(&["--no-such-option"]), 2);
    assert_eq!(code(&["--time-limit", "soon"]), 2);
    assert_eq!(code(&["missing.mlir", "--exit-zero"]), 2);
    assert_eq!(code(&["--version"]), 0);
}

#[test]
fn every_exit_code_is_listed() {
    let folder = Folder::new();
    for (args, codes) in [
        (&["--help"][..], &["0", "1", "2", "101", "130"][..]),
        (&["format", "--help"], &["0", "1", "2", "101", "130"]),
        (&["verify-certificate", "--help"], &["0", "1", "2", "130"]),
    ] {
        let help = folder.run(args).out;
        let list = help.split_once("Exit codes: ").expect("a list").1;
        let listed: Vec<&str> =
            list.split_whitespace().filter(|it| it.bytes().all(|it| it.is_ascii_digit())).collect();
        assert_eq!(listed, codes, "{args:?}");
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/checker.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for code in ["0", "1", "2", "101", "130"] {
        assert!(page.contains(&format!("\n| {code} | ")), "{code}");
    }
}

#[test]
fn walks_folders_in_order_and_respects_gitignore() {
    let folder = Folder::with_files(&[
        ("b/2.mlir", UNDEFINED),
        ("b/1.mlir", UNDEFINED),
        ("a.mlir", UNDEFINED),
        ("a.txt", UNDEFINED),
        ("ignored/c.mlir", UNDEFINED),
        (".gitignore", "ignored/\n"),
    ]);
    assert_eq!(names(&folder.run(&["--output-format", "concise"])), ["a", "b/1", "b/2"]);
    assert_eq!(
        names(&folder.run(&["--output-format", "concise", "b", "a.mlir", "b/1.mlir"])),
        ["b/1", "b/2", "a"]
    );
    assert_eq!(
        names(&folder.run(&["--output-format", "concise", "ignored/c.mlir"])),
        ["ignored/c"],
        "named, so wanted"
    );
    assert!(
        folder.run(&["a.txt", "--output-format", "concise"]).out.starts_with("a.txt:1:"),
        "whatever its name"
    );
}

#[cfg(unix)]
#[test]
fn skips_folders_with_invalid_ignore_files() {
    let folder = Folder::with_files(&[
        ("a/large/b.mlir", UNDEFINED),
        ("a/large/.gitignore", &"x*/**/y?z\n".repeat(60_000)),
        ("a/pipe/b.mlir", UNDEFINED),
        ("a/endless/b.mlir", UNDEFINED),
        ("a/good/b.mlir", UNDEFINED),
        ("a/good/c.mlir", UNDEFINED),
        ("a/good/.gitignore", "c.mlir\n/sub\n"),
        ("a/good/sub/d.mlir", UNDEFINED),
        ("ignored/b.mlir", UNDEFINED),
        (".ignore", "ignored\n"),
    ]);
    assert!(folder.shell("mkfifo a/pipe/.gitignore ignored/.gitignore").status.success());
    assert!(folder.shell("ln -s /dev/zero a/endless/.ignore").status.success());
    let run = folder.run(&["--show-files", "a"]);
    assert_eq!((run.code, run.out.as_str()), (2, "a/good/b.mlir\n"), "{run:?}");
    let said: Vec<_> = run.err.lines().map(|it| it.split(';').next().unwrap_or_default()).collect();
    assert_eq!(
        said,
        [
            "noisy-check: a/endless/.ignore: the ignore file is not a regular file",
            "noisy-check: a/large/.gitignore: the ignore file is larger than 512 KiB",
            "noisy-check: a/pipe/.gitignore: the ignore file is not a regular file",
        ]
    );
    // Ignored files are not opened.
    let run = folder.run(&["--show-files"]);
    assert_eq!((run.out.as_str(), run.err.lines().count()), ("a/good/b.mlir\n", 3), "{run:?}");
    // The ignore files of ancestors count too.
    assert!(folder.shell("mkdir a/pipe/sub && cp a/good/b.mlir a/pipe/sub").status.success());
    for path in ["a/pipe", "a/pipe/sub"] {
        let run = folder.run(&["--show-files", path]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains("a/pipe/.gitignore: the ignore file is not"), "{run:?}");
        let run = folder.run(&["format", "--check", path]);
        assert!(run.err.contains("a/pipe/.gitignore: the ignore file is not"), "{run:?}");
    }
    let run = folder.run(&["--show-files", "--no-respect-gitignore", "a"]);
    assert_eq!((run.code, run.out.lines().count()), (0, 7), "{run:?}");
}

#[test]
fn reports_unreadable_files_once_and_checks_the_rest() {
    let folder = Folder::with_files(&[("empty/readme", ""), ("good.mlir", UNDEFINED)]);
    folder.write("bad.mlir", b"// \xc3\xa9\n  a\xff");
    let run = folder.run(&[
        "missing.mlir",
        "empty",
        "bad.mlir",
        "good.mlir",
        "--output-format",
        "concise",
    ]);
    assert_eq!(run.code, 2);
    assert_eq!(names(&run), ["good"]);
    assert_eq!(
        run.err,
        "noisy-check: missing.mlir: No such file or directory\n\
         noisy-check: empty: no .mlir files in this folder\n\
         noisy-check: bad.mlir:2:4: the file is not valid UTF-8\n"
    );
    let run = folder.run(&["bad.mlir", "good.mlir", "--output-format", "json-lines"]);
    assert!(
        run.out.contains(r#""code":"invalid-utf8""#) && run.out.contains("undefined-value"),
        "{}",
        run.out
    );
}

#[test]
fn empty_files_and_junk() {
    let folder = Folder::with_files(&[
        ("empty.mlir", ""),
        ("blank.mlir", " \n\n"),
        ("comment.mlir", "// only"),
    ]);
    assert_eq!(folder.run(&[]).code, 0);
    folder.write("junk.mlir", (0..=127_u8).cycle().take(5000).collect::<Vec<_>>());
    let run = folder.run(&["junk.mlir"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
}

#[test]
fn standard_input_has_a_name() {
    let folder = Folder::new();
    let run = folder.run_with(
        &["-", "--stdin-filename", "x.mlir", "--output-format", "concise"],
        UNDEFINED,
        &[],
    );
    assert_eq!(names(&run), ["x"]);
    let run = folder.run_with(&["-", "--output-format", "concise"], UNDEFINED, &[]);
    assert!(run.out.starts_with("<stdin>:1:"), "{}", run.out);
}

#[test]
fn a_closed_pipe_is_not_a_crash() {
    let folder = Folder::with_files(&[("a.mlir", &UNDEFINED.repeat(20_000))]);
    let pipeline = format!(
        "{} --output-format json-lines a.mlir | head -1",
        env!("CARGO_BIN_EXE_noisy-check")
    );
    let output = folder.shell(&pipeline);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.stdout.starts_with(b"{"));
}

#[test]
fn output_to_a_file() {
    let folder = Folder::with_files(&[("tutorial.mlir", TUTORIAL)]);
    let run =
        folder.run(&["--no-cache", "--output-format", "json-lines", "--output-file", "out.json"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(folder.read("out.json").contains("noise-overflow"));
    let n = std::fs::read_dir(folder.path(".")).expect("there").count();
    assert_eq!(n, 2, "nothing is left behind");
    // An input is not overwritten, even if it was found in a folder.
    folder.write("report.mlir", UNDEFINED);
    let run = folder.run(&["--output-format", "concise", "--output-file", "report.mlir"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(folder.read("report.mlir"), UNDEFINED);
}

#[cfg(unix)]
#[test]
fn an_output_file_is_replaced_where_it_is() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::with_files(&[("a.mlir", UNDEFINED), ("real/out.txt", "old")]);
    symlink("real/out.txt", folder.path("out.txt")).expect("a link");
    set_permissions(folder.path("real/out.txt"), Permissions::from_mode(0o640)).expect("ours");
    assert_eq!(folder.run(&["--output-file", "out.txt", "a.mlir"]).code, 1);
    assert!(folder.path("out.txt").is_symlink());
    assert!(folder.read("real/out.txt").contains("undefined"));
    let mode = folder.path("real/out.txt").metadata().expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_run_that_fails_leaves_the_old_output_file() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL), ("out.txt", "old")]);
    // In this test no file may exceed 1024 bytes.
    let script = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} --isolated --no-cache a.mlir --output-format sarif --output-file out.txt",
        env!("CARGO_BIN_EXE_noisy-check")
    );
    let run = folder.shell(&script);
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.starts_with("noisy-check: out.txt: "), "{said}");
    assert_eq!(folder.read("out.txt"), "old");
    // The old file also stays if the arguments are wrong.
    assert_eq!(folder.run(&["--output-file", "out.txt", "--config", "none.toml"]).code, 2);
    assert_eq!(folder.read("out.txt"), "old");
    let n = std::fs::read_dir(folder.path(".")).expect("there").count();
    assert_eq!(n, 2, "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn does_not_block_on_pipes() {
    let folder = Folder::with_files(&[("bad.mlir", UNDEFINED), ("dir.mlir/in.mlir", UNDEFINED)]);
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe.mlir")).status();
    assert!(made.is_ok_and(|it| it.success()));
    std::os::unix::fs::symlink("dir.mlir", folder.path("link.mlir")).expect("a link");
    let run = folder.run(&["--output-format", "concise"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_eq!(names(&run), ["bad", "dir.mlir/in"]);
}

#[test]
fn reports_missing_files_once() {
    let folder = Folder::with_files(&[("good.mlir", CLEAN)]);
    let run = folder.run(&["gone.mlir", "./gone.mlir", "good.mlir", "gone.mlir"]);
    assert_eq!((run.code, run.err.matches("gone.mlir").count()), (2, 1), "{}", run.err);
    assert_eq!(run.out, "No problems in 1 file. 1 file could not be checked.\n");
}

#[cfg(unix)]
#[test]
fn handles_dangling_and_circular_links() {
    use std::os::unix::fs::symlink;
    let folder = Folder::with_files(&[("tree/good.mlir", UNDEFINED)]);
    symlink("loop.mlir", folder.path("loop.mlir")).expect("a link");
    symlink("..", folder.path("tree/up")).expect("a link");
    symlink("gone.mlir", folder.path("tree/broken.mlir")).expect("a link");
    symlink("good.mlir", folder.path("tree/again.mlir")).expect("a link");
    let run = folder.run(&["loop.mlir", "tree", "./tree/good.mlir", "--output-format", "concise"]);
    assert_eq!(run.code, 2);
    let reason =
        run.err.lines().map(|it| it.split(": ").nth(1).unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(reason, ["loop.mlir", "tree/broken.mlir"], "{}", run.err);
    assert_eq!(names(&run), ["tree/again", "tree/good"]);
}
