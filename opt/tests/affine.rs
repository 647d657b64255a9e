//! Random affine programs run the same before and after the passes over affine loops. What runs them shares nothing with the passes.

mod common;

use std::collections::HashMap;
use std::fmt::Write as _;

use common::read;
use noisy_loops::Aliasing;
use noisy_loops::edit::{Options, offers};
use noisy_syntax::affine::{Affine, Body};
use noisy_syntax::{AttrData, Dim, Ir, Op, OpKind, Region, Source, TypeData, Value, print};

/// Random numbers by xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Writes programs: nests over two memrefs whose elements are numbers of 64 bits.
struct Writer {
    random: Random,
    out: String,
    n: usize,
    /// All loops have the same bounds.
    is_plain: bool,
}

impl Writer {
    fn subscript(&mut self, depth: usize) -> String {
        let shift = self.random.pick(&["", "", " + 1", " - 1", " + 2", " - 2"]);
        if depth == 0 {
            return format!("{}", self.random.below(4));
        }
        let iv = self.random.below(depth as u64);
        if depth > 1 && self.random.below(6) == 0 {
            let other = self.random.below(depth as u64);
            let sign = self.random.pick(&["+", "-"]);
            return format!("%i{iv} {sign} %i{other}{shift}");
        }
        format!("%i{iv}{shift}")
    }

    fn access(&mut self, depth: usize) -> String {
        let (a, b) = (self.subscript(depth), self.subscript(depth));
        format!("{}[{a}, {b}]", self.random.pick(&["%A", "%B"]))
    }

    fn statement(&mut self, depth: usize) {
        let n = self.n;
        self.n += 1;
        let (from, other, to) = (self.access(depth), self.access(depth), self.access(depth));
        let op = self.random.pick(&["addi", "subi", "muli"]);
        let ty = "memref<?x?xi64>";
        let _ = writeln!(self.out, "%a{n} = affine.load {from} : {ty}");
        let _ = writeln!(self.out, "%b{n} = affine.load {other} : {ty}");
        let _ = writeln!(self.out, "%c{n} = arith.{op} %a{n}, %b{n} : i64");
        let _ = writeln!(self.out, "%d{n} = arith.addi %c{n}, %k : i64");
        let _ = writeln!(self.out, "affine.store %d{n}, {to} : {ty}");
    }

    fn nest(&mut self, depth: usize, left: usize) {
        let low = match (depth, self.random.below(5)) {
            (1.., 0) => format!("affine_map<(d0) -> (d0)>(%i{})", self.random.below(depth as u64)),
            (1.., 1) => {
                format!(
                    "max affine_map<(d0) -> (d0 - 1, 1)>(%i{})",
                    self.random.below(depth as u64)
                )
            }
            _ => self.random.pick(&["0", "1", "2"]).to_owned(),
        };
        let high = match (depth, self.random.below(6)) {
            (1.., 0) => {
                format!("affine_map<(d0) -> (d0 + 2)>(%i{})", self.random.below(depth as u64))
            }
            (1.., 1) => {
                format!(
                    "min affine_map<(d0) -> (d0 + 3, 6)>(%i{})",
                    self.random.below(depth as u64)
                )
            }
            (_, 2) => "%n".to_owned(),
            _ => self.random.pick(&["0", "3", "5", "7"]).to_owned(),
        };
        let step = self.random.pick(&["", "", "", "", " step 2"]);
        let (low, high, step) =
            if self.is_plain { ("0".into(), "5".into(), "") } else { (low, high, step) };
        let _ = writeln!(self.out, "affine.for %i{depth} = {low} to {high}{step} {{");
        let is_last = left <= 1;
        if is_last || self.random.below(4) == 0 {
            self.statement(depth + 1);
        }
        if is_last {
            if self.random.below(4) == 0 {
                let iv = self.random.below(depth as u64 + 1);
                let _ = writeln!(self.out, "affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%i{iv}) {{");
                self.statement(depth + 1);
                self.out.push_str("}\n");
            } else if self.random.below(3) == 0 {
                self.statement(depth + 1);
            }
        } else {
            self.nest(depth + 1, left - 1);
            if self.random.below(4) == 0 {
                self.statement(depth + 1);
            }
        }
        self.out.push_str("}\n");
    }

    fn program(seed: u64) -> String {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let is_plain = random.below(3) == 0;
        let mut it = Self { random, out: String::new(), n: 0, is_plain };
        it.out.push_str(
            "func.func @f(%s0: index, %s1: index, %s2: index, %A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %k: i64) {\n",
        );
        for _ in 0..=it.random.below(2) {
            let depth = 1 + it.random.below(3) as usize;
            it.nest(0, depth);
        }
        it.out.push_str("return\n}\n");
        it.out
    }
}

/// Runs a function. Memrefs have an element at each pair of indices.
struct Machine<'a> {
    ir: &'a Ir,
    values: HashMap<Value, i64>,
    memory: HashMap<(Value, Vec<i64>), i64>,
    /// The sizes of memrefs that the function allocates.
    sizes: HashMap<Value, Vec<i64>>,
    /// Whether an element of such a memref was read before it was written, or one outside of it was touched.
    is_wrong: bool,
}

impl Machine<'_> {
    fn value(&self, op: Op, at: usize) -> i64 {
        self.values[&self.ir.op(op).operands[at].value.unwrap()]
    }

    fn affine(&self, op: Op, name: &str) -> &Affine {
        match self.ir.interner.attr_data(self.ir.attr(op, name).unwrap()) {
            AttrData::Affine(map) => map,
            other => panic!("{other:?}"),
        }
    }

    /// The results of a map applied to operands from one on, and how many those are.
    fn mapped(&self, op: Op, name: &str, first: usize) -> (Vec<i64>, usize) {
        let map = self.affine(op, name);
        let n = map.n_inputs();
        let inputs: Vec<i64> = (first..first + n).map(|it| self.value(op, it)).collect();
        let (dims, symbols) = inputs.split_at(map.n_dims as usize);
        let exprs: Vec<_> = match &map.body {
            Body::Map(all) => all.iter().collect(),
            Body::Set(all) => all.iter().map(|it| &it.0).collect(),
        };
        (exprs.iter().map(|it| it.eval(dims, symbols).unwrap()).collect(), n)
    }

    fn memref(&self, op: Op, at: usize) -> Value {
        self.ir.op(op).operands[at].value.unwrap()
    }

    /// Notes an access that a program must not make.
    fn check(&mut self, key: &(Value, Vec<i64>), is_load: bool) {
        let Some(sizes) = self.sizes.get(&key.0) else { return };
        let is_inside = key.1.iter().zip(sizes).all(|(at, size)| (0..*size).contains(at));
        self.is_wrong |= !is_inside || (is_load && !self.memory.contains_key(key));
    }

    /// An element that nothing was written to is told by its place.
    fn fresh(index: &[i64]) -> i64 {
        index.iter().fold(7, |a: i64, b| a.wrapping_mul(31).wrapping_add(*b))
    }

    fn region(&mut self, region: Region) -> Vec<i64> {
        let block = self.ir.blocks(region)[0];
        let ops: Vec<Op> = self.ir.block_ops(block).collect();
        for op in ops {
            let data = self.ir.op(op);
            match data.kind {
                OpKind::AffineFor => {
                    let (low, n) = self.mapped(op, "lowerBoundMap", 0);
                    let (high, m) = self.mapped(op, "upperBoundMap", n);
                    let step = match self.ir.interner.attr_data(self.ir.attr(op, "step").unwrap()) {
                        AttrData::Int { value, .. } => i64::try_from(*value).unwrap(),
                        other => panic!("{other:?}"),
                    };
                    let region = data.regions[0].1;
                    let args = self.ir.block(self.ir.blocks(region)[0]).args.clone();
                    let inits = n + m..data.operands.len();
                    let mut carried: Vec<i64> = inits.map(|it| self.value(op, it)).collect();
                    let end = *high.iter().min().unwrap();
                    let mut iv = *low.iter().max().unwrap();
                    while iv < end {
                        self.values.insert(args[0], iv);
                        for (&arg, &value) in args[1..].iter().zip(&carried) {
                            self.values.insert(arg, value);
                        }
                        carried = self.region(region);
                        iv += step;
                    }
                    for (&result, &value) in data.results.iter().zip(&carried) {
                        self.values.insert(result, value);
                    }
                }
                OpKind::AffineIf => {
                    let Body::Set(all) = self.affine(op, "condition").body.clone() else {
                        panic!()
                    };
                    let (values, _) = self.mapped(op, "condition", 0);
                    let holds =
                        values.iter().zip(&all).all(|(v, it)| if it.1 { *v == 0 } else { *v >= 0 });
                    let region = data.regions[usize::from(!holds)].1;
                    if self.ir.items(region).next().is_some() {
                        let values = self.region(region);
                        for (&result, &value) in data.results.iter().zip(&values) {
                            self.values.insert(result, value);
                        }
                    }
                }
                OpKind::AffineParallel => {
                    let (low, n) = self.mapped(op, "lowerBoundsMap", 0);
                    let (high, _) = self.mapped(op, "upperBoundsMap", n);
                    let AttrData::Array(steps) =
                        self.ir.interner.attr_data(self.ir.attr(op, "steps").unwrap())
                    else {
                        panic!("no steps");
                    };
                    let step = match self.ir.interner.attr_data(steps[0]) {
                        AttrData::Int { value, .. } => usize::try_from(*value).unwrap(),
                        other => panic!("{other:?}"),
                    };
                    assert_eq!(steps.len(), 1, "the passes make loops of one variable");
                    let region = data.regions[0].1;
                    let iv = self.ir.block(self.ir.blocks(region)[0]).args[0];
                    let span = *low.iter().max().unwrap()..*high.iter().min().unwrap();
                    let all: Vec<i64> = span.step_by(step).collect();
                    // Any order will do; this one is the least like that of a loop.
                    for value in all.into_iter().rev() {
                        self.values.insert(iv, value);
                        self.region(region);
                    }
                }
                OpKind::AffineApply => {
                    let value = self.mapped(op, "map", 0).0[0];
                    self.values.insert(data.results[0], value);
                }
                OpKind::AffineMin => {
                    let value = *self.mapped(op, "map", 0).0.iter().min().unwrap();
                    self.values.insert(data.results[0], value);
                }
                OpKind::ScfFor => {
                    let region = data.regions[0].1;
                    let args = self.ir.block(self.ir.blocks(region)[0]).args.clone();
                    let (mut at, end) = (self.value(op, 0), self.value(op, 1));
                    let mut carried: Vec<i64> =
                        (3..data.operands.len()).map(|it| self.value(op, it)).collect();
                    while at < end {
                        self.values.insert(args[0], at);
                        for (&arg, &value) in args[1..].iter().zip(&carried) {
                            self.values.insert(arg, value);
                        }
                        carried = self.region(region);
                        at += self.value(op, 2);
                    }
                    for (&result, &value) in data.results.iter().zip(&carried) {
                        self.values.insert(result, value);
                    }
                }
                OpKind::ScfIf => {
                    let region = data.regions[usize::from(self.value(op, 0) == 0)].1;
                    if self.ir.items(region).next().is_some() {
                        self.region(region);
                    }
                }
                OpKind::MemrefLoad => {
                    let index: Vec<i64> =
                        (1..data.operands.len()).map(|it| self.value(op, it)).collect();
                    let key = (self.memref(op, 0), index);
                    let fresh = Self::fresh(&key.1);
                    let value = self.memory.get(&key).copied().unwrap_or(fresh);
                    self.values.insert(data.results[0], value);
                }
                OpKind::MemrefStore => {
                    let index: Vec<i64> =
                        (2..data.operands.len()).map(|it| self.value(op, it)).collect();
                    let key = (self.memref(op, 1), index);
                    self.memory.insert(key, self.value(op, 0));
                }
                OpKind::ArithCmpi => {
                    let AttrData::Int { value, .. } =
                        self.ir.interner.attr_data(self.ir.attr(op, "predicate").unwrap())
                    else {
                        panic!("no predicate");
                    };
                    let (a, b) = (self.value(op, 0), self.value(op, 1));
                    let holds = match value {
                        0 => a == b,
                        2 => a < b,
                        3 => a <= b,
                        5 => a >= b,
                        other => panic!("predicate {other} is not run"),
                    };
                    self.values.insert(data.results[0], i64::from(holds));
                }
                OpKind::ArithSelect => {
                    let which = if self.value(op, 0) == 0 { 2 } else { 1 };
                    self.values.insert(data.results[0], self.value(op, which));
                }
                OpKind::MemrefAlloc => {
                    let TypeData::MemRef { dims: Some(dims), .. } =
                        self.ir.interner.type_data(self.ir.value(data.results[0]).ty)
                    else {
                        panic!("no shape");
                    };
                    let size = |it: &Dim| match it {
                        Dim::Fixed(n) => i64::try_from(*n).unwrap(),
                        other => panic!("{other:?}"),
                    };
                    let memref = data.results[0];
                    self.sizes.insert(memref, dims.iter().map(size).collect());
                    self.memory.retain(|it, _| it.0 != memref);
                }
                OpKind::AffineLoad => {
                    let index = self.mapped(op, "map", 1).0;
                    let key = (self.memref(op, 0), index);
                    self.check(&key, true);
                    let fresh = Self::fresh(&key.1);
                    let value = self.memory.get(&key).copied().unwrap_or(fresh);
                    self.values.insert(data.results[0], value);
                }
                OpKind::AffineStore => {
                    let index = self.mapped(op, "map", 2).0;
                    let key = (self.memref(op, 1), index);
                    self.check(&key, false);
                    self.memory.insert(key, self.value(op, 0));
                }
                OpKind::ArithConstant => {
                    let AttrData::Int { value, .. } =
                        self.ir.interner.attr_data(self.ir.attr(op, "value").unwrap())
                    else {
                        panic!("no integer");
                    };
                    self.values.insert(data.results[0], i64::try_from(*value).unwrap());
                }
                OpKind::ArithAddi
                | OpKind::ArithSubi
                | OpKind::ArithMuli
                | OpKind::ArithDivsi
                | OpKind::ArithRemsi
                | OpKind::ArithMinsi
                | OpKind::ArithMaxsi
                | OpKind::ArithCeildivsi
                | OpKind::ArithAndi => {
                    let (a, b) = (self.value(op, 0), self.value(op, 1));
                    let value = match data.kind {
                        OpKind::ArithAddi => a.wrapping_add(b),
                        OpKind::ArithSubi => a.wrapping_sub(b),
                        OpKind::ArithDivsi => a / b,
                        OpKind::ArithRemsi => a % b,
                        OpKind::ArithCeildivsi => a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0),
                        OpKind::ArithMinsi => a.min(b),
                        OpKind::ArithMaxsi => a.max(b),
                        OpKind::ArithAndi => a & b,
                        _ => a.wrapping_mul(b),
                    };
                    self.values.insert(data.results[0], value);
                }
                OpKind::AffineYield | OpKind::ScfYield | OpKind::FuncReturn => {
                    return (0..data.operands.len()).map(|it| self.value(op, it)).collect();
                }
                other => panic!("{other:?} is not run"),
            }
        }
        Vec::new()
    }
}

/// What the memrefs hold in the end, by the number of the argument.
fn result(ir: &Ir, n: i64) -> Vec<(usize, Vec<i64>, i64)> {
    checked_result(ir, n).expect("nothing is read before it is written")
}

/// The same; `None` if the program reads what nobody wrote, or touches what is not there.
fn checked_result(ir: &Ir, n: i64) -> Option<Vec<(usize, Vec<i64>, i64)>> {
    let function = ir.functions()[0];
    let region = ir.op(function).regions[0].1;
    let args = ir.block(ir.blocks(region)[0]).args.clone();
    // Sizes of tiles, the bound, the number.
    let given = [(args[0], 2), (args[1], 3), (args[2], 1), (args[5], n), (args[6], 3)];
    let (values, memory, sizes) = (HashMap::from(given), HashMap::new(), HashMap::new());
    let mut it = Machine { ir, values, memory, sizes, is_wrong: false };
    it.region(region);
    if it.is_wrong {
        return None;
    }
    let number = |value: Value| args.iter().position(|it| *it == value);
    let all = it.memory.into_iter();
    let mut out: Vec<_> =
        all.filter_map(|((at, index), value)| Some((number(at)?, index, value))).collect();
    out.sort();
    Some(out)
}

fn transformed(text: &str, pass: &str) -> Ir {
    let done = common::run(&format!("builtin.module(func.func({pass}))"), text);
    done.unwrap_or_else(|told| panic!("{told:?}\n{text}"))
}

/// How many of the passes are schedules; each runs on a third of the programs.
const N_SCHEDULES: usize = 3;

const PASSES: [&str; 21] = [
    "affine-schedule{cache-size=0 tile-size=2 inner-tile-size=3 small-loop=0}",
    "affine-schedule{tile-size=4 inner-tile-size=8 jam-size=2 small-loop=0}",
    "affine-loop-normalize,affine-schedule{cache-size=0 tile-size=4 inner-tile-size=5 jam-size=3 small-loop=3}",
    "affine-loop-tile{tile-size=2}",
    "affine-loop-tile{tile-sizes=3,2}",
    "affine-loop-tile{tile-size=3 separate}",
    "affine-loop-tile{cache-size=1}",
    "affine-loop-unroll{unroll-factor=3}",
    "affine-loop-unroll{unroll-full=true}",
    "affine-loop-unroll-jam{unroll-jam-factor=2}",
    "affine-loop-normalize",
    "affine-simplify-structures",
    "test-loop-permutation{permutation-map=1,0}",
    "affine-loop-invariant-code-motion",
    "affine-loop-fusion",
    "affine-loop-fusion{fusion-maximal},affine-scalrep",
    "affine-scalrep",
    "affine-parallelize",
    "affine-loop-coalescing",
    "test-affine-parametric-tile",
    "lower-affine",
];

#[test]
fn passes_keep_what_programs_compute() {
    let mut n_changed = [0; PASSES.len()];
    for seed in 1..=120 {
        let text = Writer::program(seed);
        let before = read(&text);
        for (at, pass) in PASSES.iter().enumerate() {
            // A schedule costs more than all others.
            if at < N_SCHEDULES && seed % 3 != at as u64 {
                continue;
            }
            let after = transformed(&text, pass);
            n_changed[at] += usize::from(print::custom(&after) != print::custom(&before));
            for n in [-2, 0, 1, 4, 6] {
                let (expected, got) = (result(&before, n), result(&after, n));
                assert_eq!(
                    expected,
                    got,
                    "seed {seed}, {pass}, n = {n}\n{text}\n{}",
                    print::custom(&after)
                );
            }
        }
    }
    assert!(n_changed.iter().all(|it| *it >= 5), "{n_changed:?}");
}

/// Nests that write memrefs of the function, and nests that read them.
fn pipeline(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut body = String::new();
    let locals = ["%L", "%M", "%P", "%Q"];
    for (at, it) in locals.iter().enumerate() {
        let _ = writeln!(body, "{it} = memref.alloc() : {}", local_type(at));
    }
    let plain = ["%i0", "%i1"];
    let n_nests = 1 + random.below(3);
    let mut n = 0;
    // Sources that write all that is read, some with a sum.
    for (at, name) in locals.iter().enumerate() {
        if random.below(2) == 0 {
            continue;
        }
        let to = match (at < 2, random.below(3)) {
            (true, 0) => format!("{name}[%i1, %i0]"),
            (true, _) => format!("{name}[%i0, %i1]"),
            _ => format!("{name}[%i0]"),
        };
        let _ = writeln!(body, "affine.for %i0 = 0 to 13 {{");
        if at < 2 {
            let _ = writeln!(body, "affine.for %i1 = 0 to 13 {{");
        }
        let ty = local_type(at);
        let _ = writeln!(body, "%w{at} = affine.load %A[%i0, 0] : memref<?x?xi64>");
        let _ = writeln!(body, "affine.store %w{at}, {to} : {ty}");
        if random.below(3) == 0 {
            let _ = writeln!(body, "affine.for %i2 = 0 to 3 {{");
            let _ = writeln!(body, "%t{at} = affine.load {to} : {ty}");
            let _ = writeln!(body, "%u{at} = affine.load %B[%i2, %i0] : memref<?x?xi64>");
            let _ = writeln!(body, "%v{at} = arith.addi %t{at}, %u{at} : i64");
            let _ = writeln!(body, "affine.store %v{at}, {to} : {ty}\n}}");
        }
        body.push_str(if at < 2 { "}\n}\n" } else { "}\n" });
    }
    for nest in 0..n_nests {
        let depth = 1 + random.below(2) as usize;
        for at in 0..depth {
            let low = random.pick(&["0", "0", "0", "1", "2"]);
            let high = match (at, random.below(8)) {
                (1, 0) => "affine_map<(d0) -> (d0 + 1)>(%i0)",
                (_, 1) => "%n",
                (_, 2 | 3) => random.pick(&["4", "6", "10"]),
                _ => "8",
            };
            let step = random.pick(&["", "", "", "", "", " step 2"]);
            let _ = writeln!(body, "affine.for %i{at} = {low} to {high}{step} {{");
        }
        let subscript = |random: &mut Random, is_store: bool| {
            let iv = plain[random.below(depth as u64) as usize];
            let kind = random.below(if is_store { 9 } else { 12 });
            match kind {
                5 | 6 => format!("{iv} + {}", 1 + random.below(2)),
                7 if depth == 2 => "%i0 + %i1".to_owned(),
                8 => format!("{}", random.below(3)),
                9 => format!("{iv} floordiv 2"),
                10 => format!("{iv} mod 4"),
                11 if depth == 2 => "%i0 * 2 + %i1".to_owned(),
                _ => iv.to_owned(),
            }
        };
        let place = |random: &mut Random, is_store: bool| {
            let is_local = nest + 1 < n_nests || random.below(3) > 0;
            let which = random.below(4) as usize;
            let mut indices = vec![subscript(random, is_store)];
            if !is_local || which < 2 {
                indices.push(if depth == 2 && random.below(3) > 0 {
                    "%i1".to_owned()
                } else {
                    subscript(random, is_store)
                });
            }
            let (name, ty) = if is_local && (is_store || random.below(3) > 0) {
                (locals[which], local_type(which))
            } else {
                if indices.len() == 1 {
                    indices.push("0".to_owned());
                }
                (random.pick(&["%A", "%B"]), "memref<?x?xi64>")
            };
            format!("{name}[{}] : {ty}", indices.join(", "))
        };
        for _ in 0..=random.below(2) {
            let to = place(&mut random, true);
            let (a, b) = (place(&mut random, false), place(&mut random, false));
            let sum = random.below(4) == 0;
            let a = if sum { to.clone() } else { a };
            let _ = writeln!(body, "%a{n} = affine.load {a}");
            let _ = writeln!(body, "%b{n} = affine.load {b}");
            let _ = writeln!(body, "%c{n} = arith.muli %a{n}, %b{n} : i64");
            let _ = writeln!(body, "%d{n} = arith.addi %c{n}, %k : i64");
            let _ = writeln!(body, "affine.store %d{n}, {to}");
            n += 1;
        }
        body.push_str(&"}\n".repeat(depth));
    }
    function(&body)
}

fn local_type(at: usize) -> &'static str {
    if at < 2 { "memref<24x24xi64>" } else { "memref<24xi64>" }
}

#[test]
fn fused_producers_and_consumers_compute_the_same() {
    let mut n_changed = [0; 4];
    let mut n_private = 0;
    for seed in 1..=400 {
        let text = pipeline(seed);
        let before = read(&text);
        let expected: Vec<_> = [-2, 0, 1, 5, 9].map(|n| (n, checked_result(&before, n))).into();
        if expected.iter().all(|it| it.1.is_none()) {
            continue;
        }
        let passes = [
            "affine-loop-fusion",
            "affine-loop-fusion{fusion-maximal}",
            "affine-loop-fusion{mode=producer fusion-compute-tolerance=100.0}",
            "affine-loop-fusion{mode=sibling fusion-maximal}",
        ];
        for (at, pass) in passes.iter().enumerate() {
            let after = transformed(&text, pass);
            let printed = print::custom(&after);
            n_changed[at] += usize::from(printed != print::custom(&before));
            n_private += usize::from(printed.contains("memref<1x"));
            for (n, expected) in &expected {
                if expected.is_some() {
                    let got = checked_result(&after, *n);
                    assert_eq!(*expected, got, "seed {seed}, {pass}, n = {n}\n{text}\n{printed}");
                }
            }
        }
    }
    assert!(n_changed.iter().all(|it| *it >= 20) && n_private >= 20, "{n_changed:?} {n_private}");
}

/// A function around loops, with memrefs as random programs have them.
fn function(loops: &str) -> String {
    let arguments = "%s0: index, %s1: index, %s2: index, %A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %k: i64";
    format!("func.func @f({arguments}) {{\n{loops}\nreturn\n}}\n")
}

/// Loads two elements, and stores the first one plus the product of the other and itself.
fn sum(to: &str, from: &str, other: &str) -> String {
    let ty = "memref<?x?xi64>";
    format!(
        "%a = affine.load %A[{from}] : {ty}
        %b = affine.load %B[{other}] : {ty}
        %c = arith.muli %a, %b : i64
        %d = arith.addi %c, %k : i64
        affine.store %d, %A[{to}] : {ty}"
    )
}

#[test]
fn chains_run_side_by_side() {
    let nest = |k: &str, body: String| {
        function(&format!(
            "affine.for %i = 0 to 19 {{ affine.for %j = 0 to 17 {{ affine.for %k0 = {k} {{ {body} }} }} }}"
        ))
    };
    let row = |body: String| {
        function(&format!("affine.for %i = 1 to 19 {{ affine.for %j = 1 to 37 {{ {body} }} }}"))
    };
    let still = || sum("%i, %j", "%i, %j", "%j, %k0");
    let to_i = "0 to affine_map<(d0) -> (d0 + 1)>(%i)";
    let from_i = "affine_map<(d0) -> (d0)>(%i) to 21";
    let both = "affine_map<(d0) -> (d0 - 5)>(%i) to affine_map<(d0) -> (d0 * 2 - 7)>(%i)";
    let cases = [
        (nest("0 to 23", still()), true),
        (nest(to_i, still()), true),
        (nest(from_i, still()), true),
        (nest("0 to %n", still()), true),
        (nest(both, still()), true),
        // The element is met by another access.
        (nest(to_i, sum("%i, %j", "%i, %j", "%i, %k0").replace("%B[", "%A[")), false),
        (row(sum("%i, %j", "%i, %j - 1", "%i, %j")), false),
        // A wavefront.
        (row(sum("0, %j", "0, %j - 1", "0, %j + 1").replace("%B[", "%A[")), false),
    ];
    for (text, is_carried) in cases {
        let before = read(&text);
        for pass in [
            "affine-schedule",
            "affine-schedule{jam-size=2 tile-size=4 inner-tile-size=6}",
            "affine-schedule{jam-size=3 cache-size=0 tile-size=5 inner-tile-size=4}",
        ] {
            let after = transformed(&text, pass);
            let printed = print::custom(&after);
            assert_ne!(printed, print::custom(&before), "{pass}");
            assert_eq!(printed.contains("iter_args"), is_carried, "{pass}\n{printed}");
            for n in [-2, 0, 3, 12] {
                let (expected, got) = (result(&before, n), result(&after, n));
                assert_eq!(expected, got, "{pass}, n = {n}\n{text}\n{printed}");
            }
        }
    }
}

/// A text after edits, which do not overlap.
fn edited(text: &str, edits: &[noisy_loops::edit::Edit]) -> String {
    let mut edits: Vec<_> = edits.iter().collect();
    edits.sort_by_key(|it| (it.range.start, it.range.end));
    let (mut out, mut at) = (String::new(), 0);
    for it in edits {
        assert!(it.range.start >= at, "edits overlap");
        out += &text[at..it.range.start];
        out += &it.text;
        at = it.range.end;
    }
    out + &text[at..]
}

/// The ops of a program of which something holds, in order.
fn ops(ir: &Ir, holds: impl Fn(Op) -> bool) -> Vec<Op> {
    let mut out = Vec::new();
    ir.walk(ir.root(), &mut |op| {
        if holds(op) {
            out.push(op);
        }
    });
    out
}

#[test]
fn edits_of_the_text_keep_what_programs_compute() {
    let kinds = [
        "Interchange",
        "Skew",
        "Tile",
        "Run",
        "Make",
        "Unroll by 4 and jam",
        "Unroll",
        "Peel",
        "Count",
        "Fuse",
        "Distribute",
    ];
    let mut counts = [[0_usize; 2]; 11];
    for seed in 1..=150 {
        let text = Writer::program(seed);
        let source = Source::new(&text);
        let before = read(&text);
        let ir = source.ir();
        for op in ops(ir, |it| ir.op(it).kind == OpKind::AffineFor) {
            for offer in offers(&source, op, &Options::default()) {
                let kind = kinds.iter().position(|it| offer.title.starts_with(it)).unwrap();
                counts[kind][usize::from(offer.edits.is_ok())] += 1;
                let Ok(edits) = offer.edits else { continue };
                let changed = edited(&text, &edits);
                assert_ne!(changed, text);
                let after = read(&changed);
                for n in [-2, 0, 1, 4, 6] {
                    let (expected, got) = (result(&before, n), result(&after, n));
                    assert_eq!(
                        expected, got,
                        "seed {seed}, {}, n = {n}\n{text}\n{changed}",
                        offer.title
                    );
                }
            }
        }
    }
    // Each was done, and each that can be forbidden was refused.
    assert!(counts.iter().all(|it| it[1] >= 5), "{counts:?}");
    assert!([0, 2, 3, 4, 5, 9].iter().all(|&it| counts[it][0] >= 5), "{counts:?}");
}

#[test]
fn schedules_as_edits_keep_what_programs_compute() {
    let (mut n_done, mut n_refused) = (0, 0);
    for seed in 1..=150 {
        let mut text = Writer::program(seed);
        text = text
            .replace("affine.store %d", "// The result.\naffine.store %d")
            .replace(", %k : i64\n", ", %k : i64 // added\n");
        let source = Source::new(&text);
        let ir = source.ir();
        let before = read(&text);
        for op in ops(ir, |it| noisy_opt::passes::is_nest_root(ir, it)) {
            let Ok(edits) = noisy_opt::passes::best_schedule(&source, op, Aliasing::default())
            else {
                n_refused += 1;
                continue;
            };
            n_done += 1;
            let changed = edited(&text, &edits);
            let after = read(&changed);
            // Comments stay, and so does the text of each op that stands in one place.
            for comment in ["// The result.", "// added"] {
                assert!(
                    changed.matches(comment).count() >= text.matches(comment).count(),
                    "{changed}"
                );
            }
            for n in [-2, 0, 1, 4, 6] {
                let (expected, got) = (result(&before, n), result(&after, n));
                assert_eq!(expected, got, "seed {seed}, n = {n}\n{text}\n{changed}");
            }
        }
    }
    assert!(n_done >= 10 && n_refused >= 10, "{n_done} {n_refused}");
}

/// A function of the bound `%n` and the number `%k` over `%A`, as [`result`] runs it.
fn with_body(body: &str) -> String {
    format!(
        "func.func @f(%t0: index, %t1: index, %t2: index, %A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %k: i64) {{\n{body}  return\n}}\n"
    )
}

#[test]
fn carried_values_in_parts_are_the_same_values() {
    let cases = [
        // With a neutral element, whatever the first value.
        ("addi", "", true),
        ("muli", "", true),
        // A value that counts several times is no other one.
        ("maxsi", "", true),
        ("minsi", "", true),
        ("andi", "", true),
        // Neither.
        ("subi", "", false),
        // Somebody sees the sums on the way.
        ("addi", "affine.store %s, %B[%i, 0] : memref<?x?xi64>\n", false),
    ];
    for (op, more, is_split) in cases {
        for (low, high) in [("0", "12"), ("0", "11"), ("2", "9"), ("0", "%n"), ("1", "%n")] {
            let text = with_body(&format!(
                "  %r = affine.for %i = {low} to {high} iter_args(%x = %k) -> (i64) {{\n    %m = affine.for %j = 0 to 3 iter_args(%y = %k) -> (i64) {{\n      %a = affine.load %A[%i, %j] : memref<?x?xi64>\n      %b = arith.addi %y, %a : i64\n      affine.yield %b : i64\n    }}\n    %s = arith.{op} %x, %m : i64\n    {more}    affine.yield %s : i64\n  }}\n  affine.store %r, %A[99, 99] : memref<?x?xi64>\n"
            ));
            let before = read(&text);
            for factor in [2, 3, 4] {
                let pass = format!("affine-loop-unroll-jam{{unroll-jam-factor={factor}}}");
                let after = transformed(&text, &pass);
                let printed = print::custom(&after);
                assert_eq!(printed != print::custom(&before), is_split, "{pass}\n{printed}");
                for n in [-3, 0, 1, 2, 5, 8, 9] {
                    let (expected, got) = (result(&before, n), result(&after, n));
                    assert_eq!(expected, got, "{pass}, n = {n}\n{text}\n{printed}");
                }
            }
        }
    }
}

#[test]
fn loops_of_scf_that_become_one_run_in_order() {
    // Bounds and steps of three loops, and how many are left.
    let cases = [
        ("%c0 to %c4 step %c1", "%c1 to %c9 step %c3", "%c0 to %c2 step %c1", 1),
        ("%c0 to %n step %c1", "%c1 to %n step %c3", "%c0 to %n step %c2", 1),
        ("%n to %c4 step %c2", "%n to %c3 step %c1", "%c9 to %c2 step %c1", 1),
        // A loop inside whose step is not known, which may be 0 where it does not run.
        ("%c0 to %n step %n", "%c0 to %c3 step %n", "%c0 to %n step %c1", 2),
        // A bound is another loop's variable.
        ("%c0 to %n step %c1", "%c0 to %i step %c1", "%c0 to %n step %c1", 2),
    ];
    for (first, second, third, n_left) in cases {
        let mut text = String::new();
        for number in [0, 1, 2, 3, 4, 9] {
            text += &format!("  %c{number} = arith.constant {number} : index\n");
        }
        text += &format!(
            "  %r = scf.for %i = {first} iter_args(%x = %k) -> (i64) {{\n    %s = scf.for %j = {second} iter_args(%y = %x) -> (i64) {{\n      %t = scf.for %l = {third} iter_args(%z = %y) -> (i64) {{\n        %a = affine.load %A[symbol(%i) + symbol(%j) * 3, symbol(%l)] : memref<?x?xi64>\n        %p = arith.muli %z, %k : i64\n        %b = arith.addi %p, %a : i64\n        scf.yield %b : i64\n      }}\n      scf.yield %t : i64\n    }}\n    scf.yield %s : i64\n  }}\n  affine.store %r, %A[99, 99] : memref<?x?xi64>\n"
        );
        let text = with_body(&text).replace(
            "affine.load %A[symbol(%i) + symbol(%j) * 3, symbol(%l)]",
            "memref.load %A[%i, %l]",
        );
        let before = read(&text);
        let after = transformed(&text, "affine-loop-coalescing");
        let printed = print::custom(&after);
        assert_eq!(printed.matches("scf.for").count(), n_left, "{printed}");
        for n in [-3, 0, 1, 2, 5, 8] {
            // A step is positive.
            if n > 0 || !text.contains("step %n") {
                let (expected, got) = (result(&before, n), result(&after, n));
                assert_eq!(expected, got, "n = {n}\n{text}\n{printed}");
            }
        }
    }
}

#[test]
fn edits_of_loops_that_carry_values_keep_what_they_compute() {
    let titles = |text: &str| {
        let source = Source::new(text);
        let before = read(text);
        let ir = source.ir();
        let (mut done, mut refused) = (Vec::new(), Vec::new());
        for op in ops(ir, |it| ir.op(it).kind == OpKind::AffineFor) {
            for offer in offers(&source, op, &Options::default()) {
                let edits = match offer.edits {
                    Ok(edits) => edits,
                    Err(why) => {
                        refused.push(format!("{}: {why}", offer.title));
                        continue;
                    }
                };
                let changed = edited(text, &edits);
                assert!(changed.contains("// The end."), "{changed}");
                let after = read(&changed);
                for n in [-2, 0, 1, 3, 4, 6, 9] {
                    let (expected, got) = (result(&before, n), result(&after, n));
                    assert_eq!(expected, got, "{}, n = {n}\n{text}\n{changed}", offer.title);
                }
                done.push(offer.title);
            }
        }
        (done, refused)
    };
    let of = |bounds: &str, args: &str, types: &str, yielded: &str, uses: &str| {
        with_body(&format!(
            "  %r{} = affine.for %i = {bounds} iter_args({args}) -> ({types}) {{\n    %a = affine.load %A[%i, 0] : memref<?x?xi64>\n    %p = arith.muli %x, %k : i64\n    %s = arith.addi %p, %a : i64 // The end.\n    affine.yield {yielded} : {types}\n  }}\n{uses}",
            if types.contains(',') { ":2" } else { "" }
        ))
    };
    let store = |value: &str, at: usize| {
        format!("  affine.store {value}, %A[99, {at}] : memref<?x?xi64>\n")
    };
    for bounds in ["0 to 9", "1 to 10 step 2", "2 to 10", "0 to %n", "1 to %n step 3"] {
        let one = of(bounds, "%x = %k", "i64", "%s", &store("%r", 0));
        let (done, refused) = titles(&one);
        assert!(done.contains(&"Unroll by 4".to_owned()), "{bounds}: {done:?} {refused:?}");
        assert_eq!(done.contains(&"Peel the first iteration".to_owned()), !bounds.contains('n'));
        for kind in ["Tile", "Run", "Make", "Distribute"] {
            let of_kind = refused.iter().find(|it| it.starts_with(kind));
            assert!(of_kind.is_some_and(|it| it.contains("carries values")), "{kind}: {refused:?}");
        }
        // Two, which change places; the first one is passed on as it is.
        let both = of(
            bounds,
            "%x = %k, %y = %k",
            "i64, i64",
            "%y, %s",
            &(store("%r#0", 0) + &store("%r#1", 1)),
        );
        assert!(titles(&both).0.contains(&"Unroll by 4".to_owned()));
    }
    // Around and in a loop that carries values.
    let nest = with_body(
        "  affine.for %j = 0 to 8 {\n    %r = affine.for %i = 2 to 9 iter_args(%x = %k) -> (i64) {\n      %a = affine.load %A[%i, %j] : memref<?x?xi64>\n      %s = arith.addi %x, %a : i64 // The end.\n      affine.yield %s : i64\n    }\n    affine.store %r, %B[%j, 0] : memref<?x?xi64>\n    affine.yield\n  }\n",
    );
    let (done, _) = titles(&nest);
    for title in
        ["Run the loop over %j backwards", "Make affine.parallel of the loop", "Count from 0 by 1"]
    {
        assert!(done.contains(&title.to_owned()), "{title}: {done:?}");
    }
}
