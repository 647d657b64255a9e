//! The laws of the crate on random programs: facts and diagnostics after edits equal those from
//! scratch, straight-line code equals a direct evaluator, loops equal their unrolling, and the cost
//! of an edit is proportional to its change.

use std::collections::HashMap;
use std::fmt::Write as _;

use noisy_syntax::{Op, OpKind, Region};

mod budget;
mod call;
mod call_edit;
mod integers;
mod loops;
mod order;
mod ordered_edit;
mod programs;
mod recursion;
mod recursion_edit;
mod twin;

use noisy_placement::PlacementLimits;

use self::programs::Writer;
pub(crate) use self::programs::{program, random_edit};
use crate::{
    Assumption, Diagnostic, Document, Noise, Objective, PlacementOptions, checks, insert_reduces,
};

/// A small reproducible generator of random numbers (xorshift).
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator with its own sequence for each seed.
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Returns all diagnostics of a document, including those that are off by default.
fn all_diagnostics(document: &Document) -> Vec<Diagnostic> {
    let off = checks::ALL.iter().filter(|it| !it.is_on).map(|it| it.code);
    document.diagnostics_with(&off.collect::<Vec<_>>())
}

/// Returns all facts of a document, in textual order.
pub(crate) fn facts(document: &Document) -> String {
    let mut out = String::new();
    region_facts(document, document.ir().root(), &mut out);
    out
}

fn region_facts(document: &Document, region: Region, out: &mut String) {
    let ir = document.ir();
    let values = |values: &[noisy_syntax::Value], out: &mut String| {
        for &value in values {
            let (name, integers) = (ir.value_text(value), document.integers());
            let (constant, range) = (integers.constant(ir, value), integers.range(value));
            let elements = integers.elements(constant).unwrap_or_default();
            let noise = document.noise(value);
            let _ = write!(out, " {name}={noise} {constant} {elements:?} {range}");
            match document.assumption(value) {
                Some(Assumption::Fresh { calls }) => {
                    let _ = write!(out, " assumed, {} calls", calls.len());
                }
                Some(Assumption::Passed { calls }) => {
                    let _ = write!(out, " {} calls", calls.len());
                }
                Some(Assumption::NeverCalled) => out.push_str(" never called"),
                Some(Assumption::Contract(_)) | None => {}
            }
        }
    };
    let _ = write!(out, "{{");
    values(&ir.block(ir.region(region).entry).args, out);
    for op in ir.items(region) {
        let data = ir.op(op);
        if data.kind == OpKind::Label {
            let live = document.noise_solver().is_block_live(ir.label_block(op));
            let also = document.integers().is_block_live(ir.label_block(op));
            let of = |it| if it { "" } else { " dead" };
            let _ = write!(out, "\n^{}{}", of(live), of(also));
        } else {
            let _ = write!(out, "\n{}", ir.op_name(op));
        }
        values(&data.results, out);
        for &(_, inner) in &data.regions {
            region_facts(document, inner, out);
        }
    }
    let _ = write!(out, "}}");
}

#[test]
fn facts_after_edits_equal_those_from_scratch() {
    let n = if cfg!(debug_assertions) { 300 } else { 1500 };
    for seed in 1..=n {
        check_edits(seed, Writer::new(seed, true).function(3 + seed as usize % 9));
    }
}

#[test]
fn facts_after_edits_of_modules_with_calls_equal_those_from_scratch() {
    let n = if cfg!(debug_assertions) { 60 } else { 250 };
    for seed in 1..=n {
        let mut writer = Writer::new(seed, seed % 3 != 0);
        let text = writer.module(2 + seed as usize % 5, 2 + seed as usize % 7);
        check_edits(seed, text);
    }
}

/// Returns random functions that call each other.
fn random_module(seed: u64) -> String {
    Writer::new(seed, !seed.is_multiple_of(3)).module(2 + seed as usize % 4, 2 + seed as usize % 5)
}

/// In generic form, a label defines the arguments of a function, and mistakes change the structure
/// in other ways.
#[test]
fn facts_after_edits_of_the_generic_form_equal_those_from_scratch() {
    let n = if cfg!(debug_assertions) { 60 } else { 300 };
    for seed in 1..=n {
        check_edits(seed, noisy_syntax::print::generic(Document::new(&random_module(seed)).ir()));
    }
}

/// Nested modules, and labels and branches next to functions. This is invalid MLIR, but occurs
/// while a bracket is missing.
#[test]
fn facts_after_edits_of_nested_modules_equal_those_from_scratch() {
    let n = if cfg!(debug_assertions) { 60 } else { 300 };
    for seed in 1..=n {
        let text = random_module(seed);
        let mut random = Random(seed * 13 + 1);
        let mut out = String::new();
        for (n, function) in text.split("func.func ").filter(|it| !it.is_empty()).enumerate() {
            let is_apart = random.one_in(2);
            if is_apart {
                out += "module {\n";
            }
            let _ = writeln!(out, "func.func {}", function.trim_end());
            if random.one_in(2) {
                let _ = writeln!(out, "^beside{n}:\n  cf.br ^beside{n}");
            }
            if is_apart {
                out += "}\n";
            }
        }
        check_edits(seed, out);
    }
}

/// Sequences of edits `(from, to)` that once had other results than an analysis from scratch.
#[test]
fn facts_after_edits_of_odd_programs_equal_those_from_scratch() {
    let branch = "\"x.x\"() ({
  \"y.y\"()[^bb1] ({
    \"z.z\"() : () -> ()
  }) : () -> ()
^bb1:
  \"z.z\"() : () -> ()
}) : () -> ()
";
    let module = "module @m {
^bb0:
  cf.br ^bb1
^bb1:
  func.call @m() : () -> ()
}
";
    let generic = "\"func.func\"() <{function_type = (!noisy.i32) -> !noisy.i32, sym_name = \"f\", sym_visibility = \"private\"}> ({
^bb0(%a: !noisy.i32):
  \"func.return\"(%a) : (!noisy.i32) -> ()
}) : () -> ()
func.func @g(%x: !noisy.i32) -> !noisy.i32 {
  %0 = noisy.mul %x, %x : !noisy.i32
  %1 = \"func.call\"(%0) <{callee = @f}> : (!noisy.i32) -> !noisy.i32
  return %1 : !noisy.i32
}
";
    let rows: [(&str, &[(&str, &str)]); 3] = [
        // The arguments of a function are those of its entry block, which has an own label.
        (
            generic,
            &[
                ("= (!noisy.i32) ->", "= (!noisy.i32, !noisy.i32) ->"),
                (
                    "(%0) <{callee = @f}> : (!noisy.i32)",
                    "(%0, %x) <{callee = @f}> : (!noisy.i32, !noisy.i32)",
                ),
                ("%a: !noisy.i32)", "%a: !noisy.i32, %b: !noisy.i32)"),
                ("\"func.return\"(%a)", "\"func.return\"(%b)"),
                ("%a: !noisy.i32, ", ""),
                ("b: ", "b: func.func"),
                ("^bb0(", "("),
                ("(%b", "^bb0(%b"),
                ("b: func.func", "b: "),
            ],
        ),
        // An op with regions that branches.
        (
            branch,
            &[("y.y", "y.x"), ("y.x", "y.y"), ("[^bb1]", ""), ("\"y.y\"()", "\"y.y\"()[^bb1]")],
        ),
        // A call of a symbol that is not a function, outside of functions.
        (
            module,
            &[
                ("^bb0:\n", ""),
                ("{\n", "{\n^bb0(%a: !noisy.i32):\n"),
                ("cf.br ^bb1", ""),
                ("@m {", "{"),
                ("{\n", "@m {\n"),
            ],
        ),
    ];
    for (text, edits) in rows {
        let mut text = text.to_owned();
        let mut document = Document::new(&text);
        for (from, to) in edits {
            let at = text.find(from).expect(from);
            document.edit(at..at + from.len(), to);
            text.replace_range(at..at + from.len(), to);
            let anew = Document::new(&text);
            assert_eq!(facts(&document), facts(&anew), "{text}");
            assert_eq!(all_diagnostics(&document), all_diagnostics(&anew), "{text}");
        }
    }
}

/// Applies random edits to a program, and checks after each edit that facts and diagnostics equal
/// those from scratch.
pub(crate) fn check_edits(seed: u64, program: String) {
    let mut text = program;
    let mut random = Random(seed * 77 + 5);
    let mut document = Document::new(&text);
    let mut undo: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    // Cache: the facts and diagnostics of each text from scratch. An undone edit leads to a known
    // text.
    let mut known = HashMap::from([(text.clone(), (facts(&document), all_diagnostics(&document)))]);
    for step in 0..12 {
        let (range, new) = match undo.pop() {
            Some(edit) if random.one_in(3) => edit,
            _ => random_edit(&mut random, &text),
        };
        let old = text[range.clone()].to_owned();
        document.edit(range.clone(), &new);
        text.replace_range(range.clone(), &new);
        undo = vec![(range.start..range.start + new.len(), old)];
        let (expected, diagnostics) = known.entry(text.clone()).or_insert_with(|| {
            let anew = Document::new(&text);
            (facts(&anew), all_diagnostics(&anew))
        });
        let what = format!("seed {seed} step {step}, {range:?} -> {new:?}\n{text}");
        let found = facts(&document);
        for (found, expected) in found.lines().zip(expected.lines()) {
            assert_eq!(found, expected, "{what}");
        }
        assert_eq!(found.len(), expected.len(), "{what}");
        let (found, expected) = (all_diagnostics(&document), diagnostics);
        for (found, expected) in found.iter().zip(expected.iter()) {
            assert_eq!(found, expected, "{what}");
        }
        assert_eq!(found.len(), expected.len(), "{what}");
    }
}

#[test]
fn straight_lines_equal_a_direct_evaluator() {
    let n = if cfg!(debug_assertions) { 2_000 } else { 10_000 };
    for seed in 1..=n {
        let text = Writer::new(seed, false).function(4 + seed as usize % 40);
        let document = Document::new(&text);
        // Evaluates the growth rules line by line.
        let mut noise: HashMap<String, u64> = HashMap::from([("%a".to_owned(), 12)]);
        let mut first_over = Vec::new();
        for line in text.lines() {
            let Some((name, rest)) = line.trim().split_once(" = noisy.") else { continue };
            let words: Vec<&str> = rest.split([' ', ',']).filter(|it| !it.is_empty()).collect();
            let of = |at: usize| noise[words[at]];
            let (value, fed) = match words[0] {
                "encode" | "reduce_noise" => (12, 0),
                "mul" => (of(1) + of(2), of(1).max(of(2))),
                _ => (of(1).max(of(2)) + 1, of(1).max(of(2))),
            };
            let value = value.min(u64::from(u32::MAX));
            if value > 26 && fed <= 26 {
                let over = value - 26;
                first_over.push(format!(
                    "{name}: noise may reach {value} bits, {over} over the 26-bit budget"
                ));
            }
            noise.insert(name.to_owned(), value);
        }
        let ir = document.ir();
        let mut n_values = 0;
        ir.walk(ir.root(), &mut |op| {
            for &value in &ir.op(op).results {
                if let Some(&expected) = noise.get(&ir.value_text(value)) {
                    n_values += 1;
                    let expected = Noise::AtMost(u32::try_from(expected).unwrap_or(u32::MAX));
                    assert_eq!(*document.noise(value), expected, "{text}");
                }
            }
        });
        assert_eq!(n_values + 1, noise.len());
        let found: Vec<String> = document
            .diagnostics()
            .into_iter()
            .filter(|it| it.code == "noise-overflow")
            .map(|it| it.message)
            .collect();
        assert_eq!(found, first_over, "{text}");
    }
}

#[test]
fn the_order_of_blocks_does_not_matter() {
    let n = if cfg!(debug_assertions) { 200 } else { 1_000 };
    let mut n_turned = 0;
    for seed in 1..=n {
        let text = Writer::new(seed, true).function(3 + seed as usize % 12);
        // The blocks are at the end of the function; the last one contains the return.
        let starts: Vec<usize> = text.match_indices("\n^l").map(|it| it.0 + 1).collect();
        let Some(&first) = starts.first() else { continue };
        let end = text.len() - "}\n".len();
        let mut blocks: Vec<&str> = (0..starts.len())
            .map(|at| &text[starts[at]..starts.get(at + 1).copied().unwrap_or(end)])
            .collect();
        let mut random = Random(seed * 31 + 7);
        for at in (1..blocks.len()).rev() {
            blocks.swap(at, random.below(at + 1));
        }
        let turned = format!("{}{}}}\n", &text[..first], blocks.concat());
        let known = |text: &str| {
            let document = Document::new(text);
            let (ir, mut out) = (document.ir(), Vec::new());
            let mut tell = |value: noisy_syntax::Value| {
                // The amount over the budget does not matter.
                let noise = match *document.noise(value) {
                    Noise::AtMost(hi) if hi > 26 => "over".to_owned(),
                    it => it.to_string(),
                };
                let constant = document.integers().constant(ir, value);
                out.push(format!("{} {noise} {constant}", ir.value_text(value)));
            };
            ir.walk(ir.root(), &mut |op| {
                ir.op(op).results.iter().for_each(|&it| tell(it));
                if ir.op(op).kind == OpKind::Label {
                    ir.block(ir.label_block(op)).args.iter().for_each(|&it| tell(it));
                }
            });
            out.sort();
            let mut codes: Vec<_> = document.diagnostics().iter().map(|it| it.code).collect();
            codes.sort_unstable();
            codes.dedup();
            (out, codes)
        };
        let (found, expected) = (known(&turned), known(&text));
        assert_eq!(found, expected, "{turned}\n{text}");
        n_turned += usize::from(turned != text);
    }
    assert!(n_turned > n as usize / 3, "{n_turned}");
}

#[test]
fn placements_pass_reanalysis() {
    let n = if cfg!(debug_assertions) { 150 } else { 400 };
    let (mut n_mended, mut n_removed) = (0, 0);
    for seed in 1..=n {
        let text = Writer::new(seed, seed % 2 == 0).function(4 + seed as usize % 12);
        let document = Document::new(&text);
        let functions = document.ir().functions();
        let limits =
            PlacementLimits { time: None, work: Some(200_000), ..PlacementLimits::default() };
        let replace = seed % 3 == 0;
        let objective = if seed % 5 == 0 { Objective::Count } else { Objective::Executed };
        let options =
            PlacementOptions { limits, objective, replace, ..PlacementOptions::default() };
        match insert_reduces(&document, &functions, &options) {
            Ok(outcome) => {
                n_mended += usize::from(outcome.fix.is_some());
                n_removed += outcome.n_removed();
                let mut edited = Document::new(&text);
                let functions = edited.ir().functions();
                let found = edited.insert_reduces(&functions, &options).expect("an answer");
                assert_eq!(found.groups, outcome.groups);
                let anew = Document::new(&edited.source().text().to_string());
                assert_eq!(edited.diagnostics(), anew.diagnostics(), "{text}");
                let after = outcome
                    .after
                    .as_ref()
                    .map_or(text.clone(), |it| it.source().text().to_string());
                assert_eq!(edited.source().text().to_string(), after);
            }
            Err(error) => panic!("{error}\n{text}"),
        }
    }
    assert!(n_mended > n as usize / 4 && n_removed > 0, "{n_mended}, {n_removed}");
}

pub(crate) fn noise_errors(document: &Document) -> usize {
    document.diagnostics().iter().filter(|it| it.code.starts_with("noise")).count()
}

/// Returns a function with `n` noisy ops and without errors.
fn long(n: usize) -> String {
    let mut text = "func.func @f(%x: i5) {\n  %0 = noisy.encode %x : i5 -> !noisy.i32\n".to_owned();
    for at in 1..n {
        let a = at - 1;
        let _ = match at % 5 {
            0 => writeln!(text, "  %{at} = noisy.reduce_noise %{a} : !noisy.i32"),
            _ => writeln!(text, "  %{at} = noisy.add %{a}, %{a} : !noisy.i32"),
        };
    }
    text + "  return\n}\n"
}

#[test]
fn an_edit_that_changes_no_fact_visits_a_constant_number_of_ops() {
    let text = long(100_000);
    let mut document = Document::new(&text);
    assert_eq!(noise_errors(&document), 0);
    let at = text.find("%50002 = noisy.add").expect("the needle is in the text");
    let name = at + "%50002 = noisy.".len();
    let mut visits = Vec::new();
    for new in ["sub", "add"] {
        document.edit(name..name + 3, new);
        visits.push(document.noise_solver().n_visits());
    }
    // Facts change up to the next reset.
    document.edit(name..name + 3, "mul");
    assert!(document.noise_solver().n_visits() < 40, "{}", document.noise_solver().n_visits());
    assert!(visits.iter().all(|&it| it <= 8), "{visits:?}");
}

#[test]
fn a_new_back_edge_costs_only_its_function() {
    let text = long(20_000)
        + "func.func @g(%a: !noisy.i32, %k: i1) -> !noisy.i32 {
  cf.br ^back(%a : !noisy.i32)
^back(%b: !noisy.i32):
  %c = noisy.add %b, %b : !noisy.i32
  cf.cond_br %k, ^next(%c : !noisy.i32), ^on(%c : !noisy.i32)
^next(%d: !noisy.i32):
  cf.br ^on(%d : !noisy.i32)
^on(%e: !noisy.i32):
  return %e : !noisy.i32
}
";
    let mut document = Document::new(&text);
    let at = text.find("cf.br ^on").expect("the needle is in the text") + "cf.br ^".len();
    let mut errors = Vec::new();
    for (from, to) in [("on", "back"), ("back", "on")] {
        document.edit(at..at + from.len(), to);
        let visits = (document.integers().n_visits(), document.noise_solver().n_visits());
        assert!(visits.0 < 1000 && visits.1 < 1000, "{visits:?}");
        assert_eq!(facts(&document), facts(&Document::new(&document.source().text().to_string())));
        errors.push(noise_errors(&document));
    }
    // Noise grows in each iteration.
    assert_eq!(errors, [1, 0]);
}

#[test]
fn a_long_function_is_solved_in_one_sweep() {
    let document = Document::new(&long(20_000));
    assert!(document.noise_solver().n_visits() <= 20_000 + 10);
    let functions: Vec<Op> = document.ir().functions();
    assert_eq!(functions.len(), 1);
}

#[test]
fn deeply_nested_rotating_loops_terminate() {
    // Ten nested loops, each with a huge trip count and permuted iteration arguments.
    let mut text = "func.func @f(%a: !noisy.i32, %b: !noisy.i32) {
  %lo = arith.constant 0 : index
  %hi = arith.constant 999999937 : index
  %st = arith.constant 1 : index
  %m = noisy.add %a, %a : !noisy.i32
"
    .to_owned();
    let (mut p, mut q, mut r) = ("%a".to_owned(), "%m".to_owned(), "%b".to_owned());
    for at in 0..10 {
        let _ = writeln!(
            text,
            "%r{at}:3 = scf.for %i{at} = %lo to %hi step %st iter_args(%p{at} = {p}, %q{at} = {q}, %s{at} = {r}) -> (!noisy.i32, !noisy.i32, !noisy.i32) {{"
        );
        (p, q, r) = (format!("%p{at}"), format!("%q{at}"), format!("%s{at}"));
    }
    for at in (0..10).rev() {
        let _ = writeln!(text, "scf.yield {q}, {r}, {p} : !noisy.i32, !noisy.i32, !noisy.i32\n}}");
        (p, q, r) = (format!("%r{at}#0"), format!("%r{at}#1"), format!("%r{at}#2"));
    }
    text += "return\n}\n";
    let document = Document::new(&text);
    assert_eq!(noise_errors(&document), 0, "{:?}", document.diagnostics());
    assert!(document.noise_solver().n_visits() < 3_000_000);
}

#[test]
fn facts_after_inserted_labels_equal_those_from_scratch() {
    let text = "func.func @f(%a: !noisy.i32, %c: i1) -> !noisy.i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.parallel (%i) = (%c0) to (%c1) step (%c1) init (%a) -> !noisy.i32 {
    scf.reduce(%a : !noisy.i32) {
    ^bb0(%l: !noisy.i32, %r: !noisy.i32):
      %q = noisy.add %l, %r : !noisy.i32
      scf.reduce.return %q : !noisy.i32
    }
  }
  %1 = \"scf.execute_region\"() ({
  ^bb0:
    scf.yield %0 : !noisy.i32
  }) : () -> !noisy.i32
  return %1 : !noisy.i32
}
";
    let lines: Vec<usize> = text.match_indices('\n').map(|it| it.0 + 1).collect();
    for new in ["cf.br ^l1\n^l1:\n", "cf.cond_br %c, ^l1, ^l1\n^l1:\n", "^l1:\n", "cf.br ^l1\n"] {
        for &at in &lines {
            let mut document = Document::new(text);
            document.edit(at..at, new);
            let changed = format!("{}{new}{}", &text[..at], &text[at..]);
            assert_eq!(facts(&document), facts(&Document::new(&changed)), "{changed}");
            document.edit(at..at + new.len(), "");
            assert_eq!(facts(&document), facts(&Document::new(text)), "{changed}, and back");
        }
    }
}
