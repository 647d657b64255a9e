//! Simulates an hour of use in seconds: random edits, opens, closes, requests and cancellations on
//! the programs of the suite. The same seed gives the same messages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, capabilities};

struct Random(u64);

impl Random {
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n.max(1)
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

fn programs(folder: &Path, out: &mut Vec<String>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the suite").flatten().map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            programs(&path, out);
        } else if path.extension().is_some_and(|it| it == "mlir") {
            out.push(std::fs::read_to_string(&path).expect("a program"));
        }
    }
}

/// Texts that are typed, pasted and deleted.
const TYPED: [&str; 24] = [
    "",
    "",
    "",
    "",
    " ",
    "\n",
    "\r\n",
    "%",
    "%0",
    "=",
    "\"",
    "{",
    "}",
    "(",
    ")",
    ":",
    "//",
    "^bb0:",
    "\u{1F600}",
    "noisy.add",
    "  %z = noisy.mul %a, %a : !noisy.i32\n",
    "// -----\n",
    "x",
    "0",
];

/// A document in the state of the client. Positions are in UTF-32, which is easy to compute here.
struct OpenText {
    version: i32,
    text: Vec<char>,
}

impl OpenText {
    /// The nearest offset with a position; there is no position between a CR and its LF.
    fn place(&self, at: usize) -> usize {
        let is_inside = at > 0 && self.text[at - 1] == '\r' && self.text.get(at) == Some(&'\n');
        at - usize::from(is_inside)
    }

    fn position(&self, at: usize) -> Value {
        let before = &self.text[..at];
        // LF, CRLF and CR end a line.
        let is_end = |it: usize| {
            before[it] == '\n' || (before[it] == '\r' && self.text.get(it + 1) != Some(&'\n'))
        };
        let ends: Vec<usize> = (0..at).filter(|it| is_end(*it)).collect();
        let start = ends.last().map_or(0, |it| it + 1);
        json!({ "line": ends.len(), "character": at - start })
    }

    fn range(&self, from: usize, to: usize) -> Value {
        json!({ "start": self.position(from), "end": self.position(to) })
    }
}

struct SoakTest {
    client: Client,
    random: Random,
    programs: Vec<String>,
    open: BTreeMap<String, OpenText>,
    /// Requests without an answer yet.
    asked: BTreeSet<i64>,
    published: BTreeMap<String, i64>,
    n_answers: usize,
}

impl SoakTest {
    fn new(seed: u64) -> Self {
        let mut programs_ = Vec::new();
        programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/suite"), &mut programs_);
        let mut capabilities = capabilities();
        capabilities["general"]["positionEncodings"] = json!(["utf-32"]);
        let options = json!({ "placement": { "timeLimit": 0.2 } });
        let (client, _) = Client::with(capabilities, options);
        Self {
            client,
            random: Random(seed),
            programs: programs_,
            open: BTreeMap::new(),
            asked: BTreeSet::new(),
            published: BTreeMap::new(),
            n_answers: 0,
        }
    }

    fn step(&mut self) {
        let n_open = self.open.len();
        let uris: Vec<String> = self.open.keys().cloned().collect();
        match self.random.below(100) {
            n if n_open == 0 || (n < 2 && n_open < 8) => self.open_one(),
            2..4 if n_open > 1 => {
                let uri = self.random.of(&uris).clone();
                self.open.remove(&uri);
                self.published.remove(&uri);
                let document = json!({ "uri": uri });
                self.client.notify("textDocument/didClose", json!({ "textDocument": document }));
            }
            n if n < 60 => {
                let uri = self.random.of(&uris).clone();
                self.edit(&uri);
            }
            n if n < 95 => {
                let uri = self.random.of(&uris).clone();
                self.ask(&uri);
            }
            n if n < 98 => {
                if let Some(&id) = self.asked.iter().next_back() {
                    self.client.notify("$/cancelRequest", json!({ "id": id }));
                }
            }
            _ => {
                let budget = self.random.below(2) == 0;
                let settings = json!({ "placement": { "timeLimit": 0.2 }, "inlayHints": { "budget": budget } });
                self.client.notify(
                    "workspace/didChangeConfiguration",
                    json!({ "settings": { "noisy": settings } }),
                );
            }
        }
    }

    fn open_one(&mut self) {
        let uri = format!("file:///soak/{}.mlir", self.random.below(12));
        if self.open.contains_key(&uri) {
            return;
        }
        let text = self.random.of(&self.programs).clone();
        self.client.open(&uri, &text);
        self.open.insert(uri, OpenText { version: 1, text: text.chars().collect() });
    }

    fn edit(&mut self, uri: &str) {
        let Some(open) = self.open.get_mut(uri) else { return };
        let mut changes = Vec::new();
        for _ in 0..=self.random.below(3) {
            let from = open.place(self.random.below(open.text.len() + 1));
            let to = (from + *self.random.of(&[0, 0, 1, 1, 4, 40])).min(open.text.len());
            let new = *self.random.of(&TYPED);
            // Limits the growth of the text.
            let to = if open.text.len() > 20_000 { open.text.len().min(from + 4000) } else { to };
            let to = open.place(to).max(from);
            changes.push(json!({ "range": open.range(from, to), "text": new }));
            open.text.splice(from..to, new.chars());
        }
        open.version += 1;
        let document = json!({ "uri": uri, "version": open.version });
        self.client.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": changes }),
        );
    }

    fn ask(&mut self, uri: &str) {
        let Some(open) = self.open.get(uri) else { return };
        let (a, b) =
            (self.random.below(open.text.len() + 1), self.random.below(open.text.len() + 1));
        let (position, range) = (open.position(a), open.range(a.min(b), a.max(b)));
        let (method, mut params) = match self.random.below(20) {
            0 => ("hover", json!({ "position": position })),
            1 => ("definition", json!({ "position": position })),
            2 => ("documentHighlight", json!({ "position": position })),
            3 => ("prepareRename", json!({ "position": position })),
            4 => ("completion", json!({ "position": position })),
            5 => ("signatureHelp", json!({ "position": position })),
            6 => ("prepareCallHierarchy", json!({ "position": position })),
            7 => ("linkedEditingRange", json!({ "position": position })),
            8 => (
                "references",
                json!({ "position": position, "context": { "includeDeclaration": true } }),
            ),
            9 => ("selectionRange", json!({ "positions": [position] })),
            10 => ("inlayHint", json!({ "range": range })),
            11 => ("semanticTokens/range", json!({ "range": range })),
            12 => ("codeAction", json!({ "range": range, "context": { "diagnostics": [] } })),
            13 => ("rename", json!({ "position": position, "newName": "renamed" })),
            14 => ("documentSymbol", json!({})),
            15 => ("foldingRange", json!({})),
            16 => ("semanticTokens/full", json!({})),
            17 => ("codeLens", json!({})),
            18 => ("documentLink", json!({})),
            _ => ("semanticTokens/full/delta", json!({ "previousResultId": "1" })),
        };
        params["textDocument"] = json!({ "uri": uri });
        self.asked.insert(self.client.ask(&format!("textDocument/{method}"), params));
    }

    /// Waits until the server has processed everything, and checks all of its messages.
    fn settle(&mut self) {
        let fence = self.client.ask("$/fence", Value::Null);
        let refused = self.client.answer(fence).expect_err("an unknown request");
        assert_eq!(refused["code"], -32601);
        let open: Vec<(String, i32)> =
            self.open.iter().map(|(uri, it)| (uri.clone(), it.version)).collect();
        for id in std::mem::take(&mut self.asked) {
            // Allowed errors: the document changed, the request was cancelled, or a rename found no
            // name.
            if let Err(error) = self.client.answer(id) {
                let code = error["code"].as_i64().unwrap_or_default();
                assert!([-32801, -32800, -32803].contains(&code), "{error}");
            }
            self.n_answers += 1;
        }
        for (uri, version) in open {
            let is_it =
                |it: &Value| it["params"]["uri"] == *uri && it["params"]["version"] == version;
            let last = self.published.get(&uri).copied();
            if last != Some(i64::from(version)) && !self.client.seen.iter().any(is_it) {
                let message = self.client.wait("the last version", is_it);
                self.client.seen.push(message);
            }
        }
        for message in std::mem::take(&mut self.client.seen) {
            assert!(
                message.get("id").is_none() || message.get("method").is_some(),
                "twice: {message}"
            );
            let Some(version) = message["params"]["version"].as_i64() else { continue };
            let uri = message["params"]["uri"].as_str().unwrap_or_default().to_owned();
            if let Some(open) = self.open.get(&uri)
                && version <= i64::from(open.version)
            {
                // The versions of a reopened document start again.
                self.published.insert(uri, version);
            }
        }
    }
}

#[test]
fn an_hour_of_use() {
    let mut soak = SoakTest::new(0x5EED_0F50_AC00_0001);
    let (mut early, rounds) = (None, 60);
    for round in 0..rounds {
        for _ in 0..400 {
            soak.step();
        }
        soak.settle();
        if round == rounds / 3 {
            early = soak.client.resident();
        }
    }
    assert!(soak.n_answers > 5_000, "{}", soak.n_answers);
    if let (Some(early), Some(late)) = (early, soak.client.resident()) {
        assert!(late < early + 24.0, "{early:.1} MB became {late:.1} MB");
    }
    // Lenses show the results of background searches as soon as they are known. Other settings stop
    // the searches and discard the results.
    let settings = json!({ "placement": { "background": false } });
    soak.client
        .notify("workspace/didChangeConfiguration", json!({ "settings": { "noisy": settings } }));
    // The state of the server equals that of a server that opens the final texts.
    let open = std::mem::take(&mut soak.open);
    for (n, (uri, it)) in open.into_iter().enumerate() {
        let text: String = it.text.iter().collect();
        let fresh = format!("file:///soak/fresh{n}.mlir");
        soak.client.open(&fresh, &text);
        // Commands contain the name and the version of the document.
        let plain =
            |it: &Value| without_versions(&it.to_string().replace(&uri, "").replace(&fresh, ""));
        let old = Value::from(soak.client.diagnostics(&uri, it.version));
        let new = Value::from(soak.client.diagnostics(&fresh, 1));
        assert_eq!(plain(&old), plain(&new), "diagnostics of {uri}");
        let whole = json!({
            "start": { "line": 0, "character": 0 }, "end": { "line": 1_000_000, "character": 0 },
        });
        for method in
            ["semanticTokens/full", "documentSymbol", "foldingRange", "codeLens", "inlayHint"]
        {
            let mut old = soak.client.request_about(method, &uri, json!({ "range": whole }));
            let mut new = soak.client.request_about(method, &fresh, json!({ "range": whole }));
            for it in [&mut old, &mut new] {
                if let Some(it) = it.as_object_mut() {
                    it.remove("resultId");
                }
            }
            assert_eq!(plain(&old), plain(&new), "{method} of {uri}");
        }
    }
    assert_eq!(soak.client.request("shutdown", Value::Null), Ok(Value::Null));
    soak.client.notify("exit", Value::Null);
    assert_eq!(soak.client.exit_code(), Some(0));
}

/// A text without the numbers after `"version":`.
fn without_versions(text: &str) -> String {
    let mut parts = text.split("\"version\":");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

#[test]
fn a_hundred_thousand_edits_leak_nothing() {
    let uri = "file:///soak/edits.mlir";
    let mut client = Client::new();
    client.open(
        uri,
        "func.func @f(%a: !noisy.i32) {\n  %0 = noisy.add %a, %a : !noisy.i32\n  return\n}\n",
    );
    let mut early = None;
    let mut version = 1;
    for round in 0..50 {
        for n in 0..1000 {
            let name = format!("v{}", (round * 1000 + n) % 5000);
            let range = |from: u32, to: u32| json!({ "start": { "line": 1, "character": from }, "end": { "line": 1, "character": to } });
            version += 1;
            client.change(uri, version, Some(range(2, 4)), &format!("%{name}"));
            version += 1;
            client.change(uri, version, Some(range(2, 3 + name.len() as u32)), "%0");
        }
        client.diagnostics(uri, version);
        client.seen.clear();
        if round == 10 {
            early = client.resident();
        }
    }
    assert_eq!(version, 100_001);
    if let (Some(early), Some(late)) = (early, client.resident()) {
        assert!(late < early + 8.0, "{early:.1} MB became {late:.1} MB");
    }
}
