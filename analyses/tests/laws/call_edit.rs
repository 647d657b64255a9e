//! Edits in programs with calls: the facts equal those from scratch, and the cost is proportional
//! to the facts that depend on the edit.

use std::fmt::Write as _;

use crate::Document;
use crate::laws::Random;

const TY: &str = "!noisy.i32";

/// Returns random functions that call later functions, and rarely others, with branches and
/// different noise of arguments.
fn program(random: &mut Random) -> String {
    let n = 3 + random.below(7);
    let mut text = String::new();
    for at in 0..n {
        let private = if at > 0 && !random.one_in(4) { "private " } else { "" };
        let bound = if random.one_in(8) { " {noisy.bound = 14 : i64}" } else { "" };
        let _ = writeln!(
            text,
            "func.func {private}@f{at}(%v0: {TY}{bound}, %v1: {TY}, %k: i1) -> {TY} {{"
        );
        let n_steps = 2 + random.below(5);
        for step in 2..2 + n_steps {
            let (x, y) = (random.below(step), random.below(step));
            let callee = match random.below(40) {
                0 => random.below(n),
                _ => at + 1 + random.below(n - at),
            };
            let call = format!("func.call @f{callee}(%v{x}, %v{y}, %k) : ({TY}, {TY}, i1) -> {TY}");
            let _ = match random.below(8) {
                0 => writeln!(text, "  %v{step} = noisy.mul %v{x}, %v{y} : {TY}"),
                1 | 2 => writeln!(text, "  %v{step} = noisy.add %v{x}, %v{y} : {TY}"),
                3 => writeln!(text, "  %v{step} = noisy.reduce_noise %v{x} : {TY}"),
                _ if callee >= n => writeln!(text, "  %v{step} = noisy.sub %v{x}, %v{y} : {TY}"),
                4 => writeln!(
                    text,
                    "  %v{step} = scf.if %k -> ({TY}) {{\n    %c{step} = {call}\n    scf.yield %c{step} : {TY}\n  }} else {{\n    scf.yield %v{y} : {TY}\n  }}"
                ),
                _ => writeln!(text, "  %v{step} = {call}"),
            };
        }
        let _ = writeln!(text, "  return %v{} : {TY}\n}}", random.below(2 + n_steps));
    }
    if random.one_in(4) {
        let _ = writeln!(
            text,
            "%o = \"t.op\"() : () -> {TY}\n%k = arith.constant true\n%l = func.call @f1(%o, %o, %k) : ({TY}, {TY}, i1) -> {TY}\n%m = noisy.add %l, %l : {TY}"
        );
    }
    text
}

/// Returns an edited line with another op, callee, operand or visibility, or the line removed or
/// duplicated.
fn edit(random: &mut Random, line: &str) -> String {
    match random.below(10) {
        0 => String::new(),
        1 => format!("{line}{line}"),
        2 => line.replacen("noisy.add", "noisy.mul", 1),
        3 => line.replacen("noisy.sub", "noisy.add", 1),
        4 if line.contains("private ") => line.replacen("private ", "", 1),
        4 => line.replacen("func.func @", "func.func private @", 1),
        5 if line.contains("{noisy.bound = 14") => {
            line.replacen(" {noisy.bound = 14 : i64}", "", 1)
        }
        5 => line.replacen("%v0: !noisy.i32,", "%v0: !noisy.i32 {noisy.bound = 14 : i64},", 1),
        6 => line.replacen("%v0", "%v1", 1),
        7 => line.replacen("%v2", "%v0", 1),
        _ => match line.find("@f") {
            Some(name) => {
                let digit = char::from(b'0' + random.below(9) as u8);
                format!("{}{digit}{}", &line[..name + 2], &line[name + 3..])
            }
            None => line.replacen("noisy.mul", "noisy.add", 1),
        },
    }
}

/// Returns the contexts of all functions as texts of their arguments and calls.
pub(crate) fn contexts(document: &Document) -> Vec<Vec<String>> {
    let ir = document.ir();
    let of = |it| {
        let contexts = document.contexts(it);
        let text = contexts.iter().map(|it| {
            let mut calls: Vec<usize> = it.calls().map(|it| ir.start(it)).collect();
            calls.sort_unstable();
            format!("{:?} {} {calls:?}", it.args, it.is_assumed)
        });
        let mut out: Vec<String> = text.collect();
        out.sort_unstable();
        out
    };
    ir.functions().into_iter().map(of).collect()
}

/// The number of edits with at least one visit, and of those with less than half of the visits from
/// scratch.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    pub(crate) n_costly: usize,
    pub(crate) n_less: usize,
}

/// Edits random lines of a program, and undoes one edit in `undone`. Checks after each edit that
/// facts, contexts and diagnostics equal those from scratch.
pub(crate) fn check_random_edits(
    (seed, random): (u64, &mut Random),
    text: &str,
    undone: usize,
    edit: fn(&mut Random, &str) -> String,
    costs: &mut Costs,
) {
    let mut document = Document::new(text);
    let mut undo: Option<(std::ops::Range<usize>, String)> = None;
    for _ in 0..12 {
        let text = document.source().text().to_string();
        let (range, new) = match undo.take() {
            Some(it) if random.one_in(undone) => it,
            _ => {
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                let at = random.below(lines.len());
                let start: usize = lines[..at].iter().map(|it| it.len()).sum();
                (start..start + lines[at].len(), edit(random, lines[at]))
            }
        };
        undo = Some((range.start..range.start + new.len(), text[range.clone()].to_owned()));
        document.edit(range.clone(), &new);
        let anew = Document::new(&document.source().text().to_string());
        let told = format!("seed {seed}: {range:?} -> {new:?}\n{text}");
        let (found, expected) = (crate::laws::facts(&document), crate::laws::facts(&anew));
        for (found, expected) in found.lines().zip(expected.lines()) {
            assert_eq!(found, expected, "{told}");
        }
        assert_eq!(found.len(), expected.len(), "{told}");
        assert_eq!(contexts(&document), contexts(&anew), "{told}");
        assert_eq!(document.diagnostics(), anew.diagnostics(), "{told}");
        let visits = (document.noise_solver().n_visits(), anew.noise_solver().n_visits());
        costs.n_costly += usize::from(visits.0 > 0);
        costs.n_less += usize::from(visits.0 > 0 && 2 * visits.0 < visits.1);
    }
}

#[test]
fn facts_after_edits_of_calls_equal_those_from_scratch() {
    let mut costs = Costs::default();
    for seed in 1..=700 {
        let mut random = Random::new(seed * 7177);
        let text = program(&mut random);
        check_random_edits((seed, &mut random), &text, 3, edit, &mut costs);
    }
    let Costs { n_costly, n_less } = costs;
    eprintln!("{n_less} of {n_costly} edits cost less than half of reading anew");
    assert!(n_less * 4 > n_costly && n_costly > 2_000, "{n_less} of {n_costly}");
}

/// Returns the number of visits of the noise solver for an edit of a line of a function, and for
/// the undone edit. `line` is the start of the line.
pub(crate) fn visits(
    document: &mut Document,
    function: &str,
    line: &str,
    new: &str,
) -> (usize, usize) {
    let of_noise = |it: &Document| it.noise_solver().n_visits();
    visits_by(&of_noise, document, function, line, new)
}

/// Like [`visits`], for any solver.
fn visits_by(
    n_visits: &dyn Fn(&Document) -> usize,
    document: &mut Document,
    function: &str,
    line: &str,
    new: &str,
) -> (usize, usize) {
    let text = document.source().text().to_string();
    let head = text.find(&format!("@{function}(")).expect("the function is there");
    let start = head + text[head..].find(line).expect("the line is there");
    let end = start + text[start..].find('\n').expect("the line ends");
    document.edit(start..end, new);
    let there = n_visits(document);
    document.edit(start..start + new.len(), &text[start..end]);
    (there, n_visits(document))
}

/// Returns a chain of calls that passes an integer to the last function and back. If `is_cut`, each
/// passed and returned value is a constant, else it depends on the argument or result.
fn integer_chain(n: usize, is_cut: bool) -> String {
    let mut text = String::new();
    for at in 0..n {
        let private = if at > 0 { "private " } else { "" };
        let of = |of: &str| format!("arith.{} {of}, %c : i32", if is_cut { "andi" } else { "ori" });
        let given = if at + 1 == n {
            "arith.ori %p, %c : i32".to_owned()
        } else {
            format!("func.call @f{}(%p) : (i32) -> i32", at + 1)
        };
        // The first function has an unknown argument and passes a constant.
        let passed = if at == 0 { "arith.constant 4 : i32".to_owned() } else { of("%a") };
        let _ = writeln!(
            text,
            "func.func {private}@f{at}(%a: i32) -> i32 {{\n  %c = arith.constant 0 : i32\n  %p = {passed}\n  %0 = {given}\n  %1 = {}\n  return %1 : i32\n}}",
            of("%0")
        );
    }
    text
}

/// Returns functions that call `@hub` with a constant and do not depend on its result.
fn integer_star(n: usize) -> String {
    let mut text = "func.func private @hub(%a: i32) -> i32 {\n  %c = arith.constant 2 : i32\n  %0 = arith.addi %a, %c : i32\n  %1 = arith.muli %0, %c : i32\n  return %1 : i32\n}\n".to_owned();
    for at in 0..n {
        let _ = writeln!(
            text,
            "func.func @f{at}(%a: i32) -> i32 {{\n  %c = arith.constant 0 : i32\n  %p = arith.ori %c, %c : i32\n  %0 = func.call @hub(%p) : (i32) -> i32\n  %1 = arith.muli %0, %c : i32\n  return %1 : i32\n}}"
        );
    }
    text
}

#[test]
fn edits_of_constants_cost_what_depends_on_them() {
    let of = |it: &Document| it.integers().n_visits();
    let chain = |n: usize| {
        let mut document = Document::new(&integer_chain(n, true));
        let (middle, leaf) = (format!("f{}", n / 2), format!("f{}", n - 1));
        let mut cost =
            |function: &str, line, new| visits_by(&of, &mut document, function, line, new);
        let out = [
            // Another constant is returned, but the result of the caller does not change.
            cost(&leaf, "%1 = ", "%1 = arith.constant 3 : i32"),
            cost(&middle, "%1 = ", "%1 = arith.constant 3 : i32"),
            // Another constant is passed: only the next function gets a new context.
            cost(&middle, "%p = ", "%p = arith.constant 1 : i32"),
            cost("f0", "%p = ", "%p = arith.constant 1 : i32"),
        ];
        check(&document);
        out
    };
    let star = |n: usize| {
        let mut document = Document::new(&integer_star(n));
        let middle = format!("f{}", n / 2);
        let mut cost =
            |function: &str, line, new| visits_by(&of, &mut document, function, line, new);
        let out = [
            cost("hub", "%0 = ", "%0 = arith.muli %a, %c : i32"),
            cost(&middle, "%p = ", "%p = arith.constant 1 : i32"),
            cost(&middle, "%1 = ", "%1 = arith.ori %c, %c : i32"),
        ];
        check(&document);
        out
    };
    let (few, many) = (chain(100), chain(10_000));
    eprintln!(
        "visits by constants and ranges for an edit in a chain of 10,000, and back: {many:?}"
    );
    assert_eq!(few, many);
    assert!(many.iter().all(|it| it.0.max(it.1) <= 60), "{many:?}");
    let (few, many) = (star(100), star(10_000));
    eprintln!("visits by constants and ranges for an edit in a star of 10,000, and back: {many:?}");
    assert_eq!(few[1..], many[1..]);
    assert!(many[1..].iter().all(|it| it.0.max(it.1) <= 60), "{many:?}");
    // All callers read the result of `@hub`, and each analysis visits them once.
    assert!(many[0].0.max(many[0].1) <= 2 * 6 * 10_000 + 60, "{many:?}");
    // All values of the chain depend on the edited one.
    let mut document = Document::new(&integer_chain(10_000, false));
    let all = [
        visits_by(&of, &mut document, "f9999", "%1 = ", "%1 = arith.constant 3 : i32"),
        visits_by(&of, &mut document, "f0", "%p = ", "%p = arith.constant 1 : i32"),
    ];
    eprintln!("visits where all of a chain of 10,000 depends on it, and back: {all:?}");
    assert!(all.iter().all(|it| it.0.max(it.1) <= 25 * 10_000), "{all:?}");
    check(&document);
}

/// Returns a chain of calls from the first function to the last. If `is_reduced`, passed and
/// returned values are reduced, so that facts depend only on the neighbouring functions.
fn chain(n: usize, is_reduced: bool) -> String {
    let mut text = String::new();
    for at in 0..n {
        let private = if at > 0 { "private " } else { "" };
        let of = |of: &str| {
            let op =
                if is_reduced { format!("reduce_noise {of}") } else { format!("sub {of}, {of}") };
            format!("noisy.{op} : {TY}")
        };
        let given = if at + 1 == n {
            format!("noisy.add %p, %a : {TY}")
        } else {
            format!("func.call @f{}(%p) : ({TY}) -> {TY}", at + 1)
        };
        let _ = writeln!(
            text,
            "func.func {private}@f{at}(%a: {TY}) -> {TY} {{\n  %p = {}\n  %0 = {given}\n  %1 = {}\n  return %1 : {TY}\n}}",
            of("%a"),
            of("%0")
        );
    }
    text
}

/// Returns functions that call `@hub` and reduce its result.
fn star(n: usize) -> String {
    let mut text = format!(
        "func.func private @hub(%a: {TY}) -> {TY} {{\n  %0 = noisy.add %a, %a : {TY}\n  %1 = noisy.reduce_noise %0 : {TY}\n  return %1 : {TY}\n}}\n"
    );
    for at in 0..n {
        let _ = writeln!(
            text,
            "func.func @f{at}(%a: {TY}) -> {TY} {{\n  %p = noisy.reduce_noise %a : {TY}\n  %0 = func.call @hub(%p) : ({TY}) -> {TY}\n  %1 = noisy.reduce_noise %0 : {TY}\n  return %1 : {TY}\n}}"
        );
    }
    text
}

/// Compares a document after edits with a new document with the same text.
pub(crate) fn check(document: &Document) {
    let anew = Document::new(&document.source().text().to_string());
    assert!(crate::laws::facts(document) == crate::laws::facts(&anew));
    assert_eq!(document.diagnostics(), anew.diagnostics());
}

#[test]
fn an_edit_in_a_chain_costs_what_depends_on_it() {
    let cost = |n: usize| {
        let mut document = Document::new(&chain(n, true));
        let at = |it: usize| format!("f{it}");
        let (middle, leaf) = (at(n / 2), at(n - 1));
        let out = [
            // The last function returns another noise, which its caller reduces.
            visits(&mut document, &leaf, "%1 = ", &format!("%1 = noisy.add %0, %0 : {TY}")),
            visits(&mut document, &middle, "%1 = ", &format!("%1 = noisy.add %0, %0 : {TY}")),
            // The argument changes: only the next function gets another context.
            visits(&mut document, &middle, "%p = ", &format!("%p = noisy.mul %a, %a : {TY}")),
            visits(&mut document, &middle, "%0 = ", &format!("%0 = noisy.mul %p, %p : {TY}")),
            visits(&mut document, "f0", "%p = ", &format!("%p = noisy.mul %a, %a : {TY}")),
        ];
        check(&document);
        out
    };
    let (few, many) = (cost(100), cost(10_000));
    eprintln!("ops visited for an edit in a chain of 10,000 functions, and back: {many:?}");
    // The call in the middle is removed, so that half of the chain is no longer called.
    let is_far = |at: usize| at == 3;
    for at in 0..few.len() {
        assert!(is_far(at) || few[at] == many[at], "{few:?} {many:?}");
        assert!(is_far(at) || many[at].0.max(many[at].1) <= 40, "{many:?}");
    }
    assert!(many[3].0.max(many[3].1) <= 2 * 5 * 5_000 + 40, "{many:?}");
}

#[test]
fn facts_along_a_chain_follow_an_edit() {
    const N: usize = 10_000;
    let mut document = Document::new(&chain(N, false));
    // Subtraction adds a bit, so that all passed and returned values differ until the noise has no
    // bound.
    let leaf = format!("f{}", N - 1);
    let there =
        visits(&mut document, &leaf, "%1 = ", &format!("%1 = noisy.reduce_noise %0 : {TY}"));
    check(&document);
    eprintln!(
        "ops visited where all callers in a chain of 10,000 depend on it, and back: {there:?}"
    );
    assert!(there.0 <= 5 * N && there.1 <= 5 * N, "{there:?}");
    let text = document.source().text().to_string();
    let start = text.find("%1 = ").expect("the needle is in the text");
    let len = text[start..].find('\n').expect("a line ends");
    document.edit(start..start + len, &format!("%1 = noisy.mul %a, %a : {TY}"));
    check(&document);
}

#[test]
fn an_edit_in_a_star_costs_what_depends_on_it() {
    let cost = |n: usize| {
        let mut document = Document::new(&star(n));
        let middle = format!("f{}", n / 2);
        let out = [
            visits(&mut document, "hub", "%0 = ", &format!("%0 = noisy.mul %a, %a : {TY}")),
            visits(&mut document, &middle, "%p = ", &format!("%p = noisy.mul %a, %a : {TY}")),
            visits(&mut document, &middle, "%0 = ", &format!("%0 = noisy.mul %p, %p : {TY}")),
        ];
        check(&document);
        out
    };
    let (few, many) = (cost(100), cost(10_000));
    eprintln!("ops visited for an edit in a star of 10,000 callers, and back: {many:?}");
    assert_eq!(few, many);
    assert!(many.iter().all(|it| it.0.max(it.1) <= 40), "{many:?}");
    // All callers read the result of `@hub`, and each is visited once.
    const N: usize = 10_000;
    let mut document = Document::new(&star(N));
    let all = visits(&mut document, "hub", "%1 = ", &format!("%1 = noisy.mul %0, %0 : {TY}"));
    eprintln!("ops visited where all 10,000 callers depend on it, and back: {all:?}");
    check(&document);
    let most = 5 * N + 20;
    assert!((4 * N..=most).contains(&all.0) && (4 * N..=most).contains(&all.1), "{all:?}");
}

#[test]
fn joined_vectors_of_a_callee_follow_the_order_of_calls_after_an_edit() {
    // Each vector of arguments that `@mid` passes is different. There are more vectors than
    // separate contexts, so the order of the calls decides which vectors are joined.
    let chain = |name: &str, calls: &str| {
        format!(
            "func.func private @{name}(%a: {TY}, %b: {TY}) -> {TY} {{\n{calls}  return %a : {TY}\n}}\n"
        )
    };
    let mut passed = String::new();
    for at in 0..10 {
        let of = if at == 0 { "%a".to_owned() } else { format!("%s{}", at - 1) };
        let _ = writeln!(
            passed,
            "  %s{at} = noisy.add {of}, %b : {TY}\n  %c{at} = func.call @leaf(%s{at}, %b) : ({TY}, {TY}) -> {TY}"
        );
    }
    let top = |name: &str, passed: &str| {
        format!(
            "func.func @{name}(%x: {TY}) -> {TY} {{\n  %m = noisy.add %x, %x : {TY}\n  %n = func.call @mid({passed}) : ({TY}, {TY}) -> {TY}\n  return %n : {TY}\n}}\n"
        )
    };
    let text = [
        top("first", "%x, %m"),
        top("second", "%m, %x"),
        top("third", "%x, %m"),
        chain("mid", &passed),
        chain("leaf", ""),
    ]
    .concat();
    let mut document = Document::new(&text);
    let call = "  %n = func.call @mid(%x, %m)";
    let start = text.find(call).expect("the call is there");
    let end = start + text[start..].find('\n').expect("the line ends");
    // Another function passes the same vectors, so they remain, but are now the last ones.
    document.edit(start..end, &format!("  %n = noisy.sub %x, %x : {TY}"));
    let anew = Document::new(&document.source().text().to_string());
    let joined = |it: &Document| contexts(it).iter().map(Vec::len).max();
    assert_eq!(joined(&anew), Some(noisy_dataflow::sparse::DEFAULT_MAX_CONTEXTS + 1));
    assert_eq!(contexts(&document), contexts(&anew));
    check(&document);
}
