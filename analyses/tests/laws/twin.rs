//! The laws of [`noisy_twin`] on random programs (`twin/programs.rs`), with one line for each
//! analysis ([`laws_of`]).
//!
//! `TWIN_PROGRAMS` sets the number of programs for each law, and `TWIN_SEED` the first seed.

use std::cell::Cell;
use std::fmt;

use noisy_syntax::{Delta, Interner, Ir, Op, OpKind, Source, Type, Value};
use noisy_twin::Twin;

use crate::facts::noise::NoiseAnalysis;
use crate::laws::Random;
use crate::program::depth::DepthAnalysis;
use crate::program::secretness::SecretnessAnalysis;
use crate::{Bits, NoiseModel};
use noisy_dataflow::flow::Interval;
use noisy_dataflow::lattice::{Changed, Lattice};
use noisy_dataflow::sparse::{
    AnalysisContext, AnalysisInput, CallPolicy, ChangedValues, DEFAULT_MAX_CONTEXTS, Domain,
    LoopPolicy, SparseForward, SparseSolver,
};
use noisy_heir::{CiphertextAnalysis, ValueRangeAnalysis};
use noisy_integers::Integers;
use noisy_integers::constants::{ConstantFacts, Constants};
use noisy_integers::ranges::Ranges;

mod programs;

thread_local! {
    /// True if a fact was widened in this thread.
    static IS_WIDENED: Cell<bool> = const { Cell::new(false) };
}

/// A fact that sets [`IS_WIDENED`] when it is widened.
#[derive(Clone, Debug, PartialEq)]
struct WideningRecorder<F>(F);

impl<F: Lattice> Lattice for WideningRecorder<F> {
    fn bottom() -> Self {
        Self(F::bottom())
    }

    fn join(&mut self, other: &Self) -> Changed {
        self.0.join(&other.0)
    }
}

impl<F: fmt::Display> fmt::Display for WideningRecorder<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<F: Domain> Domain for WideningRecorder<F> {
    fn unknown() -> Self {
        Self(F::unknown())
    }

    fn widened(&self, next: Self) -> Self {
        let wide = self.0.widened(next.0.clone());
        if wide != next.0 {
            IS_WIDENED.set(true);
        }
        Self(wide)
    }
}

/// An analysis whose facts record that they are widened.
#[derive(Debug)]
struct Watched<A>(A);

fn facts<F: Clone>(of: &[WideningRecorder<F>]) -> Vec<F> {
    of.iter().map(|it| it.0.clone()).collect()
}

impl<A: SparseForward> SparseForward for Watched<A> {
    type Fact = WideningRecorder<A::Fact>;
    type Base = A::Base;

    const LOOPS: LoopPolicy = A::LOOPS;

    fn calls(&self) -> CallPolicy {
        self.0.calls()
    }

    fn has_fact(&self, interner: &Interner, ty: Type) -> bool {
        self.0.has_fact(interner, ty)
    }

    fn transfer(
        &mut self,
        on: &AnalysisContext<'_, A::Base>,
        op: Op,
        result: usize,
        operands: &[Self::Fact],
    ) -> Self::Fact {
        WideningRecorder(self.0.transfer(on, op, result, &facts(operands)))
    }

    fn entry_argument_fact(
        &mut self,
        on: &AnalysisContext<'_, A::Base>,
        op: Op,
        index: usize,
        argument: Value,
        operands: &[Self::Fact],
    ) -> Self::Fact {
        WideningRecorder(self.0.entry_argument_fact(on, op, index, argument, &facts(operands)))
    }

    fn refine(
        &self,
        on: &AnalysisContext<'_, A::Base>,
        value: Value,
        fact: Self::Fact,
    ) -> Self::Fact {
        WideningRecorder(self.0.refine(on, value, fact.0))
    }

    fn unbounded(&self, fact: &Self::Fact) -> Option<Self::Fact> {
        self.0.unbounded(&fact.0).map(WideningRecorder)
    }

    fn interval(&self, interner: &Interner, ty: Type, fact: &Self::Fact) -> Option<Interval> {
        self.0.interval(interner, ty, &fact.0)
    }
}

/// The base of an analysis, which edits update.
trait EditedBase {
    fn new(ir: &Ir) -> Self;
    /// Updates the base after an edit. Returns the values whose facts changed.
    fn update(&mut self, ir: &Ir, delta: &Delta) -> ChangedValues;
}

impl EditedBase for () {
    fn new(_: &Ir) -> Self {}

    fn update(&mut self, _: &Ir, _: &Delta) -> ChangedValues {
        ChangedValues::These(Vec::new())
    }
}

impl EditedBase for ConstantFacts {
    fn new(ir: &Ir) -> Self {
        ConstantFacts(SparseSolver::new(&AnalysisInput { ir, base: &() }, Constants::default()))
    }

    fn update(&mut self, ir: &Ir, delta: &Delta) -> ChangedValues {
        self.0.update(&AnalysisInput { ir, base: &() }, delta, &ChangedValues::These(Vec::new()));
        self.0.changed_values().clone()
    }
}

impl EditedBase for Integers {
    fn new(ir: &Ir) -> Self {
        Integers::new(ir)
    }

    fn update(&mut self, ir: &Ir, delta: &Delta) -> ChangedValues {
        self.update(ir, delta);
        self.changed_values().clone()
    }
}

/// Returns all values of a program, in textual order.
fn values(ir: &Ir) -> Vec<Value> {
    let mut out = Vec::new();
    ir.walk(ir.root(), &mut |op| {
        out.extend(&ir.op(op).results);
        if ir.op(op).kind == OpKind::Label {
            out.extend(&ir.block(ir.label_block(op)).args);
        }
        for &(_, region) in &ir.op(op).regions {
            out.extend(&ir.block(ir.region(region).entry).args);
        }
    });
    out
}

/// Compares the solver with the twin on a program. Returns the number of values that were compared
/// exactly.
fn check<A: SparseForward>(
    text: &str,
    ir: &Ir,
    base: &A::Base,
    analysis: &dyn Fn(&Ir) -> A,
) -> usize {
    let on = AnalysisInput { ir, base };
    IS_WIDENED.set(false);
    let fast = SparseSolver::new(&on, Watched(analysis(ir)));
    let is_widened = IS_WIDENED.get();
    let least = Twin::solve(&on, analysis(ir), false);
    for value in values(ir) {
        let low = least.fact(value);
        let found = fast.fact(value).map_or_else(A::Fact::bottom, |it| it.0.clone());
        let name = ir.value_text(value);
        assert!(
            low.is_at_most(&found),
            "{name} is {found}, and not below {low} in the least solution\n{text}"
        );
    }
    let twin = Twin::solve(&on, analysis(ir), true);
    let n_contexts = |it: Op| twin.n_contexts(it).max(fast.contexts(ir, it).len());
    let is_exact = !twin.is_cut()
        && !is_widened
        && fast.undecided().next().is_none()
        && ir.functions().into_iter().all(|it| n_contexts(it) <= DEFAULT_MAX_CONTEXTS);
    if !is_exact {
        return 0;
    }
    let mut n = 0;
    for value in values(ir) {
        let expected = twin.fact(value);
        let found = fast.fact(value).map_or_else(A::Fact::bottom, |it| it.0.clone());
        let is_high = |it: &A::Fact| twin.analysis().unbounded(it).is_some();
        if !(is_high(&expected) && is_high(&found)) {
            assert_eq!(found, expected, "{}\n{text}", ir.value_text(value));
        }
        n += usize::from(expected != A::Fact::bottom());
    }
    n
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

/// Returns programs of different sizes, the small ones first.
fn random_programs(n: u64) -> impl Iterator<Item = (u64, String)> {
    let (n, first) = (number("TWIN_PROGRAMS", n), number("TWIN_SEED", 1));
    (0..n).map(move |at| {
        let seed = first.wrapping_mul(0x1_0000_0000).wrapping_add(at);
        // From one function with a few ops to five functions with a dozen each.
        let of = |most: u64| usize::try_from(1 + seed % (1 + at * most / n)).unwrap_or(1);
        (seed, programs::program(seed, of(5), 2 + of(10)))
    })
}

/// Checks that the facts are never below the least solution, and equal to it if no fact was
/// widened.
fn equals_the_least_solution<A: SparseForward>(
    translated: &dyn Fn(String) -> String,
    analysis: &dyn Fn(&Ir) -> A,
) where
    A::Base: EditedBase,
{
    let (mut n_programs, mut n_exact, mut n_values) = (0, 0, 0);
    for (seed, text) in random_programs(300) {
        let text = translated(text);
        let source = Source::new(&text);
        assert!(source.problems().is_empty(), "seed {seed}: {:?}\n{text}", source.problems());
        let base = A::Base::new(source.ir());
        let n = check(&text, source.ir(), &base, analysis);
        n_programs += 1;
        n_exact += usize::from(n > 0);
        n_values += n;
    }
    eprintln!("{n_exact} of {n_programs} programs, {n_values} values");
    assert!(
        n_exact * 4 > n_programs && n_values > 10 * n_exact,
        "{n_exact} of {n_programs}, {n_values}"
    );
}

/// Checks that the facts after every edit equal those from scratch.
fn edits_equal_reading_anew<A: SparseForward>(
    translated: &dyn Fn(String) -> String,
    analysis: &dyn Fn(&Ir) -> A,
) where
    A::Base: EditedBase,
{
    let mut n_changed = 0;
    for (seed, text) in random_programs(120) {
        let mut random = Random::new(seed);
        let text = translated(text);
        let mut source = Source::new(&text);
        let mut base = A::Base::new(source.ir());
        let mut facts = SparseSolver::new(
            &AnalysisInput { ir: source.ir(), base: &base },
            analysis(source.ir()),
        );
        let mut undo = None;
        for _ in 0..10 {
            let text = source.text().to_string();
            let (range, new) = match undo.take() {
                Some(edit) if random.one_in(3) => edit,
                _ => crate::laws::random_edit(&mut random, &text),
            };
            undo = Some((range.start..range.start + new.len(), text[range.clone()].to_owned()));
            let delta = source.edit(range.clone(), &new);
            let moved = base.update(source.ir(), &delta);
            let ir = source.ir();
            facts.update(&AnalysisInput { ir, base: &base }, &delta, &moved);
            let base_anew = A::Base::new(ir);
            let anew = SparseSolver::new(&AnalysisInput { ir, base: &base_anew }, analysis(ir));
            for value in values(ir) {
                let (found, expected) = (facts.fact(value), anew.fact(value));
                let name = ir.value_text(value);
                assert_eq!(
                    found, expected,
                    "{name} after {range:?} -> {new:?}, seed {seed}\n{text}"
                );
            }
            n_changed += usize::from(
                matches!(facts.changed_values(), ChangedValues::These(it) if !it.is_empty()),
            );
        }
    }
    eprintln!("{n_changed} edits change facts");
    assert!(n_changed > 20, "{n_changed}");
}

/// Defines the tests of the laws of each analysis.
macro_rules! laws_of {
    ($($name:ident: $translated:expr, $analysis:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn equals_the_least_solution() {
                super::equals_the_least_solution(&$translated, &$analysis);
            }

            #[test]
            fn edits_equal_reading_anew() {
                super::edits_equal_reading_anew(&$translated, &$analysis);
            }
        }
    )*};
}

laws_of! {
    constants: as_is, |_: &Ir| Constants::default();
    joined_constants: as_is, |_: &Ir| Constants::with_joined_calls();
    ranges: as_is, |_: &Ir| Ranges;
    noise: as_is, |_: &Ir| NoiseAnalysis::new(NoiseModel::tutorial());
    depth: as_is, |_: &Ir| DepthAnalysis::new(NoiseModel::tutorial());
    secretness: as_is, |_: &Ir| SecretnessAnalysis::new(NoiseModel::tutorial());
    value_ranges: with_reals, |_: &Ir| ValueRangeAnalysis::new(None);
}

fn as_is(text: String) -> String {
    text
}

/// Returns the program with floats in place of noisy integers; arguments of public functions have
/// ranges.
fn with_reals(text: String) -> String {
    let line = |line: &str| {
        let range = "f32 {noisy.range = [-1.0, 1.5]},";
        let line = if line.starts_with("func.func @") {
            line.replacen("!noisy.i32,", range, 1)
        } else {
            line.to_owned()
        };
        line.replace("noisy.bound = ", "noisy.range = [-1.0, ").replace(" : i64}", ".0]}")
    };
    let mut text = text.lines().map(line).collect::<Vec<_>>().join("\n");
    for (from, to) in [
        ("i5 -> !noisy.i32", "i5 to f32"),
        ("noisy.encode", "arith.sitofp"),
        ("noisy.reduce_noise", "math.tanh"),
        ("noisy.add", "arith.addf"),
        ("noisy.sub", "arith.subf"),
        ("noisy.mul", "arith.mulf"),
        ("!noisy.i32", "f32"),
    ] {
        text = text.replace(from, to);
    }
    text
}

/// Values that nested loops permute grow without bound, although not every value grows in each
/// iteration.
#[test]
fn permuted_values_in_loops_have_no_bound() {
    let (types, inits) =
        (["!noisy.i32"; 5].join(", "), "%a = %x, %b = %x, %c = %x, %d = %x, %e = %x");
    let text = format!(
        "func.func @f(%x: !noisy.i32, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r:5 = scf.for %i = %c0 to %n step %c1 iter_args({inits}) -> ({types}) {{
    %s:5 = scf.for %j = %c0 to %c2 step %c1 iter_args(%k = %a, %l = %b, %m = %c, %o = %d, %p = %e) -> ({types}) {{
      %q = noisy.add %l, %k : !noisy.i32
      scf.yield %m, %o, %p, %q, %k : {types}
    }}
    scf.yield %s#4, %s#0, %s#1, %s#2, %s#3 : {types}
  }}
  return
}}
"
    );
    let source = Source::new(&text);
    assert!(source.problems().is_empty(), "{:?}", source.problems());
    let (ir, base) = (source.ir(), Integers::new(source.ir()));
    let analysis = |_: &Ir| NoiseAnalysis::new(NoiseModel::tutorial());
    check(&text, ir, &base, &analysis);
    let facts = SparseSolver::new(&AnalysisInput { ir, base: &base }, analysis(ir));
    let noisy = values(ir).into_iter().filter_map(|it| facts.fact(it)?.hi());
    let carried: Vec<_> = noisy.filter(|&it| it != 12).collect();
    assert!(carried.len() > 15 && carried.iter().all(|&it| it == Bits::MAX), "{carried:?}");
}

/// Levels are only solved from scratch, because the analysis reads the scheme of the module once.
#[test]
fn levels_equal_the_least_solution() {
    equals_the_least_solution(&as_is, &|ir: &Ir| CiphertextAnalysis::new(ir));
}
