//! Names, links, modes and streams of files, and failures to write.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::tool::{CLEAN, Folder, TUTORIAL};

#[cfg(unix)]
#[test]
fn keeps_hard_links_and_modes() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL), ("c.mlir", TUTORIAL)]);
    fs::hard_link(folder.path("a.mlir"), folder.path("b.txt")).expect("a link");
    fs::set_permissions(folder.path("c.mlir"), fs::Permissions::from_mode(0o640)).expect("a mode");
    assert_eq!(folder.run(&["--fix"]).code, 0);
    assert_ne!(folder.read("a.mlir"), TUTORIAL);
    assert_eq!(folder.read("b.txt"), folder.read("a.mlir"), "both names are of one file");
    let metadata = fs::metadata(folder.path("c.mlir")).expect("a file");
    assert_eq!(metadata.mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_file_under_two_names_is_fixed_once() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL)]);
    std::os::unix::fs::symlink("a.mlir", folder.path("b.mlir")).expect("a link");
    fs::hard_link(folder.path("a.mlir"), folder.path("c.mlir")).expect("a link");
    let run = folder.run(&["--fix", "a.mlir", "b.mlir", "c.mlir", "./a.mlir"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    assert_eq!(run.out.matches("inserted 3").count(), 1, "{run:?}");
    assert!(fs::symlink_metadata(folder.path("b.mlir")).expect("a link").is_symlink());
}

#[test]
fn long_names_can_be_fixed() {
    let name = format!("{}.mlir", "n".repeat(250));
    let folder = Folder::with_files(&[(&name, TUTORIAL)]);
    let run = folder.run(&["--fix"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_ne!(folder.read(&name), TUTORIAL);
}

#[cfg(unix)]
#[test]
fn appends_to_streams() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL)]);
    let tool = env!("CARGO_BIN_EXE_noisy-check");
    for (output, redirection) in [
        ("/dev/stdout", ">>log"),
        ("/dev/stderr", "2>>log"),
        ("/dev/fd/5", "5>>log"),
        ("link", ">>log"),
    ] {
        folder.write("log", "before\n");
        let _ = fs::remove_file(folder.path("link"));
        std::os::unix::fs::symlink("/dev/stdout", folder.path("link")).expect("a link");
        let script = format!(
            "{tool} a.mlir --output-format concise -o {output} {redirection}; echo after >>log"
        );
        folder.shell(&script);
        let log = folder.read("log");
        assert!(log.starts_with("before\na.mlir:7:"), "{output}: {log}");
        assert!(log.ends_with("after\n"), "{output}: {log}");
    }
    let piped =
        folder.shell(&format!("{tool} a.mlir --output-format concise -o /dev/stdout | cat"));
    assert!(String::from_utf8_lossy(&piped.stdout).starts_with("a.mlir:7:"), "{piped:?}");
}

#[test]
fn an_input_cannot_be_an_output() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL), ("b.mlir", CLEAN)]);
    for output in ["a.mlir", "./a.mlir"] {
        let run = folder.run(&["-o", output]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains("this is an input file"), "{run:?}");
        assert_eq!(folder.read("a.mlir"), TUTORIAL);
    }
    // The input is in another shard, or the output is of another kind.
    folder.write("noisy.toml", "");
    let calls: [&[&str]; 6] = [
        &["--shard", "1/2", "-o", "a.mlir"],
        &["--shard", "2/2", "-o", "a.mlir"],
        &["--fix", "--certificate", "a.mlir", "a.mlir"],
        &["--diff", "--certificate", "./a.mlir", "a.mlir"],
        &["graph", "a.mlir", "-o", "a.mlir"],
        &["-o", "noisy.toml"],
    ];
    for args in calls {
        let run = folder.run(args);
        assert!(run.code == 2 && run.err.contains("this is an input file"), "{args:?}: {run:?}");
        assert_eq!(folder.read("a.mlir"), TUTORIAL);
        assert_eq!(folder.read("noisy.toml"), "");
    }
    let baseline = ["--write-baseline", "known"];
    assert_eq!(folder.run(&baseline).code, 0);
    assert_eq!(folder.run(&["--baseline", "known", "-o", "known"]).code, 2);
}

#[cfg(unix)]
#[test]
fn a_new_output_has_the_usual_mode() {
    use std::os::unix::fs::MetadataExt;
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL)]);
    let tool = env!("CARGO_BIN_EXE_noisy-check");
    folder.shell(&format!("umask 027; {tool} --no-cache a.mlir -o out; touch beside"));
    let mode = |name| fs::metadata(folder.path(name)).expect("a file").mode() & 0o777;
    assert_eq!(mode("out"), mode("beside"));
    let left = fs::read_dir(folder.path(".")).map(Iterator::count).ok();
    assert_eq!(left, Some(3), "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    let folder = Folder::new();
    for signal in ["INT", "TERM", "HUP"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_noisy-check"))
            .args(["-", "-o", "out"])
            .current_dir(folder.path("."))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the tool starts");
        // The process waits for more input after it has created its output.
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"func.func @f() {").expect("it reads");
        let n_files = || fs::read_dir(folder.path(".")).map(Iterator::count).unwrap_or_default();
        let begun = (0..2000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            n_files() == 1
        });
        assert!(begun, "the output was begun");
        let killed = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(killed.is_ok_and(|it| it.success()));
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(130), "{signal}");
        assert_eq!(n_files(), 0, "{signal}");
        drop(input);
    }
}

#[test]
fn control_characters_are_not_sent_to_a_terminal() {
    let text = "func.func @\"f\\1B\u{1b}[2J\"(%a: !noisy.i32) {\n  // \u{1b}]0;x\u{7}\u{9b}\u{202e}\u{61c}\u{200b}\n  %0 = noisy.mul %a, %a : !noisy.i32 // \u{1b}[31m\n  \
                %1 = noisy.mul %0, %0 : !noisy.i32 // \u{1b}[31m\n  \"\u{1b}[2J\"(%u) : (i32) -> ()\n  return\n}\n";
    let folder = Folder::with_files(&[("a\u{1b}[2J.mlir", text)]);
    for format in ["full", "concise", "github"] {
        for color in ["always", "never"] {
            let run = folder.run(&["--output-format", format, "--color", color, "--statistics"]);
            let said = (run.out + &run.err).replace("\u{1b}[0m", "");
            // The only escape sequences are the colors of the tool, which consist of numbers.
            let mut rest = said.as_str();
            while let Some(at) = rest.find('\u{1b}') {
                let after = rest[at + 1..].strip_prefix('[').expect("a color");
                let end = after.find('m').expect("a color");
                assert!(
                    after[..end].bytes().all(|it| it.is_ascii_digit() || it == b';'),
                    "{format} {after}"
                );
                assert_ne!(color, "never", "{format} {said}");
                assert!(!after.starts_with("31m\n"), "{format}: a color of the source {said}");
                rest = &after[end + 1..];
            }
            assert!(
                !said.contains(['\u{7}', '\u{9b}', '\u{202e}', '\u{61c}', '\u{200b}']),
                "{format} {said:?}"
            );
            assert!(said.contains("a\u{241b}[2J.mlir"), "{format} {said}");
        }
    }
}

#[cfg(unix)]
#[test]
fn names_cannot_start_an_output_line() {
    let name = "x\n::error::y\u{1b}[2J\".mlir";
    let program = TUTORIAL.replace("@tutorial", r#"@"f\0A::error::g""#);
    let unknown = r#"func.func @f() {
  func.call @"h\0A::error::i"() : () -> ()
  return
}
"#;
    let files = [(name, program.as_str()), ("u\n::error::v.mlir", unknown)];
    let runs: [&[&str]; 17] = [
        &[],
        &["--output-format", "concise"],
        &["--output-format", "grouped"],
        &["--output-format", "pylint"],
        &["--output-format", "github"],
        &["--output-format", "azure"],
        &["--output-format", "concise", "--max-diagnostics", "0"],
        &["--show-files"],
        &["--show-settings"],
        &["--verify-diagnostics"],
        &["--dump", "tokens"],
        &["--diff", "--statistics"],
        &["--fix", "--statistics"],
        &["format", "--diff", "."],
        &["format", "--check", "."],
        &["format", "."],
        &["graph", name, "--function", "none", "--format", "svg"],
    ];
    for args in runs {
        let folder = Folder::with_files(&files);
        folder.write("bad\n::error::w.mlir", b"\xff");
        let run = folder.run(args);
        let said = run.out + &run.err;
        assert!(!said.is_empty(), "{args:?}");
        assert!(!said.lines().any(|it| it.starts_with("::error::")), "{args:?} {said}");
        assert!(!said.contains('\u{1b}'), "{args:?} {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_configuration_in_a_folder_of_any_name_counts() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let inside = folder.path(".").join(std::ffi::OsStr::from_bytes(b"\xff"));
    fs::create_dir(&inside).expect("a folder");
    fs::write(inside.join("a.mlir"), TUTORIAL).expect("a file");
    fs::write(inside.join("noisy.toml"), "rules.all = \"off\"\n").expect("a file");
    assert_eq!(folder.run(&[]).code, 0);
}

#[test]
fn a_file_that_is_too_large_fails_alone() {
    let folder = Folder::with_files(&[("a.mlir", CLEAN), ("b.mlir", "")]);
    let large = fs::OpenOptions::new().write(true).open(folder.path("b.mlir")).expect("a file");
    // A sparse file, which needs no disk space.
    large.set_len((1 << 30) + 1).expect("a large file");
    let run = folder.run(&[]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("b.mlir: the file is too large"), "{run:?}");
    assert!(run.out.contains("No problems in 1 file."), "{run:?}");
}
