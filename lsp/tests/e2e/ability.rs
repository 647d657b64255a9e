//! The server does not use capabilities that the client lacks.

use serde_json::{Value, json};

use crate::client::{Client, URI, capabilities, function, illegal, range};

/// A client that shows texts without markup.
fn client_without_markup() -> Client {
    let mut capabilities = capabilities();
    let text = &mut capabilities["textDocument"];
    text["hover"] = json!({ "contentFormat": ["plaintext"] });
    text["completion"]["completionItem"]["documentationFormat"] = json!(["plaintext"]);
    text["signatureHelp"] =
        json!({ "signatureInformation": { "documentationFormat": ["plaintext"] } });
    Client::with(capabilities, Value::Null).0
}

#[track_caller]
fn assert_plain(content: &Value) {
    assert_eq!(content["kind"], "plaintext", "{content}");
    let text = content["value"].as_str().unwrap_or_default();
    assert!(!text.is_empty() && !text.contains("**") && !text.contains('`'), "{text}");
}

#[test]
fn plain_texts_of_programs() {
    let mut client = client_without_markup();
    client.open(URI, &illegal());
    assert_plain(&client.at("hover", URI, 3, 3)["contents"]);
    let hints = client.request_about("inlayHint", URI, json!({ "range": range(3, 0, 80) }));
    let hint = client.request("inlayHint/resolve", hints[0].clone()).expect("resolved");
    assert_plain(&hint["tooltip"]);
    let item = json!({ "label": "noisy.mul" });
    let item = client.request("completionItem/resolve", item).expect("resolved");
    assert_plain(&item["documentation"]);
    let help = client.at("signatureHelp", URI, 3, 21);
    assert_plain(&help["signatures"][0]["documentation"]);
}

#[test]
fn plain_texts_of_configuration_files() {
    let mut client = client_without_markup();
    let uri = "file:///e2e/noisy.toml";
    client.open(uri, "[placement]\nobjective = \"count\"\n");
    assert_plain(&client.at("hover", uri, 1, 3)["contents"]);
    let list = client.at("completion", uri, 2, 0);
    assert_plain(&list["items"][0]["documentation"]);
}

#[test]
fn texts_have_markup_otherwise() {
    let mut capabilities = capabilities();
    capabilities["textDocument"]["hover"] = json!({ "contentFormat": ["plaintext", "markdown"] });
    for capabilities in [capabilities, json!({})] {
        let (mut client, _) = Client::with(capabilities, Value::Null);
        client.open(URI, &illegal());
        assert_eq!(client.at("hover", URI, 3, 3)["contents"]["kind"], "markdown");
    }
}

#[test]
fn parameters_are_ranges_or_parts_of_the_label() {
    for (places, wanted) in [(true, json!([10, 12])), (false, json!("%a"))] {
        let mut capabilities = capabilities();
        capabilities["textDocument"]["signatureHelp"] = json!({
            "signatureInformation": { "parameterInformation": { "labelOffsetSupport": places } },
        });
        let (mut client, _) = Client::with(capabilities, Value::Null);
        client.open(URI, &illegal());
        let help = client.at("signatureHelp", URI, 3, 21);
        let signature = &help["signatures"][0];
        assert_eq!(signature["label"], "noisy.mul %a, %b : !noisy.i32");
        assert_eq!(signature["parameters"][0]["label"], wanted);
    }
}

#[test]
fn renames_are_prepared_for_clients_that_ask() {
    for (prepares, wanted) in [(true, json!({ "prepareProvider": true })), (false, json!(true))] {
        let mut capabilities = capabilities();
        capabilities["textDocument"]["rename"] = json!({ "prepareSupport": prepares });
        let (_, server) = Client::with(capabilities, Value::Null);
        assert_eq!(server["renameProvider"], wanted);
    }
}

#[test]
fn completions_have_kinds_that_the_client_shows() {
    let text = "#m = 1 : i32\n\"t.x\"() {a = #} : () -> ()\n";
    for (kinds, wanted) in [
        (Value::Null, Value::Null),
        (json!({ "valueSet": [1, 2, 3] }), Value::Null),
        (json!({ "valueSet": [1, 2, 21] }), json!(21)),
    ] {
        let mut capabilities = capabilities();
        capabilities["textDocument"]["completion"]["completionItemKind"] = kinds.clone();
        let (mut client, _) = Client::with(capabilities, Value::Null);
        client.open(URI, text);
        let found = client.at("completion", URI, 1, 14);
        assert_eq!(found["items"][0]["label"], "#m", "{found}");
        assert_eq!(found["items"][0]["kind"], wanted, "{kinds}");
    }
    let mut client = Client::new();
    client.open(URI, &function("f", &["%0 = noisy."]));
    assert_eq!(client.at("completion", URI, 2, 13)["items"][0]["kind"], 3, "an old kind");
}

#[test]
fn placement_needs_a_client_that_applies_edits() {
    let mut capabilities = capabilities();
    capabilities["workspace"]["applyEdit"] = false.into();
    capabilities["textDocument"]["codeAction"]["resolveSupport"] = Value::Null;
    let options = json!({ "placement": { "background": false } });
    let (mut client, server) = Client::with(capabilities, options);
    let command = "noisy.insertReduceNoise";
    let offered = &server["executeCommandProvider"]["commands"];
    assert!(offered.as_array().is_some_and(|it| !it.is_empty() && !it.contains(&json!(command))));
    client.open(URI, &illegal());
    let lens = &client.request_about("codeLens", URI, json!({}))[0]["command"];
    assert_eq!(lens["command"], "", "{lens}");
    assert!(lens["title"].as_str().is_some_and(|it| !it.contains("insert")), "{lens}");
    let params = json!({ "range": range(3, 8, 8), "context": { "diagnostics": [] } });
    let actions = client.request_about("codeAction", URI, params);
    assert!(!actions.to_string().contains(command), "{actions}");
    let params = json!({ "command": command, "arguments": [{ "uri": URI }] });
    let error = client.request("workspace/executeCommand", params).expect_err("refused");
    assert!(error["message"].as_str().is_some_and(|it| it.contains("applyEdit")), "{error}");
}

#[test]
fn shows_why_the_editor_refused_an_edit() {
    for (answer, wanted) in [
        (json!({ "result": { "applied": false } }), "the editor gave no reason"),
        (json!({ "error": { "code": -32603, "message": "it is locked" } }), "it is locked"),
    ] {
        let mut client = Client::new();
        client.open(URI, &illegal());
        let params = json!({ "command": "noisy.insertReduceNoise", "arguments": [{ "uri": URI }] });
        assert_eq!(client.request("workspace/executeCommand", params), Ok(Value::Null));
        let asked = client.wait("an edit", |it| it["method"] == "workspace/applyEdit");
        let mut answer = answer.clone();
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = asked["id"].clone();
        client.send(&answer);
        let shown = client.wait("why not", |it| it["method"] == "window/showMessage");
        assert_eq!(shown["params"]["message"], format!("Nothing was inserted: {wanted}"));
    }
}
