//! Recursion of every shape, compared with runs: no run may have more noise than the facts allow.
//!
//! Programs are random functions that call each other in any way. A run interprets the functions
//! with random conditions, by code that shares nothing with the solver, and records the largest
//! noise of each value.

use std::fmt::{self, Write as _};

use noisy_syntax::{Op, OpKind, Source, Value};
use proptest::prelude::*;

use crate::laws::Random;
use crate::{Bits, Noise, Program};
use noisy_dataflow::lattice::{Changed, Lattice};
use noisy_dataflow::sparse::{
    AnalysisContext, AnalysisInput, CallPolicy, Domain, SparseForward, SparseSolver,
};
use noisy_dataflow::view::ProgramView;

/// An op on values, which are given by their index in the function.
#[derive(Clone, Debug)]
enum Step {
    Add(usize, usize),
    Mul(usize, usize),
    Reduce(usize),
    /// A call of a function if a condition holds, else the argument itself.
    MayCall(usize, usize),
    /// An unconditional call of a later function.
    Call(usize, usize),
}

/// A function: its steps, and the index of the returned value. Value 0 is its argument.
type Function = (Vec<Step>, usize);

fn function(n: usize) -> impl Strategy<Value = Function> {
    let step = (0..10_usize, any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..n);
    let steps = prop::collection::vec(step, 1..7);
    (steps, any::<prop::sample::Index>()).prop_map(|(steps, returned)| {
        let steps: Vec<Step> = steps
            .into_iter()
            .enumerate()
            .map(|(at, (kind, a, b, callee))| {
                let (a, b) = (a.index(at + 1), b.index(at + 1));
                match kind {
                    0..3 => Step::Add(a, b),
                    3 => Step::Mul(a, b),
                    4 | 5 => Step::Reduce(a),
                    6 | 7 => Step::MayCall(callee, a),
                    _ => Step::Call(callee, a),
                }
            })
            .collect();
        let returned = returned.index(steps.len() + 1);
        (steps, returned)
    })
}

/// Unconditional calls lead only to later functions, so that some runs end.
fn program() -> impl Strategy<Value = Vec<Function>> {
    (2..5_usize).prop_flat_map(|n| prop::collection::vec(function(n), n)).prop_map(
        |mut functions| {
            let n = functions.len();
            for (number, (steps, _)) in functions.iter_mut().enumerate() {
                for step in steps {
                    if let Step::Call(callee, a) = *step
                        && callee <= number
                    {
                        *step = if number + 1 < n { Step::Call(n - 1, a) } else { Step::Reduce(a) };
                    }
                }
            }
            functions
        },
    )
}

fn text(functions: &[Function]) -> String {
    let mut out = String::new();
    for (number, (steps, returned)) in functions.iter().enumerate() {
        let private = if number > 0 { "private " } else { "" };
        out +=
            &format!("func.func {private}@f{number}(%v0: !noisy.i32, %k: i1) -> !noisy.i32 {{\n");
        for (at, step) in steps.iter().enumerate() {
            let to = at + 1;
            let call = |callee, a| {
                format!("func.call @f{callee}(%v{a}, %k) : (!noisy.i32, i1) -> !noisy.i32")
            };
            out += &match *step {
                Step::Add(a, b) => format!("  %v{to} = noisy.add %v{a}, %v{b} : !noisy.i32\n"),
                Step::Mul(a, b) => format!("  %v{to} = noisy.mul %v{a}, %v{b} : !noisy.i32\n"),
                Step::Reduce(a) => format!("  %v{to} = noisy.reduce_noise %v{a} : !noisy.i32\n"),
                Step::Call(callee, a) => format!("  %v{to} = {}\n", call(callee, a)),
                Step::MayCall(callee, a) => format!(
                    "  %v{to} = scf.if %k -> (!noisy.i32) {{\n    %c{to} = {}\n    scf.yield %c{to} : !noisy.i32\n  \
                     }} else {{\n    scf.yield %v{a} : !noisy.i32\n  }}\n",
                    call(callee, a)
                ),
            };
        }
        out += &format!("  return %v{returned} : !noisy.i32\n}}\n");
    }
    out
}

/// A run, with the random bits of its conditions, and the largest noise of each value by function
/// and index.
struct Run<'a> {
    functions: &'a [Function],
    bits: u64,
    remaining_steps: usize,
    greatest: Vec<Vec<u64>>,
}

impl Run<'_> {
    /// Returns the result of a function; `None` if the run is aborted.
    fn call(&mut self, number: usize, argument: u64, depth: usize) -> Option<u64> {
        if depth > 40 {
            return None;
        }
        let functions = self.functions;
        let (steps, returned) = &functions[number];
        let mut values = vec![argument];
        self.see(number, 0, argument)?;
        for (at, step) in steps.iter().enumerate() {
            let value = match *step {
                Step::Add(a, b) => values[a].max(values[b]) + 1,
                Step::Mul(a, b) => values[a] + values[b],
                Step::Reduce(_) => 12,
                Step::Call(callee, a) => self.call(callee, values[a], depth + 1)?,
                Step::MayCall(callee, a) => {
                    // A step of xorshift.
                    self.bits ^= self.bits << 13;
                    self.bits ^= self.bits >> 7;
                    self.bits ^= self.bits << 17;
                    if self.bits & 1 == 0 {
                        self.call(callee, values[a], depth + 1)?
                    } else {
                        values[a]
                    }
                }
            };
            self.see(number, at + 1, value)?;
            values.push(value);
        }
        Some(values[*returned])
    }

    fn see(&mut self, function: usize, value: usize, noise: u64) -> Option<()> {
        self.remaining_steps = self.remaining_steps.checked_sub(1).filter(|_| noise < 1 << 30)?;
        let greatest = &mut self.greatest[function][value];
        *greatest = noise.max(*greatest);
        Some(())
    }
}

/// Returns the upper bound of each value of a function; `None` without a bound.
fn bounds(program: &Program, function: usize) -> Vec<Option<u64>> {
    let ir = program.ir();
    let op = ir.functions()[function];
    let body = ir.op(op).regions[0].1;
    let argument = ir.block(noisy_dataflow::flow::entry_block(ir, body)).args[0];
    let results = ir.items(body).filter_map(|it| ir.op(it).results.first().copied());
    let hi = |value: Value| match *program.noise(value) {
        Noise::Bottom => Some(0),
        Noise::AtMost(hi) => (hi < Bits::MAX).then(|| hi.into()),
        Noise::Unknown => None,
    };
    std::iter::once(argument).chain(results).map(hi).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn no_run_has_more_noise_than_the_facts_say(functions in program(), seed in 1..u64::MAX) {
        let text = text(&functions);
        let program = Program::new(&text);
        let mut run = Run {
            functions: &functions,
            bits: seed,
            remaining_steps: 0,
            greatest: functions.iter().map(|it| vec![0; it.0.len() + 1]).collect(),
        };
        for _ in 0..40 {
            run.remaining_steps = 400;
            let _ = run.call(0, 12, 0);
        }
        for (number, seen) in run.greatest.iter().enumerate() {
            for (value, (&seen, bound)) in seen.iter().zip(bounds(&program, number)).enumerate() {
                prop_assert!(
                    bound.is_none_or(|it| seen <= it),
                    "%v{value} of @f{number} had {seen} bits of noise, and the facts say {bound:?}\n{text}",
                );
            }
        }
    }
}

/// Returns a chain of calls through `n` functions; the last one exceeds the budget. The text starts
/// with the first caller if `downward`, else with the last callee.
fn chain(n: usize, downward: bool) -> String {
    let function = |at: usize| {
        let private = if at > 0 { "private " } else { "" };
        let body = if at + 1 < n {
            format!("%r = func.call @f{}(%x) : (!noisy.i32) -> !noisy.i32", at + 1)
        } else {
            "%s = noisy.mul %x, %x : !noisy.i32\n  %r = noisy.mul %s, %s : !noisy.i32".to_owned()
        };
        format!(
            "func.func {private}@f{at}(%x: !noisy.i32) -> !noisy.i32 {{\n  {body}\n  return %r : !noisy.i32\n}}\n"
        )
    };
    if downward { (0..n).map(function).collect() } else { (0..n).rev().map(function).collect() }
}

#[test]
fn deep_chains_of_calls_do_not_depend_on_the_order_of_the_text() {
    for n in [250, 4_000] {
        for downward in [true, false] {
            let program = Program::new(&chain(n, downward));
            let noise: Vec<Bits> = program.overflows().iter().map(|it| it.1.noise).collect();
            assert_eq!(noise, [48], "{n} functions, downward: {downward}");
        }
    }
}

/// The largest number of additions on a path to a value: a lattice of infinite height. Without
/// widening it violates the law of [`Domain`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Count<const WIDENS: bool> {
    Never,
    AtMost(u64),
    Unknown,
}

impl<const WIDENS: bool> fmt::Display for Count<WIDENS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl<const WIDENS: bool> Lattice for Count<WIDENS> {
    fn bottom() -> Self {
        Count::Never
    }

    fn join(&mut self, other: &Self) -> Changed {
        let joined = match (*self, *other) {
            (Count::Never, it) | (it, Count::Never) => it,
            (Count::AtMost(a), Count::AtMost(b)) => Count::AtMost(a.max(b)),
            _ => Count::Unknown,
        };
        let changed = Changed::when(joined != *self);
        *self = joined;
        changed
    }
}

impl<const WIDENS: bool> Domain for Count<WIDENS> {
    fn unknown() -> Self {
        Count::Unknown
    }

    fn widened(&self, next: Self) -> Self {
        if WIDENS && *self != next { Count::Unknown } else { next }
    }
}

#[derive(Debug)]
struct Counts<const WIDENS: bool>;

impl<const WIDENS: bool> SparseForward for Counts<WIDENS> {
    type Fact = Count<WIDENS>;
    type Base = ();

    fn calls(&self) -> CallPolicy {
        CallPolicy::FOR_TRANSFORMS
    }

    fn transfer(
        &mut self,
        cx: &AnalysisContext<'_, ()>,
        op: Op,
        _: usize,
        operands: &[Count<WIDENS>],
    ) -> Count<WIDENS> {
        let mut count = Count::AtMost(0);
        for it in operands {
            let _ = count.join(it);
        }
        match count {
            Count::AtMost(n) if cx.op(op).kind == OpKind::ArithAddi => Count::AtMost(n + 1),
            it => it,
        }
    }

    fn entry_argument_fact(
        &mut self,
        _: &AnalysisContext<'_, ()>,
        _: Op,
        _: usize,
        _: Value,
        _: &[Count<WIDENS>],
    ) -> Count<WIDENS> {
        Count::AtMost(0)
    }
}

/// Returns two functions that call each other, with growing or constant arguments and results, a
/// third function that calls them, and an independent one.
fn endless(order: [usize; 4], grows: [bool; 2]) -> String {
    let step = |grows: bool, of: &str| {
        format!("arith.{} {of}, %one : i8", if grows { "addi" } else { "ori" })
    };
    let function = |name: &str, callee: &str| {
        format!(
            "func.func private @{name}(%x: i8, %k: i1) -> i8 {{
  %one = arith.constant 1 : i8
  %0 = {}
  %1 = scf.if %k -> (i8) {{
    %2 = func.call @{callee}(%0, %k) : (i8, i1) -> i8
    %3 = {}
    scf.yield %3 : i8
  }} else {{
    scf.yield %0 : i8
  }}
  return %1 : i8
}}
",
            step(grows[0], "%x"),
            step(grows[1], "%2")
        )
    };
    let texts = [
        function("f", "g"),
        function("g", "f"),
        "func.func @main(%x: i8, %k: i1) -> i8 {\n  %0 = func.call @f(%x, %k) : (i8, i1) -> i8\n  return %0 : i8\n}\n".to_owned(),
        "func.func @other(%x: i8) -> i8 {\n  %0 = arith.addi %x, %x : i8\n  return %0 : i8\n}\n".to_owned(),
    ];
    order.iter().map(|&it| texts[it].as_str()).collect()
}

/// Checks that growing recursions become unknown after at most `most` visits, and that their calls
/// are undecided unless growth was widened.
fn check_endless<const WIDENS: bool>(most: usize) {
    for grows in [[true, true], [true, false], [false, true], [false, false]] {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let text = endless(order, grows);
            let source = Source::new(&text);
            let ir = source.ir();
            let facts = SparseSolver::new(&AnalysisInput { ir, base: &() }, Counts::<WIDENS>);
            let is_decided = grows == [false, false];
            let found = |name: &str, result: &str| {
                let is_named =
                    |it: &Op| ir.extra(*it).symbol.is_some_and(|it| ir.interner.str(it.0) == name);
                let function = ir.functions().into_iter().find(is_named).expect("it is there");
                let mut out = None;
                ir.walk(ir.op(function).regions[0].1, &mut |op| {
                    let results = ir.op(op).results.iter();
                    let mut named = results.filter(|&&it| ir.value_text(it) == result);
                    out = out.or(named.next().and_then(|it| facts.fact(*it).copied()));
                });
                out
            };
            let expected = if is_decided { Count::AtMost(0) } else { Count::Unknown };
            for (name, result) in
                [("f", "%0"), ("f", "%1"), ("g", "%0"), ("g", "%1"), ("main", "%0")]
            {
                // The arguments do not grow with the results.
                let is_passed = result == "%0" && name != "main";
                let expected =
                    if WIDENS && is_passed && !grows[0] { Count::AtMost(0) } else { expected };
                assert_eq!(found(name, result), Some(expected), "{name} {result}\n{text}");
            }
            assert_eq!(found("other", "%0"), Some(Count::AtMost(1)), "{text}");
            let n_undecided = if is_decided || WIDENS { 0 } else { 3 };
            let undecided: Vec<OpKind> = facts.undecided().map(|it| ir.op(it).kind).collect();
            assert_eq!(undecided, vec![OpKind::FuncCall; n_undecided], "{text}");
            assert!(facts.n_visits() < most, "{} visits\n{text}", facts.n_visits());
        }
    }
}

#[test]
fn a_recursion_without_end_is_unknown_in_bounded_work_whatever_the_order() {
    check_endless::<false>(2_000_000);
}

#[test]
fn growth_around_a_recursion_is_widened_before_work_runs_out() {
    check_endless::<true>(5_000);
}

/// Returns functions that each call three random functions and pass and return noise.
fn web(n: usize) -> String {
    let mut random = Random::new(3);
    let mut text = String::new();
    for at in 0..n {
        let private = if at > 0 { "private " } else { "" };
        let _ = writeln!(
            text,
            "func.func {private}@f{at}(%v0: !noisy.i32, %v1: !noisy.i32, %k: i1) -> !noisy.i32 {{"
        );
        let mut last = 1;
        for _ in 0..3 {
            let (x, y) = (random.below(last + 1), random.below(last + 1));
            let (sum, given) = (last + 1, last + 2);
            let op = if random.one_in(3) {
                format!("reduce_noise %v{x}")
            } else {
                format!("add %v{x}, %v{y}")
            };
            let _ = writeln!(
                text,
                "  %v{sum} = noisy.{op} : !noisy.i32
  %v{given} = scf.if %k -> (!noisy.i32) {{
    %c = func.call @f{}(%v{sum}, %v{y}, %k) : (!noisy.i32, !noisy.i32, i1) -> !noisy.i32
    scf.yield %c : !noisy.i32
  }} else {{
    scf.yield %v{x} : !noisy.i32
  }}",
                random.below(n)
            );
            last = given;
        }
        let _ = writeln!(text, "  return %v{last} : !noisy.i32\n}}");
    }
    text
}

#[test]
fn a_web_of_calls_costs_what_its_contexts_cost() {
    let cost = |n: usize| Program::new(&web(n)).noise_solver().n_visits();
    let (few, many) = (cost(100), cost(1_000));
    eprintln!("visits of a web of 100 functions: {few}, of 1,000: {many}");
    assert!(many < 30 * few, "{few} {many}");
}
