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

use self::loops::{Body, Counted};
use self::ops::{constant, is_arithmetic, is_computed, skeleton};
use self::polynomial::{Polynomial, Unknown, Work};
use self::side::Side;

/// Maximum nesting depth of regions.
const MOST_DEPTH: usize = 100;

/// Maximum number of iterations of a loop that is evaluated.
const MOST_ROUNDS: u64 = 100_000;

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
    pub n_uses: usize,
    /// Number of monomials of the largest normal form.
    pub n_monomials: usize,
}

/// Proves that two functions are equivalent.
///
/// # Errors
///
/// Describes the first difference, or the first comparison that failed.
pub fn equal(old: (&Program, Op), new: (&Program, Op)) -> Result<Equality, String> {
    equal_unless(old, new, &|| false)
}

/// Like [`equal`], but fails when `stop` returns true.
pub(crate) fn equal_unless(
    old: (&Program, Op),
    new: (&Program, Op),
    stop: &dyn Fn() -> bool,
) -> Result<Equality, String> {
    let mut proof = Proof {
        old: Side::of(old.0),
        new: Side::of(new.0),
        meaning: FxHashMap::default(),
        n_copies: 0,
        work: Work::new(stop),
        found: Equality::default(),
    };
    if skeleton(old.0, old.1) != skeleton(new.0, new.1) {
        return Err("the functions have different headers".to_owned());
    }
    proof.regions(old.1, new.1, 0)?;
    Ok(proof.found)
}

struct Proof<'a> {
    old: Side<'a>,
    new: Side<'a>,
    /// The polynomials of the unknowns that represent values proven equal.
    meaning: FxHashMap<Unknown, Rc<Polynomial>>,
    /// Number of enclosing loops for which several old iterations are compared with one new
    /// iteration.
    n_copies: usize,
    work: Work<'a>,
    found: Equality,
}

/// An event in the traversal of the first program.
enum Event {
    Op(Op),
    /// An iteration of the loop body starts.
    Iteration,
}

/// The remaining events of the first program: ops other than computations, in order.
#[derive(Default)]
struct Feed {
    events: VecDeque<Event>,
    body: Option<Body>,
    names: FxHashMap<String, Value>,
}

impl Proof<'_> {
    /// Compares the regions of two ops.
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
            let mut feed = self.feed(old, None);
            let ops: Vec<Op> = self.new.ir.block_ops(new).collect();
            self.ops(&mut feed, &ops, depth)?;
        }
        Ok(())
    }

    fn have_one_type(&self, old: Value, new: Value) -> Result<(), String> {
        let ty = |side: &Side<'_>, it| side.ir.interner.type_text(side.ir.value(it).ty);
        if ty(&self.old, old) != ty(&self.new, new) {
            return Err(format!("{} has another type", self.old.ir.value_text(old)));
        }
        Ok(())
    }

    /// Makes two values the same unknown, or the same constant.
    fn same(&mut self, old: Value, new: Value) -> Result<(), String> {
        self.have_one_type(old, new)?;
        let polynomial = match (constant(self.old.program, old), constant(self.new.program, new)) {
            (Some(a), Some(b)) if a == b => Rc::new(Polynomial::number(a)),
            _ => Rc::new(Polynomial::of(self.work.unknown())),
        };
        self.old.known.insert(old, polynomial.clone());
        self.new.known.insert(new, polynomial);
        Ok(())
    }

    /// Returns the events of a block of the first program, up to the op `end`.
    fn feed(&self, block: Block, end: Option<Op>) -> Feed {
        let ir = self.old.ir;
        let mut names: FxHashMap<String, Value> = FxHashMap::default();
        let mut events = VecDeque::new();
        for op in ir.block_ops(block).take_while(|&it| Some(it) != end) {
            for &it in &ir.op(op).results {
                names.insert(ir.value_text(it), it);
            }
            if !is_computed(ir, op) {
                events.push_back(Event::Op(op));
            }
        }
        Feed { events, body: None, names }
    }

    /// Returns the next op of the first program that is not a computation.
    fn next(&mut self, feed: &mut Feed) -> Result<Option<Op>, String> {
        while let Some(event) = feed.events.pop_front() {
            match event {
                Event::Op(op) => return Ok(Some(op)),
                Event::Iteration => self.iterate(feed.body.as_mut().ok_or("no loop")?)?,
            }
        }
        Ok(None)
    }

    /// Compares ops of the first program with those of the second one.
    fn ops(&mut self, feed: &mut Feed, new_ops: &[Op], depth: usize) -> Result<(), String> {
        let mut at = 0;
        while let Some(&op) = new_ops.get(at) {
            at += 1;
            self.work.tick()?;
            if is_arithmetic(self.new.ir, op) {
                self.step(op, &feed.names)?;
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
                    (Counted::of(&self.old, other), Counted::of(&self.new, op))
                    && self.is_other_loop(&a, &b)
                {
                    // Otherwise the old loop may be removed, and the new one may correspond to a
                    // later loop.
                    if self.fits(&a, &b) {
                        at = self.strides(&a, b, new_ops, at, feed, depth)?;
                        break;
                    }
                } else if skeleton(self.old.program, other) == skeleton(self.new.program, op) {
                    self.pair(other, op, depth)?;
                    break;
                }
                self.gone(other)?;
            }
        }
        while let Some(other) = self.next(feed)? {
            self.gone(other)?;
        }
        Ok(())
    }

    /// Handles an op that occurs only in the first program.
    fn gone(&mut self, op: Op) -> Result<(), String> {
        match self.old.evaluate(op, 0, &mut self.work)? {
            Some(()) => {
                let (program, ir) = (self.old.program, self.old.ir);
                let trips = program.integers().trips(ir, op).count().unwrap_or(0);
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
    fn step(&mut self, op: Op, names: &FxHashMap<String, Value>) -> Result<(), String> {
        let value = self.new.ir.op(op).results[0];
        let new = self.new.value(value, &mut self.work)?;
        let Some(&named) = names.get(&self.new.ir.value_text(value)) else { return Ok(()) };
        let is_ours =
            self.old.ir.defining_op(named).is_some_and(|it| is_arithmetic(self.old.ir, it));
        if new.len() < 2 && new.degree() < 2 || !is_ours || self.n_copies > 0 {
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
    fn are_equal(&mut self, old: Value, new: Value) -> Result<(), String> {
        let left = self.old.value(old, &mut self.work)?;
        let right = self.new.value(new, &mut self.work)?;
        self.found.n_uses += 1;
        self.found.n_monomials = self.found.n_monomials.max(right.len());
        if self.work.are_equal(&left, &right, &self.meaning) == Some(true) {
            return Ok(());
        }
        let name = self.old.ir.value_text(old);
        Err(format!("{name} was not shown equal to {}", self.new.ir.value_text(new)))
    }

    /// Compares two ops with the same text.
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
            self.are_equal(a, b)?;
        }
        let is_branch = matches!(a.kind, OpKind::ScfIf | OpKind::AffineIf);
        if is_branch && !a.results.is_empty() {
            return self.branch(old, new, depth + 1);
        }
        for (a, b) in a.results.clone().into_iter().zip(b.results.clone()) {
            self.same(a, b)?;
        }
        self.regions(old, new, depth + 1)
    }
}
