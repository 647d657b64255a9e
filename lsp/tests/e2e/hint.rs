//! Inlay hints.

use serde_json::{Value, json};

use crate::client::{Client, URI, function, illegal, range};

fn hints(client: &mut Client, range: Value) -> Vec<String> {
    let hints = client.about("inlayHint", URI, json!({ "range": range }));
    let place = |it: &Value| {
        format!(
            "{}:{} {}",
            it["position"]["line"],
            it["position"]["character"],
            it["label"].as_str().unwrap_or_default()
        )
    };
    hints.as_array().expect("a list, never null").iter().map(place).collect()
}

#[test]
fn behind_every_noisy_value_of_the_range() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    assert_eq!(hints(&mut client, range(2, 0, 40)), ["2:4 [0, 24]"]);
    let all =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    assert_eq!(hints(&mut client, all), ["1:4 [0, 12]", "2:4 [0, 24]", "3:4 [0, 48] > 26"]);
    assert!(hints(&mut client, range(4, 0, 40)).is_empty());
}

#[test]
fn follow_the_edits_before_the_request() {
    let mut client = Client::new();
    client.open(URI, &function("f", &["%0 = noisy.mul %x, %x : !noisy.i32"]));
    client.change(URI, 2, Some(range(2, 13, 16)), "add");
    assert_eq!(hints(&mut client, range(2, 0, 40)), ["2:4 [0, 13]"]);
}

#[test]
fn resolve_to_the_derivation() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    let hints = client.about("inlayHint", URI, json!({ "range": range(2, 0, 40) }));
    let hint = client.request("inlayHint/resolve", hints[0].clone()).expect("resolved");
    assert!(
        hint["tooltip"]["value"].as_str().is_some_and(|it| it.contains("12 + 12 = 24")),
        "{hint}"
    );
}
