//! Edits in recursions: the facts equal those from scratch, and the cost is proportional to the
//! recursion and the facts that depend on it.

use std::fmt::Write as _;

use crate::Document;
use crate::laws::Random;
use crate::laws::call_edit::{Costs, check, check_random_edits, visits};

const TY: &str = "!noisy.i32";

/// The change of noise from the argument of a function to the value that it passes to its recursive
/// call.
#[derive(Clone, Copy, Debug)]
enum Growth {
    /// No growth: the noise is reduced.
    None,
    /// Each call adds a bit.
    Adds,
}

/// Returns a function that calls `next`, and under a condition `around`, a function of its cycle.
fn function(name: &str, next: Option<&str>, around: Option<&str>, growth: Growth) -> String {
    let private = if name == "f0" { "" } else { "private " };
    let mut text = format!("func.func {private}@{name}(%a: {TY}, %k: i1) -> {TY} {{\n");
    let _ = match growth {
        Growth::None => writeln!(text, "  %p = noisy.reduce_noise %a : {TY}"),
        Growth::Adds => writeln!(text, "  %p = noisy.add %a, %a : {TY}"),
    };
    match around {
        Some(around) => {
            let _ = writeln!(
                text,
                "  %0 = scf.if %k -> ({TY}) {{\n    %c = func.call @{around}(%p, %k) : ({TY}, i1) -> {TY}\n    scf.yield %c : {TY}\n  }} else {{\n    scf.yield %p : {TY}\n  }}"
            );
        }
        None => text += &format!("  %0 = noisy.sub %p, %p : {TY}\n"),
    }
    match next {
        Some(next) => {
            text += "  %q = noisy.reduce_noise %a : !noisy.i32\n";
            let _ = writeln!(text, "  %1 = func.call @{next}(%q, %k) : ({TY}, i1) -> {TY}");
        }
        None => text += &format!("  %1 = noisy.sub %p, %p : {TY}\n"),
    }
    let _ = writeln!(text, "  %2 = noisy.reduce_noise %0 : {TY}\n  return %2 : {TY}\n}}");
    text
}

/// Returns a chain of calls in which each function is in a cycle of `n_around` functions.
fn chain(n: usize, n_around: usize, growth: Growth) -> String {
    let mut text = String::new();
    for at in 0..n {
        let next = (at + 1 < n).then(|| format!("f{}", at + 1));
        for of in 0..n_around {
            let name = |of: usize| if of == 0 { format!("f{at}") } else { format!("f{at}_{of}") };
            let next = next.as_deref().filter(|_| of == 0);
            text += &function(&name(of), next, Some(&name((of + 1) % n_around)), growth);
        }
    }
    text
}

/// Returns functions that call a function in a cycle of `n_around` functions.
fn star(n: usize, n_around: usize, growth: Growth) -> String {
    let mut text = String::new();
    for of in 0..n_around {
        let name = |of: usize| format!("hub{of}");
        text += &function(&name(of), None, Some(&name((of + 1) % n_around)), growth);
    }
    for at in 0..n {
        let _ = writeln!(
            text,
            "func.func @f{at}(%a: {TY}, %k: i1) -> {TY} {{\n  %p = noisy.reduce_noise %a : {TY}\n  %1 = func.call @hub0(%p, %k) : ({TY}, i1) -> {TY}\n  %2 = noisy.reduce_noise %1 : {TY}\n  return %2 : {TY}\n}}"
        );
    }
    text
}

/// Returns an edited line with another op, callee or visibility, or the line removed.
fn edit(random: &mut Random, line: &str) -> String {
    match random.below(8) {
        0 => String::new(),
        1 => line.replacen("noisy.reduce_noise %a", "noisy.add %a, %a", 1),
        2 => line.replacen("noisy.add %a, %a", "noisy.reduce_noise %a", 1),
        3 => line.replacen("noisy.sub %p, %p", "noisy.reduce_noise %p", 1),
        4 if line.contains("private ") => line.replacen("private ", "", 1),
        4 => line.replacen("func.func @", "func.func private @", 1),
        5 => line.replacen("(%p, %k)", "(%a, %k)", 1).replacen(
            "noisy.reduce_noise %0",
            "noisy.add %0, %0",
            1,
        ),
        _ => match line.find("@f") {
            Some(name) => format!("{}{}{}", &line[..name + 2], random.below(6), &line[name + 3..]),
            None => line.replacen("noisy.add %0, %0", "noisy.reduce_noise %0", 1),
        },
    }
}

#[test]
fn facts_after_edits_of_recursions_equal_those_from_scratch() {
    let mut costs = Costs::default();
    for seed in 1..=number("RECURSION_PROGRAMS", 300) {
        let mut random = Random::new(seed * 9241);
        let n = 3 + random.below(4);
        let mut text = String::new();
        for at in 0..n {
            let growth = if random.one_in(6) { Growth::Adds } else { Growth::None };
            // Mostly the function itself or a neighbour.
            let around = match random.below(4) {
                0 => at,
                1 => at.saturating_sub(1),
                2 => (at + 1) % n,
                _ => random.below(n),
            };
            let around = (!random.one_in(4)).then(|| format!("f{around}"));
            let next = (at + 1 < n).then(|| format!("f{}", at + 1 + random.below(n - at - 1)));
            let one = function(&format!("f{at}"), next.as_deref(), around.as_deref(), growth);
            text += &if random.one_in(4) { one.replacen("private ", "", 1) } else { one };
        }
        check_random_edits((seed, &mut random), &text, 2, edit, &mut costs);
    }
    let Costs { n_costly, n_less } = costs;
    eprintln!("{n_less} of {n_costly} edits cost less than half of reading anew");
    assert!(n_less * 5 > n_costly && n_costly > 500, "{n_less} of {n_costly}");
}

/// A recursive function without other callers is evaluated several times in one context: `%4`
/// exceeds the budget only after `@g` has returned.
#[test]
fn recursion_rounds_after_edits_equal_those_from_scratch() {
    let text = format!(
        "func.func @f(%x: {TY}) -> {TY} {{
  %1 = func.call @g(%x) : ({TY}) -> {TY}
  %2 = noisy.reduce_noise %1 : {TY}
  %3 = noisy.mul %x, %x : {TY}
  %4 = noisy.mul %3, %3 : {TY}
  return %x : {TY}
}}
func.func private @g(%x: {TY}) -> {TY} {{
  %no = arith.constant false
  %1 = scf.if %no -> ({TY}) {{
    %2 = func.call @f(%x) : ({TY}) -> {TY}
    scf.yield %2 : {TY}
  }} else {{
    scf.yield %x : {TY}
  }}
  return %1 : {TY}
}}
"
    );
    let mut document = Document::new(&text);
    let at = text.find("%x, %x").expect("the needle is in the text");
    document.edit(at + 4..at + 6, "%2");
    check(&document);
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

/// A replacement of `%2` that returns one bit more.
const MORE: &str = "%3 = noisy.reduce_noise %0 : !noisy.i32\n  %2 = noisy.add %3, %3 : !noisy.i32";
/// A replacement of `%2` that returns the same noise.
const SAME: &str = "%2 = noisy.reduce_noise %p : !noisy.i32";
/// An op that passes one bit more.
const PASSED: &str = "noisy.add %a, %a : !noisy.i32";

#[test]
fn an_edit_of_a_recursion_in_a_chain_costs_the_recursion() {
    for n_around in [1, 2, 10] {
        let cost = |n: usize| {
            let mut document = Document::new(&chain(n, n_around, Growth::None));
            let middle = format!("f{}", n / 2);
            let last = n_around - 1;
            let inner = if last > 0 { format!("{middle}_{last}") } else { middle.clone() };
            let out = [
                visits(&mut document, &middle, "%2 = ", MORE),
                visits(&mut document, &middle, "%q = ", &format!("%q = {PASSED}")),
                visits(&mut document, &inner, "%2 = ", SAME),
                visits(&mut document, &inner, "%2 = ", MORE),
            ];
            check(&document);
            out
        };
        let (few, many) = (cost(20), cost(10_000 / n_around));
        eprintln!("visits in a chain of 10,000 functions in cycles of {n_around}: {many:?}");
        assert_eq!(few, many);
        assert!(many.iter().all(|it| it.0.max(it.1) <= 100 + 60 * n_around), "{many:?}");
    }
}

#[test]
fn an_edit_of_a_recursion_in_a_star_costs_the_recursion_and_its_callers() {
    for n_around in [1, 2, 10] {
        let mut all = 0;
        let mut cost = |n: usize| {
            let mut document = Document::new(&star(n, n_around, Growth::None));
            let (middle, inner) = (format!("f{}", n / 2), format!("hub{}", n_around - 1));
            let out = [
                visits(&mut document, &middle, "%2 = ", &format!("%2 = noisy.add %1, %1 : {TY}")),
                visits(&mut document, &middle, "%p = ", &format!("%p = {PASSED}")),
                visits(&mut document, &inner, "%2 = ", SAME),
            ];
            all = visits(&mut document, "hub0", "%2 = ", MORE).0;
            check(&document);
            out
        };
        let (few, many) = (cost(20), cost(10_000));
        eprintln!(
            "visits in a star of 10,000 around a cycle of {n_around}: {many:?}, {all} if all callers are returned something else"
        );
        assert_eq!(few, many);
        assert!(many.iter().all(|it| it.0.max(it.1) <= 100 + 60 * n_around), "{many:?}");
        assert!(all <= 5 * 10_000 + 100 + 60 * n_around, "{all}");
    }
}
