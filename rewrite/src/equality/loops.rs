//! Comparison of loops that combine several iterations, and of branches from which common terms or
//! factors were moved out.
//!
//! *Loops.* A loop is compared with a sequence of loops that together cover its iterations. One
//! iteration of a new loop corresponds to several old ones: with the carried values and the
//! induction variable as unknowns, the old iterations are evaluated one after the other, and must
//! give the yields of the new iteration. The old and the new carried values may differ by an
//! invariant value.
//!
//! *Branches.* The old results are the new results plus or times a value that is the same in both
//! cases. This value is the difference or the quotient of the yields of the first region.

use std::rc::Rc;

use noisy_dataflow::flow::{self, Flow};
use noisy_integers::constant::Constant;
use noisy_syntax::{Ir, Op, OpKind, Value};

use super::ops::{is_arithmetic, is_computed, is_noisy, text_without_names};
use super::polynomial::{Polynomial, Unknown};
use super::side::ComparedProgram;
use super::{EqualityProof, EventQueue, MAX_DEPTH, MAX_ITERATIONS, TraversalEvent};

/// A loop with known bounds.
pub(super) struct CountedLoop {
    op: Op,
    lower: i128,
    step: i128,
    trips: u64,
    inits: Vec<Value>,
    index: Value,
    args: Vec<Value>,
    /// The ops of the body except the last.
    body: Vec<Op>,
    yields: Vec<Value>,
}

impl CountedLoop {
    pub(super) fn of(side: &ComparedProgram<'_>, op: Op) -> Option<Self> {
        let (program, ir) = (side.program, side.ir);
        let data = ir.op(op);
        let n = data.results.len();
        let Flow::For { first } = Flow::of(ir, op) else { return None };
        let number = |at: usize| match program.integers().constant(ir, data.operands[at].value?) {
            Constant::Int(it) => Some(it),
            _ => None,
        };
        let (lower, step) = if data.kind == OpKind::ScfFor {
            (number(0)?, number(2)?)
        } else {
            let map = ir.interner.affine(ir.attr(op, "lowerBoundMap")?)?;
            let lower = map.evaluate(&|_| None)?;
            let is_constant = first == 0 && lower.len() == 1;
            let step = ir.interner.int_value(ir.attr(op, "step")?)?;
            (is_constant.then(|| i128::from(lower[0]))?, step)
        };
        let &[(_, region)] = data.regions.as_slice() else { return None };
        let block = ir.only_block(region)?;
        let (&index, args) = ir.block(block).args.split_first()?;
        let end = ir.last_op(block)?;
        let values = |op: Op| -> Option<Vec<Value>> {
            ir.op(op).operands.iter().map(|it| it.value).collect()
        };
        let (inits, yields) = (values(op)?.split_off(first), values(end)?);
        let fits = matches!(ir.op(end).kind, OpKind::ScfYield | OpKind::AffineYield)
            && !ir.has_problem(op)
            && !ir.has_problem(end)
            && flow::carried_args(ir, region, n) == args
            && [inits.len(), args.len(), yields.len()] == [n; 3];
        let trips = program.integers().trips(ir, op).exact().filter(|_| fits && step > 0)?;
        let body = ir.block_ops(block).filter(|&it| it != end).collect();
        let args = args.to_vec();
        Some(Self { op, lower, step, trips, inits, index, args, body, yields })
    }
}

/// The body of a loop, for its evaluation.
pub(super) struct LoopBody {
    /// All values that the body defines.
    values: Vec<Value>,
    index: Value,
    args: Vec<Value>,
    yields: Vec<Value>,
    /// The induction variable of the first iteration.
    first: Unknown,
    step: i128,
    n_begun: u64,
    carried: Vec<Rc<Polynomial>>,
}

/// The old and the new value that a case of a branch yields.
type YieldPair = (Polynomial, Polynomial);

/// Attributes of loops that determine only the iteration space.
const BOUND_ATTRIBUTES: &[&str] =
    &["lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes"];

fn check_only_bounds(ir: &Ir, op: Op) -> Result<(), String> {
    let mut attrs = ir.extra(op).attrs.iter().map(|it| ir.interner.str(it.0));
    match attrs.find(|it| !BOUND_ATTRIBUTES.contains(it)) {
        None => Ok(()),
        Some(it) => Err(format!("a loop has the attribute {it}")),
    }
}

impl EqualityProof<'_> {
    /// Returns true if two loops differ in bounds, text or initial values, so that their bodies
    /// cannot be compared one to one.
    pub(super) fn needs_strides(&mut self, old: &CountedLoop, new: &CountedLoop) -> bool {
        let counts = |it: &CountedLoop| (it.lower, it.step, it.trips);
        let mut is_same = counts(old) == counts(new)
            && text_without_names(self.old.program, old.op)
                == text_without_names(self.new.program, new.op)
            && old.inits.len() == new.inits.len();
        for (&a, &b) in old.inits.iter().zip(&new.inits) {
            is_same = is_same && self.is_equal(a, b);
        }
        !is_same
    }

    fn is_equal(&mut self, old: Value, new: Value) -> bool {
        let left = self.old.value(old, &mut self.work);
        let right = self.new.value(new, &mut self.work);
        let (Ok(left), Ok(right)) = (left, right) else { return false };
        self.work.are_equal(&left, &right, &self.meaning) == Some(true)
    }

    /// Returns the number of iterations of the old loop in one iteration of the new loop, which
    /// must continue after `n_done` old iterations; 0 if it does not.
    fn n_at_once(&self, old: &CountedLoop, new: &CountedLoop, n_done: u64) -> u64 {
        let ty = |side: &ComparedProgram<'_>, it| side.ir.interner.type_text(side.ir.value(it).ty);
        let lower = old.step.checked_mul(i128::from(n_done)).map(|it| old.lower.checked_add(it));
        let is_next = lower.flatten() == Some(new.lower)
            && new.step % old.step == 0
            && old.args.len() == new.args.len()
            && self.old.ir.op(old.op).kind == self.new.ir.op(new.op).kind
            && [ty(&self.old, old.index), ty(&self.new, new.index)] == ["index"; 2]
            && i64::try_from(new.step).is_ok();
        let n = u64::try_from(new.step / old.step).unwrap_or(0);
        let fits = n.checked_mul(new.trips).and_then(|it| it.checked_add(n_done));
        if is_next && n <= MAX_ITERATIONS && fits.is_some_and(|it| it <= old.trips) { n } else { 0 }
    }

    pub(super) fn can_start_strides(&self, old: &CountedLoop, new: &CountedLoop) -> bool {
        self.n_at_once(old, new, 0) > 0
    }

    /// Compares a loop with the sequence of loops that replaces it; `first` is the first one.
    /// Returns the index of the op after the last one.
    pub(super) fn compare_strides(
        &mut self,
        old: &CountedLoop,
        first: CountedLoop,
        new_ops: &[Op],
        mut at: usize,
        feed: &EventQueue,
        depth: usize,
    ) -> Result<usize, String> {
        let ir = self.old.ir;
        if depth > MAX_DEPTH {
            return Err("loops are nested too deeply".to_owned());
        }
        // Bounds and steps were compared before; other attributes are not allowed.
        check_only_bounds(self.old.ir, old.op)?;
        check_only_bounds(self.new.ir, first.op)?;
        let results = (&ir.op(old.op).results, &self.new.ir.op(first.op).results);
        for (&a, &b) in results.0.iter().zip(results.1) {
            self.check_types(a, b)?;
        }
        let mut rest = Vec::new();
        for (&a, &b) in old.inits.iter().zip(&first.inits) {
            self.check_types(a, b)?;
            rest.push(self.difference(a, b)?);
        }
        let mut values = Vec::new();
        let own = ir.op(old.op).regions.iter().map(|it| it.1);
        let mut regions: Vec<_> = own.collect();
        while let Some(region) = regions.pop() {
            for block in ir.blocks(region) {
                values.extend(ir.block(block).args.iter().copied());
            }
            for op in ir.items(region) {
                values.extend(ir.op(op).results.iter().copied());
                regions.extend(ir.op(op).regions.iter().map(|it| it.1));
            }
        }
        self.n_strided += 1;
        let mut parts = Vec::new();
        let mut n_done = 0;
        let mut new = first;
        loop {
            let n = self.n_at_once(old, &new, n_done);
            if n == 0 {
                return Err("the iterations of a loop differ".to_owned());
            }
            parts.push((self.new.ir.range(new.op).start, n));
            let index = self.work.unknown();
            self.new.known.insert(new.index, Rc::new(Polynomial::of(index)));
            let mut carried = Vec::new();
            for (&it, rest) in new.args.iter().zip(&rest) {
                let unknown = Rc::new(Polynomial::of(self.work.unknown()));
                carried.push(self.plus(&unknown, rest)?);
                self.new.known.insert(it, unknown);
            }
            let mut inner = EventQueue {
                body: Some(LoopBody {
                    values: values.clone(),
                    index: old.index,
                    args: old.args.clone(),
                    yields: old.yields.clone(),
                    first: index,
                    step: old.step,
                    n_begun: 0,
                    carried,
                }),
                ..EventQueue::default()
            };
            for _ in 0..n {
                inner.events.push_back(TraversalEvent::Iteration);
                let others = old.body.iter().filter(|&&it| !is_computed(ir, it));
                inner.events.extend(others.map(|&it| TraversalEvent::Op(it)));
            }
            self.compare_op_lists(&mut inner, &new.body, depth + 1)?;
            let mut body = inner.body.ok_or("no loop")?;
            self.end_iteration(&mut body)?;
            for ((left, &value), rest) in body.carried.iter().zip(&new.yields).zip(&rest) {
                let right = self.new.value(value, &mut self.work)?;
                let right = self.plus(&right, rest)?;
                self.found.n_compared_operands += 1;
                self.found.n_monomials = self.found.n_monomials.max(right.len());
                if self.work.are_equal(left, &right, &self.meaning) != Some(true) {
                    let name = self.new.ir.value_text(value);
                    return Err(format!("{name} was not shown equal after some iterations"));
                }
            }
            let results = self.new.ir.op(new.op).results.clone();
            for &it in &results {
                let unknown = Rc::new(Polynomial::of(self.work.unknown()));
                self.new.known.insert(it, unknown);
            }
            n_done += n * new.trips;
            // The loop for the remaining iterations, unless these are unrolled.
            let next = self.next_loop(old, new_ops, at, n_done);
            let Some((after, it)) = next.filter(|_| n_done < old.trips) else {
                let mut carried = Vec::new();
                for (&it, rest) in results.iter().zip(&rest) {
                    let value = self.new.value(it, &mut self.work)?;
                    carried.push(self.plus(&value, rest)?);
                }
                self.evaluate_last_iterations(old, carried, old.trips - n_done)?;
                break;
            };
            check_only_bounds(self.new.ir, it.op)?;
            // The ops in between may be needed.
            for &op in &new_ops[at..after] {
                self.work.count_op()?;
                if is_arithmetic(self.new.ir, op) {
                    self.handle_arithmetic(op, &feed.names)?;
                }
            }
            (new, at) = (it, after + 1);
            if results.len() != new.inits.len() {
                return Err("loops carry different values".to_owned());
            }
            for (a, &b) in results.into_iter().zip(&new.inits) {
                let left = self.new.value(a, &mut self.work)?;
                let right = self.new.value(b, &mut self.work)?;
                if self.work.are_equal(&left, &right, &self.meaning) != Some(true) {
                    return Err("the rest of a loop starts with another value".to_owned());
                }
            }
        }
        self.n_strided -= 1;
        self.found.strides.push((ir.range(old.op).start, parts));
        Ok(at)
    }

    /// Returns the next op that is not a computation, with its index, if it is a loop that
    /// continues the iterations of the old loop.
    fn next_loop(
        &self,
        old: &CountedLoop,
        new_ops: &[Op],
        at: usize,
        n_done: u64,
    ) -> Option<(usize, CountedLoop)> {
        let next = new_ops.iter().skip(at).position(|&it| !is_computed(self.new.ir, it))?;
        let it = CountedLoop::of(&self.new, *new_ops.get(at + next)?)?;
        (self.n_at_once(old, &it, n_done) > 0).then_some((at + next, it))
    }

    /// Computes the results of a loop from the carried values before its last `n` iterations.
    fn evaluate_last_iterations(
        &mut self,
        old: &CountedLoop,
        carried: Vec<Rc<Polynomial>>,
        n: u64,
    ) -> Result<(), String> {
        let results = self.old.ir.op(old.op).results.iter();
        let carried = if n == 0 {
            Some(carried)
        } else if n <= MAX_ITERATIONS {
            let body = (&old.args[..], &old.body[..], &old.yields[..]);
            self.old.evaluate_iterations(body, carried, n, 0, &mut self.work)?
        } else {
            None
        };
        let carried = carried.ok_or("the last iterations of a loop are missing")?;
        self.old.known.extend(results.copied().zip(carried));
        Ok(())
    }

    /// Starts an iteration of a body.
    pub(super) fn start_iteration(&mut self, body: &mut LoopBody) -> Result<(), String> {
        self.work.count_op()?;
        if body.n_begun > 0 {
            self.end_iteration(body)?;
        }
        for it in &body.values {
            self.old.known.remove(it);
        }
        let by = body.step.checked_mul(i128::from(body.n_begun));
        let index = by.and_then(|it| self.work.offset(body.first, it));
        let index = Polynomial::of(index.ok_or("an induction variable is too large")?);
        self.old.known.insert(body.index, Rc::new(index));
        self.old.known.extend(body.args.iter().copied().zip(body.carried.drain(..)));
        body.n_begun += 1;
        Ok(())
    }

    fn end_iteration(&mut self, body: &mut LoopBody) -> Result<(), String> {
        for &it in &body.yields {
            body.carried.push(self.old.value(it, &mut self.work)?);
        }
        Ok(())
    }

    /// Compares two branches with the same text.
    pub(super) fn compare_branches(
        &mut self,
        old: Op,
        new: Op,
        depth: usize,
    ) -> Result<(), String> {
        let (a, b) = (self.old.ir.op(old), self.new.ir.op(new));
        if a.regions.len() != b.regions.len() || depth > MAX_DEPTH {
            return Err("regions differ".to_owned());
        }
        let mut unknowns = Vec::new();
        for (&a, &b) in a.results.iter().zip(&b.results) {
            self.check_types(a, b)?;
            let unknown = Rc::new(Polynomial::of(self.work.unknown()));
            self.new.known.insert(b, unknown.clone());
            unknowns.push(unknown);
        }
        // Unknowns from here on belong to one case.
        let mark = self.work.unknown();
        let mut yields: Vec<Vec<YieldPair>> = vec![Vec::new(); unknowns.len()];
        let regions: Vec<_> = a.regions.iter().zip(&b.regions).map(|it| (it.0.1, it.1.1)).collect();
        for (old, new) in regions {
            let blocks = (self.old.ir.only_block(old), self.new.ir.only_block(new));
            let (Some(old), Some(new)) = blocks else { return Err("blocks differ".to_owned()) };
            let ends = (self.old.ir.last_op(old), self.new.ir.last_op(new));
            let (Some(end), Some(new_end)) = ends else { return Err("blocks differ".to_owned()) };
            let is_end = |kind: OpKind| matches!(kind, OpKind::ScfYield | OpKind::AffineYield);
            let (a, b) = (self.old.ir.op(end), self.new.ir.op(new_end));
            let n = yields.len();
            let fits = is_end(a.kind) && is_end(b.kind);
            if !fits || [a.operands.len(), b.operands.len()] != [n; 2] {
                return Err("the ends of branches differ".to_owned());
            }
            let ops: Vec<Op> = self.new.ir.block_ops(new).filter(|&it| it != new_end).collect();
            let mut feed = self.events_of(old, Some(end));
            self.compare_op_lists(&mut feed, &ops, depth)?;
            for (at, yields) in yields.iter_mut().enumerate() {
                let (Some(old), Some(new)) = (a.operands[at].value, b.operands[at].value) else {
                    return Err("an operand is not defined".to_owned());
                };
                let left = self.old.value(old, &mut self.work)?;
                let right = self.new.value(new, &mut self.work)?;
                self.found.n_compared_operands += 1;
                self.found.n_monomials = self.found.n_monomials.max(right.len());
                let long = || format!("{} has too many monomials", self.old.ir.value_text(old));
                let mut expanded = |it: &Polynomial| {
                    self.work.substitute(it.clone(), mark, &self.meaning).ok_or_else(long)
                };
                yields.push((expanded(&left)?, expanded(&right)?));
            }
        }
        let results = self.old.ir.op(old).results.iter();
        for ((&old, unknown), yields) in results.zip(&unknowns).zip(&yields) {
            let related = self.relate_results(old, unknown, yields, mark);
            let name = || self.old.ir.value_text(old);
            let value =
                related.ok_or_else(|| format!("{} is not the same in all cases", name()))?;
            self.old.known.insert(old, Rc::new(value));
        }
        Ok(())
    }

    /// Returns the old result of a branch in terms of the new one, derived from the old and new
    /// yields of the cases.
    fn relate_results(
        &mut self,
        old: Value,
        new: &Polynomial,
        yields: &[YieldPair],
        mark: Unknown,
    ) -> Option<Polynomial> {
        let mut factors = vec![Polynomial::number(1)];
        if is_noisy(self.old.ir, old) {
            factors.push(Polynomial::minus_one());
            factors.extend(yields.iter().filter_map(|it| it.0.divided(&it.1)));
        }
        for factor in factors {
            // The rest must be the same value in all cases.
            let mut rest: Option<Polynomial> = None;
            let is_outer = |it: &Polynomial| it.unknowns().all(|it| it < mark);
            let mut is_related = is_outer(&factor);
            for (left, right) in yields {
                let product = self.work.product(&factor, right)?;
                let mut difference = self.work.sum(left, &product, true)?;
                if !is_outer(&difference) {
                    // Unknowns of the case may cancel after expansion.
                    difference = self.work.substitute(difference, Unknown(0), &self.meaning)?;
                }
                is_related &= match &rest {
                    None if is_noisy(self.old.ir, old) => is_outer(&difference),
                    None => difference.is_zero(),
                    Some(it) => self.work.are_equal(it, &difference, &self.meaning) == Some(true),
                };
                if !is_related {
                    break;
                }
                rest.get_or_insert(difference);
            }
            if is_related {
                let product = self.work.product(&factor, new)?;
                return self.work.sum(&product, &rest?, false);
            }
        }
        None
    }

    /// Returns the difference of the initial values of a loop, which must be invariant.
    fn difference(&mut self, old: Value, new: Value) -> Result<Polynomial, String> {
        let left = self.old.value(old, &mut self.work)?;
        let right = self.new.value(new, &mut self.work)?;
        if self.work.are_equal(&left, &right, &self.meaning) == Some(true) {
            return Ok(Polynomial::default());
        }
        let rest = self.work.sum(&left, &right, true).filter(|_| is_noisy(self.old.ir, old));
        rest.ok_or_else(|| format!("{} starts with another value", self.old.ir.value_text(old)))
    }

    fn plus(&mut self, a: &Rc<Polynomial>, b: &Polynomial) -> Result<Rc<Polynomial>, String> {
        if b.is_zero() {
            return Ok(a.clone());
        }
        let sum = self.work.sum(a, b, false).map(Rc::new);
        sum.ok_or_else(|| "a carried value has too many monomials".to_owned())
    }
}
