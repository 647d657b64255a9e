//! `noisy/graph` and `noisy/explain`: whole pages.

use serde_json::json;

use crate::client::{Client, URI};

const OVER: &str = "\
func.func @fine(%x: !noisy.i32) -> !noisy.i32 {
  return %x : !noisy.i32
}
func.func @over(%x: !noisy.i32) -> !noisy.i32 {
  %0 = noisy.mul %x, %x : !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  return %1 : !noisy.i32
}
";

#[test]
fn the_graph_of_a_function_and_of_its_placement() {
    let mut client = Client::new();
    client.open(URI, OVER);
    let document = json!({ "uri": URI });
    let mut page = |params| client.request("noisy/graph", params).expect("a page").to_string();
    let first = page(json!({ "textDocument": document }));
    assert!(first.contains("@over") && !first.contains("after: Insert"), "{first}");
    let at = json!({ "line": 1, "character": 2 });
    let fine = page(json!({ "textDocument": document, "position": at }));
    assert!(fine.contains("@fine"), "{fine}");
    let both = page(json!({ "textDocument": document, "fix": true }));
    assert!(both.contains("after: Insert"), "{both}");
}

#[test]
fn a_program_without_functions_has_no_graph() {
    let mut client = Client::new();
    client.open(URI, "// nothing\n");
    let params = json!({ "textDocument": { "uri": URI } });
    let error = client.request("noisy/graph", params).expect_err("nothing to draw");
    assert!(error.to_string().contains("there is no function"), "{error}");
}

#[test]
fn the_page_of_a_code() {
    let mut client = Client::new();
    let page = client.request("noisy/explain", json!({ "code": "noise-overflow" }));
    assert!(page.expect("a page").to_string().contains("noise-overflow"));
    let error = client.request("noisy/explain", json!({ "code": "no-such" })).expect_err("unknown");
    assert!(error.to_string().contains("unknown code no-such"), "{error}");
}
