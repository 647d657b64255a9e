//! Programs that are printed in custom form are parsed as the same programs, here and by
//! `mlir-opt`.

use noisy_syntax::print::{Tool, custom_as, generic_as};
use noisy_syntax::{Source, dialect};

use crate::oracle;
use crate::programs::programs;

/// Returns the lines of a print that contain an op in generic form although it has a custom form.
fn fallbacks(text: &str) -> Vec<&str> {
    let is_generic = |line: &&str| {
        let op = line.split_once(" = \"").map_or(line.trim_start(), |it| it.1);
        let name = op.trim_start_matches('"').split('"').next().unwrap_or("");
        let is_quoted = line.contains(&format!("\"{name}\"("));
        is_quoted && dialect::OpKind::of(name).spec().has_custom_form()
    };
    text.lines().filter(is_generic).collect()
}

#[test]
fn custom_forms_are_read_again_as_the_same_program() {
    for program in programs() {
        for tool in [Tool::Mlir19, Tool::Heir24] {
            let source = Source::new(&program.text);
            let text = custom_as(source.ir(), tool);
            let again = Source::new(&text);
            // Printing may simplify an affine map once, like in mlir-opt.
            let twice = Source::new(&generic_as(source.ir(), tool));
            assert_eq!(again.problems(), [], "{}\n{text}", program.name);
            assert_eq!(
                generic_as(again.ir(), tool),
                generic_as(twice.ir(), tool),
                "{}\n{text}",
                program.name
            );
            assert_eq!(fallbacks(&text), [""; 0], "{}", program.name);
        }
    }
}

#[test]
fn programs_without_their_text_print_the_same() {
    for program in programs() {
        let source = Source::new(&program.text);
        let (generic, custom) =
            (generic_as(source.ir(), Tool::Mlir19), custom_as(source.ir(), Tool::Mlir19));
        let ir = source.into_ir();
        assert_eq!(generic_as(&ir, Tool::Mlir19), generic, "{}", program.name);
        assert_eq!(custom_as(&ir, Tool::Mlir19), custom, "{}", program.name);
        assert_eq!(ir.verify(), [], "{}", program.name);
    }
}

#[test]
fn mlir_opt_accepts_custom_forms() {
    // mlir-opt lacks the custom forms of `noisy`.
    let mut programs = programs();
    programs.retain(|it| !it.text.contains("noisy."));
    let print = |text: &str| custom_as(Source::new(text).ir(), Tool::Mlir19);
    let texts: Vec<(String, String)> =
        programs.into_iter().map(|it| (it.name, print(&it.text))).collect();
    let Some(rejected) = oracle::rejected(&texts) else { return };
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
}

#[test]
fn fallbacks_finds_an_op_that_its_form_cannot_express() {
    let text = "func.func @f(%a: i32, %b: i64) -> i32 {
  %x = \"arith.addi\"(%a, %b) : (i32, i64) -> i32
  %y = arith.addi %a, %a : i32
  return %x : i32
}";
    let text = custom_as(Source::new(text).ir(), Tool::Mlir19);
    assert_eq!(fallbacks(&text).len(), 1, "{text}");
}
