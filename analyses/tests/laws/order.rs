//! Facts do not depend on the positions of functions in the text. Only the names and bodies of
//! functions determine which contexts of a function are joined, where the analysis enters a
//! recursion, and where growth is widened.
//!
//! Programs are random functions that call each other. The facts of each function must be the same
//! after the functions are shuffled.

use std::fmt::{Debug, Write as _};

use noisy_syntax::{Ir, Op, Source};
use rustc_hash::FxHashMap;

use crate::NoiseModel;
use crate::facts::noise::NoiseAnalysis;
use crate::laws::Random;
use crate::program::depth::DepthAnalysis;
use crate::program::secretness::SecretnessAnalysis;
use noisy_dataflow::sparse::{
    AnalysisInput, BaseAnalyses, DEFAULT_MAX_CONTEXTS, SparseForward, SparseSolver, values_within,
};
use noisy_heir::CiphertextAnalysis;
use noisy_integers::Integers;
use noisy_integers::constants::{ConstantFacts, Constants};

const TYPES: &str = "(!noisy.i32, !noisy.i32, i5, i1) -> (!noisy.i32, i5)";

/// Returns random functions that call each other with many combinations of noise and integers: more
/// than the limit of separate contexts. A call in an `scf.if` may have any callee, other calls have
/// a later function as callee.
pub(crate) fn random_functions(random: &mut Random) -> Vec<String> {
    let n = 3 + random.below(4);
    let function = |at: usize, random: &mut Random| {
        let private = if random.one_in(4) { "" } else { "private " };
        let mut text = format!(
            "func.func {private}@f{at}(%v0: !noisy.i32, %v1: !noisy.i32, %i0: i5, %k: i1) -> (!noisy.i32, i5) {{\n%i1 = arith.constant {} : i5\n",
            random.below(4)
        );
        // From 2 on, each step defines a noisy value `%vN` and an integer `%iN`.
        let n_values = 4 + random.below(20);
        for step in 2..n_values {
            let (x, y) = (random.below(step), random.below(step));
            let _ = match random.below(10) {
                0 => writeln!(text, "%v{step} = noisy.mul %v{x}, %v{y} : !noisy.i32"),
                1 | 2 => writeln!(text, "%v{step} = noisy.reduce_noise %v{x} : !noisy.i32"),
                3 | 4 => writeln!(text, "%v{step} = noisy.add %v{x}, %v{y} : !noisy.i32"),
                5 | 6 | 8 if at + 1 < n => {
                    let callee = at + 1 + random.below(n - at - 1);
                    let _ = writeln!(
                        text,
                        "%v{step}, %i{step} = func.call @f{callee}(%v{x}, %v{y}, %i{y}, %k) : {TYPES}"
                    );
                    continue;
                }
                7 if random.one_in(2) => {
                    let callee = random.below(n);
                    let _ = writeln!(
                        text,
                        "%v{step}, %i{step} = scf.if %k -> (!noisy.i32, i5) {{
%c, %d = func.call @f{callee}(%v{y}, %v{x}, %i{x}, %k) : {TYPES}
scf.yield %c, %d : !noisy.i32, i5
}} else {{
scf.yield %v{x}, %i{y} : !noisy.i32, i5
}}"
                    );
                    continue;
                }
                _ => writeln!(text, "%v{step} = noisy.sub %v{x}, %v{x} : !noisy.i32"),
            };
            let op = *random.pick(&["addi", "addi", "subi", "xori"]);
            // Arguments of public functions are not constants.
            let least = usize::from(private.is_empty());
            let (x, y) = (x.max(least), y.max(least));
            let _ = match random.below(4) {
                0..3 => writeln!(text, "%i{step} = arith.{op} %i{x}, %i{y} : i5"),
                _ => writeln!(text, "%i{step} = arith.constant {} : i5", random.below(16)),
            };
        }
        let (x, y) = (random.below(n_values), random.below(n_values));
        let _ = writeln!(text, "return %v{x}, %i{y} : !noisy.i32, i5\n}}");
        text
    };
    (0..n).map(|at| function(at, random)).collect()
}

/// Maps the name of each function to its values with their facts, in textual order.
fn facts<A: SparseForward>(ir: &Ir, facts: &SparseSolver<A>) -> FxHashMap<String, Vec<String>> {
    let of = |function: Op| {
        let mut values = Vec::new();
        values_within(ir, function, &mut values);
        let of = |it| format!("{}: {:?}", ir.value_text(it), facts.fact(it));
        let name = ir.extra(function).symbol.map_or("", |it| ir.interner.str(it.0));
        (name.to_owned(), values.into_iter().map(of).collect())
    };
    ir.functions().into_iter().map(of).collect()
}

/// Checks that the order of functions changes no fact. Returns the number of programs in which
/// contexts were joined.
fn check<A: SparseForward>(base: &dyn Fn(&Ir) -> A::Base, analysis: &dyn Fn(&Ir) -> A) -> usize
where
    A::Base: BaseAnalyses + Debug,
{
    let mut n_joined = 0;
    for seed in 1..=150 {
        let mut random = Random::new(seed * 7919);
        let mut functions = random_functions(&mut random);
        let mut expected = None;
        for _ in 0..4 {
            let text = functions.concat();
            let source = Source::new(&text);
            let ir = source.ir();
            assert!(source.problems().is_empty(), "{:?}\n{text}", source.problems());
            let base = base(ir);
            let solved = SparseSolver::new(&AnalysisInput { ir, base: &base }, analysis(ir));
            let found = facts(ir, &solved);
            let is_joined = |it: Op| solved.contexts(ir, it).len() > DEFAULT_MAX_CONTEXTS;
            n_joined +=
                usize::from(expected.is_none() && ir.functions().into_iter().any(is_joined));
            if let Some(expected) = &expected {
                assert_eq!(&found, expected, "seed {seed}\n{text}");
            }
            expected = expected.or(Some(found));
            for at in (1..functions.len()).rev() {
                functions.swap(at, random.below(at + 1));
            }
        }
    }
    n_joined
}

#[test]
fn the_order_of_functions_changes_no_fact() {
    let model = NoiseModel::tutorial;
    let nothing = |_: &Ir| ();
    let n_joined = [
        check(&nothing, &|_| Constants::default()),
        check(&Integers::new, &|_| NoiseAnalysis::new(model())),
        check(&Integers::new, &|_| DepthAnalysis::new(model())),
    ];
    eprintln!(
        "vectors of integers, of noise, of depths are joined in so many programs: {n_joined:?}"
    );
    assert!(n_joined.iter().all(|&it| it > 5), "{n_joined:?}");
    let _ = check(&nothing, &|_| Constants::with_joined_calls());
    let _ = check(&Integers::new, &|_| SecretnessAnalysis::new(model()));
    let constants = |ir: &Ir| {
        ConstantFacts(SparseSolver::new(&AnalysisInput { ir, base: &() }, Constants::default()))
    };
    let _ = check(&constants, &CiphertextAnalysis::new);
}
