//! `mlir-opt` of LLVM 19 as a judge: does it accept a text?

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Where `mlir-opt` of LLVM 19 may be: in `MLIR_OPT`, on the path, or where Debian puts it.
fn mlir_opt() -> Option<String> {
    let places =
        ["mlir-opt-19", "mlir-opt", "/usr/lib/llvm-19/bin/mlir-opt"].map(ToOwned::to_owned);
    std::env::var("MLIR_OPT").into_iter().chain(places).find(|it| {
        let version = Command::new(it).arg("--version").output();
        version.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains("LLVM version 19."))
    })
}

/// The names of the texts that it rejects, each with its first error; `None` where there is no
/// `mlir-opt`. Dialects that it does not know are allowed.
pub(crate) fn rejected(texts: &[(String, String)]) -> Option<Vec<String>> {
    let Some(tool) = mlir_opt() else {
        eprintln!("no mlir-opt of LLVM 19: nobody to ask");
        return None;
    };
    // One process for all of them: each is a part of one file.
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
        .expect("it told its version");
    let mut stdin = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || stdin.write_all(all.as_bytes()));
    let output = child.wait_with_output().expect("it runs");
    writer.join().expect("no panic").expect("it reads all of it");
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
fn a_rejected_text_is_named() {
    let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let texts = [text("a", "\"x\"() : () -> ()"), text("b", "\n\"y\"("), text("c", "// Nothing.")];
    if let Some(found) = rejected(&texts) {
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("b: "), "{found:?}");
    }
}
