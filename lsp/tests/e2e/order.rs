//! The hazards of concurrent transports: order, slow requests, clients that do not read.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, MESSAGE_TIMEOUT, URI, capabilities, errors, function, range};

/// Inserts numbers at the start of one comment.
#[test]
fn two_thousand_edits_are_applied_in_order() {
    let mut client = Client::new();
    client.open(URI, "// \n");
    let mut wanted = String::new();
    for version in 2..2002 {
        let text = format!("{},", version % 100);
        client.change(URI, version, Some(range(0, 3, 3)), &text);
        wanted.insert_str(0, &text);
        if version % 400 == 0 {
            // A request between edits sees exactly the earlier ones.
            let _ =
                client.ask("textDocument/foldingRange", json!({ "textDocument": { "uri": URI } }));
        }
    }
    // The position of this error depends on the length of the text before it.
    let at = u32::try_from(3 + wanted.len()).expect("short");
    client.change(URI, 2002, Some(range(0, at, at)), "\n\"t.a\"(%u) : (i32) -> ()");
    let found = client.diagnostics(URI, 2002);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"], range(1, 6, 8));
    client.change(
        URI,
        2003,
        Some(
            json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } }),
        ),
        "",
    );
    assert_eq!(client.diagnostics(URI, 2003)[0]["range"], range(0, 6, 8));
    let versions: Vec<_> =
        client.seen.iter().filter_map(|it| it["params"]["version"].as_i64()).collect();
    assert!(versions.is_sorted(), "published in order: {versions:?}");
}

fn large(n: usize) -> String {
    let op = |at: usize| match (at, at % 2) {
        (0, _) => "%0 = noisy.add %x, %x : !noisy.i32".to_owned(),
        (_, 1) => format!("%{at} = noisy.reduce_noise %{} : !noisy.i32", at - 1),
        _ => format!("%{at} = noisy.add %{}, %x : !noisy.i32", at - 1),
    };
    let ops: Vec<String> = (0..n).map(op).collect();
    let text = function("f", &ops.iter().map(String::as_str).collect::<Vec<_>>());
    text.replace("decode %x", &format!("decode %{}", n - 1))
}

#[test]
fn slow_requests_do_not_block_others() {
    let mut client = Client::new();
    client.open(URI, &large(30_000));
    client.open("file:///small.mlir", &function("f", &[]));
    assert!(client.diagnostics(URI, 1).is_empty());
    let slow: Vec<_> = (0..5)
        .map(|_| {
            client
                .ask("textDocument/semanticTokens/full", json!({ "textDocument": { "uri": URI } }))
        })
        .collect();
    // Hovers in the same document, and in another one.
    for uri in [URI, "file:///small.mlir"] {
        assert!(client.at("hover", uri, 1, 3)["contents"].is_object());
    }
    let answered = |client: &Client| client.seen.iter().filter(|it| it.get("id").is_some()).count();
    assert!(answered(&client) < 5, "hovers waited for all tokens");
    for id in slow {
        assert!(
            client
                .answer(id)
                .is_ok_and(|it| it["data"].as_array().is_some_and(|it| it.len() > 100_000))
        );
    }
}

#[test]
fn answers_about_the_visible_range_come_first() {
    let mut client = Client::new();
    client.open(URI, &large(60_000));
    let document = json!({ "uri": URI });
    let seen =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 60, "character": 0 } });
    let all = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99_999, "character": 0 } });
    let (mut whole, mut near) = (Vec::new(), Vec::new());
    for name in ["semanticTokens/full", "codeLens", "documentSymbol"] {
        let params = json!({ "textDocument": document });
        whole.push(client.ask(&format!("textDocument/{name}"), params));
    }
    let hints = "textDocument/inlayHint";
    whole.push(client.ask(hints, json!({ "textDocument": document, "range": all })));
    for method in ["textDocument/semanticTokens/range", hints, "noisy/budget"] {
        near.push(client.ask(method, json!({ "textDocument": document, "range": seen })));
    }
    let mut order = Vec::new();
    for _ in 0..whole.len() + near.len() {
        let is_answer = |it: &Value| it.get("method").is_none() && it["id"].is_i64();
        order.push(client.wait("an answer", is_answer)["id"].as_i64().unwrap_or_default());
    }
    // All requests arrive while the text is being parsed.
    let (first, last) = order.split_at(near.len());
    assert!(first.iter().all(|it| near.contains(it)), "{order:?}: {near:?} before {whole:?}");
    assert_eq!(last.len(), whole.len());
}

#[test]
fn hundreds_of_requests_do_not_block_others() {
    let mut client = Client::new();
    client.open(URI, &large(30_000));
    client.open("file:///small.mlir", &function("f", &[]));
    assert!(client.diagnostics(URI, 1).is_empty());
    // More requests than any transport handles simultaneously.
    let about = json!({ "textDocument": { "uri": URI } });
    let slow: Vec<_> =
        (0..500).map(|_| client.ask("textDocument/foldingRange", about.clone())).collect();
    assert!(client.at("hover", "file:///small.mlir", 1, 3)["contents"].is_object());
    let answered = client.seen.iter().filter(|it| it.get("id").is_some()).count();
    assert!(answered < slow.len(), "the hover waited for all of them");
    // An edit ends the remaining requests.
    client.change(URI, 2, Some(range(0, 0, 0)), " ");
    let mut n_ended = 0;
    for id in slow {
        match client.answer(id) {
            Ok(folds) => assert!(folds.is_array()),
            Err(error) => {
                assert_eq!(error["code"], -32801);
                n_ended += 1;
            }
        }
    }
    assert!(client.diagnostics(URI, 2).is_empty());
    assert!(n_ended > 0, "the file was folded faster than 500 messages");
}

#[test]
fn slow_requests_end_when_the_document_changes() {
    let mut client = Client::new();
    client.open(URI, &large(50_000));
    assert!(client.diagnostics(URI, 1).is_empty());
    let about = json!({ "textDocument": { "uri": URI } });
    let slow: Vec<_> =
        (0..50).map(|_| client.ask("textDocument/semanticTokens/full", about.clone())).collect();
    client.change(URI, 2, Some(range(0, 0, 0)), " ");
    assert!(client.diagnostics(URI, 2).is_empty());
    let mut n_ended = 0;
    for id in slow {
        match client.answer(id) {
            // Five numbers for each of more than five tokens of an op.
            Ok(all) => {
                assert!(all["data"].as_array().is_some_and(|it| it.len() > 25 * 50_000));
            }
            Err(error) => {
                assert_eq!(error["code"], -32801);
                n_ended += 1;
            }
        }
    }
    assert!(n_ended > 0, "all tokens were written fifty times before an edit was read");
}

#[test]
fn does_not_wait_for_answers_of_the_client() {
    let mut capabilities = capabilities();
    capabilities["workspace"]["configuration"] = true.into();
    capabilities["workspace"]["didChangeConfiguration"] = json!({ "dynamicRegistration": true });
    let (mut client, _) = Client::with(capabilities, Value::Null);
    for n in 0..8 {
        client.notify("workspace/didChangeConfiguration", json!({ "settings": n }));
    }
    client.open(URI, &function("f", &[]));
    assert!(client.at("hover", URI, 1, 3)["contents"].is_object());
    assert!(client.seen.iter().any(|it| it["method"] == "workspace/configuration"));
}

#[test]
fn a_client_that_does_not_read_blocks_nothing() {
    let (mut client, output) = Client::deaf();
    let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities() });
    let id = client.ask("initialize", params);
    client.notify("initialized", json!({}));
    // A thousand diagnostics for each version, which is more than a pipe can hold.
    client.open(URI, &errors(1000));
    for version in 2..1000 {
        client.change(URI, version, Some(range(0, 0, 0)), "// \n");
    }
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    client.listen(output);
    assert!(client.answer(id).is_ok());
    assert_eq!(client.diagnostics(URI, 999).len(), 1000);
    assert!(start.elapsed() < MESSAGE_TIMEOUT);
    let published =
        client.seen.iter().filter(|it| it["method"] == "textDocument/publishDiagnostics").count();
    assert!(published < 50, "{published} old publications waited");
}

#[test]
fn documents_do_not_mix_and_closed_ones_are_cleared() {
    let mut client = Client::new();
    for round in 0..30 {
        for n in 0..5 {
            let uri = format!("file:///d{n}.mlir");
            let text =
                if (round + n) % 2 == 0 { "\"t.a\"(%u) : (i32) -> ()\n" } else { "// fine\n" };
            client.open(&uri, text);
            if round < 29 {
                client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
            }
        }
    }
    for n in 0..5 {
        let uri = format!("file:///d{n}.mlir");
        let wanted = usize::from((29 + n) % 2 == 0);
        loop {
            // Only the last publication counts. Diagnostics of closed documents may come before it.
            if client.diagnostics(&uri, 1).len() == wanted {
                break;
            }
        }
    }
}
