//! The lints that report what passes infer. They are off by default. Once turned on, each reports a
//! hint with a code, a page of documentation and a fix.

use serde_json::{Value, json};

use crate::client::{Client, URI, apply, capabilities, range};

const PROGRAM: &str = "func.func @f(%a: i32, %b: i32, %n: index, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %b, %a : i32 // the product
  %2 = arith.addi %c3, %c3 : i32
  scf.for %i = %c0 to %n step %c1 {
    %3 = arith.addi %1, %2 : i32
    %4 = arith.subi %1, %2 : i32
    memref.store %4, %m[%i] : memref<?xi32>
    memref.store %3, %m[%i] : memref<?xi32>
  }
  memref.store %0, %m[%c0] : memref<?xi32>
  return
}
";

fn actions(client: &mut Client, line: u32, kind: &str) -> Vec<Value> {
    let context = json!({ "diagnostics": [], "only": [kind] });
    let params = json!({ "range": range(line, 12, 12), "context": context });
    client.request_about("codeAction", URI, params).as_array().cloned().expect("a list")
}

#[test]
fn are_off_by_default() {
    let mut client = Client::new();
    client.open(URI, PROGRAM);
    assert_eq!(client.diagnostics(URI, 1), [Value::Null; 0]);
    let rules = json!({ "same-value": "on", "folds-to-constant": "on", "loop-invariant": "on", "dead-store": "on" });
    let on = json!({ "settings": { "noisy": { "rules": rules } } });
    client.notify("workspace/didChangeConfiguration", on);
    let found = client.diagnostics(URI, 1);
    let told: Vec<_> = found
        .iter()
        .map(|it| {
            assert_eq!(it["severity"], 4, "{it}");
            (
                it["range"]["start"]["line"].as_u64().unwrap_or(0),
                it["message"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    let expected = [
        (5, "%1 is the same value as %0 in line 5"),
        (6, "%2 folds to 6"),
        (8, "%3 does not change in the loop"),
        (9, "%4 does not change in the loop"),
        (10, "line 12 overwrites this before anything reads it"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn diagnostics_have_a_page_and_a_quick_fix_for_one_or_all() {
    let rules = json!({ "same-value": "on", "folds-to-constant": "on", "loop-invariant": "on", "dead-store": "on" });
    let mut capabilities = capabilities();
    capabilities["textDocument"]["publishDiagnostics"]["codeDescriptionSupport"] = true.into();
    let (mut client, _) = Client::with(capabilities, json!({ "rules": rules }));
    client.open(URI, PROGRAM);
    for it in client.diagnostics(URI, 1) {
        let page = it["codeDescription"]["href"].as_str().unwrap_or_default();
        let code = it["code"].as_str().expect("a code");
        assert!(page.ends_with(&format!("/{code}.md")), "{it}");
    }
    let mut fixed = |line: u32, title: &str| {
        let found = actions(&mut client, line, "quickfix");
        let is_it = |it: &&Value| it["title"] == title;
        let action =
            found.iter().find(is_it).unwrap_or_else(|| panic!("{title} in {found:?}")).clone();
        let action = if action.get("edit").is_some() {
            action
        } else {
            client.request("codeAction/resolve", action).expect("resolved")
        };
        apply(PROGRAM, &action["edit"]["documentChanges"][0]["edits"])
    };
    let product = "  %1 = arith.muli %b, %a : i32 // the product\n";
    let after = fixed(5, "Use %0 instead");
    assert_eq!(after, PROGRAM.replace(product, "  // the product\n").replace("i %1,", "i %0,"));
    let after = fixed(6, "Replace %2 by its value, 6");
    assert_eq!(after, PROGRAM.replace("arith.addi %c3, %c3 :", "arith.constant 6 :"));
    let after = fixed(10, "Remove this store");
    assert_eq!(after, PROGRAM.replace("    memref.store %4, %m[%i] : memref<?xi32>\n", ""));
    let (head, inner) = ("  scf.for", "    %3 = arith.addi %1, %2 : i32\n");
    let one = PROGRAM.replace(inner, "").replace(head, &format!("{}{head}", &inner[2..]));
    assert_eq!(fixed(8, "Move %3 before the loop"), one);
    let next = "    %4 = arith.subi %1, %2 : i32\n";
    let both = one.replace(next, "").replace(head, &format!("{}{head}", &next[2..]));
    assert_eq!(fixed(8, "Fix all loop-invariant in this file"), both);
}
