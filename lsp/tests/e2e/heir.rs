//! Programs of HEIR: hints, hovers, lenses, and the fix of a missing relinearization.

use serde_json::{Value, json};

use crate::client::{Client, URI, apply, capabilities, range};

/// A CKKS program with parameters. The product on line 6 is not relinearized before its modulus
/// switch.
pub(crate) const PROGRAM: &str = "module attributes {backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797019389953, 35184372121601, 35184372744193, 35184373006337], P = [36028797019488257], logDefaultScale = 45>, scheme.ckks} {
  func.func @f(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) -> !secret.secret<tensor<8xf32>> {
    %c1 = arith.constant 1 : index
    %0 = secret.generic(%x: !secret.secret<tensor<8xf32>>, %y: !secret.secret<tensor<8xf32>>) {
    ^body(%a: tensor<8xf32>, %b: tensor<8xf32>):
      %1 = arith.mulf %a, %b : tensor<8xf32>
      %2 = mgmt.modreduce %1 : tensor<8xf32>
      %3 = arith.mulf %2, %2 : tensor<8xf32>
      %4 = mgmt.relinearize %3 : tensor<8xf32>
      %5 = mgmt.modreduce %4 : tensor<8xf32>
      %6 = tensor_ext.rotate %5, %c1 : tensor<8xf32>, index
      secret.yield %6 : tensor<8xf32>
    } -> !secret.secret<tensor<8xf32>>
    return %0 : !secret.secret<tensor<8xf32>>
  }
}
";

/// The line of an op of [`PROGRAM`].
fn line(of: &str) -> u32 {
    PROGRAM.lines().position(|it| it.contains(of)).expect("a line") as u32
}

fn hints(client: &mut Client) -> Vec<String> {
    let whole =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let found = client.request_about("inlayHint", URI, json!({ "range": whole }));
    let text = |it: &Value| {
        let at = &it["position"];
        format!("{}:{} {}", at["line"], at["character"], it["label"].as_str().unwrap_or_default())
    };
    found.as_array().expect("a list").iter().map(text).collect()
}

fn lenses(client: &mut Client) -> Vec<(u64, String)> {
    let found = client.request_about("codeLens", URI, json!({}));
    let mut all: Vec<_> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| {
            let title = it["command"]["title"].as_str().unwrap_or_default().to_owned();
            (it["range"]["start"]["line"].as_u64().unwrap_or_default(), title)
        })
        .collect();
    all.sort();
    all
}

fn actions(client: &mut Client, line: u32, context: Value) -> Vec<Value> {
    let params = json!({ "range": range(line, 12, 12), "context": context });
    client.request_about("codeAction", URI, params).as_array().cloned().expect("a list")
}

/// The codes of the diagnostics of a version, except for missing scales.
fn codes(client: &mut Client, version: i32) -> Vec<String> {
    let found = client.diagnostics(URI, version);
    let codes = found.iter().filter_map(|it| it["code"].as_str()).map(str::to_owned);
    codes.filter(|it| it != "missing-scale").collect()
}

fn titles(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|it| it["title"].as_str()).collect()
}

#[test]
fn ciphertexts_have_hints_and_plaintexts_have_none() {
    let mut client = Client::new();
    client.open(URI, PROGRAM);
    let wanted = [
        "1:17 L2 D2 s45",
        "1:52 L2 D2 s45",
        "3:6 L0 D2 s45",
        "4:12 L2 D2 s45",
        "4:31 L2 D2 s45",
        "5:8 L2 D3 s90",
        "6:8 L1 D3 s45",
        "7:8 L1 D5 s90",
        "8:8 L1 D2 s90",
        "9:8 L0 D2 s45",
        "10:8 L0 D2 s45",
    ];
    assert_eq!(hints(&mut client), wanted);
    // The product is replaced.
    let at = range(5, 11, 21);
    client.change(URI, 2, Some(at), "arith.addf");
    assert_eq!(hints(&mut client)[5..8], ["5:8 L2 D2 s45", "6:8 L1 D2 s0", "7:8 L1 D3 s0"]);
}

#[test]
fn settings_select_the_hints() {
    let options = json!({ "inlayHints": { "dimensions": false, "scales": false } });
    let (mut client, _) = Client::with(capabilities(), options);
    client.open(URI, PROGRAM);
    assert_eq!(hints(&mut client)[5], "5:8 L2");
    let options =
        json!({ "inlayHints": { "levels": false, "dimensions": false, "scales": false } });
    let (mut client, _) = Client::with(capabilities(), options);
    client.open(URI, PROGRAM);
    assert_eq!(hints(&mut client), Vec::<String>::new());
}

#[test]
fn ranges_are_shown_where_inputs_have_one() {
    let options = json!({ "heir": { "inputRange": [-2, 1] } });
    let (mut client, _) = Client::with(capabilities(), options);
    client.open(URI, PROGRAM);
    let shown = hints(&mut client);
    assert_eq!(shown[5], "5:8 L2 D3 s90 in [-2, 4]");
    assert_eq!(shown[7], "7:8 L1 D5 s90 in [0, 16]");
    let hover = client.at("hover", URI, line("%3 ="), 7)["contents"].to_string();
    assert!(hover.contains("numbers in [0, 16]"), "{hover}");
}

#[test]
fn hints_show_noise_and_the_remaining_budget() {
    let text = "module attributes {bgv.schemeParam = #bgv.scheme_param<logN = 13, Q = [67239937, 17179967489], P = [17180098561], plaintextModulus = 65537>, scheme.bgv} {
  func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
    %0 = secret.generic(%x: !secret.secret<i16>) {
    ^body(%a: i16):
      %1 = arith.muli %a, %a : i16
      %2 = mgmt.relinearize %1 : i16
      %3 = arith.muli %2, %2 : i16
      %4 = mgmt.relinearize %3 : i16
      secret.yield %4 : i16
    } -> !secret.secret<i16>
    return %0 : !secret.secret<i16>
  }
}
";
    let mut client = Client::new();
    client.open(URI, text);
    let wanted = [
        "1:17 L0 D2 28.8 bits, 30.2 left",
        "2:6 ⚠ L0 D2 137.6 > 59.0 bits",
        "3:12 L0 D2 28.8 bits, 30.2 left",
        "4:8 ⚠ L0 D3 65.0 > 59.0 bits",
        "5:8 ⚠ L0 D2 65.0 > 59.0 bits",
        "6:8 ⚠ L0 D3 137.6 > 59.0 bits",
        "7:8 ⚠ L0 D2 137.6 > 59.0 bits",
    ];
    assert_eq!(hints(&mut client), wanted);
    let hover = client.at("hover", URI, 5, 7);
    let text = hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    expect_test::expect![[r#"
        ```mlir
        %2 : i16
        ```
        level 0, 0 of 1 level used, 2 polynomials  
        noise 65.04 bits, **6.04 over the 59.00 bits of its level** (bgv-noise-kpz21)

        multiplicative depth 1

        ```text
        %x  L0 D2 28.77 bits  argument of @f, assumed fresh
        %1  L0 D3 65.04 bits  arith.muli: product of 2 and 2 polynomials
        %2  L0 D2 65.04 bits  mgmt.relinearize: 2 polynomials after it
        ```

        Result of `mgmt.relinearize`.
        Used 2 times, last on line 7.
    "#]]
    .assert_eq(&text);
}

#[test]
fn hovers_show_derivations() {
    let mut client = Client::new();
    client.open(URI, PROGRAM);
    let mut texts = Vec::new();
    // The value, the op, an operand, a block argument.
    for (at, column) in [(9, 7), (9, 14), (10, 33), (4, 11)] {
        let hover = client.at("hover", URI, at, column);
        texts.push(hover["contents"]["value"].as_str().unwrap_or_default().to_owned());
    }
    expect_test::expect![[r#"
        ```mlir
        %5 : tensor<8xf32>
        ```
        level 0, 2 of 3 levels used, 2 polynomials, scale 2^45

        multiplicative depth 2

        ```text
        %x  L2 D2 s45  argument of @f, assumed fresh
        %1  L2 D3 s90  arith.mulf: product of 2 and 2 polynomials
        %2  L1 D3 s45  mgmt.modreduce: uses 1 level
        %3  L1 D5 s90  arith.mulf: product of 3 and 3 polynomials
        %4  L1 D2 s90  mgmt.relinearize: 2 polynomials after it
        %5  L0 D2 s45  mgmt.modreduce: uses 1 level
        ```

        Result of `mgmt.modreduce`.
        Used once, on line 11.

        ========
        **mgmt.modreduce**

        level 0, 2 of 3 levels used, 2 polynomials, scale 2^45

        Uses 1 level.

        ```text
        %x  L2 D2 s45  argument of @f, assumed fresh
        %1  L2 D3 s90  arith.mulf: product of 2 and 2 polynomials
        %2  L1 D3 s45  mgmt.modreduce: uses 1 level
        %3  L1 D5 s90  arith.mulf: product of 3 and 3 polynomials
        %4  L1 D2 s90  mgmt.relinearize: 2 polynomials after it
        %5  L0 D2 s45  mgmt.modreduce: uses 1 level
        ```


        ========
        ```mlir
        %c1 : index
        ```
        value = 1

        Result of `arith.constant`.
        Used once, on line 11.

        ========
        ```mlir
        %a : tensor<8xf32>
        ```
        level 2, 0 of 3 levels used, 2 polynomials, scale 2^45

        ```text
        %x  L2 D2 s45  argument of @f, assumed fresh
        %a  L2 D2 s45  passed to secret.generic
        ```

        Block argument.
        Used once, on line 6.
    "#]]
    .assert_eq(&texts.join("\n========\n"));
}

#[test]
fn functions_and_generics_have_lenses() {
    let mut client = Client::new();
    client.open(URI, PROGRAM);
    // The function costs the same as its only generic.
    let cost = "depth 2, 2 of 3 levels used, 1 relinearization, 1 rotation, about 386 ms; keys: relinearization; rotation by 1";
    assert_eq!(lenses(&mut client), [(1, cost.to_owned())]);
    let another = "    %9 = secret.generic(%x: !secret.secret<tensor<8xf32>>) {
    ^body(%a: tensor<8xf32>):
      %10 = tensor_ext.rotate %a, %c1 : tensor<8xf32>, index
      secret.yield %10 : tensor<8xf32>
    } -> !secret.secret<tensor<8xf32>>
";
    client.change(URI, 2, Some(range(line("return"), 0, 0)), another);
    let found = lenses(&mut client);
    assert_eq!(found.iter().map(|it| it.0).collect::<Vec<_>>(), [1, 3, 13]);
    assert_eq!(found[1].1, cost);
    assert!(found[0].1.contains("2 rotations"), "{found:?}");
    let options = json!({ "codeLens": { "enable": false } });
    let (mut client, _) = Client::with(capabilities(), options);
    client.open(URI, PROGRAM);
    assert_eq!(lenses(&mut client), []);
}

#[test]
fn inserts_a_missing_relinearize() {
    let mut capabilities = capabilities();
    capabilities["workspace"]["codeLens"] = json!({ "refreshSupport": true });
    let (mut client, _) = Client::with(capabilities, Value::Null);
    client.open(URI, PROGRAM);
    assert_eq!(codes(&mut client, 1), ["missing-relinearize"]);
    let refresh = client.wait("a search", |it| it["method"] == "workspace/codeLens/refresh");
    client.reply(&refresh, Value::Null);
    let found = actions(&mut client, line("%2 ="), json!({ "diagnostics": [] }));
    assert_eq!(
        titles(&found),
        [
            "Insert 1 relinearize (proven optimal) in @f",
            "Insert 1 relinearize (proven optimal) in the whole file",
            "Suppress missing-relinearize on this line",
        ]
    );
    assert_eq!(found[0]["kind"], "quickfix");
    assert_eq!(found[0]["diagnostics"][0]["code"], "missing-relinearize");
    let fixed = apply(PROGRAM, &found[0]["edit"]["documentChanges"][0]["edits"]);
    assert_eq!(fixed.matches("mgmt.relinearize").count(), 2, "{fixed}");
    client.change(URI, 2, None, &fixed);
    assert_eq!(codes(&mut client, 2), Vec::<String>::new());
}

#[test]
fn fix_on_save_repairs_diagnostics_only() {
    let save = json!({ "diagnostics": [], "only": ["source.fixAll.noisy"], "triggerKind": 2 });
    let options = json!({ "placement": { "saveWait": 20_000 } });
    let (mut client, _) = Client::with(capabilities(), options);
    client.open(URI, PROGRAM);
    let found = actions(&mut client, 0, save.clone());
    assert_eq!(titles(&found), ["Insert 1 relinearize (proven optimal) in the whole file"]);
    // HEIR has not placed any ops yet, so no op is missing. A request of the user does the same as
    // `--fix`.
    let bare: String = PROGRAM
        .lines()
        .filter(|it| !it.contains("mgmt."))
        .map(|it| it.replace("%2, %2", "%1, %1").replace("%5", "%3") + "\n")
        .collect();
    // HEIR chooses parameters after it has placed its ops.
    let (before, after) = bare.split_once("ckks.schemeParam").expect("parameters");
    let (_, after) = after.split_once("45>, ").expect("their end");
    let bare = before.to_owned() + after;
    client.change(URI, 2, None, &bare);
    assert_eq!(codes(&mut client, 2), Vec::<String>::new());
    assert_eq!(actions(&mut client, 0, save), Vec::<Value>::new());
    let asked = json!({ "diagnostics": [], "only": ["source.fixAll"], "triggerKind": 1 });
    let found = actions(&mut client, 0, asked);
    assert_eq!(titles(&found), ["Insert optimal relinearize in the whole file"]);
    let done = client.request("codeAction/resolve", found[0].clone()).expect("an edit");
    let fixed = apply(&bare, &done["edit"]["documentChanges"][0]["edits"]);
    assert_eq!(fixed.matches("mgmt.relinearize").count(), 2, "{fixed}");
}

#[test]
fn inserts_bootstraps_for_a_given_level_budget() {
    let text = PROGRAM
        .replace(
            "%2 = mgmt.modreduce %1",
            "%r = mgmt.relinearize %1 : tensor<8xf32>\n      %2 = mgmt.modreduce %r",
        )
        .replace(
            "backend.lattigo",
            "backend.config_override = {bootstrapLevelsConsumed = 1 : i32}, backend.lattigo",
        );
    let text =
        text.replace("      %6 =", "      %m = mgmt.modreduce %5 : tensor<8xf32>\n      %6 =");
    let options = json!({ "heir": { "levelBudget": 1 }, "placement": { "saveWait": 20_000 } });
    let (mut client, _) = Client::with(capabilities(), options);
    client.open(URI, &text);
    assert_eq!(codes(&mut client, 1), ["level-underflow"]);
    let save = json!({ "diagnostics": [], "only": ["source.fixAll.noisy"], "triggerKind": 2 });
    let found = actions(&mut client, 0, save);
    assert_eq!(titles(&found), ["Insert 1 bootstrap (proven optimal) in the whole file"]);
    let fixed = apply(&text, &found[0]["edit"]["documentChanges"][0]["edits"]);
    client.change(URI, 2, None, &fixed);
    assert_eq!(codes(&mut client, 2), Vec::<String>::new(), "{fixed}");
}

#[test]
fn reports_only_noise_beside_another_server() {
    let beside = json!({ "features": { "otherServer": true } });
    let never = json!({ "features": { "otherServer": true, "onlyNoise": false } });
    let whole =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    // An undefined name.
    let text = PROGRAM.replace("arith.constant 1 : index", "arith.addi %gone, %gone : index");
    let plain = "func.func @f() {\n  return\n}\n";
    for (options, is_left) in [(beside, true), (never, false)] {
        let (mut client, _) = Client::with(capabilities(), options);
        client.open(URI, &text);
        let found = codes(&mut client, 1);
        assert_eq!(found.contains(&"undefined-value".to_owned()), !is_left, "{found:?}");
        assert!(found.contains(&"missing-relinearize".to_owned()), "{found:?}");
        assert!(!hints(&mut client).is_empty());
        assert!(!client.at("hover", URI, 6, 7).is_null());
        assert_eq!(client.at("hover", URI, 1, 13).is_null(), is_left, "a symbol");
        assert_eq!(client.at("definition", URI, 6, 26) == json!([]), is_left);
        let is_empty = |it: Value| it.as_array().is_none_or(Vec::is_empty);
        assert_eq!(is_empty(client.request_about("documentSymbol", URI, json!({}))), is_left);
        assert_eq!(is_empty(client.request_about("foldingRange", URI, json!({}))), is_left);
        let tokens = client.request_about("semanticTokens/range", URI, json!({ "range": whole }));
        assert_eq!(is_empty(tokens["data"].clone()), is_left);
        // Only this server handles a program of another kind.
        client.open("file:///e2e/plain.mlir", plain);
        assert!(!is_empty(client.request_about(
            "documentSymbol",
            "file:///e2e/plain.mlir",
            json!({})
        )));
    }
}

#[test]
fn before_levels_are_placed_the_depth_is_shown() {
    let text = PROGRAM
        .replace("      %2 = mgmt.modreduce %1 : tensor<8xf32>\n", "")
        .replace("      %4 = mgmt.relinearize %3 : tensor<8xf32>\n", "")
        .replace("      %5 = mgmt.modreduce %4 : tensor<8xf32>\n", "")
        .replace("%2, %2", "%1, %1")
        .replace("rotate %5", "rotate %3");
    assert!(!text.contains("mgmt"), "{text}");
    let mut client = Client::new();
    client.open(URI, &text);
    let hints = hints(&mut client);
    assert!(hints.iter().all(|it| !it.contains("L0")), "{hints:?}");
    assert!(hints.contains(&"5:8 depth 1 D3 s90".to_owned()), "{hints:?}");
    let lenses = lenses(&mut client);
    let needs = "depth 2, needs up to 2 levels of 3, not placed yet";
    assert!(lenses.iter().any(|it| it.1.starts_with(needs)), "{lenses:?}");
    let hover = client.at("hover", URI, 6, 7);
    let text = hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    assert!(text.contains("multiplicative depth 2 so far, levels not placed yet"), "{text}");
    assert_eq!(text.matches("depth 2").count(), 1, "{text}");
}

#[test]
fn hover_and_lens_show_the_same_levels() {
    let mut client = Client::new();
    client.open(URI, PROGRAM);
    let lenses = lenses(&mut client);
    assert!(lenses.iter().any(|it| it.1.contains("2 of 3 levels used")), "{lenses:?}");
    let hover = client.at("hover", URI, 9, 7);
    let text = hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    assert!(text.contains("level 0, 2 of 3 levels used"), "{text}");
}
