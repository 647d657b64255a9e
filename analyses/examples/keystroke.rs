//! Measures the time of all analyses of a HEIR program: from scratch, and from an edit to the
//! diagnostics and to the hints of 60 lines: `cargo run --release -p noisy-analyses --example
//! keystroke -- FILE [--slow]`. The file has one op on each line.
//!
//! First, edits of several kinds are made and undone on lines across the file. Then single bytes of
//! lines that open a region or call a function are removed and typed again. Prints medians and 99th
//! percentiles, and for single bytes also the slowest edit with the typed text.

use std::ops::Range;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use noisy_analyses::Document;

const ROUNDS: usize = 100;

/// Returns the median and the 99th percentile.
fn summary(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: usize| times.get((times.len() - 1) * share / 100);
    match (at(50), at(99)) {
        (Some(median), Some(slow)) => format!("{median:?} / {slow:?}"),
        _ => "no times".to_owned(),
    }
}

/// An edit of a line; `None` if it does not apply to the line.
type Edit = fn(&str) -> Option<(Range<usize>, String)>;

/// Typical edits of a line, with their names.
const EDITS: [(&str, Edit); 4] = [
    ("a space", |_| Some((0..0, " ".into()))),
    ("another op", |line| {
        let at = line.find("arith.add")? + "arith.".len();
        Some((at..at + 3, "sub".into()))
    }),
    ("an op", |line| {
        let (at, rest) = line.split_once(" = ").map(|it| (it.0.trim(), it.1))?;
        let op = format!("{at}x = {}\n", rest.trim_end());
        line.contains("arith.").then_some((0..0, op))
    }),
    ("an unused op that uses a level", |line| {
        let ty = line.rsplit_once(" : ")?.1.trim_end();
        let name = line.trim_start().split_once(" = ")?.0;
        Some((line.len()..line.len(), format!("{name}y = mgmt.modreduce {name} : {ty}\n")))
    }),
];

/// Texts that identify the lines whose bytes are removed and typed again.
const HEADERS: [&str; 6] =
    ["module attributes", "func.func ", "secret.generic", "^body", " call @", ".for "];

/// Maximum number of lines for each text of [`HEADERS`].
const MAX_LINES: usize = 4;
/// Maximum number of bytes in a line that are removed.
const MAX_BYTES: usize = 60;

/// Removes bytes of the first lines with each text of [`HEADERS`], and types them again.
fn type_headers(document: &mut Document, text: &str, starts: &[usize]) {
    for word in HEADERS {
        let mut times: Vec<(Duration, String)> = Vec::new();
        let lines = starts.iter().filter_map(|&from| Some((from, text[from..].lines().next()?)));
        let lines = lines.filter(|it| it.1.contains(word)).take(MAX_LINES);
        for (from, line) in lines {
            let step = line.len().div_ceil(MAX_BYTES).max(1);
            let typed = line.char_indices().filter(|it| it.1.is_ascii()).step_by(step);
            for (at, char) in typed {
                let at = from + at;
                for (range, new) in [(at..at + 1, String::new()), (at..at, char.to_string())] {
                    let start = Instant::now();
                    document.edit(range, &new);
                    std::hint::black_box(document.diagnostics());
                    let what = if new.is_empty() { "without" } else { "with" };
                    let shown = &text[at.saturating_sub(12).max(from)..=at];
                    times.push((start.elapsed(), format!("{what} the last of `{shown}`")));
                }
            }
        }
        let Some((slowest, place)) = times.iter().max() else { continue };
        let all = times.iter().map(|it| it.0).collect();
        println!("typing `{word}` lines: {}, slowest {slowest:?} {place}", summary(all));
        let n_slow = times.iter().filter(|it| it.0 > Duration::from_millis(1)).count();
        println!("  {n_slow} of {} keystrokes take more than a millisecond", times.len());
        if std::env::args().any(|it| it == "--slow") {
            let mut all: Vec<_> =
                times.iter().filter(|it| it.0 > Duration::from_millis(1)).collect();
            all.sort_by_key(|it| std::cmp::Reverse(it.0));
            for (time, place) in all {
                println!("    {time:?} {place}");
            }
        }
    }
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: keystroke FILE");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(it) => it,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let mut document = Document::new(&text);
    println!("text, IR and integers: {:?}", start.elapsed());
    let start = Instant::now();
    let is_heirs = document.ciphertexts().is_some();
    println!("levels, polynomials, scales and noise: {:?}", start.elapsed());
    if !is_heirs {
        eprintln!("{path} is no program of HEIR's");
        return ExitCode::FAILURE;
    }
    let start = Instant::now();
    let n_found = document.diagnostics().len();
    println!("{n_found} diagnostics: {:?}", start.elapsed());
    let starts: Vec<usize> =
        [0].into_iter().chain(text.match_indices('\n').map(|it| it.0 + 1)).collect();
    for (name, edit) in EDITS {
        let (mut diagnostics, mut hints) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS * 20 {
            let at = round * 7919 % starts.len().max(2).saturating_sub(1);
            let (Some(&from), Some(&to)) = (starts.get(at), starts.get(at + 1)) else { break };
            let Some((range, new)) = edit(&text[from..to]) else { continue };
            let old = text[from..to][range.clone()].to_owned();
            let at = from + range.start;
            let (range, undone) = (at..from + range.end, at..at + new.len());
            for (range, new) in [(range, new), (undone, old)] {
                let start = Instant::now();
                document.edit(range, &new);
                let found = document.diagnostics();
                diagnostics.push(start.elapsed());
                std::hint::black_box(found);
                let start = Instant::now();
                let (ir, known) = (document.ir(), document.ciphertexts());
                let ops = std::iter::successors(ir.item_at(from), |&it| ir.next(it));
                for &value in ops.take(60).flat_map(|it| &ir.op(it).results) {
                    std::hint::black_box(known.and_then(|it| it.1.of(value)));
                }
                hints.push(start.elapsed());
            }
            if diagnostics.len() >= ROUNDS {
                break;
            }
        }
        if diagnostics.is_empty() {
            println!("{name}: no line for it");
            continue;
        }
        println!("{name}, to diagnostics: {}; hints: {}", summary(diagnostics), summary(hints));
    }
    type_headers(&mut document, &text, &starts);
    ExitCode::SUCCESS
}
