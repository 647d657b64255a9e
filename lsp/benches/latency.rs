//! Measures the latency of the real server over its standard input and output: from an edit to its
//! diagnostics, and from a request to its answer. Run it by `cargo bench -p noisy-lsp`, with other
//! numbers of ops after `--`, if wanted. Prints one table each for 60 nests of affine loops, for
//! noisy programs and for programs of HEIR, in milliseconds.

#[path = "../tests/e2e/client.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod client;

use std::fmt::Write as _;
use std::time::Instant;

use client::{Client, URI};
use serde_json::{Value, json};

/// Number of edits and requests of each kind.
const ROUNDS: usize = 200;

/// Programs of one kind.
struct ProgramKind {
    name: &'static str,
    /// Returns a program with this number of ops.
    text: fn(usize) -> String,
    /// The line on which the ops start.
    first: usize,
    /// A line that can be inserted before any op.
    line: &'static str,
}

const PROGRAM_KINDS: [ProgramKind; 2] = [
    ProgramKind {
        name: "noisy",
        text: noisy,
        first: 1,
        line: "  %new = noisy.add %x, %x : !noisy.i32\n",
    },
    ProgramKind { name: "HEIR", text: heir, first: 4, line: "  %new = mgmt.modreduce %x : i16\n" },
];

/// A `secret.generic` of `n` ops that use earlier results. Levels and noise stay within the
/// parameters.
fn heir(n: usize) -> String {
    let op = |at: usize| match (at, at % 4) {
        (0, _) => "  %0 = arith.addi %x, %x : i16\n".to_owned(),
        (9, _) => format!("  %{at} = mgmt.modreduce %{} : i16\n", at - 1),
        (_, 0) => format!("  %{at} = mgmt.relinearize %{} : i16\n", at - 1),
        (_, 3) => format!("  %{at} = arith.muli %x, %x : i16\n"),
        (5.., 1) => format!("  %{at} = arith.addi %{}, %{} : i16\n", at - 1, at - 3),
        _ => format!("  %{at} = arith.addi %{}, %x : i16\n", at - 1),
    };
    let ops: String = (0..n).map(op).collect();
    format!(
        "module attributes {{bgv.schemeParam = #bgv.scheme_param<logN = 13, Q = [1152921504606994433, 1152921504598720513], P = [1152921504597016577], plaintextModulus = 65537>, scheme.bgv}} {{
func.func @f(%in: !secret.secret<i16>) -> !secret.secret<i16> {{
%r = secret.generic(%in: !secret.secret<i16>) {{
^body(%x: i16):
{ops}  %end = mgmt.relinearize %{} : i16
  secret.yield %end : i16
}} -> (!secret.secret<i16>)
return %r : !secret.secret<i16>
}}
}}
",
        n - 1
    )
}

/// A function of `n` ops that use earlier results. The noise stays below the budget.
fn noisy(n: usize) -> String {
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

/// The median and the 99th percentile of at least one time.
fn summary(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[((times.len() - 1) * share).div_ceil(100)];
    format!("{:.2} / {:.2}", at(50), at(99))
}

/// A range of the protocol, from one line and column to another.
fn range(from: (usize, usize), to: (usize, usize)) -> Value {
    let place = |(line, character)| json!({ "line": line, "character": character });
    json!({ "start": place(from), "end": place(to) })
}

/// The measurements of a program, by name.
fn measure(kind: &ProgramKind, n: usize) -> Vec<(&'static str, String)> {
    let mut client = Client::new();
    let text = (kind.text)(n);
    let start = Instant::now();
    client.open(URI, &text);
    let is_error = |it: &Value| it["severity"] == 1;
    assert!(!client.diagnostics(URI, 1).iter().any(is_error), "a legal program");
    let mut out = vec![("opening", format!("{:.1}", since(start)))];
    // Lines distributed over the function, the same in each run. Op 4k + 1 is an addition.
    let line = |round: usize| kind.first + 1 + 4 * (round * 7919 % (n / 4)).min(n / 4 - 1);
    let mut version = 1;
    let mut edit = |client: &mut Client, range: Value, text: &str| {
        version += 1;
        let start = Instant::now();
        client.change(URI, version, Some(range), text);
        let found = client.diagnostics(URI, version);
        (since(start), found.iter().any(is_error))
    };
    // The typed text, its column, and the end of the typed text: lines below, column.
    let edits: [(&'static str, &str, usize, (usize, usize)); 3] = [
        ("a space, to diagnostics", " ", 0, (0, 1)),
        ("an error, to diagnostics", "?", 3, (0, 4)),
        ("a line, to diagnostics", kind.line, 0, (1, 0)),
    ];
    for (name, typed, column, (n_lines, end)) in edits {
        let mut times = Vec::new();
        for round in 0..ROUNDS / 2 {
            let at = (line(round), column);
            let (took, is_wrong) = edit(&mut client, range(at, at), typed);
            assert_eq!(is_wrong, typed == "?", "{name}");
            times.push(took);
            // The edit is undone, which is measured too.
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
            let answer = client.request_about(method, URI, params);
            times.push(since(from));
            assert!(!answer.is_null(), "{name}");
        }
        out.push((name, summary(times)));
    }
    out
}

/// Nests of six kinds, all different: a product, stencils, triangles, a sum by columns.
fn nests(n: usize) -> String {
    let nest = |at: usize| {
        let size = at + 50;
        let load = |name: &str, memref: &str, index: &str| {
            format!("    %{name} = affine.load %{memref}[{index}] : memref<?x?xf64>\n")
        };
        let store = |value: &str, memref: &str, index: &str| {
            format!("    affine.store %{value}, %{memref}[{index}] : memref<?x?xf64>\n")
        };
        let sum = "    %p = arith.mulf %a, %b : f64\n    %s = arith.addf %p, %c : f64\n";
        let (loops, body): (&[(&str, &str)], String) = match at % 6 {
            0 => (
                &[("i", "0"), ("j", "0"), ("k", "0")],
                load("a", "A", "%i, %k")
                    + &load("b", "B", "%k, %j")
                    + &load("c", "C", "%i, %j")
                    + sum
                    + &store("s", "C", "%i, %j"),
            ),
            1 => (
                &[("t", "0"), ("i", "1"), ("j", "1")],
                load("a", "A", "%i - 1, %j")
                    + &load("b", "A", "%i, %j + 1")
                    + &load("c", "A", "%i, %j")
                    + sum
                    + &store("s", "A", "%i, %j"),
            ),
            2 => (
                &[("i", "0"), ("j", "affine_map<(d0) -> (d0)>(%i)"), ("k", "0")],
                load("a", "A", "%k, %i")
                    + &load("b", "A", "%k, %j")
                    + &load("c", "B", "%i, %j")
                    + sum
                    + &store("s", "B", "%i, %j"),
            ),
            3 => (
                &[("i", "0"), ("j", "affine_map<(d0) -> (d0)>(%i)"), ("k", "0")],
                load("a", "A", "%i, %k")
                    + &load("b", "A", "%k, %j")
                    + &load("c", "A", "%i, %j")
                    + sum
                    + &store("s", "A", "%i, %j"),
            ),
            4 => (
                &[("i", "0"), ("j", "0")],
                load("a", "A", "%j, %i")
                    + &load("b", "B", "%j, 0")
                    + &load("c", "C", "%i, 0")
                    + sum
                    + &store("s", "C", "%i, 0"),
            ),
            _ => (
                &[("t", "0"), ("i", "2"), ("j", "2")],
                load("a", "B", "%i - 1, %j - 1")
                    + &load("b", "B", "%i + 1, %j + 1")
                    + &load("c", "A", "%i, %j")
                    + sum
                    + &store("s", "A", "%i, %j")
                    + &store("c", "B", "%i, %j"),
            ),
        };
        let mut open = String::new();
        for (iv, low) in loops {
            let _ = writeln!(open, "  affine.for %{iv} = {low} to {size} {{");
        }
        open + &body + &"  }\n".repeat(loops.len())
    };
    let all: String = (0..n).map(nest).collect();
    format!(
        "func.func @f(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {{\n{all}  return\n}}\n"
    )
}

/// Measures an edit of a nest, up to its diagnostics and up to the hints of all loops of the file.
fn measure_nests(n: usize) {
    let hints = json!({ "inlayHints": { "tripCounts": false, "dependences": true } });
    let (mut client, _) = Client::with(client::capabilities(), hints);
    let text = nests(n);
    client.open(URI, &text);
    client.diagnostics(URI, 1);
    let lines: Vec<&str> = text.lines().collect();
    let all = range((0, 0), (lines.len(), 0));
    let n_loops = lines.iter().filter(|it| it.contains("affine.for")).count();
    let start = Instant::now();
    let found = client.request_about("inlayHint", URI, json!({ "range": all.clone() }));
    assert_eq!(found.as_array().map(Vec::len), Some(n_loops), "a hint for each loop");
    let first = since(start);
    // Each edit changes an upper bound, and the dependences of the nest may depend on it.
    let headers: Vec<usize> =
        (0..lines.len()).filter(|&it| lines[it].contains("affine.for")).collect();
    let (mut diagnostics, mut hints) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let line = headers[round * 7919 % headers.len()];
        let at = lines[line].len() - 2;
        let version = 2 * i32::try_from(round).unwrap_or(0) + 2;
        let start = Instant::now();
        client.change(URI, version, Some(range((line, at), (line, at))), "7");
        client.diagnostics(URI, version);
        diagnostics.push(since(start));
        let found = client.request_about("inlayHint", URI, json!({ "range": all.clone() }));
        hints.push(since(start));
        assert_eq!(found.as_array().map(Vec::len), Some(n_loops), "a hint for each loop");
        client.change(URI, version + 1, Some(range((line, at), (line, at + 1))), "");
        client.diagnostics(URI, version + 1);
    }
    println!("| {n} nests, {n_loops} loops | ms, p50 / p99 |\n|---|---|");
    println!("| what all loops carry, at first | {first:.2} |");
    println!("| a digit of a bound, to diagnostics | {} |", summary(diagnostics));
    println!("| the same, to what all loops carry | {} |\n", summary(hints));
}

fn main() {
    measure_nests(60);
    let wanted: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let sizes = if wanted.is_empty() { vec![1_000, 10_000, 100_000] } else { wanted };
    for kind in PROGRAM_KINDS {
        let columns: Vec<_> = sizes.iter().map(|&n| measure(&kind, n.max(16))).collect();
        let row = |cells: Vec<String>| println!("| {} |", cells.join(" | "));
        row(std::iter::once(format!("{}, ms, p50 / p99", kind.name))
            .chain(sizes.iter().map(|n| format!("{n} ops")))
            .collect());
        println!("|---{}|", "|---".repeat(sizes.len()));
        for (at, (name, _)) in columns[0].iter().enumerate() {
            row(std::iter::once((*name).to_owned())
                .chain(columns.iter().map(|it| it[at].1.clone()))
                .collect());
        }
        println!();
    }
}
