//! The optimizer: in the background, on save, with progress, and cancelled.

use serde_json::{Value, json};

use crate::client::{Client, MESSAGE_TIMEOUT, URI, apply, capabilities, function, illegal, range};

fn actions(client: &mut Client, context: Value) -> Vec<Value> {
    let params = json!({ "range": range(3, 8, 8), "context": context });
    client.request_about("codeAction", URI, params).as_array().cloned().expect("a list")
}

fn titles(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|it| it["title"].as_str()).collect()
}

/// A client that the server asks to refresh its lenses.
fn client(options: Value) -> Client {
    let mut capabilities = capabilities();
    capabilities["workspace"]["codeLens"] = json!({ "refreshSupport": true });
    capabilities["textDocument"]["codeAction"]["disabledSupport"] = true.into();
    Client::with(capabilities, options).0
}

fn wait_until_solved(client: &mut Client) {
    let refresh = client.wait("lenses", |it| it["method"] == "workspace/codeLens/refresh");
    client.reply(&refresh, Value::Null);
}

#[test]
fn in_the_background_titles_become_exact() {
    let mut client = client(Value::Null);
    let text = illegal();
    client.open(URI, &text);
    let lens = client.request_about("codeLens", URI, json!({}));
    assert_eq!(lens[0]["command"]["title"], "max noise 48 of 26 bits: insert optimal reduce_noise");
    wait_until_solved(&mut client);
    let lens = client.request_about("codeLens", URI, json!({}));
    assert_eq!(
        lens[0]["command"]["title"],
        "max noise 48 of 26 bits: insert 1 reduce_noise (proven optimal)"
    );
    let found = actions(&mut client, json!({ "diagnostics": [] }));
    assert_eq!(
        titles(&found),
        [
            "Insert 1 reduce_noise (proven optimal) in @f",
            "Write noisy.mul in the generic form",
            "Insert 1 reduce_noise (proven optimal) in the whole file",
            "Rewrite and insert optimal reduce_noise in @f",
            "Suppress noise-overflow on this line",
        ]
    );
    let fixed = apply(&text, &found[0]["edit"]["documentChanges"][0]["edits"]);
    // A solution belongs to one version.
    client.change(URI, 2, Some(range(0, 0, 0)), "// new\n");
    let found = actions(&mut client, json!({ "diagnostics": [], "only": ["source.fixAll"] }));
    assert_eq!(titles(&found), ["Insert optimal reduce_noise in the whole file"]);
    client.change(URI, 3, None, &fixed);
    assert!(client.diagnostics(URI, 3).is_empty());
}

fn on_save() -> Value {
    json!({ "diagnostics": [], "only": ["source.fixAll.noisy"], "triggerKind": 2 })
}

#[test]
fn fix_on_save_waits_for_the_search() {
    for pulls in [false, true] {
        let mut capabilities = capabilities();
        if pulls {
            capabilities["textDocument"]["diagnostic"] = json!({});
        }
        let options = json!({ "placement": { "saveWait": 20_000 } });
        let (mut client, _) = Client::with(capabilities, options);
        let text = illegal();
        client.open(URI, "");
        client.change(URI, 2, None, &text);
        let found = actions(&mut client, on_save());
        assert_eq!(titles(&found), ["Insert 1 reduce_noise (proven optimal) in the whole file"]);
        let change = &found[0]["edit"]["documentChanges"][0];
        assert_eq!(change["textDocument"]["version"], 2);
        let fixed = apply(&text, &change["edits"]);
        client.change(URI, 3, None, &fixed);
        assert!(actions(&mut client, on_save()).is_empty(), "nothing is left to do");
    }
}

#[test]
fn titles_become_exact_for_clients_that_pull() {
    let mut capabilities = capabilities();
    capabilities["textDocument"]["diagnostic"] = json!({});
    capabilities["workspace"]["codeLens"] = json!({ "refreshSupport": true });
    let (mut client, _) = Client::with(capabilities, Value::Null);
    client.open(URI, &illegal());
    wait_until_solved(&mut client);
    let found = actions(&mut client, json!({ "diagnostics": [], "only": ["source.fixAll"] }));
    assert_eq!(titles(&found), ["Insert 1 reduce_noise (proven optimal) in the whole file"]);
}

#[test]
fn a_save_waits_at_most_the_configured_time() {
    let mut capabilities = capabilities();
    capabilities["experimental"] = json!({ "serverStatusNotification": true });
    let options = json!({ "placement": { "saveWait": 50, "timeLimit": 600 } });
    let (mut client, _) = Client::with(capabilities, options);
    client.open(URI, &hard(4000));
    let is_quiet = |it: &Value| {
        it["method"] == "experimental/serverStatus" && it["params"]["quiescent"] == true
    };
    client.wait("the first status", is_quiet);
    assert!(actions(&mut client, on_save()).is_empty(), "the search goes on");
    assert!(!client.seen.iter().any(is_quiet), "the search is not over");
    // An edit during the search cancels the answer.
    let section = json!({ "placement": { "saveWait": 60_000, "timeLimit": 600 } });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "noisy": section } }));
    let params = json!({
        "textDocument": { "uri": URI }, "range": range(3, 8, 8), "context": on_save(),
    });
    let id = client.ask("textDocument/codeAction", params);
    client.change(URI, 2, Some(range(0, 0, 0)), "// new\n");
    assert_eq!(client.answer(id).expect_err("modified")["code"], -32801);
}

#[test]
fn on_save_a_search_begins_also_if_the_background_is_off() {
    let options = json!({ "placement": { "background": false, "saveWait": 20_000 } });
    let mut client = client(options);
    client.open(URI, &illegal());
    assert_eq!(actions(&mut client, on_save()).len(), 1);
}

#[test]
fn the_background_can_be_switched_off() {
    let mut client = client(json!({ "placement": { "background": false } }));
    client.open(URI, &illegal());
    client.diagnostics(URI, 1);
    std::thread::sleep(std::time::Duration::from_millis(600));
    let lens = client.request_about("codeLens", URI, json!({}));
    assert_eq!(lens[0]["command"]["title"], "max noise 48 of 26 bits: insert optimal reduce_noise");
}

#[test]
fn disabled_actions_have_a_reason() {
    let mut client = client(Value::Null);
    client.open(URI, &illegal().replace("return %r", "return %undefined"));
    wait_until_solved(&mut client);
    let found = actions(&mut client, json!({ "diagnostics": [], "only": ["quickfix"] }));
    let reason = found[0]["disabled"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("undefined"), "{found:?}");
}

#[test]
fn a_lens_shows_why_nothing_can_be_placed() {
    let mut client = client(Value::Null);
    client.open(URI, &format!("{}func\n", illegal()));
    wait_until_solved(&mut client);
    let lens = client.request_about("codeLens", URI, json!({}));
    assert_eq!(
        lens[0]["command"],
        json!({
            "title": "max noise 48 of 26 bits: cannot place: error on line 8: custom op 'func' is unknown",
            "command": "",
        })
    );
    let found = actions(&mut client, json!({ "diagnostics": [], "only": ["quickfix"] }));
    let reason = "@f not changed: error on line 8: custom op 'func' is unknown";
    assert_eq!(found[0]["disabled"]["reason"], reason);
}

#[test]
fn lenses_of_an_edited_text_and_of_a_new_one_are_equal_after_both_searches() {
    let mut client = client(Value::Null);
    let text = |last| {
        let unknown = "%0:2 = \"t.f\"() : () -> (!noisy.i32, !noisy.i32)";
        function("f", &[unknown, "%1 = noisy.mul %x, %x : !noisy.i32", last])
    };
    let title = |client: &mut Client, uri: &str| {
        client.request_about("codeLens", uri, json!({}))[0]["command"]["title"].clone()
    };
    client.open(URI, &text("%2 = noisy.add %1, %1 : !noisy.i32"));
    let illegal = text("%2 = noisy.mul %1, %1 : !noisy.i32");
    client.change(URI, 2, None, &illegal);
    wait_until_solved(&mut client);
    let edited = title(&mut client, URI);
    assert_eq!(edited, "max noise 48 of 26 bits: cannot place: the noise of %0#0 is unknown");
    let new = "file:///e2e/new.mlir";
    client.open(new, &illegal);
    wait_until_solved(&mut client);
    assert_eq!(title(&mut client, new), edited);
}

#[test]
fn the_command_of_a_lens_places() {
    let mut client = client(Value::Null);
    let text = illegal();
    client.open(URI, &text);
    let lens = client.request_about("codeLens", URI, json!({}));
    let command = &lens[0]["command"];
    let params = json!({ "command": command["command"], "arguments": command["arguments"] });
    assert_eq!(client.request("workspace/executeCommand", params), Ok(Value::Null));
    let edit = client.wait("an edit", |it| it["method"] == "workspace/applyEdit");
    client.reply(&edit, json!({ "applied": true }));
    let shown = client.wait("a report", |it| it["method"] == "window/showMessage");
    assert_eq!(shown["params"]["type"], 3, "{shown}");
    let fixed = apply(&text, &edit["params"]["edit"]["documentChanges"][0]["edits"]);
    client.change(URI, 2, None, &fixed);
    assert!(client.diagnostics(URI, 2).is_empty());
}

#[test]
fn the_command_without_a_version_uses_the_open_version() {
    let mut client = client(Value::Null);
    client.open(URI, &illegal());
    let params = json!({ "command": "noisy.insertReduceNoise", "arguments": [{ "uri": URI }] });
    assert_eq!(client.request("workspace/executeCommand", params.clone()), Ok(Value::Null));
    let edit = client.wait("an edit", |it| it["method"] == "workspace/applyEdit");
    client.reply(&edit, json!({ "applied": false, "failureReason": "it is locked" }));
    let shown = client.wait("why not", |it| it["method"] == "window/showMessage");
    assert_eq!(shown["params"]["type"], 2, "{shown}");
    assert_eq!(shown["params"]["message"], "Nothing was inserted: it is locked");
    // A legal program needs no edit.
    let fixed = apply(&illegal(), &edit["params"]["edit"]["documentChanges"][0]["edits"]);
    client.change(URI, 2, None, &fixed);
    assert_eq!(client.request("workspace/executeCommand", params), Ok(Value::Null));
    let next = client.wait("an answer", |it| {
        it["method"] == "window/showMessage" || it["method"] == "workspace/applyEdit"
    });
    assert_eq!(next["method"], "window/showMessage", "{next}");
}

#[test]
fn replaces_existing_reductions() {
    let mut client = client(Value::Null);
    // Two reductions, of which one is enough.
    let text = function(
        "f",
        &[
            "%0 = noisy.mul %x, %x : !noisy.i32",
            "%1 = noisy.reduce_noise %0 : !noisy.i32",
            "%2 = noisy.reduce_noise %0 : !noisy.i32",
            "%3 = noisy.mul %1, %2 : !noisy.i32",
        ],
    );
    client.open(URI, &text);
    let params =
        json!({ "range": range(3, 8, 8), "context": { "diagnostics": [], "only": ["refactor"] } });
    let found = client.request_about("codeAction", URI, params);
    assert_eq!(found[0]["title"], "Re-optimize all reduce_noise in @f (replaces existing)");
    assert_eq!(found[0]["kind"], "refactor.rewrite.noisy");
    let resolved = client.request("codeAction/resolve", found[0].clone()).expect("resolved");
    let fixed = apply(&text, &resolved["edit"]["documentChanges"][0]["edits"]);
    assert_eq!(fixed.matches("reduce_noise").count(), 1, "{fixed}");
    client.change(URI, 2, None, &fixed);
    assert!(client.diagnostics(URI, 2).iter().all(|it| it["severity"] != 1));
}

/// A chain of sums that needs reductions in this order, and none in a better order.
fn long_sum() -> String {
    let sum = |n: usize| match n {
        0 => "%0 = noisy.add %x, %x : !noisy.i32".to_owned(),
        _ => format!("%{n} = noisy.add %{}, %x : !noisy.i32", n - 1),
    };
    let ops: Vec<String> = (0..20).map(sum).collect();
    let ops: Vec<&str> = ops.iter().map(String::as_str).collect();
    function("f", &ops).replace("decode %x", "decode %19")
}

fn rewriting(client: &mut Client) -> Value {
    let params = json!({
        "range": range(21, 8, 8), "context": { "diagnostics": [], "only": ["refactor.rewrite"] },
    });
    let found = client.request_about("codeAction", URI, params);
    let is_rewriting = |it: &&Value| it["title"].as_str().unwrap_or("").starts_with("Rewrite and");
    let rewriting = found.as_array().and_then(|it| it.iter().find(is_rewriting));
    rewriting.unwrap_or_else(|| panic!("{found}")).clone()
}

#[test]
fn a_rewriting_needs_confirmation_if_the_client_supports_it() {
    for annotates in [false, true] {
        let mut capabilities = capabilities();
        if annotates {
            capabilities["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = json!({});
        }
        let (mut client, _) = Client::with(capabilities, Value::Null);
        client.open(URI, &long_sum());
        let action = rewriting(&mut client);
        let resolved = client.request("codeAction/resolve", action).expect("resolved");
        let edit = &resolved["edit"];
        let annotation = &edit["changeAnnotations"]["noisy"];
        assert_eq!(annotation["needsConfirmation"] == true, annotates, "{edit}");
        let label = annotation["label"].as_str().unwrap_or_default();
        assert_eq!(label.contains("reductions to 0"), annotates, "{edit}");
        let fixed = apply(&long_sum(), &edit["documentChanges"][0]["edits"]);
        assert!(!fixed.contains("reduce_noise"), "{fixed}");
    }
}

#[test]
fn a_client_that_confirms_edits_of_the_server_is_sent_the_rewriting() {
    let mut capabilities = capabilities();
    capabilities["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = json!({});
    capabilities["experimental"] = json!({ "confirmsEdits": true });
    let (mut client, _) = Client::with(capabilities, Value::Null);
    client.open(URI, &long_sum());
    let action = rewriting(&mut client);
    assert!(action.get("edit").is_none() && action.get("data").is_none(), "{action}");
    let command = json!({
        "command": action["command"]["command"], "arguments": action["command"]["arguments"],
    });
    client.request("workspace/executeCommand", command).expect("executed");
    let asked = client.wait("an edit", |it| it["method"] == "workspace/applyEdit");
    let edit = &asked["params"]["edit"];
    assert_eq!(edit["changeAnnotations"]["noisy"]["needsConfirmation"], true, "{edit}");
    client.reply(&asked, json!({ "applied": false, "failureReason": "you cancelled" }));
    let shown = client.wait("a message", |it| it["method"] == "window/showMessage");
    assert_eq!(shown["params"]["message"], "Nothing was inserted: you cancelled");
}

#[test]
fn a_lens_shows_the_savings_of_rewriting_on_request() {
    for (lens, n) in [(json!({}), 1), (json!({ "rewriting": true }), 2)] {
        let mut client = client(json!({ "codeLens": lens }));
        client.open(URI, &long_sum());
        for _ in 0..n {
            wait_until_solved(&mut client);
        }
        let found = client.request_about("codeLens", URI, json!({}));
        let titles: Vec<&str> = found
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| it["command"]["title"].as_str())
            .collect();
        assert_eq!(titles.len(), n, "{found}");
        let Some(title) = titles.get(1) else { continue };
        let start = "rewrite and insert optimal reduce_noise (";
        assert!(title.starts_with(start) && title.contains(" to 0"), "{title}");
        // An edit makes the savings unknown.
        client.change(URI, 2, Some(range(0, 0, 0)), "// new\n");
        let found = client.request_about("codeLens", URI, json!({}));
        assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    }
}

#[test]
fn an_edit_ends_the_search_for_a_rewriting() {
    let mut capabilities = capabilities();
    capabilities["workspace"]["codeLens"] = json!({ "refreshSupport": true });
    capabilities["experimental"] = json!({ "serverStatusNotification": true });
    let options = json!({ "codeLens": { "rewriting": true }, "placement": { "timeLimit": 600 } });
    let (mut client, _) = Client::with(capabilities, options);
    client.open(URI, &hard(70));
    wait_until_solved(&mut client);
    // The search for a rewriting is still running.
    client.change(URI, 2, Some(range(0, 0, 0)), "// new\n");
    client.change(URI, 3, None, &function("f", &[]));
    let start = std::time::Instant::now();
    assert!(client.diagnostics(URI, 3).is_empty());
    let is_quiet = |it: &Value| {
        it["method"] == "experimental/serverStatus" && it["params"]["quiescent"] == true
    };
    client.wait("the end of the search", is_quiet);
    assert!(start.elapsed() < MESSAGE_TIMEOUT / 2, "{:?}", start.elapsed());
}

/// A program that takes every solver a long time: many multiplications of earlier values.
fn hard(n: usize) -> String {
    let mut ops = Vec::new();
    let mut seed = 7_u64;
    let mut pick = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    for n in 0..n {
        let mut operand = || match n.saturating_sub(1 + pick(50)) {
            _ if n == 0 => "%x".to_owned(),
            at => format!("%{at}"),
        };
        let (a, b) = (operand(), operand());
        let op = if pick(10) == 0 { "mul" } else { "add" };
        ops.push(format!("%{n} = noisy.{op} {a}, {b} : !noisy.i32"));
    }
    function("f", &ops.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_placement_under_earlier_settings_is_not_offered() {
    let mut capabilities = capabilities();
    capabilities["window"] = json!({ "workDoneProgress": true });
    let placement = |limit| json!({ "placement": { "timeLimit": limit, "background": false } });
    let (mut client, _) = Client::with(capabilities, placement(1));
    client.open(URI, &hard(4000));
    let found = actions(&mut client, json!({ "diagnostics": [], "only": ["source.fixAll"] }));
    let id = client.ask("codeAction/resolve", found[0].clone());
    let create = client.wait("progress", |it| it["method"] == "window/workDoneProgress/create");
    client.reply(&create, Value::Null);
    let settings = json!({ "settings": { "noisy": placement(2) } });
    client.notify("workspace/didChangeConfiguration", settings);
    assert_eq!(client.answer(id).expect_err("modified")["code"], -32801);
}

#[test]
fn a_long_run_shows_progress_and_can_be_cancelled() {
    let mut capabilities = capabilities();
    capabilities["window"] = json!({ "workDoneProgress": true });
    capabilities["experimental"] = json!({ "serverStatusNotification": true });
    let options = json!({ "placement": { "timeLimit": 600, "background": false } });
    let (mut client, _) = Client::with(capabilities, options);
    client.open(URI, &hard(4000));
    let found = actions(&mut client, json!({ "diagnostics": [], "only": ["source.fixAll"] }));
    let start = std::time::Instant::now();
    let id = client.ask("codeAction/resolve", found[0].clone());
    let busy = |it: &Value| {
        it["method"] == "experimental/serverStatus" && it["params"]["quiescent"] == false
    };
    client.wait("a busy status", busy);
    let create = client.wait("progress", |it| it["method"] == "window/workDoneProgress/create");
    let token = create["params"]["token"].clone();
    client.reply(&create, Value::Null);
    let is = |kind: &'static str| {
        move |it: &Value| it["method"] == "$/progress" && it["params"]["value"]["kind"] == kind
    };
    let begin = client.wait("its begin", is("begin"));
    assert_eq!(
        (&begin["params"]["token"], &begin["params"]["value"]["cancellable"]),
        (&token, &true.into())
    );
    // The current step, the best solution so far, and its lower bound.
    client.wait("a report", |it| {
        let message = it["params"]["value"]["message"].as_str().unwrap_or_default();
        message.starts_with("@f: searching, cost ") && message.contains(", lower bound ")
    });
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    let error = client.answer(id).expect_err("cancelled");
    assert_eq!(error["code"], -32800, "{error}");
    client.wait("its end", is("end"));
    client.wait("a quiet status", |it| {
        it["method"] == "experimental/serverStatus" && it["params"]["quiescent"] == true
    });
    assert!(start.elapsed() < MESSAGE_TIMEOUT, "long before its time limit");
    // `$/cancelRequest` ends a run too.
    let id = client.ask("codeAction/resolve", found[0].clone());
    client.wait("another busy status", busy);
    client.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(client.answer(id).expect_err("cancelled")["code"], -32800);
    client.wait("another quiet status", |it| {
        it["method"] == "experimental/serverStatus" && it["params"]["quiescent"] == true
    });
}

#[test]
fn all_commands_that_are_offered_are_executed() {
    let (mut client, server) = Client::with(capabilities(), Value::Null);
    client.open(URI, &illegal());
    let commands =
        server["executeCommandProvider"]["commands"].as_array().cloned().expect("a list");
    assert!(!commands.is_empty());
    for command in commands {
        let arguments = json!([{ "uri": URI, "version": null, "function": null }]);
        let params = json!({ "command": command, "arguments": arguments });
        let answer = client.request("workspace/executeCommand", params);
        assert!(answer.is_ok(), "{command}: {answer:?}");
    }
}
