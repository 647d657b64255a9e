//! The parts of a function that matter to dependences: loops, guards, loads and stores.
//!
//! *Scopes* form a tree: a loop, a guard, or an unknown region. Each has the constraints under
//! which its inside runs, a union of conjunctions over the variables of the loops around it. The
//! variable of an unknown loop may take any value, in growing order; its consequences are then a
//! bound and not exact (`is_exact`).
//!
//! *Values* of indices are affine forms of induction variables, of symbols (the same in all
//! iterations), and of locals (the same in each iteration of the loops around their definition). A
//! value without a known form that is defined under k loops is a local of depth k.
//!
//! *Cost.* One walk over the function; recursion only into regions.

mod scopes;
mod walk;

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::form::{Form, Quotients};
use crate::memory::MemrefView;

/// An affine constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    pub form: Form,
    /// True if the form is 0; false if it is at least 0.
    pub is_equality: bool,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The op. An `affine.parallel` has several loops.
    pub op: Op,
    /// The index among the loops of the op.
    pub index: u32,
    pub iv: Option<Value>,
    /// The number of loops around it, itself included.
    pub depth: u32,
    /// The lower bounds, of which the greatest counts; `None` if they are not affine.
    pub lower: Option<Vec<Form>>,
    /// The upper bounds, of which the least counts: the first value that is not taken. `None` if
    /// they are not affine.
    pub upper: Option<Vec<Form>>,
    /// The step, if it is known.
    pub step: Option<i128>,
}

/// The kind of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// A loop of the body.
    Loop(u32),
    /// A region that runs under constraints.
    Guard,
    /// One of the regions of an op of which an unknown one runs.
    Choice(u32),
}

/// A region under constraints.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The enclosing scope.
    pub parent: Option<u32>,
    /// The op.
    pub op: Op,
    pub kind: ScopeKind,
    /// The nesting depth of scopes.
    pub depth: u32,
    /// The constraints under which its inside runs: a union of conjunctions.
    pub when: Vec<Vec<Constraint>>,
    /// True if the constraints are exact.
    pub is_exact: bool,
}

/// A load or store.
#[derive(Clone, Debug)]
pub struct Access {
    /// The op.
    pub op: Op,
    /// The enclosing scope.
    pub scope: Option<u32>,
    /// The memref.
    pub place: MemrefView,
    /// True for a store.
    pub is_store: bool,
    /// The subscripts, or the reason why they are unknown.
    pub element: Result<Vec<Form>, Why>,
}

/// The reason why an access or a pair of accesses is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// An index is not affine.
    NotAffine,
    /// The access reads or writes several elements at once.
    Vector,
    /// The access reads and writes at once.
    Atomic,
    /// An enclosing loop has a step that is not positive.
    Step,
    /// The memrefs may be parts of one allocation.
    Alias,
    /// There are too many constraints, or the budget is spent.
    Budget,
}

impl Why {
    /// Returns a text.
    pub fn text(self) -> &'static str {
        match self {
            Why::NotAffine => "an index is not affine",
            Why::Vector => "an access of several elements",
            Why::Atomic => "an atomic read and write",
            Why::Step => "the step of an enclosing loop is not positive",
            Why::Alias => "the memrefs may share elements",
            Why::Budget => "the search has used up its budget",
        }
    }
}

/// The results and uses of an op and all ops in it, in program order.
pub fn results_and_operands(ir: &Ir, root: Op) -> (FxHashSet<Value>, Vec<Value>) {
    let (mut results, mut operands) = (FxHashSet::default(), Vec::new());
    let mut look = |op: Op| {
        results.extend(ir.op(op).results.iter().copied());
        operands.extend(ir.op(op).operands.iter().filter_map(|it| it.value));
    };
    look(root);
    for &(_, region) in &ir.op(root).regions {
        ir.walk(region, &mut look);
    }
    (results, operands)
}

/// A function as loops and accesses.
#[derive(Debug)]
pub struct Body {
    /// The scopes, each after its enclosing one.
    pub scopes: Vec<Scope>,
    /// The loops, in program order.
    pub loops: Vec<Loop>,
    /// Loads and stores of single elements, in program order.
    pub accesses: Vec<Access>,
    /// Other ops with effects, with their scopes.
    pub effects: Vec<(Op, Option<u32>)>,
    pub quotients: Quotients,
    /// Returns the number of outer loops that must be in the same iteration for a value to be the
    /// same.
    depths: FxHashMap<Value, u32>,
    forms: FxHashMap<Value, Form>,
}

/// Maximum number of alternatives of a scope.
const MAX_PIECES: usize = 64;

/// Longest chain of `affine.apply` before a nest that is followed; longer ones are symbols.
const MAX_OUTER: usize = 64;

impl Body {
    /// Reads a function or any op with regions. Its operands and arguments are symbols.
    pub fn new(ir: &Ir, function: Op) -> Self {
        let mut out = Self::empty();
        for &(_, region) in &ir.op(function).regions {
            out.region(ir, region, None);
        }
        out
    }

    /// Reads a loop with everything in it. Values from outside are symbols, except constants and
    /// `affine.apply`.
    pub fn of_nest(ir: &Ir, root: Op) -> Self {
        let mut out = Self::empty();
        let (inside, used) = results_and_operands(ir, root);
        let outside = ir.op(root).parent;
        for value in used {
            if !inside.contains(&value) {
                out.outer(ir, value, outside, MAX_OUTER);
            }
        }
        out.op(ir, root, None);
        out
    }

    fn empty() -> Self {
        Self {
            scopes: Vec::new(),
            loops: Vec::new(),
            accesses: Vec::new(),
            effects: Vec::new(),
            quotients: Quotients::default(),
            depths: FxHashMap::default(),
            forms: FxHashMap::default(),
        }
    }

    /// Returns the scope of the body of a loop.
    pub fn scope_of_loop(&self, loop_: u32) -> Option<u32> {
        self.scopes.iter().position(|it| it.kind == ScopeKind::Loop(loop_)).map(|it| it as u32)
    }

    /// Returns the loops around a scope, outermost first.
    pub fn loops_around(&self, scope: Option<u32>) -> Vec<u32> {
        let mut out: Vec<u32> = self
            .scopes_around(scope)
            .filter_map(|it| match self.scopes[it as usize].kind {
                ScopeKind::Loop(at) => Some(at),
                _ => None,
            })
            .collect();
        out.reverse();
        out
    }

    /// Returns a scope and its enclosing scopes, innermost first.
    pub fn scopes_around(&self, scope: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(scope, |&it| self.scopes[it as usize].parent)
    }

    /// Returns the index of the loop of an op, the first one if it has several.
    pub fn loop_of(&self, op: Op) -> Option<u32> {
        self.loops.iter().position(|it| it.op == op).map(|it| it as u32)
    }

    /// Returns an op in a loop with unknown effects.
    pub fn effect_in(&self, loop_: u32) -> Option<Op> {
        let is_inside = |scope: Option<u32>| {
            let mut around = self.scopes_around(scope);
            around.any(|it| self.scopes[it as usize].kind == ScopeKind::Loop(loop_))
        };
        self.effects.iter().find(|it| is_inside(it.1)).map(|it| it.0)
    }

    /// Returns the number of outer loops that must be in the same iteration for a value to be the
    /// same.
    pub fn depth_of(&self, value: Value) -> u32 {
        self.depths.get(&value).copied().unwrap_or(0)
    }

    /// Returns the constraints under which the inside of a scope runs, a union of conjunctions, or
    /// an error if there are too many.
    pub fn pieces(&self, scope: Option<u32>) -> Option<Vec<Vec<&Constraint>>> {
        self.pieces_without(scope, None)
    }

    /// Returns the constraints without those of a loop.
    pub(crate) fn pieces_without(
        &self,
        scope: Option<u32>,
        without: Option<u32>,
    ) -> Option<Vec<Vec<&Constraint>>> {
        let is_meant = |it: &u32| match self.scopes[*it as usize].kind {
            ScopeKind::Loop(at) => Some(at) != without,
            _ => true,
        };
        let mut out: Vec<Vec<&Constraint>> = vec![Vec::new()];
        let mut around: Vec<u32> = self.scopes_around(scope).filter(is_meant).collect();
        around.reverse();
        for at in around {
            let when = &self.scopes[at as usize].when;
            if out.len() * when.len() > MAX_PIECES {
                return None;
            }
            if let [only] = when.as_slice() {
                for it in &mut out {
                    it.extend(only);
                }
            } else {
                let longer = out.iter().flat_map(|it| {
                    when.iter().map(move |more| it.iter().copied().chain(more).collect())
                });
                out = longer.collect();
            }
        }
        Some(out)
    }
}
