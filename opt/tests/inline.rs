//! Inlining with a limit on the size of the result.

use std::fmt::Write as _;

use noisy_syntax::print;

mod common;
mod tool;

/// Returns functions each of which calls the previous one twice.
fn doubling_functions(n: usize) -> String {
    let mut text =
        "func.func private @f0(%x: i32) {\n  \"a.b\"(%x) : (i32) -> ()\n  return\n}\n".to_owned();
    for it in 1..=n {
        let call = format!("  call @f{}(%x) : (i32) -> ()\n", it - 1);
        let _ = write!(text, "func.func private @f{it}(%x: i32) {{\n{call}{call}  return\n}}\n");
    }
    let call = format!("  call @f{n}(%x) : (i32) -> ()\n");
    text + &format!(
        "func.func @main(%x: i32) {{\n{call}  return\n}}\nfunc.func @other(%x: i32) {{\n  call @f1(%x) : (i32) -> ()\n  return\n}}\n"
    )
}

#[test]
fn inlining_stops_at_the_size_limit() {
    let input = tool::file("doubling.mlir", &doubling_functions(40));
    let output = tool::run(&["--inline", "--allow-unregistered-dialect"], &input);
    let said = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("remark: ").count(), 1, "{said}");
    assert!(said.contains(" ops of the callee are not copied"), "{said}");
    // Calls within the limit are inlined, even after a call that exceeds it.
    let n = text.matches("\"a.b\"").count();
    assert!((100_000..900_000).contains(&n), "{n} ops");
    assert!(text.contains("call @f38(") && !text.contains("call @f1("));
    let other = text.split_once("@other").expect("it stays").1;
    assert_eq!(other.matches("\"a.b\"").count(), 2, "{}", &other[..200.min(other.len())]);
    let _ = std::fs::remove_file(input);

    let input = tool::file("doubling-few.mlir", &doubling_functions(10));
    let output = tool::run(&["--inline", "--allow-unregistered-dialect"], &input);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!((text.matches("\"a.b\"").count(), text.matches("call @").count()), (1026, 0));
    let _ = std::fs::remove_file(input);
}

#[test]
fn inlining_copies_regions_with_blocks_and_uses_before_definitions() {
    for body in [
        "\"t.w\"() ({\n  cf.cond_br %b, ^a(%x : i32), ^c\n^a(%p: i32):\n  \"t.k\"(%p) : (i32) -> ()\n  cf.br ^c\n^c:\n  \"t.end\"() : () -> ()\n}) : () -> ()",
        "builtin.module {\n  func.func @g(%d: i1) {\n    cf.cond_br %d, ^a, ^c\n  ^a:\n    \"t.k\"() : () -> ()\n    cf.br ^c\n  ^c:\n    func.return\n  }\n}",
        "\"t.graph\"() ({\n  %1 = \"t.x\"(%2) : (i32) -> i32\n  %2 = \"t.x\"(%1) : (i32) -> i32\n  \"t.in\"() ({\n    \"t.k\"(%2, %x) : (i32, i32) -> ()\n  }) : () -> ()\n}) : () -> ()",
    ] {
        for rest in ["", "  cf.br ^end\n^end:\n  \"t.more\"() : () -> ()\n"] {
            let text = format!(
                "func.func private @c(%b: i1, %x: i32) {{\n{body}\n{rest}  return\n}}\nfunc.func @f(%b: i1, %x: i32) {{\n  call @c(%b, %x) : (i1, i32) -> ()\n  return\n}}\n"
            );
            for pipeline in ["inline", "inline{default-pipeline=cse}", "inline{default-pipeline=}"]
            {
                let ir = common::run(&format!("builtin.module({pipeline})"), &text);
                let printed = print::custom(&ir.expect("a program"));
                assert!(printed.contains("t.k") && !printed.contains("@c"), "{text}\n{printed}");
            }
        }
    }
}
