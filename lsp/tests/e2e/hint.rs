//! Inlay hints.

use serde_json::{Value, json};

use crate::client::{Client, URI, function, illegal, range};

fn hints(client: &mut Client, range: Value) -> Vec<String> {
    let hints = client.request_about("inlayHint", URI, json!({ "range": range }));
    let place = |it: &Value| {
        format!(
            "{}:{} {}",
            it["position"]["line"],
            it["position"]["character"],
            it["label"].as_str().unwrap_or_default()
        )
    };
    hints.as_array().expect("a list, never null").iter().map(place).collect()
}

#[test]
fn follow_every_noisy_value_of_the_range() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    assert_eq!(hints(&mut client, range(2, 0, 40)), ["2:4 [0, 24]"]);
    let all =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    assert_eq!(hints(&mut client, all), ["1:4 [0, 12]", "2:4 [0, 24]", "3:4 ⚠ [0, 48] > 26"]);
    assert!(hints(&mut client, range(4, 0, 40)).is_empty());
}

#[test]
fn follow_the_edits_before_the_request() {
    let mut client = Client::new();
    client.open(URI, &function("f", &["%0 = noisy.mul %x, %x : !noisy.i32"]));
    client.change(URI, 2, Some(range(2, 13, 16)), "add");
    assert_eq!(hints(&mut client, range(2, 0, 40)), ["2:4 [0, 13]"]);
}

#[test]
fn resolve_to_the_derivation() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    let hints = client.request_about("inlayHint", URI, json!({ "range": range(2, 0, 40) }));
    let hint = client.request("inlayHint/resolve", hints[0].clone()).expect("resolved");
    assert!(
        hint["tooltip"]["value"].as_str().is_some_and(|it| it.contains("12 + 12 = 24")),
        "{hint}"
    );
}

/// A function with a loop up to a bound, which adds noise in each iteration.
fn counted(bound: &str) -> String {
    format!(
        "func.func @f(%n: index, %p: !noisy.i32) -> !noisy.i32 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s = scf.for %i = %c0 to {bound} step %c1 iter_args(%a = %p) -> (!noisy.i32) {{
    %t = noisy.add %a, %p : !noisy.i32
    scf.yield %t : !noisy.i32
  }}
  return %s : !noisy.i32
}}
"
    )
}

#[test]
fn show_loops_and_assumptions() {
    let mut client = Client::new();
    let (head, loop_) = (|| range(0, 0, 60), || range(4, 0, 80));
    client.open(URI, &counted("%c8"));
    assert_eq!(hints(&mut client, head()), ["0:26 [0, 12] assumed fresh"]);
    let found = ["4:4 [0, 20]", "4:14 8 iterations, noise 12 → 20", "4:52 [0, 19]"];
    assert_eq!(hints(&mut client, loop_()), found);
    // An unknown bound gives no trip count, although its type has a largest value.
    client.change(URI, 2, None, &counted("%n"));
    let found = [
        "4:4 ⚠ unbounded (budget 26)",
        "4:14 noise +1 bit per iteration",
        "4:51 ⚠ unbounded (budget 26)",
    ];
    assert_eq!(hints(&mut client, loop_()), found);
    client.change(
        URI,
        3,
        None,
        &counted("%n").replace("!noisy.i32) ->", "!noisy.i32 {noisy.bound = 12 : i64}) ->"),
    );
    assert_eq!(hints(&mut client, head()), ["0:26 [0, 12]"]);
}

#[test]
fn each_kind_has_a_switch_and_hints_are_refreshed() {
    let mut capabilities = crate::client::capabilities();
    capabilities["workspace"]["inlayHint"] = json!({ "refreshSupport": true });
    let (mut client, _) = Client::with(capabilities, Value::Null);
    client.open(URI, &counted("%c8"));
    let all =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let noise = ["0:26 [0, 12]", "4:4 [0, 20]", "4:52 [0, 19]", "5:6 [0, 20]"];
    let budget = [
        "0:26 [0, 12], 14 left",
        "4:4 [0, 20], 6 left",
        "4:52 [0, 19], 7 left",
        "5:6 [0, 20], 6 left",
    ];
    let kinds: [(&[&str], &[&str]); 9] = [
        (&["noise"], &noise),
        (&["noise", "budget"], &budget),
        (&["ranges"], &["4:17 in [0, 7]"]),
        (&["tripCounts"], &["4:14 8 iterations"]),
        (&["loopGrowth"], &["4:14 noise 12 → 20"]),
        (&["contracts"], &["0:26 [0, 12] assumed fresh"]),
        (&["depth"], &["0:26 depth 0", "4:4 depth 0", "4:52 depth 0", "5:6 depth 0"]),
        // All encrypted values of this program have an encrypted type.
        (&["secrecy"], &[]),
        (&[], &[]),
    ];
    let names = [
        "noise",
        "budget",
        "ranges",
        "tripCounts",
        "loopGrowth",
        "contracts",
        "depth",
        "secrecy",
        "dependences",
    ];
    for (on, wanted) in kinds {
        let switches = names.map(|it| (it.to_owned(), Value::from(on.contains(&it))));
        let section = json!({ "inlayHints": Value::Object(switches.into_iter().collect()) });
        let params = json!({ "settings": { "noisy": section } });
        client.notify("workspace/didChangeConfiguration", params);
        let refresh = client.wait("a refresh", |it| it["method"] == "workspace/inlayHint/refresh");
        client.reply(&refresh, Value::Null);
        assert_eq!(hints(&mut client, all.clone()), wanted, "{on:?}");
    }
}

#[test]
fn depth_and_secrecy_are_shown_on_request_and_follow_edits() {
    let capabilities = crate::client::capabilities();
    let switches = json!({ "noise": false, "contracts": false, "depth": true, "secrecy": true });
    let (mut client, _) = Client::with(capabilities, json!({ "inlayHints": switches }));
    let text = "func.func @f(%x: i32 {secret.secret}, %y: i32) -> i32 {
  %e = noisy.encode %y : i32 -> !noisy.i32
  %0 = noisy.mul %e, %e : !noisy.i32
  %1 = arith.addi %x, %y : i32
  %2 = arith.addi %y, %y : i32
  return %1 : i32
}
";
    client.open(URI, text);
    let all =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let wanted = ["0:15 depth 0, secret", "1:4 depth 0", "2:4 depth 1", "3:4 depth 0, secret"];
    assert_eq!(hints(&mut client, all.clone()), wanted);
    client.change(URI, 2, Some(range(4, 18, 20)), "%x");
    let wanted = [&wanted[..], &["4:4 depth 0, secret"]].concat();
    assert_eq!(hints(&mut client, all), wanted);
}

#[test]
fn hints_of_loops_resolve_to_the_effect_of_the_loop() {
    let mut client = Client::new();
    client.open(URI, &counted("%c8"));
    let hints = client.request_about("inlayHint", URI, json!({ "range": range(4, 10, 16) }));
    assert_eq!(hints[0]["label"], "8 iterations, noise 12 → 20");
    let hint = client.request("inlayHint/resolve", hints[0].clone()).expect("resolved");
    let tooltip = hint["tooltip"]["value"].as_str().unwrap_or_default();
    assert!(tooltip.contains("Runs 8 iterations.") && tooltip.contains("noise 12 → 20"), "{hint}");
    // An old hint is not resolved, because its position may be wrong.
    client.change(URI, 2, Some(range(0, 0, 0)), "// new\n");
    let old = client.request("inlayHint/resolve", hints[0].clone()).expect("resolved");
    assert!(old.get("tooltip").is_none(), "{old}");
}

#[test]
fn arguments_of_blocks_have_one_hint_and_are_assumed_in_the_entry_only() {
    let mut client = Client::new();
    let text = "func.func @f(%x: !noisy.i32, %k: i1) -> !noisy.i32 {
  cf.cond_br %k, ^bb1(%x : !noisy.i32), ^bb2(%x : !noisy.i32)
^bb1(%v: !noisy.i32):
  cf.br ^bb2(%v : !noisy.i32)
^bb2(%w: !noisy.i32):
  return %w : !noisy.i32
}
\"func.func\"() ({
^bb0(%y: !noisy.i32):
  \"func.return\"(%y) : (!noisy.i32) -> ()
}) {sym_name = \"g\", function_type = (!noisy.i32) -> !noisy.i32} : () -> ()
";
    client.open(URI, text);
    let all =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let wanted =
        ["0:15 [0, 12] assumed fresh", "2:7 [0, 12]", "4:7 [0, 12]", "8:7 [0, 12] assumed fresh"];
    assert_eq!(hints(&mut client, all), wanted);
}

/// A text of `n` squarings, each of the previous result.
fn squarings(n: usize) -> String {
    let name = |n: usize| if n == 0 { "%x".to_owned() } else { format!("%{n}") };
    let op = |n: usize| {
        let (result, operand) = (name(n + 1), name(n));
        format!("{result} = noisy.mul {operand}, {operand} : !noisy.i32")
    };
    let ops: Vec<String> = (0..n).map(op).collect();
    let text = function("f", &ops.iter().map(String::as_str).collect::<Vec<_>>());
    text.replace("decode %x", &format!("decode %{n}"))
}

#[test]
fn noise_too_large_to_count_is_no_growth_in_a_loop() {
    let mut client = Client::new();
    client.open(URI, &squarings(32));
    assert_eq!(hints(&mut client, range(33, 0, 40)), ["33:5 ⚠ over 2^32 bits (budget 26)"]);
    let hover = client.at("hover", URI, 33, 3)["contents"]["value"].to_string();
    assert!(hover.contains("more than 2^32 bits"), "{hover}");
    assert!(hover.contains("... 21 steps more ..."), "{hover}");
    let lens = client.request_about("codeLens", URI, json!({}));
    let title = lens[0]["command"]["title"].as_str().unwrap_or_default().to_owned();
    assert!(title.starts_with("max noise over 2^32 bits (budget 26): "), "{title}");
    // A chain that is too long for a hover.
    client.change(URI, 2, None, &squarings(200));
    assert_eq!(hints(&mut client, range(201, 0, 40)), ["201:6 ⚠ over 2^32 bits (budget 26)"]);
    let hover = client.at("hover", URI, 201, 3)["contents"]["value"].to_string();
    assert!(!hover.contains("unbounded"), "{hover}");
}

#[test]
fn hints_over_the_budget_are_marked() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    let found = client.request_about("inlayHint", URI, json!({ "range": range(2, 0, 80) }));
    assert_eq!(found[0]["data"]["isOver"], false);
    let found = client.request_about("inlayHint", URI, json!({ "range": range(3, 0, 80) }));
    assert_eq!(found[0]["data"]["isOver"], true);
    assert!(found[0]["label"].as_str().is_some_and(|it| it.starts_with('⚠')), "{found}");
}

#[test]
fn other_lines_keep_their_hints_while_a_line_is_typed() {
    let ops = [
        "%0 = noisy.mul %x, %x : !noisy.i32",
        "",
        "%1 = \"noisy.add\"(%0, %x) : (!noisy.i32, !noisy.i32) -> !noisy.i32",
        "",
    ];
    let all =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    for line in [3, 5] {
        for typed in ["%9 = noisy.sub %0, %x : !noisy.i32", "foo bar", "\"t.a\"() : ()", "!x ^y ?"]
        {
            let mut client = Client::new();
            client.open(URI, &function("f", &ops));
            let around = |client: &mut Client| {
                let mut found = hints(client, all.clone());
                found.retain(|it| !it.starts_with(&format!("{line}:")));
                found
            };
            let before = around(&mut client);
            assert!(before.iter().any(|it| it.ends_with("[0, 25]")), "{before:?}");
            let mut version = 1;
            for (at, key) in typed.char_indices() {
                version += 1;
                client.change(
                    URI,
                    version,
                    Some(range(line, at as u32, at as u32)),
                    &key.to_string(),
                );
                assert_eq!(around(&mut client), before, "{:?}", &typed[..=at]);
            }
        }
    }
}

#[test]
fn show_dependences_of_loops_on_request() {
    let switches = json!({ "tripCounts": false, "dependences": true });
    let (mut client, _) =
        Client::with(crate::client::capabilities(), json!({ "inlayHints": switches }));
    client.open(
        URI,
        "func.func @f(%A: memref<9x9xf32>) {
  affine.for %i = 1 to 9 {
    affine.for %j = 0 to 9 {
      %x = affine.load %A[%i - 1, %j] : memref<9x9xf32>
      affine.store %x, %A[%i, %j] : memref<9x9xf32>
    }
  }
  return
}
",
    );
    let all =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    assert_eq!(hints(&mut client, all.clone()), ["1:12 carries 1 dependence", "2:14 parallel"]);
    client.change(URI, 2, Some(range(3, 31, 32)), "0");
    assert_eq!(hints(&mut client, all), ["1:12 parallel", "2:14 parallel"]);
}

#[test]
fn budget_request_returns_shares_and_maximum() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    let uri = json!({ "uri": URI });
    let params = json!({ "textDocument": uri, "range": range(2, 0, 80), "position": { "line": 2, "character": 4 } });
    let found = client.request("noisy/budget", params).expect("an answer");
    let wanted = json!({
        "ops": [{ "line": 2, "percent": 93 }],
        "function": { "name": "f", "text": "max noise 48 of 26 bits", "isOver": true },
    });
    assert_eq!(found, wanted);
    let other = json!({ "textDocument": { "uri": "file:///none.mlir" }, "range": range(0, 0, 0) });
    let found = client.request("noisy/budget", other).expect("an answer");
    assert_eq!(found, json!({ "ops": [], "function": null }));
}
