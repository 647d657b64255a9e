//! How long an edit takes until its diagnostics, and a request until its answer, over the real server's standard input and
//! output: `cargo bench -p
//! noisy-lsp`, with numbers of ops after `--` if not the usual ones. Prints a table, in milliseconds.

#[path = "../tests/e2e/client.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod client;

use std::time::Instant;

use client::{Client, URI};
use serde_json::{Value, json};

/// Edits and requests of each kind.
const ROUNDS: usize = 200;

/// One function of so many ops, each of what came before, with noise that stays below the budget; the ops start on line 2.
fn program(n: usize) -> String {
    let op = |at: usize| match (at, at % 4) {
        (0, _) => "  %0 = noisy.add %x, %x : !noisy.i32\n".to_owned(),
        (_, 0) => format!("  %{at} = noisy.reduce_noise %{} : !noisy.i32\n", at - 1),
        _ => format!("  %{at} = noisy.add %{}, %x : !noisy.i32\n", at - 1),
    };
    let ops: String = (0..n).map(op).collect();
    format!(
        "func.func @f(%x: !noisy.i32) -> !noisy.i32 {{\n{ops}  return %{} : !noisy.i32\n}}\n",
        n - 1
    )
}

/// Milliseconds since a moment.
fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// The median and the 99th of a hundred, of at least one.
fn summary(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[((times.len() - 1) * share).div_ceil(100)];
    format!("{:.2} / {:.2}", at(50), at(99))
}

/// From a line and column to another.
fn range(from: (usize, usize), to: (usize, usize)) -> Value {
    let place = |(line, character)| json!({ "line": line, "character": character });
    json!({ "start": place(from), "end": place(to) })
}

/// What is measured of a program, by name.
fn measure(n: usize) -> Vec<(&'static str, String)> {
    let mut client = Client::new();
    let text = program(n);
    let start = Instant::now();
    client.open(URI, &text);
    assert!(client.diagnostics(URI, 1).is_empty(), "a legal program");
    let mut out = vec![("opening", format!("{:.1}", since(start)))];
    // Lines all over the function, the same in each run; op 4k + 1 adds.
    let line = |round: usize| 2 + 4 * (round * 7919 % (n / 4)).min(n / 4 - 1);
    let mut version = 1;
    let mut edit = |client: &mut Client, range: Value, text: &str| {
        version += 1;
        let start = Instant::now();
        client.change(URI, version, Some(range), text);
        let found = client.diagnostics(URI, version);
        (since(start), found.iter().any(|it| it["severity"] == 1))
    };
    // What is typed, in which column, and how far it goes.
    let edits: [(&'static str, &str, usize, (usize, usize)); 3] = [
        ("a space, to diagnostics", " ", 0, (0, 1)),
        ("an error, to diagnostics", "?", 3, (0, 4)),
        ("a line, to diagnostics", "  %new = noisy.add %x, %x : !noisy.i32\n", 0, (1, 0)),
    ];
    for (name, typed, column, (n_lines, end)) in edits {
        let mut times = Vec::new();
        for round in 0..ROUNDS / 2 {
            let at = (line(round), column);
            let (took, is_wrong) = edit(&mut client, range(at, at), typed);
            assert_eq!(is_wrong, typed == "?", "{name}");
            times.push(took);
            // It is undone, which counts, too.
            let (took, is_wrong) = edit(&mut client, range(at, (at.0 + n_lines, end)), "");
            assert!(!is_wrong, "{name}, undone");
            times.push(took);
        }
        out.push((name, summary(times)));
    }
    let requests: [(&'static str, &str, usize); 5] = [
        ("hover", "hover", 0),
        ("definition", "definition", 0),
        ("completion", "completion", 0),
        ("hints of 60 lines", "inlayHint", 60),
        ("semantic tokens of 60 lines", "semanticTokens/range", 60),
    ];
    for (name, method, n_lines) in requests {
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let at = (line(round), 3);
            let params = if n_lines > 0 {
                json!({ "range": range(at, (at.0 + n_lines, 0)) })
            } else {
                json!({ "position": { "line": at.0, "character": at.1 } })
            };
            let from = Instant::now();
            let answer = client.about(method, URI, params);
            times.push(since(from));
            assert!(!answer.is_null(), "{name}");
        }
        out.push((name, summary(times)));
    }
    out
}

fn main() {
    let wanted: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let sizes = if wanted.is_empty() { vec![1_000, 10_000, 100_000] } else { wanted };
    let columns: Vec<_> = sizes.iter().map(|&n| measure(n.max(8))).collect();
    let row = |cells: Vec<String>| println!("| {} |", cells.join(" | "));
    row(std::iter::once("ms, p50 / p99".to_owned())
        .chain(sizes.iter().map(|n| format!("{n} ops")))
        .collect());
    println!("|---{}|", "|---".repeat(sizes.len()));
    for (at, (name, _)) in columns[0].iter().enumerate() {
        row(std::iter::once((*name).to_owned())
            .chain(columns.iter().map(|it| it[at].1.clone()))
            .collect());
    }
}
