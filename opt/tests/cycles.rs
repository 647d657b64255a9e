//! Cyclic definitions of values: passes terminate on them and return a valid program.

mod common;

use std::time::{Duration, Instant};

use noisy_syntax::print;

/// Ops that depend on themselves, directly or through other ops.
const CYCLES: &[&str] = &[
    "%1 = arith.addi %1, %c0 : i32",
    "%1 = arith.addi %1, %c1 : i32",
    "%1 = arith.subi %2, %1 : i32\n%2 = arith.addi %2, %c1 : i32",
    "%1 = arith.muli %1, %c1 : i32\n%2 = arith.muli %1, %2 : i32",
    "%1 = arith.addi %2, %c1 : i32\n%2 = arith.addi %3, %c1 : i32\n%3 = arith.addi %1, %c1 : i32\n%4 = arith.addi %3, %c1 : i32",
    "%1 = arith.andi %1, %x : i32\n%2 = arith.ori %2, %1 : i32\n%3 = arith.xori %3, %c1 : i32",
    "%1 = arith.select %b, %1, %1 : i32\n%2 = arith.select %b, %1, %2 : i32",
    "%1 = arith.extsi %2 : i32 to i64\n%2 = arith.trunci %1 : i64 to i32",
    "%1 = arith.maxsi %1, %c1 : i32\n%2 = arith.minsi %2, %1 : i32",
    "%1 = arith.shli %1, %c1 : i32\n%2 = arith.shrsi %2, %c1 : i32",
    "%1 = arith.index_cast %2 : i32 to index\n%2 = arith.index_cast %1 : index to i32",
    "%1 = arith.cmpi eq, %2, %c1 : i32\n%2 = arith.select %1, %2, %c1 : i32",
    "%1 = noisy.add %1, %n : !noisy.i32\n%2 = noisy.sub %2, %2 : !noisy.i32\n%3 = noisy.reduce_noise %3 : !noisy.i32",
    "%1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%1)",
    "%1 = affine.apply affine_map<(d0) -> (d0 * 2)>(%2)\n%2 = affine.apply affine_map<(d0) -> (d0 + 1)>(%1)",
    "%1 = scf.if %b -> i32 {\n  scf.yield %1 : i32\n} else {\n  %2 = arith.addi %1, %c1 : i32\n  scf.yield %2 : i32\n}",
    "%1 = memref.cast %1 : memref<?xi32> to memref<?xi32>\n%2 = memref.load %1[%i] : memref<?xi32>",
    "%1 = memref.subview %1[0] [4] [1] : memref<4xi32> to memref<4xi32>",
    "%c9 = arith.constant 9 : i32\n%2 = arith.remui %2, %c9 : i32\n%3 = arith.minui %3, %c1 : i32\n%4 = arith.remui %3, %c9 : i32",
    "%1 = \"t.x\"(%2) : (i32) -> i32\n%2 = \"t.x\"(%1) : (i32) -> i32\n%3 = arith.addi %2, %c0 : i32",
];

const HEAD: &str = "func.func @f(%x: i32, %b: i1, %n: !noisy.i32, %i: index) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
";

/// Returns programs with each cycle in unreachable blocks and in graph regions.
fn programs() -> Vec<String> {
    let mut out = Vec::new();
    for cycle in CYCLES {
        out.push(format!("{HEAD}  return %x : i32\n^bb1:\n{cycle}\n  cf.br ^bb1\n}}"));
        // Two unreachable blocks.
        out.push(format!("{HEAD}  return %x : i32\n^bb1:\n  cf.cond_br %b, ^bb1, ^bb2\n^bb2:\n{cycle}\n  cf.br ^bb1\n}}"));
        out.push(format!("{HEAD}  scf.if %b {{\n  scf.execute_region {{\n  scf.yield\n^bb1:\n{cycle}\n  cf.br ^bb1\n}}\n}}\n  return %x : i32\n}}"));
        out.push(format!(
            "{HEAD}  \"t.graph\"() ({{\n{cycle}\n}}) : () -> ()\n  return %x : i32\n}}"
        ));
        out.push(format!("\"t.in\"() ({{\n^bb0(%x: i32, %b: i1, %n: !noisy.i32, %i: index):\n%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n{cycle}\n}}) : () -> ()"));
        out.push(format!("func.func private @c(%x: i32, %b: i1, %n: !noisy.i32, %i: index) {{\n%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n  return\n^bb1:\n{cycle}\n  cf.br ^bb1\n}}\nfunc.func @g(%x: i32, %b: i1, %n: !noisy.i32, %i: index) {{\n  call @c(%x, %b, %n, %i) : (i32, i1, !noisy.i32, index) -> ()\n  return\n}}"));
    }
    // Cycles through block arguments.
    for blocks in [
        "^bb1(%p: i32):\n  %1 = arith.addi %p, %c1 : i32\n  cf.br ^bb1(%1 : i32)",
        "^bb1:\n  %1 = arith.addi %p, %c1 : i32\n  cf.br ^bb2(%1 : i32)\n^bb2(%p: i32):\n  cf.br ^bb1",
        "^bb1:\n  %1 = arith.addi %p, %c1 : i32\n  cf.br ^bb2(%1 : i32)\n^bb2(%p: i32):\n  %2 = arith.addi %p, %1 : i32\n  return %2 : i32",
        "^bb1(%p: i32, %q: i32):\n  cf.cond_br %b, ^bb1(%q, %p : i32, i32), ^bb2(%p : i32)\n^bb2(%r: i32):\n  %1 = arith.subi %r, %1 : i32\n  cf.br ^bb1(%1, %r : i32, i32)",
    ] {
        out.push(format!("{HEAD}  return %x : i32\n{blocks}\n}}"));
        // The same blocks, which a pattern makes unreachable.
        let dead = blocks
            .replace("^bb1:", "^bb1(%u: i32):")
            .replace("cf.br ^bb1\n", "cf.br ^bb1(%x : i32)\n");
        let dead = if dead.ends_with("cf.br ^bb1") { format!("{dead}(%x : i32)") } else { dead };
        if !dead.contains("%q") && !dead.contains("addi %p, %c1 : i32\n  cf.br ^bb2") {
            out.push(format!("{HEAD}  %false = arith.constant false\n  cf.cond_br %false, ^bb1(%x : i32), ^bb3\n{dead}\n^bb3:\n  return %x : i32\n}}"));
        }
    }
    // A loop whose only entry is a branch that is folded. Its blocks are merged before they are
    // erased.
    out.push(format!("{HEAD}  %false = arith.constant false\n  cf.cond_br %false, ^bb1(%x : i32), ^bb3\n^bb1(%p: i32):\n  cf.br ^bb2\n^bb2:\n  %1 = arith.addi %p, %c1 : i32\n  %2 = arith.addi %1, %c1 : i32\n  cf.br ^bb1(%2 : i32)\n^bb3:\n  return %x : i32\n}}"));
    out
}

#[test]
fn passes_terminate_on_cyclic_programs() {
    for pipeline in [
        "builtin.module(canonicalize)",
        "builtin.module(canonicalize{top-down=false})",
        "builtin.module(canonicalize{region-simplify=disabled})",
        "builtin.module(canonicalize{region-simplify=aggressive})",
        "builtin.module(inline)",
        "builtin.module(inline{default-pipeline=cse})",
        "builtin.module(sccp)",
        "builtin.module(cse)",
        "builtin.module(int-range-optimizations)",
        "builtin.module(arith-int-narrowing{int-bitwidths-supported=8,16,32})",
        "builtin.module(remove-dead-values)",
        "builtin.module(loop-invariant-code-motion)",
        "builtin.module(control-flow-sink)",
        "builtin.module(func.func(mem2reg))",
        "builtin.module(test-constant-fold)",
        "builtin.module(trivial-dce)",
        "builtin.module(func.func(affine-simplify-structures))",
    ] {
        for text in programs() {
            let start = Instant::now();
            let ir = common::run(pipeline, &text);
            assert!(start.elapsed() < Duration::from_secs(20), "{pipeline}\n{text}");
            let ir = ir.unwrap_or_else(|why| panic!("{pipeline}\n{text}\n{why:?}"));
            let printed = print::custom(&ir);
            assert!(printed.lines().count() < 200, "{pipeline}\n{text}\n{printed}");
        }
    }
}

#[test]
fn unreachable_blocks_are_removed_before_patterns_run() {
    for cycle in CYCLES {
        let text = format!("{HEAD}  return %x : i32\n^bb1:\n{cycle}\n  cf.br ^bb1\n}}");
        for pass in ["canonicalize", "inline"] {
            let ir = common::run(&format!("builtin.module({pass})"), &text).expect("a program");
            let wanted = "module {\n  func.func @f(%arg0: i32, %arg1: i1, %arg2: !noisy.i32, %arg3: index) -> i32 {\n    return %arg0 : i32\n  }\n}\n";
            assert_eq!(print::custom(&ir), wanted, "{pass}\n{text}");
        }
    }
}
