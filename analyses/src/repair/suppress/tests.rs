//! Suppressions that are inserted and removed.

use super::*;
use crate::repair::DefaultRules;

fn suppressed(text: &str) -> String {
    let mut document = Document::new(text);
    suppress(&mut document, &DefaultRules);
    document.source().text().to_string()
}

#[test]
fn writes_needed_suppressions_and_removes_unused_ones() {
    let over = "func.func @f(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32 // noisy: allow(noise-overflow): why
  // noisy: allow(noise-overflow)
  %1 = noisy.mul %0, %0 : !noisy.i32 // noisy: allow(unused-op, noise-overflow, noise-overfow)
  %2 = noisy.mul %1, %1 : !noisy.i32
  %3 = noisy.add %1,
    %1 : !noisy.i32 // The second.
  %4 = noisy.mul %3, %3 : !noisy.i32 // The third.
  %5 = noisy.decode %4 : !noisy.i32 -> i5
  // noisy: allow(noise-overflow)
  return %5 : i5
}
";
    expect_test::expect![[r#"
        func.func @f(%x: i5) -> i5 {
          %0 = noisy.encode %x : i5 -> !noisy.i32
          %1 = noisy.mul %0, %0 : !noisy.i32
          %2 = noisy.mul %1, %1 : !noisy.i32  // noisy: allow(noise-overflow)
          %3 = noisy.add %1,
            %1 : !noisy.i32 // The second.
          // noisy: allow(noise-overflow)
          %4 = noisy.mul %3, %3 : !noisy.i32 // The third.
          %5 = noisy.decode %4 : !noisy.i32 -> i5  // noisy: allow(decode-over-budget)
          return %5 : i5
        }
    "#]]
    .assert_eq(&suppressed(over));
    let none = "// noisy: allow(noise-overflow)\r\nfunc.func @f() {\r\n  return\r\n}\r\n";
    assert_eq!(suppressed(none), "func.func @f() {\r\n  return\r\n}\r\n");
    // A diagnostic that cannot be suppressed gets no comment.
    let wrong = "func.func @f() {\n  return %0 : i32\n}\n";
    assert_eq!(suppressed(wrong), wrong);
}
