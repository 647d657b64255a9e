//! Runs `mlir-opt` of LLVM 19: checks if it accepts texts, and gets the generic form that it
//! prints.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the command `mlir-opt` of LLVM 19, from `MLIR_OPT`, the path, or the folder of Debian's
/// package.
///
/// # Panics
///
/// Panics if `CI` is set and the command is missing: CI must not skip the comparison.
fn mlir_opt() -> Option<String> {
    let places =
        ["mlir-opt-19", "mlir-opt", "/usr/lib/llvm-19/bin/mlir-opt"].map(ToOwned::to_owned);
    let found = std::env::var("MLIR_OPT").into_iter().chain(places).find(|it| {
        let version = Command::new(it).arg("--version").output();
        version.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains("LLVM version 19."))
    });
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "mlir-opt of LLVM 19 is missing");
        eprintln!("skipped: mlir-opt of LLVM 19 is missing");
    }
    found
}

/// Returns the generic form of the programs of a file; `None` without `mlir-opt`.
pub(crate) fn generic_form(path: &Path) -> Option<String> {
    let output = Command::new(mlir_opt()?)
        .args(["--allow-unregistered-dialect", "--split-input-file", "--mlir-print-op-generic"])
        .arg(path)
        .output()
        .expect("mlir-opt ran before");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", path.display());
    Some(String::from_utf8(output.stdout).expect("mlir-opt prints UTF-8"))
}

/// Returns the names of the texts that `mlir-opt` rejects, each with its first error; `None`
/// without `mlir-opt`. Unknown dialects are allowed.
pub(crate) fn rejected(texts: &[(String, String)]) -> Option<Vec<String>> {
    let tool = mlir_opt()?;
    // One process checks all texts: each is a chunk of its input.
    let mut all = String::new();
    let mut starts = Vec::new();
    for (_, text) in texts {
        starts.push(all.lines().count() + 1);
        all += text.trim_end();
        all += "\n// -----\n";
    }
    let mut child = Command::new(tool)
        .args(["--allow-unregistered-dialect", "--split-input-file", "-o", "/dev/null", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mlir-opt ran before");
    let mut stdin = child.stdin.take().expect("the input is a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(all.as_bytes()));
    let output = child.wait_with_output().expect("mlir-opt runs");
    writer.join().expect("no panic").expect("mlir-opt reads all of it");
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut out = Vec::new();
    let mut seen = None;
    for line in errors.lines().filter(|it| it.contains(": error: ")) {
        // `within split at <stdin>:12 offset :3:4: error: ...`
        let start = line
            .split_once("<stdin>:")
            .and_then(|it| it.1.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok());
        let at = start.and_then(|start| starts.iter().rposition(|it| *it <= start + 1));
        if at.is_none() || at != seen {
            let name = at.map_or("somewhere", |it| &texts[it].0);
            out.push(format!("{name}: {line}"));
        }
        seen = at;
    }
    assert!(output.status.success() || !out.is_empty(), "{errors}");
    Some(out)
}

#[test]
fn names_a_rejected_text() {
    let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let texts = [text("a", "\"x\"() : () -> ()"), text("b", "\n\"y\"("), text("c", "// Nothing.")];
    if let Some(found) = rejected(&texts) {
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("b: "), "{found:?}");
    }
}
