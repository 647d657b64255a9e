//! The generic form of programs equals that of `mlir-opt`.

use noisy_syntax::Source;
use noisy_syntax::print::{Tool, generic_as};

use crate::normal::normalize;
use crate::oracle;
use crate::programs::programs;

#[test]
fn prints_the_generic_form_of_mlir_opt() {
    for program in programs() {
        let source = Source::new(&program.text);
        let found = normalize(&generic_as(source.ir(), Tool::Mlir19));
        assert_eq!(found, normalize(&program.generic), "{}", program.name);
    }
}

#[test]
fn mlir_opt_accepts_generic_prints() {
    let print = |text: &str| generic_as(Source::new(text).ir(), Tool::Mlir19);
    let texts: Vec<(String, String)> =
        programs().into_iter().map(|it| (it.name, print(&it.text))).collect();
    let Some(rejected) = oracle::rejected(&texts) else { return };
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
}
