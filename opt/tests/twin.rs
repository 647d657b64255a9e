//! Random programs run the same before and after passes. What runs them is an interpreter of its own, which shares nothing with the
//! folds, patterns and analyses.

mod common;
mod lints;

use common::read;
use noisy_syntax::{AttrData, Block, Ir, Op, Region, Source, TypeData, Value, print};
use proptest::prelude::*;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Why a program has no result.
#[derive(Debug, PartialEq)]
enum Stop {
    /// It has no meaning.
    Undefined,
    /// It ran for too long.
    Long,
}

type Run<X> = Result<X, Stop>;

/// A number; `None` is poison: what a shift by too much gives. It harms only who decides by it or divides by it.
type Number = Option<u64>;

/// Runs functions over integers that are kept as the low bits of their type.
struct Machine<'a> {
    ir: &'a Ir,
    values: HashMap<Value, Number>,
    /// The buffers of one element; a buffer is the number of its cell.
    cells: Vec<Number>,
    fuel: usize,
}

/// What a block ended with.
enum End {
    Return(Vec<Number>),
    Yield(Vec<Number>),
}

impl<'a> Machine<'a> {
    fn call(ir: &'a Ir, function: Op, args: &[Number], fuel: usize) -> Run<Vec<Number>> {
        let mut machine = Machine { ir, values: HashMap::new(), cells: Vec::new(), fuel };
        match machine.region(ir.op(function).regions[0].1, args)? {
            End::Return(values) | End::Yield(values) => Ok(values),
        }
    }

    fn width(&self, value: Value) -> u32 {
        match self.ir.interner.type_data(self.ir.value(value).ty) {
            TypeData::Int { width, .. } => *width,
            TypeData::Index | TypeData::MemRef { .. } => 64,
            other => panic!("no integer: {other:?}"),
        }
    }

    fn region(&mut self, region: Region, args: &[Number]) -> Run<End> {
        let mut block: Block = self.ir.blocks(region)[0];
        let mut args = args.to_vec();
        loop {
            for (&arg, &value) in self.ir.block(block).args.iter().zip(&args) {
                self.values.insert(arg, value);
            }
            let ops: Vec<Op> = self.ir.block_ops(block).collect();
            let (&last, ops) = ops.split_last().expect("a terminator");
            for &op in ops {
                self.op(op)?;
            }
            self.spend()?;
            let inputs = self.inputs(last);
            let way = match self.ir.op_name(last) {
                "func.return" => return Ok(End::Return(inputs)),
                "scf.yield" => return Ok(End::Yield(inputs)),
                "cf.br" => 0,
                "cf.cond_br" => usize::from(inputs[0].ok_or(Stop::Undefined)? == 0),
                other => panic!("no terminator: {other}"),
            };
            block = self.ir.extra(last).successors[way].block.expect("resolved");
            args = self.ir.passed_operands(last, way).iter().map(|it| self.values[it]).collect();
        }
    }

    fn spend(&mut self) -> Run<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop::Long)?;
        Ok(())
    }

    fn inputs(&self, op: Op) -> Vec<Number> {
        let operands = self.ir.op(op).operands.iter();
        operands.map(|it| self.values[&it.value.expect("resolved")]).collect()
    }

    fn yielded(&mut self, region: Region, args: &[Number]) -> Run<Vec<Number>> {
        match self.region(region, args)? {
            End::Yield(values) => Ok(values),
            End::Return(_) => panic!("a return within a region"),
        }
    }

    fn op(&mut self, op: Op) -> Run<()> {
        self.spend()?;
        let x = self.inputs(op);
        let data = self.ir.op(op);
        let name = self.ir.op_name(op);
        let regions: Vec<Region> = data.regions.iter().map(|it| it.1).collect();
        let out: Vec<Number> = match name {
            "scf.if" => {
                let region = regions[usize::from(x[0].ok_or(Stop::Undefined)? == 0)];
                if self.ir.items(region).next().is_none() {
                    Vec::new()
                } else {
                    self.yielded(region, &[])?
                }
            }
            "scf.for" => {
                let bound = |at: usize| x[at].map(u64::cast_signed).ok_or(Stop::Undefined);
                let (mut at, end, step) = (bound(0)?, bound(1)?, bound(2)?);
                if step <= 0 {
                    return Err(Stop::Undefined);
                }
                let mut carried = x[3..].to_vec();
                while at < end {
                    let first = std::iter::once(Some(at.cast_unsigned()));
                    let args: Vec<Number> = first.chain(carried).collect();
                    carried = self.yielded(regions[0], &args)?;
                    at += step;
                }
                carried
            }
            "func.call" => {
                let AttrData::Symbol(path) =
                    self.ir.interner.attr_data(self.ir.attr(op, "callee").expect("a callee"))
                else {
                    panic!("no symbol");
                };
                let callee = self.ir.resolve_symbol(op, path[0]).expect("a function");
                Machine::call(self.ir, callee, &x, self.fuel / 2)?
            }
            "memref.alloca" => {
                self.cells.push(None);
                vec![Some(self.cells.len() as u64 - 1)]
            }
            "memref.load" => vec![self.cells[x[0].expect("a buffer") as usize]],
            "memref.store" => {
                self.cells[x[1].expect("a buffer") as usize] = x[0];
                Vec::new()
            }
            _ => vec![self.arith(op, name, &x)?],
        };
        for (&result, value) in data.results.iter().zip(out) {
            let width = self.width(result);
            self.values.insert(result, value.map(|it| it & mask(width)));
        }
        Ok(())
    }

    fn arith(&self, op: Op, name: &str, inputs: &[Number]) -> Run<Number> {
        if let ("arith.select", &[Some(condition), a, b]) = (name, inputs) {
            return Ok(if condition != 0 { a } else { b });
        }
        let Some(x) = inputs.iter().copied().collect::<Option<Vec<u64>>>() else {
            // A divisor that may be anything may be zero. A dividend that may be anything may be the one whose quotient by -1 overflows.
            let is_quotient = ["div", "rem"].iter().any(|it| name.contains(it));
            let is_defined = inputs.get(1).copied().flatten().is_some_and(|divisor| {
                let minus_one = mask(self.width(self.ir.op(op).results[0]));
                divisor != 0 && (divisor != minus_one || name.contains('u'))
            });
            return if is_quotient && !is_defined { Err(Stop::Undefined) } else { Ok(None) };
        };
        let data = self.ir.op(op);
        let width = match data.operands.first() {
            Some(it) => self.width(it.value.expect("resolved")),
            None => self.width(data.results[0]),
        };
        let signed = |it: u64| -> i64 { (it << (64 - width)).cast_signed() >> (64 - width) };
        let (a, b) = (x.first().copied().unwrap_or(0), x.get(1).copied().unwrap_or(0));
        let (sa, sb) = (signed(a), signed(b));
        let overflows = sb == -1 && sa == signed(1 << (width - 1));
        let is_bad_quotient = b == 0 || overflows;
        Ok(Some(match name.strip_prefix("arith.").expect("arithmetic") {
            "constant" => match self.ir.interner.attr_data(self.ir.attr(op, "value").expect("one"))
            {
                AttrData::Bool(it) => u64::from(*it),
                AttrData::Int { value, .. } => *value as u64,
                other => panic!("no number: {other:?}"),
            },
            "addi" => a.wrapping_add(b),
            "subi" => a.wrapping_sub(b),
            "muli" => a.wrapping_mul(b),
            "andi" => a & b,
            "ori" => a | b,
            "xori" => a ^ b,
            "minsi" => {
                if sa < sb {
                    a
                } else {
                    b
                }
            }
            "maxsi" => {
                if sa > sb {
                    a
                } else {
                    b
                }
            }
            "minui" => a.min(b),
            "maxui" => a.max(b),
            "divui" | "remui" | "ceildivui" if b == 0 => return Err(Stop::Undefined),
            "divui" => a / b,
            "remui" => a % b,
            "ceildivui" => a / b + u64::from(a % b != 0),
            "divsi" | "remsi" | "floordivsi" | "ceildivsi" if is_bad_quotient => {
                return Err(Stop::Undefined);
            }
            "divsi" => (sa / sb).cast_unsigned(),
            "remsi" => (sa % sb).cast_unsigned(),
            "floordivsi" => {
                (sa / sb - i64::from(sa % sb != 0 && (sa < 0) != (sb < 0))).cast_unsigned()
            }
            "ceildivsi" => {
                (sa / sb + i64::from(sa % sb != 0 && (sa < 0) == (sb < 0))).cast_unsigned()
            }
            "shli" | "shrui" | "shrsi" if b >= u64::from(width) => return Ok(None),
            "shli" => a << b,
            "shrui" => a >> b,
            "shrsi" => (sa >> b).cast_unsigned(),
            "extui" | "trunci" | "index_castui" => a,
            "extsi" | "index_cast" => sa.cast_unsigned(),
            "cmpi" => {
                let attr = self.ir.attr(op, "predicate").expect("a predicate");
                let AttrData::Int { value, .. } = self.ir.interner.attr_data(attr) else {
                    panic!("no number");
                };
                u64::from(match value {
                    0 => a == b,
                    1 => a != b,
                    2 => sa < sb,
                    3 => sa <= sb,
                    4 => sa > sb,
                    5 => sa >= sb,
                    6 => a < b,
                    7 => a <= b,
                    8 => a > b,
                    9 => a >= b,
                    _ => panic!("no predicate"),
                })
            }
            other => panic!("not known: {other}"),
        }))
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Writes a program by the numbers it is given.
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

    /// A function with a slot of each type, that ends in a diamond of blocks, which may run again.
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

const PIPELINES: [&str; 12] = [
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
    fn passes_keep_what_programs_compute(
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
                // A program without a meaning may become any other, and poison any number.
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
            // What is printed is the same program.
            let printed = print::custom(&after);
            let again = Source::new(&printed);
            prop_assert!(again.problems().is_empty(), "{:?}\n{}", again.problems(), printed);
        }
    }
}

#[test]
fn fixes_of_lints_keep_what_programs_compute() {
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
        let text = lints::commented(&program(&numbers));
        let (after, n) = lints::fixed(&text, seed % 2 == 0);
        n_fixed += n;
        let (before, after_ir) = (read(&text), read(&after));
        for (a, b) in [(0, 0), (3, 200), (15, 7), (8, 128)] {
            let run = |ir: &Ir| Machine::call(ir, main_of(ir), &[Some(a), Some(b)], 20_000);
            // A program without a meaning may become any other, and poison any number.
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
fn a_switch_on_a_constant_goes_to_the_case_of_the_same_bits() {
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
fn a_quotient_of_poison_by_one_may_leave_a_loop_that_never_runs() {
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
fn a_ring_of_blocks_that_only_branch_becomes_one_block() {
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
