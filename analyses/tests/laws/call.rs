//! Calls equal their inlining, and the analysis of any shape of calls or blocks ends in bounded
//! work.

use std::fmt::Write as _;

use crate::laws::Random;
use crate::{Document, Noise};

const TY: &str = "!noisy.i32";

/// An op of a straight-line function: its name and the indices of two earlier values. The two
/// arguments come first.
type Step = (&'static str, usize, usize);

fn line(name: &str, (op, x, y): Step, names: &[String], callee: usize) -> String {
    let (x, y) = (&names[x], &names[y]);
    match op {
        "reduce_noise" => format!("{name} = noisy.reduce_noise {x} : {TY}\n"),
        "call" => format!("{name} = call @f{callee}({x}, {y}) : ({TY}, {TY}) -> {TY}\n"),
        _ => format!("{name} = noisy.{op} {x}, {y} : {TY}\n"),
    }
}

/// Writes the body of a function with all calls inlined. Returns the name of the returned value.
fn inline(
    functions: &[Vec<Step>],
    at: usize,
    args: [String; 2],
    out: &mut String,
    n: &mut usize,
) -> String {
    let mut names = args.to_vec();
    for &(op, x, y) in &functions[at] {
        if op == "call" {
            let args = [names[x].clone(), names[y].clone()];
            names.push(inline(functions, at - 1, args, out, n));
            continue;
        }
        *n += 1;
        let name = format!("%v{n}");
        *out += &line(&name, (op, x, y), &names, 0);
        names.push(name);
    }
    names.pop().unwrap_or_default()
}

fn n_errors(document: &Document) -> usize {
    document.diagnostics().iter().filter(|it| it.code.starts_with("noise")).count()
}

/// Returns the noise of the result of `@f4`, and true if there is no noise error.
fn end(text: &str) -> (Option<Noise>, bool) {
    let document = Document::new(text);
    let ir = document.ir();
    let main = ir.functions().into_iter().find(|&it| document.function_name(it) == "f4");
    let end = main.and_then(|it| ir.last_op(ir.region(ir.op(it).regions[0].1).entry));
    let value = end.and_then(|it| ir.op(it).operands[0].value);
    (value.map(|it| *document.noise(it)), n_errors(&document) == 0)
}

#[test]
fn calls_equal_inlining() {
    let n = if cfg!(debug_assertions) { 400 } else { 3_000 };
    let mut n_legal = 0;
    for seed in 1..=n {
        let mut random = Random::new(seed * 6151 + 3);
        // Each function calls the preceding one at most twice, so there are at most 16 contexts.
        let mut functions: Vec<Vec<Step>> = Vec::new();
        for at in 0..5 {
            let (mut steps, mut n_calls) = (Vec::new(), 0);
            for step in 0..2 + random.below(4) {
                let op = *random.pick(&["add", "sub", "mul", "reduce_noise", "call", "call"]);
                let is_call = op == "call" && at > 0 && n_calls < 2;
                n_calls += usize::from(is_call);
                let op = if op == "call" && !is_call { "reduce_noise" } else { op };
                steps.push((op, random.below(step + 2), random.below(step + 2)));
            }
            functions.push(steps);
        }
        let mut called = String::new();
        for (at, steps) in functions.iter().enumerate() {
            let private = if at == 4 { "" } else { "private " };
            let _ = writeln!(called, "func.func {private}@f{at}(%a: {TY}, %b: {TY}) -> {TY} {{");
            let mut names = vec!["%a".to_owned(), "%b".to_owned()];
            for (n, step) in steps.iter().enumerate() {
                called += &line(&format!("%{n}"), *step, &names, at.saturating_sub(1));
                names.push(format!("%{n}"));
            }
            let _ = writeln!(called, "return %{} : {TY}\n}}", steps.len() - 1);
        }
        let mut inlined = format!("func.func @f4(%a: {TY}, %b: {TY}) -> {TY} {{\n");
        let args = ["%a".to_owned(), "%b".to_owned()];
        let last = inline(&functions, 4, args, &mut inlined, &mut 0);
        let _ = writeln!(inlined, "return {last} : {TY}\n}}");
        let (found, expected) = (end(&called), end(&inlined));
        assert_eq!(found, expected, "{called}\n{inlined}");
        n_legal += usize::from(found.1);
    }
    assert!(n_legal > n as usize / 20 && n_legal < n as usize, "{n_legal} of {n}");
}

#[test]
fn chains_cycles_and_fans_of_calls_terminate() {
    let function = |name: usize, callee: usize, op: &str| {
        format!(
            "func.func private @f{name}(%a: {TY}) -> {TY} {{\n%0 = call @f{callee}(%a) : ({TY}) -> {TY}\n%1 = noisy.{op}\nreturn %1 : {TY}\n}}\n"
        )
    };
    let last = |name: usize| {
        format!("func.func private @f{name}(%a: {TY}) -> {TY} {{\nreturn %a : {TY}\n}}\n")
    };
    let main = format!(
        "func.func @main(%a: {TY}) -> {TY} {{\n%0 = call @f0(%a) : ({TY}) -> {TY}\nreturn %0 : {TY}\n}}\n"
    );
    // A long chain of calls.
    let mut chain = main.clone();
    for at in 0..5_000 {
        chain += &function(at, at + 1, &format!("reduce_noise %0 : {TY}"));
    }
    assert_eq!(n_errors(&Document::new(&(chain + &last(5_000)))), 0);
    // A cycle of calls that never returns.
    let mut ring = main.clone();
    for at in 0..100 {
        ring += &function(at, (at + 1) % 100, &format!("add %0, %a : {TY}"));
    }
    assert_eq!(n_errors(&Document::new(&ring)), 0);
    // Each function calls the next one twice, the second time with more noise.
    let mut fan = main;
    for at in 0..60 {
        let call = |of: &str| format!("call @f{}({of}) : ({TY}) -> {TY}", at + 1);
        let _ = writeln!(
            fan,
            "func.func private @f{at}(%a: {TY}) -> {TY} {{\n%0 = {}\n%1 = noisy.add %a, %0 : {TY}\n%2 = {}\nreturn %2 : {TY}\n}}",
            call("%a"),
            call("%1")
        );
    }
    let document = Document::new(&(fan + &last(60)));
    assert!(document.noise_solver().n_visits() < 200_000, "{}", document.noise_solver().n_visits());
}

/// Returns independent trees of calls, some with integers that flow through the calls.
fn grove(n: usize) -> String {
    let mut text = String::new();
    for at in 0..n {
        let _ = writeln!(
            text,
            "func.func @top{at}(%a: {TY}) -> {TY} {{
  %k = arith.constant 3 : i8
  %0 = call @left{at}(%a, %k) : ({TY}, i8) -> {TY}
  %1 = call @right{at}(%0) : ({TY}) -> {TY}
  %2 = noisy.reduce_noise %1 : {TY}
  return %2 : {TY}
}}
func.func private @left{at}(%a: {TY}, %k: i8) -> {TY} {{
  %0 = noisy.add %a, %a : {TY}
  %1 = arith.addi %k, %k : i8
  return %0 : {TY}
}}
func.func private @right{at}(%a: {TY}) -> {TY} {{
  %0 = noisy.add %a, %a : {TY}
  return %0 : {TY}
}}"
        );
    }
    text
}

#[test]
fn an_edit_visits_only_connected_functions() {
    let visits = |n: usize| -> Vec<(usize, usize)> {
        let text = grove(n);
        let mut document = Document::new(&text);
        let mut out = Vec::new();
        let middle = format!("@left{}(%a: {TY}, %k", n / 2);
        let function = text.find(&middle).expect("the needle is in the text");
        let call = text.find(&format!("@top{}(", n / 2)).expect("the needle is in the text");
        for (from, what, new) in [
            (function, "add", "mul"),
            (function, "addi", "muli"),
            (call, "constant 3", "constant 4"),
            (call, "@right", "@left"),
            (call, "reduce_noise %1", "add %1, %1"),
        ] {
            let at = from + text[from..].find(what).expect("the needle is in the text");
            document.edit(at..at + what.len(), new);
            out.push((document.integers().n_visits(), document.noise_solver().n_visits()));
            document.edit(at..at + new.len(), what);
            out.push((document.integers().n_visits(), document.noise_solver().n_visits()));
        }
        out
    };
    let (few, many) = (visits(20), visits(500));
    assert_eq!(few, many);
    // A tree has 17 ops; each analysis may visit them once, and once more for changed facts of
    // calls.
    assert!(many.iter().all(|it| it.0 <= 100 && it.1 <= 40), "{many:?}");
    assert!(many.iter().any(|it| it.1 > 0));
}

/// Returns a function of blocks, each of which branches to the next one. In the text, blocks are
/// sorted by their rank.
fn chain_of_blocks(n: usize, rank: impl Fn(usize) -> usize) -> String {
    let mut order: Vec<usize> = (0..=n).collect();
    order.sort_by_key(|&it| rank(it));
    let mut text = format!("func.func @f(%a: {TY}) -> {TY} {{\n  cf.br ^b0(%a : {TY})\n");
    for at in order {
        let _ = match at {
            _ if at == n => writeln!(text, "^b{n}(%r: {TY}):\n  return %r : {TY}"),
            _ => writeln!(text, "^b{at}(%v{at}: {TY}):\n  cf.br ^b{}(%v{at} : {TY})", at + 1),
        };
    }
    text + "}\n"
}

#[test]
fn blocks_are_visited_once_in_any_order() {
    const N: usize = 20_000;
    for text in [
        chain_of_blocks(N, |it| N - it),
        chain_of_blocks(N, |it| it * 7919 % (N + 1)),
        chain_of_blocks(N, |it| if it % 2 == 0 { it } else { 2 * N - it }),
    ] {
        let document = Document::new(&text);
        assert_eq!(n_errors(&document), 0);
        assert!(
            document.noise_solver().n_visits() < 2 * N,
            "{}",
            document.noise_solver().n_visits()
        );
        assert!(document.integers().n_visits() < 4 * N, "{}", document.integers().n_visits());
        let ir = document.ir();
        let noise = |it: &noisy_syntax::Block| *document.noise(ir.block(*it).args[0]);
        let body = ir.op(ir.functions()[0]).regions[0].1;
        assert!(ir.blocks(body)[1..].iter().all(|it| noise(it) == Noise::AtMost(12)));
    }
}

#[test]
fn edits_of_a_label_visit_no_ops_of_its_block() {
    const N: usize = 2000;
    let mut text =
        format!("func.func @f(%x: {TY}) -> {TY} {{\n  cf.br ^b(%x : {TY})\n^b(%v0: {TY}):\n");
    for n in 0..N {
        let _ = writeln!(text, "  %v{} = noisy.add %v0, %x : {TY}", n + 1);
    }
    text += &format!("  return %v{N} : {TY}\n}}\n");
    let mut document = Document::new(&text);
    let at = text.find("^b(%v0").expect("a label") + "^b".len();
    // A block without a branch to it is dead, and so are its ops.
    for (range, new, dies) in [(at..at, " ", false), (at..at + 1, "", false), (at..at, "c", true)] {
        document.edit(range, new);
        let fresh = Document::new(&document.source().text().to_string());
        assert_eq!(document.diagnostics(), fresh.diagnostics());
        let visits = document.noise_solver().n_visits().max(document.integers().n_visits());
        assert_eq!(visits > N / 2, dies, "{visits} visits after {new:?}");
    }
}

#[test]
fn many_blocks_terminate() {
    const N: usize = 100_000;
    let text = chain_of_blocks(N, |it| it);
    let mut document = Document::new(&text);
    assert_eq!(n_errors(&document), 0);
    assert!(document.noise_solver().n_visits() < 3 * N, "{}", document.noise_solver().n_visits());
    assert!(document.integers().n_visits() < 6 * N, "{}", document.integers().n_visits());
    // Inserts an op that changes no fact into the middle.
    let at = text.find("  cf.br ^b50001(").expect("the needle is in the text");
    document.edit(at..at, &format!("  %x = noisy.reduce_noise %v50000 : {TY}\n"));
    let visits = (document.integers().n_visits(), document.noise_solver().n_visits());
    assert!(visits.0 < 20 && visits.1 < 20, "{visits:?}");
    assert_eq!(n_errors(&document), 0);
}

/// Checks that the facts after an edit equal those from scratch.
fn check_edit(text: &str, from: &str, to: &str) {
    let at = text.find(from);
    let Some(at) = at else { panic!("{from} is not in the text") };
    let mut document = Document::new(text);
    for (len, new) in [(from.len(), to), (to.len(), from), (from.len(), to)] {
        document.edit(at..at + len, new);
        let anew = Document::new(&document.source().text().to_string());
        assert_eq!(crate::laws::facts(&document), crate::laws::facts(&anew), "{from} -> {to}");
        assert_eq!(document.diagnostics(), anew.diagnostics(), "{from} -> {to}");
    }
}

#[test]
fn edits_of_128_bit_conditions_reach_the_facts() {
    let grows = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %lo = arith.constant 0 : i128
  %hi = arith.constant 14 : i128
  %st = arith.constant 1 : i128
  %r = scf.for %i = %lo to %hi step %st iter_args(%x = %a) -> (!noisy.i32) : i128 {
    %y = noisy.add %x, %a : !noisy.i32
    scf.yield %y : !noisy.i32
  }
  return %r : !noisy.i32
}
";
    check_edit(grows, "14 : i128", "15 : i128");
    let goes = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %flag = arith.constant 3 : i128
  cf.switch %flag : i128, [default: ^no, 3: ^yes]
^yes:
  %m = noisy.mul %a, %a : !noisy.i32
  %n = noisy.mul %m, %m : !noisy.i32
  return %n : !noisy.i32
^no:
  return %a : !noisy.i32
}
";
    check_edit(goes, "3 : i128\n", "4 : i128\n");
}

#[test]
fn edits_of_a_definition_reach_its_uses() {
    let branch = "func.func @f(%a: !noisy.i32, %x: i8) -> !noisy.i32 {
  %c = arith.constant 0 : i8
  %0 = arith.xori %x, %c : i8
  %1 = arith.xori %x, %0 : i8
  %2 = arith.cmpi ne, %1, %c : i8
  %3 = scf.if %2 -> (!noisy.i32) {
    %4 = noisy.mul %a, %a : !noisy.i32
    %5 = noisy.mul %4, %4 : !noisy.i32
    scf.yield %5 : !noisy.i32
  } else {
    scf.yield %a : !noisy.i32
  }
  return %3 : !noisy.i32
}
";
    check_edit(branch, "arith.xori %x, %c", "arith.addi %x, %c");
    check_edit(branch, "constant 0", "constant 1");
    let size = "func.func @f(%a: !noisy.i32, %k: memref<?xi8>) -> index {
  %n = arith.constant 4 : index
  %z = arith.constant 0 : index
  %m = memref.alloc(%n) : memref<?xi8>
  %d = memref.dim %m, %z : memref<?xi8>
  return %d : index
}
";
    check_edit(size, "memref.alloc(%n)", "memref.alloca(%n)");
    check_edit(size, "memref.alloc(%n)", "\"other.op\"(%n)");
    check_edit(size, "constant 4", "constant 5");
    let global = "memref.global \"private\" constant @g : memref<3xi8> = dense<[1, 3, 7]>
memref.global \"private\" constant @h : memref<3xi8> = dense<[2, 3, 7]>
func.func @f() -> i8 {
  %m = memref.get_global @g : memref<3xi8>
  %l = affine.load %m[0] : memref<3xi8>
  return %l : i8
}
";
    check_edit(global, "get_global @g", "get_global @h");
    check_edit(global, "memref.get_global @g : memref", "\"other.get\"() : () -> memref");
    check_edit(global, "dense<[1,", "dense<[5,");
}

#[test]
fn ops_beside_functions_do_not_affect_them() {
    // The function is called before the definition of the values that it must not use.
    let text = format!(
        "%0 = func.call @f() : () -> {TY}
%1 = noisy.reduce_noise %0 : {TY}
func.func private @f() -> {TY} {{
  return %1 : {TY}
}}
"
    );
    let uses =
        ["  %2 = noisy.mul %1, %1 : !noisy.i32\n", "  \"other.op\"(%1) : (!noisy.i32) -> ()\n"];
    for new in uses {
        let Some(at) = text.find("  return") else { panic!("{text}") };
        let mut document = Document::new(&text);
        document.edit(at..at, new);
        let anew = Document::new(&document.source().text().to_string());
        assert_eq!(crate::laws::facts(&document), crate::laws::facts(&anew), "{new}");
        assert!(anew.diagnostics().iter().any(|it| it.severity == crate::Severity::Error));
    }
}

#[test]
fn edits_of_types_and_contracts_reach_the_facts() {
    let widths = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %0 = \"arith.constant\"() {value = -1 : i8} : () -> i8
  %1 = \"arith.extui\"(%0) : (i8) -> i32
  %2 = arith.constant 255 : i32
  %3 = arith.cmpi eq, %1, %2 : i32
  %4 = scf.if %3 -> (!noisy.i32) {
    %5 = noisy.mul %a, %a : !noisy.i32
    %6 = noisy.mul %5, %5 : !noisy.i32
    scf.yield %6 : !noisy.i32
  } else {
    scf.yield %a : !noisy.i32
  }
  return %4 : !noisy.i32
}
";
    check_edit(widths, "-1 : i8} : () -> i8", "-1 : i16} : () -> i16");
    let stated = "func.func private @g(!noisy.i32) -> (!noisy.i32 {noisy.bound = 14 : i64})
func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %0 = func.call @g(%a) : (!noisy.i32) -> !noisy.i32
  %1 = noisy.mul %0, %a : !noisy.i32
  return %1 : !noisy.i32
}
";
    check_edit(stated, "14 : i64", "15 : i64");
    check_edit(stated, "private @g", "private @h");
}
