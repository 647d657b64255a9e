//! An interpreter of affine programs.

use std::collections::HashMap;

use noisy_syntax::affine::{Affine, AffineBody};
use noisy_syntax::{AttrData, Dim, Ir, Op, OpKind, Region, TypeData, Value};

/// The state of a running function. Memref arguments have an element for every pair of indices.
struct Machine<'a> {
    ir: &'a Ir,
    values: HashMap<Value, i64>,
    memory: HashMap<(Value, Vec<i64>), i64>,
    /// The sizes of the memrefs that the function allocates.
    sizes: HashMap<Value, Vec<i64>>,
    /// True if an element of an allocated memref was read before it was written, or an access was
    /// out of bounds.
    has_invalid_access: bool,
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

    /// Returns the results of a map applied to the operands from number `first`, and the number of
    /// these operands.
    fn apply_map(&self, op: Op, name: &str, first: usize) -> (Vec<i64>, usize) {
        let map = self.affine(op, name);
        let n = map.n_inputs();
        let inputs: Vec<i64> = (first..first + n).map(|it| self.value(op, it)).collect();
        let (dims, symbols) = inputs.split_at(map.n_dims as usize);
        let exprs: Vec<_> = match &map.body {
            AffineBody::Map(all) => all.iter().collect(),
            AffineBody::Set(all) => all.iter().map(|it| &it.0).collect(),
        };
        (exprs.iter().map(|it| it.evaluate(dims, symbols).unwrap()).collect(), n)
    }

    fn memref(&self, op: Op, at: usize) -> Value {
        self.ir.op(op).operands[at].value.unwrap()
    }

    /// Records an invalid access.
    fn check(&mut self, key: &(Value, Vec<i64>), is_load: bool) {
        let Some(sizes) = self.sizes.get(&key.0) else { return };
        let is_inside = key.1.iter().zip(sizes).all(|(at, size)| (0..*size).contains(at));
        self.has_invalid_access |= !is_inside || (is_load && !self.memory.contains_key(key));
    }

    /// Returns the value of an element that was never written, a hash of its indices.
    fn initial_value(index: &[i64]) -> i64 {
        index.iter().fold(7, |a: i64, b| a.wrapping_mul(31).wrapping_add(*b))
    }

    fn region(&mut self, region: Region) -> Vec<i64> {
        let block = self.ir.blocks(region)[0];
        let ops: Vec<Op> = self.ir.block_ops(block).collect();
        for op in ops {
            let data = self.ir.op(op);
            match data.kind {
                OpKind::AffineFor => {
                    let (low, n) = self.apply_map(op, "lowerBoundMap", 0);
                    let (high, m) = self.apply_map(op, "upperBoundMap", n);
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
                    let AffineBody::Set(all) = self.affine(op, "condition").body.clone() else {
                        panic!()
                    };
                    let (values, _) = self.apply_map(op, "condition", 0);
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
                    let (low, n) = self.apply_map(op, "lowerBoundsMap", 0);
                    let (high, _) = self.apply_map(op, "upperBoundsMap", n);
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
                    // Any order is valid. The reverse order differs most from that of a sequential
                    // loop.
                    for value in all.into_iter().rev() {
                        self.values.insert(iv, value);
                        self.region(region);
                    }
                }
                OpKind::AffineApply => {
                    let value = self.apply_map(op, "map", 0).0[0];
                    self.values.insert(data.results[0], value);
                }
                OpKind::AffineMin => {
                    let value = *self.apply_map(op, "map", 0).0.iter().min().unwrap();
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
                    let fresh = Self::initial_value(&key.1);
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
                    let index = self.apply_map(op, "map", 1).0;
                    let key = (self.memref(op, 0), index);
                    self.check(&key, true);
                    let fresh = Self::initial_value(&key.1);
                    let value = self.memory.get(&key).copied().unwrap_or(fresh);
                    self.values.insert(data.results[0], value);
                }
                OpKind::AffineStore => {
                    let index = self.apply_map(op, "map", 2).0;
                    let key = (self.memref(op, 1), index);
                    self.check(&key, false);
                    self.memory.insert(key, self.value(op, 0));
                }
                OpKind::ArithConstant => {
                    let value = match self.ir.interner.attr_data(self.ir.attr(op, "value").unwrap())
                    {
                        AttrData::Int { value, .. } => i64::try_from(*value).unwrap(),
                        AttrData::Bool(it) => i64::from(*it),
                        other => panic!("no integer: {other:?}"),
                    };
                    self.values.insert(data.results[0], value);
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

/// Returns the final contents of the memref arguments: argument number, indices and value.
pub(crate) fn result(ir: &Ir, n: i64) -> Vec<(usize, Vec<i64>, i64)> {
    checked_result(ir, n).expect("nothing is read before it is written")
}

/// Like [`result`], but `None` if the program reads an uninitialized element or accesses an element
/// out of bounds.
pub(crate) fn checked_result(ir: &Ir, n: i64) -> Option<Vec<(usize, Vec<i64>, i64)>> {
    let function = ir.functions()[0];
    let region = ir.op(function).regions[0].1;
    let args = ir.block(ir.blocks(region)[0]).args.clone();
    // Three tile sizes, the bound `%n` and the number `%k`.
    let given = [(args[0], 2), (args[1], 3), (args[2], 1), (args[5], n), (args[6], 3)];
    let (values, memory, sizes) = (HashMap::from(given), HashMap::new(), HashMap::new());
    let mut it = Machine { ir, values, memory, sizes, has_invalid_access: false };
    it.region(region);
    if it.has_invalid_access {
        return None;
    }
    let number = |value: Value| args.iter().position(|it| *it == value);
    let all = it.memory.into_iter();
    let mut out: Vec<_> =
        all.filter_map(|((at, index), value)| Some((number(at)?, index, value))).collect();
    out.sort();
    Some(out)
}
