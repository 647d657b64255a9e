//! Every request on a file with a broken line has an answer without an error. Answers about the
//! other lines are the same as without the broken line.

use serde_json::{Value, json};

use crate::client::{Client, URI, capabilities, function, illegal};

/// A function in which a line is being typed, between two correct functions.
fn text(line: &str) -> String {
    format!("{}{}{}", function("a", &[]), function("b", &[line]), illegal().replace("@f", "@c"))
}

/// Possible contents of a line while it is being typed.
const TYPED: [&str; 17] = [
    "",
    "%0",
    "%0 =",
    "%0 = noisy",
    "%0 = noisy.ad",
    "%0 = noisy.add",
    "%0 = noisy.add %x,",
    "%0 = noisy.add %x, %x :",
    "%0 = \"t.a\"(%x",
    "%0 = noisy.add %x, %x : !noisy.i32 loc(\"",
    "%0 = \"t.\u{1F600}\u{10FFFF}\"(%\u{1F600}) : (\u{1D4B3}) // \u{1F600}",
    "= = ) } ( {",
    "scf.if %c {",
    "}",
    "func.func @",
    "#map = affine_map<(d0",
    "// -----",
];

/// Requests whose answer may be null. Lists are never null, because some clients take null for
/// "unchanged".
const MAY_BE_NULL: [&str; 5] =
    ["hover", "prepareRename", "signatureHelp", "linkedEditingRange", "rename"];

/// A document, to which the requests refer.
struct RequestTarget<'a> {
    client: &'a mut Client,
    uri: &'a str,
    n_requests: usize,
}

impl RequestTarget<'_> {
    /// Returns the answer, which must not be an error, and null only where this is allowed.
    fn about(&mut self, method: &str, params: Value) -> Value {
        self.n_requests += 1;
        let answer = self.client.request_about(method, self.uri, params.clone());
        let may_be_null = MAY_BE_NULL.contains(&method);
        assert!(may_be_null || !answer.is_null(), "{method} {params}: null in {}", self.uri);
        answer
    }

    /// The same for a request that does not refer to a document.
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.n_requests += 1;
        let answer = self.client.request(method, params.clone());
        answer.unwrap_or_else(|error| panic!("{method} {params}: {error} in {}", self.uri))
    }

    /// Resolves the first item of a list.
    fn resolve(&mut self, options: &Value, method: &str, list: &Value) {
        if let Some(item) = list.get(0).filter(|_| options["resolveProvider"] == true) {
            assert!(self.request(method, item.clone()).is_object(), "{method}");
        }
    }

    /// Sends all requests that a capability announces, at a position or for the range before it.
    fn all_of(&mut self, provider: &str, options: &Value, line: u32, character: u32) {
        let position = json!({ "line": line, "character": character });
        let start = json!({ "line": 0, "character": 0 });
        let range = json!({ "start": start, "end": position });
        let at = || json!({ "position": position });
        match provider {
            "positionEncoding" | "textDocumentSync" | "workspace" => {}
            "hoverProvider" => drop(self.about("hover", at())),
            "definitionProvider" => drop(self.about("definition", at())),
            "documentHighlightProvider" => drop(self.about("documentHighlight", at())),
            "signatureHelpProvider" => drop(self.about("signatureHelp", at())),
            "linkedEditingRangeProvider" => drop(self.about("linkedEditingRange", at())),
            "referencesProvider" => {
                let context = json!({ "includeDeclaration": true });
                self.about("references", json!({ "position": position, "context": context }));
            }
            "renameProvider" => {
                // Every entity that can be renamed is renamed.
                if !self.about("prepareRename", at()).is_null() {
                    let params = json!({ "position": position, "newName": "renamed" });
                    assert!(self.about("rename", params).is_object());
                }
            }
            "completionProvider" => {
                let found = self.about("completion", at());
                self.resolve(options, "completionItem/resolve", &found["items"]);
            }
            "callHierarchyProvider" => {
                let found = self.about("prepareCallHierarchy", at());
                for item in found.as_array().into_iter().flatten() {
                    for method in ["incomingCalls", "outgoingCalls"] {
                        let calls = self
                            .request(&format!("callHierarchy/{method}"), json!({ "item": item }));
                        assert!(calls.is_array(), "{method}");
                    }
                }
            }
            "selectionRangeProvider" => {
                let found = self.about("selectionRange", json!({ "positions": [position] }));
                assert_eq!(found.as_array().map(Vec::len), Some(1));
            }
            "inlayHintProvider" => {
                let found = self.about("inlayHint", json!({ "range": range }));
                self.resolve(options, "inlayHint/resolve", &found);
            }
            "codeActionProvider" => {
                let context = json!({ "diagnostics": [] });
                let found = self.about("codeAction", json!({ "range": range, "context": context }));
                let lazy = found.as_array().into_iter().flatten();
                let lazy: Vec<_> = lazy.filter(|it| it.get("data").is_some()).collect();
                self.resolve(options, "codeAction/resolve", &json!(lazy));
            }
            "semanticTokensProvider" => {
                if options["range"] == true {
                    self.about("semanticTokens/range", json!({ "range": range }));
                }
                let full = self.about("semanticTokens/full", json!({}));
                if options["full"]["delta"] == true {
                    let params = json!({ "previousResultId": full["resultId"] });
                    let delta = self.about("semanticTokens/full/delta", params);
                    assert_eq!(delta["edits"], json!([]), "nothing changed");
                }
            }
            "documentFormattingProvider" => {
                drop(self.about(
                    "formatting",
                    json!({ "options": { "tabSize": 2, "insertSpaces": true } }),
                ));
            }
            "documentRangeFormattingProvider" => {
                drop(self.about(
                    "rangeFormatting",
                    json!({ "range": range, "options": { "tabSize": 2, "insertSpaces": true } }),
                ));
            }
            "documentOnTypeFormattingProvider" => {
                let params = json!({ "position": position, "ch": "\n", "options": { "tabSize": 2, "insertSpaces": true } });
                drop(self.about("onTypeFormatting", params));
            }
            "documentSymbolProvider" => drop(self.about("documentSymbol", json!({}))),
            "foldingRangeProvider" => drop(self.about("foldingRange", json!({}))),
            "codeLensProvider" => drop(self.about("codeLens", json!({}))),
            "documentLinkProvider" => drop(self.about("documentLink", json!({}))),
            "diagnosticProvider" => {
                let report = self.about("diagnostic", json!({}));
                assert!(report["items"].is_array());
            }
            "workspaceSymbolProvider" => {
                let found = self.request("workspace/symbol", json!({ "query": "" }));
                assert!(found.is_array());
            }
            "executeCommandProvider" => {
                for command in options["commands"].as_array().into_iter().flatten() {
                    let place = json!({ "uri": self.uri, "version": null, "function": null });
                    let params = json!({ "command": command, "arguments": [place] });
                    self.request("workspace/executeCommand", params);
                }
            }
            other => panic!("{other} is advertised, and no request of it is tried here"),
        }
    }
}

fn client() -> (Client, Value) {
    let mut capabilities = capabilities();
    capabilities["textDocument"]["diagnostic"] = json!({});
    Client::with(capabilities, json!({ "placement": { "background": false } }))
}

/// The requests are derived from the advertised capabilities, so that no new one is forgotten.
#[test]
fn no_request_fails_anywhere() {
    let (mut client, server) = client();
    let providers = server.as_object().expect("capabilities");
    for (n, line) in TYPED.into_iter().enumerate() {
        let text = text(line);
        let uri = format!("file:///broken/{n}.mlir");
        client.open(&uri, &text);
        let mut asked = RequestTarget { client: &mut client, uri: &uri, n_requests: 0 };
        let n_lines = text.lines().count();
        for (line, content) in text.lines().enumerate() {
            let mut characters = vec![0, 5, content.encode_utf16().count()];
            characters.dedup();
            for (nth, character) in characters.into_iter().enumerate() {
                let (line, character) = (line as u32, character as u32);
                for (provider, options) in providers {
                    // Slow requests and those about the whole file are sent once.
                    let is_slow = provider == "executeCommandProvider"
                        || provider == "workspaceSymbolProvider";
                    if !is_slow || (line as usize + 1 == n_lines && nth == 0) {
                        asked.all_of(provider, options, line, character);
                    }
                }
            }
        }
        assert!(asked.n_requests > 20 * n_lines, "{}", asked.n_requests);
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
}

/// The answers about names in the last function. Lines are counted from the end of the file.
fn answers(client: &mut Client, uri: &str, n_lines: u32) -> Vec<(&'static str, u32, String)> {
    const NAMES: [&str; 5] =
        ["hover", "documentHighlight", "prepareRename", "signatureHelp", "linkedEditingRange"];
    let mut out = Vec::new();
    for (line, character) in [(6, 3), (5, 3), (5, 19), (4, 9)] {
        for method in NAMES {
            let mut answer = client.at(method, uri, n_lines - line, character);
            // The hover contains the lines of the uses of a value.
            if let Some(text) = answer["contents"]["value"].as_str() {
                let shifted = lines_from_the_end(text, n_lines);
                answer["contents"]["value"] = shifted.into();
            }
            from_the_end(&mut answer, i64::from(n_lines));
            out.push((method, line, answer.to_string()));
        }
    }
    out
}

/// Counts the lines in a text from the end of the file: `on line 7` becomes `on line -3`.
fn lines_from_the_end(text: &str, n_lines: u32) -> String {
    let mut parts = text.split("on line ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let line: i64 = part[..end].parse().expect("a line");
        out += &format!("on line {}{}", line - i64::from(n_lines), &part[end..]);
    }
    out
}

/// Counts the lines in an answer from the end of the file.
fn from_the_end(answer: &mut Value, n_lines: i64) {
    match answer {
        Value::Object(object) => {
            for (key, value) in object {
                match value.as_i64() {
                    Some(line) if key == "line" => *value = (n_lines - line).into(),
                    _ => from_the_end(value, n_lines),
                }
            }
        }
        Value::Array(array) => array.iter_mut().for_each(|it| from_the_end(it, n_lines)),
        _ => {}
    }
}

#[test]
fn answers_about_other_lines_stay_the_same() {
    let (mut client, _) = client();
    let whole = text("%0 = noisy.add %x, %x : !noisy.i32");
    client.open(URI, &whole);
    let wanted = answers(&mut client, URI, whole.lines().count() as u32);
    let n_answers = wanted.iter().filter(|it| it.2 != "null" && it.2 != "[]").count();
    assert!(n_answers >= 12, "{wanted:?}");
    for (n, line) in TYPED.into_iter().enumerate() {
        // An opening brace moves the following text into its region.
        if line.contains(['{', '}']) {
            continue;
        }
        let uri = format!("file:///broken/line{n}.mlir");
        let text = text(line);
        client.open(&uri, &text);
        let found = answers(&mut client, &uri, text.lines().count() as u32);
        assert_eq!(found, wanted, "with {line:?}");
    }
}

/// These capabilities are the minimum.
#[test]
fn advertises_every_request_of_the_table() {
    let (mut client, server) = client();
    client.open(URI, &text(""));
    for name in [
        "hoverProvider",
        "definitionProvider",
        "referencesProvider",
        "documentHighlightProvider",
        "renameProvider",
        "completionProvider",
        "signatureHelpProvider",
        "callHierarchyProvider",
        "linkedEditingRangeProvider",
        "selectionRangeProvider",
        "inlayHintProvider",
        "semanticTokensProvider",
        "codeActionProvider",
        "documentSymbolProvider",
        "workspaceSymbolProvider",
        "foldingRangeProvider",
        "codeLensProvider",
        "documentLinkProvider",
        "diagnosticProvider",
        "executeCommandProvider",
    ] {
        assert!(server.get(name).is_some(), "{name}");
    }
}
