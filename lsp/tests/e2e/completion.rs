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
fn proposes_values_in_scope_nearest_first() {
    assert_eq!(labels("%1 = noisy.add %"), ["%0", "%x", "%a"]);
    assert_eq!(labels("%1 = noisy.add %x"), ["%x"]);
}

#[test]
fn proposes_ops_where_an_op_may_start() {
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

/// The inserted text of the proposal with a label at `$0`, and the proposal.
fn inserted(text: &str, label: &str, details: bool) -> (Option<String>, serde_json::Value) {
    let mut capabilities = crate::client::capabilities();
    let item = &mut capabilities["textDocument"]["completion"]["completionItem"];
    item["labelDetailsSupport"] = details.into();
    let (mut client, _) = Client::with(capabilities, serde_json::Value::Null);
    let at = text.find("$0").expect("a cursor");
    let (line, column) =
        (text[..at].matches('\n').count(), at - text[..at].rfind('\n').map_or(0, |it| it + 1));
    client.open(URI, &text.replace("$0", ""));
    let column = u32::try_from(column).expect("short");
    let found = client.at("completion", URI, u32::try_from(line).expect("short"), column);
    let item = found["items"].as_array().into_iter().flatten().find(|it| it["label"] == label);
    let item = item.cloned().unwrap_or_default();
    (item["textEdit"]["newText"].as_str().map(str::to_owned), item)
}

#[test]
fn an_op_comes_with_a_result_unless_one_is_written() {
    let body = |line: &str| function("f", &["%0 = noisy.mul %x, %x : !noisy.i32", line]);
    let (text, _) = inserted(&body("%9 = noisy.ad$0"), "noisy.add", false);
    assert_eq!(text.as_deref(), Some("noisy.add ${1:%0}, ${2:%x} : !noisy.i32"));
    let (text, _) = inserted(&body("noisy.ad$0"), "noisy.add", false);
    assert_eq!(text.as_deref(), Some("${1:%1} = noisy.add ${2:%0}, ${3:%x} : !noisy.i32"));
}

#[test]
fn proposes_only_functions_at_the_top_level() {
    let (text, _) = inserted("func$0\n", "func.func", false);
    assert!(text.is_some_and(|it| it.starts_with("func.func @${1:name}(")));
    for text in ["func$0\n", "module {\n  func$0\n}\n", "func.func @f() {\n  return\n}\nfunc$0\n"] {
        assert_eq!(inserted(text, "func.call", false).0, None, "{text}");
        assert!(inserted(text, "func.func", false).0.is_some(), "{text}");
    }
    let inside = "func.func @f() {\n  func$0\n  return\n}\n";
    assert!(inserted(inside, "func.call", false).0.is_some());
    assert_eq!(inserted(inside, "func.func", false).0, None);
}

#[test]
fn every_row_of_values_shows_noise() {
    let text = function("f", &["%0 = noisy.mul %x, %x : !noisy.i32", "%1 = noisy.add %$0"]);
    let (_, item) = inserted(&text, "%0", true);
    assert_eq!(item["labelDetails"], json!({ "detail": " [0, 24]", "description": "!noisy.i32" }));
    let (_, item) = inserted(&text, "%0", false);
    assert!(item.get("labelDetails").is_none());
    assert_eq!(item["detail"], "!noisy.i32 [0, 24]");
}

#[test]
fn operands_are_values_in_scope_but_not_the_result() {
    let body = |lines: &str| format!("func.func @f(%x: i5, %y: i8) {{\n{lines}\n  return\n}}\n");
    let text = |lines: &str, label: &str| inserted(&body(lines), label, false).0;
    let encode = "noisy.encode ${1:%x} : ${2:i5} -> !noisy.i32";
    assert_eq!(text("  %a = noisy.en$0", "noisy.encode").as_deref(), Some(encode));
    let encoded = "  %a = noisy.encode %x : i5 -> !noisy.i32\n";
    let mul = "noisy.mul ${1:%a}, ${2:%a} : !noisy.i32";
    assert_eq!(text(&format!("{encoded}  %b = noisy.m$0"), "noisy.mul").as_deref(), Some(mul));
    let add = "arith.addi ${1:%x}, ${2:%x} : ${3:i5}";
    assert_eq!(text(&format!("{encoded}  %b = arith.add$0"), "arith.addi").as_deref(), Some(add));
}

#[test]
fn the_types_of_written_operands_are_offered() {
    let body = |line: &str| function("f", &["%0 = noisy.mul %x, %x : !noisy.i32", line]);
    let whole = "%x : !noisy.i32";
    let (text, _) = inserted(&body("%1 = noisy.mul %0, %x$0"), whole, false);
    assert_eq!(text.as_deref(), Some(whole));
    let (text, _) = inserted(&body("%1 = noisy.mul %0, %x $0"), ": !noisy.i32", false);
    assert_eq!(text.as_deref(), Some(": !noisy.i32"));
    assert_eq!(inserted(&body("%1 = noisy.mul %x$0"), whole, false).0, None);
}
