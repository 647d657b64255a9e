//! After edits of random programs with calls, facts equal those from scratch for each policy for
//! calls, and are never below the facts of the slow twin.
//!
//! `CALL_PROGRAMS=N` sets the number of programs for each policy, `CALL_SEED=S` the first seed.

use std::fmt::{self, Write as _};

use noisy_dataflow::flow;
use noisy_dataflow::lattice::Chain;
use noisy_dataflow::sparse::{
    AnalysisContext, AnalysisInput, CallPolicy, ChangedValues, Domain, SparseForward, SparseSolver,
};
use noisy_dataflow::view::ProgramView;
use noisy_syntax::{Ir, Op, OpKind, Source, Value};
use noisy_twin::Twin;

use crate::random::Random;

/// Facts from this number of bits on are saturated.
const SATURATED: u8 = 12;
/// The unbounded fact.
const UNBOUNDED: u8 = 20;

/// Number of bits of a value, 0 for a value that is never computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Bits(u8);

impl Chain for Bits {}

impl Domain for Bits {
    fn unknown() -> Self {
        Bits(u8::MAX)
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bits", self.0)
    }
}

/// Sums and products increase the number of bits, and a difference has one bit.
#[derive(Debug)]
struct Growth(CallPolicy);

impl SparseForward for Growth {
    type Fact = Bits;
    type Base = ();

    fn calls(&self) -> CallPolicy {
        self.0
    }

    fn transfer(
        &mut self,
        cx: &AnalysisContext<'_, ()>,
        op: Op,
        _result: usize,
        operands: &[Bits],
    ) -> Bits {
        match (cx.op(op).kind, operands) {
            (_, operands) if operands.contains(&Bits(0)) => Bits(0),
            (OpKind::ArithAddi, [a, b]) => Bits((*a).max(*b).0.saturating_add(1)),
            (OpKind::ArithMuli, [a, b]) => Bits(a.0.saturating_add(b.0)),
            (OpKind::ArithSubi, _) => Bits(1),
            _ => Bits::unknown(),
        }
    }

    fn entry_argument_fact(
        &mut self,
        _cx: &AnalysisContext<'_, ()>,
        _op: Op,
        index: usize,
        _argument: Value,
        _operands: &[Bits],
    ) -> Bits {
        Bits(1 + index as u8)
    }

    fn unbounded(&self, fact: &Bits) -> Option<Bits> {
        (fact.0 >= SATURATED).then_some(Bits(fact.0.max(UNBOUNDED)))
    }
}

/// Returns functions that call each other. Callees are mostly later functions, and any functions in
/// `n_cyclic` percent of the cases.
fn program(random: &mut Random, n_cyclic: usize) -> String {
    let n = 2 + random.below(6);
    let mut text = String::new();
    for at in 0..n {
        let private = if at > 0 && random.below(4) > 0 { "private " } else { "" };
        let _ = writeln!(text, "func.func {private}@f{at}(%v0: i32, %v1: i32, %k: i1) -> i32 {{");
        let n_values = 3 + random.below(8);
        for step in 2..n_values {
            let (x, y) = (random.below(step), random.below(step));
            let callee = match random.below(100) {
                it if it < n_cyclic => random.below(n),
                _ => at + 1 + random.below(n - at),
            };
            let call = format!("func.call @f{callee}(%v{x}, %v{y}, %k) : (i32, i32, i1) -> i32");
            let _ = match random.below(8) {
                0 => writeln!(text, "  %v{step} = arith.muli %v{x}, %v{y} : i32"),
                1 | 2 => writeln!(text, "  %v{step} = arith.addi %v{x}, %v{y} : i32"),
                3 => writeln!(text, "  %v{step} = arith.subi %v{x}, %v{y} : i32"),
                _ if callee >= n => writeln!(text, "  %v{step} = arith.addi %v{x}, %v{x} : i32"),
                4 => writeln!(
                    text,
                    "  %v{step} = scf.if %k -> (i32) {{\n    %c{step} = {call}\n    scf.yield %c{step} : i32\n  }} else {{\n    scf.yield %v{y} : i32\n  }}"
                ),
                _ => writeln!(text, "  %v{step} = {call}"),
            };
        }
        let _ = writeln!(text, "  return %v{} : i32\n}}", random.below(n_values));
    }
    if random.below(4) == 0 {
        let _ = writeln!(
            text,
            "%o = \"t.op\"() : () -> i32\n%k = arith.constant true\n%l = func.call @f1(%o, %o, %k) : (i32, i32, i1) -> i32\n%m = arith.addi %l, %l : i32"
        );
    }
    text
}

/// Edits a line: its op, its operands, its callee or the visibility of its function; removes it, or
/// repeats it.
fn edited(random: &mut Random, line: &str) -> String {
    match random.below(10) {
        0 => String::new(),
        1 => format!("{line}{line}"),
        2 => line.replacen("arith.addi", "arith.muli", 1),
        3 => line.replacen("arith.subi", "arith.addi", 1),
        4 if line.contains("private ") => line.replacen("private ", "", 1),
        4 => line.replacen("func.func @", "func.func private @", 1),
        5 => line.replacen("arith.muli", "arith.subi", 1),
        6 => line.replacen("%v0", "%v1", 1),
        7 => line.replacen("%v2", "%v0", 1),
        _ => match line.find("@f") {
            Some(name) => {
                format!("{}{}{}", &line[..name + 2], random.below(8), &line[name + 3..])
            }
            None => line.replacen("arith.addi", "arith.subi", 1),
        },
    }
}

fn values(ir: &Ir) -> Vec<Value> {
    let mut out = Vec::new();
    ir.walk(ir.root(), &mut |op| {
        out.extend(&ir.op(op).results);
        for &(_, region) in &ir.op(op).regions {
            out.extend(&ir.block(ir.region(region).entry).args);
        }
    });
    out
}

/// Returns a description of all contexts: function, arguments, assumption and calls.
fn contexts(ir: &Ir, facts: &SparseSolver<Growth>) -> Vec<String> {
    let mut out = Vec::new();
    for function in flow::functions(ir) {
        for it in facts.contexts(ir, function) {
            let mut calls: Vec<usize> = it.calls().map(|it| ir.start(it)).collect();
            calls.sort_unstable();
            let start = ir.start(function);
            out.push(format!("{start} {:?} {} {calls:?}", it.args, it.is_assumed));
        }
    }
    out.sort_unstable();
    out
}

/// Returns true if there are calls outside of functions, which the twin does not support.
fn has_calls_outside_functions(ir: &Ir) -> bool {
    let mut found = false;
    ir.walk(ir.root(), &mut |it| {
        found |= ir.op(it).kind == OpKind::FuncCall && ir.function_of(it).is_none();
    });
    found
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

fn check_edits_equal_fresh_solution(calls: CallPolicy, n_cyclic: usize) {
    let (mut n_costly, mut n_less) = (0_u64, 0);
    let (first, n_programs) = (number("CALL_SEED", 1), number("CALL_PROGRAMS", 150));
    for seed in first..first + n_programs {
        let mut random = Random::new(seed * 7177 + n_cyclic as u64);
        let mut source = Source::new(&program(&mut random, n_cyclic));
        let input = AnalysisInput { ir: source.ir(), base: &() };
        let mut facts = SparseSolver::new(&input, Growth(calls));
        if !has_calls_outside_functions(source.ir()) {
            let twin = Twin::solve(&input, Growth(calls), false);
            for value in values(source.ir()) {
                let (low, found) = (twin.fact(value), *facts.fact(value).expect("a fact"));
                assert!(low <= found, "seed {seed}: {low} {found}\n{}", source.text());
            }
        }
        let mut undo = None;
        for _ in 0..12 {
            let text = source.text().to_string();
            let (range, new) = match undo.take() {
                Some(it) if random.below(3) == 0 => it,
                _ => {
                    let lines: Vec<&str> = text.split_inclusive('\n').collect();
                    let at = random.below(lines.len());
                    let start: usize = lines[..at].iter().map(|it| it.len()).sum();
                    (start..start + lines[at].len(), edited(&mut random, lines[at]))
                }
            };
            undo = Some((range.start..range.start + new.len(), text[range.clone()].to_owned()));
            let delta = source.edit(range.clone(), &new);
            let input = AnalysisInput { ir: source.ir(), base: &() };
            facts.update(&input, &delta, &ChangedValues::These(Vec::new()));
            let anew = SparseSolver::new(&input, Growth(calls));
            let told = format!("seed {seed}: {range:?} -> {new:?}\n{text}");
            for value in values(source.ir()) {
                let name = source.ir().value_text(value);
                assert_eq!(facts.fact(value), anew.fact(value), "{name} {told}");
            }
            let (found, expected) = (contexts(source.ir(), &facts), contexts(source.ir(), &anew));
            assert_eq!(found, expected, "{told}");
            let visits = (facts.n_visits(), anew.n_visits());
            n_costly += u64::from(visits.0 > 0);
            n_less += u64::from(visits.0 > 0 && 2 * visits.0 < visits.1);
        }
    }
    eprintln!("{n_less} of {n_costly} edits cost less than half of reading anew");
    assert!(n_less * 5 > n_costly && n_costly > 2 * n_programs, "{n_less} of {n_costly}");
}

#[test]
fn edits_of_few_vectors_equal_fresh_solution() {
    check_edits_equal_fresh_solution(CallPolicy::FOR_TRANSFORMS, 0);
    check_edits_equal_fresh_solution(CallPolicy::FOR_DISPLAY, 0);
}

#[test]
fn edits_of_recursions_equal_fresh_solution() {
    check_edits_equal_fresh_solution(CallPolicy::FOR_TRANSFORMS, 10);
    check_edits_equal_fresh_solution(CallPolicy::FOR_DISPLAY, 30);
}

#[test]
fn edits_of_joined_vectors_equal_fresh_solution() {
    for apart in 1..4 {
        check_edits_equal_fresh_solution(
            CallPolicy::Followed { max_contexts: apart, analyzes_uncalled: apart == 2 },
            0,
        );
        check_edits_equal_fresh_solution(
            CallPolicy::Followed { max_contexts: apart, analyzes_uncalled: apart != 2 },
            20,
        );
    }
}
