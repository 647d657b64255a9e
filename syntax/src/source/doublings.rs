//! Tests of nested aliases: sixty aliases that each use the previous one twice define 2^60 parts,
//! which must never be expanded. A test that does not terminate has found an expansion.

use super::Source;

/// `{sigil}0 = {first}`, then sixty definitions that each use the previous alias twice.
fn nested_aliases(sigil: &str, first: &str, double: impl Fn(&str) -> String) -> String {
    let mut out = format!("{sigil}0 = {first}\n");
    for n in 1..=60 {
        out += &format!("{sigil}{n} = {}\n", double(&format!("{sigil}{}", n - 1)));
    }
    out
}

fn messages(text: &str) -> Vec<String> {
    Source::new(text).problems().into_iter().map(|it| it.2.message).collect()
}

#[test]
fn types_of_types_are_compared_by_identity() {
    let text = nested_aliases("!a", "i32", |it| format!("tuple<{it}, {it}>"))
        + &nested_aliases("!b", "i32", |it| format!("tuple<{it}, {it}>"))
        + &nested_aliases("!c", "!x.y<a, b>", |it| format!("tuple<{it}, {it}>"))
        + &nested_aliases("!d", "!x.y<a,b>", |it| format!("tuple<{it}, {it}>"))
        + &nested_aliases("!e", "f32", |it| format!("tuple<{it}, {it}>"))
        + "func.func @f(%a: !a60, %c: !c60, %e: !e60) -> !b60 {
  \"test.same\"(%a) : (!b60) -> ()
  \"test.blanks\"(%c) : (!d60) -> ()
  return %a : !a60
}
func.func @g(%a: !a60) {
  \"test.other\"(%a) : (!e60) -> ()
  return
}
";
    let found = messages(&text);
    let [only] = &found[..] else { panic!("{found:?}") };
    assert!(only.starts_with("this value has type tuple<tuple<"), "{only}");
    assert!(only.contains("..."), "{only}");
    assert!(only.len() < 1_000, "{} bytes", only.len());
}

#[test]
fn locations_and_attributes_are_shared() {
    let loc = nested_aliases("#l", "loc(\"a\")", |it| format!("loc(fused[{it}, {it}])"));
    let list = nested_aliases("#a", "1 : i32", |it| format!("[{it}, {it}]"));
    let dict = nested_aliases("#d", "1 : i32", |it| format!("{{x = {it}, y = {it}}}"));
    let text =
        loc + &list + &dict + "\"test.a\"() {a = #a60, d = #d60, l = #l60} : () -> () loc(#l60)\n";
    assert_eq!(messages(&text), [""; 0]);
    let source = Source::new(&text);
    let ir = source.ir();
    let attr = ir.items(ir.root()).flat_map(|it| ir.op(it).regions.clone());
    let op = attr.flat_map(|it| ir.items(it.1)).last().expect("an op");
    for name in ["a", "d", "l"] {
        let attr = ir.attr(op, name).expect("an attribute");
        assert!(ir.interner.short_attr_text(attr).len() < 600);
    }
}

#[test]
fn limits_the_length_of_expanded_aliases() {
    for (sigil, first, double) in [
        ("!a", "!x.y", "!x.y<$, $>"),
        ("#a", "#x.y", "#x.y<$, $>"),
        ("#a", "1 : i32", "distinct[0]<[$, $]>"),
    ] {
        let text = nested_aliases(sigil, first, |it| double.replace('$', it));
        let found = messages(&text);
        assert!(found[0].contains("with its aliases expanded"), "{found:?}");
    }
}

#[test]
fn a_document_with_doublings_can_be_edited() {
    let text = nested_aliases("!a", "i32", |it| format!("tuple<{it}, {it}>"))
        + "func.func @f(%a: !a60) -> !a60 {\n  return %a : !a60\n}\n";
    let mut source = Source::new(&text);
    let at = text.find("i32").expect("the first alias");
    source.edit(at..at + 3, "i64");
    assert_eq!(source.problems().len(), 0);
    let at = text.rfind("!a60").expect("the last use");
    source.edit(at..at + 4, "!a59");
    assert_eq!(source.problems().len(), 1);
}
