//! Edits of functions whose facts depend on the order of calls, because vectors of arguments are
//! joined or growth is widened. The facts equal those from scratch, and the cost is proportional to
//! the contexts with other arguments or results.

use std::fmt::Write as _;

use crate::Document;
use crate::laws::Random;
use crate::laws::call_edit::{Costs, check, check_random_edits, visits};
use crate::laws::order::random_functions;

const TY: &str = "!noisy.i32";

/// Returns an edited line with another op, operand, callee, constant or visibility, or the line
/// removed.
fn edit(random: &mut Random, line: &str) -> String {
    match random.below(11) {
        0 if !line.contains("scf.") && !line.contains('}') => String::new(),
        1 => line.replacen("noisy.add", "noisy.mul", 1),
        2 => line.replacen("noisy.mul", "noisy.sub", 1),
        3 => line.replacen("noisy.sub", "noisy.add", 1),
        4 if line.contains("private ") => line.replacen("private ", "", 1),
        4 => line.replacen("func.func @", "func.func private @", 1),
        5 => line.replacen("(%v2,", "(%v0,", 1).replacen("%v3", "%v1", 1),
        6 => line.replacen("%i2,", "%i1,", 1),
        7 => line.replacen("arith.addi", "arith.xori", 1),
        8 => line.replacen("constant 1", "constant 3", 1).replacen("constant 2", "constant 5", 1),
        _ => match line.find("call @f") {
            Some(name) => {
                format!("{}{}{}", &line[..name + 7], random.below(6), &line[name + 8..])
            }
            None => line.replacen("noisy.reduce_noise %v", "noisy.reduce_noise %v1", 1),
        },
    }
}

#[test]
fn facts_that_depend_on_the_order_of_calls_equal_those_from_scratch() {
    let mut costs = Costs::default();
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
    };
    // `ORDERED_PROGRAMS` sets the number of programs, and `ORDERED_SEED` the first seed.
    let first = number("ORDERED_SEED", 1);
    for seed in first..first + number("ORDERED_PROGRAMS", 200) {
        let mut random = Random::new(seed * 6151);
        let text = random_functions(&mut random).concat();
        check_random_edits((seed, &mut random), &text, 3, edit, &mut costs);
    }
    let Costs { n_costly, n_less } = costs;
    eprintln!("{n_less} of {n_costly} edits cost less than half of reading anew");
    assert!(n_less * 4 > n_costly && n_costly > 300, "{n_less} of {n_costly}");
}

/// Returns functions that each call the next one twice. More and more vectors are passed, until
/// they are joined; results are reduced.
fn chain(n: usize) -> String {
    let mut text = String::new();
    for at in 0..n {
        let private = if at > 0 { "private " } else { "" };
        let _ = writeln!(
            text,
            "func.func {private}@f{at}(%a: {TY}, %b: {TY}) -> {TY} {{\n  %s = noisy.add %a, %b : {TY}\n  %t = noisy.reduce_noise %a : {TY}"
        );
        if at + 1 < n {
            for (of, (x, y)) in [("%s", "%b"), ("%t", "%s")].into_iter().enumerate() {
                let _ = writeln!(
                    text,
                    "  %c{of} = func.call @f{}({x}, {y}) : ({TY}, {TY}) -> {TY}",
                    at + 1
                );
            }
        }
        let _ = writeln!(
            text,
            "  %1 = noisy.sub %s, %a : {TY}\n  %2 = noisy.reduce_noise %1 : {TY}\n  return %2 : {TY}\n}}"
        );
    }
    text
}

/// Returns functions that call `@hub`, each with another sum.
fn star(n: usize) -> String {
    let mut text = format!(
        "func.func private @hub(%a: {TY}, %b: {TY}) -> {TY} {{\n  %0 = noisy.add %a, %b : {TY}\n  %1 = noisy.reduce_noise %0 : {TY}\n  return %1 : {TY}\n}}\n"
    );
    for at in 0..n {
        let _ = writeln!(
            text,
            "func.func @f{at}(%a: {TY}) -> {TY} {{\n  %0 = noisy.reduce_noise %a : {TY}"
        );
        for of in 0..at % 20 {
            let _ = writeln!(text, "  %{} = noisy.add %{of}, %0 : {TY}", of + 1);
        }
        let _ = writeln!(
            text,
            "  %p = noisy.add %{}, %0 : {TY}\n  %q = func.call @hub(%p, %0) : ({TY}, {TY}) -> {TY}\n  %r = noisy.reduce_noise %q : {TY}\n  return %r : {TY}\n}}",
            at % 20
        );
    }
    text
}

#[test]
fn an_edit_in_a_chain_of_joined_vectors_costs_what_depends_on_it() {
    let cost = |n: usize| {
        let mut document = Document::new(&chain(n));
        let (middle, leaf) = (format!("f{}", n / 2), format!("f{}", n - 1));
        let out = [
            visits(&mut document, &leaf, "%1 = ", &format!("%1 = noisy.add %s, %a : {TY}")),
            visits(&mut document, &leaf, "%2 = ", &format!("%2 = noisy.add %t, %t : {TY}")),
            visits(&mut document, &middle, "%1 = ", &format!("%1 = noisy.add %s, %b : {TY}")),
            visits(&mut document, &middle, "%2 = ", &format!("%2 = noisy.add %t, %t : {TY}")),
        ];
        let last = document.ir().functions().pop().map(|it| document.contexts(it).len());
        assert_eq!(last, Some(noisy_dataflow::sparse::DEFAULT_MAX_CONTEXTS + 1));
        check(&document);
        out
    };
    let (few, many) = (cost(200), cost(10_000));
    eprintln!("visits in a chain of 10,000 functions with joined vectors: {many:?}");
    assert_eq!(few, many);
    assert!(many.iter().all(|it| it.0.max(it.1) <= 2_000), "{many:?}");
}

#[test]
fn an_edit_in_a_star_of_joined_vectors_costs_what_depends_on_it() {
    let cost = |n: usize| {
        let mut document = Document::new(&star(n));
        let middle = format!("f{}", n / 2);
        let out = [
            visits(&mut document, &middle, "%r = ", &format!("%r = noisy.add %q, %q : {TY}")),
            visits(&mut document, &middle, "%p = ", &format!("%p = noisy.mul %0, %0 : {TY}")),
            visits(&mut document, "hub", "%0 = ", &format!("%0 = noisy.mul %a, %b : {TY}")),
        ];
        check(&document);
        out
    };
    // The numbers differ slightly, because names determine the order of vectors.
    let (few, many) = (cost(200), cost(10_000));
    eprintln!("visits in a star of 10,000 functions with joined vectors: {many:?}");
    assert!(few.iter().chain(&many).all(|it| it.0.max(it.1) <= 100), "{few:?} {many:?}");
}

/// Returns a chain of recursive functions; each call of itself passes more noise, until it has no
/// bound.
fn growing_chain(n: usize) -> String {
    let mut text = String::new();
    for at in 0..n {
        let private = if at > 0 { "private " } else { "" };
        let next = if at + 1 < n {
            format!("func.call @f{}(%q, %k) : ({TY}, i1) -> {TY}", at + 1)
        } else {
            format!("noisy.sub %q, %q : {TY}")
        };
        let _ = writeln!(
            text,
            "func.func {private}@f{at}(%a: {TY}, %k: i1) -> {TY} {{\n  %p = noisy.add %a, %a : {TY}\n  %q = noisy.reduce_noise %a : {TY}\n  %1 = {next}\n  %0 = scf.if %k -> ({TY}) {{\n    %c = func.call @f{at}(%p, %k) : ({TY}, i1) -> {TY}\n    scf.yield %c : {TY}\n  }} else {{\n    scf.yield %p : {TY}\n  }}\n  %2 = noisy.reduce_noise %0 : {TY}\n  return %2 : {TY}\n}}"
        );
    }
    text
}

#[test]
fn an_edit_in_a_chain_of_growing_recursions_costs_what_depends_on_it() {
    let cost = |n: usize| {
        let mut document = Document::new(&growing_chain(n));
        let middle = format!("f{}", n / 2);
        let more = "%3 = noisy.reduce_noise %0 : !noisy.i32\n  %2 = noisy.add %3, %3 : !noisy.i32";
        let out = [
            visits(&mut document, &middle, "%2 = ", more),
            visits(&mut document, &middle, "%q = ", &format!("%q = noisy.add %a, %a : {TY}")),
            visits(&mut document, &middle, "%p = ", &format!("%p = noisy.reduce_noise %a : {TY}")),
        ];
        check(&document);
        out
    };
    let (few, many) = (cost(20), cost(10_000));
    eprintln!("visits in a chain of 10,000 recursions that grow: {many:?}");
    assert_eq!(few, many);
    assert!(many.iter().all(|it| it.0.max(it.1) <= 3_000), "{many:?}");
}

/// A recursion in which `@f` passes ten vectors to `@h`, and ten other ones whenever the result of
/// `@q` rises. If the recursion is entered at `@k`, the result of `@q` has stopped rising before
/// `@f` calls `@h`. If it is entered at `@q`, it has not, and there are more vectors than separate
/// contexts.
const ENTERED_TWICE: &str = "func.func @a(%a: !noisy.i32, %k: i1) {
  func.call @k(%a, %k) : (!noisy.i32, i1) -> ()
  return
}
func.func @m(%a: !noisy.i32, %k: i1) {
  %0 = func.call @q(%a, %k) : (!noisy.i32, i1) -> !noisy.i32
  return
}
func.func private @k(%a: !noisy.i32, %k: i1) {
  %z = noisy.reduce_noise %a : !noisy.i32
  scf.if %k {
    %0 = func.call @f(%z, %k) : (!noisy.i32, i1) -> !noisy.i32
    %1 = func.call @g(%z, %k) : (!noisy.i32, i1) -> !noisy.i32
    %2 = func.call @q(%z, %k) : (!noisy.i32, i1) -> !noisy.i32
    %3 = func.call @p(%z, %k) : (!noisy.i32, i1) -> !noisy.i32
  }
  return
}
func.func private @p(%a: !noisy.i32, %k: i1) -> !noisy.i32 {
  %z = noisy.reduce_noise %a : !noisy.i32
  scf.if %k {
    func.call @k(%z, %k) : (!noisy.i32, i1) -> ()
  }
  %0 = noisy.add %z, %z : !noisy.i32
  %1 = noisy.add %0, %0 : !noisy.i32
  return %1 : !noisy.i32
}
func.func private @q(%a: !noisy.i32, %k: i1) -> !noisy.i32 {
  %z = noisy.reduce_noise %a : !noisy.i32
  %r = scf.if %k -> (!noisy.i32) {
    %0 = func.call @f(%z, %k) : (!noisy.i32, i1) -> !noisy.i32
    %1 = func.call @p(%z, %k) : (!noisy.i32, i1) -> !noisy.i32
    scf.yield %1 : !noisy.i32
  } else {
    %2 = noisy.add %z, %z : !noisy.i32
    scf.yield %2 : !noisy.i32
  }
  return %r : !noisy.i32
}
func.func private @g(%a: !noisy.i32, %k: i1) -> !noisy.i32 {
  %z = noisy.reduce_noise %a : !noisy.i32
  %r = scf.if %k -> (!noisy.i32) {
    %0 = func.call @q(%z, %k) : (!noisy.i32, i1) -> !noisy.i32
    scf.yield %0 : !noisy.i32
  } else {
    scf.yield %z : !noisy.i32
  }
  return %r : !noisy.i32
}
func.func private @h(%a: !noisy.i32, %b: !noisy.i32, %k: i1) -> !noisy.i32 {
  %z = noisy.reduce_noise %a : !noisy.i32
  scf.if %k {
    func.call @k(%z, %k) : (!noisy.i32, i1) -> ()
  }
  %0 = noisy.add %a, %b : !noisy.i32
  return %0 : !noisy.i32
}
func.func private @f(%a: !noisy.i32, %k: i1) -> !noisy.i32 {
  %0 = noisy.reduce_noise %a : !noisy.i32
  %r = func.call @g(%0, %k) : (!noisy.i32, i1) -> !noisy.i32
";

#[test]
fn contexts_of_a_recursion_depend_on_the_order_of_returns() {
    let mut text = ENTERED_TWICE.to_owned();
    for at in 0..10 {
        let _ = writeln!(
            text,
            "  %h{at} = func.call @h(%r, %{at}, %k) : ({TY}, {TY}, i1) -> {TY}\n  %{} = noisy.add %{at}, %0 : {TY}",
            at + 1
        );
    }
    text += "  return %0 : !noisy.i32\n}\n";
    let n_vectors = |document: &Document| {
        let ir = document.ir();
        let mut functions = ir.functions().into_iter();
        let h = functions.find(|&it| document.function_name(it) == "h");
        h.map(|it| document.contexts(it).len())
    };
    let mut document = Document::new(&text);
    assert_eq!(n_vectors(&document), Some(10));
    let at = text.find("@a(").expect("it is there") + 1;
    document.edit(at..at + 1, "z");
    check(&document);
    assert_eq!(n_vectors(&document), Some(noisy_dataflow::sparse::DEFAULT_MAX_CONTEXTS + 1));
}
