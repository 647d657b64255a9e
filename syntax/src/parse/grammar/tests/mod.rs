//! Tests of whole items.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

mod faults;

use super::*;

use crate::lex::lex;
use crate::{Interner, TokenKind};

/// Returns the tokens of one op, with each region as one token and without its contents.
pub(super) fn tokens_of(text: &str) -> Vec<Token> {
    let lexed = lex(text).tokens;
    let all: Vec<Token> = lexed.iter().copied().filter(|it| it.kind != TokenKind::Eof).collect();
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let token = all[at];
        at += 1;
        if token.kind == TokenKind::LBrace
            && all.get(at).is_some_and(|it| it.kind == TokenKind::RBrace)
        {
            out.push(Token { end: all[at].end, kind: TokenKind::Region, ..token });
            at += 1;
        } else {
            out.push(token);
        }
    }
    out
}

fn show(text: &str) -> String {
    let mut interner = Interner::default();
    let aliases = Aliases::default();
    let mut env =
        GrammarEnv { interner: &mut interner, aliases: &aliases, default_dialect: Some("func") };
    let mut out = ParsedItem::default();
    parse_item(text, &tokens_of(text), &mut env, &mut out);
    let mut shown = String::new();
    let types = |interner: &Interner, list: &[Type]| {
        list.iter().map(|it| interner.type_text(*it)).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(
        shown,
        "{:?} {:?} {}",
        out.kind,
        out.form,
        out.name.map_or("", |it| interner.str(it))
    );
    if !out.result_types.is_empty() {
        let guessed = if out.is_guessed { " (guessed)" } else { "" };
        let _ = writeln!(shown, "  results: {}{guessed}", types(&interner, &out.result_types));
    }
    for it in &out.operands {
        let _ = writeln!(
            shown,
            "  %{}#{}: {}",
            interner.str(it.name),
            it.number,
            interner.type_text(it.ty)
        );
    }
    for it in &out.successors {
        let _ = writeln!(shown, "  ^{} {:?}", interner.str(it.name), it.operands);
    }
    for (i, arguments) in out.region_arguments.iter().enumerate() {
        for it in arguments {
            let name = it.name.map_or("", |it| interner.str(it));
            let _ = writeln!(shown, "  region {i} %{name}: {}", interner.type_text(it.ty));
        }
    }
    for it in &out.arguments {
        let name = it.name.map_or("", |it| interner.str(it));
        let _ = writeln!(shown, "  argument %{name}: {}", interner.type_text(it.ty));
    }
    for (name, attr) in &out.attrs {
        let _ = writeln!(shown, "  {} = {}", interner.str(*name), interner.attr_text(*attr));
    }
    if let Some(alias) = out.alias {
        let text = match alias {
            Alias::Type(ty) => interner.type_text(ty),
            Alias::Attr(attr) => interner.attr_text(attr),
        };
        let _ = writeln!(shown, "  is {text}");
    }
    if let Some(it) = out.symbol {
        let _ = writeln!(shown, "  defines @{}", interner.str(it.name));
    }
    for it in &out.symbol_uses {
        let _ = writeln!(shown, "  uses @{}", interner.str(it.name));
    }
    for it in &out.problems {
        let span = it.span;
        let _ =
            writeln!(shown, "  {:?} {}..{}: {}", it.category(), span.start, span.end, it.message);
    }
    shown
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&show(text));
}

#[test]
fn arithmetic_binds_one_type_to_all() {
    check(
        "%1 = arith.addi %0, %0 : i32",
        &expect![[r#"
        ArithAddi Custom arith.addi
          results: i32
          %0#0: i32
          %0#0: i32
    "#]],
    );
    check(
        "%1 = arith.addi %0, %a#1 overflow<nsw, nuw> {x} : vector<4xi8>",
        &expect![[r#"
        ArithAddi Custom arith.addi
          results: vector<4xi8>
          %0#0: vector<4xi8>
          %a#1: vector<4xi8>
          overflowFlags = #arith.overflow<nsw, nuw>
          x = unit
    "#]],
    );
    check(
        "%1 = arith.cmpi \"slt\", %0, %0 : tensor<4xi8>",
        &expect![[r#"
        ArithCmpi Custom arith.cmpi
          results: tensor<4xi1>
          %0#0: tensor<4xi8>
          %0#0: tensor<4xi8>
          predicate = 2 : i64
    "#]],
    );
    check(
        "%1 = arith.select %c, %a, %b : vector<4xi1>, vector<4xf32>",
        &expect![[r#"
        ArithSelect Custom arith.select
          results: vector<4xf32>
          %c#0: vector<4xi1>
          %a#0: vector<4xf32>
          %b#0: vector<4xf32>
    "#]],
    );
    check(
        "%s, %c = arith.addui_extended %a, %b : i8, i1",
        &expect![[r#"
        ArithAdduiExtended Custom arith.addui_extended
          results: i8, i1
          %a#0: i8
          %b#0: i8
    "#]],
    );
}

#[test]
fn constants_have_the_type_of_their_value() {
    check(
        "%1 = arith.constant 255 : i8",
        &expect![[r#"
        ArithConstant Custom arith.constant
          results: i8
          value = -1 : i8
    "#]],
    );
    check(
        "%1 = arith.constant true",
        &expect![[r#"
        ArithConstant Custom arith.constant
          results: i1
          value = true
    "#]],
    );
    check(
        "%1 = arith.constant 256 : i8",
        &expect![[r#"
        ArithConstant Custom arith.constant
          results: ?
          value = unknown
          Type 20..23: integer constant out of range for its type
    "#]],
    );
    check(
        "%1 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
        &expect![[r#"
        ArithConstant Custom arith.constant
          results: tensor<2x2xi32>
          value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    "#]],
    );
    check(
        "%1 = arith.constant 0.1 : f32",
        &expect![[r#"
        ArithConstant Custom arith.constant
          results: f32
          value = 1.000000e-01 : f32
    "#]],
    );
}

/// Compares with the output of mlir-opt 19.1.7.
#[test]
fn bytes_of_elements_are_read() {
    let ones = "F".repeat(20);
    for (bytes, ty, printed) in [
        ("", "0xi1", ""),
        ("", "0xi8", ""),
        ("FF", "0xi1", "true"),
        ("00", "160xi1", "false"),
        ("05", "3xi1", "[true, false, true]"),
        ("FFFF", "16xi1", "true"),
        (&ones, "80xi1", "true"),
        ("01FE", "2xui8", "[1, 254]"),
        ("01FE", "2xi8", "[1, -2]"),
        ("FE01FEFF", "2xi16", "[510, -2]"),
        ("FE01FE01", "2xi16", "510"),
        ("0000803F000000C0", "2xf32", "[1.000000e+00, -2.000000e+00]"),
    ] {
        let shown = show(&format!("%0 = arith.constant dense<\"0x{bytes}\"> : tensor<{ty}>"));
        let value = format!("value = dense<{printed}> : tensor<{ty}>");
        assert!(shown.contains(&value), "{shown}");
    }
    let many = format!("{ones}0F0000000000");
    let shown = show(&format!("%0 = arith.constant dense<\"0x{many}\"> : tensor<128xi1>"));
    assert!(shown.contains(&format!("dense<\"0x{many}\">")), "{shown}");
    for (bytes, ty) in [("FFFF", "3xi1"), ("05", "9xi1"), ("", "3xi1")] {
        let shown = show(&format!("%0 = arith.constant dense<\"0x{bytes}\"> : tensor<{ty}>"));
        assert!(shown.contains("elements hex data size is invalid"), "{shown}");
    }
}

#[test]
fn one_bit_elements_of_any_sign_are_printed_as_booleans() {
    for (elements, ty) in [("[0, 1]", "2xui1"), ("[0, -1]", "2xsi1"), ("[false, true]", "2xui1")] {
        let shown = show(&format!("%0 = arith.constant dense<{elements}> : tensor<{ty}>"));
        assert!(shown.contains("value = dense<[false, true]>"), "{shown}");
    }
}

#[test]
fn noisy_ops_spell_their_types() {
    check(
        "%1 = noisy.encode %0 : i5 -> !noisy.i32",
        &expect![[r#"
        NoisyEncode Custom noisy.encode
          results: !noisy.i32
          %0#0: i5
    "#]],
    );
    check(
        "%1 = noisy.add %0, %0 : !noisy.i33",
        &expect![[r#"
        NoisyAdd Broken noisy.add
          %0#0: ?
          %0#0: ?
          Syntax 24..34: unknown type `!noisy.i33` in dialect `noisy`; its only type is `!noisy.i32`
    "#]],
    );
    check(
        "%1 = noisy.ad %0, %0 : !noisy.i32",
        &expect![[r#"
        Unknown Broken noisy.ad
          results: !noisy.i32 (guessed)
          %0#0: ?
          %0#0: ?
          Syntax 5..13: unknown op `noisy.ad`; did you mean `noisy.add`?
    "#]],
    );
}

#[test]
fn lines_and_columns_have_32_bits() {
    let told = |place: &str| {
        let text = format!("\"a.b\"() : () -> () loc(\"f\":{place})");
        let problems = crate::Source::new(&text).problems();
        problems.iter().map(|it| it.2.message.clone()).collect::<Vec<_>>()
    };
    for good in ["0:0", "4294967295:1", "1:4294967295", "0xFFFFFFFF:0x10", "1:2 to 3:4"] {
        assert_eq!(told(good), [""; 0], "{good}");
    }
    for bad in ["4294967296:1", "1:4294967296", "9223372036854775808:1", "1:2 to 4294967296:4"] {
        assert_eq!(told(bad), ["line and column are at most 4294967295"], "{bad}");
    }
}

#[test]
fn functions_define_arguments() {
    check(
        "func.func private @f(%a: i32 {x.y = 1 : i8}, %b: !noisy.i32 loc(\"f\":1:2)) -> (i32 {z}, f32)",
        &expect![[r#"
        FuncFunc Custom func.func
          argument %a: i32
          argument %b: !noisy.i32
          arg_attrs = [{x.y = 1 : i8}, {}]
          function_type = (i32, !noisy.i32) -> (i32, f32)
          res_attrs = [{z}, {}]
          sym_name = "f"
          sym_visibility = "private"
          defines @f
    "#]],
    );
    check(
        "func @g(%a: i32) attributes {k} { }",
        &expect![[r#"
            FuncFunc Custom func.func
              region 0 %a: i32
              function_type = (i32) -> ()
              k = unit
              sym_name = "g"
              defines @g
        "#]],
    );
    check(
        "func.func @f(i32, %a: i32)",
        &expect![[r#"
            FuncFunc Broken func.func
              region 0 %: i32
              sym_name = "f"
              defines @f
              Syntax 18..20: expected type instead of SSA identifier
        "#]],
    );
}

#[test]
fn branches_pass_operands_to_blocks() {
    check(
        "cf.cond_br %c, ^bb1(%a, %b : i32, i64), ^bb2",
        &expect![[r#"
        CfCondBr Custom cf.cond_br
          %c#0: i1
          %a#0: i32
          %b#0: i64
          ^bb1 1..3
          ^bb2 3..3
          operandSegmentSizes = array<i32: 1, 2, 0>
    "#]],
    );
    // The value is truncated to the width; beyond 64 bits it is zero-extended.
    for (ty, case, bits) in [
        ("i64", "18446744073709551615", "-1"),
        ("i64", "-1", "-1"),
        ("i8", "255", "-1"),
        ("i8", "9223372036854775808", "0"),
        ("i1", "1", "true"),
        ("i128", "-1", "18446744073709551615"),
    ] {
        let shown = show(&format!("cf.switch %f : {ty}, [default: ^bb1, {case}: ^bb2]"));
        let cases = format!("case_values = dense<{bits}> : vector<1x{ty}>");
        assert!(shown.contains(&cases), "{shown}");
    }
    check(
        "cf.switch %f : i32, [default: ^bb1, 42: ^bb2(%a : i1)]",
        &expect![[r#"
        CfSwitch Custom cf.switch
          %f#0: i32
          %a#0: i1
          ^bb1 1..1
          ^bb2 1..2
          case_operand_segments = array<i32: 1>
          case_values = dense<42> : vector<1xi32>
          operandSegmentSizes = array<i32: 1, 0, 1>
    "#]],
    );
    check(
        "^bb1(%a: i32, %b: f32 loc(unknown)):",
        &expect![[r#"
        Label Custom bb1
          argument %a: i32
          argument %b: f32
    "#]],
    );
    check(
        "cf.br ^bb1()",
        &expect![[r#"
        CfBr Broken cf.br
          ^bb1 0..0
          Syntax 11..11: expected an SSA value
    "#]],
    );
}

#[test]
fn loops_define_region_arguments() {
    check(
        "%r:2 = scf.for %i = %l to %u step %s iter_args(%a = %x, %b = %y) -> (i32, f32) {}",
        &expect![[r#"
        ScfFor Custom scf.for
          results: i32, f32
          %l#0: index
          %u#0: index
          %s#0: index
          %x#0: i32
          %y#0: f32
          region 0 %i: index
          region 0 %a: i32
          region 0 %b: f32
    "#]],
    );
    check(
        "%r = scf.while (%a = %x) : (i32) -> f32 {} do {}",
        &expect![[r#"
        ScfWhile Custom scf.while
          results: f32
          %x#0: i32
          region 0 %a: i32
    "#]],
    );
    check(
        "scf.forall (%i, %j) in (%n, 4) shared_outs(%o = %t) -> (tensor<4xf32>) {}",
        &expect![[r#"
        ScfForall Custom scf.forall
          results: tensor<4xf32>
          %n#0: index
          %t#0: tensor<4xf32>
          region 0 %i: index
          region 0 %j: index
          region 0 %o: tensor<4xf32>
          operandSegmentSizes = array<i32: 0, 1, 0, 1>
          staticLowerBound = array<i64: 0, 0>
          staticStep = array<i64: 1, 1>
          staticUpperBound = array<i64: -9223372036854775808, 4>
    "#]],
    );
    check(
        "affine.for %i = 0 to min affine_map<(d0)[s0] -> (d0 + 1, s0)>(%a)[%b] step 2 {}",
        &expect![[r#"
        AffineFor Custom affine.for
          %a#0: index
          %b#0: index
          region 0 %i: index
          lowerBoundMap = affine_map<() -> (0)>
          operandSegmentSizes = array<i32: 0, 2, 0>
          step = 2 : index
          upperBoundMap = affine_map<(d0)[s0] -> (d0 + 1, s0)>
    "#]],
    );
}

#[test]
fn accesses_collect_an_affine_map() {
    check(
        "%v = affine.load %m[%i + 1, symbol(%n) * 2 + %i mod 4] : memref<4x8xf32>",
        &expect![[r#"
        AffineLoad Custom affine.load
          results: f32
          %m#0: memref<4x8xf32>
          %i#0: index
          %n#0: index
          map = affine_map<(d0)[s0] -> (d0 + 1, d0 mod 4 + s0 * 2)>
    "#]],
    );
    check(
        "%v = affine.load %m[%i * %j] : memref<4xf32>",
        &expect![[r#"
        AffineLoad Broken affine.load
          %m#0: ?
          Syntax 23..24: non-affine expression: one side must be a constant or symbol
    "#]],
    );
}

#[test]
fn a_transposition_is_a_map_without_its_keyword() {
    check(
        "%v = memref.transpose %m (i, j) -> (j, i) : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>",
        &expect![[r#"
            MemrefTranspose Custom memref.transpose
              results: memref<8x4xf32, strided<[1, 8]>>
              %m#0: memref<4x8xf32>
              permutation = affine_map<(d0, d1) -> (d1, d0)>
        "#]],
    );
    check(
        "%v = memref.transpose %m (i, j) -> (k, i) : memref<4x8xf32> to memref<8x4xf32>",
        &expect![[r#"
            MemrefTranspose Broken memref.transpose
              %m#0: ?
              Syntax 37..37: expected a dimension of the map
        "#]],
    );
}

#[test]
fn strides_have_one_spelling() {
    check(
        "%v = memref.load %m[%i] : memref<4xf32, strided<[0x10], offset: -0x04>>",
        &expect![[r#"
            MemrefLoad Custom memref.load
              results: f32
              %m#0: memref<4xf32, strided<[16], offset: -4>>
              %i#0: index
        "#]],
    );
    check(
        "%v = memref.load %m[%i] : memref<4xf32, strided<[9223372036854775808], offset: ?>>",
        &expect![[r#"
            MemrefLoad Custom memref.load
              results: f32
              %m#0: memref<4xf32, strided<[9223372036854775808], offset: ?>>
              %i#0: index
              Type 49..68: expected a 64-bit signed integer or '?'
        "#]],
    );
}

#[test]
fn the_generic_form_gives_the_same_shape() {
    check(
        "%1 = \"arith.addi\"(%a, %a) <{overflowFlags = #arith.overflow<none>}> {tag} : (i32, i32) -> i32",
        &expect![[r#"
        ArithAddi Generic arith.addi
          results: i32
          %a#0: i32
          %a#0: i32
          tag = unit
    "#]],
    );
    check(
        "\"cf.cond_br\"(%c, %a)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()",
        &expect![[r#"
        CfCondBr Generic cf.cond_br
          %c#0: i1
          %a#0: i32
          ^bb1 1..2
          ^bb2 2..2
          operandSegmentSizes = array<i32: 1, 1, 0>
    "#]],
    );
    check(
        "\"x.y\"(%a) : (i32, i32) -> ()",
        &expect![[r#"
        Unknown Generic x.y
          %a#0: i32
          Type 12..13: expected 1 operand types but had 2
    "#]],
    );
}
