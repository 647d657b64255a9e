//! Definition, references, highlights and rename.

use serde_json::{Value, json};

use crate::client::{Client, URI, apply, short};

const TEXT: &str = "\
#map = affine_map<(d0) -> (d0)>
func.func private @g(i32) -> i32
func.func @f(%a: i32, %c: i1) -> i32 {
  %b:2 = \"t.two\"(%a) {m = #map} : (i32) -> (i32, i32)
  %s = arith.addi %b#0, %b#1 : i32
  cf.cond_br %c, ^one(%s : i32), ^two
^one(%x: i32):
  %y = func.call @g(%x) : (i32) -> i32
  return %y : i32
^two:
  return %a : i32
}
";

fn open() -> Client {
    let mut client = Client::new();
    client.open(URI, TEXT);
    assert!(client.diagnostics(URI, 1).is_empty());
    client
}

/// The position of the nth occurrence of a name.
fn place(name: &str, n: usize) -> (u32, u32) {
    let at = TEXT.match_indices(name).nth(n).expect("it occurs").0;
    let line = TEXT[..at].matches('\n').count();
    let start = TEXT[..at].rfind('\n').map_or(0, |it| it + 1);
    (u32::try_from(line).expect("short"), u32::try_from(at - start).expect("short"))
}

fn definition(name: &str, n: usize) -> String {
    let (line, column) = place(name, n);
    let found = open().at("definition", URI, line, column + 1);
    found
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| short(&it["range"]))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn definitions_of_all_kinds() {
    assert_eq!(definition("%a", 1), "2:13-2:15", "a parameter");
    assert_eq!(definition("%b#1", 0), "3:2-3:4", "a pack");
    assert_eq!(definition("%x", 1), "6:5-6:7", "a block argument");
    assert_eq!(definition("^one", 0), "6:0-6:4", "a block");
    assert_eq!(definition("@g", 1), "1:18-1:20", "a function");
    assert_eq!(definition("#map", 1), "0:0-0:4", "an alias");
    assert_eq!(definition("arith", 0), "", "an op has none");
}

#[test]
fn references_and_highlights() {
    let mut client = open();
    let (line, column) = place("%a", 0);
    let params = json!({ "position": { "line": line, "character": column }, "context": { "includeDeclaration": true } });
    let found = client.request_about("references", URI, params);
    let places: Vec<_> =
        found.as_array().expect("a list").iter().map(|it| short(&it["range"])).collect();
    assert_eq!(places, ["2:13-2:15", "3:17-3:19", "10:9-10:11"]);
    let found = client.at("documentHighlight", URI, line, column);
    let kinds: Vec<_> =
        found.as_array().expect("a list").iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds, [3, 2, 2]);
}

fn rename(name: &str, n: usize, new: &str) -> Result<String, String> {
    let (line, column) = place(name, n);
    let mut client = open();
    let params = json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": column + 1 }, "newName": new });
    match client.request("textDocument/rename", params) {
        Ok(edit) => {
            let renamed = apply(TEXT, &edit["documentChanges"][0]["edits"]);
            client.change(URI, 2, None, &renamed);
            assert!(client.diagnostics(URI, 2).is_empty(), "{renamed}");
            Ok(renamed)
        }
        Err(error) => Err(error["message"].as_str().unwrap_or_default().to_owned()),
    }
}

#[test]
fn renames_of_all_kinds() {
    assert_eq!(rename("%a", 0, "%in"), Ok(TEXT.replace("%a", "%in")));
    assert_eq!(
        rename("%b#1", 0, "pair"),
        Ok(TEXT.replace("%b", "%pair")),
        "without a sigil, as a pack"
    );
    assert_eq!(rename("^one", 0, "^1"), Ok(TEXT.replace("^one", "^1")));
    assert_eq!(rename("@g", 1, "@other"), Ok(TEXT.replace("@g", "@other")));
    assert_eq!(rename("@g", 1, "two words"), Ok(TEXT.replace("@g", "@\"two words\"")));
    assert_eq!(rename("#map", 1, "#id"), Ok(TEXT.replace("#map", "#id")));
}

#[test]
fn conflicting_renames_are_refused_with_a_reason() {
    for (name, new) in [
        ("%a", "%s"),
        ("%a", "%x"),
        ("^one", "^two"),
        ("@g", "@f"),
        ("%a", "%1a"),
        ("%a", ""),
        ("arith.addi", "x"),
    ] {
        assert!(rename(name, 0, new).is_err_and(|it| !it.is_empty()), "{name} to {new}");
    }
}

#[test]
fn prepare_gives_the_name_without_its_number() {
    let mut client = open();
    let (line, column) = place("%b#1", 0);
    let found = client.at("prepareRename", URI, line, column + 1);
    assert_eq!(
        (short(&found["range"]), &found["placeholder"]),
        ("4:24-4:26".to_owned(), &json!("%b"))
    );
    assert_eq!(client.at("prepareRename", URI, 10, 3), Value::Null);
}
