//! Passes that remove, privatize or look up symbols that are defined in modules, in functions and
//! in unregistered ops.

mod common;

use noisy_syntax::print;

/// Returns the remaining symbols in order. Private symbols have the prefix `private`.
fn symbols(pipeline: &str, text: &str) -> Vec<String> {
    let ir = common::run(pipeline, text).expect("the pass runs");
    let printed = print::generic(&ir);
    let names = printed.split("sym_name = \"").skip(1);
    let with_visibility = names.map(|it| {
        let (name, rest) = it.split_once('"').expect("a string ends");
        let is_private = rest.starts_with(", sym_visibility = \"private\"");
        if is_private { format!("private {name}") } else { name.to_owned() }
    });
    with_visibility.collect()
}

fn custom(pipeline: &str, text: &str) -> String {
    print::custom(&common::run(pipeline, text).expect("the pass runs"))
}

/// A module with two public functions, an unused and a used private function.
const INNER: &str = "builtin.module {
  func.func @pub() { return }
  func.func private @dead() { return }
  func.func private @used() { return }
  func.func @user() { func.call @used() : () -> () func.return }
}";

/// Returns programs with the module at different positions. True if its private symbols may be
/// erased.
fn nestings() -> Vec<(String, bool)> {
    vec![
        (INNER.to_owned(), true),
        (format!("module @a {{ {INNER} }}"), true),
        (format!("func.func @f(%b: i1) {{ scf.if %b {{ {INNER} }} return }}"), true),
        (format!("func.func @f() {{ {INNER} return }}"), true),
        (format!("module {{ func.func @f(%b: i1) {{ scf.if %b {{ {INNER} }} return }} }}"), true),
        (format!("\"t.wrap\"() ({{ {INNER} }}) : () -> ()"), false),
        (format!("\"t.wrap\"() ({{ {INNER} }}, {{ }}) : () -> ()"), false),
        (format!("module {{ \"t.wrap\"() ({{ {INNER} }}) : () -> () }}"), false),
        (format!("\"gpu.module\"() <{{sym_name = \"g\"}}> ({{ {INNER} }}) : () -> ()"), false),
        (format!("func.func @f() {{ \"t.wrap\"() ({{ {INNER} }}) : () -> () return }}"), false),
        (format!("\"t.wrap\"() ({{ func.func @f() {{ {INNER} return }} }}) : () -> ()"), false),
    ]
}

#[test]
fn symbol_dce_keeps_public_symbols_in_every_nesting() {
    for (text, may_erase) in nestings() {
        let left = symbols("builtin.module(symbol-dce)", &text);
        for name in ["pub", "private used", "user"] {
            assert!(left.iter().any(|it| it == name), "{name} of {text}\n{left:?}");
        }
        assert_eq!(left.iter().any(|it| it == "private dead"), !may_erase, "{text}\n{left:?}");
    }
}

#[test]
fn symbol_dce_keeps_possibly_referenced_symbols() {
    for (text, wanted) in [
        // The unregistered op may be a symbol table.
        (
            "func.func private @a() { return }\n\"t.w\"() ({ func.func private @a() { return }\n \"t.x\"() {r = @a} : () -> () }) : () -> ()",
            &["private a", "private a"][..],
        ),
        (
            "func.func private @a() { return }\n\"t.w\"() ({ \"t.x\"() {r = @a} : () -> () }) : () -> ()",
            &["private a"],
        ),
        // A reference in a module does not refer to symbols outside the module.
        ("func.func private @a() { return }\nmodule { \"t.x\"() {r = @a} : () -> () }", &[]),
        // Symbols in a function body are not symbols of the module.
        (
            "func.func private @a() { return }\nfunc.func @f() { \"t.x\"() {sym_name = \"a\"} : () -> ()\n func.call @a() : () -> ()\n return }",
            &["private a", "f", "a"],
        ),
        // References from dead symbols, including circular ones, do not keep symbols alive.
        (
            "func.func private @a() { func.call @b() : () -> () return }\nfunc.func private @b() { func.call @a() : () -> () return }",
            &[],
        ),
        (
            "module @m { module @n { func.func private @a() { return }\n func.func private @b() { return } } }\n\"t.x\"() {r = @m::@n::@a} : () -> ()",
            &["m", "n", "private a"],
        ),
        // Unregistered ops are not symbols even if they have a symbol name.
        ("\"t.x\"() {sym_name = \"a\", sym_visibility = \"private\"} : () -> ()", &["private a"]),
        // The top-level module is kept, as in mlir-opt.
        (
            "module @m attributes {sym_visibility = \"private\"} { func.func @a() { return } }",
            &["private m", "a"],
        ),
    ] {
        assert_eq!(symbols("builtin.module(symbol-dce)", text), wanted, "{text}");
    }
}

#[test]
fn symbol_privatize_changes_only_registered_symbols_of_the_table() {
    let text = "func.func @a() { return }\n\"t.x\"() {sym_name = \"b\"} : () -> ()\n\"t.w\"() ({ func.func @c() { return } }) : () -> ()\nmodule @m { func.func @d() { return } }";
    let left = symbols("builtin.module(symbol-privatize)", text);
    assert_eq!(left, ["private a", "b", "c", "private m", "d"]);
}

#[test]
fn inline_erases_private_functions_only_in_registered_ops() {
    for (text, may_erase) in nestings() {
        let left = symbols("builtin.module(inline)", &text);
        for name in ["pub", "user"] {
            assert!(left.iter().any(|it| it == name), "{name} of {text}\n{left:?}");
        }
        assert_eq!(left.iter().any(|it| it == "private dead"), !may_erase, "{text}\n{left:?}");
    }
    // A function that is referenced within an unregistered op is kept.
    for text in [
        "func.func private @c() { return }\n\"t.w\"() ({ \"t.q\"() {r = @c} : () -> () }) : () -> ()",
        "func.func private @c() { return }\n\"t.w\"() ({ module { \"t.q\"() {r = @c} : () -> () } }) : () -> ()",
        "module @m { func.func private @c() { return } }\n\"t.w\"() ({ \"t.q\"() {r = @m::@c} : () -> () }) : () -> ()",
    ] {
        let left = symbols("builtin.module(inline)", text);
        assert!(left.iter().any(|it| it == "private c"), "{text}\n{left:?}");
    }
}

#[test]
fn inlining_does_not_change_the_target_of_symbols() {
    // In the unregistered op, `@d` may be another function.
    let text = "func.func private @d() -> i32 { %0 = arith.constant 1 : i32 return %0 : i32 }
func.func private @c() -> i32 { %0 = func.call @d() {no_inline} : () -> i32 return %0 : i32 }
\"t.w\"() ({
  func.func private @d() -> i32 { %0 = arith.constant 2 : i32 return %0 : i32 }
  func.func @g() -> i32 { %0 = func.call @c() : () -> i32 return %0 : i32 }
}) : () -> ()";
    let printed = custom("builtin.module(inline)", text);
    assert!(printed.contains("call @c() : () -> i32"), "{printed}");
    // In a function of the same symbol table, `@d` is the same function.
    let text = "func.func private @d() -> i32 { %0 = arith.constant 1 : i32 return %0 : i32 }
func.func private @c() -> i32 { %0 = func.call @d() {no_inline} : () -> i32 return %0 : i32 }
func.func @g() -> i32 { %0 = func.call @c() : () -> i32 return %0 : i32 }";
    let printed = custom("builtin.module(inline)", text);
    assert!(!printed.contains("call @c"), "{printed}");
}

#[test]
fn remove_dead_values_keeps_functions_with_unknown_calls() {
    for text in [
        // The call is in an unregistered op.
        "func.func private @c(%a: i32) { return }\n\"t.w\"() ({ func.func @g(%a: i32) { func.call @c(%a) : (i32) -> () return } }) : () -> ()",
        // The function is in an unregistered op.
        "\"t.w\"() ({ func.func private @c(%a: i32) { return } }) : () -> ()",
        "func.func @f(%b: i1) { scf.if %b { builtin.module { func.func private @c(%a: i32) { return }\n func.func @g(%a: i32) { func.call @c(%a) : (i32) -> () func.return } } } return }",
        "module @m { func.func private @c(%a: i32) { return } }\n\"t.x\"() {r = @m::@c} : () -> ()",
    ] {
        let printed = custom("builtin.module(remove-dead-values)", text);
        let at = printed.find("@c(").expect("the function stays");
        assert!(printed[at..].starts_with("@c(%arg0: i32)"), "{text}\n{printed}");
    }
}

#[test]
fn sccp_assumes_nothing_about_calls_in_unregistered_ops() {
    for outside in [
        "\"t.w\"() ({ func.func @g(%x: i32) { func.call @c(%x) : (i32) -> () func.return } }) : () -> ()",
        "func.func @h(%b: i1, %x: i32) { scf.if %b { builtin.module { func.func @g(%y: i32) { func.return } } }\n func.call @c(%x) : (i32) -> ()\n return }",
        "\"t.x\"() {r = @c} : () -> ()",
    ] {
        let text = format!(
            "func.func private @c(%a: i32) {{ \"t.use\"(%a) : (i32) -> () return }}\nfunc.func @f() {{ %c = arith.constant 5 : i32\n func.call @c(%c) : (i32) -> ()\n return }}\n{outside}"
        );
        for pass in ["sccp", "int-range-optimizations"] {
            let printed = custom(&format!("builtin.module({pass})"), &text);
            assert!(printed.contains("\"t.use\"(%arg0)"), "{pass} {outside}\n{printed}");
        }
    }
}

#[test]
fn canonicalize_keeps_modules_in_blocks() {
    let text = format!("func.func @f() {{ cf.br ^a\n^a:\n {INNER}\n cf.br ^b\n^b:\n return }}");
    let left = symbols("builtin.module(canonicalize)", &text);
    assert_eq!(left, ["f", "pub", "private dead", "private used", "user"]);
}
