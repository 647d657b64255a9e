//! Settings from `initialize`, from notifications, and from requests of the server.

use serde_json::{Value, json};

use crate::client::{Client, URI, capabilities, function, range};

fn label(client: &mut Client) -> Value {
    let hints = client.request_about("inlayHint", URI, json!({ "range": range(1, 0, 80) }));
    hints[0]["label"].clone()
}

#[test]
fn take_effect_in_order() {
    let (mut client, _) = Client::with(capabilities(), json!({ "inlayHints": { "budget": true } }));
    client.open(URI, &function("f", &[]));
    assert_eq!(label(&mut client), "[0, 12], 14 left");
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "noisy": { "inlayHints": { "budget": false } } } }),
    );
    assert_eq!(label(&mut client), "[0, 12]");
}

#[test]
fn are_requested_from_the_client() {
    let mut capabilities = capabilities();
    capabilities["workspace"]["configuration"] = true.into();
    capabilities["workspace"]["inlayHint"] = json!({ "refreshSupport": true });
    let (mut client, _) = Client::with(capabilities, Value::Null);
    let asked = client.wait("a question", |it| it["method"] == "workspace/configuration");
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": [{ "inlayHints": { "noise": false } }] }));
    client.wait("new hints are wanted", |it| it["method"] == "workspace/inlayHint/refresh");
    client.open(URI, &function("f", &[]));
    assert_eq!(label(&mut client), Value::Null);
}

#[test]
fn invalid_settings_are_reported_and_ignored() {
    let (mut client, _) =
        Client::with(capabilities(), json!({ "placement": { "timeLimit": "soon" } }));
    let shown = client.wait("a warning", |it| it["method"] == "window/showMessage");
    assert!(shown["params"]["message"].as_str().is_some_and(|it| it.contains("noisy")), "{shown}");
    client.open(URI, &function("f", &[]));
    assert_eq!(label(&mut client), "[0, 12]");
}
