//! *Law.* What the server publishes for a file is what `noisy-check` prints for it: the same codes, severities, messages and ranges, in
//! the same order. Both are the real programs; `cargo test --workspace` builds them, and so does `cargo build --release`.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A program that is built beside this test.
fn program(name: &str) -> PathBuf {
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

/// `1:2-1:5 error noise-overflow: ...`, places from 1.
type Line = String;

fn printed(path: &Path) -> Vec<Line> {
    let mut command = Command::new(program("noisy-check"));
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
    fn start() -> Self {
        let mut child = Command::new(program("noisy-lsp"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|it| panic!("{it}"));
        let output = child.stdout.take().unwrap_or_else(|| panic!("no output"));
        let mut it = Self { child, output: BufReader::new(output) };
        // Columns count Unicode scalar values, as those of the checker do.
        let capabilities = json!({
            "general": { "positionEncodings": ["utf-32"] },
            "textDocument": { "publishDiagnostics": { "relatedInformation": true } },
        });
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities });
        it.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
        it.read(|it| it["id"] == 1);
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

    /// Waits for a message.
    fn read(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
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

    fn published(&mut self, path: &Path) -> Vec<Line> {
        let text = std::fs::read_to_string(path).unwrap_or_else(|it| panic!("{it}"));
        let uri = format!("file://{}", path.display());
        let document = json!({ "uri": uri, "languageId": "mlir", "version": 1, "text": text });
        let params = json!({ "textDocument": document });
        self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params }));
        let message = self.read(|it| it["params"]["uri"] == *uri && it["params"]["version"] == 1);
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

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn publishes_what_the_checker_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().unwrap_or_else(|it| panic!("{it}"));
    let mut paths = Vec::new();
    files(&root.join("tests/suite"), &mut paths);
    files(&root.join("examples"), &mut paths);
    let mut server = Server::start();
    let mut n_lines = 0;
    for path in paths {
        let (printed, published) = (printed(&path), server.published(&path));
        n_lines += printed.len();
        assert_eq!(published, printed, "{}", path.display());
    }
    assert!(n_lines > 20, "the suite has diagnostics: {n_lines}");
}
