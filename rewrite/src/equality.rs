//! Shows that two programs compute the same, by code that shares nothing with the search.
//!
//! Both programs are walked side by side. Each op that is no arithmetic must stand in both, in the
//! same order, with the same text and with operands that are shown equal; what it defines is then
//! the same unknown in both. Sums, differences and products are polynomials in these unknowns with
//! coefficients modulo `2^5` (`equality/polynomial.rs`), and two values are equal if their
//! polynomials are. Bodies of loops are compared once, with the carried values as unknowns: values
//! that are equal before a round are equal after it. A loop that stands in the first program only
//! is evaluated round by round.
//!
//! *Chain.* Where a value of one name is shown equal in both programs, it becomes an unknown of its
//! own, so that what is computed from it has a short polynomial. The chain of these steps is the
//! proof; each step is a comparison of two normal forms.
//!
//! *Limits.* A comparison that takes too many monomials shows nothing.

pub(crate) mod polynomial;

use std::rc::Rc;

use noisy_analyses::Program;
use noisy_dataflow::flow::{self, Flow};
use noisy_integers::constant::Constant;
use noisy_syntax::{Block, Def, Form, Ir, Op, OpKind, Region, Span, TypeData, Value};
use rustc_hash::FxHashMap;

use self::polynomial::{PLAINTEXT_BITS, Polynomial, Unknown, Work};

/// Nested regions, at most.
const MOST_DEPTH: usize = 100;

/// Rounds of loops that are evaluated, at most.
const MOST_ROUNDS: u64 = 100_000;

/// A proof that two functions compute the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equality {
    /// The ops of both programs that define values of one name which were shown equal, each by a
    /// comparison of normal forms. Ops are given by their first bytes.
    pub steps: Vec<(usize, usize)>,
    /// The loops of the first program that were evaluated, with their trip counts.
    pub loops: Vec<(usize, u64)>,
    /// Number of operands of ops that are no arithmetic that were shown equal.
    pub n_uses: usize,
    /// Monomials of the largest normal form.
    pub n_monomials: usize,
}

/// Shows that two functions compute the same.
///
/// # Errors
///
/// The first thing that could not be shown.
pub fn equal(old: (&Program, Op), new: (&Program, Op)) -> Result<Equality, String> {
    equal_unless(old, new, &|| false)
}

/// [`equal`], unless it is told to stop before.
pub(crate) fn equal_unless(
    old: (&Program, Op),
    new: (&Program, Op),
    stop: &dyn Fn() -> bool,
) -> Result<Equality, String> {
    let mut proof = Proof {
        old: Side::of(old.0),
        new: Side::of(new.0),
        meaning: FxHashMap::default(),
        n_unknowns: 0,
        work: Work::new(stop),
        found: Equality::default(),
    };
    if skeleton(old.0, old.1) != skeleton(new.0, new.1) {
        return Err("the functions have different headers".to_owned());
    }
    proof.regions(old.1, new.1, 0)?;
    Ok(proof.found)
}

/// One of the programs.
struct Side<'a> {
    program: &'a Program,
    ir: &'a Ir,
    known: FxHashMap<Value, Rc<Polynomial>>,
}

impl<'a> Side<'a> {
    fn of(program: &'a Program) -> Self {
        Self { program, ir: program.ir(), known: FxHashMap::default() }
    }

    /// The polynomial of a value.
    fn value(&mut self, value: Value, work: &mut Work<'_>) -> Result<Rc<Polynomial>, String> {
        let mut stack = vec![value];
        while let Some(&at) = stack.last() {
            if self.known.contains_key(&at) {
                stack.pop();
                continue;
            }
            let name = || self.ir.value_text(at);
            let Some(op) = self.ir.defining_op(at).filter(|&it| is_arithmetic(self.ir, it)) else {
                return Err(format!("{} is used before it is known", name()));
            };
            let operands = self.ir.op(op).operands.iter().filter_map(|it| it.value);
            let missing: Vec<Value> = operands.filter(|it| !self.known.contains_key(it)).collect();
            if missing.is_empty() {
                let polynomial = self.computed(op, work)?;
                self.known.insert(at, polynomial);
                stack.pop();
            } else if stack.len() > self.ir.bounds().1 {
                return Err(format!("{} depends on itself", name()));
            } else {
                stack.extend(missing);
            }
        }
        self.known.get(&value).cloned().ok_or_else(|| "a value is unknown".to_owned())
    }

    /// The polynomial of an arithmetic op whose operands are known.
    fn computed(&self, op: Op, work: &mut Work<'_>) -> Result<Rc<Polynomial>, String> {
        let operand = |at: usize| {
            let value = self.ir.op(op).operands.get(at).and_then(|it| it.value);
            value.and_then(|it| self.known.get(&it)).ok_or("an operand is unknown")
        };
        let polynomial = match self.ir.op(op).kind {
            OpKind::NoisyReduceNoise => return Ok(operand(0)?.clone()),
            OpKind::NoisyAdd => work.sum(operand(0)?, operand(1)?, false),
            OpKind::NoisySub => work.sum(operand(0)?, operand(1)?, true),
            OpKind::NoisyMul => work.product(operand(0)?, operand(1)?),
            _ => return Err("an op is not arithmetic".to_owned()),
        };
        polynomial.map(Rc::new).ok_or_else(|| {
            let name = self.ir.op(op).results.first().map(|&it| self.ir.value_text(it));
            format!("{} has too many monomials", name.unwrap_or_default())
        })
    }

    /// The results of a loop of known trip count whose body is nothing but arithmetic, found round
    /// by round; `None` if it is not such a loop.
    fn evaluate(
        &mut self,
        op: Op,
        depth: usize,
        work: &mut Work<'_>,
    ) -> Result<Option<()>, String> {
        let ir = self.ir;
        let data = ir.op(op);
        let Flow::For { first } = Flow::of(ir, op) else { return Ok(None) };
        let trips = self.program.integers().trips(ir, op).count();
        let region = data.regions.first().filter(|_| data.regions.len() == 1);
        let block = region.and_then(|it| ir.only_block(it.1));
        let (Some(trips), Some(block)) = (trips.filter(|&it| it <= MOST_ROUNDS), block) else {
            return Ok(None);
        };
        let n = data.results.len();
        let end = ir.last_op(block).filter(|&it| {
            matches!(ir.op(it).kind, OpKind::ScfYield | OpKind::AffineYield)
                && ir.op(it).operands.len() == n
        });
        let Some(end) = end else { return Ok(None) };
        let args: Vec<Value> = flow::carried_args(ir, ir.block(block).region, n).to_vec();
        if depth > MOST_DEPTH || args.len() != n || data.operands.len() != first + n {
            return Ok(None);
        }
        let mut carried = Vec::with_capacity(n);
        for it in &data.operands[first..] {
            let value = it.value.ok_or("an operand is not defined")?;
            carried.push(self.value(value, work)?);
        }
        for _ in 0..trips {
            self.known.extend(args.iter().copied().zip(carried.drain(..)));
            for it in ir.block_ops(block).filter(|&it| it != end) {
                work.tick()?;
                if is_arithmetic(ir, it) {
                    // Operands from outside may not be known yet.
                    for operand in &ir.op(it).operands {
                        let value = operand.value.ok_or("an operand is not defined")?;
                        self.value(value, work)?;
                    }
                    let polynomial = self.computed(it, work)?;
                    self.known.insert(ir.op(it).results[0], polynomial);
                } else if self.evaluate(it, depth + 1, work)?.is_none() {
                    return Ok(None);
                }
            }
            for it in &ir.op(end).operands {
                let value = it.value.ok_or("an operand is not defined")?;
                carried.push(self.value(value, work)?);
            }
        }
        self.known.extend(data.results.iter().copied().zip(carried));
        Ok(Some(()))
    }
}

struct Proof<'a> {
    old: Side<'a>,
    new: Side<'a>,
    /// The polynomials of unknowns that stand for values which were shown equal.
    meaning: FxHashMap<Unknown, Rc<Polynomial>>,
    n_unknowns: u32,
    work: Work<'a>,
    found: Equality,
}

impl Proof<'_> {
    fn unknown(&mut self) -> (Unknown, Rc<Polynomial>) {
        let unknown = Unknown(self.n_unknowns);
        self.n_unknowns += 1;
        (unknown, Rc::new(Polynomial::of(unknown)))
    }

    /// The regions of two ops.
    fn regions(&mut self, old: Op, new: Op, depth: usize) -> Result<(), String> {
        let (old_regions, new_regions) =
            (&self.old.ir.op(old).regions, &self.new.ir.op(new).regions);
        if old_regions.len() != new_regions.len() || depth > MOST_DEPTH {
            return Err("regions differ".to_owned());
        }
        let pairs: Vec<(Region, Region)> =
            old_regions.iter().zip(new_regions).map(|(a, b)| (a.1, b.1)).collect();
        for (old, new) in pairs {
            self.region(old, new, depth)?;
        }
        Ok(())
    }

    fn region(&mut self, old: Region, new: Region, depth: usize) -> Result<(), String> {
        let (old_blocks, new_blocks) = (self.old.ir.blocks(old), self.new.ir.blocks(new));
        if old_blocks.len() != new_blocks.len() {
            return Err("blocks differ".to_owned());
        }
        for (&old, &new) in old_blocks.iter().zip(&new_blocks) {
            let (a, b) = (self.old.ir.block(old), self.new.ir.block(new));
            let (a_args, b_args) = (a.args.clone(), b.args.clone());
            let label = |program: &Program, it: Option<Op>| it.map(|it| skeleton(program, it));
            let is_same = a_args.len() == b_args.len()
                && label(self.old.program, a.label) == label(self.new.program, b.label);
            if !is_same {
                return Err("the arguments of a block differ".to_owned());
            }
            for (a, b) in a_args.into_iter().zip(b_args) {
                self.same(a, b)?;
            }
        }
        for (old, new) in old_blocks.into_iter().zip(new_blocks) {
            self.block(old, new, depth)?;
        }
        Ok(())
    }

    /// Two values that are the same unknown, or the same constant.
    fn same(&mut self, old: Value, new: Value) -> Result<(), String> {
        let ty = |side: &Side<'_>, it| side.ir.interner.type_text(side.ir.value(it).ty);
        if ty(&self.old, old) != ty(&self.new, new) {
            return Err(format!("{} has another type", self.old.ir.value_text(old)));
        }
        let polynomial = match (constant(self.old.program, old), constant(self.new.program, new)) {
            (Some(a), Some(b)) if a == b => Rc::new(Polynomial::number(a)),
            _ => self.unknown().1,
        };
        self.old.known.insert(old, polynomial.clone());
        self.new.known.insert(new, polynomial);
        Ok(())
    }

    fn block(&mut self, old: Block, new: Block, depth: usize) -> Result<(), String> {
        let mut names: FxHashMap<String, Value> = FxHashMap::default();
        for op in self.old.ir.block_ops(old) {
            for &it in &self.old.ir.op(op).results {
                names.insert(self.old.ir.value_text(it), it);
            }
        }
        let others = |ir: &Ir, block: Block| {
            let ops = ir.block_ops(block).filter(|&it| !is_arithmetic(ir, it));
            ops.collect::<Vec<Op>>()
        };
        let old_ops = others(self.old.ir, old);
        let mut old_ops = old_ops.into_iter();
        let new_ops: Vec<Op> = self.new.ir.block_ops(new).collect();
        for op in new_ops {
            self.work.tick()?;
            if is_arithmetic(self.new.ir, op) {
                self.step(op, &names)?;
                continue;
            }
            loop {
                let Some(other) = old_ops.next() else {
                    return Err(format!("{} is new", self.new.ir.op_name(op)));
                };
                if skeleton(self.old.program, other) == skeleton(self.new.program, op) {
                    self.pair(other, op, depth)?;
                    break;
                }
                self.gone(other)?;
            }
        }
        for other in old_ops {
            self.gone(other)?;
        }
        Ok(())
    }

    /// An op that stands in the first program only.
    fn gone(&mut self, op: Op) -> Result<(), String> {
        match self.old.evaluate(op, 0, &mut self.work)? {
            Some(()) => {
                let (program, ir) = (self.old.program, self.old.ir);
                let trips = program.integers().trips(ir, op).count().unwrap_or(0);
                self.found.loops.push((ir.range(op).start, trips));
                Ok(())
            }
            None => Err(format!("{} is gone", self.old.ir.op_name(op))),
        }
    }

    /// An arithmetic op of the second program. If a value of its name is equal, both become one
    /// unknown.
    fn step(&mut self, op: Op, names: &FxHashMap<String, Value>) -> Result<(), String> {
        let value = self.new.ir.op(op).results[0];
        let new = self.new.value(value, &mut self.work)?;
        let Some(&named) = names.get(&self.new.ir.value_text(value)) else { return Ok(()) };
        let is_ours =
            self.old.ir.defining_op(named).is_some_and(|it| is_arithmetic(self.old.ir, it));
        if new.len() < 2 && new.degree() < 2 || !is_ours {
            return Ok(());
        }
        // An unknown or too long value is no step.
        let Ok(old) = self.old.value(named, &mut self.work) else { return Ok(()) };
        self.found.n_monomials = self.found.n_monomials.max(new.len());
        if self.work.are_equal(&old, &new, &self.meaning) == Some(true) {
            let (unknown, polynomial) = self.unknown();
            self.meaning.insert(unknown, new);
            self.old.known.insert(named, polynomial.clone());
            self.new.known.insert(value, polynomial);
            if let Some(of) = self.old.ir.defining_op(named) {
                let places = (self.old.ir.range(of).start, self.new.ir.range(op).start);
                self.found.steps.push(places);
            }
        }
        Ok(())
    }

    /// Two ops of the same text.
    fn pair(&mut self, old: Op, new: Op, depth: usize) -> Result<(), String> {
        let (a, b) = (self.old.ir.op(old), self.new.ir.op(new));
        let same_shape = a.operands.len() == b.operands.len() && a.results.len() == b.results.len();
        let is_read = |form: Form| !matches!(form, Form::Broken | Form::Opaque);
        if !same_shape || !is_read(a.form) || !is_read(b.form) {
            return Err(format!("{} differs", self.old.ir.op_name(old)));
        }
        for (a, b) in a.operands.iter().zip(&b.operands) {
            let (Some(a), Some(b)) = (a.value, b.value) else {
                return Err("an operand is not defined".to_owned());
            };
            let left = self.old.value(a, &mut self.work)?;
            let right = self.new.value(b, &mut self.work)?;
            self.found.n_uses += 1;
            self.found.n_monomials = self.found.n_monomials.max(right.len());
            let is_equal = self.work.are_equal(&left, &right, &self.meaning) == Some(true);
            if !is_equal {
                let name = self.old.ir.value_text(a);
                return Err(format!("{name} was not shown equal to {}", self.new.ir.value_text(b)));
            }
        }
        for (a, b) in a.results.clone().into_iter().zip(b.results.clone()) {
            self.same(a, b)?;
        }
        self.regions(old, new, depth + 1)
    }
}

/// True if an op is a sum, a difference or a product of two noisy integers, or reduces the noise of
/// one, and says nothing else.
fn is_arithmetic(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    let n_operands = match data.kind {
        OpKind::NoisyAdd | OpKind::NoisySub | OpKind::NoisyMul => 2,
        OpKind::NoisyReduceNoise => 1,
        _ => return false,
    };
    let noisy = |value: Value| ir.interner.type_text(ir.value(value).ty) == "!noisy.i32";
    data.operands.len() == n_operands
        && data.results.len() == 1
        && ir.extra(op).attrs.is_empty()
        && !ir.has_problem(op)
        && !matches!(data.form, Form::Broken | Form::Opaque)
        && noisy(data.results[0])
        && data.operands.iter().all(|it| it.value.is_some_and(noisy))
}

/// The plaintext that is encoded in a value in each run.
fn constant(program: &Program, value: Value) -> Option<u64> {
    let ir = program.ir();
    let Def::Result(op, 0) = ir.value(value).def else { return None };
    let data = ir.op(op);
    let plain = data.operands.first().filter(|_| data.kind == OpKind::NoisyEncode)?.value?;
    let TypeData::Int { width, .. } = ir.interner.type_data(ir.value(plain).ty) else {
        return None;
    };
    match program.integers().constant(ir, plain) {
        Constant::Int(it) if u64::from(*width) == u64::from(PLAINTEXT_BITS) => {
            Some(it.rem_euclid(1 << PLAINTEXT_BITS) as u64)
        }
        _ => None,
    }
}

/// The text of an op without its regions and without its operands.
fn skeleton(program: &Program, op: Op) -> String {
    let data = program.ir().op(op);
    let mut cuts: Vec<(u32, u32)> =
        data.operands.iter().map(|it| (it.span.start, it.span.end)).collect();
    cuts.extend(data.regions.iter().map(|it| (it.0, it.0)));
    cuts.sort_unstable();
    let mut out = String::new();
    let mut at = data.lead;
    for (start, end) in cuts {
        if at < start {
            out += &program.source().span_text(op, Span::new(at, start));
        }
        out.push('%');
        at = at.max(end);
    }
    if at < data.own_len {
        out += &program.source().span_text(op, Span::new(at, data.own_len));
    }
    out
}
