//! Tests of the advice on programs with one mistake each, in `tests/*.md`. They record the advice
//! and the lines that the first fix changes. `BLESS=1 cargo test -p noisy-syntax advice` records
//! them again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::Source;

/// The row and column of a byte, both starting at 1.
fn row_and_column(text: &str, at: usize) -> String {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    format!("{}:{}", text[..at].matches('\n').count() + 1, text[start..at].chars().count() + 1)
}

/// Describes the problems of a program with the advice on each.
fn described(text: &str) -> String {
    let source = Source::new(text);
    let mut out = String::new();
    for it in &source.problems() {
        let advice = source.advice(it.0, &it.1, &it.2);
        let _ =
            writeln!(out, "{} {}: {}", row_and_column(text, it.1.start), it.2.code, advice.message);
        for (range, message) in advice.related {
            let _ = writeln!(out, "  {}: {message}", row_and_column(text, range.start));
        }
        let _ = writeln!(out, "  help: {}", advice.help.expect("every problem has help"));
        for (n, it) in source.proven_proposals(&[it])[0].iter().enumerate() {
            let kind = if it.is_sure { "fix" } else { "choice" };
            let _ = writeln!(out, "  {kind}: {}", it.title);
            if n > 0 {
                continue;
            }
            let mut after = text.to_owned();
            for (range, new) in it.edits.iter().rev() {
                after.replace_range(range.clone(), new);
            }
            let changed = after.lines().filter(|line| !text.lines().any(|it| it == *line));
            changed.for_each(|line| {
                let _ = writeln!(out, "    | {line}");
            });
            assert!(Source::new(&after).problems().len() < source.problems().len(), "{after}");
        }
    }
    out
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/source/advice/tests");
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let paths = entries.map(|it| it.expect("it can be read").path());
    let mut out: Vec<PathBuf> =
        paths.filter(|it| it.extension().is_some_and(|it| it == "md")).collect();
    out.sort();
    out
}

#[test]
fn advice_equals_the_recorded_pages() {
    let mut n_programs = 0;
    for path in files() {
        let page = std::fs::read_to_string(&path).expect("it is text");
        let mut out = String::new();
        let mut rest = page.as_str();
        while let Some((before, block)) = rest.split_once("```mlir\n") {
            let (program, after) = block.split_once("```\n").expect("each block has an end");
            n_programs += 1;
            let _ = write!(
                out,
                "{before}```mlir\n{program}```\n\n```text\n{}```\n",
                described(program)
            );
            rest = match after.trim_start().strip_prefix("```text\n") {
                Some(old) => old.split_once("```\n").expect("each block has an end").1,
                None => after,
            };
        }
        out.push_str(rest);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, out).expect("it can be written");
        } else {
            assert!(out == page, "{}: BLESS=1 records it anew\n{out}", path.display());
        }
    }
    assert!(n_programs > 60, "{n_programs} programs");
}

#[test]
fn advice_visits_a_bounded_number_of_names() {
    use crate::work::count_steps_of;
    let body = |n: usize| {
        let mut text = "func.func @f(%a: i32) {\n".to_owned();
        for it in 0..n {
            let _ = writeln!(text, "  %value{it} = arith.addi %vaule{it}, %a : i32");
        }
        text + "  return\n}\n"
    };
    // The advice on the last problem costs about the same as in a short text.
    let work = |n: usize| {
        let text = body(n);
        let source = Source::new(&text);
        let problems = source.problems();
        let (op, range, problem) = problems.last().expect("names are undefined");
        let (advice, work) = count_steps_of(|| source.advice(*op, range, problem));
        assert!(advice.help.is_some() && work > 100, "{work}");
        work
    };
    assert!(work(4000) <= 2 * work(400), "{} and {}", work(4000), work(400));
}
