//! Diagnostics, pushed and pulled.

use serde_json::{Value, json};

use crate::client::{Client, URI, capabilities, errors, function, illegal, short};

#[test]
fn pushed_with_version_code_and_chain() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    let found = client.diagnostics(URI, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    let it = &found[0];
    assert_eq!(
        (&it["code"], &it["severity"], &it["source"]),
        (&json!("noise-overflow"), &json!(1), &json!("noisy"))
    );
    assert_eq!(short(&it["range"]), "3:7-3:23");
    assert!(
        it["message"].as_str().is_some_and(|it| it.contains("48") && it.contains("26")),
        "{it}"
    );
    let related = it["relatedInformation"].as_array().expect("the chain");
    assert!(related.iter().any(|it| short(&it["location"]["range"]) == "2:7-2:23"), "{related:?}");
    client.change(URI, 2, None, &function("f", &[]));
    assert!(client.diagnostics(URI, 2).is_empty());
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    client.wait("cleared", |it| {
        it["params"]["diagnostics"].as_array().is_some_and(Vec::is_empty)
            && it["params"].get("version").is_none()
    });
}

/// Problem views truncate long lines.
#[test]
fn each_sentence_of_the_help_has_its_line() {
    let mut client = Client::new();
    let later = "%2 = noisy.mul %1, %1 : !noisy.i32\n  %r = noisy.decode %2";
    client.open(URI, &illegal().replace("%r = noisy.decode %1", later));
    let found = client.diagnostics(URI, 1);
    let related = found[0]["relatedInformation"].as_array().expect("the chain");
    let texts: Vec<_> = related.iter().filter_map(|it| it["message"].as_str()).collect();
    let [.., help, more] = texts.as_slice() else { panic!("{texts:?}") };
    assert!(help.starts_with("help: Insert noisy.reduce_noise for %0 before this op"), "{help}");
    assert_eq!(*more, "1 later value also exceeds the budget");
}

#[test]
fn pulled_with_a_result_id() {
    let mut capabilities = capabilities();
    capabilities["textDocument"]["diagnostic"] = json!({});
    let (mut client, server) = Client::with(capabilities, Value::Null);
    assert!(server["diagnosticProvider"].is_object());
    client.open(URI, &illegal());
    let first = client.request_about("diagnostic", URI, json!({}));
    assert_eq!(
        (first["kind"].as_str(), first["items"].as_array().map(Vec::len)),
        (Some("full"), Some(1))
    );
    let id = &first["resultId"];
    let again = client.request_about("diagnostic", URI, json!({ "previousResultId": id }));
    assert_eq!((again["kind"].as_str(), &again["resultId"]), (Some("unchanged"), id));
    // An edit that does not move any diagnostic.
    client.change(URI, 2, Some(crate::client::range(6, 1, 1)), "\n// end");
    assert_eq!(
        client.request_about("diagnostic", URI, json!({ "previousResultId": id }))["kind"],
        "unchanged"
    );
    client.change(URI, 3, Some(crate::client::range(0, 0, 0)), "\n");
    let moved = client.request_about("diagnostic", URI, json!({ "previousResultId": id }));
    assert_eq!(moved["kind"], "full");
    assert!(
        !client.seen.iter().any(|it| it["method"] == "textDocument/publishDiagnostics"),
        "pulled or pushed, not both"
    );
}

#[test]
fn at_most_a_thousand_and_a_note() {
    let mut client = Client::new();
    client.open(URI, &errors(1500));
    let found = client.diagnostics(URI, 1);
    assert_eq!(found.len(), 1001);
    let note = found.iter().find(|it| it["severity"] == 3).expect("a note");
    assert_eq!(note["message"], "500 more diagnostics in this file are not shown");
}

#[test]
fn one_broken_line_hides_nothing_else() {
    let mut client = Client::new();
    let broken = function("g", &["%0 = = noisy.add %x, %x : !noisy.i32"]);
    client.open(URI, &format!("{broken}{}", illegal()));
    let found = client.diagnostics(URI, 1);
    let errors = found.iter().filter(|it| it["severity"] == 1);
    let lines: Vec<_> = errors.map(|it| it["range"]["start"]["line"].clone()).collect();
    assert_eq!(lines, [json!(2), json!(9)], "{found:?}");
    assert!(
        client.at("hover", URI, 8, 3)["contents"]["value"]
            .as_str()
            .is_some_and(|it| it.contains("[0, 24]"))
    );
}
