//! Formatting: of a document, of a range, while typing.

use serde_json::{Value, json};

use crate::client::{Client, URI, apply};

fn options() -> Value {
    json!({ "tabSize": 2, "insertSpaces": true })
}

const TEXT: &str = "func.func @f(%a : i5)->i5 {
      %0 = arith.addi   %a, %a : i5 // kept
  return %0 : i5
}
func.func @g()   {
return
}
";

#[test]
fn formatting_a_document_is_idempotent() {
    let mut client = Client::new();
    client.open(URI, TEXT);
    let edits = client.request_about("formatting", URI, json!({ "options": options() }));
    let formatted = apply(TEXT, &edits);
    let wanted = "func.func @f(%a: i5) -> i5 {
  %0 = arith.addi %a, %a : i5 // kept
  return %0 : i5
}
func.func @g() {
  return
}
";
    assert_eq!(formatted, wanted);
    client.change(URI, 2, None, &formatted);
    let edits = client.request_about("formatting", URI, json!({ "options": options() }));
    assert_eq!(edits, json!([]));
}

#[test]
fn formatting_a_range_changes_only_the_range() {
    let mut client = Client::new();
    client.open(URI, TEXT);
    let at = |line: u32| json!({ "line": line, "character": 0 });
    let range = json!({ "start": at(4), "end": at(6) });
    let edits = client.request_about(
        "rangeFormatting",
        URI,
        json!({ "range": range, "options": options() }),
    );
    let formatted = apply(TEXT, &edits);
    let before = TEXT.find("func.func @g").expect("a second function");
    assert!(formatted.starts_with(&TEXT[..before]));
    assert!(formatted.ends_with("func.func @g() {\n  return\n}\n"), "{formatted}");
}

#[test]
fn does_not_format_texts_with_syntax_errors() {
    let mut client = Client::new();
    client.open(URI, &TEXT.replace("return %0", "return ("));
    let edits = client.request_about("formatting", URI, json!({ "options": options() }));
    assert_eq!(edits, json!([]));
}

#[test]
fn while_typing_a_new_line_is_indented() {
    let mut client = Client::new();
    let text = "func.func @f() {\n\n  return\n}\n";
    client.open(URI, text);
    let position = json!({ "line": 1, "character": 0 });
    let params = json!({ "position": position, "ch": "\n", "options": options() });
    let edits = client.request_about("onTypeFormatting", URI, params);
    assert_eq!(apply(text, &edits), "func.func @f() {\n  \n  return\n}\n");
}

#[test]
fn an_edit_during_formatting_cancels_the_answer() {
    let mut client = Client::new();
    let line = "  %0 = arith.addi   %a, %a : i5\n";
    let body: String = (0..20_000).map(|n| line.replace("%0", &format!("%{n}"))).collect();
    client.open(URI, &format!("func.func @f(%a: i5) {{\n{body}  return\n}}\n"));
    let params = json!({ "textDocument": { "uri": URI }, "options": options() });
    let id = client.ask("textDocument/formatting", params);
    client.change(URI, 2, Some(crate::client::range(0, 0, 0)), "// new\n");
    assert_eq!(client.answer(id).expect_err("modified")["code"], -32801);
}
