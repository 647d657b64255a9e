//! Custom forms that are printed are read again as the same program, by us and by `mlir-opt`.

use noisy_syntax::print::{Tool, custom_as, generic_as};
use noisy_syntax::{Form, Source, dialect};

use crate::{open, oracle};

/// Ops of a print that have a form of their own and are printed in the generic form.
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
fn own_forms_are_read_again_as_the_same_program() {
    let mut chunks = open::synthetic();
    chunks.extend(open::chunks().into_iter().filter(|it| it.is_core));
    let mut wrong = Vec::new();
    let mut n_generic = 0;
    for chunk in &chunks {
        for tool in [Tool::Mlir19, Tool::Heir24] {
            let source = Source::new(&chunk.text);
            let text = custom_as(source.ir(), tool);
            let again = Source::new(&text);
            // Reading and printing an affine map may change how it is written, in the real tools,
            // too; doing so twice does not.
            let twice = Source::new(&generic_as(source.ir(), tool));
            let (before, after) = (generic_as(twice.ir(), tool), generic_as(again.ir(), tool));
            if !again.problems().is_empty() || before != after {
                let differs = before.lines().zip(after.lines()).find(|it| it.0 != it.1);
                let problem = again.problems().into_iter().next();
                wrong.push(format!(
                    "{}: {:?} {differs:?}\n{text}\n",
                    chunk.name,
                    problem.map(|it| it.2)
                ));
            }
            for line in fallbacks(&text) {
                n_generic += 1;
                println!("in generic form: {}: {line}", chunk.name);
            }
        }
    }
    println!("{} programs in own forms, {n_generic} ops that these forms cannot say", chunks.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), chunks.len(), wrong.concat());
}

#[test]
fn without_their_text_programs_are_the_same() {
    let mut chunks = open::synthetic();
    chunks.extend(open::chunks().into_iter().filter(|it| it.is_core));
    for chunk in &chunks {
        let source = Source::new(&chunk.text);
        let (generic, own) =
            (generic_as(source.ir(), Tool::Mlir19), custom_as(source.ir(), Tool::Mlir19));
        let ir = source.into_ir();
        assert_eq!(generic_as(&ir, Tool::Mlir19), generic, "{}", chunk.name);
        assert_eq!(custom_as(&ir, Tool::Mlir19), own, "{}", chunk.name);
        assert_eq!(ir.verify(), [], "{}", chunk.name);
    }
}

#[test]
fn mlir_opt_accepts_own_forms() {
    // It does not know the forms of `noisy`. Of `memref` the programs whose ops are all in the
    // table.
    let is_for_it = |it: &open::Chunk| {
        (it.is_core || it.is_memref) && it.printed_by == "m19" && !it.generic.contains("\"noisy.")
    };
    let is_understood = |source: &Source| {
        let ir = source.ir();
        let mut all = true;
        ir.walk(ir.root(), &mut |op| all &= ir.op(op).form != Form::Opaque);
        all
    };
    let chunks = open::chunks();
    let sources = chunks.iter().filter(|it| is_for_it(it)).map(|it| (it, Source::new(&it.text)));
    let texts: Vec<(String, String)> = sources
        .filter(|it| is_understood(&it.1))
        .map(|(it, source)| (it.name.clone(), custom_as(source.ir(), Tool::Mlir19)))
        .collect();
    let Some(rejected) = oracle::rejected(&texts) else { return };
    println!(
        "mlir-opt accepts {} of {} prints in own forms",
        texts.len() - rejected.len(),
        texts.len()
    );
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
}

#[test]
fn an_op_that_its_form_cannot_say_is_seen() {
    let text = "func.func @f(%a: i32, %b: i64) -> i32 {
  %x = \"arith.addi\"(%a, %b) : (i32, i64) -> i32
  %y = arith.addi %a, %a : i32
  return %x : i32
}";
    let text = custom_as(Source::new(text).ir(), Tool::Mlir19);
    assert_eq!(fallbacks(&text).len(), 1, "{text}");
}
