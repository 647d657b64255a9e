//! After edits, facts equal those from scratch, whatever an analysis reads. One analysis reads
//! definitions several steps away, and another one reads the facts of the first.

use std::fmt;
use std::hash::{Hash, Hasher};

use noisy_dataflow::flow::Interval;
use noisy_dataflow::lattice::{Changed, Lattice};
use noisy_dataflow::sparse::{
    AnalysisContext, AnalysisInput, BaseAnalyses, ChangedValues, Domain, SparseForward,
    SparseSolver,
};
use noisy_dataflow::view::{HasInterner, ProgramView};
use noisy_syntax::{AttrData, Def, Interner, Op, Source, Type, Value};
use rustc_hash::FxHasher;

use crate::random::Random;

/// A digest of everything that an op read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digest {
    Bottom,
    Of(u64),
    Unknown,
}

impl Lattice for Digest {
    fn bottom() -> Self {
        Digest::Bottom
    }

    fn join(&mut self, other: &Self) -> Changed {
        let before = *self;
        *self = match (before, *other) {
            (Digest::Bottom, it) | (it, Digest::Bottom) => it,
            (a, b) if a == b => a,
            _ => Digest::Unknown,
        };
        Changed::when(*self != before)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Domain for Digest {
    fn unknown() -> Self {
        Digest::Unknown
    }
}

/// Reads the definitions of operands, of their operands, and so on, and resolves symbols and reads
/// types.
#[derive(Debug)]
struct DefinitionReader {
    /// True if the digest includes the facts of operands.
    adds_facts: bool,
    /// Number of steps along definitions; with 0 only the types of operands are read.
    steps: usize,
}

fn number(cx: &AnalysisContext<'_, ()>, op: Op, name: &str) -> Option<i128> {
    match cx.interner().attr_data(cx.attr(op, name)?) {
        AttrData::Int { value, .. } => Some(*value),
        _ => None,
    }
}

impl DefinitionReader {
    /// Reads an op, and the definitions of its operands for some steps.
    fn look(cx: &AnalysisContext<'_, ()>, op: Op, steps: usize, out: &mut impl Hasher) {
        cx.op_name(op).hash(out);
        number(cx, op, "x").hash(out);
        for at in 0..cx.op(op).operands.len() {
            cx.operand_ty(op, at).map(Type::index).hash(out);
        }
        if steps == 0 {
            return;
        }
        for operand in &cx.op(op).operands {
            let Some(value) = operand.value else { continue };
            match cx.def(value) {
                Def::Result(defining_op, index) => {
                    index.hash(out);
                    Self::look(cx, defining_op, steps - 1, out);
                }
                Def::Argument(_, index) => index.hash(out),
            }
        }
        let to = cx.attr(op, "to").map(|it| cx.interner().attr_data(it));
        if let Some(AttrData::Symbol(path)) = to {
            match cx.resolve_symbol(op, path[0]) {
                Some(meant) => number(cx, meant, "x").hash(out),
                None => 7.hash(out),
            }
        }
    }
}

impl SparseForward for DefinitionReader {
    type Fact = Digest;
    type Base = ();

    fn transfer(
        &mut self,
        cx: &AnalysisContext<'_, ()>,
        op: Op,
        result: usize,
        operands: &[Digest],
    ) -> Digest {
        let mut out = FxHasher::default();
        result.hash(&mut out);
        if self.adds_facts {
            for it in operands {
                match it {
                    Digest::Bottom => return Digest::Bottom,
                    Digest::Of(number) => number.hash(&mut out),
                    Digest::Unknown => return Digest::Unknown,
                }
            }
        }
        Self::look(cx, op, self.steps, &mut out);
        Digest::Of(out.finish())
    }

    fn refine(&self, cx: &AnalysisContext<'_, ()>, value: Value, fact: Digest) -> Digest {
        // An attribute of the enclosing op determines the fact of its argument.
        match cx.entry_argument(value) {
            Some((holder, _)) if number(cx, holder, "x").is_some_and(|it| it > 1) => Digest::Of(1),
            _ => fact,
        }
    }
}

/// The facts of the first analysis.
struct Below(SparseSolver<DefinitionReader>);

impl BaseAnalyses for Below {
    type Facts<'a> = Option<Digest>;

    fn facts_of(&self, _: &Interner, _: Type, value: Value) -> Option<Digest> {
        self.0.fact(value).copied()
    }

    fn interval(&self, _: &Interner, _: Type, _: Value) -> Interval {
        Interval::Unknown
    }
}

/// Reads base facts about operands, about the operands of their definitions, and so on.
#[derive(Debug)]
struct BaseReader {
    steps: usize,
}

impl BaseReader {
    fn look(cx: &AnalysisContext<'_, Below>, op: Op, steps: usize, out: &mut impl Hasher) {
        for value in cx.op(op).operands.iter().filter_map(|it| it.value) {
            match cx.def(value) {
                Def::Result(defining_op, _) if steps > 0 => {
                    Self::look(cx, defining_op, steps - 1, out);
                }
                _ => format!("{:?}", cx.base_facts(value)).hash(out),
            }
        }
    }
}

impl SparseForward for BaseReader {
    type Fact = Digest;
    type Base = Below;

    fn transfer(
        &mut self,
        cx: &AnalysisContext<'_, Below>,
        op: Op,
        _: usize,
        _: &[Digest],
    ) -> Digest {
        let mut out = FxHasher::default();
        Self::look(cx, op, self.steps, &mut out);
        Digest::Of(out.finish())
    }
}

/// Returns a program of ops with random operands and symbols.
fn program(random: &mut Random) -> String {
    let mut text = String::new();
    for at in 0..3 {
        text += &format!("memref.global \"private\" @g{at} : memref<1xi8> {{x = {at} : i64}}\n");
    }
    text += "func.func @f(%v0: i8, %k: i1) attributes {x = 1 : i64} {\n";
    let n = 4 + random.below(8);
    for at in 1..n {
        let (a, b) = (random.below(at), random.below(at));
        let (name, x) = (random.pick(&["a.one", "a.two"]), random.below(3));
        let to = random.below(4);
        text += &format!(
            "  %v{at} = \"{name}\"(%v{a}, %v{b}) {{to = @g{to}, x = {x} : i64}} : (i8, i8) -> i8\n"
        );
    }
    text + "  return\n}\n"
}

/// Returns a random edit of a name, a number, a type, an operand, or a line.
fn edit(random: &mut Random, text: &str) -> (std::ops::Range<usize>, String) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = random.below(lines.len());
    let start: usize = lines[..at].iter().map(|it| it.len()).sum();
    let line = lines[at];
    let words = [
        ("a.one", "a.two"),
        ("a.two", "a.one"),
        ("x = 1", "x = 2"),
        ("x = 2", "x = 0"),
        ("x = 0", "x = 1"),
        ("@g1", "@g3"),
        ("@g3", "@g1"),
        ("-> i8", "-> i16"),
        ("-> i16", "-> i8"),
        ("(%v0, ", "(%v1, "),
        ("(%v1, ", "(%v0, "),
    ];
    let (from, to) = *random.pick(&words);
    match line.find(from) {
        Some(found) => (start + found..start + found + from.len(), to.to_owned()),
        None if line.starts_with("  %") && random.below(3) == 0 => {
            (start..start + line.len(), String::new())
        }
        None => (start..start, String::new()),
    }
}

#[test]
fn revisits_readers_after_edits() {
    let (mut n_moved, mut n_moved_above) = (0, 0);
    for seed in 1..=400 {
        let mut random = Random::new(seed * 7919 + 1);
        let text = program(&mut random);
        let mut source = Source::new(&text);
        let steps = seed as usize % 3;
        let curious = || DefinitionReader { adds_facts: seed % 2 == 0, steps };
        let mut below =
            Below(SparseSolver::new(&AnalysisInput { ir: source.ir(), base: &() }, curious()));
        let mut above = SparseSolver::new(
            &AnalysisInput { ir: source.ir(), base: &below },
            BaseReader { steps },
        );
        for _ in 0..12 {
            let (range, new) = edit(&mut random, &source.text().to_string());
            let delta = source.edit(range, &new);
            let ir = source.ir();
            let input = AnalysisInput { ir, base: &() };
            below.0.update(&input, &delta, &ChangedValues::These(Vec::new()));
            let moved = below.0.changed_values().clone();
            n_moved += usize::from(moved != ChangedValues::These(Vec::new()));
            let anew = SparseSolver::new(&input, curious());
            let input = AnalysisInput { ir, base: &below };
            above.update(&input, &delta, &moved);
            n_moved_above +=
                usize::from(*above.changed_values() != ChangedValues::These(Vec::new()));
            let anew_above = SparseSolver::new(&input, BaseReader { steps });
            ir.walk(ir.root(), &mut |op| {
                for &value in &ir.op(op).results {
                    let text = source.text().to_string();
                    assert_eq!(below.0.fact(value), anew.fact(value), "seed {seed}\n{text}");
                    assert_eq!(above.fact(value), anew_above.fact(value), "seed {seed}\n{text}");
                }
            });
        }
    }
    assert!(n_moved > 400 && n_moved_above > 400, "{n_moved} {n_moved_above}");
}
