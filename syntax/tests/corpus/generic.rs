//! The generic form of programs equals that of the real tools.

use noisy_syntax::Source;
use noisy_syntax::print::{Tool, generic_as};

use crate::normal::normal;
use crate::open::{self, Chunk};
use crate::oracle;

fn check(what: &str, chunks: &[Chunk], at_least: f64) {
    if chunks.is_empty() {
        return;
    }
    let mut wrong = Vec::new();
    for chunk in chunks {
        let source = Source::new(&chunk.text);
        let tool = if chunk.printed_by == "h24" { Tool::Heir24 } else { Tool::Mlir19 };
        let found = normal(&generic_as(source.ir(), tool));
        let expected = normal(&chunk.generic);
        if found != expected {
            let differs = |it: &(&str, &str)| it.0 != it.1;
            let both = found.lines().chain([""]).zip(expected.lines().chain([""]));
            let (found, expected) = both.into_iter().find(differs).unwrap_or_default();
            wrong.push(format!(
                "{} ({})\n  found    {found}\n  expected {expected}\n",
                chunk.name, chunk.printed_by
            ));
        }
    }
    let n_equal = chunks.len() - wrong.len();
    let share = n_equal as f64 / chunks.len() as f64;
    println!(
        "{what}: {n_equal} of {} generic prints are equal, {:.1} %",
        chunks.len(),
        100.0 * share
    );
    println!("{}", wrong.concat());
    assert!(share >= at_least, "{what}: {n_equal} of {} are equal", chunks.len());
}

#[test]
fn generated_programs_print_as_the_real_tools_print_them() {
    check("synthetic", &open::synthetic(), 1.0);
}

#[test]
fn core_programs_print_as_the_real_tools_print_them() {
    let mut chunks = open::chunks();
    chunks.retain(|it| it.is_core);
    check("core", &chunks, 0.99);
}

#[test]
fn programs_with_memref_print_as_the_real_tools_print_them() {
    let mut chunks = open::chunks();
    chunks.retain(|it| it.is_memref);
    check("memref", &chunks, 0.99);
}

#[test]
fn mlir_opt_accepts_what_is_printed() {
    let mut chunks = open::synthetic();
    chunks.extend(open::chunks().into_iter().filter(|it| it.is_core && it.printed_by == "m19"));
    let texts: Vec<(String, String)> = chunks
        .into_iter()
        .map(|it| (it.name, generic_as(Source::new(&it.text).ir(), Tool::Mlir19)))
        .collect();
    let Some(rejected) = oracle::rejected(&texts) else { return };
    println!("mlir-opt accepts {} of {} generic prints", texts.len() - rejected.len(), texts.len());
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
}
