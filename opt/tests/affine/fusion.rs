//! Fusion of producers and consumers.

use std::fmt::Write as _;

use noisy_syntax::print;

use crate::common::read;
use crate::machine::checked_result;
use crate::writer::Random;
use crate::{function_with_loops, transformed};

/// Returns a random function with nests that write local memrefs and nests that read them.
fn pipeline(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut body = String::new();
    let locals = ["%L", "%M", "%P", "%Q"];
    for (at, it) in locals.iter().enumerate() {
        let _ = writeln!(body, "{it} = memref.alloc() : {}", local_type(at));
    }
    let plain = ["%i0", "%i1"];
    let n_nests = 1 + random.below(3);
    let mut n = 0;
    // Producers that write all elements that are read, some of them with a reduction.
    for (at, name) in locals.iter().enumerate() {
        if random.below(2) == 0 {
            continue;
        }
        let to = match (at < 2, random.below(3)) {
            (true, 0) => format!("{name}[%i1, %i0]"),
            (true, _) => format!("{name}[%i0, %i1]"),
            _ => format!("{name}[%i0]"),
        };
        let _ = writeln!(body, "affine.for %i0 = 0 to 13 {{");
        if at < 2 {
            let _ = writeln!(body, "affine.for %i1 = 0 to 13 {{");
        }
        let ty = local_type(at);
        let _ = writeln!(body, "%w{at} = affine.load %A[%i0, 0] : memref<?x?xi64>");
        let _ = writeln!(body, "affine.store %w{at}, {to} : {ty}");
        if random.below(3) == 0 {
            let _ = writeln!(body, "affine.for %i2 = 0 to 3 {{");
            let _ = writeln!(body, "%t{at} = affine.load {to} : {ty}");
            let _ = writeln!(body, "%u{at} = affine.load %B[%i2, %i0] : memref<?x?xi64>");
            let _ = writeln!(body, "%v{at} = arith.addi %t{at}, %u{at} : i64");
            let _ = writeln!(body, "affine.store %v{at}, {to} : {ty}\n}}");
        }
        body.push_str(if at < 2 { "}\n}\n" } else { "}\n" });
    }
    for nest in 0..n_nests {
        let depth = 1 + random.below(2) as usize;
        for at in 0..depth {
            let low = random.pick(&["0", "0", "0", "1", "2"]);
            let high = match (at, random.below(8)) {
                (1, 0) => "affine_map<(d0) -> (d0 + 1)>(%i0)",
                (_, 1) => "%n",
                (_, 2 | 3) => random.pick(&["4", "6", "10"]),
                _ => "8",
            };
            let step = random.pick(&["", "", "", "", "", " step 2"]);
            let _ = writeln!(body, "affine.for %i{at} = {low} to {high}{step} {{");
        }
        let subscript = |random: &mut Random, is_store: bool| {
            let iv = plain[random.below(depth as u64) as usize];
            let kind = random.below(if is_store { 9 } else { 12 });
            match kind {
                5 | 6 => format!("{iv} + {}", 1 + random.below(2)),
                7 if depth == 2 => "%i0 + %i1".to_owned(),
                8 => format!("{}", random.below(3)),
                9 => format!("{iv} floordiv 2"),
                10 => format!("{iv} mod 4"),
                11 if depth == 2 => "%i0 * 2 + %i1".to_owned(),
                _ => iv.to_owned(),
            }
        };
        let place = |random: &mut Random, is_store: bool| {
            let is_local = nest + 1 < n_nests || random.below(3) > 0;
            let which = random.below(4) as usize;
            let mut indices = vec![subscript(random, is_store)];
            if !is_local || which < 2 {
                indices.push(if depth == 2 && random.below(3) > 0 {
                    "%i1".to_owned()
                } else {
                    subscript(random, is_store)
                });
            }
            let (name, ty) = if is_local && (is_store || random.below(3) > 0) {
                (locals[which], local_type(which))
            } else {
                if indices.len() == 1 {
                    indices.push("0".to_owned());
                }
                (random.pick(&["%A", "%B"]), "memref<?x?xi64>")
            };
            format!("{name}[{}] : {ty}", indices.join(", "))
        };
        for _ in 0..=random.below(2) {
            let to = place(&mut random, true);
            let (a, b) = (place(&mut random, false), place(&mut random, false));
            let sum = random.below(4) == 0;
            let a = if sum { to.clone() } else { a };
            let _ = writeln!(body, "%a{n} = affine.load {a}");
            let _ = writeln!(body, "%b{n} = affine.load {b}");
            let _ = writeln!(body, "%c{n} = arith.muli %a{n}, %b{n} : i64");
            let _ = writeln!(body, "%d{n} = arith.addi %c{n}, %k : i64");
            let _ = writeln!(body, "affine.store %d{n}, {to}");
            n += 1;
        }
        body.push_str(&"}\n".repeat(depth));
    }
    function_with_loops(&body)
}

fn local_type(at: usize) -> &'static str {
    if at < 2 { "memref<24x24xi64>" } else { "memref<24xi64>" }
}

#[test]
fn loop_fusion_preserves_results() {
    let mut n_changed = [0; 4];
    let mut n_private = 0;
    for seed in 1..=400 {
        let text = pipeline(seed);
        let before = read(&text);
        let expected: Vec<_> = [-2, 0, 1, 5, 9].map(|n| (n, checked_result(&before, n))).into();
        if expected.iter().all(|it| it.1.is_none()) {
            continue;
        }
        let passes = [
            "affine-loop-fusion",
            "affine-loop-fusion{fusion-maximal}",
            "affine-loop-fusion{mode=producer fusion-compute-tolerance=100.0}",
            "affine-loop-fusion{mode=sibling fusion-maximal}",
        ];
        for (at, pass) in passes.iter().enumerate() {
            let after = transformed(&text, pass);
            let printed = print::custom(&after);
            n_changed[at] += usize::from(printed != print::custom(&before));
            n_private += usize::from(printed.contains("memref<1x"));
            for (n, expected) in &expected {
                if expected.is_some() {
                    let got = checked_result(&after, *n);
                    assert_eq!(*expected, got, "seed {seed}, {pass}, n = {n}\n{text}\n{printed}");
                }
            }
        }
    }
    assert!(n_changed.iter().all(|it| *it >= 20) && n_private >= 20, "{n_changed:?} {n_private}");
}
