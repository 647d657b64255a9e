//! Tests on ops that HEIR refuses to lower, and on similar ops that it lowers; compares the
//! diagnostics with `heir-opt`.

use crate::lowering::{BGV, CKKS, errors, fixed, heir_opt, refusal};

/// Returns a program whose generic has the given lines. `%dd` is a management op, which means that
/// HEIR has placed its ops. `S` is the type of secrets, `T` the type inside of it.
fn program(params: &str, inner: &str, functions: &str, lines: &str, yielded: &[&str]) -> String {
    let secrets = vec!["S"; yielded.len()].join(", ");
    let types = vec!["T"; yielded.len()].join(", ");
    let n = yielded.len();
    let (name, results): (String, Vec<String>) = match n {
        1 => ("%r".into(), vec!["%r".into()]),
        _ => (format!("%r:{n}"), (0..n).map(|it| format!("%r#{it}")).collect()),
    };
    let text = format!(
        "module attributes {{{params}}} {{
{functions}  func.func @f(%x: S, %y: S, %p: T, %c: i1, %i: index) -> ({secrets}) {{
    %q = mgmt.init %p : T
    {name} = secret.generic(%x: S, %y: S) {{
    ^body(%a: T, %b: T):
      %dd = mgmt.relinearize %a : T
{lines}
      secret.yield {yielded} : {types}
    }} -> ({secrets})
    return {results} : {secrets}
  }}
}}
",
        yielded = yielded.join(", "),
        results = results.join(", "),
    );
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut out = String::new();
    for word in text.split_inclusive(|it| !is_word(it)) {
        let end = word.trim_end_matches(|it| !is_word(it));
        let behind = &word[end.len()..];
        match end {
            "S" => out += &format!("!secret.secret<{inner}>"),
            "T" => out += inner,
            _ => out += end,
        }
        out += behind;
    }
    out
}

/// Returns the line of the only error, which must have this code.
fn row(text: &str, code: &str) -> usize {
    let found = noisy_analyses::Document::new(text).diagnostics();
    let found: Vec<_> = found.into_iter().filter(|it| it.severity.name() == "error").collect();
    let [it] = found.as_slice() else { panic!("{found:#?}\n{text}") };
    assert_eq!(it.code, code, "{text}");
    text[..it.range.start].lines().count()
}

/// Compares a program with HEIR. A `!` at the end of a line marks the error, which has this code.
fn check(code: &str, text: &str) {
    let marked = text.lines().position(|it| it.ends_with('!'));
    let plain = text.replace("!\n", "\n");
    match marked {
        Some(at) => assert_eq!(row(&plain, code), at + 1, "{plain}"),
        None => assert_eq!(errors(&plain), [""; 0], "{plain}"),
    }
    if let Some(heir_opt) = heir_opt() {
        let refused = refusal(&heir_opt, &plain);
        assert_eq!(refused.is_some(), marked.is_some(), "{refused:?}\n{plain}");
    }
}

const ROW: &str = "tensor<8xf32>";
const INTEGERS: &str = "tensor<8xi16>";
const ROWS: &str = "tensor<4x8xf32>";

#[test]
fn slices_are_full_rows() {
    let of = |offsets: &str, width: u32, mark: &str| {
        let slice = format!("tensor<{width}xf32>");
        let lines = format!(
            "      %e = tensor.extract_slice %a{offsets} : T to {slice}{mark}
      %0 = tensor.insert_slice %e into %b[1, 0] [1, 8] [1, 1] : {slice} into T"
        );
        program(CKKS, ROWS, "", &lines, &["%0"])
    };
    check("not-lowered", &of("[1, 0] [1, 8] [1, 1]", 8, ""));
    check("not-lowered", &of("[%i, 0] [1, 8] [1, 1]", 8, ""));
    check("not-lowered", &of("[0, %i] [1, 8] [1, 1]", 8, "!"));
    check("not-lowered", &of("[1, 0] [1, 8] [2, 1]", 8, "!"));
    let halves = "      %e = tensor.extract_slice %a[0] [4] [1] : T to tensor<4xf32>!
      %0 = tensor.insert_slice %e into %b[4] [4] [1] : tensor<4xf32> into T";
    let text = program(CKKS, ROW, "", halves, &["%0"]);
    assert_eq!(errors(&text.replace("!\n", "\n")), ["not-lowered"; 2], "{text}");
    // MLIR folds a slice that is inserted at its own position, and a slice of the whole tensor.
    let back = halves.replace("into %b[4]", "into %a[0]").replace('!', "");
    check("not-lowered", &program(CKKS, ROW, "", &back, &["%0"]));
    let all = "      %e = tensor.extract_slice %a[0] [8] [1] : T to T
      %0 = arith.addf %e, %b : T";
    check("not-lowered", &program(CKKS, ROW, "", all, &["%0"]));
    // A ciphertext cannot be inserted into plaintexts.
    let mixed = "      %e = tensor.extract_slice %a[0, 0] [1, 8] [1, 1] : T to tensor<8xf32>
      %0 = tensor.insert_slice %e into %q[0, 0] [1, 8] [1, 1] : tensor<8xf32> into T!";
    check("not-lowered", &program(CKKS, ROWS, "", mixed, &["%0"]));
}

#[test]
fn shapes_and_layouts_are_converted_before() {
    let lines =
        "      %e = tensor.expand_shape %a [[0, 1]] output_shape [1, 8] : T into tensor<1x8xf32>!
      %s = arith.addf %e, %e : tensor<1x8xf32>
      %0 = tensor.collapse_shape %s [[0, 1]] : tensor<1x8xf32> into T";
    let text = program(CKKS, ROW, "", lines, &["%0"]);
    assert_eq!(errors(&text.replace("!\n", "\n")), ["not-lowered"; 2], "{text}");
    let folded =
        "      %e = tensor.expand_shape %a [[0, 1]] output_shape [1, 8] : T into tensor<1x8xf32>
      %0 = tensor.collapse_shape %e [[0, 1]] : tensor<1x8xf32> into T";
    check("not-lowered", &program(CKKS, ROW, "", folded, &["%0"]));
    let reduced = "      %0 = tensor_ext.rotate_and_reduce %a, %p {period = 1 : index, steps = 8 : index} : (T, T) -> T!";
    check("not-lowered", &program(CKKS, ROW, "", reduced, &["%0"]));
    // Without a management op, earlier passes of HEIR still have to run.
    let early = program(CKKS, ROW, "", reduced, &["%0"]).replace("!\n", "\n");
    let early = early.replace("      %dd = mgmt.relinearize %a : tensor<8xf32>\n", "");
    assert_eq!(errors(&early), [""; 0], "{early}");
}

#[test]
fn integer_ops_with_constants_fold_or_are_refused() {
    let of = |op: &str, constant: i32, mark: &str| {
        let lines = format!(
            "      %k = arith.constant dense<{constant}> : T
      %0 = arith.{op} %a, %k : T{mark}"
        );
        program(BGV, INTEGERS, "", &lines, &["%0"])
    };
    for op in ["xori", "shli", "divsi", "maxsi"] {
        check("not-lowered", &of(op, 5, "!"));
    }
    check("not-lowered", &of("maxui", 0, ""));
    check("not-lowered", &of("xori", 0, ""));
    let twice = "      %k = arith.constant dense<5> : T
      %1 = arith.xori %a, %k : T
      %0 = arith.xori %1, %k : T";
    check("not-lowered", &program(BGV, INTEGERS, "", twice, &["%0"]));
    let cast = "      %1 = arith.addi %a, %b : T
      %2 = arith.trunci %1 : T to tensor<8xi8>!
      %0 = arith.extsi %2 : tensor<8xi8> to T";
    check("not-lowered", &program(BGV, INTEGERS, "", cast, &["%0"]));
}

#[test]
fn branches_yield_one_computed_ciphertext() {
    let of = |first: &str, second: &str, mark: &str| {
        format!(
            "      %0 = scf.if %c -> (T) {{
        %s = arith.addf %a, %b : T
        scf.yield {first} : T
      }} else {{
        %s = arith.addf %b, %b : T
        scf.yield {second} : T{mark}
      }}"
        )
    };
    let one = |lines: &str| program(CKKS, ROW, "", lines, &["%0"]);
    check("not-lowered", &one(&of("%s", "%s", "")));
    check("not-lowered", &one(&of("%s", "%a", "")));
    check("not-lowered", &one(&of("%a", "%a", "")));
    check("not-lowered", &one(&of("%a", "%b", "!")));
    // The condition of the enclosing `if` is known in its branches.
    let nested = "      %0 = scf.if %c -> (T) {
        %1 = scf.if %c -> (T) {
          scf.yield %a : T
        } else {
          scf.yield %b : T
        }
        %s = arith.addf %1, %b : T
        scf.yield %s : T
      } else {
        scf.yield %a : T
      }";
    check("not-lowered", &one(nested));
    let two = "      %0:2 = scf.if %c -> (T, T) {
        %s = arith.addf %a, %b : T
        %t = arith.addf %a, %a : T
        scf.yield %s, %t : T, T
      } else {
        %s = arith.subf %b, %a : T
        %t = arith.addf %b, %b : T
        scf.yield %s, %t : T, T!
      }";
    check("not-lowered", &program(CKKS, ROW, "", two, &["%0#0", "%0#1"]));
    check("not-lowered", &program(CKKS, ROW, "", &two.replace('!', ""), &["%0#0"]));
}

#[test]
fn refuses_ciphertexts_as_conditions() {
    let lines = "      %0 = scf.if %k -> (T) {!
        %s = arith.addf %a, %b : T
        scf.yield %s : T
      } else {
        %s = arith.addf %b, %b : T
        scf.yield %s : T
      }";
    let text = program(CKKS, ROW, "", lines, &["%0"])
        .replace("%i: index)", "%i: index, %w: !secret.secret<i1>)")
        .replace("secret.generic(", "secret.generic(%w: !secret.secret<i1>, ")
        .replace("^body(", "^body(%k: i1, ");
    check("not-lowered", &text);
}

#[test]
fn results_of_a_generic_are_ciphertexts() {
    let sum = "      %0 = arith.addf %a, %b : T";
    for plain in ["%p", "%q"] {
        let text = program(CKKS, ROW, "", sum, &["%0", plain]);
        let marked = text
            .replace("tensor<8xf32>, tensor<8xf32>\n    }", "tensor<8xf32>, tensor<8xf32>!\n    }");
        check("not-lowered", &marked);
        // HEIR removes an unused result.
        let unused = text
            .replace("%r#0, %r#1 :", "%r#0 :")
            .replace("index) -> (!secret.secret<tensor<8xf32>>, ", "index) -> (")
            .replace("%r#0 : !secret.secret<tensor<8xf32>>, ", "%r#0 : ");
        check("not-lowered", &unused);
    }
    let plain = "      %0 = arith.addf %p, %p : T";
    let text = program(CKKS, ROW, "", plain, &["%0"]);
    check("not-lowered", &text.replace("yield %0 : tensor<8xf32>", "yield %0 : tensor<8xf32>!"));
}

#[test]
fn refuses_a_result_that_is_yielded_twice() {
    let of = |body: &str, mark: &str| {
        let lines = format!(
            "      %0:2 = affine.for %k = 0 to 2 iter_args(%s = %a, %t = %b) -> (T, T) {{
        %u = {body} : T
        affine.yield %u, %u : T, T{mark}
      }}"
        );
        program(CKKS, ROW, "", &lines, &["%0#0", "%0#1"])
    };
    check("not-lowered", &of("arith.addf %s, %t", "!"));
    let lines = "      %0 = func.call @g(%a) : (T) -> T";
    let function = "  func.func private @g(T) -> T\n";
    check("not-lowered", &program(CKKS, ROW, function, lines, &["%0", "%0"]));
}

#[test]
fn a_generic_calls_a_declaration_once() {
    let call = |name: &str, value: &str, mark: &str| {
        format!("      {name} = func.call @g({value}) : (T) -> T{mark}\n")
    };
    let function = "  func.func private @g(T) -> T\n";
    let with_body = "  func.func private @g(%w: T) -> T {
    %s = arith.addf %w, %w : T
    return %s : T
  }\n";
    let sum = "      %0 = arith.addf %1, %2 : T";
    let one = format!("{}{}", call("%1", "%a", ""), sum.replace("%2", "%b"));
    check("not-lowered", &program(CKKS, ROW, function, &one, &["%0"]));
    let one = format!("{}{}", call("%1", "%a", "!"), sum.replace("%2", "%b"));
    check("not-lowered", &program(CKKS, ROW, with_body, &one, &["%0"]));
    let two = format!("{}{}{sum}", call("%1", "%a", ""), call("%2", "%b", "!"));
    check("not-lowered", &program(CKKS, ROW, function, &two, &["%0"]));
    // A call with only plaintexts does not count as a call in the generic.
    let plain = format!(
        "{}      %k = mgmt.init %1 : T\n      %0 = arith.addf %a, %k : T",
        call("%1", "%p", "")
    );
    for function in [function, with_body] {
        check("not-lowered", &program(CKKS, ROW, function, &plain, &["%0"]));
    }
}

#[test]
fn a_function_is_called_at_one_level() {
    let text = |drop: &str, mark: &str| {
        let secret = "!secret.secret<tensor<8xf32>>";
        format!(
            "module attributes {{{CKKS}}} {{
  func.func private @g(%x: {secret}) -> {secret} {{
    %r = secret.generic(%x: {secret}) {{
    ^body(%a: tensor<8xf32>):
      %0 = arith.addf %a, %a : tensor<8xf32>
      secret.yield %0 : tensor<8xf32>
    }} -> {secret}
    return %r : {secret}
  }}
  func.func @f(%x: {secret}) -> ({secret}, {secret}) {{
    %d = secret.generic(%x: {secret}) {{
    ^body(%a: tensor<8xf32>):
      %0 = {drop} %a : tensor<8xf32>
      secret.yield %0 : tensor<8xf32>
    }} -> {secret}
    %u = call @g(%x) : ({secret}) -> {secret}{mark}
    %v = call @g(%d) : ({secret}) -> {secret}
    return %u, %v : {secret}, {secret}
  }}
}}
"
        )
    };
    check("not-lowered", &text("mgmt.level_reduce", "!"));
    check("not-lowered", &text("arith.negf", ""));
}

#[test]
fn refuses_ops_on_encoded_plaintexts() {
    let of = |op: &str, mark: &str| {
        let lines = format!("      %1 = {op} : T\n      %0 = arith.addf %a, %1 : T{mark}");
        program(CKKS, ROW, "", &lines, &["%0"])
    };
    for op in ["arith.addf %q, %q", "arith.subf %q, %p", "math.exp %q", "tensor.empty()"] {
        check("unencoded-plaintext", &of(op, "!"));
    }
    // MLIR turns the sum with a negation into a difference.
    check("unencoded-plaintext", &of("arith.negf %q", ""));
    check("unencoded-plaintext", &of("mgmt.init %q", ""));
    let folded = "      %1 = arith.addi %p, %q : T
      %2 = arith.subi %1, %p : T
      %0 = arith.addi %a, %2 : T";
    check("unencoded-plaintext", &program(BGV, INTEGERS, "", folded, &["%0"]));
}

/// Returns a BGV program for Lattigo, for which HEIR manages scales.
fn lattigo(lines: &str, yielded: &[&str]) -> String {
    let product = "      %m = arith.muli %a, %b : T
      %n = mgmt.relinearize %m : T
      %d = mgmt.modreduce %n : T\n";
    let params = BGV.replace("openfhe", "lattigo");
    program(&params, INTEGERS, "", &format!("{product}{lines}"), yielded)
}

/// Compares a program with HEIR like [`check`], and checks that HEIR accepts the fixed program.
fn check_fixed(text: &str) {
    check("unequal-scales", text);
    let after = fixed(&text.replace("!\n", "\n"));
    assert_eq!(errors(&after), [""; 0], "{after}");
    if let Some(heir_opt) = heir_opt() {
        assert_eq!(refusal(&heir_opt, &after), None, "{after}");
    }
}

#[test]
fn scales_of_bgv_are_those_of_the_other_operand() {
    let drop = "      %e = mgmt.level_reduce %a : T\n";
    for op in ["arith.addi", "arith.subi"] {
        check_fixed(&lattigo(&format!("{drop}      %0 = {op} %d, %e : T!"), &["%0"]));
    }
    check("unequal-scales", &lattigo(&format!("{drop}      %0 = arith.muli %d, %e : T"), &["%0"]));
    // Both operands are switched by the same modulus, and both are products.
    let square = "      %o = arith.muli %a, %a : T
      %e = mgmt.modreduce %o : T
      %f = mgmt.relinearize %e : T
      %0 = arith.addi %d, %f : T";
    check("unequal-scales", &lattigo(square, &["%0"]));
    check_fixed(&lattigo("      %0 = arith.addi %d, %q : T!", &["%0"]));
    check("unequal-scales", &lattigo("      %0 = arith.addi %n, %q : T", &["%0"]));
    let in_loop = format!(
        "{drop}      %0 = affine.for %k = 0 to 2 iter_args(%it = %d) -> (T) {{
        %1 = arith.addi %it, %e : T!
        affine.yield %1 : T
      }}"
    );
    check_fixed(&lattigo(&in_loop, &["%0"]));
    let adjusted = "      %e = \"mgmt.adjust_scale\"(%a) <{id = 0 : i64}> : (T) -> T
      %f = mgmt.modreduce %e : T
      %0 = arith.addi %d, %f : T";
    check("unequal-scales", &lattigo(adjusted, &["%0"]));
    let openfhe = format!("{drop}      %0 = arith.addi %d, %e : T");
    let text = lattigo(&openfhe, &["%0"]).replace("backend.lattigo", "backend.openfhe");
    check("unequal-scales", &text);
}

#[test]
fn refuses_modulus_switches_that_heir_moves() {
    for op in ["mgmt.level_reduce", "mgmt.modreduce"] {
        check_fixed(&lattigo(&format!("      %0 = {op} %d : T!"), &["%0"]));
        // HEIR does not move a modulus switch with another use.
        check("unequal-scales", &lattigo(&format!("      %0 = {op} %d : T"), &["%0", "%d"]));
    }
}

#[test]
fn refuses_missing_and_lowered_scales_in_ckks() {
    let of = |scale: &str, mark: &str| {
        let lines = format!(
            "      %m = arith.mulf %a, %b : T
      %n = mgmt.relinearize %m : T
      %0 = \"mgmt.adjust_scale\"(%n) <{{id = 0 : i64}}> {scale}: (T) -> T{mark}"
        );
        program(CKKS, ROW, "", &lines, &["%0"])
    };
    let written = |scale: u32| format!("{{mgmt.mgmt = #mgmt.mgmt<level = 4, scale = {scale}>}} ");
    check("unequal-scales", &of("", "!"));
    check("unequal-scales", &of(&written(45), "!"));
    check("unequal-scales", &of(&written(120), ""));
}

#[test]
fn scales_of_integers_are_not_raised() {
    let of = |lines: &str| program(CKKS, "tensor<8xi32>", "", lines, &["%0"]);
    check(
        "unequal-scales",
        &of("      %m = mgmt.modreduce %a : T!
      %0 = arith.addi %m, %m : T"),
    );
    check(
        "unequal-scales",
        &of("      %m = arith.muli %a, %b : T
      %n = mgmt.relinearize %m : T
      %0 = arith.addi %n, %a : T!"),
    );
    check(
        "unequal-scales",
        &of("      %m = arith.muli %a, %b : T
      %n = mgmt.relinearize %m : T
      %0 = mgmt.modreduce %n : T"),
    );
}

#[test]
fn loops_keep_levels_once_heir_has_placed_its_ops() {
    let of = |op: &str, mark: &str| {
        format!(
            "      %m = arith.mulf %a, %b : T
      %n = mgmt.relinearize %m : T
      %d = mgmt.modreduce %n : T
      %0 = affine.for %k = 0 to 2 iter_args(%it = %d) -> (T) {{
        %1 = {op} %it : T{mark}
        affine.yield %1 : T
      }}"
        )
    };
    let text = |op: &str, mark: &str| program(CKKS, ROW, "", &of(op, mark), &["%0"]);
    check("varying-level", &text("mgmt.modreduce", "!"));
    check("varying-level", &text("arith.negf", ""));
    // Without parameters HEIR may still unroll the loop.
    let early = text("mgmt.modreduce", "").replace("ckks.schemeParam", "x.schemeParam");
    assert_eq!(errors(&early), [""; 0], "{early}");
}

#[test]
fn refuses_empty_domains_of_approximations() {
    let of = |bounds: &str| {
        format!(
            "module attributes {{scheme.ckks}} {{
  func.func @f(%x: f32 {{secret.secret}}) -> f32 {{
    %0 = math.tanh %x {{{bounds}}} : f32
    return %0 : f32
  }}
}}
"
        )
    };
    let heir = heir_opt();
    let refused = |text: &str| {
        let heir = heir.as_ref()?;
        let passes = &["--polynomial-approximation"];
        Some(crate::lowering::refusal_by(heir, passes, text).is_some())
    };
    for (bounds, is_refused) in [
        ("domain_lower = 2.0 : f64, domain_upper = 2.0 : f64", true),
        ("domain_lower = 5.0 : f64, domain_upper = -5.0 : f64", true),
        ("domain_lower = -3.0 : f64, domain_upper = 3.0 : f64", false),
    ] {
        let text = of(bounds);
        assert_eq!(!errors(&text).is_empty(), is_refused, "{text}");
        assert_eq!(refused(&text).unwrap_or(is_refused), is_refused, "{text}");
    }
}

#[test]
fn refuses_duplicate_names_of_debug_validate() {
    let of = |second: &str| {
        format!(
            "module attributes {{scheme.ckks}} {{
  func.func @f(%x: f32 {{secret.secret}}) -> f32 {{
    debug.validate %x {{name = \"a\"}} : f32
    debug.validate %x {{name = \"{second}\"}} : f32
    return %x : f32
  }}
}}
"
        )
    };
    assert_eq!(row(&of("a"), "not-lowered"), 4);
    assert_eq!(errors(&of("b")), [""; 0]);
    // Each chunk of a file is a separate program.
    let apart = format!("{}// -----\n{}", of("b"), of("b").replace("\"b\"", "\"c\""));
    assert_eq!(errors(&apart), [""; 0]);
}

#[test]
fn secrets_of_bgv_are_tensors_of_one_width() {
    let warnings = |text: &str| {
        let found = noisy_analyses::Document::new(text).diagnostics().into_iter();
        let found = found.filter(|it| it.code == "not-lowered");
        found.map(|it| (it.severity.name(), it.message)).collect::<Vec<_>>()
    };
    let sum = "      %0 = arith.addi %a, %b : T";
    let scalar = program(BGV, "i16", "", sum, &["%0"]);
    let found = warnings(&scalar);
    assert!(
        matches!(&*found, [("warning", it)] if it == "%x is no tensor: heir-opt crashes when it lowers this to BGV"),
        "{found:?}"
    );
    if let Some(heir_opt) = heir_opt() {
        assert!(refusal(&heir_opt, &scalar).is_some());
    }
    let text = program(BGV, INTEGERS, "", sum, &["%0"]);
    assert_eq!(warnings(&text), []);
    let text = text
        .replace("%i: index)", "%i: index, %w: !secret.secret<tensor<4xi16>>)")
        .replace(
            "tensor<8xi16>>) {\n    ^body",
            "tensor<8xi16>>, %w: !secret.secret<tensor<4xi16>>) {\n    ^body",
        )
        .replace("%b: tensor<8xi16>):", "%b: tensor<8xi16>, %k: tensor<4xi16>):");
    let found = warnings(&text);
    assert!(
        matches!(&*found, [("warning", it)] if it.starts_with("%w has another")),
        "{found:?}\n{text}"
    );
}

/// A refusal may depend on other ops: after edits of these, the diagnostics equal those of a fresh
/// document.
#[test]
fn edits_of_other_ops_equal_fresh_documents() {
    let told = |it: &noisy_analyses::Document| {
        let found = it.diagnostics().into_iter();
        found.map(|it| (it.code, it.range, it.message)).collect::<Vec<_>>()
    };
    let moved = "      %z = arith.addi %n, %n : T
      %0 = mgmt.level_reduce %d : T";
    let calls = "      %1 = func.call @g(%a) : (T) -> T
      %2 = func.call @h(%b) : (T) -> T
      %0 = arith.addf %1, %2 : T";
    let declared = "  func.func private @g(T) -> T\n  func.func private @h(T) -> T\n";
    let slice = "      %e = tensor.extract_slice %a[0] [4] [1] : T to tensor<4xf32>
      %0 = tensor.insert_slice %e into %b[0] [4] [1] : tensor<4xf32> into T";
    let named = "      debug.validate %a {name = \"a\"} : T
      debug.validate %b {name = \"b\"} : T
      %0 = arith.addf %a, %b : T";
    let constant = "      %k = arith.constant dense<5> : T
      %0 = arith.xori %a, %k : T";
    let level = "      %e = mgmt.level_reduce %a : T
      %0 = arith.addi %d, %e : T";
    let cases = [
        (lattigo(moved, &["%0"]), "%n, %n", "%d, %d"),
        (program(CKKS, ROW, declared, calls, &["%0"]), "@h(%b)", "@g(%b)"),
        (program(CKKS, ROW, "", slice, &["%0"]), "into %b", "into %a"),
        (program(CKKS, ROW, "", named, &["%0"]), "\"a\"", "\"b\""),
        (program(BGV, INTEGERS, "", constant, &["%0"]), "dense<5>", "dense<0>"),
        (lattigo(level, &["%0"]), "mgmt.modreduce %n", "mgmt.level_reduce %n"),
        (lattigo(level, &["%0"]), "backend.lattigo", "backend.openfhe"),
        (lattigo(level, &["%0"]), "relinearize %a", "init %a"),
    ];
    for (text, from, to) in cases {
        let at = text.find(from).expect("the place");
        let mut document = noisy_analyses::Document::new(&text);
        let before = told(&document);
        document.edit(at..at + from.len(), to);
        let after = document.source().text().to_string();
        let fresh = told(&noisy_analyses::Document::new(&after));
        assert_eq!(told(&document), fresh, "{after}");
        assert_ne!(before, fresh, "{after}");
        document.edit(at..at + to.len(), from);
        assert_eq!(told(&document), before, "{text}");
    }
}
