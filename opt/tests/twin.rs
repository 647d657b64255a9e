//! Random programs compute the same before and after passes. The interpreter shares no code with
//! the folds, patterns and analyses.

mod common;
mod lints;
mod machine;

use common::read;
use machine::{Machine, Number, Run};
use noisy_syntax::{Ir, Op, Source, print};
use proptest::prelude::*;
use std::fmt::Write as _;

/// Writes a program that random numbers determine.
struct Writer {
    out: String,
    next: usize,
    numbers: Vec<u16>,
    at: usize,
}

const TYPES: [&str; 3] = ["i1", "i4", "i8"];

type Scope = [Vec<String>; 3];

impl Writer {
    fn pick(&mut self, n: usize) -> usize {
        let it = self.numbers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(it) % n
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn value(&mut self, scope: &mut Scope, ty: usize) -> String {
        if scope[ty].is_empty() || self.pick(4) == 0 {
            let name = self.name();
            let number = match ty {
                0 => ["false", "true"][self.pick(2)].to_owned(),
                _ => format!("{} : {}", [0, 1, -1, 2, 3, -8, 7][self.pick(7)], TYPES[ty]),
            };
            let _ = writeln!(self.out, "{name} = arith.constant {number}");
            scope[ty].push(name.clone());
            return name;
        }
        let at = self.pick(scope[ty].len());
        scope[ty][at].clone()
    }

    fn statement(&mut self, scope: &mut Scope, depth: usize, has_callee: bool) {
        let ty = self.pick(3);
        let name = self.name();
        match self.pick(17) {
            0..=5 => {
                const OPS: [&str; 22] = [
                    "addi",
                    "subi",
                    "muli",
                    "andi",
                    "ori",
                    "xori",
                    "minsi",
                    "maxsi",
                    "minui",
                    "maxui",
                    "divui",
                    "remui",
                    "ceildivui",
                    "divsi",
                    "remsi",
                    "floordivsi",
                    "ceildivsi",
                    "shli",
                    "shrui",
                    "shrsi",
                    "addi",
                    "xori",
                ];
                let op = OPS[self.pick(OPS.len())];
                let (a, b) = (self.value(scope, ty), self.value(scope, ty));
                let _ = writeln!(self.out, "{name} = arith.{op} {a}, {b} : {}", TYPES[ty]);
                scope[ty].push(name);
            }
            6 => {
                const PREDICATES: [&str; 10] =
                    ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
                let it = PREDICATES[self.pick(10)];
                let (a, b) = (self.value(scope, ty), self.value(scope, ty));
                let _ = writeln!(self.out, "{name} = arith.cmpi {it}, {a}, {b} : {}", TYPES[ty]);
                scope[0].push(name);
            }
            7 => {
                let c = self.value(scope, 0);
                let (a, b) = (self.value(scope, ty), self.value(scope, ty));
                let _ = writeln!(self.out, "{name} = arith.select {c}, {a}, {b} : {}", TYPES[ty]);
                scope[ty].push(name);
            }
            8 => {
                let to = self.pick(3);
                if to == ty {
                    return;
                }
                let a = self.value(scope, ty);
                let op = if to < ty { "trunci" } else { ["extsi", "extui"][self.pick(2)] };
                let _ =
                    writeln!(self.out, "{name} = arith.{op} {a} : {} to {}", TYPES[ty], TYPES[to]);
                scope[to].push(name);
            }
            9 | 10 if depth > 0 => {
                let c = self.value(scope, 0);
                let other = self.pick(3);
                let _ = writeln!(
                    self.out,
                    "{name}:2 = scf.if {c} -> ({}, {}) {{",
                    TYPES[ty], TYPES[other]
                );
                for at in 0..2 {
                    let mut inner = scope.clone();
                    for _ in 0..self.pick(4) {
                        self.statement(&mut inner, depth - 1, has_callee);
                    }
                    let (a, b) = (self.value(&mut inner, ty), self.value(&mut inner, other));
                    let _ =
                        writeln!(self.out, "scf.yield {a}, {b} : {}, {}", TYPES[ty], TYPES[other]);
                    self.out += if at == 0 { "} else {\n" } else { "}\n" };
                }
                scope[ty].push(format!("{name}#0"));
                scope[other].push(format!("{name}#1"));
            }
            11 | 12 if depth > 0 => {
                let other = self.pick(3);
                let (a, b) = (self.value(scope, ty), self.value(scope, other));
                let [low, high, step, iv, x, y] = [(); 6].map(|()| self.name());
                let (from, to, by) = (self.pick(3), self.pick(5), 1 + self.pick(2));
                let _ = writeln!(
                    self.out,
                    "{low} = arith.constant {from} : index\n{high} = arith.constant {to} : index\n\
                     {step} = arith.constant {by} : index\n{name}:2 = scf.for {iv} = {low} to {high} step {step} \
                     iter_args({x} = {a}, {y} = {b}) -> ({}, {}) {{",
                    TYPES[ty], TYPES[other]
                );
                let mut inner = scope.clone();
                inner[ty].push(x);
                inner[other].push(y);
                let cast = self.name();
                let _ = writeln!(self.out, "{cast} = arith.index_cast {iv} : index to i8");
                inner[2].push(cast);
                for _ in 0..self.pick(4) {
                    self.statement(&mut inner, depth - 1, has_callee);
                }
                let (a, b) = (self.value(&mut inner, ty), self.value(&mut inner, other));
                let _ =
                    writeln!(self.out, "scf.yield {a}, {b} : {}, {}\n}}", TYPES[ty], TYPES[other]);
                scope[ty].push(format!("{name}#0"));
                scope[other].push(format!("{name}#1"));
            }
            13 if has_callee => {
                let (a, b) = (self.value(scope, 1), self.value(scope, 2));
                let _ = writeln!(
                    self.out,
                    "{name}:2 = func.call @callee({a}, {b}) : (i4, i8) -> (i4, i8)"
                );
                scope[1].push(format!("{name}#0"));
                scope[2].push(format!("{name}#1"));
            }
            14 => {
                let _ =
                    writeln!(self.out, "{name} = memref.load %slot{ty}[] : memref<{}>", TYPES[ty]);
                scope[ty].push(name);
            }
            15 | 16 => {
                let a = self.value(scope, ty);
                let _ = writeln!(self.out, "memref.store {a}, %slot{ty}[] : memref<{}>", TYPES[ty]);
            }
            _ => {}
        }
    }

    /// Writes a function with a slot of each type that ends in a diamond of blocks, which may be
    /// repeated.
    fn function(&mut self, header: &str, has_callee: bool) {
        let _ = writeln!(self.out, "func.func {header}(%a: i4, %b: i8) -> (i4, i8) {{");
        for (at, ty) in TYPES.iter().enumerate() {
            let _ = writeln!(self.out, "%slot{at} = memref.alloca() : memref<{ty}>");
        }
        let rounds = self.pick(4);
        let _ = writeln!(
            self.out,
            "%left = memref.alloca() : memref<i8>\n%rounds = arith.constant {rounds} : i8\n\
             memref.store %rounds, %left[] : memref<i8>"
        );
        let mut scope: Scope = [Vec::new(), vec!["%a".to_owned()], vec!["%b".to_owned()]];
        for _ in 0..3 + self.pick(8) {
            self.statement(&mut scope, 2, has_callee);
        }
        let condition = self.value(&mut scope, 0);
        let (x, y) = (self.value(&mut scope, 1), self.value(&mut scope, 1));
        let _ = writeln!(self.out, "cf.cond_br {condition}, ^one({x} : i4), ^two({y} : i4)");
        let mut ends = Vec::new();
        for (label, arg) in [("one", "%p"), ("two", "%q")] {
            let _ = writeln!(self.out, "^{label}({arg}: i4):");
            let mut inner = scope.clone();
            inner[1].push(arg.to_owned());
            for _ in 0..self.pick(4) {
                self.statement(&mut inner, 1, has_callee);
            }
            let (a, b) = (self.value(&mut inner, 1), self.value(&mut inner, 2));
            let _ = writeln!(self.out, "cf.br ^end({a}, {b} : i4, i8)");
            ends.push((a, b));
        }
        self.out += "^end(%r: i4, %s: i8):
%n = memref.load %left[] : memref<i8>
%c1 = arith.constant 1 : i8
%m = arith.subi %n, %c1 : i8
memref.store %m, %left[] : memref<i8>
%again = arith.cmpi sgt, %m, %c1 : i8
cf.cond_br %again, ^one(%r : i4), ^exit
^exit:
%x = memref.load %slot1[] : memref<i4>
%y = memref.load %slot2[] : memref<i8>
%z = arith.xori %y, %s : i8
return %x, %z : i4, i8
}
";
    }
}

fn program(numbers: &[u16]) -> String {
    let mut writer = Writer { out: String::new(), next: 0, numbers: numbers.to_vec(), at: 0 };
    writer.function("private @callee", false);
    writer.next = 0;
    writer.function("@main", true);
    writer.out
}

fn main_of(ir: &Ir) -> Op {
    let found = ir
        .functions()
        .into_iter()
        .find(|&it| ir.extra(it).symbol.is_some_and(|it| ir.interner.str(it.0) == "main"));
    found.expect("the function stays")
}

fn transformed(text: &str, pipeline: &str) -> Ir {
    common::run(pipeline, text).unwrap_or_else(|told| panic!("{told:?}\n{text}"))
}

const PIPELINES: &[&str] = &[
    "builtin.module(canonicalize)",
    "builtin.module(canonicalize{top-down=false region-simplify=aggressive})",
    "builtin.module(cse)",
    "builtin.module(func.func(sccp))",
    "builtin.module(sccp,canonicalize)",
    "builtin.module(loop-invariant-code-motion,control-flow-sink)",
    "builtin.module(int-range-optimizations,arith-unsigned-when-equivalent)",
    "builtin.module(remove-dead-values)",
    "builtin.module(inline,symbol-dce,cse)",
    "builtin.module(test-constant-fold,trivial-dce)",
    "builtin.module(func.func(mem2reg))",
    "builtin.module(arith-int-narrowing{int-bitwidths-supported=2,4,5,6,7})",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passes_preserve_results(
        numbers in prop::collection::vec(any::<u16>(), 1..400),
        args in prop::collection::vec((0_u64..16, 0_u64..256), 4),
    ) {
        let text = program(&numbers);
        let before = read(&text);
        let expected: Vec<Run<Vec<Number>>> = args
            .iter()
            .map(|&(a, b)| Machine::call(&before, main_of(&before), &[Some(a), Some(b)], 20_000))
            .collect();
        for pipeline in PIPELINES {
            let after = transformed(&text, pipeline);
            for (&(a, b), expected) in args.iter().zip(&expected) {
                // A program with undefined behavior may compute anything, and poison may become any
                // number.
                let Ok(expected) = expected else { continue };
                let found =
                    Machine::call(&after, main_of(&after), &[Some(a), Some(b)], 20_000);
                let is_same = found.as_ref().is_ok_and(|found| {
                    let mut both = found.iter().zip(expected);
                    both.all(|(found, expected)| expected.is_none() || found == expected)
                });
                prop_assert!(
                    is_same, "{} of {} {}: {:?} became {:?}\n{}\n{}",
                    pipeline, a, b, expected, found, text, print::custom(&after)
                );
            }
            // The printed program must be valid.
            let printed = print::custom(&after);
            let again = Source::new(&printed);
            prop_assert!(again.problems().is_empty(), "{:?}\n{}", again.problems(), printed);
        }
    }
}

#[test]
fn lint_fixes_preserve_results() {
    let mut n_fixed = 0;
    for seed in 1..=300_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut numbers = Vec::new();
        for _ in 0..60 + 2 * seed {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            numbers.push((state >> 40) as u16);
        }
        let text = lints::with_line_comments(&program(&numbers));
        let (after, n) = lints::apply_fixes(&text, seed % 2 == 0);
        n_fixed += n;
        let (before, after_ir) = (read(&text), read(&after));
        for (a, b) in [(0, 0), (3, 200), (15, 7), (8, 128)] {
            let run = |ir: &Ir| Machine::call(ir, main_of(ir), &[Some(a), Some(b)], 20_000);
            // A program with undefined behavior may compute anything, and poison may become any
            // number.
            let Ok(expected) = run(&before) else { continue };
            let found = run(&after_ir);
            let is_same = found.as_ref().is_ok_and(|found| {
                let mut both = found.iter().zip(&expected);
                both.all(|(found, expected)| expected.is_none() || found == expected)
            });
            assert!(is_same, "{a} {b}: {expected:?} became {found:?}\n{text}became\n{after}");
        }
    }
    assert!(n_fixed > 1000, "{n_fixed}");
}

#[test]
fn switches_on_constants_select_the_case_with_equal_bits() {
    let text = "func.func @main() -> i8 {
  %flag = arith.constant -1 : i8
  %0 = arith.constant 10 : i8
  %1 = arith.constant 20 : i8
  cf.switch %flag : i8, [default: ^a, 255: ^b]
^a:
  return %0 : i8
^b:
  return %1 : i8
}
";
    for pipeline in ["builtin.module(canonicalize)", "builtin.module(sccp,canonicalize)"] {
        let after = transformed(text, pipeline);
        let found = Machine::call(&after, main_of(&after), &[], 100);
        assert_eq!(found, Ok(vec![Some(20)]), "{}", print::custom(&after));
    }
}

#[test]
fn quotients_of_poison_by_one_may_be_hoisted() {
    let text = "func.func @main() -> i4 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i4
  %one = arith.constant 1 : i4
  %all = arith.constant -1 : i4
  %poison = arith.shrsi %one, %all : i4
  %r = scf.for %i = %c1 to %c0 step %c1 iter_args(%x = %zero) -> (i4) {
    %q = arith.floordivsi %poison, %one : i4
    scf.yield %q : i4
  }
  return %r : i4
}
";
    let after = transformed(text, PIPELINES[5]);
    assert_eq!(Machine::call(&after, main_of(&after), &[], 100), Ok(vec![Some(0)]));
}

#[test]
fn cycles_of_empty_blocks_become_one_block() {
    for n in [1, 2, 9, 1000] {
        let mut text = "func.func @main(%x: i8) {\n  cf.br ^b0(%x : i8)\n".to_owned();
        for i in 0..n {
            let to = (i + 1) % n;
            writeln!(text, "^b{i}(%p{i}: i8):\n  cf.br ^b{to}(%p{i} : i8)").expect("a string");
        }
        text.push_str("}\n");
        let after = transformed(&text, "builtin.module(canonicalize)");
        let region = after.op(main_of(&after)).regions[0].1;
        assert_eq!(after.blocks(region).len(), 2, "{}", print::custom(&after));
    }
}
