//! Names of files in diffs and in formats for programs.

use serde_json::Value;

use crate::tool::{CLEAN, Folder, TUTORIAL, UNDEFINED};

#[test]
fn machine_formats_contain_normalized_paths() {
    let folder = Folder::with_files(&[("src/a b.mlir", TUTORIAL), ("src/c.mlir", CLEAN)]);
    folder.write("src/bad.mlir", b"\xff");
    let run = |format: &str, paths: &[&str]| {
        folder.run(&[&["--output-format", format, "--no-cache"][..], paths].concat())
    };
    for format in [
        "json",
        "json-lines",
        "sarif",
        "github",
        "azure",
        "gitlab",
        "junit",
        "checkstyle",
        "rdjson",
        "pylint",
    ] {
        let wanted = run(format, &["src"]).out;
        let name = if format == "sarif" { "src/a%20b.mlir" } else { "src/a b.mlir" };
        assert!(wanted.contains(name) && wanted.contains("src/bad.mlir"), "{format}: {wanted}");
        let files = ["./src/.//a b.mlir", "././src//bad.mlir", "src/./c.mlir"];
        for paths in [&["./src"][..], &["src/.//"], &files] {
            assert_eq!(run(format, paths).out, wanted, "{format}: {paths:?}");
        }
    }
    // Formats for people contain the typed name.
    let run = run("concise", &["./src/.//a b.mlir"]);
    assert!(run.out.starts_with("./src/.//a b.mlir:7:8: "), "{run:?}");
}

/// The rules of a log, and its results.
fn sarif(out: &str) -> (Vec<Value>, Vec<Value>) {
    let log: Value = serde_json::from_str(out).expect("JSON");
    let run = &log["runs"][0];
    let all = |it: &Value| it.as_array().expect("an array").clone();
    (all(&run["tool"]["driver"]["rules"]), all(&run["results"]))
}

#[test]
fn sarif_has_rules_of_failures() {
    let folder = Folder::with_files(&[
        ("a.mlir", UNDEFINED),
        ("sub/b.mlir", CLEAN),
        ("sub/noisy.toml", "wrong = 1\n"),
    ]);
    folder.write("bad.mlir", b"\xff");
    let run = folder.run(&["--output-format", "sarif", "gone.mlir", "."]);
    assert_eq!(run.code, 2, "{run:?}");
    let (rules, results) = sarif(&run.out);
    let mut codes: Vec<&str> = Vec::new();
    for it in &results {
        let rule = &rules[it["ruleIndex"].as_u64().expect("an index") as usize];
        assert_eq!(rule["id"], it["ruleId"]);
        assert!(rule["shortDescription"]["text"].is_string(), "{rule}");
        codes.push(it["ruleId"].as_str().expect("a code"));
    }
    codes.sort_unstable();
    assert_eq!(codes, ["invalid-configuration", "invalid-utf8", "io-error", "undefined-value"]);
}

#[cfg(unix)]
#[test]
fn sarif_escapes_backslashes() {
    let folder = Folder::with_files(&[("src/c\\d.mlir", UNDEFINED)]);
    let run = folder.run(&["--output-format", "sarif"]);
    let (_, results) = sarif(&run.out);
    let place = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(place["uri"], "src/c%5Cd.mlir");
}

#[cfg(unix)]
#[test]
fn diffs_with_unusual_names_can_be_applied() {
    let text = TUTORIAL.replace("  %8", "      %8");
    let tool = env!("CARGO_BIN_EXE_noisy-check");
    // Each name as typed, and as written in a diff, where a tab ends a name with blanks.
    for (name, typed, head) in [
        ("dot.mlir", "./dot.mlir", "dot.mlir"),
        ("src/in.mlir", "././src/.//in.mlir", "src/in.mlir"),
        ("a b.mlir", "'a b.mlir'", "a b.mlir\t"),
        ("a b/c d.mlir", "'./a b'", "a b/c d.mlir\t"),
        (
            "sub dir/x\n\t\u{1b}\u{9b}\\\"\u{e4}.mlir",
            ".",
            "\"sub dir/x\\n\\t\\033\\302\\233\\\\\\\"\u{e4}.mlir\"\t",
        ),
    ] {
        for args in ["--diff", "format --diff"] {
            let folder = Folder::with_files(&[(name, &text)]);
            let made = folder.shell(&format!("{tool} {args} {typed} > diff; head -2 diff"));
            let made = String::from_utf8_lossy(&made.stdout).into_owned();
            assert_eq!(made, format!("--- {head}\n+++ {head}\n"), "{args}");
            // Not every machine has these programs, and other programs with the same name support
            // less.
            for (version, apply) in [
                ("git --version", "git apply -p0 diff"),
                ("patch --version | grep GNU", "patch -p0 -i diff"),
            ] {
                if !folder.shell(version).status.success() {
                    continue;
                }
                folder.write(name, &text);
                let applied = folder.shell(apply);
                assert!(applied.status.success(), "{args} {typed}: {applied:?}");
                assert_ne!(folder.read(name), text, "{args} {typed}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_keep_their_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let path = |name: &[u8]| folder.path(".").join(OsStr::from_bytes(name));
    let (name, text) = (path(b"\xff b.mlir"), TUTORIAL.replace("  %8", "      %8"));
    // Not every file system has such names.
    if std::fs::write(&name, &text).is_err() {
        return;
    }
    let tool = env!("CARGO_BIN_EXE_noisy-check");
    let head = "\"\\377 b.mlir\"\t";
    for args in ["--diff", "format --diff"] {
        let made = folder.shell(&format!("{tool} {args} . > diff; head -2 diff"));
        let made = String::from_utf8_lossy(&made.stdout).into_owned();
        assert_eq!(made, format!("--- {head}\n+++ {head}\n"), "{args}");
        if folder.shell("git --version").status.success() {
            std::fs::write(&name, &text).expect("a file");
            let applied = folder.shell("git apply -p0 diff");
            assert!(applied.status.success(), "{args}: {applied:?}");
            assert_ne!(std::fs::read_to_string(&name).ok().as_ref(), Some(&text), "{args}");
        }
        std::fs::write(&name, &text).expect("a file");
    }
    std::fs::write(path(b"\xfe.mlir"), b"\xff").expect("a file");
    let run = folder.run(&["--output-format", "sarif"]);
    let (_, results) = sarif(&run.out);
    let place = |it: &Value| it["locations"][0]["physicalLocation"]["artifactLocation"].clone();
    let uris: Vec<Value> = results.iter().map(|it| place(it)["uri"].clone()).collect();
    assert_eq!(uris, ["%FE.mlir", "%FF%20b.mlir"]);
}
