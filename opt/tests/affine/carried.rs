//! Passes on loops that carry values and on `scf` loops.

use noisy_syntax::print;

use crate::common::read;
use crate::machine::result;
use crate::{function_with_body, transformed};

#[test]
fn unroll_and_jam_splits_reductions_only_if_valid() {
    let cases = [
        // Reductions with a neutral element.
        ("addi", "", true),
        ("muli", "", true),
        // Idempotent reductions, in which the initial value may occur several times.
        ("maxsi", "", true),
        ("minsi", "", true),
        ("andi", "", true),
        // Neither a neutral element nor idempotent.
        ("subi", "", false),
        // Another op uses the intermediate sums.
        ("addi", "affine.store %s, %B[%i, 0] : memref<?x?xi64>\n", false),
    ];
    for (op, more, is_split) in cases {
        for (low, high) in [("0", "12"), ("0", "11"), ("2", "9"), ("0", "%n"), ("1", "%n")] {
            let text = function_with_body(&format!(
                "  %r = affine.for %i = {low} to {high} iter_args(%x = %k) -> (i64) {{\n    %m = affine.for %j = 0 to 3 iter_args(%y = %k) -> (i64) {{\n      %a = affine.load %A[%i, %j] : memref<?x?xi64>\n      %b = arith.addi %y, %a : i64\n      affine.yield %b : i64\n    }}\n    %s = arith.{op} %x, %m : i64\n    {more}    affine.yield %s : i64\n  }}\n  affine.store %r, %A[99, 99] : memref<?x?xi64>\n"
            ));
            let before = read(&text);
            for factor in [2, 3, 4] {
                let pass = format!("affine-loop-unroll-jam{{unroll-jam-factor={factor}}}");
                let after = transformed(&text, &pass);
                let printed = print::custom(&after);
                assert_eq!(printed != print::custom(&before), is_split, "{pass}\n{printed}");
                for n in [-3, 0, 1, 2, 5, 8, 9] {
                    let (expected, got) = (result(&before, n), result(&after, n));
                    assert_eq!(expected, got, "{pass}, n = {n}\n{text}\n{printed}");
                }
            }
        }
    }
}

#[test]
fn iterations_a_step_apart_are_not_jammed_over_a_dependence() {
    // Several iterations store to the same element, so their order matters.
    for (step, by, factor, is_jammed) in [
        (1, 0, 2, false),
        (2, 0, 2, false),
        (3, 0, 4, false),
        // Each iteration stores to different elements.
        (2, 100, 2, true),
        (3, 100, 3, true),
    ] {
        let high = step * 7;
        let text = function_with_body(&format!(
            "  affine.for %i = 0 to {high} step {step} {{\n    affine.for %j = 0 to 9 {{\n      %v = affine.load %B[0, %j] : memref<?x?xi64>\n      affine.store %v, %A[0, %i + %j + %i * {by}] : memref<?x?xi64>\n    }}\n  }}\n"
        ));
        let pass = format!("affine-loop-unroll-jam{{unroll-jam-factor={factor}}}");
        let (before, after) = (read(&text), transformed(&text, &pass));
        let printed = print::custom(&after);
        assert_eq!(printed != print::custom(&before), is_jammed, "{pass}\n{printed}");
        assert_eq!(result(&before, 5), result(&after, 5), "{pass}\n{text}\n{printed}");
    }
}

#[test]
fn coalesced_scf_loops_keep_the_iteration_order() {
    // The bounds and steps of three loops, and the number of remaining loops.
    let cases = [
        ("%c0 to %c4 step %c1", "%c1 to %c9 step %c3", "%c0 to %c2 step %c1", 1),
        ("%c0 to %n step %c1", "%c1 to %n step %c3", "%c0 to %n step %c2", 1),
        ("%n to %c4 step %c2", "%n to %c3 step %c1", "%c9 to %c2 step %c1", 1),
        // An inner loop with an unknown step, which may be 0 if the loop has no iterations.
        ("%c0 to %n step %n", "%c0 to %c3 step %n", "%c0 to %n step %c1", 2),
        // A bound is the induction variable of another loop.
        ("%c0 to %n step %c1", "%c0 to %i step %c1", "%c0 to %n step %c1", 2),
    ];
    for (first, second, third, n_left) in cases {
        let mut text = String::new();
        for number in [0, 1, 2, 3, 4, 9] {
            text += &format!("  %c{number} = arith.constant {number} : index\n");
        }
        text += &format!(
            "  %r = scf.for %i = {first} iter_args(%x = %k) -> (i64) {{\n    %s = scf.for %j = {second} iter_args(%y = %x) -> (i64) {{\n      %t = scf.for %l = {third} iter_args(%z = %y) -> (i64) {{\n        %a = affine.load %A[symbol(%i) + symbol(%j) * 3, symbol(%l)] : memref<?x?xi64>\n        %p = arith.muli %z, %k : i64\n        %b = arith.addi %p, %a : i64\n        scf.yield %b : i64\n      }}\n      scf.yield %t : i64\n    }}\n    scf.yield %s : i64\n  }}\n  affine.store %r, %A[99, 99] : memref<?x?xi64>\n"
        );
        let text = function_with_body(&text).replace(
            "affine.load %A[symbol(%i) + symbol(%j) * 3, symbol(%l)]",
            "memref.load %A[%i, %l]",
        );
        let before = read(&text);
        let after = transformed(&text, "affine-loop-coalescing");
        let printed = print::custom(&after);
        assert_eq!(printed.matches("scf.for").count(), n_left, "{printed}");
        for n in [-3, 0, 1, 2, 5, 8] {
            // Steps must be positive.
            if n > 0 || !text.contains("step %n") {
                let (expected, got) = (result(&before, n), result(&after, n));
                assert_eq!(expected, got, "n = {n}\n{text}\n{printed}");
            }
        }
    }
}
