//! The polynomials of values.

use std::collections::BTreeMap;
use std::rc::Rc;

use noisy_syntax::{Def, Ir, Op, OpKind, TypeData, Value};

use super::pairs::Pairs;
use super::polynomial::{Limits, MODULUS, Polynomial, Work};

/// Loops within loops, at most.
const MOST_DEPTH: usize = 60;

/// Polynomials of values.
type Values = BTreeMap<Value, Rc<Polynomial>>;

/// Values of two programs.
pub(super) struct Proof<'a> {
    pairs: Pairs<'a>,
    old: Values,
    new: Values,
    /// The meanings of unknowns that stand for values which are shown equal.
    meanings: BTreeMap<u32, Rc<Polynomial>>,
    n_unknowns: u32,
    n_kept: usize,
    most_kept: usize,
    work: Work,
}

impl<'a> Proof<'a> {
    pub(super) fn new(pairs: Pairs<'a>, limits: Limits) -> Result<Self, String> {
        let mut out = Self {
            pairs,
            old: Values::new(),
            new: Values::new(),
            meanings: BTreeMap::new(),
            n_unknowns: 0,
            n_kept: 0,
            most_kept: limits.kept,
            work: Work::new(limits),
        };
        for (old, new) in std::mem::take(&mut out.pairs.unknowns) {
            let polynomial = match plaintext(out.pairs.old.ir(), old) {
                // The operands of both encodings have to be equal, so the other is the same.
                Some(number) => Rc::new(Polynomial::number(number)),
                None => out.unknown()?.1,
            };
            out.old.insert(old, polynomial.clone());
            out.new.insert(new, polynomial);
        }
        for (&op, &trips) in &out.pairs.loops {
            let ir = out.pairs.old.ir();
            if Loop::of(ir, op).is_none_or(|it| it.trips != trips) {
                let at = ir.range(op).start;
                return Err(format!("the op at byte {at} is not a loop of {trips} iterations"));
            }
            // A loop whose results nothing uses is not evaluated, and may still have effects.
            if !out.is_arithmetic(ir, op, 0) {
                let at = ir.range(op).start;
                return Err(format!("the loop at byte {at} has ops other than arithmetic"));
            }
        }
        Ok(out)
    }

    /// Returns true if a loop has only arithmetic and such loops in its body.
    fn is_arithmetic(&self, ir: &Ir, op: Op, depth: usize) -> bool {
        let Some(it) = Loop::of(ir, op).filter(|_| depth < MOST_DEPTH) else { return false };
        let mut body = it.body.iter();
        body.all(|&it| self.pairs.arithmetic.has(ir, it) || self.is_arithmetic(ir, it, depth + 1))
    }

    fn unknown(&mut self) -> Result<(u32, Rc<Polynomial>), String> {
        let unknown = self.n_unknowns;
        self.n_unknowns = unknown.checked_add(1).ok_or("there are too many unknowns")?;
        Ok((unknown, Rc::new(Polynomial::unknown(unknown))))
    }

    /// Shows that the results of two ops are equal, and makes them one unknown.
    pub(super) fn step(&mut self, old: usize, new: usize) -> Result<(), String> {
        let (Some(&a), Some(&b)) = (self.pairs.old_ops.get(&old), self.pairs.new_ops.get(&new))
        else {
            return Err(format!("there is no arithmetic at byte {old} before or at {new} after"));
        };
        self.are_equal(a, b)?;
        let meaning = self.new_value(b)?;
        let (unknown, polynomial) = self.unknown()?;
        self.meanings.insert(unknown, meaning);
        self.old.insert(a, polynomial.clone());
        self.new.insert(b, polynomial);
        Ok(())
    }

    /// Shows that two values are equal.
    pub(super) fn are_equal(&mut self, old: Value, new: Value) -> Result<(), String> {
        let (a, b) = (self.old_value(old)?, self.new_value(new)?);
        let mut rest = a.minus(&b, &mut self.work)?;
        while rest.len() > 0 {
            self.work.spend(rest.len())?;
            let unknowns = rest.terms().flat_map(|it| it.0).map(|it| it.0);
            let latest = unknowns.filter(|it| self.meanings.contains_key(it)).max();
            let Some((unknown, meaning)) =
                latest.and_then(|it| Some((it, self.meanings.get(&it)?)))
            else {
                let (a, b) = (self.pairs.old.ir(), self.pairs.new.ir());
                let (a, b) = (a.value_text(old), b.value_text(new));
                return Err(format!("{a} is not equal to {b} of the rewritten program"));
            };
            rest = rest.replace(unknown, meaning, &mut self.work)?;
        }
        Ok(())
    }

    fn old_value(&mut self, value: Value) -> Result<Rc<Polynomial>, String> {
        let ir = self.pairs.old.ir();
        self.value(ir, true, value)
    }

    fn new_value(&mut self, value: Value) -> Result<Rc<Polynomial>, String> {
        let ir = self.pairs.new.ir();
        self.value(ir, false, value)
    }

    /// The polynomial of a value, computed after those that it depends on.
    fn value(&mut self, ir: &Ir, is_old: bool, value: Value) -> Result<Rc<Polynomial>, String> {
        let mut stack = vec![value];
        while let Some(&at) = stack.last() {
            let known = if is_old { &self.old } else { &self.new };
            if known.contains_key(&at) {
                stack.pop();
                continue;
            }
            let name = || ir.value_text(at);
            let op = ir.defining_op(at).ok_or_else(|| format!("{} is unknown", name()))?;
            let opened = self.pairs.loops.get(&op).filter(|_| is_old);
            let is_computed = opened.is_some() || self.pairs.arithmetic.has(ir, op);
            if !is_computed {
                return Err(format!("{} is unknown", name()));
            }
            let mut needs = inputs(ir, op);
            needs.retain(|it| !known.contains_key(it));
            self.work.spend(1 + needs.len())?;
            if !needs.is_empty() {
                // Values that depend on themselves end with the work.
                stack.extend(needs);
                continue;
            }
            let results = if opened.is_some() {
                self.iterations(ir, op, &Values::new(), 0)?
            } else {
                vec![self.computed(ir, is_old, op, &Values::new())?]
            };
            self.n_kept += results.iter().map(|it| 1 + it.len()).sum::<usize>();
            if self.n_kept > self.most_kept {
                return Err("the polynomials have too many monomials".to_owned());
            }
            let known = if is_old { &mut self.old } else { &mut self.new };
            known.extend(ir.op(op).results.iter().copied().zip(results));
            stack.pop();
        }
        let known = if is_old { &self.old } else { &self.new };
        known.get(&value).cloned().ok_or_else(|| format!("{} is unknown", ir.value_text(value)))
    }

    /// The polynomial of an arithmetic op, some of whose operands may be local to a loop.
    fn computed(
        &mut self,
        ir: &Ir,
        is_old: bool,
        op: Op,
        local: &Values,
    ) -> Result<Rc<Polynomial>, String> {
        let known = if is_old { &self.old } else { &self.new };
        let operand = |at: usize| {
            let value = ir.op(op).operands.get(at).and_then(|it| it.value);
            let found = value.and_then(|it| local.get(&it).or_else(|| known.get(&it)));
            found.cloned().ok_or("an operand is unknown")
        };
        let work = &mut self.work;
        Ok(match ir.op(op).kind {
            OpKind::NoisyAdd => Rc::new(operand(0)?.plus(1, &*operand(1)?, work)?),
            OpKind::NoisySub => Rc::new(operand(0)?.minus(&*operand(1)?, work)?),
            OpKind::NoisyMul => Rc::new(operand(0)?.times(&*operand(1)?, work)?),
            OpKind::NoisyReduceNoise => operand(0)?,
            _ => return Err("an op is not arithmetic".to_owned()),
        })
    }

    /// The results of a loop, one iteration after the other. The values that it uses from outside
    /// are known or among the local ones.
    fn iterations(
        &mut self,
        ir: &Ir,
        op: Op,
        local: &Values,
        depth: usize,
    ) -> Result<Vec<Rc<Polynomial>>, String> {
        let wrong = || format!("the loop at byte {} cannot be evaluated", ir.range(op).start);
        let it = Loop::of(ir, op).filter(|_| depth < MOST_DEPTH).ok_or_else(wrong)?;
        let of = |value: &Value, local: &Values, proof: &Self| {
            local.get(value).or_else(|| proof.old.get(value)).cloned().ok_or_else(wrong)
        };
        let mut carried = Vec::new();
        for value in &it.inits {
            carried.push(of(value, local, self)?);
        }
        for _ in 0..it.trips {
            self.work.spend(1 + local.len())?;
            let mut local = local.clone();
            local.extend(it.args.iter().copied().zip(carried.drain(..)));
            for &op in &it.body {
                self.work.spend(1)?;
                let results = if self.pairs.arithmetic.has(ir, op) {
                    vec![self.computed(ir, true, op, &local)?]
                } else {
                    self.iterations(ir, op, &local, depth + 1)?
                };
                local.extend(ir.op(op).results.iter().copied().zip(results));
            }
            for value in &it.yielded {
                carried.push(of(value, &local, self)?);
            }
        }
        Ok(carried)
    }
}

/// The values that an op uses and does not define itself. The bounds of loops are not among them.
fn inputs(ir: &Ir, op: Op) -> Vec<Value> {
    let mut out = Vec::new();
    let mut stack = vec![op];
    while let Some(it) = stack.pop() {
        if ir.op(it).regions.is_empty() {
            out.extend(ir.op(it).operands.iter().filter_map(|it| it.value));
        } else if let Some(it) = Loop::of(ir, it) {
            out.extend(it.inits.into_iter().chain(it.yielded));
            stack.extend(it.body);
        }
    }
    let is_outside = |value: &Value| {
        let holder = ir.region(ir.def_region(*value)).parent;
        holder.is_none_or(|it| !ir.is_within(it, op))
    };
    out.retain(is_outside);
    out
}

/// A loop with constant bounds.
struct Loop {
    trips: u64,
    /// Initial values of the carried arguments.
    inits: Vec<Value>,
    args: Vec<Value>,
    /// The ops but the last.
    body: Vec<Op>,
    /// Operands of the last op.
    yielded: Vec<Value>,
}

impl Loop {
    fn of(ir: &Ir, op: Op) -> Option<Self> {
        let data = ir.op(op);
        let n = data.results.len();
        let operands: Vec<Value> =
            data.operands.iter().map(|it| it.value).collect::<Option<_>>()?;
        let (first, lower, upper, step) = match data.kind {
            // An unsigned comparison is an attribute.
            OpKind::ScfFor if ir.extra(op).attrs.is_empty() || has_only_segments(ir, op) => {
                let bound = |at: usize| integer(ir, *operands.get(at)?);
                (3, bound(0)?, bound(1)?, bound(2)?)
            }
            OpKind::AffineFor => {
                let step = ir.interner.int_value(ir.attr(op, "step")?)?;
                (0, map(ir, op, "lowerBoundMap")?, map(ir, op, "upperBoundMap")?, step)
            }
            _ => return None,
        };
        let [(_, region)] = data.regions[..] else { return None };
        let block = ir.only_block(region)?;
        let mut body: Vec<Op> = ir.block_ops(block).collect();
        let end = ir.op(body.pop()?);
        let yielded: Vec<Value> = end.operands.iter().map(|it| it.value).collect::<Option<_>>()?;
        let args = &ir.block(block).args;
        let fits = operands.len() == first + n && args.len() == 1 + n && yielded.len() == n;
        let is_end = matches!(end.kind, OpKind::ScfYield | OpKind::AffineYield);
        if !fits || !is_end || step <= 0 {
            return None;
        }
        let rounds = upper.checked_sub(lower)?.max(0).checked_add(step - 1)? / step;
        Some(Self {
            trips: u64::try_from(rounds).ok()?,
            inits: operands[first..].to_vec(),
            args: args[1..].to_vec(),
            body,
            yielded,
        })
    }
}

fn has_only_segments(ir: &Ir, op: Op) -> bool {
    let names = ir.extra(op).attrs.iter().map(|it| ir.interner.str(it.0));
    names.into_iter().all(|it| it == "operandSegmentSizes")
}

/// A constant bound of an `affine.for`.
fn map(ir: &Ir, op: Op, name: &str) -> Option<i128> {
    let map = ir.interner.affine(ir.attr(op, name)?)?;
    match (map.n_inputs(), &map.evaluate(&|_| None)?[..]) {
        (0, &[bound]) => Some(i128::from(bound)),
        _ => None,
    }
}

/// The number that an `arith.constant` defines.
fn integer(ir: &Ir, value: Value) -> Option<i128> {
    let Def::Result(op, 0) = ir.value(value).def else { return None };
    (ir.op(op).kind == OpKind::ArithConstant).then_some(())?;
    ir.interner.int_value(ir.attr(op, "value")?)
}

/// The plaintext of an encoded constant with as many bits as plaintexts have.
fn plaintext(ir: &Ir, value: Value) -> Option<u64> {
    let Def::Result(op, 0) = ir.value(value).def else { return None };
    let data = ir.op(op);
    if data.kind != OpKind::NoisyEncode || !ir.extra(op).attrs.is_empty() {
        return None;
    }
    let operand = data.operands.first()?.value?;
    let is_full = |it: &TypeData| matches!(it, TypeData::Int { width: 5, .. });
    let number =
        integer(ir, operand).filter(|_| is_full(ir.interner.type_data(ir.value(operand).ty)));
    u64::try_from(number?.rem_euclid(i128::from(MODULUS))).ok()
}
