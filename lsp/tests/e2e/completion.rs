//! Completion.

use serde_json::json;

use crate::client::{Client, URI, function};

fn labels(line: &str) -> Vec<String> {
    let mut client = Client::new();
    let column = u32::try_from(2 + line.len()).expect("short");
    client.open(URI, &function("f", &["%0 = noisy.mul %x, %x : !noisy.i32", line]));
    let found = client.at("completion", URI, 3, column);
    let label = |it: &serde_json::Value| it["label"].as_str().unwrap_or_default().to_owned();
    found["items"].as_array().expect("items").iter().map(label).collect()
}

#[test]
fn values_in_scope_the_nearest_first() {
    assert_eq!(labels("%1 = noisy.add %"), ["%0", "%x", "%a"]);
    assert_eq!(labels("%1 = noisy.add %x"), ["%x"]);
}

#[test]
fn ops_where_an_op_may_stand() {
    let found = labels("%1 = noisy.");
    assert!(
        found.contains(&"noisy.reduce_noise".to_owned())
            && found.iter().all(|it| it.starts_with("noisy.")),
        "{found:?}"
    );
    assert!(labels("scf.f").contains(&"scf.for".to_owned()));
    assert!(labels("// noisy.").is_empty());
}

#[test]
fn symbols_and_types() {
    assert_eq!(labels("func.call @"), ["@f"]);
    assert_eq!(labels("%1 = noisy.add %0, %x : !"), ["!noisy.i32"]);
}

#[test]
fn documentation_comes_with_resolve() {
    let mut client = Client::new();
    let item = client
        .request("completionItem/resolve", json!({ "label": "noisy.mul" }))
        .expect("resolved");
    assert!(item["documentation"]["value"].as_str().is_some_and(|it| !it.is_empty()));
}
