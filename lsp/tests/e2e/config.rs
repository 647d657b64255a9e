//! `noisy.toml`: it is read for each document, watched, and overridden by the settings of the
//! editor, for each root.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::{Client, capabilities, function, illegal, range};

/// A temporary folder with files.
pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn with(name: &str, files: &[(&str, &str)]) -> Self {
        let root =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let folder = Self(root);
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.0.join(name).display())
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn label(client: &mut Client, uri: &str) -> Value {
    client.request_about("inlayHint", uri, json!({ "range": range(1, 0, 80) }))[0]["label"].clone()
}

fn severities(found: &[Value]) -> Vec<&Value> {
    found.iter().map(|it| &it["severity"]).collect()
}

#[test]
fn applies_to_the_files_below_it() {
    let folder = TestFolder::with(
        "config-below",
        &[
            (
                "noisy.toml",
                "hints.budget = true\nrules.noise-overflow = \"warning\"\n[[overrides]]\nfiles = [\"legacy/\"]\nrules.noise = \"off\"\n",
            ),
            ("model/noisy.toml", "model.budget = 50\n"),
        ],
    );
    let mut client = Client::new();
    for (name, wanted, n) in [
        ("a.mlir", "[0, 12], 14 left", 1),
        ("legacy/a.mlir", "[0, 12], 14 left", 0),
        ("model/a.mlir", "[0, 12]", 0),
    ] {
        let uri = folder.uri(name);
        client.open(&uri, &illegal());
        let found = client.diagnostics(&uri, 1);
        assert_eq!(severities(&found), vec![&json!(2); n], "{name}");
        assert_eq!(label(&mut client, &uri), wanted, "{name}");
    }
}

#[test]
fn the_editor_overrides_the_file() {
    let folder = TestFolder::with("config-editor", &[("noisy.toml", "hints.budget = true\n")]);
    let options = json!({ "inlayHints": { "budget": false, "noise": null } });
    let (mut client, _) = Client::with(capabilities(), options);
    client.open(&folder.uri("a.mlir"), &function("f", &[]));
    assert_eq!(label(&mut client, &folder.uri("a.mlir")), "[0, 12]");
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "noisy": { "inlayHints": { "budget": null } } } }),
    );
    assert_eq!(label(&mut client, &folder.uri("a.mlir")), "[0, 12], 14 left");
}

#[test]
fn is_watched_by_the_server() {
    let folder = TestFolder::with("config-watched", &[("noisy.toml", "model.budget = 26\n")]);
    let mut capabilities = capabilities();
    capabilities["workspace"]["inlayHint"] = json!({ "refreshSupport": true });
    let (mut client, _) = Client::with(capabilities, Value::Null);
    let uri = folder.uri("a.mlir");
    client.open(&uri, &illegal());
    assert_eq!(severities(&client.diagnostics(&uri, 1)), [&json!(1)]);
    // The file changes before the first check of the server, and after it.
    folder.write("noisy.toml", "model.budget = 1000\n");
    assert!(client.diagnostics(&uri, 1).is_empty(), "published anew under the new budget");
    client.wait("new hints are wanted", |it| it["method"] == "workspace/inlayHint/refresh");
    folder.write("noisy.toml", "model.budget = 27\n");
    assert_eq!(severities(&client.diagnostics(&uri, 1)), [&json!(1)]);
    client.wait("new hints are wanted", |it| it["method"] == "workspace/inlayHint/refresh");
}

#[test]
fn is_read_again_after_a_notification_of_the_client() {
    let folder = TestFolder::with("config-told", &[]);
    let mut capabilities = capabilities();
    capabilities["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    let (mut client, _) = Client::with(capabilities, Value::Null);
    let registered =
        client.wait("a registration", |it| it["method"] == "client/registerCapability");
    assert!(registered.to_string().contains("noisy,.noisy"), "{registered}");
    client.reply(&registered, Value::Null);
    let uri = folder.uri("a.mlir");
    client.open(&uri, &illegal());
    assert_eq!(severities(&client.diagnostics(&uri, 1)), [&json!(1)]);
    folder.write(".noisy.toml", "rules.noise-overflow = \"hint\"\n");
    let change = json!({ "uri": folder.uri(".noisy.toml"), "type": 1 });
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    assert_eq!(severities(&client.diagnostics(&uri, 1)), [&json!(4)]);
}

#[test]
fn shows_mistakes_at_their_position_and_uses_the_defaults() {
    let folder = TestFolder::with("config-wrong", &[("noisy.toml", "\n[hints]\nnosie = true\n")]);
    let mut client = Client::new();
    let uri = folder.uri("a.mlir");
    client.open(&uri, &illegal());
    assert_eq!(severities(&client.diagnostics(&uri, 1)), [&json!(1)]);
    let told = client.wait("a message", |it| it["method"] == "window/showMessage");
    let text = told["params"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("nosie") && text.contains("noise"), "{text}");
    let is_config =
        |it: &Value| it["params"]["uri"].as_str().is_some_and(|it| it.ends_with("noisy.toml"));
    let shown = client.wait("its diagnostics", is_config);
    let problems = shown["params"]["diagnostics"].as_array().cloned().unwrap_or_default();
    assert_eq!(problems[0]["range"]["start"]["line"], 2, "{problems:?}");
    folder.write("noisy.toml", "[hints]\nnoise = true\n");
    let change = json!({ "uri": folder.uri("noisy.toml"), "type": 2 });
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    let cleared = client.wait("no problem is left", is_config);
    assert_eq!(cleared["params"]["diagnostics"], json!([]));
}

#[test]
fn roots_have_settings_of_their_own() {
    let folder = TestFolder::with("config-roots", &[("a/x.mlir", ""), ("b/x.mlir", "")]);
    let (mut client, output) = Client::deaf();
    client.listen(output);
    let mut capabilities = capabilities();
    capabilities["workspace"]["configuration"] = true.into();
    capabilities["workspace"]["workspaceFolders"] = true.into();
    let root = |name: &str| json!({ "uri": folder.uri(name), "name": name });
    let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": [root("a")] });
    assert!(client.request("initialize", params).is_ok());
    client.notify("initialized", json!({}));
    let asked = client.wait("a question", |it| it["method"] == "workspace/configuration");
    let scopes = |it: &Value| {
        it["params"]["items"]
            .as_array()
            .expect("items")
            .iter()
            .map(|it| it["scopeUri"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(scopes(&asked), [Value::Null, folder.uri("a").into()]);
    client.reply(&asked, json!([null, { "inlayHints": { "budget": true } }]));
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": { "added": [root("b")], "removed": [] } }),
    );
    let asked = client.wait("another", |it| it["method"] == "workspace/configuration");
    assert_eq!(scopes(&asked).len(), 3);
    client.reply(
        &asked,
        json!([null, { "inlayHints": { "budget": true } }, { "inlayHints": { "noise": false } }]),
    );
    for name in ["a/x.mlir", "b/x.mlir"] {
        client.open(&folder.uri(name), &function("f", &[]));
    }
    // A separate task handles the answers.
    let end = std::time::Instant::now() + crate::client::MESSAGE_TIMEOUT;
    while label(&mut client, &folder.uri("b/x.mlir")) != Value::Null {
        assert!(std::time::Instant::now() < end, "the settings of b do not come");
    }
    assert_eq!(label(&mut client, &folder.uri("a/x.mlir")), "[0, 12], 14 left");
}

#[test]
fn removed_settings_of_the_editor_no_longer_apply() {
    let folder = TestFolder::with("config-removed", &[("a.mlir", "")]);
    let uri = folder.uri("a.mlir");
    let mut capabilities = capabilities();
    capabilities["workspace"]["configuration"] = true.into();
    let (mut client, _) = Client::with(capabilities, Value::Null);
    client.open(&uri, &function("f", &[]));
    for (answer, wanted) in [
        (json!({ "inlayHints": { "noise": false } }), Value::Null),
        (Value::Null, "[0, 12]".into()),
    ] {
        let asked = client.wait("a question", |it| it["method"] == "workspace/configuration");
        client.reply(&asked, json!([answer]));
        // A separate task handles the answers.
        let end = std::time::Instant::now() + crate::client::MESSAGE_TIMEOUT;
        while label(&mut client, &uri) != wanted {
            assert!(std::time::Instant::now() < end, "{answer} does not count");
        }
        client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    }
}
