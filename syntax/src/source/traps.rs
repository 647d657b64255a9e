//! Tests of text that is easily misread: each case once, with its correct reading.

use super::Source;

fn problems(text: &str) -> Vec<&'static str> {
    Source::new(text).problems().into_iter().map(|it| it.2.code.name()).collect()
}

fn value(constant: &str) -> String {
    format!("func.func @f() {{\n  %0 = arith.constant {constant}\n  return\n}}\n")
}

#[test]
fn accepts_legal_edge_cases() {
    for text in [
        "",
        "// only a comment",
        // A minus is part of names with a sigil.
        "func.func @f(%a-1: i32) -> i32 {\n  return %a-1 : i32\n}",
        // Blanks in numbers, hexadecimal numbers, limits of types.
        &value("- 1 : i8"),
        &value("255 : i8"),
        &value("-128 : i8"),
        &value("0x10 : i32"),
        &value("1. : f32"),
        // A hexadecimal number in a shape is a zero and a dimension.
        "\"a.b\"() : () -> tensor<0x4xf32>",
        // Comments inside builtin types are comments; inside dialect bodies they are text.
        "\"a.b\"() : () -> tensor< // c\n4xf32>",
        "\"a.b\"() : () -> !a.b<// c>",
        "\"a.b\"() : () -> !a.b<a -> b>",
        "\"a.b\"() : () -> !a.b<\"(>\">",
        "#s = affine_set<(d0) : (d0 > = 0)>",
        "#s = affine_set<(d0)[s0] : (d0 - 4<=s0, 0x1F <= d0)>",
        "func.func @f(%a: i32) {\n  cf.switch %a : i32, [ default: ^b, true: ^b, false: ^b ]\n^b:\n  return\n}",
        // A carriage return ends a comment.
        "func.func @f() {\r  // c\r  return\r}\r",
        // Labels after an op on the same line.
        "func.func @f(%a: i32) { cf.br ^b(%a : i32) ^b(%b: i32): cf.switch %b : i32, [ default: ^c ] ^c: \"x\"() : () -> () ^d: return }",
        // Several definitions of aliases and ops on one line.
        "!a = i32 !b = i64\n#x = 1 : i32 #y = affine_map<(d0) -> (d0)> !c = f32\nfunc.func private @f(!a, !b, !c) attributes {p = #x, q = #y}",
        "!a = i32 func.func private @f(!a) func.func private @g(!a) -> i32 #m = 1 : i32 module {} module attributes {x.y = #m} {}",
        "#l = loc(\"a\") func.func private @f() loc(#l) #m = loc(\"b\") func.func private @g() loc(#m)",
        // The limits of 64 bits, and a step of 0, which MLIR accepts.
        "func.func @f() {\n  affine.for %i = -9223372036854775808 to 9223372036854775807 step 0 {\n  }\n  return\n}",
        // Names in dictionaries.
        "\"a.b\"() {i32, func = 1, \"a b\" = 2} : () -> ()",
        "\"a.b\"() {a, b = 1} : () -> ()",
        // A split line consists of exactly five dashes, at the end of a line.
        "\"a.b\"() : () -> () // --------\n// --------\n\"a.b\"() : () -> ()",
        "!t = i32\n// -----\n!t = i64\n",
        "!t = i32 // -----\n!t = i64\n  // ----- \r\n!t = i64 // // -----\n!t = i1",
        "// -----// IR Dump After X //----- //\nmodule {\n}\n",
        // Several ops on one line, with and without their dialect.
        "func.func private @h(i32) -> i32\nfunc.func @f(%a: i32) { %0 = call @h(%a) : (i32) -> i32 %1 = arith.addi %0, %0 : i32 return }",
        "func.func private @g(i32)\nfunc.func @f(%a: i32) { call @g(%a) : (i32) -> () call @g(%a) : (i32) -> () return }",
        "func.func private @g()\nfunc.func @f() { call @g() : () -> () \"a.b\"() : () -> () func.return }",
        "module { func.func @x() { return } module { } module @b {} func.func @y() { return } }",
        // A single name in braces is an op, not an attribute, if the word before the braces
        // requires a region.
        "func.func @f(%i: index, %c: i1) {\n  scf.while : () -> () { scf.condition(%c) } do { scf.yield }\n  scf.index_switch %i case -1 { scf.yield } default { scf.yield }\n  scf.if %c { scf.yield } else { scf.yield }\n  return\n}",
        &value("dense<[[], []]> : tensor<2x0xi32>"),
        &value("dense<1> : tensor<0xi32>"),
        // The contents of types and attributes of an unknown dialect are not parsed.
        "\"a.b\"() {a = #foo.b<#a>, b = !foo.x<!u>, c = tensor<4x!foo.b<[!u, {a = #u}]>>} : () -> !foo<x<!u>>",
        // Several modules, values at the top, ops without a dialect, escapes.
        "module {\n}\nmodule {\n}\n",
        "%0 = \"foo\"() : () -> i32\n\"bar\"(%0) : (i32) -> ()",
        "\"a.b\"() {a = \"\\0A\\\"\u{e9}\", s = @\"a b\\0A\"} : () -> ()",
        "\"a.b\"() {a = #arith.overflow<nuw,nsw>, b = #arith<fastmath<none>>} : () -> ()",
        // Inherent attributes in either place.
        "\"arith.constant\"() <{value = 1 : i32}> : () -> i32",
        "\"arith.constant\"() {value = 1 : i32} : () -> i32",
        "\"a.b\"() : () -> () loc(\"f\":1:2)",
        "\u{feff}module {\n}\n",
        "module {\r\n}\r\n",
        "module {\r}\r",
        "module {\0}\n",
    ] {
        assert_eq!(problems(text), [""; 0], "{text}");
    }
}

#[test]
fn reports_illegal_edge_cases() {
    for text in [
        "func.func @a-b() {\n  return\n}",
        &value("256 : i8"),
        &value("128 : si8"),
        &value("-1 : ui8"),
        &value("18446744073709551616 : i64"),
        &value("true : i1"),
        &value("dense<1> : tensor<f32>"),
        &value("dense<[]> : tensor<0x5xi32>"),
        &value("1e5 : f32"),
        "\"\"() : () -> ()",
        "\"a.b\"() {a = #dlti.dl_entry<i32, #a>} : () -> ()",
        "\"a.b\"() {a = true : i1} : () -> ()",
        "\"a.b\"() {\"\" = 1} : () -> ()",
        "\"a.b\"() {a = #arith.overflow<, nuw>} : () -> ()",
        "\"a.b\"() {a = #arith.fastmath<nuw>} : () -> ()",
        "\"a.b\"() {a = #arith.fastmath} : () -> ()",
        "\"a.b\"() {a = memref<4xi32, strided<[1, 2]>>} : () -> ()",
        "func.func private @f() attributes {sym_name = \"g\"}",
        "func.func @f() {\n  \"a.b\"(%0 #map) : () -> ()\n  return\n}",
        "func.func @f() {\n",
        "\"a.b\"() : () -> () \u{b}",
        "module {\n}\n\u{feff}",
        "\"a",
    ] {
        assert_ne!(problems(text), [""; 0], "{text}");
    }
}

#[test]
fn an_unclosed_region_is_told_at_the_last_token() {
    let source = Source::new("func.func @f() {\n  return\n\n");
    let ends: Vec<_> = source.problems().into_iter().map(|it| (it.1.start, it.1.end)).collect();
    assert_eq!(ends, [(25, 25)]);
}

#[test]
fn an_unbalanced_body_is_told_at_its_last_string() {
    for (text, told) in [
        ("\"a.b\"() {x = #c.d<\"e\", #f.g<\"h\">} : () -> ()\n", "\"h\""),
        ("\"a.b\"() {x = !c.d<(e>} : () -> ()\n", "<"),
    ] {
        let source = Source::new(text);
        let problems = source.problems();
        let told_at: Vec<&str> = problems.iter().map(|it| &text[it.1.clone()]).collect();
        assert_eq!(told_at, [told], "{problems:?}");
    }
}
