//! What of a function matters to dependences: its loops and guards, and who reads and writes which element under them.
//!
//! *Scopes* form a tree: a loop, a guard, a region of which nothing is known. Each has the constraints under which its inside runs, a union
//! of conjunctions over the variables of the loops around. A loop that is not understood is one whose variable may take any value, in
//! growing order; what follows from it is then a bound and not the truth (`is_exact`).
//!
//! *Values* of indices are affine forms of induction variables, of symbols (the same in all iterations), and of locals (the same in each
//! iteration of the loops around their definition). A value that no form says and that was made under k loops is a local of depth k.
//!
//! *Cost.* One walk over the function, no recursion but into regions.

mod scopes;
mod walk;

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::form::{Form, Quotients};
use crate::memory::Place;

/// A form that is 0, or not negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The form.
    pub form: Form,
    /// Whether it is 0.
    pub is_equality: bool,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The op; that of `affine.parallel` has several.
    pub op: Op,
    /// Which of its loops.
    pub index: u32,
    /// Its variable, if it has one.
    pub iv: Option<Value>,
    /// The loops around it, itself included.
    pub depth: u32,
    /// Lower bounds, of which the greatest counts; not there if they are not affine.
    pub lower: Option<Vec<Form>>,
    /// Upper bounds, of which the least counts: the first value that is not taken.
    pub upper: Option<Vec<Form>>,
    /// What its variable grows by, if that is known.
    pub step: Option<i128>,
}

/// What a scope is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A loop of the body.
    Loop(u32),
    /// A region that runs or not, by constraints.
    Guard,
    /// One of the regions of an op of which one runs, nobody knows which.
    Choice(u32),
}

/// A region under constraints.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The scope around.
    pub parent: Option<u32>,
    /// The op.
    pub op: Op,
    /// What it is.
    pub kind: Kind,
    /// The number of scopes around.
    pub depth: u32,
    /// When its inside runs: a union of conjunctions.
    pub when: Vec<Vec<Constraint>>,
    /// Whether that is known exactly.
    pub is_exact: bool,
}

/// A load or store.
#[derive(Clone, Debug)]
pub struct Access {
    /// The op.
    pub op: Op,
    /// The scope that it stands in.
    pub scope: Option<u32>,
    /// The memref.
    pub place: Place,
    /// Whether it writes.
    pub is_store: bool,
    /// The element, or why it is not known.
    pub element: Result<Vec<Form>, Why>,
}

/// Why nothing is known of an access or of a pair of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// An index is not affine.
    NotAffine,
    /// It reads or writes several elements at once.
    Vector,
    /// It reads and writes at once.
    Atomic,
    /// A loop around has a step that is not positive.
    Step,
    /// The memrefs may be parts of one allocation.
    Alias,
    /// The constraints are too many, or the budget is spent.
    Budget,
}

impl Why {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Why::NotAffine => "an index is not affine",
            Why::Vector => "several elements at once",
            Why::Atomic => "reads and writes at once",
            Why::Step => "the step of a loop around is not positive",
            Why::Alias => "the memrefs may share elements",
            Why::Budget => "the search was ended by its budget",
        }
    }
}

/// What an op and all ops in it define as results, and what they use, in program order.
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

/// A function, seen by its loops and accesses.
#[derive(Debug)]
pub struct Body {
    /// The scopes, each behind the one around it.
    pub scopes: Vec<Scope>,
    /// The loops, in program order.
    pub loops: Vec<Loop>,
    /// Loads and stores of single elements, in program order.
    pub accesses: Vec<Access>,
    /// Other ops with effects, with the scope that they stand in.
    pub effects: Vec<(Op, Option<u32>)>,
    /// The quotients of all forms.
    pub quotients: Quotients,
    /// How many loops must be in the same iteration for a value to be the same; not there for 0.
    depths: FxHashMap<Value, u32>,
    forms: FxHashMap<Value, Form>,
}

/// More alternatives than this are not told apart.
const MAX_PIECES: usize = 64;

/// Longer chains of `affine.apply` before a nest are symbols.
const MAX_OUTER: usize = 64;

impl Body {
    /// Reads a function, or any op with regions, whose operands and arguments count as symbols.
    pub fn new(ir: &Ir, function: Op) -> Self {
        let mut out = Self::empty();
        for &(_, region) in &ir.op(function).regions {
            out.region(ir, region, None);
        }
        out
    }

    /// Reads a loop with all that is in it; what is defined around it counts as symbols, constants and `affine.apply` apart.
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

    /// The loops around a scope, outermost first.
    pub fn loops_around(&self, scope: Option<u32>) -> Vec<u32> {
        let mut out: Vec<u32> = self
            .scopes_around(scope)
            .filter_map(|it| match self.scopes[it as usize].kind {
                Kind::Loop(at) => Some(at),
                _ => None,
            })
            .collect();
        out.reverse();
        out
    }

    /// A scope and those around it, innermost first.
    pub fn scopes_around(&self, scope: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(scope, |&it| self.scopes[it as usize].parent)
    }

    /// The number of the loop that is this op, the first of several.
    pub fn loop_of(&self, op: Op) -> Option<u32> {
        self.loops.iter().position(|it| it.op == op).map(|it| it as u32)
    }

    /// An op in a loop whose effects are not understood.
    pub fn effect_in(&self, loop_: u32) -> Option<Op> {
        let is_inside = |scope: Option<u32>| {
            let mut around = self.scopes_around(scope);
            around.any(|it| self.scopes[it as usize].kind == Kind::Loop(loop_))
        };
        self.effects.iter().find(|it| is_inside(it.1)).map(|it| it.0)
    }

    /// How many loops must be in the same iteration for a value to be the same.
    pub fn depth_of(&self, value: Value) -> u32 {
        self.depths.get(&value).copied().unwrap_or(0)
    }

    /// When the inside of a scope runs: a union of conjunctions, or too many of them.
    pub fn pieces(&self, scope: Option<u32>) -> Option<Vec<Vec<&Constraint>>> {
        self.pieces_without(scope, None)
    }

    /// The same without the constraints of a loop.
    pub(crate) fn pieces_without(
        &self,
        scope: Option<u32>,
        without: Option<u32>,
    ) -> Option<Vec<Vec<&Constraint>>> {
        let is_meant = |it: &u32| match self.scopes[*it as usize].kind {
            Kind::Loop(at) => Some(at) != without,
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
