//! Start and end of the server, cancellation, and messages outside of its lifetime.

use serde_json::{Value, json};

use crate::client::{Client, URI, capabilities, function};

#[test]
fn exit_after_shutdown_is_0() {
    let mut client = Client::new();
    assert_eq!(client.request("shutdown", Value::Null), Ok(Value::Null));
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), Some(0), "with its input still open");
}

#[test]
fn exit_without_shutdown_is_1() {
    let mut client = Client::new();
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), Some(1));
    let (mut client, _output) = Client::deaf();
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), Some(1), "before initialize");
}

#[test]
fn ends_with_its_input() {
    let mut client = Client::new();
    client.open(URI, &function("f", &[]));
    client.close_input();
    assert_eq!(client.exit_code(), Some(1));
}

#[test]
fn rejects_requests_before_initialize_and_after_shutdown() {
    let (mut client, output) = Client::deaf();
    client.listen(output);
    let code = |answer: Result<Value, Value>| answer.expect_err("refused")["code"].as_i64();
    for method in ["textDocument/hover", "workspace/unknown", "$/unknown", "shutdown"] {
        assert_eq!(code(client.request(method, json!({}))), Some(-32002), "{method}");
    }
    let params = json!({ "processId": null, "rootUri": null, "capabilities": {} });
    assert!(client.request("initialize", params.clone()).is_ok());
    assert_eq!(code(client.request("initialize", params)), Some(-32600));
    assert_eq!(code(client.request("$/unknown", json!({}))), Some(-32601));
    assert_eq!(code(client.request("workspace/unknown", json!({}))), Some(-32601));
    assert_eq!(client.request("shutdown", Value::Null), Ok(Value::Null));
    for method in ["textDocument/hover", "workspace/unknown", "$/unknown", "initialize", "shutdown"]
    {
        assert_eq!(code(client.request(method, json!({}))), Some(-32600), "{method}");
    }
}

#[test]
fn shutdown_ignores_parameters() {
    for params in [json!({}), Value::Null, json!([])] {
        let mut client = Client::new();
        assert_eq!(client.request("shutdown", params.clone()), Ok(Value::Null), "{params}");
        client.notify("exit", params);
        assert_eq!(client.exit_code(), Some(0));
    }
}

#[test]
fn a_cancelled_request_is_answered_at_once_and_once() {
    let mut client = Client::new();
    let op = "%y = noisy.add %x, %x : !noisy.i32\n".repeat(50_000).replace("%y", "%_");
    client.open(URI, &function("f", &[&op]));
    let ids: Vec<_> = (0..20)
        .map(|_| {
            client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }))
        })
        .collect();
    for id in &ids {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    let cancelled =
        ids.iter().filter(|id| client.answer(**id).is_err_and(|it| it["code"] == -32800)).count();
    assert!(cancelled > 0, "the file was read faster than 20 messages");
    assert!(client.request("$/fence", Value::Null).is_err());
    assert!(client.seen.iter().all(|it| it.get("id").is_none()), "{:?}", client.seen);
}

#[test]
fn the_encoding_is_negotiated() {
    for (offered, picked) in [
        (json!(["utf-16", "utf-8"]), "utf-8"),
        (json!(["utf-32", "utf-16"]), "utf-32"),
        (json!(["utf-16"]), "utf-16"),
        (Value::Null, "utf-16"),
    ] {
        let mut capabilities = capabilities();
        capabilities["general"]["positionEncodings"] = offered;
        let (mut client, server) = Client::with(capabilities, Value::Null);
        assert_eq!(server["positionEncoding"], picked);
        // An emoji is 4 bytes, 2 UTF-16 units, 1 character.
        let column = match picked {
            "utf-8" => 4,
            "utf-16" => 2,
            _ => 1,
        };
        client.open(URI, "\"t.a\"(%u) : (i32) -> () // \n\"t.\u{1F600}\"(%v) : (i32) -> ()\n");
        let found = client.diagnostics(URI, 1);
        let second = found
            .iter()
            .find(|it| it["range"]["start"]["line"] == 1)
            .expect("an error on each line");
        assert_eq!(second["range"]["start"]["character"], 5 + column, "{picked}");
    }
}
