use noisy_syntax::Source;
use serde_json::{Value as Json, json};

use super::*;

fn spec(json: Json) -> Result<ModelSpec, String> {
    serde_json::from_value(json).map_err(|it| it.to_string())
}

fn model(json: Json) -> Result<NoiseModel, String> {
    NoiseModel::new(&spec(json)?).map_err(|it| it.to_string())
}

/// Returns the growth of the first op of a text, and for each operand true if it carries noise.
fn growth(model: &NoiseModel, text: &str) -> (Option<Growth>, Vec<bool>) {
    let source = Source::new(text);
    let ir = source.ir();
    let mut found = None;
    ir.walk(ir.root(), &mut |op| {
        let Some(rule) = model.rule(ir.op_name(op)) else { return };
        let n = ir.op(op).operands.len();
        let carries = (0..n).map(|it| model.is_carrier(ir, op, rule, it)).collect();
        found.get_or_insert((model.growth(ir, op, rule), carries));
    });
    found.unwrap_or_default()
}

#[test]
fn the_built_in_model_is_that_of_the_tutorial() {
    let built_in = NoiseModel::new(&ModelSpec::default()).unwrap();
    assert_eq!(built_in, NoiseModel::tutorial());
    assert_eq!((built_in.fresh, built_in.budget, built_in.reset_level()), (12, 26, 12));
    assert_eq!(built_in.reset_cost(), 1);
    let of = |text: &str| growth(&built_in, text).0;
    assert_eq!(of("%0 = noisy.mul %a, %b : !noisy.i32"), Some(Growth::Sum(0)));
    assert_eq!(of("%0 = noisy.sub %a, %b : !noisy.i32"), Some(Growth::Max(1)));
    assert_eq!(of("%0 = noisy.encode %a : i5 -> !noisy.i32"), Some(Growth::Fresh(12)));
    assert_eq!(of("%0 = noisy.reduce_noise %a : !noisy.i32"), Some(Growth::Reset(12)));
    assert_eq!(of("%0 = noisy.decode %a : !noisy.i32 -> i5"), None);
    let select = growth(&built_in, "%0 = arith.select %c, %a, %b : !noisy.i32");
    assert_eq!(select, (Some(Growth::Max(0)), vec![false, true, true]));
}

#[test]
fn an_empty_description_is_the_built_in_model() {
    assert_eq!(model(json!({})), Ok(NoiseModel::tutorial()));
    // The serialized description is read back unchanged.
    let json = serde_json::to_value(ModelSpec::default()).unwrap();
    assert_eq!(spec(json), Ok(ModelSpec::default()));
}

#[test]
fn rows_come_on_top_of_the_built_in_ones() {
    let it = model(json!({"budget": 1200, "ops": {"my.square": {"growth": "sum", "plus": 3}}}));
    let it = it.unwrap();
    assert_eq!(it.budget, 1200);
    assert!(it.rule("noisy.mul").is_some() && it.rule("my.square").is_some());
}

#[test]
fn another_scheme_is_another_table() {
    let levels = model(json!({
        "fresh": 0, "budget": 3, "types": ["!ckks.ct<*>"],
        "insert": {"op": "ckks.bootstrap", "cost": 40},
        "ops": {
            "ckks.mul": {"growth": "max", "plus": 1},
            "ckks.bootstrap": {"growth": "reset", "level": 1},
        },
    }))
    .unwrap();
    assert_eq!((levels.reset_level(), levels.reset_cost()), (1, 40));
    let mul = growth(
        &levels,
        r#"func.func @f(%a: !ckks.ct<4, 2>, %p: !ckks.pt) {
             %0 = "ckks.mul"(%a, %p) : (!ckks.ct<4, 2>, !ckks.pt) -> !ckks.ct<4, 2>
           }"#,
    );
    assert_eq!(mul, (Some(Growth::Max(1)), vec![true, false]));
    let source = Source::new("%0 = noisy.encode %x : i5 -> !noisy.i32");
    assert!(!levels.is_noisy(&source.ir().interner, Type::NOISY));
}

#[test]
fn an_attribute_states_the_constant() {
    let it = model(json!({"ops": {
        "a.op": {"growth": "sum", "plus": 7, "attribute": "bits"},
        "b.op": {"growth": "max", "attribute": "bits"},
        "c.op": {"growth": "reset", "attribute": "to"},
    }}))
    .unwrap();
    let of = |text: &str| growth(&it, text).0;
    let rest = ": (!noisy.i32) -> !noisy.i32";
    let op = |name, attrs| of(&format!("%0 = \"{name}\"(%a) {attrs} {rest}"));
    assert_eq!(op("a.op", "{bits = 3 : i32}"), Some(Growth::Sum(3)));
    assert_eq!(op("a.op", ""), Some(Growth::Sum(7)));
    assert_eq!(op("b.op", "{bits = 2}"), Some(Growth::Max(2)));
    assert_eq!(op("b.op", ""), None);
    assert_eq!(op("b.op", "{bits = -2}"), None);
    assert_eq!(op("b.op", "{bits = \"two\"}"), None);
    assert_eq!(op("c.op", "{to = 5}"), Some(Growth::Reset(5)));
}

#[test]
fn attributes_of_unknown_custom_forms_are_read() {
    let it =
        model(json!({"ops": {"a.op": {"growth": "max", "plus": 7, "attribute": "bits"}}})).unwrap();
    let of = |attrs: &str| growth(&it, &format!("%0 = a.op %a {attrs} : !noisy.i32")).0;
    assert_eq!(of("{bits = 2 : i64, other = #b.c<[{x = 1}]>}"), Some(Growth::Max(2)));
    assert_eq!(of("<{bits = 2}> {other = 3}"), Some(Growth::Max(2)));
    assert_eq!(of("<{other = some(thing), bits = 2}>"), None);
    assert_eq!(of("{other = 3}"), Some(Growth::Max(7)));
    assert_eq!(of(""), Some(Growth::Max(7)));
    // Attributes in another bracket are not attributes of the op.
    assert_eq!(of("({bits = 3})"), Some(Growth::Max(7)));
    assert_eq!(of("([{bits = 3}])"), Some(Growth::Max(7)));
    // The attribute exists and is unreadable: the default would be a wrong number.
    assert_eq!(of("{bits = some(thing)}"), None);
    assert_eq!(of("{bits = 3, , }"), None);
}

#[test]
fn results_can_be_without_noise() {
    let it = model(json!({"ops": {"a.op": {"growth": "fresh", "results": [1]}}})).unwrap();
    let rule = it.rule("a.op").unwrap();
    assert_eq!([0, 1, 2].map(|n| it.is_noisy_result(rule, n)), [false, true, false]);
}

#[test]
fn types_match_patterns_of_their_text() {
    let fits = |pattern: &str, text: &str| TypePattern::new(pattern).is_match("", text);
    assert!(fits("!a.ct", "!a.ct") && !fits("!a.ct", "!a.ct2") && !fits("!a.ct", "!a.c"));
    assert!(fits("!a.ct<*>", "!a.ct<1, 2>") && !fits("!a.ct<*>", "!a.ct"));
    assert!(fits("!a.ct<1,2>", "!a.ct<1, 2>"));
    assert!(
        fits("tensor<*x!a.ct>", "tensor<4x8x!a.ct>") && !fits("tensor<*x!a.ct>", "tensor<!a.ct>")
    );
    assert!(fits("*b*b", "abab") && !fits("*b*b", "ab") && fits("*", "") && !fits("", "a"));
    assert!(TypePattern::new("!noisy.*").is_match("!", "noisy.i32"));
}

#[test]
fn templates_are_filled() {
    let it = model(
        json!({"insert": {"text": "{result} = noisy.reduce_noise {operand} {to = 1} : {type}"}}),
    );
    let text = it.unwrap().reset_text("%1", "%0", "!noisy.i32", true);
    assert_eq!(text, "%1 = noisy.reduce_noise %0 {to = 1} : !noisy.i32");
    let built_in = NoiseModel::tutorial();
    let text = |is_generic| built_in.reset_text("%1", "%0", "!noisy.i32", is_generic);
    assert_eq!(text(false), "%1 = noisy.reduce_noise %0 : !noisy.i32");
    assert_eq!(text(true), "%1 = \"noisy.reduce_noise\"(%0) : (!noisy.i32) -> !noisy.i32");
}

#[test]
fn contradictions_are_reported_with_their_key() {
    let check = |json: Json, expected: &str| match model(json.clone()) {
        Ok(_) => panic!("{json} is accepted"),
        Err(it) => assert!(it.starts_with(expected), "{it}"),
    };
    check(json!({"fresh": 30}), "fresh: 30 is over the budget of 26");
    check(json!({"budget": u32::MAX}), "budget: at most 4294967294");
    check(json!({"types": []}), "types: ");
    check(json!({"types": [" "]}), "types: ");
    check(json!({"ops": {"add": {"growth": "max"}}}), "ops.add: not the full name");
    check(json!({"ops": {"a.b c": {"growth": "max"}}}), "ops.\"a.b c\": not the full name");
    check(json!({"ops": {"a.b": {"growth": "max", "level": 2}}}), "ops.\"a.b\".level: ");
    check(json!({"ops": {"a.b": {"growth": "fresh", "plus": 2}}}), "ops.\"a.b\".plus: ");
    check(json!({"ops": {"a.b": {"growth": "sum", "operands": []}}}), "ops.\"a.b\".operands: ");
    check(json!({"ops": {"a.b": {"growth": "sum", "operands": [1, 1]}}}), "ops.\"a.b\".operands: ");
    check(json!({"ops": {"a.b": {"growth": "sum", "operands": [64]}}}), "ops.\"a.b\".operands: ");
    check(json!({"ops": {"a.b": {"growth": "sum", "attribute": ""}}}), "ops.\"a.b\".attribute: ");
    check(json!({"insert": {"op": "a.b"}}), "insert.op: no row");
    check(json!({"insert": {"op": "noisy.add"}}), "insert.op: the growth");
    check(json!({"insert": {"cost": 0}}), "insert.cost: ");
    check(json!({"insert": {"text": "noisy.reduce_noise {operand}"}}), "insert.text: ");
    check(json!({"insert": {"text": "{result} = a.b {operand}"}}), "insert.text: ");
    check(json!({"insert": {"text": "{result} = noisy.reduce_noise\n{operand}"}}), "insert.text: ");
    let level = json!({"ops": {"noisy.reduce_noise": {"growth": "reset", "level": 27}}});
    check(level, "ops.\"noisy.reduce_noise\".level: 27 is over");
    let open = json!({"ops": {"noisy.reduce_noise": {"growth": "reset", "attribute": "to"}}});
    check(open, "ops.\"noisy.reduce_noise\".level: ");
    check(json!({"freshness": 3}), "unknown field `freshness`");
    check(json!({"ops": {"a.b": {"growth": "max", "add": 1}}}), "unknown field `add`");
    check(json!({"ops": {"a.b": {"growth": "cube"}}}), "unknown variant `cube`");
    check(json!({"ops": {"a.b": {}}}), "missing field `growth`");
    check(json!({"fresh": -1}), "invalid value: integer `-1`");
}

#[test]
fn operands_and_results_that_an_op_does_not_have_are_errors() {
    let wrong = |name: &str, key: &str, list: &[u32]| {
        model(json!({"ops": {name: {"growth": "max", key: list}}})).err().unwrap_or_default()
    };
    for (name, key, list, said) in [
        (
            "noisy.add",
            "operands",
            &[0, 2][..],
            "there is no operand 2: the last operand of the op is number 1",
        ),
        ("noisy.mul", "results", &[1], "there is no result 1: the op has one result, number 0"),
        ("func.return", "results", &[0], "there is no result 0: the op has no results"),
    ] {
        assert_eq!(wrong(name, key, list), format!("ops.\"{name}\".{key}: {said}"));
    }
    // Ops with any number of operands or results, and an unknown op.
    for (name, key, list) in [
        ("func.call", "operands", &[0, 60][..]),
        ("func.call", "results", &[60]),
        ("my.op", "operands", &[7]),
        ("my.op", "results", &[7]),
    ] {
        assert_eq!(wrong(name, key, list), "", "{name} {key}");
    }
}
