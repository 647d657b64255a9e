//! Measures the time to format 100,000 ops on one thread: parsing the text, computing and applying
//! the edits, and formatting the result again.
//!
//!     cargo run --release -p noisy-format --example reformat
//!
//! Prints a line for each kind of program. Each figure is the minimum of five runs.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use noisy_format::format;
use noisy_syntax::{Source, TextEdit};

/// Number of ops of a program, except terminators.
const OPS: usize = 100_000;

/// A function of straight-line ops with irregular indentation and spacing.
fn line(out: &mut String, name: usize, ops: usize) {
    let _ = writeln!(out, "func.func @f{name}(%x:i32)->i32{{");
    let _ = writeln!(out, "      %0 = arith.addi %x,  %x : i32");
    for at in 1..ops {
        let _ = writeln!(out, "      %{at} = arith.addi %{},  %x : i32", at - 1);
    }
    let _ = writeln!(out, "return %{} : i32 }}", ops - 1);
}

/// A function of nested loops with one op in each.
fn nest(out: &mut String, name: usize, depth: usize) {
    let _ = writeln!(out, "func.func @f{name}(%n: index, %x: i32) {{");
    for at in 0..depth {
        let _ = writeln!(out, "scf.for %i{at} = %n to %n step %n {{ %v{at} = arith.addi %x,%x:i32");
    }
    let _ = writeln!(out, "{} return }}", "}".repeat(depth));
}

/// A function with a signature that is too long for a line.
fn signature(out: &mut String, name: usize, ops: usize) {
    let arguments: Vec<String> =
        (0..12).map(|at| format!("%argument_{at}: i32 {{a.b = {at} : i64}}")).collect();
    let _ = writeln!(out, "func.func @f{name}({}) {{", arguments.join(", "));
    for at in 0..ops {
        let _ = writeln!(out, "%{at} = arith.addi %argument_0,%argument_1 : i32");
    }
    out.push_str("return }\n");
}

/// Returns the formatted text and the minimum time.
fn run(text: &str) -> (String, Duration) {
    let mut best = Duration::MAX;
    let mut after = String::new();
    for _ in 0..5 {
        let start = Instant::now();
        after =
            TextEdit::apply_all(&format(&Source::new(text)).expect("it follows the grammar"), text);
        best = best.min(start.elapsed());
    }
    (after, best)
}

fn main() {
    let mut shapes: [(&str, String); 4] = [
        ("one function", String::new()),
        ("functions of 10 ops", String::new()),
        ("loops, 100 deep", String::new()),
        ("signatures of 12 arguments", String::new()),
    ];
    line(&mut shapes[0].1, 0, OPS);
    for name in 0..OPS / 10 {
        line(&mut shapes[1].1, name, 10);
        signature(&mut shapes[3].1, name, 10);
    }
    for name in 0..OPS / 200 {
        nest(&mut shapes[2].1, name, 100);
    }
    for (what, text) in &shapes {
        let (once, first) = run(text);
        let (twice, again) = run(&once);
        assert_eq!(once, twice, "formatting what is formatted changes nothing");
        println!(
            "{what:>28}: {:5.1} MB, {:4.0} ms, again {:4.0} ms",
            text.len() as f64 / 1e6,
            first.as_secs_f64() * 1e3,
            again.as_secs_f64() * 1e3
        );
    }
}
