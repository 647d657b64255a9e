//! Links of locations and codes, and linked editing of names.

use serde_json::{Value, json};

use crate::client::{Client, capabilities, function, illegal, range, short};

#[test]
fn locations_lead_to_files() {
    let mut client = Client::new();
    let uri = "file:///some/where/a.mlir";
    client.open(uri, "\"t.a\"() : () -> () loc(\"b c.mlir\":3:7)\n");
    let found = client.request_about("documentLink", uri, json!({}));
    let target = found[0]["target"].as_str().unwrap_or_default();
    assert_eq!(
        (short(&found[0]["range"]), target),
        ("0:24-0:32".to_owned(), "file:///some/where/b%20c.mlir#L3,7")
    );
}

#[test]
fn codes_lead_to_their_documentation() {
    let mut capabilities = capabilities();
    capabilities["textDocument"]["publishDiagnostics"]["codeDescriptionSupport"] = true.into();
    capabilities["textDocument"]["publishDiagnostics"]["dataSupport"] = true.into();
    let (mut client, _) = Client::with(capabilities, Value::Null);
    let uri = "file:///a.mlir";
    client.open(uri, &format!("{}// noisy: allow(noise-overflow)\n", illegal()));
    let found = client.diagnostics(uri, 1);
    let over = found.iter().find(|it| it["code"] == "noise-overflow").expect("over the budget");
    assert_eq!(over["data"]["category"], "noise");
    let href = over["codeDescription"]["href"].as_str().expect("a link");
    let file = href.strip_prefix("file://").expect("a file");
    let text = std::fs::read_to_string(file).expect("it is there");
    assert!(text.starts_with("# noise-overflow: "), "{text}");
    let links = client.request_about("documentLink", uri, json!({}));
    assert_eq!(links[0]["target"], href);
}

#[test]
fn linked_editing_covers_all_mentions() {
    let mut client = Client::new();
    let uri = "file:///a.mlir";
    client.open(uri, &function("f", &["%0 = noisy.add %x, %x : !noisy.i32"]));
    let found = client.at("linkedEditingRange", uri, 2, 18);
    let ranges: Vec<_> = found["ranges"].as_array().expect("ranges").iter().map(short).collect();
    assert_eq!(ranges, ["1:3-1:4", "2:18-2:19", "2:22-2:23", "3:21-3:22"]);
    assert_eq!(client.at("linkedEditingRange", uri, 2, 9), Value::Null, "not the name of an op");
    client.change(uri, 2, Some(range(1, 3, 4)), "y");
    assert_eq!(
        client.at("linkedEditingRange", uri, 1, 3),
        Value::Null,
        "one mention is not typed together"
    );
}
