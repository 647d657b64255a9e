//! Measures the time of parsing and editing: `cargo bench -p noisy-syntax`. Prints medians. The
//! arguments are the numbers of ops (default 1000 100000). `-- FILE` parses a file instead.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use noisy_syntax::Source;

/// Returns a straight-line function with `n` arith ops.
fn program(n: usize) -> String {
    let mut out =
        String::from("func.func @f(%a: i32, %b: i32) -> i32 {\n  %0 = arith.addi %a, %b : i32\n");
    for i in 1..n {
        let _ = writeln!(out, "  %{i} = arith.addi %{}, %{} : i32", i - 1, i.saturating_sub(7));
    }
    let _ = writeln!(out, "  return %{} : i32\n}}", n - 1);
    out
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn measure(name: &str, text: &str) {
    let mut cold = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        let source = Source::new(text);
        cold.push(start.elapsed());
        drop(source);
    }
    println!("{name:>12}  text to IR        {:>12.1?}", median(cold));
    let mut source = Source::new(text);
    let middle =
        text[text.len() / 2..].find(" : i32").map_or(text.len() / 2, |at| text.len() / 2 + at);
    let header = text.find(')').expect("arguments");
    let kinds = [
        ("space in an op", middle, " "),
        ("digit in a name", middle, "1"),
        ("line", middle, "\n  %new = arith.addi %a, %a : i32"),
        ("brace", middle, "{"),
        ("quote", middle, "\""),
        ("argument", header, ", %c: i32"),
        ("after the end", text.len(), "\nfunc.func @g() {\n  return\n}\n"),
        ("close", middle, "}"),
    ];
    for (kind, middle, insert) in kinds {
        let (mut times, mut undo) = (Vec::new(), Vec::new());
        let (mut parsed, mut linked) = (0, 0);
        let rounds = if kind == "close" { 7 } else { 201 };
        for _ in 0..rounds {
            let start = Instant::now();
            let delta = source.edit(middle..middle, insert);
            times.push(start.elapsed());
            (parsed, linked) = (delta.n_parsed, delta.n_linked);
            let start = Instant::now();
            source.edit(middle..middle + insert.len(), "");
            undo.push(start.elapsed());
        }
        println!(
            "{name:>12}  {kind:<16}  {:>12.1?}  undone {:>12.1?}  {parsed} parsed, {linked} linked",
            median(times),
            median(undo)
        );
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    if let [file] = args.as_slice()
        && let Ok(text) = std::fs::read_to_string(file)
    {
        measure("file", &text);
        return;
    }
    let sizes: Vec<usize> = args.iter().filter_map(|it| it.parse().ok()).collect();
    for n in if sizes.is_empty() { vec![1000, 100_000] } else { sizes } {
        measure(&format!("{n} ops"), &program(n));
    }
}
