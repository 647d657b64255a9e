//! A program is typed key by key between two others, in an editor that closes brackets. Diagnostics
//! concern only the typed text, and answers about the other programs do not change.

use serde_json::{Value, json};

use crate::client::{Client, MESSAGE_TIMEOUT, URI, capabilities, function};

const PROGRAM: &str = "\
// A program.
func.func @typed(%a: !noisy.i32, %c: i1, %n: index) -> !noisy.i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = noisy.mul %a, %a {note = \"\u{1F600}\"} : !noisy.i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %0) -> (!noisy.i32) {
    %t = noisy.add %acc, %a : !noisy.i32
    %u = noisy.reduce_noise %t : !noisy.i32
    scf.yield %u : !noisy.i32
  }
  cf.cond_br %c, ^bb1(%s : !noisy.i32), ^bb2
^bb1(%x: !noisy.i32):
  return %x : !noisy.i32
^bb2:
  %1 = \"noisy.add\"(%s, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32
  return %1 : !noisy.i32
}
";

/// The closing bracket of an opening one.
fn closing(open: char) -> Option<char> {
    match open {
        '(' => Some(')'),
        '{' => Some('}'),
        '[' => Some(']'),
        '"' => Some('"'),
        _ => None,
    }
}

/// An editor with a document, and a cursor at the end of the typed text.
struct Editor {
    client: Client,
    version: i32,
    /// The typed text, and the text that the editor inserted after the cursor.
    typed: String,
    ahead: String,
    /// Number of lines before the typed text.
    first_line: u32,
}

impl Editor {
    fn position(&self, after: &str) -> Value {
        let text = format!("{}{after}", self.typed);
        let line = text.rsplit('\n').next().unwrap_or_default();
        let n = text.matches('\n').count() as u32;
        json!({ "line": self.first_line + n, "character": line.encode_utf16().count() })
    }

    /// Types a key. It replaces a bracket that the editor inserted, or the editor inserts its
    /// closing bracket.
    fn press(&mut self, key: char) {
        let (start, mut end) = (self.position(""), self.position(""));
        let mut text = key.to_string();
        let is_over = matches!(key, ')' | '}' | ']' | '"')
            && self.ahead.trim_start().starts_with(key)
            && (key == '}' || self.ahead.starts_with(key));
        if is_over {
            let n = self.ahead.find(key).expect("it is ahead") + key.len_utf8();
            let over: String = self.ahead.drain(..n).collect();
            end = self.position(&over);
        } else if let Some(close) = closing(key) {
            text.push(close);
            self.ahead.insert(0, close);
        } else if key == '\n' && self.ahead.starts_with('}') {
            text.push('\n');
            self.ahead.insert(0, '\n');
        }
        self.version += 1;
        let range = json!({ "start": start, "end": end });
        self.client.change(URI, self.version, Some(range), &text);
        self.typed.push(key);
    }

    /// The first and the last line of each error, and its code.
    fn errors(&mut self) -> Vec<(u32, u32, String)> {
        let found = self.client.diagnostics(URI, self.version);
        let line = |it: &Value| it["line"].as_u64().unwrap_or_default() as u32;
        let place = |it: &Value| {
            let code = it["code"].as_str().unwrap_or_default().to_owned();
            (line(&it["range"]["start"]), line(&it["range"]["end"]), code)
        };
        found.iter().filter(|it| it["severity"] == 1).map(place).collect()
    }
}

/// Codes of errors about an unfinished program: missing terminators, blocks, bodies.
const UNFINISHED: [&str; 4] =
    ["empty-block", "missing-terminator", "undefined-block", "empty-body"];

#[test]
fn diagnostics_concern_only_the_typed_text() {
    let (before, after) = (function("before", &[]), function("after", &[]));
    let first_line = before.matches('\n').count() as u32;
    let (mut client, _) = Client::with(capabilities(), Value::Null);
    client.open(URI, &format!("{before}\n{after}"));
    assert!(client.diagnostics(URI, 1).is_empty());
    let all =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 999, "character": 0 } });
    let hints = client.request_about("inlayHint", URI, json!({ "range": all }));
    let n_around = hints.as_array().map_or(0, Vec::len);
    assert!(n_around > 0);
    let mut editor =
        Editor { client, version: 1, typed: String::new(), ahead: String::new(), first_line };
    let start = std::time::Instant::now();
    for key in PROGRAM.chars() {
        let line_before = editor.first_line + editor.typed.matches('\n').count() as u32;
        editor.press(key);
        let lines = line_before..=editor.first_line + editor.typed.matches('\n').count() as u32;
        let typed = editor.typed.clone();
        let head = editor.first_line + 1;
        for (first, last, code) in editor.errors() {
            // A text that cannot continue is reported from its last valid token, as in the real
            // tools.
            let is_here = first <= *lines.end() && last >= *lines.start();
            let is_unfinished =
                UNFINISHED.contains(&code.as_str()) && (head..=*lines.end()).contains(&first);
            assert!(is_here || is_unfinished, "{code} on line {first} after:\n{typed}");
        }
        // All requests that an editor sends while the user types.
        let position = editor.position("");
        for method in ["completion", "signatureHelp", "documentHighlight"] {
            editor.client.request_about(method, URI, json!({ "position": position }));
        }
        let here = json!({ "start": position, "end": position });
        let context = json!({ "diagnostics": [] });
        let params = json!({ "range": here, "context": context });
        editor.client.request_about("codeAction", URI, params);
        let hints = editor.client.request_about("inlayHint", URI, json!({ "range": all }));
        let is_around = |it: &&Value| {
            let line = it["position"]["line"].as_u64().unwrap_or_default() as u32;
            let rest = editor.ahead.matches('\n').count() as u32;
            line < first_line || line > *lines.end() + rest
        };
        let around = hints.as_array().into_iter().flatten().filter(is_around).count();
        assert_eq!(around, n_around, "hints of the functions around, after:\n{typed}");
    }
    assert!(editor.errors_are_gone(), "a legal program");
    assert!(start.elapsed() < MESSAGE_TIMEOUT);
}

impl Editor {
    /// True if there are no problems left.
    fn errors_are_gone(&mut self) -> bool {
        self.press('\n');
        self.ahead.is_empty() && self.errors().is_empty()
    }
}
