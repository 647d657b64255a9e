//! Baselines: known and new findings.

use crate::tool::{Folder, TUTORIAL, UNDEFINED, examples};

#[test]
fn a_baseline_keeps_old_findings_quiet() {
    // The same line several times, with different indentation.
    let same = |n: usize| vec![UNDEFINED; n].join("// -----\n  ");
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL), ("b.mlir", &same(3))]);
    let run = folder.run(&["--write-baseline", "old.json"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", "old.json: 4 findings\n"));
    let checked = || {
        let run = folder.run(&["--baseline", "old.json", "--output-format", "concise", "-q"]);
        (run.code, run.out)
    };
    assert_eq!(checked(), (0, String::new()));
    // Moved lines are known; one more equal finding is new.
    folder.write("a.mlir", format!("// new\n\n{TUTORIAL}"));
    assert_eq!(checked(), (0, String::new()));
    folder.write("b.mlir", same(4));
    let (code, out) = checked();
    assert!(
        code == 1 && out.starts_with("b.mlir:7:9: error[") && out.lines().count() == 1,
        "{out}"
    );
    folder.write("c.mlir", TUTORIAL);
    assert_eq!(checked().1.lines().count(), 2);
    for (text, said) in [
        ("[]", "not a baseline file"),
        (
            "{\"version\": 1, \"findings\": []}",
            "baseline of version 1; this program reads version 2",
        ),
        ("", "not a baseline file"),
    ] {
        folder.write("wrong.json", text);
        let run = folder.run(&["--baseline", "wrong.json"]);
        assert!(run.code == 2 && run.err.contains(said), "{run:?}");
    }
    assert_eq!(folder.run(&["--baseline", "gone.json"]).code, 2);
    assert_eq!(folder.run(&["--write-baseline", "a.mlir"]).code, 2, "it is an input");
    assert!(folder.read("a.mlir").ends_with(TUTORIAL));
}

#[test]
fn findings_are_known_after_lines_move() {
    let (folder, options) = examples();
    let check = |more: &[&str]| folder.run(&[&options[..], more].concat());
    let run = check(&["--write-baseline", "old.json"]);
    let n: usize = run.err.split(' ').nth(1).expect("a number").parse().expect("a number");
    assert!(run.code == 0 && n > 100, "{run:?}");
    for (name, text) in folder.programs() {
        folder.write(&name, format!("// moved\n\n{text}"));
    }
    let run = check(&["--baseline", "old.json", "--error-on-warning", "--quiet"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""), "{run:?}");
}

#[cfg(unix)]
#[test]
fn the_spelling_of_paths_does_not_matter() {
    let folder = Folder::with_files(&[("src/a.mlir", TUTORIAL), ("src/sub/b.mlir", UNDEFINED)]);
    let root = folder.path("");
    let root = root.to_str().expect("UTF-8");
    let tool = env!("CARGO_BIN_EXE_noisy-check");
    let absolute = format!("'{root}/src'");
    let mut texts = Vec::new();
    for paths in ["src", "./src", "src/../src/.", "src//a.mlir ./src/sub", absolute.as_str()] {
        let run = folder.shell(&format!("{tool} --write-baseline old.json {paths}"));
        assert_eq!(run.status.code(), Some(0), "{paths}: {run:?}");
        texts.push(folder.read("old.json"));
    }
    assert!(texts.iter().all(|it| *it == texts[0]), "{texts:?}");
    assert!(texts[0].contains("\"filename\": \"src/a.mlir\""), "{}", texts[0]);
    let known = |at: &str, baseline: &str, paths: &str| {
        let script = format!("cd '{root}/{at}' && {tool} -q --baseline '{baseline}' {paths}");
        let run = folder.shell(&script);
        (run.status.code(), String::from_utf8_lossy(&run.stdout).into_owned())
    };
    let from_root = format!("{root}/old.json");
    for (at, baseline, paths) in [
        ("", "old.json", "src"),
        ("", "./old.json", "./src ././src/sub/b.mlir"),
        ("", "src/../old.json", "src/./a.mlir src/../src/sub"),
        ("", "old.json", absolute.as_str()),
        ("src", "../old.json", ".."),
        ("src/sub", from_root.as_str(), ".. ./b.mlir"),
    ] {
        assert_eq!(known(at, baseline, paths), (Some(0), String::new()), "{at} {paths}");
    }
    // A link to the folder means the same folder.
    std::os::unix::fs::symlink(root, folder.path("link")).expect("a link");
    assert_eq!(known("", "link/old.json", "src link/src"), (Some(0), String::new()));
    // The same program in another folder has new findings.
    folder.write("src/sub/a.mlir", TUTORIAL);
    assert_eq!(known("src", "../old.json", "sub").0, Some(1));
}

#[test]
fn standard_input_is_known_by_its_name() {
    let folder = Folder::with_files(&[("src/a.mlir", TUTORIAL)]);
    let check = |args: &[&str]| folder.run_with(args, TUTORIAL, &[]).code;
    assert_eq!(check(&["--write-baseline", "old.json", "-"]), 0);
    assert!(folder.read("old.json").contains("\"<stdin>\""), "{}", folder.read("old.json"));
    assert_eq!(check(&["--baseline", "old.json", "-"]), 0);
    assert_eq!(check(&["--baseline", "old.json", "src"]), 1);
    // An editor passes the name of the file.
    assert_eq!(check(&["--write-baseline", "old.json", "src"]), 0);
    assert_eq!(check(&["--baseline", "old.json", "-"]), 1);
    let name = ["--stdin-filename", "./src/a.mlir"];
    assert_eq!(check(&[&["--baseline", "old.json", "-"][..], &name].concat()), 0);
}

#[cfg(unix)]
#[test]
fn the_working_directory_does_not_matter() {
    let folder = Folder::with_files(&[("src/a.mlir", TUTORIAL), ("src/b.mlir", UNDEFINED)]);
    let tool = env!("CARGO_BIN_EXE_noisy-check");
    let shell = |script: &str| {
        let run = folder.shell(&script.replace("noisy-check", tool));
        assert_eq!(run.status.code(), Some(0), "{script}: {run:?}");
    };
    shell("noisy-check --write-baseline here.json src");
    shell("mkdir ci && cp here.json ci/copy.json");
    for script in [
        "cd src && noisy-check --write-baseline ../there.json ..",
        "cd ci && noisy-check --write-baseline ../there.json ../src",
        // A baseline from a stream counts as a file in the current folder.
        "noisy-check --write-baseline /dev/stdout src > there.json",
    ] {
        shell(script);
        assert_eq!(folder.read("there.json"), folder.read("here.json"), "{script}");
        folder.write("there.json", "");
    }
    shell("noisy-check --baseline /dev/stdin src < here.json");
    shell("cat here.json | noisy-check --baseline /dev/stdin ./src");
    // A baseline in another folder contains other relative names.
    shell("noisy-check --write-baseline ci/old.json src");
    assert!(folder.read("ci/old.json").contains("\"../src/a.mlir\""));
    shell(
        "noisy-check --baseline ci/old.json ./src && cd ci && noisy-check --baseline old.json ..",
    );
    let run = folder.run(&["--baseline", "ci/copy.json", "src"]);
    assert_eq!(run.code, 1, "it was written for files beside it: {run:?}");
}
