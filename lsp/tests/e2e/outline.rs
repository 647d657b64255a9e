//! Document symbols, folding and selection ranges.

use serde_json::{Value, json};

use crate::client::{Client, URI, short};

const TEXT: &str = "\
// One.
// Two.
module @m {
  func.func @f(%c: i1) {
    scf.if %c {
      \"t.a\"() : () -> ()
    }
    return
  }
  module {
    func.func private @g()
  }
}
";

fn open() -> Client {
    let mut client = Client::new();
    client.open(URI, TEXT);
    assert!(client.diagnostics(URI, 1).is_empty());
    client
}

fn tree(symbols: &Value) -> String {
    let one = |it: &Value| {
        format!(
            "{} {}{}",
            it["name"].as_str().unwrap_or_default(),
            short(&it["range"]),
            tree(&it["children"])
        )
    };
    let all: Vec<_> = symbols.as_array().map(|it| it.iter().map(one).collect()).unwrap_or_default();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}

#[test]
fn symbols_are_nested() {
    let found = open().request_about("documentSymbol", URI, json!({}));
    assert_eq!(tree(&found), " (m 2:0-12:1 (f 3:2-8:3, module 9:2-11:3 (g 10:4-10:26)))");
}

fn depth(it: &Value) -> usize {
    it.as_array().and_then(|it| it.iter().map(|it| 1 + depth(&it["children"])).max()).unwrap_or(0)
}

#[test]
fn deep_nesting_is_flattened() {
    let mut client = Client::new();
    let n = 500;
    client.open(URI, &format!("{}{}", "module {\n".repeat(n), "}\n".repeat(n)));
    let found = client.request_about("documentSymbol", URI, json!({}));
    assert!((10..100).contains(&depth(&found)));
}

#[test]
fn folds_regions_and_comments() {
    let found = open().request_about("foldingRange", URI, json!({}));
    let lines: Vec<_> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| {
            format!(
                "{}-{} {}",
                it["startLine"],
                it["endLine"],
                it["kind"].as_str().unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(lines, ["0-1 comment", "2-12 region", "3-8 region", "4-6 region", "9-11 region"]);
}

#[test]
fn selection_grows_outward() {
    let positions = json!({ "positions": [{ "line": 4, "character": 12 }] });
    let found = open().request_about("selectionRange", URI, positions);
    let mut ranges = Vec::new();
    let mut at = &found[0];
    while at.is_object() {
        ranges.push(short(&at["range"]));
        at = &at["parent"];
    }
    assert_eq!(ranges[..3], ["4:11-4:13", "4:4-4:14", "4:4-6:5"]);
    assert_eq!(ranges.last().map(String::as_str), Some("0:0-13:0"));
}

#[test]
fn limits_the_number_of_expanded_cursors() {
    let position = json!({ "line": 4, "character": 12 });
    let positions = json!({ "positions": vec![position; 12_000] });
    let found = open().request_about("selectionRange", URI, positions);
    let found = found.as_array().expect("a list");
    assert_eq!(found.len(), 12_000, "an answer for each");
    let n_grown = found.iter().filter(|it| it["parent"].is_object()).count();
    assert_eq!(n_grown, 10_000);
    assert_eq!(short(&found[11_999]["range"]), "4:12-4:12");
}
