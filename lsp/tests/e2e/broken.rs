//! Every request on a file with a broken line: answered, without an error, and about what is not broken as if nothing were.

use serde_json::{Value, json};

use crate::client::{Client, URI, capabilities, function, illegal};

/// Whole functions around one whose middle line is being typed.
fn text(line: &str) -> String {
    format!("{}{}{}", function("a", &[]), function("b", &[line]), illegal().replace("@f", "@c"))
}

/// What may stand in a line while it is typed.
const TYPED: [&str; 12] = [
    "",
    "%0",
    "%0 =",
    "%0 = noisy",
    "%0 = noisy.add",
    "%0 = noisy.add %x,",
    "%0 = noisy.add %x, %x :",
    "%0 = \"t.a\"(%x",
    "%0 = noisy.add %x, %x : !noisy.i32 loc(\"",
    "= = ) } ( {",
    "func.func @",
    "// -----",
];

/// All requests about a document, each at a position; those that resolve are asked in their own tests.
fn requests(line: u32, character: u32) -> Vec<(&'static str, Value)> {
    let position = json!({ "line": line, "character": character });
    let start = json!({ "line": 0, "character": 0 });
    let range = json!({ "start": start, "end": { "line": line, "character": character } });
    let at = || json!({ "position": position });
    let mut all: Vec<(&str, Value)> = [
        "hover",
        "definition",
        "documentHighlight",
        "prepareRename",
        "completion",
        "signatureHelp",
        "prepareCallHierarchy",
        "linkedEditingRange",
    ]
    .map(|it| (it, at()))
    .into();
    all.push((
        "references",
        json!({ "position": position, "context": { "includeDeclaration": true } }),
    ));
    all.push(("selectionRange", json!({ "positions": [position] })));
    all.push(("inlayHint", json!({ "range": range })));
    all.push(("semanticTokens/range", json!({ "range": range })));
    all.push(("codeAction", json!({ "range": range, "context": { "diagnostics": [] } })));
    for it in [
        "documentSymbol",
        "foldingRange",
        "semanticTokens/full",
        "codeLens",
        "documentLink",
        "diagnostic",
    ] {
        all.push((it, json!({})));
    }
    all.push(("semanticTokens/full/delta", json!({ "previousResultId": "1" })));
    all
}

fn client() -> (Client, Value) {
    let mut capabilities = capabilities();
    capabilities["textDocument"]["diagnostic"] = json!({});
    Client::with(capabilities, Value::Null)
}

#[test]
fn no_request_fails_anywhere() {
    let (mut client, _) = client();
    for (n, line) in TYPED.into_iter().enumerate() {
        let text = text(line);
        let uri = format!("file:///broken/{n}.mlir");
        client.open(&uri, &text);
        for (line, content) in text.lines().enumerate() {
            for character in [0, 5, content.len()] {
                let (line, character) = (line as u32, character as u32);
                for (method, params) in requests(line, character) {
                    // An error fails the test.
                    client.about(method, &uri, params);
                }
            }
        }
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
}

/// The answers about names in the last function, whose lines are counted from the end of the file.
fn answers(client: &mut Client, uri: &str, n_lines: u32) -> Vec<(&'static str, u32, String)> {
    const NAMES: [&str; 5] =
        ["hover", "documentHighlight", "prepareRename", "signatureHelp", "linkedEditingRange"];
    let mut out = Vec::new();
    for (line, character) in [(6, 3), (5, 3), (5, 19), (4, 9)] {
        for (method, params) in requests(n_lines - line, character) {
            if NAMES.contains(&method) {
                let mut answer = client.about(method, uri, params);
                from_the_end(&mut answer, i64::from(n_lines));
                out.push((method, line, answer.to_string()));
            }
        }
    }
    out
}

/// Counts lines from the end of the file.
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
fn what_is_not_broken_is_as_ever() {
    let (mut client, _) = client();
    let whole = text("%0 = noisy.add %x, %x : !noisy.i32");
    client.open(URI, &whole);
    let wanted = answers(&mut client, URI, whole.lines().count() as u32);
    let n_answers = wanted.iter().filter(|it| it.2 != "null" && it.2 != "[]").count();
    assert!(n_answers >= 12, "{wanted:?}");
    for (n, line) in TYPED.into_iter().enumerate() {
        // What opens a region takes what follows with it for as long as it is there.
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

#[test]
fn every_request_of_the_table_is_advertised() {
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
