//! Proves that two programs are equivalent. The code shares nothing with the search.
//!
//! Both programs are traversed in parallel. Each op other than arithmetic must occur in both
//! programs, in the same order, with the same text and with operands that are proven equal; its
//! results are then the same unknowns in both. Sums, differences and products are polynomials in
//! these unknowns with coefficients modulo `2^5` (`equality/polynomial.rs`), and two values are
//! equal if their polynomials are equal. Bodies of loops are compared once, with the carried values
//! as unknowns: values that are equal before an iteration are equal after it. A loop that occurs
//! only in the first program is evaluated iteration by iteration. Loops that combine several
//! iterations, and branches with different results, are compared in `equality/loops.rs`.
//!
//! *Chain.* If two values with the same name are proven equal, both become a new unknown, so that
//! values computed from them have short polynomials. The chain of these steps is the proof; each
//! step is a comparison of two normal forms.
//!
//! *Limits.* A comparison with too many monomials fails.

mod loops;
mod ops;
pub(crate) mod polynomial;
mod side;

use std::collections::VecDeque;
use std::rc::Rc;

use noisy_analyses::Program;
use noisy_syntax::{Block, Form, Op, OpKind, Region, Value};
use rustc_hash::FxHashMap;

use self::loops::{CountedLoop, LoopBody};
use self::ops::{constant, is_arithmetic, is_computed, text_without_names};
use self::polynomial::{Polynomial, ProofWork, Unknown};
use self::side::ComparedProgram;

/// Maximum nesting depth of regions.
const MAX_DEPTH: usize = 100;

/// Maximum number of iterations of a loop that is evaluated.
const MAX_ITERATIONS: u64 = 100_000;

/// A proof that two functions are equivalent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equality {
    /// Pairs of ops that define values with the same name, which were proven equal by a comparison
    /// of normal forms. An op is identified by the offset of its first byte.
    pub steps: Vec<(usize, usize)>,
    /// The loops of the first program that were evaluated, with their trip counts.
    pub loops: Vec<(usize, u64)>,
    /// The loops of the first program that were replaced by a sequence of other loops. Each of
    /// these has its offset and the number of old iterations in one of its iterations.
    pub strides: Vec<(usize, Vec<(usize, u64)>)>,
    /// Number of compared operands of ops other than arithmetic.
    pub n_compared_operands: usize,
    /// Number of monomials of the largest normal form.
    pub n_monomials: usize,
}

/// Proves that two functions are equivalent.
///
/// # Errors
///
/// Describes the first difference, or the first comparison that failed.
pub fn prove_equal(old: (&Program, Op), new: (&Program, Op)) -> Result<Equality, String> {
    prove_equal_unless(old, new, &|| false)
}

/// Like [`prove_equal`], but fails when `stop` returns true.
pub(crate) fn prove_equal_unless(
    old: (&Program, Op),
    new: (&Program, Op),
    stop: &dyn Fn() -> bool,
) -> Result<Equality, String> {
    let mut proof = EqualityProof {
        old: ComparedProgram::of(old.0),
        new: ComparedProgram::of(new.0),
        meaning: FxHashMap::default(),
        n_strided: 0,
        work: ProofWork::new(stop),
        found: Equality::default(),
    };
    if text_without_names(old.0, old.1) != text_without_names(new.0, new.1) {
        return Err("the functions have different headers".to_owned());
    }
    proof.compare_regions(old.1, new.1, 0)?;
    Ok(proof.found)
}

struct EqualityProof<'a> {
    old: ComparedProgram<'a>,
    new: ComparedProgram<'a>,
    /// The polynomials of the unknowns that represent values proven equal.
    meaning: FxHashMap<Unknown, Rc<Polynomial>>,
    /// Number of enclosing loops for which several old iterations are compared with one new
    /// iteration.
    n_strided: usize,
    work: ProofWork<'a>,
    found: Equality,
}

/// An event in the traversal of the first program.
enum TraversalEvent {
    Op(Op),
    /// An iteration of the loop body starts.
    Iteration,
}

/// The remaining events of the first program: ops other than computations, in order.
#[derive(Default)]
struct EventQueue {
    events: VecDeque<TraversalEvent>,
    body: Option<LoopBody>,
    names: FxHashMap<String, Value>,
}

impl EqualityProof<'_> {
    /// Compares the regions of two ops.
    fn compare_regions(&mut self, old: Op, new: Op, depth: usize) -> Result<(), String> {
        let (old_regions, new_regions) =
            (&self.old.ir.op(old).regions, &self.new.ir.op(new).regions);
        if old_regions.len() != new_regions.len() || depth > MAX_DEPTH {
            return Err("regions differ".to_owned());
        }
        let pairs: Vec<(Region, Region)> =
            old_regions.iter().zip(new_regions).map(|(a, b)| (a.1, b.1)).collect();
        for (old, new) in pairs {
            self.compare_region(old, new, depth)?;
        }
        Ok(())
    }

    fn compare_region(&mut self, old: Region, new: Region, depth: usize) -> Result<(), String> {
        let (old_blocks, new_blocks) = (self.old.ir.blocks(old), self.new.ir.blocks(new));
        if old_blocks.len() != new_blocks.len() {
            return Err("blocks differ".to_owned());
        }
        for (&old, &new) in old_blocks.iter().zip(&new_blocks) {
            let (a, b) = (self.old.ir.block(old), self.new.ir.block(new));
            let (a_args, b_args) = (a.args.clone(), b.args.clone());
            let label =
                |program: &Program, it: Option<Op>| it.map(|it| text_without_names(program, it));
            let is_same = a_args.len() == b_args.len()
                && label(self.old.program, a.label) == label(self.new.program, b.label);
            if !is_same {
                return Err("the arguments of a block differ".to_owned());
            }
            for (a, b) in a_args.into_iter().zip(b_args) {
                self.make_same(a, b)?;
            }
        }
        for (old, new) in old_blocks.into_iter().zip(new_blocks) {
            let mut feed = self.events_of(old, None);
            let ops: Vec<Op> = self.new.ir.block_ops(new).collect();
            self.compare_op_lists(&mut feed, &ops, depth)?;
        }
        Ok(())
    }

    fn check_types(&self, old: Value, new: Value) -> Result<(), String> {
        let ty = |side: &ComparedProgram<'_>, it| side.ir.interner.type_text(side.ir.value(it).ty);
        if ty(&self.old, old) != ty(&self.new, new) {
            return Err(format!("{} has another type", self.old.ir.value_text(old)));
        }
        Ok(())
    }

    /// Makes two values the same unknown, or the same constant.
    fn make_same(&mut self, old: Value, new: Value) -> Result<(), String> {
        self.check_types(old, new)?;
        let polynomial = match (constant(self.old.program, old), constant(self.new.program, new)) {
            (Some(a), Some(b)) if a == b => Rc::new(Polynomial::number(a)),
            _ => Rc::new(Polynomial::of(self.work.unknown())),
        };
        self.old.known.insert(old, polynomial.clone());
        self.new.known.insert(new, polynomial);
        Ok(())
    }

    /// Returns the events of a block of the first program, up to the op `end`.
    fn events_of(&self, block: Block, end: Option<Op>) -> EventQueue {
        let ir = self.old.ir;
        let mut names: FxHashMap<String, Value> = FxHashMap::default();
        let mut events = VecDeque::new();
        for op in ir.block_ops(block).take_while(|&it| Some(it) != end) {
            for &it in &ir.op(op).results {
                names.insert(ir.value_text(it), it);
            }
            if !is_computed(ir, op) {
                events.push_back(TraversalEvent::Op(op));
            }
        }
        EventQueue { events, body: None, names }
    }

    /// Returns the next op of the first program that is not a computation.
    fn next(&mut self, feed: &mut EventQueue) -> Result<Option<Op>, String> {
        while let Some(event) = feed.events.pop_front() {
            match event {
                TraversalEvent::Op(op) => return Ok(Some(op)),
                TraversalEvent::Iteration => {
                    self.start_iteration(feed.body.as_mut().ok_or("no loop")?)?;
                }
            }
        }
        Ok(None)
    }

    /// Compares ops of the first program with those of the second one.
    fn compare_op_lists(
        &mut self,
        feed: &mut EventQueue,
        new_ops: &[Op],
        depth: usize,
    ) -> Result<(), String> {
        let mut at = 0;
        while let Some(&op) = new_ops.get(at) {
            at += 1;
            self.work.count_op()?;
            if is_arithmetic(self.new.ir, op) {
                self.handle_arithmetic(op, &feed.names)?;
                continue;
            }
            if is_computed(self.new.ir, op) {
                continue;
            }
            loop {
                let Some(other) = self.next(feed)? else {
                    return Err(format!("{} is new", self.new.ir.op_name(op)));
                };
                if let (Some(a), Some(b)) =
                    (CountedLoop::of(&self.old, other), CountedLoop::of(&self.new, op))
                    && self.needs_strides(&a, &b)
                {
                    // Otherwise the old loop may be removed, and the new one may correspond to a
                    // later loop.
                    if self.can_start_strides(&a, &b) {
                        at = self.compare_strides(&a, b, new_ops, at, feed, depth)?;
                        break;
                    }
                } else if text_without_names(self.old.program, other)
                    == text_without_names(self.new.program, op)
                {
                    self.compare_ops(other, op, depth)?;
                    break;
                }
                self.handle_removed(other)?;
            }
        }
        while let Some(other) = self.next(feed)? {
            self.handle_removed(other)?;
        }
        Ok(())
    }

    /// Handles an op that occurs only in the first program.
    fn handle_removed(&mut self, op: Op) -> Result<(), String> {
        match self.old.evaluate(op, 0, &mut self.work)? {
            Some(()) => {
                let (program, ir) = (self.old.program, self.old.ir);
                let trips = program.integers().trips(ir, op).exact().unwrap_or(0);
                let evaluated = (ir.range(op).start, trips);
                if !self.found.loops.contains(&evaluated) {
                    self.found.loops.push(evaluated);
                }
                Ok(())
            }
            None => Err(format!("{} is gone", self.old.ir.op_name(op))),
        }
    }

    /// Handles an arithmetic op of the second program. If the first program has an equal value with
    /// the same name, both become one unknown.
    fn handle_arithmetic(
        &mut self,
        op: Op,
        names: &FxHashMap<String, Value>,
    ) -> Result<(), String> {
        let value = self.new.ir.op(op).results[0];
        let new = self.new.value(value, &mut self.work)?;
        let Some(&named) = names.get(&self.new.ir.value_text(value)) else { return Ok(()) };
        let is_ours =
            self.old.ir.defining_op(named).is_some_and(|it| is_arithmetic(self.old.ir, it));
        if new.len() < 2 && new.degree() < 2 || !is_ours || self.n_strided > 0 {
            return Ok(());
        }
        // If the old value is unknown or too long, there is no step.
        let Ok(old) = self.old.value(named, &mut self.work) else { return Ok(()) };
        self.found.n_monomials = self.found.n_monomials.max(new.len());
        if self.work.are_equal(&old, &new, &self.meaning) == Some(true) {
            let unknown = self.work.unknown();
            let polynomial = Rc::new(Polynomial::of(unknown));
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

    /// Proves that two values are equal.
    fn prove_values_equal(&mut self, old: Value, new: Value) -> Result<(), String> {
        let left = self.old.value(old, &mut self.work)?;
        let right = self.new.value(new, &mut self.work)?;
        self.found.n_compared_operands += 1;
        self.found.n_monomials = self.found.n_monomials.max(right.len());
        if self.work.are_equal(&left, &right, &self.meaning) == Some(true) {
            return Ok(());
        }
        let name = self.old.ir.value_text(old);
        Err(format!("{name} was not shown equal to {}", self.new.ir.value_text(new)))
    }

    /// Compares two ops with the same text.
    fn compare_ops(&mut self, old: Op, new: Op, depth: usize) -> Result<(), String> {
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
            self.prove_values_equal(a, b)?;
        }
        let is_branch = matches!(a.kind, OpKind::ScfIf | OpKind::AffineIf);
        if is_branch && !a.results.is_empty() {
            return self.compare_branches(old, new, depth + 1);
        }
        for (a, b) in a.results.clone().into_iter().zip(b.results.clone()) {
            self.make_same(a, b)?;
        }
        self.compare_regions(old, new, depth + 1)
    }
}
