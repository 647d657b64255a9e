//! Random programs with loads, stores and local buffers compute the same after the fixes of lints.

use std::fmt::Write as _;

use crate::function_with_body;
use crate::lints;
use crate::machine::result;
use crate::writer::Random;

/// Returns a random function with accesses to `%A`, `%B` and two local buffers, in loops and
/// conditionals.
fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut out = "  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %also0 = arith.constant 0 : index
  %P = memref.alloc() : memref<4x4xi64>
  %Q = memref.alloc() : memref<4x4xi64>
"
    .to_owned();
    // Initializes the local buffers.
    for buffer in ["%P", "%Q"] {
        let _ = writeln!(
            out,
            "  affine.for %x = 0 to 4 {{\n    affine.for %y = 0 to 4 {{\n      affine.store %k, {buffer}[%x, %y] : memref<4x4xi64>\n    }}\n  }}"
        );
    }
    let mut values = vec![vec!["%k".to_owned()]];
    let mut ends = Vec::new();
    for n in 0..10 + random.below(40) {
        let pad = "  ".repeat(values.len());
        let known = values.concat();
        let mut pick = || known[random.below(known.len() as u64) as usize].clone();
        let (x, y) = (pick(), pick());
        let buffer = random.pick(&["%P", "%P", "%Q", "%A", "%B"]);
        let ty = if matches!(buffer, "%P" | "%Q") { "memref<4x4xi64>" } else { "memref<?x?xi64>" };
        let index = [(); 2].map(|()| random.pick(&["%c0", "%c0", "%c1", "%c2", "%also0"]));
        let at = format!("{buffer}[{}, {}] : {ty}", index[0], index[1]);
        let affine = format!("{buffer}[{}, {}] : {ty}", random.below(2), random.below(2));
        match random.below(16) {
            0 if values.len() < 4 => {
                let _ = writeln!(out, "{pad}scf.for %i{n} = %c0 to %c2 step %c1 {{");
                values.push(Vec::new());
                ends.push("}");
            }
            1 if values.len() < 4 => {
                let _ = writeln!(
                    out,
                    "{pad}%cond{n} = arith.cmpi slt, {x}, {y} : i64\n{pad}scf.if %cond{n} {{"
                );
                values.push(Vec::new());
                ends.push("}");
            }
            2 | 3 if values.len() > 1 => {
                values.pop();
                let _ = writeln!(
                    out,
                    "{}{}",
                    "  ".repeat(values.len()),
                    ends.pop().unwrap_or_default()
                );
            }
            4..=7 => {
                let _ = writeln!(out, "{pad}memref.store {x}, {at}");
            }
            8 => {
                let _ = writeln!(out, "{pad}affine.store {x}, {affine}");
            }
            kind => {
                let what = match kind {
                    9..=11 => format!("memref.load {at}"),
                    12 => format!("affine.load {affine}"),
                    13 => format!("arith.muli {x}, {y} : i64"),
                    _ => format!("arith.addi {x}, {y} : i64"),
                };
                // A name may be defined in several regions.
                let name = if values.len() > 1
                    && random.below(3) == 0
                    && !known.contains(&"%s".to_owned())
                {
                    "%s".to_owned()
                } else {
                    format!("%v{n}")
                };
                let _ = writeln!(out, "{pad}{name} = {what}");
                values.last_mut().expect("a scope").push(name);
            }
        }
    }
    while values.len() > 1 {
        values.pop();
        let _ = writeln!(out, "{}}}", "  ".repeat(values.len()));
    }
    let last = values[0].last().expect("a value");
    let _ = writeln!(out, "  memref.store {last}, %A[%c2, %c2] : memref<?x?xi64>");
    if random.below(2) == 0 {
        out += "  %z = memref.load %P[%c0, %c0] : memref<4x4xi64>\n  memref.store %z, %B[%c2, %c2] : memref<?x?xi64>\n";
    }
    function_with_body(&out)
}

#[test]
fn lint_fixes_preserve_memory() {
    let mut n_fixed = 0;
    for seed in 1..=600 {
        let text = lints::with_line_comments(&program(seed));
        let (after, n) = lints::apply_fixes(&text, seed % 2 == 0);
        n_fixed += n;
        let run = |text: &str| {
            let ir = crate::common::read(text);
            [-2, 0, 5].map(|n| result(&ir, n))
        };
        assert_eq!(run(&text), run(&after), "{text}became\n{after}");
    }
    assert!(n_fixed > 1500, "{n_fixed}");
}
