//! Runs the `noisy-opt` commands of the documentation.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the commands in shell blocks, without blocks that a comment marks as not run.
fn commands() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = vec![root.join("README.md")];
    let docs = fs::read_dir(root.join("docs")).expect("the documentation");
    paths.extend(docs.map(|it| it.expect("a file").path()));
    paths.retain(|it| it.extension().is_some_and(|it| it == "md"));
    paths.sort();
    let mut out = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a text");
        for (before, block) in text.split("```sh\n").zip(text.split("```sh\n").skip(1)) {
            if before.trim_end().ends_with("-->") {
                continue;
            }
            let lines = block.split("```").next().unwrap_or_default().lines();
            let lines = lines.map(|it| it.split(" #").next().unwrap_or_default().trim());
            out.extend(lines.filter(|it| it.starts_with("noisy-opt ")).map(str::to_owned));
        }
    }
    out
}

#[test]
fn every_command_runs() {
    let commands = commands();
    assert!(commands.len() > 8, "{commands:?}");
    let folder = std::env::temp_dir().join(format!("noisy-opt-docs-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let program = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  %1 = arith.addi %a, %a : i32\n  %2 = arith.muli %0, %1 : i32\n  return %2 : i32\n}\n";
    for command in commands {
        for name in ["program.mlir", "FILE"] {
            fs::write(folder.join(name), program).expect("a file");
        }
        // Reduction needs a check that fails while the program has an addition. Bisection needs a
        // check that fails once the program has fewer additions.
        let check = if command.contains("--reduce") {
            "! grep -q addi \"$1\"\n"
        } else {
            "[ \"$(grep -c addi \"$1\")\" -ge 2 ]\n"
        };
        fs::write(folder.join("check.sh"), check).expect("a file");
        let tool = env!("CARGO_BIN_EXE_noisy-opt");
        let script = command.replacen("noisy-opt", &format!("'{tool}'"), 1);
        let script = script.replace("./check.sh", "sh check.sh");
        let mut shell = Command::new("bash");
        let output = shell.args(["-c", &script]).current_dir(&folder).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command}: {said}");
    }
    let _ = fs::remove_dir_all(folder);
}
