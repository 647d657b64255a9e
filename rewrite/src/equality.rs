//! Shows that two programs compute the same, by code that shares nothing with the search.
//!
//! Both programs are walked side by side. Each op that is no arithmetic must stand in both, in the
//! same order, with the same text and with operands that are shown equal; what it defines is then
//! the same unknown in both. Sums, differences and products are polynomials in these unknowns with
//! coefficients modulo `2^5` (`equality/polynomial.rs`), and two values are equal if their
//! polynomials are. Bodies of loops are compared once, with the carried values as unknowns: values
//! that are equal before a round are equal after it. A loop that stands in the first program only
//! is evaluated round by round. Loops that take several rounds at once, and branches with other
//! results, are compared in `equality/loops.rs`.
//!
//! *Chain.* Where a value of one name is shown equal in both programs, it becomes an unknown of its
//! own, so that what is computed from it has a short polynomial. The chain of these steps is the
//! proof; each step is a comparison of two normal forms.
//!
//! *Limits.* A comparison that takes too many monomials shows nothing.

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
    /// The loops of the first program that others take the place of, each of which runs several of
    /// its iterations at once: their number.
    pub strides: Vec<(usize, Vec<(usize, u64)>)>,
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
    /// The polynomials of unknowns that stand for values which were shown equal.
    meaning: FxHashMap<Unknown, Rc<Polynomial>>,
    /// Number of loops around of which several iterations are compared with one.
    n_copies: usize,
    work: Work<'a>,
    found: Equality,
}

/// The next thing in the first program.
enum Event {
    Op(Op),
    /// An iteration of the body starts.
    Iteration,
}

/// Ops of the first program that are not computed, in order.
#[derive(Default)]
struct Feed {
    events: VecDeque<Event>,
    body: Option<Body>,
    names: FxHashMap<String, Value>,
}

impl Proof<'_> {
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

    /// Two values that are the same unknown, or the same constant.
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

    /// The ops of a block of the first program, up to one.
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

    /// The next op of the first program that is not computed.
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
                    // A loop may also be gone, and the other one belong to a later loop.
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

    /// An op that stands in the first program only.
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

    /// An arithmetic op of the second program. If a value of its name is equal, both become one
    /// unknown.
    fn step(&mut self, op: Op, names: &FxHashMap<String, Value>) -> Result<(), String> {
        let value = self.new.ir.op(op).results[0];
        let new = self.new.value(value, &mut self.work)?;
        let Some(&named) = names.get(&self.new.ir.value_text(value)) else { return Ok(()) };
        let is_ours =
            self.old.ir.defining_op(named).is_some_and(|it| is_arithmetic(self.old.ir, it));
        if new.len() < 2 && new.degree() < 2 || !is_ours || self.n_copies > 0 {
            return Ok(());
        }
        // An unknown or too long value is no step.
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

    /// Shows that two values are equal.
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
