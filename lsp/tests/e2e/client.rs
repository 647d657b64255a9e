//! A small client. It starts the server, exchanges messages with it, and fails the test if an
//! expected message does not arrive.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Time limit for each expected message.
pub(crate) const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The client's end of a connection.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Received messages that no test has waited for yet.
    pub seen: Vec<Value>,
    last_id: i64,
}

/// Capabilities of most tests.
pub(crate) fn capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "workspace": { "applyEdit": true, "workspaceEdit": { "documentChanges": true } },
        "textDocument": {
            "publishDiagnostics": { "relatedInformation": true, "versionSupport": true },
            "semanticTokens": {
                "requests": { "range": true, "full": { "delta": true } },
                "tokenTypes": [], "tokenModifiers": [], "formats": ["relative"],
            },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "completion": { "completionItem": { "snippetSupport": true } },
            "codeAction": {
                "dataSupport": true,
                "resolveSupport": { "properties": ["edit"] },
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix"] } },
            },
        },
    })
}

/// A function of noisy ops.
pub(crate) fn function(name: &str, ops: &[&str]) -> String {
    let ops: String = ops.iter().flat_map(|it| ["  ", it, "\n"]).collect();
    format!(
        "func.func @{name}(%a: i5) -> i5 {{\n  %x = noisy.encode %a : i5 -> !noisy.i32\n{ops}  %r = noisy.decode %x : !noisy.i32 -> i5\n  return %r : i5\n}}\n"
    )
}

/// A text of `n` ops with one error each.
pub(crate) fn errors(n: usize) -> String {
    let lines: Vec<String> = (0..n).map(|n| format!("\"t.a\"(%u{n}) : (i32) -> ()\n")).collect();
    lines.concat()
}

/// A function with one value over the budget, on line 3.
pub(crate) fn illegal() -> String {
    let ops = ["%0 = noisy.mul %x, %x : !noisy.i32", "%1 = noisy.mul %0, %0 : !noisy.i32"];
    function("f", &ops).replace("decode %x", "decode %1")
}

impl Client {
    /// Starts a server without reading its messages.
    pub(crate) fn deaf() -> (Self, ChildStdout) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_noisy-lsp"))
            // The server writes the documentation of codes into this folder.
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let (_, messages) = channel();
        (Self { child, input, messages, seen: Vec::new(), last_id: 0 }, output)
    }

    /// Starts to read the messages of the server.
    pub(crate) fn listen(&mut self, output: ChildStdout) {
        let (sender, messages) = channel();
        self.messages = messages;
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if output.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    match line.trim() {
                        "" => break,
                        line => {
                            let value =
                                line.strip_prefix("Content-Length: ").expect("only this header");
                            length = value.parse().expect("a length");
                        }
                    }
                }
                let mut body = vec![0; length];
                output.read_exact(&mut body).expect("a whole message");
                let message = serde_json::from_slice(&body).expect("JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
    }

    /// Starts and initializes a server. Also returns the capabilities of the server.
    pub(crate) fn with(capabilities: Value, options: Value) -> (Self, Value) {
        let (mut client, output) = Self::deaf();
        client.listen(output);
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "initializationOptions": options });
        let result = client.request("initialize", params).expect("initialize works");
        client.notify("initialized", json!({}));
        (client, result["capabilities"].clone())
    }

    /// Starts a server for a client with the usual capabilities.
    pub(crate) fn new() -> Self {
        Self::with(capabilities(), Value::Null).0
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let input = self.input.as_mut().expect("still open");
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
        input.flush().expect("the server reads");
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for the answer; returns its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        self.send(
            &json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }),
        );
        self.last_id
    }

    /// Waits for a message.
    pub(crate) fn wait(&mut self, what: &str, mut is_it: impl FnMut(&Value) -> bool) -> Value {
        if let Some(at) = self.seen.iter().position(&mut is_it) {
            return self.seen.remove(at);
        }
        let end = Instant::now() + MESSAGE_TIMEOUT;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message =
                self.messages.recv_timeout(left).unwrap_or_else(|it| panic!("{what}: {it}"));
            if is_it(&message) {
                return message;
            }
            self.seen.push(message);
        }
    }

    /// Waits for the answer to a request: the result, or the error.
    pub(crate) fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let message = self.wait("an answer", |it| it["id"] == id && it.get("method").is_none());
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Sends a request about a document, and returns the answer. An error fails the test.
    pub(crate) fn request_about(&mut self, method: &str, uri: &str, mut params: Value) -> Value {
        params["textDocument"] = json!({ "uri": uri });
        self.request(&format!("textDocument/{method}"), params)
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a request about a position, and returns the answer.
    pub(crate) fn at(&mut self, method: &str, uri: &str, line: u32, character: u32) -> Value {
        self.request_about(
            method,
            uri,
            json!({ "position": { "line": line, "character": character } }),
        )
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "mlir", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a range, or the whole text.
    pub(crate) fn change(&mut self, uri: &str, version: i32, range: Option<Value>, text: &str) {
        let mut change = json!({ "text": text });
        if let Some(range) = range {
            change["range"] = range;
        }
        let document = json!({ "uri": uri, "version": version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [change] }),
        );
    }

    /// Waits for the diagnostics of a version of a document.
    pub(crate) fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        let message = self.wait("diagnostics", |it| {
            it["method"] == "textDocument/publishDiagnostics"
                && it["params"]["uri"] == uri
                && it["params"]["version"] == version
        });
        message["params"]["diagnostics"].as_array().cloned().unwrap_or_default()
    }

    /// Answers a request of the server.
    pub(crate) fn reply(&mut self, request: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    /// Resident memory of the server in megabytes; `None` if the system does not report it.
    pub(crate) fn resident(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse::<f64>().ok().map(|it| it / 1024.0)
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the end of the process.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let end = Instant::now() + MESSAGE_TIMEOUT;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().expect("a process") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server is still running");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A range on one line.
pub(crate) fn range(line: u32, from: u32, to: u32) -> Value {
    json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } })
}

/// A range as text: `1:2-1:5`.
pub(crate) fn short(range: &Value) -> String {
    let place = |it: &Value| format!("{}:{}", it["line"], it["character"]);
    format!("{}-{}", place(&range["start"]), place(&range["end"]))
}

/// The text after edits of one document, in UTF-16 positions over ASCII.
pub(crate) fn apply(text: &str, edits: &Value) -> String {
    let offset = |it: &Value| {
        let line = it["line"].as_u64().expect("a line") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + it["character"].as_u64().expect("a column") as usize
    };
    let mut edits: Vec<_> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|it| {
            (
                offset(&it["range"]["start"]),
                offset(&it["range"]["end"]),
                it["newText"].as_str().expect("text"),
            )
        })
        .collect();
    edits.sort_unstable();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

pub(crate) const URI: &str = "file:///e2e/e2e.mlir";
