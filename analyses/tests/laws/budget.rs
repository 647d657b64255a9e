//! Programs that take too many steps to analyze. With bounded work, their facts become unknown, all
//! code counts as live, and a hint reports the loop; no undecided fact is a number.

use std::fmt::Write as _;

use crate::{Document, Noise, Severity};

const TY: &str = "!noisy.i32";

/// Returns the codes and the source lines of all diagnostics, in textual order.
fn found(document: &Document) -> Vec<(&'static str, String)> {
    let text = document.source().text().to_string();
    let line = |at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
        text[start..].lines().next().unwrap_or_default().chars().take(40).collect()
    };
    document.diagnostics().iter().map(|it| (it.code, line(it.range.start))).collect()
}

/// Returns nested loops with `rounds` iterations each. In the innermost loop a value overflows that
/// does not depend on the iteration arguments.
fn nest(depth: usize, rounds: usize) -> String {
    let mut text = format!(
        "func.func @f(%x: {TY}, %y: i5) -> {TY} {{
%lo = arith.constant 0 : index
%hi = arith.constant {rounds} : index
%st = arith.constant 1 : index
"
    );
    for at in 0..depth {
        let init = if at == 0 { "%x".to_owned() } else { format!("%a{}", at - 1) };
        let _ = writeln!(
            text,
            "%r{at} = scf.for %i{at} = %lo to %hi step %st iter_args(%a{at} = {init}) -> ({TY}) {{"
        );
    }
    let last = depth - 1;
    let _ = write!(
        text,
        "%e = noisy.encode %y : i5 -> {TY}
%p = noisy.mul %e, %e : {TY}
%q = noisy.mul %p, %p : {TY}
%d = noisy.decode %q : {TY} -> i5
\"t.use\"(%d) : (i5) -> ()
%z = noisy.add %a{last}, %x : {TY}
"
    );
    for at in (0..depth).rev() {
        let value = if at == last { "%z".to_owned() } else { format!("%r{}", at + 1) };
        let _ = writeln!(text, "scf.yield {value} : {TY}\n}}");
    }
    text + &format!("return %r0 : {TY}\n}}\n")
}

/// Checks that all ops are live, and that the noise of all values is unknown except that of the
/// values in `is_decided`.
fn check_live(document: &Document, is_decided: &[&str]) {
    let ir = document.ir();
    let mut n_unknown = 0;
    ir.walk(ir.root(), &mut |op| {
        assert!(document.noise_solver().is_live(ir, op), "{}", ir.op_name(op));
        for &value in &ir.op(op).results {
            let name = ir.value_text(value);
            if document.is_noisy(value) {
                let noise = document.noise(value);
                assert_eq!(*noise == Noise::Unknown, !is_decided.contains(&&*name), "{name}");
                n_unknown += usize::from(*noise == Noise::Unknown);
            }
        }
    });
    assert!(n_unknown > 0);
}

#[test]
fn nested_loops_are_undecided_at_the_outermost() {
    for (depth, rounds) in [(16, 2), (18, 2), (11, 3)] {
        let text = nest(depth, rounds);
        let mut document = Document::new(&text);
        let head = "%r0 = scf.for %i0 = %lo to %hi step %st ".to_owned();
        let overflow = ("noise-overflow", format!("%q = noisy.mul %p, %p : {TY}"));
        let expected = [("undecided", head), overflow];
        let reported: Vec<_> =
            found(&document).into_iter().filter(|it| it.0 != "decode-over-budget").collect();
        assert_eq!(reported, expected, "{depth} loops of {rounds} rounds");
        let hint = document.diagnostics().into_iter().find(|it| it.code == "undecided");
        assert!(hint.is_some_and(|it| it.severity == Severity::Hint && it.help.is_some()));
        check_live(&document, &["%e", "%p", "%q"]);
        assert!(
            document.noise_solver().n_visits() < 300_000,
            "{}",
            document.noise_solver().n_visits()
        );
        // Fewer iterations are decided. Then the edit is undone.
        let Some(at) = text.find(&format!("constant {rounds}")) else { panic!("{text}") };
        let at = at + "constant ".len();
        for (new, is_undecided) in [("1", false), (&*rounds.to_string(), true)] {
            document.edit(at..at + 1, new);
            let anew = Document::new(&document.source().text().to_string());
            assert_eq!(document.diagnostics(), anew.diagnostics());
            assert_eq!(crate::laws::facts(&document), crate::laws::facts(&anew));
            assert_eq!(found(&document).iter().any(|it| it.0 == "undecided"), is_undecided);
        }
    }
}

#[test]
fn a_callee_is_undecided_in_all_contexts() {
    // Two calls with different noise are two contexts of the private function.
    let callee = nest(11, 3).replace("func.func @f", "func.func private @f");
    let call = |of: &str| format!("call @f({of}, %y) : ({TY}, i5) -> {TY}");
    let main = format!(
        "func.func @main(%x: {TY}, %y: i5) -> {TY} {{
%0 = noisy.mul %x, %x : {TY}
%1 = {}
%2 = {}
%3 = noisy.add %1, %2 : {TY}
return %3 : {TY}
}}
",
        call("%x"),
        call("%0")
    );
    let mut document = Document::new(&format!("{main}{callee}"));
    let count = |document: &Document| {
        found(document)
            .into_iter()
            .filter(|it| it.0 == "undecided")
            .map(|it| it.1)
            .collect::<Vec<_>>()
    };
    assert_eq!(count(&document).len(), 1);
    assert!(count(&document)[0].starts_with("%r0 = "));
    // The calls are removed one by one; a function without calls has no hint.
    for (from, n) in [("%1 = ", 1), ("%2 = ", 0)] {
        let text = document.source().text().to_string();
        let Some(at) = text.find(from) else { panic!("{text}") };
        let len = text[at..].find('\n').expect("the needle is in the text");
        document.edit(at..at + len, &format!("{from}noisy.reduce_noise %x : {TY}"));
        let anew = Document::new(&document.source().text().to_string());
        assert_eq!(document.diagnostics(), anew.diagnostics());
        assert_eq!(count(&document).len(), n, "{:?}", count(&document));
    }
}

#[test]
fn permuted_values_cost_bounded_work() {
    for n in [60, 5_000] {
        let mut text = format!(
            "func.func @f(%x: {TY}) -> {TY} {{
%lo = arith.constant 0 : index
%hi = arith.constant 1000000007 : index
%st = arith.constant 1 : index
%v0 = noisy.add %x, %x : {TY}
"
        );
        for at in 1..9 {
            let _ = writeln!(text, "%v{at} = noisy.add %v{0}, %v{0} : {TY}", at - 1);
        }
        // Cycles of 2, 3, 5, 7, ... values.
        let (mut order, mut prime) = (Vec::new(), 2);
        while order.len() + prime <= n {
            let start = order.len();
            order.extend((0..prime).map(|it| start + (it + 1) % prime));
            prime = (prime + 1..2 * prime)
                .find(|it| (2..*it).all(|by| it % by > 0))
                .unwrap_or(prime + 1);
        }
        let list =
            |of: &dyn Fn(usize) -> String| (0..order.len()).map(of).collect::<Vec<_>>().join(", ");
        let types = list(&|_| TY.to_owned());
        let _ = write!(
            text,
            "%r:{} = scf.for %i = %lo to %hi step %st iter_args({}) -> ({types}) {{
scf.yield {} : {types}
}}
return %r#0 : {TY}
}}
",
            order.len(),
            list(&|it| format!("%a{it} = %v{}", it * 7 % 9)),
            list(&|it| format!("%a{}", order[it])),
        );
        let document = Document::new(&text);
        let codes: Vec<_> = document.diagnostics().into_iter().map(|it| it.code).collect();
        assert_eq!(codes, ["undecided"], "{n} values");
        let work = document.noise_solver().n_visits() * order.len();
        assert!(work < 4_000_000 + 100 * order.len(), "{work} values passed on, {n} carried");
    }
}

#[test]
fn cycles_of_blocks_cost_bounded_work() {
    const N: usize = 900;
    let list = |of: &dyn Fn(usize) -> String| (0..N).map(of).collect::<Vec<_>>().join(", ");
    let types = list(&|_| TY.to_owned());
    let inits = list(&|_| "%x".to_owned());
    let args = list(&|it| format!("%a{it}: {TY}"));
    // Each pass moves the larger noise to the next argument.
    let next = list(&|it| if it + 1 == N { "%z".to_owned() } else { format!("%a{}", it + 1) });
    let mut body = String::new();
    for at in 0..N / 2 {
        let _ = writeln!(body, "%u{at} = noisy.sub %x, %x : {TY}");
    }
    let document = Document::new(&format!(
        "func.func @f(%x: {TY}, %c: i1) -> {TY} {{
cf.br ^head({inits} : {types})
^head({args}):
%z = noisy.mul %x, %x : {TY}
{body}cf.cond_br %c, ^head({next} : {types}), ^end
^end:
return %a0 : {TY}
}}
",
    ));
    let mut reported = found(&document);
    reported.retain(|it| it.0 != "unused-op");
    let head: String = format!("^head({args}").chars().take(40).collect();
    assert_eq!(reported, [("undecided", head)]);
    assert!(document.noise_solver().n_visits() < 400_000, "{}", document.noise_solver().n_visits());
}

/// Returns functions that call the next one; the first function also calls itself if
/// `is_recursive`.
fn calls(n: usize, is_recursive: bool) -> String {
    let mut text = String::new();
    for at in 0..n {
        let private = if at == 0 { "" } else { "private " };
        let call = |of: usize| format!("call @f{of}(%a) : ({TY}) -> {TY}");
        let given = if at + 1 < n { call(at + 1) } else { format!("noisy.add %a, %a : {TY}") };
        let again =
            if at == 0 && is_recursive { format!("%1 = {}\n", call(0)) } else { String::new() };
        let _ = writeln!(
            text,
            "func.func {private}@f{at}(%a: {TY}) -> {TY} {{\n%0 = {given}\n{again}return %0 : {TY}\n}}"
        );
    }
    text
}

/// Returns the noise of the value that the first function returns.
fn given(document: &Document) -> Option<Noise> {
    let ir = document.ir();
    let first = ir.functions()[0];
    let end = ir.last_op(noisy_dataflow::flow::entry_block(ir, ir.op(first).regions[0].1));
    let given = end.and_then(|it| ir.op(it).operands[0].value);
    given.map(|it| *document.noise(it))
}

#[test]
fn calls_that_nest_too_deep_are_undecided() {
    // Each call is nested in 150 regions, which also count.
    const N: usize = 2_700;
    for is_recursive in [false, true] {
        let mut text = String::new();
        for at in 0..N {
            let private = if at == 0 { "" } else { "private " };
            let call = |of: usize| format!("func.call @f{of}(%a, %c) : ({TY}, i1) -> {TY}\n");
            let again = if is_recursive { format!("%1 = {}", call(0)) } else { String::new() };
            let next = call(at + 1);
            let (open, close) = ("scf.if %c {\n".repeat(150), "}\n".repeat(150));
            let inner =
                if at + 1 < N { format!("{open}%0 = {next}{close}") } else { String::new() };
            let again = if at == 0 { again } else { String::new() };
            let _ = writeln!(
                text,
                "func.func {private}@f{at}(%a: {TY}, %c: i1) -> {TY} {{\n{inner}{again}return %a : {TY}\n}}"
            );
        }
        let document = Document::new(&text);
        let mut reported = found(&document);
        reported.retain(|it| it.0 != "unused-op");
        assert_eq!(reported.len(), 1, "{reported:?}");
        assert_eq!(reported[0].0, "undecided");
        let ir = document.ir();
        let calls =
            ir.functions().into_iter().flat_map(|it| noisy_dataflow::flow::calls_of(ir, it).0);
        let unknown = calls.filter(|&it| *document.noise(ir.op(it).results[0]) == Noise::Unknown);
        assert_eq!(unknown.count(), 1);
    }
}

#[test]
fn deeply_nested_calls_are_decided() {
    const N: usize = 40_000;
    let document = Document::new(&calls(N, false));
    assert_eq!(found(&document), []);
    assert_eq!(given(&document), Some(Noise::AtMost(13)));
    let n_visits = document.noise_solver().n_visits();
    assert!(n_visits <= 3 * N + 1, "{n_visits}");
}

#[test]
fn growing_recursions_have_few_contexts() {
    const N: usize = 40;
    let mut text = String::new();
    for at in 0..N {
        let _ = writeln!(
            text,
            "func.func private @f{at}(%a: {TY}, %c: i1) -> {TY} {{
  %0 = noisy.add %a, %a : {TY}
  %1 = scf.if %c -> ({TY}) {{
    %2 = func.call @f{}(%0, %c) : ({TY}, i1) -> {TY}
    scf.yield %2 : {TY}
  }} else {{
    scf.yield %0 : {TY}
  }}
  return %1 : {TY}
}}",
            (at + 1) % N
        );
    }
    let _ = writeln!(
        text,
        "func.func @main(%a: {TY}, %c: i1) -> {TY} {{\n  %0 = func.call @f0(%a, %c) : ({TY}, i1) -> {TY}\n  return %0 : {TY}\n}}"
    );
    let document = Document::new(&text);
    let n_contexts = |it| document.contexts(it).len();
    let most = document.ir().functions().into_iter().map(n_contexts).max();
    assert!(most.is_some_and(|it| it > 1 && it <= 4), "{most:?}");
}

#[test]
fn arguments_at_the_budget_in_a_loop_are_bounded() {
    let document = Document::new(
        "func.func private @g(%a: !noisy.i32) -> !noisy.i32 {
  return %a : !noisy.i32
}
func.func @f(%x: i5, %n: index) -> !noisy.i32 {
  %lo = arith.constant 0 : index
  %st = arith.constant 1 : index
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.add %0, %0 : !noisy.i32
  %r = scf.for %i = %lo to %n step %st iter_args(%b = %0) -> (!noisy.i32) {
    %2 = noisy.mul %1, %1 : !noisy.i32
    %3 = func.call @g(%2) : (!noisy.i32) -> !noisy.i32
    scf.yield %3 : !noisy.i32
  }
  return %r : !noisy.i32
}
",
    );
    let budget = document.model().budget;
    assert_eq!(given(&document), Some(Noise::AtMost(budget)));
    assert_eq!(found(&document), []);
}

#[test]
fn arguments_over_the_budget_share_one_context() {
    const N: usize = 1_000;
    let mut text = format!(
        "func.func private @g(%a: {TY}) -> {TY} {{\n  return %a : {TY}\n}}\nfunc.func @f(%0: {TY}) -> {TY} {{\n"
    );
    for at in 0..N {
        let _ = writeln!(
            text,
            "  %r{at} = func.call @g(%{at}) : ({TY}) -> {TY}\n  %{} = noisy.add %{at}, %{at} : {TY}",
            at + 1
        );
    }
    let _ = writeln!(text, "  return %r0 : {TY}\n}}");
    let document = Document::new(&text);
    let ir = document.ir();
    let g = ir.functions()[0];
    assert_eq!(document.contexts(g).len(), noisy_dataflow::sparse::DEFAULT_MAX_CONTEXTS + 1);
    let taken = ir.block(noisy_dataflow::flow::entry_block(ir, ir.op(g).regions[0].1)).args[0];
    assert_eq!(*document.noise(taken), Noise::AtMost(crate::Bits::MAX));
    let n_visits = document.noise_solver().n_visits();
    assert!(n_visits < 2 * N + 50, "{n_visits}");
}
