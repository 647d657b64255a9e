//! `noisy.toml` as an open document: its problems, explanations of its keys, and completion.

use serde_json::{Value, json};

use crate::client::{Client, apply, capabilities, function, range};
use crate::config::TestFolder;

/// The labels of the proposals.
fn labels(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().expect("a list");
    items.iter().map(|it| it["label"].as_str().unwrap_or_default()).collect()
}

#[test]
fn is_checked_as_it_is_written() {
    let folder = TestFolder::with("config-file", &[("base.toml", "")]);
    let uri = folder.uri("noisy.toml");
    for pulls in [false, true] {
        let mut capabilities = capabilities();
        if pulls {
            capabilities["textDocument"]["diagnostic"] = json!({});
        }
        let (mut client, _) = Client::with(capabilities, Value::Null);
        client.open(&uri, "extends = \"base.toml\"\n[hints]\nnosie = true\n");
        let found = client.diagnostics(&uri, 1);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0]["range"], range(2, 0, 5));
        assert_eq!(found[0]["message"], "unknown key `nosie` in `hints`; did you mean `noise`?");
        if pulls {
            let report = client.request_about("diagnostic", &uri, json!({}));
            assert_eq!(report["items"], json!([]), "each problem is shown once");
        }
        client.change(&uri, 2, Some(range(2, 0, 5)), "noise");
        assert_eq!(client.diagnostics(&uri, 2), [] as [Value; 0]);
        client.change(&uri, 3, Some(range(2, 8, 12)), "\"yes\"");
        assert_eq!(client.diagnostics(&uri, 3)[0]["range"], range(2, 8, 13));
        client.change(&uri, 4, Some(range(0, 11, 15)), "none");
        let found = client.diagnostics(&uri, 4);
        let message = found[0]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("`extends`: ") && message.contains("none.toml"), "{message}");
        // Requests about programs have empty answers.
        for method in ["semanticTokens/full", "codeLens", "documentSymbol", "formatting"] {
            client.request_about(
                method,
                &uri,
                json!({ "options": { "tabSize": 2, "insertSpaces": true } }),
            );
        }
    }
}

#[test]
fn shows_the_open_text_and_after_closing_the_file_on_disk() {
    let folder = TestFolder::with("config-file-disk", &[("noisy.toml", "[rule]\n")]);
    let (uri, program) = (folder.uri("noisy.toml"), folder.uri("a.mlir"));
    let mut client = Client::new();
    let of_file = |version: Value| {
        let uri = folder.uri("noisy.toml");
        move |it: &Value| {
            it["method"] == "textDocument/publishDiagnostics"
                && it["params"]["uri"] == *uri
                && it["params"].get("version").unwrap_or(&Value::Null) == &version
        }
    };
    client.open(&program, &function("f", &[]));
    let shown = client.wait("those of the disk", of_file(Value::Null));
    assert_eq!(shown["params"]["diagnostics"].as_array().map(Vec::len), Some(1));
    client.open(&uri, "[rules]\n");
    let shown = client.wait("those of the text", of_file(1.into()));
    assert_eq!(shown["params"]["diagnostics"], json!([]));
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    let shown = client.wait("those of the disk", of_file(Value::Null));
    assert_eq!(shown["params"]["diagnostics"].as_array().map(Vec::len), Some(1), "{shown}");
}

#[test]
fn keys_and_values_are_proposed() {
    let mut client = Client::new();
    let uri = "file:///e2e/.noisy.toml";
    let text = "[placement]\nrep\n[rules]\nunused-op = \"o\n";
    client.open(uri, text);
    let list = client.at("completion", uri, 1, 3);
    assert_eq!(labels(&list), ["objective", "replace", "time-limit"]);
    let edit = &list["items"][1]["textEdit"];
    assert_eq!(edit["newText"], "replace = ${1|false,true|}");
    assert_eq!(edit["range"], range(1, 0, 3));
    assert_eq!(list["items"][1]["detail"], "true or false, default false");
    let list = client.at("completion", uri, 3, 14);
    assert_eq!(labels(&list)[..2], ["\"off\"", "\"on\""]);
    let text = apply(text, &json!([list["items"][0]["textEdit"]]));
    assert!(text.ends_with("unused-op = \"off\"\n"), "{text}");
    client.change(uri, 2, Some(range(1, 0, 3)), "");
    assert!(labels(&client.at("completion", uri, 1, 0)).contains(&"replace"), "the edit counts");
    let (mut plain, _) = Client::with(json!({}), Value::Null);
    plain.open(uri, "[placement]\n");
    let list = plain.at("completion", uri, 1, 0);
    assert_eq!(list["items"][1]["textEdit"]["newText"], "replace = false");
}

#[test]
fn keys_and_values_are_explained() {
    let mut client = Client::new();
    let uri = "file:///e2e/sub/noisy.toml";
    client.open(uri, "[placement]\nobjective = \"count\" # \u{e9}\n");
    let hover = client.at("hover", uri, 1, 3);
    assert_eq!(hover["range"], range(1, 0, 9));
    let text = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(text.starts_with("**`placement.objective`**: one of a list, default `\"executed\"`"));
    let hover = client.at("hover", uri, 1, 14);
    assert!(hover["contents"]["value"].as_str().is_some_and(|it| it.starts_with("`\"count\"`")));
    assert_eq!(client.at("hover", uri, 1, 22), Value::Null, "a comment");
}

#[test]
fn registers_for_config_files_if_the_client_can() {
    let mut capabilities = capabilities();
    for name in ["synchronization", "completion", "hover"] {
        capabilities["textDocument"][name]["dynamicRegistration"] = true.into();
    }
    let (mut client, _) = Client::with(capabilities, Value::Null);
    let asked = client.wait("a registration", |it| it["method"] == "client/registerCapability");
    let all = asked["params"]["registrations"].as_array().expect("a list");
    let methods: Vec<_> = all.iter().filter_map(|it| it["method"].as_str()).collect();
    for name in ["didOpen", "didChange", "didClose", "hover", "completion"] {
        assert!(methods.contains(&&*format!("textDocument/{name}")), "{methods:?}");
    }
    for it in all {
        assert_eq!(
            it["registerOptions"]["documentSelector"][0]["pattern"],
            "**/{noisy,.noisy}.toml"
        );
    }
}
