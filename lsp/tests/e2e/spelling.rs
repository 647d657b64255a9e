//! Names of documents that are not valid URIs in the spelling of the client.

use serde_json::{Value, json};

use crate::client::{Client, capabilities, illegal};

const NAMES: [&str; 5] = ["a[1]", "a^b", "a|b", "two words", "caf\u{e9}"];

#[test]
fn answers_contain_the_spelling_of_the_client() {
    let mut client = Client::new();
    for name in NAMES {
        let uri = format!("file:///e2e/[x]/{name}.mlir");
        client.open(&uri, &illegal());
        assert!(!client.diagnostics(&uri, 1).is_empty(), "{name}");
        let params = json!({ "position": { "line": 2, "character": 3 }, "context": { "includeDeclaration": true } });
        let found = client.request_about("references", &uri, params);
        assert_eq!(found[0]["uri"], *uri);
        let params = json!({ "position": { "line": 2, "character": 3 }, "newName": "new" });
        let edit = client.request_about("rename", &uri, params);
        assert_eq!(edit["documentChanges"][0]["textDocument"]["uri"], *uri);
        client.change(&uri, 2, None, "");
        assert!(client.diagnostics(&uri, 2).is_empty(), "{name}");
    }
}

#[test]
fn edits_by_name_contain_the_spelling_of_the_client() {
    let mut capabilities = capabilities();
    capabilities["workspace"]["workspaceEdit"] = json!({});
    let (mut client, _) = Client::with(capabilities, Value::Null);
    let uri = "file:///e2e/a[1].mlir";
    client.open(uri, &illegal());
    let params = json!({ "position": { "line": 2, "character": 3 }, "newName": "new" });
    let edit = client.request_about("rename", uri, params);
    assert!(edit["changes"][uri].is_array(), "{edit}");
}

#[test]
fn reports_invalid_names_once() {
    let mut client = Client::new();
    for _ in 0..2 {
        client.open("no scheme.mlir", &illegal());
    }
    let told = client.wait("a message", |it| it["method"] == "window/logMessage");
    let text = told["params"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("'no scheme.mlir'"), "{text}");
    assert!(client.request("$/fence", Value::Null).is_err());
    assert!(client.seen.iter().all(|it| it["method"] != "window/logMessage"), "{:?}", client.seen);
}
