//! One of the two compared programs, with the polynomials of its values.

use std::rc::Rc;

use noisy_analyses::Program;
use noisy_dataflow::flow::{self, Flow};
use noisy_syntax::{Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use super::ops::{IntegerOp, integer_op, is_arithmetic, is_computed};
use super::polynomial::{Polynomial, ProofWork};
use super::{MAX_DEPTH, MAX_ITERATIONS};

/// One of the two compared programs.
pub(super) struct ComparedProgram<'a> {
    pub program: &'a Program,
    pub ir: &'a Ir,
    pub known: FxHashMap<Value, Rc<Polynomial>>,
}

impl<'a> ComparedProgram<'a> {
    pub(super) fn of(program: &'a Program) -> Self {
        Self { program, ir: program.ir(), known: FxHashMap::default() }
    }

    /// Returns the polynomial of a value.
    pub(super) fn value(
        &mut self,
        value: Value,
        work: &mut ProofWork<'_>,
    ) -> Result<Rc<Polynomial>, String> {
        let mut stack = vec![value];
        while let Some(&at) = stack.last() {
            if self.known.contains_key(&at) {
                stack.pop();
                continue;
            }
            let name = || self.ir.value_text(at);
            let Some(op) = self.ir.defining_op(at).filter(|&it| is_computed(self.ir, it)) else {
                return Err(format!("{} is used before it is known", name()));
            };
            let operands = self.ir.op(op).operands.iter().filter_map(|it| it.value);
            let missing: Vec<Value> = operands.filter(|it| !self.known.contains_key(it)).collect();
            if missing.is_empty() {
                let polynomial = self.polynomial_of_op(op, work)?;
                self.known.insert(at, polynomial);
                stack.pop();
            } else if stack.len() > self.ir.n_slots().1 {
                return Err(format!("{} depends on itself", name()));
            } else {
                stack.extend(missing);
            }
        }
        self.known.get(&value).cloned().ok_or_else(|| "a value is unknown".to_owned())
    }

    /// Returns the polynomial of a computation whose operands are known.
    fn polynomial_of_op(&self, op: Op, work: &mut ProofWork<'_>) -> Result<Rc<Polynomial>, String> {
        let operand = |at: usize| {
            let value = self.ir.op(op).operands.get(at).and_then(|it| it.value);
            value.and_then(|it| self.known.get(&it)).ok_or("an operand is unknown")
        };
        if let Some(it) = integer_op(self.ir, op) {
            let unknown = match it {
                IntegerOp::Number(it) => {
                    let ty = self.ir.value(self.ir.op(op).results[0]).ty;
                    work.constant(self.ir.interner.type_text(ty), it)
                }
                IntegerOp::Sum(by) => {
                    let of = operand(0)?.as_unknown().ok_or("an integer is not known")?;
                    work.offset(of, by).ok_or("an integer is too large")?
                }
            };
            return Ok(Rc::new(Polynomial::of(unknown)));
        }
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

    /// Evaluates a loop of arithmetic with a known trip count iteration by iteration, and stores
    /// its results. Returns `None` if the op is not such a loop.
    pub(super) fn evaluate(
        &mut self,
        op: Op,
        depth: usize,
        work: &mut ProofWork<'_>,
    ) -> Result<Option<()>, String> {
        let ir = self.ir;
        let data = ir.op(op);
        let Flow::For { first } = Flow::of(ir, op) else { return Ok(None) };
        let trips = self.program.integers().trips(ir, op).exact();
        let region = data.regions.first().filter(|_| data.regions.len() == 1);
        let block = region.and_then(|it| ir.only_block(it.1));
        let (Some(trips), Some(block)) = (trips.filter(|&it| it <= MAX_ITERATIONS), block) else {
            return Ok(None);
        };
        let n = data.results.len();
        let end = ir.last_op(block).filter(|&it| {
            matches!(ir.op(it).kind, OpKind::ScfYield | OpKind::AffineYield)
                && ir.op(it).operands.len() == n
        });
        let Some(end) = end else { return Ok(None) };
        let args: Vec<Value> = flow::carried_args(ir, ir.block(block).region, n).to_vec();
        if depth > MAX_DEPTH || args.len() != n || data.operands.len() != first + n {
            return Ok(None);
        }
        let mut carried = Vec::with_capacity(n);
        for it in &data.operands[first..] {
            let value = it.value.ok_or("an operand is not defined")?;
            carried.push(self.value(value, work)?);
        }
        let ops: Vec<Op> = ir.block_ops(block).filter(|&it| it != end).collect();
        let yields: Option<Vec<Value>> = ir.op(end).operands.iter().map(|it| it.value).collect();
        let yields = yields.ok_or("an operand is not defined")?;
        let body = (&args[..], &ops[..], &yields[..]);
        let Some(carried) = self.evaluate_iterations(body, carried, trips, depth, work)? else {
            return Ok(None);
        };
        self.known.extend(data.results.iter().copied().zip(carried));
        Ok(Some(()))
    }

    /// Returns the values that the body of a loop yields after `n` iterations. The body consists of
    /// its arguments, its ops except the last, and the operands of the last op. `None` if it has
    /// ops other than arithmetic.
    pub(super) fn evaluate_iterations(
        &mut self,
        (args, ops, yields): (&[Value], &[Op], &[Value]),
        mut carried: Vec<Rc<Polynomial>>,
        n: u64,
        depth: usize,
        work: &mut ProofWork<'_>,
    ) -> Result<Option<Vec<Rc<Polynomial>>>, String> {
        let ir = self.ir;
        for _ in 0..n {
            self.known.extend(args.iter().copied().zip(carried.drain(..)));
            for &it in ops {
                work.count_op()?;
                if is_arithmetic(ir, it) {
                    // Operands from outside of the loop may not be known yet.
                    for operand in &ir.op(it).operands {
                        let value = operand.value.ok_or("an operand is not defined")?;
                        self.value(value, work)?;
                    }
                    let polynomial = self.polynomial_of_op(it, work)?;
                    self.known.insert(ir.op(it).results[0], polynomial);
                } else if self.evaluate(it, depth + 1, work)?.is_none() {
                    return Ok(None);
                }
            }
            for &it in yields {
                carried.push(self.value(it, work)?);
            }
        }
        Ok(Some(carried))
    }
}
