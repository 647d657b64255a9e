//! Code actions: the placement, lazily resolved.

use serde_json::{Value, json};

use crate::client::{Client, URI, apply, capabilities, illegal, range};

fn actions(client: &mut Client, line: u32, only: Value) -> Vec<Value> {
    let mut context = json!({ "diagnostics": [] });
    if !only.is_null() {
        context["only"] = only;
    }
    let found = client.request_about(
        "codeAction",
        URI,
        json!({ "range": range(line, 2, 2), "context": context }),
    );
    found.as_array().cloned().expect("a list")
}

#[test]
fn repairs_the_function_around_the_cursor() {
    let text = illegal();
    for line in [0, 1, 3, 5] {
        let mut client = Client::new();
        client.open(URI, &text);
        let found = actions(&mut client, line, json!(["quickfix"]));
        let titles: Vec<_> =
            found.iter().map(|it| it["title"].as_str().unwrap_or_default()).collect();
        assert_eq!(titles, ["Insert optimal reduce_noise in @f"], "line {line}");
        assert!(found[0].get("edit").is_none(), "it is lazy");
        let resolved = client.request("codeAction/resolve", found[0].clone()).expect("resolved");
        let change = &resolved["edit"]["documentChanges"][0];
        assert_eq!(change["textDocument"], json!({ "uri": URI, "version": 1 }));
        let fixed = apply(&text, &change["edits"]);
        assert_eq!(fixed.matches("reduce_noise").count(), 1, "{fixed}");
        client.change(URI, 2, None, &fixed);
        assert!(client.diagnostics(URI, 2).is_empty());
        let left = actions(&mut client, line, json!(["quickfix", "source"]));
        assert!(left.is_empty(), "nothing is left to do: {left:?}");
    }
}

#[test]
fn repairs_the_whole_file() {
    let mut client = Client::new();
    let text = format!("{}{}", illegal(), illegal().replace("@f", "@g"));
    client.open(URI, &text);
    let found = actions(&mut client, 0, json!(["source.fixAll"]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["kind"], "source.fixAll.noisy");
    let resolved = client.request("codeAction/resolve", found[0].clone()).expect("resolved");
    let fixed = apply(&text, &resolved["edit"]["documentChanges"][0]["edits"]);
    assert_eq!(fixed.matches("reduce_noise").count(), 2);
}

#[test]
fn a_function_is_rewritten() {
    let mut client = Client::new();
    let sum = |it| format!("  %{it} = noisy.add %{}, %b : !noisy.i32\n", it - 1);
    let sums = (1..24).fold(String::new(), |text, it| text + &sum(it));
    let text = format!(
        "func.func @f(%0: !noisy.i32, %b: !noisy.i32) -> !noisy.i32 {{\n{sums}  return %23 : !noisy.i32\n}}\n"
    );
    client.open(URI, &text);
    let found = actions(&mut client, 20, json!(["refactor"]));
    let title = "Rewrite and insert optimal reduce_noise in @f";
    let action = found.iter().find(|it| it["title"] == title).expect("it is offered");
    let resolved = client.request("codeAction/resolve", action.clone()).expect("resolved");
    let fixed = apply(&text, &resolved["edit"]["documentChanges"][0]["edits"]);
    assert!(!fixed.contains("reduce_noise"), "{fixed}");
    client.change(URI, 2, None, &fixed);
    assert!(client.diagnostics(URI, 2).is_empty(), "{fixed}");
}

#[test]
fn a_stale_action_is_refused() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    let found = actions(&mut client, 3, json!(["quickfix"]));
    client.change(URI, 2, Some(range(0, 0, 0)), "// new\n");
    let error = client.request("codeAction/resolve", found[0].clone()).expect_err("stale");
    assert_eq!(error["code"], -32801);
}

#[test]
fn a_function_with_an_error_is_left_alone() {
    let mut client = Client::new();
    client.open(URI, &illegal().replace("return %r", "return %undefined"));
    let found = actions(&mut client, 3, json!(["quickfix"]));
    let resolved = client.request("codeAction/resolve", found[0].clone()).expect("answered");
    assert!(resolved.get("edit").is_none(), "{resolved}");
    let shown = client.wait("a reason", |it| it["method"] == "window/showMessage");
    assert!(
        shown["params"]["message"].as_str().is_some_and(|it| it.contains("undefined")),
        "{shown}"
    );
}

#[test]
fn clients_without_resolve_get_a_command() {
    let mut capabilities = capabilities();
    capabilities["textDocument"]["codeAction"]["resolveSupport"] = Value::Null;
    let (mut client, _) = Client::with(capabilities, Value::Null);
    client.open(URI, &illegal());
    let found = actions(&mut client, 3, json!(["quickfix"]));
    let command = &found[0]["command"];
    let params = json!({ "command": command["command"], "arguments": command["arguments"] });
    assert_eq!(client.request("workspace/executeCommand", params), Ok(Value::Null));
    let edit = client.wait("an edit", |it| it["method"] == "workspace/applyEdit");
    assert!(edit["params"]["edit"]["documentChanges"][0]["edits"].is_array());
}

#[test]
fn long_texts_need_clients_that_resolve_refactorings() {
    let short = "func.func @f(%x: i5) -> i5 {\n  return %x : i5\n}\n";
    let long = format!("{short}{}", "// a comment\n".repeat(100_000));
    for (resolves, text, n) in
        [(true, short, 3), (true, &long, 3), (false, short, 2), (false, &long, 0)]
    {
        let mut capabilities = capabilities();
        if !resolves {
            capabilities["textDocument"]["codeAction"]["resolveSupport"] = Value::Null;
        }
        let (mut client, _) = Client::with(capabilities, Value::Null);
        client.open(URI, text);
        // Cleaning up is also offered, although it changes nothing.
        let found = actions(&mut client, 0, json!(["refactor"]));
        assert_eq!(found.len(), n, "{resolves} {}: {found:?}", text.len());
        assert!(found.iter().all(|it| it["edit"].is_null() == resolves), "{found:?}");
    }
}

#[test]
fn all_values_of_a_function_are_renamed() {
    let mut client = Client::new();
    let text = illegal();
    client.open(URI, &text);
    let found = actions(&mut client, 0, json!(["refactor"]));
    assert_eq!(found[0]["title"], "Rename all values of @f to %0, %1, ...");
    assert_eq!(found[0]["kind"], "refactor.rewrite.noisy");
    let resolved = client.request("codeAction/resolve", found[0].clone()).expect("resolved");
    let change = &resolved["edit"]["documentChanges"][0];
    let renamed = apply(&text, &change["edits"]);
    assert!(
        renamed.contains("@f(%arg0: i5)") && renamed.contains("%2 = noisy.mul %1, %1"),
        "{renamed}"
    );
    // A stale action is rejected, and a broken text gets no action.
    client.change(URI, 2, Some(range(0, 0, 0)), "// new\n");
    let error = client.request("codeAction/resolve", found[0].clone()).expect_err("stale");
    assert_eq!(error["code"], -32801);
    client.change(URI, 3, None, &text.replace("return %r", "return %undefined"));
    assert!(actions(&mut client, 0, json!(["refactor"])).is_empty());
}

#[test]
fn the_best_order_of_a_nest_keeps_names_and_comments() {
    // A sum over columns. In the other order, it reads neighboring elements.
    let text = "func.func @f(%A: memref<1024x1024xf32>, %s: memref<1024xf32>) {
  affine.for %j = 0 to 1024 {
    affine.for %i = 0 to 1024 { // down
      %x = affine.load %A[%i, %j] : memref<1024x1024xf32> // an element
      %y = affine.load %s[%j] : memref<1024xf32>
      // The sum.
      %z = arith.addf %x, %y : f32
      affine.store %z, %s[%j] : memref<1024xf32>
    }
  }
  return
}
";
    let mut client = Client::new();
    client.open(URI, text);
    let found = actions(&mut client, 1, json!(["refactor"]));
    let is_it = |it: &&Value| it["title"] == "Find the best order of the nest";
    let action = found.iter().find(is_it).unwrap_or_else(|| panic!("{found:?}")).clone();
    let resolved = client.request("codeAction/resolve", action).expect("resolved");
    let after = apply(text, &resolved["edit"]["documentChanges"][0]["edits"]);
    let at = |what: &str| after.find(what).unwrap_or_else(|| panic!("{what} in {after}"));
    assert!(at("affine.for %i") < at("affine.for %j"), "{after}");
    let lines = [
        "// down",
        "memref<1024x1024xf32> // an element",
        "// The sum.",
        "%z = arith.addf %x, %y : f32",
    ];
    assert!(lines.iter().all(|it| at(it) > 0), "{after}");
}

#[test]
fn loops_are_transformed_or_refused_with_the_dependence() {
    let text = "func.func @f(%A: memref<9x9xf32>) {
  affine.for %i = 1 to 9 { // rows
    affine.for %j = 0 to 8 {
      %x = affine.load %A[%i - 1, %j + 1] : memref<9x9xf32>
      affine.store %x, %A[%i, %j] : memref<9x9xf32>
    }
  }
  return
}
";
    let mut capabilities = capabilities();
    capabilities["textDocument"]["codeAction"]["disabledSupport"] = json!(true);
    let (mut client, _) = Client::with(capabilities, Value::Null);
    client.open(URI, text);
    let found = actions(&mut client, 1, json!(["refactor"]));
    let of = |title: &str| {
        let is_it = |it: &&Value| it["title"].as_str().is_some_and(|it| it.starts_with(title));
        found.iter().find(is_it).unwrap_or_else(|| panic!("{title} in {found:?}")).clone()
    };
    for title in ["Interchange", "Tile", "Run the loop", "Convert the loop"] {
        let it = of(title);
        assert!(it.get("edit").is_none(), "{it}");
        let why = it["disabled"]["reason"].as_str().unwrap_or_default();
        assert_eq!(why, "forbidden by flow from line 5 to line 4, distance (1, -1)", "{title}");
    }
    // If the user chooses a disabled action, the text stays the same, and a message shows the
    // reason.
    let resolved = client.request("codeAction/resolve", of("Tile")).expect("resolved");
    assert!(resolved.get("edit").is_none(), "{resolved}");
    let told = client.wait("a message", |it| it["method"] == "window/showMessage");
    assert!(told.to_string().contains("forbidden by flow from line 5 to line 4"), "{told}");
    // No order is better than this one, so the answer is the action without an edit, and a message.
    let resolved =
        client.request("codeAction/resolve", of("Find the best order")).expect("resolved");
    assert!(resolved.get("edit").is_none(), "{resolved}");
    client.wait("a message", |it| {
        it["params"]["message"]
            .as_str()
            .is_some_and(|it| it.starts_with("no better order was found"))
    });
    let skewed = of("Skew");
    let after = apply(text, &skewed["edit"]["documentChanges"][0]["edits"]);
    assert!(after.contains("// rows") && after.contains("affine.store %x, %A[%i, %j]"), "{after}");
    client.change(URI, 2, None, &after);
    let found = actions(&mut client, 1, json!(["refactor"]));
    let is_it = |it: &&Value| it["title"].as_str().is_some_and(|it| it.starts_with("Interchange"));
    let interchange = found.iter().find(is_it).expect("an interchange");
    let why = "the bounds of the inner loop depend on %i";
    assert_eq!(interchange["disabled"]["reason"], why);
    let title = format!("Interchange with the loop over %j_skewed: {why}");
    assert_eq!(interchange["title"], title);
}

#[test]
fn refactorings_have_a_title_if_the_client_shows_it() {
    let text = "func.func @f(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.decode %1 : !noisy.i32 -> i5
  return %2 : i5
}
";
    let selected =
        json!({ "start": { "line": 2, "character": 0 }, "end": { "line": 3, "character": 0 } });
    let ask = |client: &mut Client, range: &Value, kind: &str| {
        let context = json!({ "diagnostics": [], "only": [kind] });
        let found =
            client.request_about("codeAction", URI, json!({ "range": range, "context": context }));
        found.as_array().cloned().expect("a list")
    };
    for annotates in [false, true] {
        let mut capabilities = capabilities();
        if annotates {
            capabilities["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = json!({});
        }
        let (mut client, _) = Client::with(capabilities, Value::Null);
        client.open(URI, text);
        let found = ask(&mut client, &selected, "refactor.extract");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0]["title"], "Extract into a function");
        let resolved = client.request("codeAction/resolve", found[0].clone()).expect("resolved");
        let edit = &resolved["edit"];
        let label = &edit["changeAnnotations"]["noisy"]["label"];
        assert_eq!(label == "Extract into a function", annotates, "{edit}");
        let edits = &edit["documentChanges"][0]["edits"];
        assert_eq!(edits[0]["annotationId"] == "noisy", annotates, "{edits}");
        let extracted = apply(text, edits);
        assert!(extracted.contains("  %1 = func.call @f_part(%0)"), "{extracted}");
        client.change(URI, 2, None, &extracted);
        let found = ask(&mut client, &range(2, 8, 8), "refactor.inline");
        assert_eq!(found[0]["title"], "Inline the call of @f_part");
        let resolved = client.request("codeAction/resolve", found[0].clone()).expect("resolved");
        let back = apply(&extracted, &resolved["edit"]["documentChanges"][0]["edits"]);
        assert!(back.starts_with(text), "{back}");
        let found = ask(&mut client, &range(1, 8, 8), "refactor.rewrite");
        assert_eq!(found[0]["title"], "Write noisy.encode in the generic form");
        // The reason for a failure is shown.
        client.change(
            URI,
            3,
            None,
            &text
                .replace("i32 {", "i32 { // one")
                .replace("%x: i5) -> i5 {", "%x: i5) -> i5 { // one"),
        );
        let found = ask(&mut client, &range(0, 2, 2), "refactor.rewrite");
        let whole = found
            .iter()
            .find(|it| it["title"].as_str().is_some_and(|it| it.starts_with("Write")))
            .expect("offered");
        let error = client.request("codeAction/resolve", whole.clone()).expect_err("refused");
        assert_eq!(error["message"], "the comment in it would be lost");
    }
}
