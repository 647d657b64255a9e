//! Tests of strings. A string is a sequence of bytes: its bytes are kept for every spelling, and
//! equal bytes are equal strings.

use proptest::prelude::*;

use crate::print::{self, Style};
use crate::string::{bytes_of_text, unquoted};
use crate::{Ir, Op, Source};

/// Prints a text in the generic and in the custom form.
fn printed(text: &str) -> [String; 2] {
    let source = Source::new(text);
    assert_eq!(source.problems(), [], "{text}");
    let style = Style { is_custom: true, ..Style::default() };
    [print::generic(source.ir()), print::document(&Source::new(text).into_ir(), style)]
}

#[track_caller]
fn check(text: &str, expected: &str) {
    for it in printed(text) {
        assert!(it.contains(expected), "{expected} in\n{it}");
        let again = printed(&it);
        assert!(again.contains(&it), "{it}\nprinted again:\n{}", again[0]);
    }
}

#[test]
fn keeps_bytes_that_are_not_utf8() {
    check("module attributes {t.a = \"\\FF\"} {}", "t.a = \"\\FF\"");
    check("module attributes {t.a = \"\\\\FF\"} {}", "t.a = \"\\\\FF\"");
    check("module attributes {t.a = \"\\61\\FF\\C3\\A9\\n\"} {}", "t.a = \"a\\FF\\C3\\A9\\0A\"");
    check(
        "module attributes {\"t.\\FF\" = 1, t.z = 2} {}",
        "{t.z = 2 : i64, \"t.\\FF\" = 1 : i64}",
    );
    check("func.func private @\"\\FF\\22\\5C\"()", "\\FF\\22\\\\\"");
    check("\"t.\\FF\"() {c = @\"\\FE\"::@\"\\61\"} : () -> ()", "\"t.\\FF\"() {c = @\"\\FE\"::@a}");
    check(
        "module attributes {t.d = dense<[\"\\61\", \"\\FF\"]> : tensor<2x!t.s>} {}",
        "dense<[\"a\", \"\\FF\"]>",
    );
    check("module attributes {t.l = loc(\"\\61\\FF\":1:2)} {}", "loc(\"a\\FF\":1:2)");
    check("module attributes {t.l = loc(\"\\61\\FF\"(\"\\7F\"))} {}", "loc(\"a\\FF\"(\"\\7F\"))");
}

#[test]
fn prints_unknown_visibilities_in_generic_form() {
    let text = "\"builtin.module\"() ({}) {sym_visibility = \"\\FF\"} : () -> ()";
    let style = Style { is_custom: true, ..Style::default() };
    let printed = print::document(&Source::new(text).into_ir(), style);
    assert!(printed.contains("sym_visibility = \"\\FF\""), "{printed}");
}

#[test]
fn different_spellings_of_a_symbol_are_equal() {
    for (definition, uses) in [
        ("@a", "@\"\\61\""),
        ("@\"\\61\"", "@a"),
        ("@\"\\FF\"", "@\"\\ff\""),
        ("@\"a b\"", "@\"a\\20b\""),
    ] {
        let text = format!("func.func private {definition}()\n\"t.x\"() {{c = {uses}}} : () -> ()");
        let source = Source::new(&text);
        let ir = source.ir();
        let name = ir.extra(ir.functions()[0]).symbol.expect("a symbol").0;
        assert_eq!(ir.symbol_users(name).len(), 1, "{text}");
        let twice = format!("func.func private {definition}()\nfunc.func private {uses}()");
        assert_eq!(Source::new(&twice).problems().len(), 1, "{twice}");
    }
    let text = "func.func private @\"\\FF\"()\nfunc.func private @\"\\\\FF\"()\nfunc.func private @\"\\FE\"()";
    assert_eq!(Source::new(text).problems(), [], "three names");
}

#[test]
fn a_key_in_quotes_defines_a_symbol() {
    let text = "\"builtin.module\"() ({
  \"memref.global\"() {\"sym_name\" = \"t\", \"type\" = memref<2xf64>, \"initial_value\" = dense<0.5> : tensor<2xf64>} : () -> ()
  func.func @main() -> memref<2xf64> {
    %0 = memref.get_global @t : memref<2xf64>
    return %0 : memref<2xf64>
  }
}) : () -> ()";
    assert_eq!(Source::new(text).problems(), []);
    assert_eq!(Source::new(&text.replace("sym_name", "sym\\5Fname")).problems(), []);
}

/// Checks the resources that each op of a text prints.
#[track_caller]
fn check_resources(text: &str, expected: &str) {
    for it in printed(text) {
        let (_, resources) = it.split_once("\n{-#\n").unwrap_or_default();
        assert_eq!(resources, expected, "{text}");
    }
}

#[test]
fn prints_the_resources_that_the_program_mentions() {
    let section = |groups: &str| format!("  dialect_resources: {{\n{groups}  }}\n#-}}\n");
    for (key, written) in [
        ("\"two words\"", "\"two words\""),
        ("\"two\\20words\"", "\"two words\""),
        ("\"\\61\"", "a"),
        ("\"\"", "\"\""),
        ("\"\\FF>\\22\"", "\"\\FF>\\22\""),
        ("\"\\\\FF\"", "\"\\\\FF\""),
    ] {
        let text = format!(
            "module attributes {{t.a = dense_resource<{key}> : tensor<2xf16>}} {{}}
{{-# dialect_resources: {{ builtin: {{ unused: \"0x02\", {key}: \"0x0200000008000900\" }} }} #-}}"
        );
        let blob = format!("    builtin: {{\n      {written}: \"0x0200000008000900\"\n    }}\n");
        check_resources(&text, &section(&blob));
        check(&text, &format!("dense_resource<{written}>"));
    }
    // Resources are printed in the order of their uses. Sections and groups may be split. Of two
    // resources with the same key, the last one is used.
    check_resources(
        "module attributes {t.a = [dense_resource<z> : tensor<2xi8>, dense_resource<a> : tensor<2xi8>]} {}
{-# external_resources: {\"a b\": {k: \"\\FF\", k: true}, u: {}, \"a b\": {\"l l\": 5}},
  dialect_resources: {builtin: {a: \"0x01\", a: \"0x02\"}}, dialect_resources: {builtin: {z: \"0x03\"}} #-}",
        "  dialect_resources: {
    builtin: {
      z: \"0x03\",
      a: \"0x02\"
    }
  },
  external_resources: {
    \"a b\": {
      k: \"\\FF\",
      k: true,
      \"l l\": 5
    }
  }
#-}
",
    );
}

#[test]
fn prints_the_resources_of_dialects_that_a_body_mentions() {
    let text = "module attributes {t.a = #q.blob<x\n  [\"two\\20words\", -> plain]>, t.b = \"other\"} {}
{-# dialect_resources: {q: {\"two words\": \"0x01\", plain: \"0x02\", other: \"0x03\"}, r: {plain: \"0x04\"}} #-}";
    check_resources(
        text,
        "  dialect_resources: {
    q: {
      \"two words\": \"0x01\",
      plain: \"0x02\"
    }
  }
#-}
",
    );
    let text = "module attributes {t.a = #q.list<[dense_resource< \"\\61\" > : tensor<1xi8>]>, t.b = \"dense_resource<b>\"} {}
{-# dialect_resources: {builtin: {a: \"0x01\", b: \"0x02\"}} #-}";
    check_resources(
        text,
        "  dialect_resources: {\n    builtin: {\n      a: \"0x01\"\n    }\n  }\n#-}\n",
    );
}

#[test]
fn prints_the_resources_that_a_location_mentions() {
    let text = "#l = loc(fused<dense_resource<\"a b\"> : tensor<1xi8>>[\"f\"])
module {} loc(#l)
{-# dialect_resources: {builtin: {\"a b\": \"0x01\", c: \"0x02\"}} #-}";
    let ir = Source::new(text).into_located_ir("f", 0);
    let style = Style { has_locations: true, has_aliases: true, ..Style::default() };
    let printed = print::document(&ir, style);
    assert!(printed.contains("\"a b\": \"0x01\"") && !printed.contains("c: \"0x02\""), "{printed}");
}

/// One of several spellings of a byte.
fn spelled(byte: u8, choice: u8) -> String {
    let is_plain = matches!(byte, 0x20..=0x7e) && !b"\"\\".contains(&byte);
    match (byte, choice % 3) {
        (_, 0) if is_plain => char::from(byte).into(),
        (b'\n', 0) => "\\n".to_owned(),
        (b'\t', 0) => "\\t".to_owned(),
        (b'"' | b'\\', 0) => format!("\\{}", char::from(byte)),
        (_, 1) => format!("\\{byte:02x}"),
        _ => format!("\\{byte:02X}"),
    }
}

/// The bytes of the literal that follows a mark, decoded independently of the code under test; or
/// the bare name after the mark.
fn literal_after(text: &str, mark: &str) -> Vec<u8> {
    let (_, rest) = text.split_once(mark).unwrap_or_else(|| panic!("{mark} in\n{text}"));
    let Some(inside) = rest.strip_prefix('"') else {
        let is_bare = |it: &u8| it.is_ascii_alphanumeric() || b"_.$".contains(it);
        return rest.bytes().take_while(is_bare).collect();
    };
    let mut bytes = inside.bytes();
    let mut out = Vec::new();
    loop {
        match bytes.next().expect("the end of the string") {
            b'"' => return out,
            b'\\' => match bytes.next().expect("an escape") {
                b'\\' => out.push(b'\\'),
                high => {
                    let digit = |it: u8| char::from(it).to_digit(16).expect("a digit") as u8;
                    out.push(digit(high) * 16 + digit(bytes.next().expect("a digit")));
                }
            },
            byte => out.push(byte),
        }
    }
}

fn ops(ir: &Ir) -> Vec<Op> {
    let mut out = Vec::new();
    ir.walk(ir.root(), &mut |op| out.push(op));
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Attributes, symbols and keys of resources keep their bytes when they are printed and parsed
    /// again.
    #[test]
    fn strings_keep_their_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..=64),
        choices in prop::collection::vec(any::<u8>(), 64),
        others in prop::collection::vec(any::<u8>(), 64),
    ) {
        let literal = |choices: &[u8]| -> String {
            let spelled = bytes.iter().zip(choices).map(|it| spelled(*it.0, *it.1));
            format!("\"{}\"", spelled.collect::<String>())
        };
        let (one, other) = (literal(&choices), literal(&others));
        let text = unquoted(&one);
        prop_assert_eq!(&text, &unquoted(&other));
        prop_assert_eq!(&*bytes_of_text(&text), &bytes[..]);
        let text = format!(
            "module attributes {{t.a = {one}, t.b = {other}, t.r = dense_resource<{one}> : tensor<1xi8>, t.z = {{\"k\" = 1}}}} {{
  \"t.def\"() <{{sym_name = {one}}}> : () -> ()
  \"t.use\"() {{c = @{other}}} : () -> ()
}}
{{-# dialect_resources: {{builtin: {{{other}: \"0x01000000AB\"}}}} #-}}"
        );
        for printed in printed(&text) {
            for mark in ["t.a = ", "t.b = ", "dense_resource<", "sym_name = ", "c = @", "builtin: {\n      "] {
                prop_assert_eq!(literal_after(&printed, mark), &bytes[..], "{}\n{}", mark, printed);
            }
            let again = Source::new(&printed);
            let ir = again.ir();
            let with = |name: &str| ops(ir).into_iter().find(|it| ir.op_name(*it) == name).expect("the op");
            let defined = ir.extra(with("t.def")).symbol.expect("a symbol").0;
            prop_assert_eq!(ir.resolve_symbol(with("t.use"), defined), Some(with("t.def")));
            prop_assert_eq!(&print::generic(ir), &self::printed(&text)[0]);
        }
    }
}
