//! *Laws.* For each file, the server publishes the diagnostics that `noisy-check` prints: the same
//! codes, severities, messages and ranges, in the same order. `source.fixAll.noisy` gives the same
//! bytes as `noisy-check --fix`. Both are the real programs; `cargo test --workspace` and `cargo
//! build --release` build them.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Returns the path of a program that is built together with this test.
fn program_path(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap_or_else(|it| panic!("{it}"));
    let folder =
        here.parent().and_then(Path::parent).unwrap_or_else(|| panic!("{}", here.display()));
    let path = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.is_file(), "{} is not built: cargo build --workspace first", path.display());
    path
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|it| it == "mlir") {
            out.push(path);
        }
    }
}

/// A diagnostic as `1:2-1:5 error noise-overflow: ...`, with lines and columns from 1.
type Line = String;

fn printed_diagnostics(path: &Path) -> Vec<Line> {
    let mut command = Command::new(program_path("noisy-check"));
    let output = command.arg("--output-format=json-lines").arg(path).output();
    let output = output.unwrap_or_else(|it| panic!("{it}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| {
        let it: Value = serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
        let place = |it: &Value| format!("{}:{}", it["row"], it["column"]);
        format!(
            "{}-{} {} {}: {}",
            place(&it["location"]),
            place(&it["end_location"]),
            it["severity"].as_str().unwrap_or_default(),
            it["code"].as_str().unwrap_or_default(),
            it["message"].as_str().unwrap_or_default()
        )
    };
    text.lines().map(line).collect()
}

struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts the server for a folder.
    fn start(root: &Path) -> Self {
        let mut child = Command::new(program_path("noisy-lsp"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|it| panic!("{it}"));
        let output = child.stdout.take().unwrap_or_else(|| panic!("no output"));
        let mut it = Self { child, output: BufReader::new(output) };
        // Columns count Unicode scalar values, like those of the checker.
        let capabilities = json!({
            "general": { "positionEncodings": ["utf-32"] },
            "textDocument": {
                "publishDiagnostics": { "relatedInformation": true },
                "codeAction": {
                    "dataSupport": true,
                    "resolveSupport": { "properties": ["edit"] },
                    "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } },
                },
            },
            "workspace": { "workspaceEdit": { "documentChanges": true } },
        });
        let root = format!("file://{}", root.display());
        let folders = json!([{ "uri": root, "name": "root" }]);
        let params = json!({
            "processId": null, "rootUri": root, "workspaceFolders": folders,
            "capabilities": capabilities,
        });
        it.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
        it.read_until(|it| it["id"] == 1);
        it.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
        it
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let input = self.child.stdin.as_mut().unwrap_or_else(|| panic!("no input"));
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len())
            .and_then(|()| input.flush())
            .unwrap_or_else(|it| panic!("{it}"));
    }

    /// Reads messages until one satisfies `is_it`, and returns it.
    fn read_until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                let n = self.output.read_line(&mut line).unwrap_or_else(|it| panic!("{it}"));
                assert!(n > 0, "the server is gone");
                match line.trim().strip_prefix("Content-Length: ") {
                    Some(value) => length = value.parse().unwrap_or_else(|it| panic!("{it}")),
                    None => break,
                }
            }
            let mut body = vec![0; length];
            self.output.read_exact(&mut body).unwrap_or_else(|it| panic!("{it}"));
            let message: Value = serde_json::from_slice(&body).unwrap_or_else(|it| panic!("{it}"));
            if is_it(&message) {
                return message;
            }
        }
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.read_until(|it| it["id"] == id && it.get("method").is_none());
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Returns a text after `source.fixAll.noisy`.
    fn text_after_fix_all(&mut self, id: u64, path: &Path, text: &str) -> String {
        let uri = format!("file://{}", path.display());
        let document = json!({ "uri": uri, "languageId": "mlir", "version": 1, "text": text });
        let params = json!({ "textDocument": document });
        self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params }));
        let place = |line: usize| json!({ "line": line, "character": 0 });
        let params = json!({
            "textDocument": { "uri": uri },
            "range": { "start": place(0), "end": place(text.matches('\n').count()) },
            "context": { "diagnostics": [], "only": ["source.fixAll.noisy"], "triggerKind": 1 },
        });
        let offered = self.request(id, "textDocument/codeAction", &params);
        let Some(action) = offered.get(0) else { return text.to_owned() };
        let done = self.request(id + 1, "codeAction/resolve", action);
        let edits = done["edit"]["documentChanges"][0]["edits"].as_array().cloned();
        apply_edits(text, &edits.unwrap_or_default())
    }

    fn published_diagnostics(&mut self, path: &Path) -> Vec<Line> {
        let text = std::fs::read_to_string(path).unwrap_or_else(|it| panic!("{it}"));
        let uri = format!("file://{}", path.display());
        let document = json!({ "uri": uri, "languageId": "mlir", "version": 1, "text": text });
        let params = json!({ "textDocument": document });
        self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params }));
        let message =
            self.read_until(|it| it["params"]["uri"] == *uri && it["params"]["version"] == 1);
        let found = message["params"]["diagnostics"].as_array().cloned().unwrap_or_default();
        let line = |it: &Value| {
            let number = |it: &Value| it.as_u64().unwrap_or(u64::MAX - 1) + 1;
            let place =
                |it: &Value| format!("{}:{}", number(&it["line"]), number(&it["character"]));
            let severity = match it["severity"].as_u64() {
                Some(1) => "error",
                Some(2) => "warning",
                Some(3) => "info",
                _ => "hint",
            };
            format!(
                "{}-{} {severity} {}: {}",
                place(&it["range"]["start"]),
                place(&it["range"]["end"]),
                it["code"].as_str().unwrap_or_default(),
                it["message"].as_str().unwrap_or_default()
            )
        };
        found.iter().map(line).collect()
    }
}

/// Applies edits with UTF-32 positions to a text.
fn apply_edits(text: &str, edits: &[Value]) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let offset = |place: &Value| -> usize {
        let number = |it: &Value| it.as_u64().map_or(0, |it| it as usize);
        let (line, column) = (number(&place["line"]), number(&place["character"]));
        let before: usize = lines.iter().take(line).map(|it| it.len()).sum();
        let within = lines.get(line).map_or("", |it| it);
        before + within.chars().take(column).map(char::len_utf8).sum::<usize>()
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|it| {
            let range = &it["range"];
            (offset(&range["start"]), offset(&range["end"]), it["newText"].as_str().unwrap_or(""))
        })
        .collect();
    edits.sort_by_key(|it| (it.0, it.1));
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn publishes_the_diagnostics_of_the_checker() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().unwrap_or_else(|it| panic!("{it}"));
    let mut paths = Vec::new();
    files(&root.join("tests/suite"), &mut paths);
    files(&root.join("examples"), &mut paths);
    let mut server = Server::start(&root);
    let mut n_lines = 0;
    for path in paths {
        let (printed, published) =
            (printed_diagnostics(&path), server.published_diagnostics(&path));
        n_lines += printed.len();
        assert_eq!(published, printed, "{}", path.display());
    }
    assert!(n_lines > 20, "the suite has diagnostics: {n_lines}");
}

/// Returns a module of HEIR whose function has this body.
fn heir_module(body: &str) -> String {
    format!(
        "module attributes {{backend.config_override = {{bootstrapLevelsConsumed = 1 : i32}}, backend.lattigo, scheme.ckks}} {{
  func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {{
    %0 = secret.generic(%x: !secret.secret<f32>) {{
    ^body(%a: f32):
{body}    }} -> !secret.secret<f32>
    return %0 : !secret.secret<f32>
  }}
}}
"
    )
}

/// Returns a function with `n` multiplications, each of the previous result with itself.
fn products(name: &str, n: usize, comment: &str) -> String {
    let line = |at: usize| match at {
        0 => format!("  %0 = noisy.mul %x, %x : !noisy.i32{comment}\n"),
        at => format!("  %{at} = noisy.mul %{0}, %{0} : !noisy.i32{comment}\n", at - 1),
    };
    let body: String = (0..n).map(line).collect();
    format!(
        "func.func @{name}(%x: !noisy.i32) -> !noisy.i32 {{\n{body}  return %{} : !noisy.i32\n}}\n",
        n - 1
    )
}

/// Programs to repair, each with a text whose number of occurrences the repair changes.
fn programs() -> Vec<(&'static str, String, &'static str)> {
    let square = |of: usize, to: usize| format!("      %{to} = arith.mulf %{of}, %{of} : f32\n");
    let switch = |of: usize, to: usize| format!("      %{to} = mgmt.modreduce %{of} : f32\n");
    let first = "      %1 = arith.mulf %a, %a : f32\n".to_owned();
    let level = |n: usize| format!(" {{mgmt.mgmt = #mgmt.mgmt<level = {n}>}}");
    let caller = "func.func @g(%x: !noisy.i32) -> !noisy.i32 {
  %0 = func.call @f(%x) : (!noisy.i32) -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.mul %1, %1 : !noisy.i32
  return %2 : !noisy.i32
}
";
    let steps: String =
        (1..5).map(|n| switch(2 * n - 1, 2 * n) + &square(2 * n, 2 * n + 1)).collect();
    let underflow = first.clone() + &steps + "      secret.yield %9 : f32\n";
    let annotated = |levels: [usize; 4]| {
        let lines = [
            format!("      %1 = arith.mulf %a, %a{} : f32\n", level(levels[0])),
            format!("      %2 = mgmt.relinearize %1{} : f32\n", level(levels[1])),
            format!("      %3 = mgmt.modreduce %2{} : f32\n", level(levels[2])),
            format!("      %4 = arith.addf %3, %3{} : f32\n", level(levels[3])),
            "      secret.yield %4 : f32\n".to_owned(),
        ];
        heir_module(&lines.concat())
    };
    vec![
        ("over the budget", products("f", 3, ""), "reduce_noise"),
        ("with calls", products("f", 2, "") + caller, "reduce_noise"),
        ("unused suppressions", products("f", 1, "  // noisy: allow(unused-op)"), "allow"),
        (
            "both, in two functions",
            products("f", 4, "  // noisy: allow(unused-op)") + &products("g", 3, ""),
            "reduce_noise",
        ),
        (
            "a broken function beside another",
            products("f", 3, "").replace("return %2", "return %gone") + &products("g", 3, ""),
            "reduce_noise",
        ),
        ("CRLF", products("f", 3, "  // λ").replace('\n', "\r\n"), "reduce_noise"),
        (
            "a hint that the settings make a warning",
            products("f", 1, "")
                .replace("  return", "  %9 = noisy.add %x, %x : !noisy.i32\n  return"),
            "%9",
        ),
        (
            "no relinearization",
            heir_module(
                &(first.clone() + &switch(1, 2) + &square(2, 3) + "      secret.yield %3 : f32\n"),
            ),
            "mgmt.relinearize",
        ),
        ("more levels than the budget", heir_module(&underflow), "mgmt.bootstrap"),
        (
            "nothing is placed yet",
            heir_module(
                &(first
                    + &square(1, 2)
                    + &square(2, 3)
                    + &square(3, 4)
                    + "      secret.yield %4 : f32\n"),
            ),
            "mgmt.",
        ),
        ("a wrong level", annotated([1, 1, 1, 0]), "level = 1>} : f32\n      %4"),
        ("wrong levels", annotated([3, 1, 2, 0]), "level = 3"),
        (
            "a wrong level and no relinearization",
            annotated([1, 1, 1, 0]).replace("mgmt.relinearize", "arith.negf"),
            "mgmt.relinearize",
        ),
        (
            "levels beyond the budget",
            heir_module(&underflow)
                .replace("%1 = arith.mulf %a, %a", &format!("%1 = arith.mulf %a, %a{}", level(3))),
            "mgmt.bootstrap",
        ),
    ]
}

#[test]
fn fixes_like_the_checker() {
    let folder = std::env::temp_dir().join(format!("noisy-repairs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap_or_else(|it| panic!("{it}"));
    let folder = folder.canonicalize().unwrap_or_else(|it| panic!("{it}"));
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    };
    let settings = "[heir]\nlevel-budget = 2\n\n[rules]\nunused-op = \"warning\"\n";
    write(&folder.join("noisy.toml"), settings);
    let mut server = Server::start(&folder);
    for (n, (name, text, marker)) in programs().into_iter().enumerate() {
        let path = folder.join(format!("{n}.mlir"));
        write(&path, &text);
        let by_server = server.text_after_fix_all(2 + 2 * n as u64, &path, &text);
        let mut command = Command::new(program_path("noisy-check"));
        command.args(["--no-cache", "--fix"]).arg(&path).current_dir(&folder);
        let output = command.output().unwrap_or_else(|it| panic!("{it}"));
        let by_checker = std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(by_server, by_checker, "{name}");
        let is_repaired = by_checker.matches(marker).count() != text.matches(marker).count();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(is_repaired, "{name}: {by_checker}{told}");
    }
    std::fs::remove_dir_all(&folder).unwrap_or_else(|it| panic!("{it}"));
}
