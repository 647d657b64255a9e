//! The steps of the composite action, extracted from `action.yml` and run by the shell in the same
//! way as GitHub does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tool::{CLEAN, Folder, Run, TUTORIAL};

/// A step: its environment variables with their expressions, and its script.
#[derive(Debug, Default)]
struct Step {
    name: String,
    env: Vec<(String, String)>,
    script: String,
}

/// Returns the inputs with their defaults, and the steps. Parses only the part of YAML that the
/// file uses.
fn action() -> (BTreeMap<String, String>, Vec<Step>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../action.yml");
    let text = fs::read_to_string(path).expect("the action");
    let (mut inputs, mut steps) = (BTreeMap::new(), Vec::new());
    let (mut section, mut input, mut part) = ("", "", "");
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let word = line.trim();
        if part == "run" && (indent >= 8 || word.is_empty()) {
            let step: &mut Step = steps.last_mut().expect("a step");
            step.script += line.get(8..).unwrap_or_default();
            step.script += "\n";
            continue;
        }
        match indent {
            0 => section = word,
            2 if section == "inputs:" => input = word.trim_end_matches(':'),
            4 if section == "inputs:" => {
                if let Some(default) = word.strip_prefix("default: ") {
                    inputs.insert(input.to_owned(), default.trim_matches('"').to_owned());
                }
            }
            4 if word.starts_with("- name: ") => {
                steps.push(Step { name: word["- name: ".len()..].to_owned(), ..Step::default() });
            }
            6 => {
                part = word.trim_end_matches(['|', ' ', ':']);
                assert!(!word.starts_with("shell") || word == "shell: bash", "{word}");
            }
            8 if part == "env" => {
                let (name, value) = word.split_once(": ").expect(word);
                let step = steps.last_mut().expect("a step");
                step.env.push((name.to_owned(), value.to_owned()));
            }
            _ => {}
        }
    }
    (inputs, steps)
}

/// Runs a step in a folder, with inputs and a `PATH`; `hit` is the answer of the cache.
fn run(folder: &Folder, name: &str, given: &[(&str, &str)], path: &str, hit: &str) -> Run {
    let (mut inputs, steps) = action();
    for (name, value) in given {
        assert!(inputs.insert((*name).to_owned(), (*value).to_owned()).is_some(), "{name}");
    }
    let step = steps.iter().find(|it| it.name == name).expect(name);
    folder.write("step.sh", &step.script);
    folder.write("output", "");
    let mut command = Command::new("bash");
    // As GitHub runs `shell: bash`.
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "step.sh"]);
    command.current_dir(folder.path(".")).env("PATH", path);
    command.env("GITHUB_OUTPUT", "output").env("GITHUB_PATH", "paths");
    for (name, value) in &step.env {
        let mut text = value.clone();
        while let Some((before, rest)) = text.split_once("${{ ") {
            let (inside, after) = rest.split_once(" }}").expect("an end");
            let value = match inside.strip_prefix("inputs.") {
                Some(input) => &*inputs[input],
                None => match inside {
                    "github.action_path" => "the action",
                    "github.server_url" => "https://host",
                    "github.action_repository" => "some/one",
                    "runner.temp" => "temp",
                    "steps.source.outputs.path" => "temp/source",
                    "steps.source.outputs.root" => "temp/root",
                    "steps.cache.outputs.cache-hit" => hit,
                    _ => panic!("{inside}"),
                },
            };
            text = format!("{before}{value}{after}");
        }
        command.env(name, text);
    }
    let output = command.output().expect("a shell");
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A `PATH` with the tool.
fn with_tool() -> String {
    let tool = Path::new(env!("CARGO_BIN_EXE_noisy-check")).parent().expect("a folder");
    format!("{}:{}", tool.display(), std::env::var("PATH").unwrap_or_default())
}

fn check(folder: &Folder, given: &[(&str, &str)]) -> Run {
    run(folder, "Check", given, &with_tool(), "")
}

#[test]
fn a_repository_is_checked() {
    let folder = Folder::with_files(&[("good.mlir", CLEAN), ("a b/bad.mlir", TUTORIAL)]);
    let it = check(&folder, &[]);
    assert_eq!((it.code, folder.read("output").as_str()), (1, "exit-code=1\n"), "{it:?}");
    assert!(
        it.out.starts_with("::error title=noisy (noise-overflow),file=a b/bad.mlir,"),
        "{it:?}"
    );
    assert_eq!(check(&folder, &[("args", "good.mlir")]).code, 0);
    assert_eq!(folder.read("output"), "exit-code=0\n");
    // Without arguments the action checks the whole folder.
    assert_eq!(check(&folder, &[("args", "")]).code, 1);
}

#[test]
fn arguments_are_words_and_nothing_else() {
    let folder = Folder::with_files(&[("good.mlir", CLEAN), ("a b/bad.mlir", TUTORIAL)]);
    let it = check(&folder, &[("args", "--error-on-warning 'a b' \"good.mlir\"")]);
    assert!(it.code == 1 && it.err.is_empty(), "{it:?}");
    let it = check(&folder, &[("args", "$(touch evaluated) `touch evaluated` ;touch evaluated *")]);
    assert_eq!(it.code, 2, "there are no such files: {it:?}");
    assert!(!folder.path("evaluated").exists());
    let it = check(&folder, &[("args", "good.mlir 'a b")]);
    assert!(it.code != 0 && it.out.is_empty(), "a quote is open, nothing is checked: {it:?}");
}

#[test]
fn writes_sarif_in_addition() {
    let folder = Folder::with_files(&[("good.mlir", CLEAN), ("bad.mlir", TUTORIAL)]);
    let it = check(&folder, &[("sarif-file", "out dir.sarif")]);
    assert_eq!((it.code, folder.read("output").as_str()), (1, "exit-code=1\n"), "{it:?}");
    let sarif: serde_json::Value =
        serde_json::from_str(&folder.read("out dir.sarif")).expect("JSON");
    assert!(!sarif["runs"][0]["results"].as_array().expect("results").is_empty());
    let it = check(&folder, &[("sarif-file", "no/such/folder"), ("args", "good.mlir")]);
    assert_eq!((it.code, folder.read("output").as_str()), (2, "exit-code=2\n"), "{it:?}");
}

#[cfg(unix)]
#[test]
fn installs_the_tool_if_it_is_missing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let said = |step: &str, given: &[(&str, &str)], path: &str, hit: &str| {
        folder.write("log", "");
        folder.write("paths", "");
        let it = run(&folder, step, given, path, hit);
        assert!(it.code != 0 || it.err.is_empty(), "{it:?}");
        (it.code, folder.read("log"))
    };
    for name in ["cargo", "git"] {
        let script = format!(
            "#!/bin/sh\ncase \"$1\" in hash-object) cksum; exit;; esac\necho {name} \"$@\" >>log\ncase \"$*\" in *init*) mkdir -p temp/noisy-source; touch temp/noisy-source/a.rs;; *gone*) exit 7;; esac\n"
        );
        folder.write(&format!("bin/{name}"), script);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path(&format!("bin/{name}")), executable).expect("ours");
    }
    folder.write("the action/cli/a.rs", "fn main() {}\n");
    let fakes = format!("{}:/usr/bin:/bin", folder.path("bin").display());
    let tool = Path::new(env!("CARGO_BIN_EXE_noisy-check")).parent().expect("a folder");
    let with_tool = format!("{fakes}:{}", tool.display());
    let find = |given: &[(&str, &str)], path: &str| said("Find noisy-check", given, path, "");
    // An installed tool is used: nothing is cached or built.
    assert_eq!(find(&[], &with_tool), (0, String::new()));
    assert_eq!(folder.read("output"), "");
    // The key of the cache changes with the sources and with nothing else.
    let key = || {
        assert_eq!(find(&[], &fakes), (0, String::new()));
        folder.read("output")
    };
    let first = key();
    assert!(first.starts_with("path=the action\nroot=temp/noisy-check\nhash="), "{first}");
    folder.write("the action/README.md", "");
    assert_eq!(key(), first);
    folder.write("the action/cli/a.rs", "fn main() { }\n");
    assert_ne!(key(), first);
    let init = "git init --quiet temp/noisy-source\n";
    let fetch = "git -C temp/noisy-source fetch --depth 1 -- https://host/some/one";
    let checkout = "git -C temp/noisy-source checkout --quiet FETCH_HEAD\n";
    let wanted = format!("{init}{fetch} v1\n{checkout}");
    assert_eq!(find(&[("version", "v1")], &with_tool), (0, wanted));
    assert_eq!(find(&[("version", "gone")], &fakes), (7, format!("{init}{fetch} gone\n")));
    for wrong in ["--upload-pack=touch x", "-q", "a b", "$(touch x)", "v1:x", "v1\n::error::x"] {
        assert_eq!(find(&[("version", wrong)], &fakes), (2, String::new()), "{wrong}");
    }
    // A cached build is not built again.
    let install = "cargo install --locked --path temp/source/cli --root temp/root\n";
    for (hit, wanted) in [("", install), ("false", install), ("true", "")] {
        assert_eq!(said("Install noisy-check", &[], &fakes, hit), (0, wanted.to_owned()));
        assert_eq!(folder.read("paths"), "temp/root/bin\n");
    }
}

/// Two steps do nothing without sources, and the cache is queried before the build.
#[test]
fn the_build_is_cached() {
    let text = include_str!("../../../action.yml");
    let cache = text.find("uses: actions/cache@v4").expect("a cache");
    assert!(cache < text.find("cargo install").expect("a build"));
    assert_eq!(text.matches("if: steps.source.outputs.hash != ''").count(), 2);
    assert!(text.contains(
        "key: noisy-check-${{ runner.os }}-${{ runner.arch }}-${{ steps.source.outputs.hash }}"
    ));
}
