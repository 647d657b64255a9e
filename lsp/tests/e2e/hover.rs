//! Hover.

use expect_test::expect;

use crate::client::{Client, URI, illegal, short};

fn hover(line: u32, column: u32) -> String {
    hover_in(&format!("// Squares twice.\n{}", illegal()), line, column)
}

fn hover_in(text: &str, line: u32, column: u32) -> String {
    let mut client = Client::new();
    client.open(URI, text);
    let hover = client.at("hover", URI, line, column);
    format!(
        "{}\n{}",
        short(&hover["range"]),
        hover["contents"]["value"].as_str().unwrap_or("nothing")
    )
}

#[test]
fn of_a_value_shows_the_derivation_of_its_noise() {
    expect![[r#"
        4:2-4:4
        ```mlir
        %1 : !noisy.i32
        ```
        noise may reach 48 bits, **22 over the 26-bit budget**

        multiplicative depth 2

        ```text
        %x  [0, 12]  noisy.encode: freshly encoded: 12
        %0  [0, 24]  noisy.mul: 12 + 12 = 24
        %1  [0, 48]  noisy.mul: 24 + 24 = 48
        ```

        Result of `noisy.mul`.
        Used once, on line 6.
    "#]]
    .assert_eq(&hover(4, 3));
}

#[test]
fn of_an_op_shows_its_rule() {
    expect![[r#"
        3:7-3:16
        **noisy.mul**

        noise 0 to 24 bits, 2 left of the 26-bit budget

        Multiplies two noisy integers. Noise of the result: the sum of the operands' noise.
    "#]]
    .assert_eq(&hover(3, 10));
}

#[test]
fn of_a_symbol_shows_its_signature_and_comment() {
    expect![[r#"
        1:10-1:12
        ```mlir
        func.func @f(%a: i5) -> i5
        ```

        Squares twice.  

        Multiplicative depth 2 on the deepest path.
    "#]]
    .assert_eq(&hover(1, 11));
}

#[test]
fn of_a_value_shows_dependence_on_encrypted_data() {
    let text = "func.func @f(%x: i32 {secret.secret}) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
";
    expect![[r#"
        1:2-1:4
        ```mlir
        %0 : i32
        ```
        depends on encrypted data

        Result of `arith.addi`.
        Used once, on line 3.
    "#]]
    .assert_eq(&hover_in(text, 1, 3));
}

/// A program with blocks, a loop, an integer with a known range, a contract, and a private
/// function.
const FLOW: &str =
    "func.func @f(%p: !noisy.i32, %q: !noisy.i32 {noisy.bound = 14 : i64}, %c: i1) -> !noisy.i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %p) -> (!noisy.i32) {
    %t = noisy.add %a, %p : !noisy.i32
    scf.yield %t : !noisy.i32
  }
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = noisy.add %s, %q : !noisy.i32
  return %0 : !noisy.i32
^bb2:
  %1 = func.call @g(%q) : (!noisy.i32) -> !noisy.i32
  return %1 : !noisy.i32
}
func.func private @g(%p: !noisy.i32) -> !noisy.i32 {
  return %p : !noisy.i32
}
";

#[test]
fn of_a_loop_shows_its_trip_count_and_noise_growth() {
    expect![[r#"
        4:7-4:14
        **scf.for**

        A counted loop over [lower, upper) with the given step. `iter_args` are carried from one iteration to the next; the last ones are the results.

        Runs 8 iterations.

        Over its iterations: noise 12 → 20.
    "#]].assert_eq(&hover_in(FLOW, 4, 9));
    expect![[r#"
        4:15-4:17
        ```mlir
        %i : index
        ```
        value in [0, 7]

        Block argument.
        Not used.
    "#]]
    .assert_eq(&hover_in(FLOW, 4, 16));
}

#[test]
fn of_a_value_shows_its_last_use_on_each_path() {
    expect![[r#"
        10:21-10:23
        ```mlir
        %q : !noisy.i32
        ```
        noise 0 to 14 bits, 12 left of the 26-bit budget

        Parameter of `@f`, declared bound: 14.
        Used 2 times, last on line 11 or 14.
    "#]]
    .assert_eq(&hover_in(FLOW, 10, 21));
    expect![[r#"
        4:2-4:4
        ```mlir
        %s : !noisy.i32
        ```
        noise 0 to 20 bits, 6 left of the 26-bit budget

        ```text
        %a  [0, 19]  scf.for: at most 19 in any iteration
        %t  [0, 20]  noisy.add: max(19, 12) + 1 = 20
        %s  [0, 20]  scf.for: max(12, 20) = 20
        ```

        Result of `scf.for`.
        Used once, on line 11.
    "#]]
    .assert_eq(&hover_in(FLOW, 4, 3));
}

#[test]
fn of_a_block_shows_live_values() {
    expect![[r#"
        9:0-9:4
        ```mlir
        ^bb1:
        ```

        Reached by 1 branch.

        Live at its start: %q, %s.
    "#]]
    .assert_eq(&hover_in(FLOW, 9, 1));
}

#[test]
fn of_an_argument_shows_its_assumption() {
    expect![[r#"
        0:13-0:15
        ```mlir
        %p : !noisy.i32
        ```
        noise 0 to 12 bits, 14 left of the 26-bit budget

        Parameter of `@f`, assumed fresh (12): public function.
        Used 2 times, last on line 6.
    "#]]
    .assert_eq(&hover_in(FLOW, 0, 14));
    expect![[r#"
        16:21-16:23
        ```mlir
        %p : !noisy.i32
        ```
        noise 0 to 14 bits, 12 left of the 26-bit budget

        ```text
        %q  [0, 14]  func.func: declared bound: 14
        %p  [0, 14]  func.func: passed by a call: 14
        ```

        Parameter of `@g`, noise passed by 1 call: private function.
        Used once, on line 18.
    "#]]
    .assert_eq(&hover_in(FLOW, 16, 22));
}

#[test]
fn of_other_positions_is_null() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    assert!(client.at("hover", URI, 5, 0).is_null());
    assert!(client.at("hover", "file:///not/open.mlir", 0, 0).is_null());
}

#[test]
fn of_a_loop_or_an_access_shows_dependences() {
    let text = "func.func @f(%A: memref<9x9xf32>) {
  affine.for %i = 1 to 9 {
    affine.for %j = 0 to 9 {
      %x = affine.load %A[%i - 1, %j] : memref<9x9xf32>
      affine.store %x, %A[%i, %j] : memref<9x9xf32>
    }
  }
  return
}
";
    // The table is aligned, because some editors show its source text.
    let head = "| from line | to line | memref | kind | distance |";
    let rule = "| --------: | ------: | ------ | ---- | -------- |";
    let row = "|         5 |       4 | `%A`   | flow | (1, 0)   |";
    let outer = hover_in(text, 1, 5);
    assert!(outer.contains(&format!("It carries:\n\n{head}\n{rule}\n{row}\n")), "{outer}");
    let inner = hover_in(text, 2, 7);
    assert!(inner.contains("Its iterations are independent and may run in parallel."), "{inner}");
    let store = hover_in(text, 4, 10);
    assert!(store.contains(row) && store.contains("Dependent accesses"), "{store}");
    let alone = hover_in(&text.replace("%i - 1", "%i + 9"), 3, 14);
    assert!(alone.contains("No other access of the nest depends on it."), "{alone}");
}
