//! The parts of a function that determine dependences: loops, guards, loads and stores.
//!
//! *Scopes* form a tree. A scope is a loop, a guard, or a region whose execution is unknown. Each
//! scope has the constraints under which its body runs: a union of conjunctions over the variables
//! of the enclosing loops. The variable of an unknown loop may take any values, in increasing
//! order. Results that depend on it are over-approximations, not exact (`is_exact`).
//!
//! *Index values* are affine forms over induction variables, symbols and locals. A symbol has the
//! same value in all iterations. A local has one value per iteration of the loops around its
//! definition. A value without a known form that is defined in k nested loops is a local of depth
//! k.
//!
//! *Cost.* One walk over the function. Recursion only into regions.

pub(crate) mod joint;
mod scopes;
mod walk;

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::form::{LinearForm, Quotients};
use crate::memory::MemrefView;

/// An affine constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    pub form: LinearForm,
    /// True if the form is 0; false if it is at least 0.
    pub is_equality: bool,
}

/// One loop: one dimension of iterations.
#[derive(Clone, Debug)]
pub struct NestLoop {
    /// The loop op. An `affine.parallel` has one loop per variable.
    pub op: Op,
    /// The index of this loop among those of the op.
    pub index: u32,
    pub iv: Option<Value>,
    /// Number of enclosing loops, including this one.
    pub depth: u32,
    /// The lower bounds; the loop starts at the greatest. `None` if they are not affine.
    pub lower: Option<Vec<LinearForm>>,
    /// The exclusive upper bounds; the loop ends at the least. `None` if they are not affine.
    pub upper: Option<Vec<LinearForm>>,
    /// The step, if it is known.
    pub step: Option<i128>,
}

/// The kind of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// A loop: an index into [`FunctionBody::loops`].
    Loop(u32),
    /// A region that runs under constraints.
    Guard,
    /// The region with this index of an op that runs one of its regions, such as `scf.if`. The
    /// condition is unknown.
    Choice(u32),
}

/// A region with the constraints under which it runs.
#[derive(Clone, Debug)]
pub struct LoopScope {
    /// The enclosing scope.
    pub parent: Option<u32>,
    /// The op that has the region.
    pub op: Op,
    pub kind: ScopeKind,
    /// Number of enclosing scopes.
    pub depth: u32,
    /// The constraints under which the region runs: a union of conjunctions.
    pub constraints: Vec<Vec<Constraint>>,
    /// True if the constraints are exact; false if they admit more iterations than run.
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
    pub memref: MemrefView,
    /// True for a store.
    pub is_store: bool,
    /// The subscripts, or the reason why they are unknown.
    pub subscripts: Result<Vec<LinearForm>, AnalysisFailure>,
}

/// The reason why the analysis of an access or of a pair of accesses failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnalysisFailure {
    /// An index is not affine.
    NotAffine,
    /// The access reads or writes several elements at once (a vector).
    Vector,
    /// The access atomically reads and writes.
    Atomic,
    /// An enclosing loop has a step that is not positive.
    Step,
    /// The memrefs may be parts of one allocation.
    Alias,
    /// There are too many constraints, or the budget is spent.
    Budget,
}

impl AnalysisFailure {
    /// Returns a description for messages.
    pub fn description(self) -> &'static str {
        match self {
            AnalysisFailure::NotAffine => "an index is not affine",
            AnalysisFailure::Vector => "an access of several elements",
            AnalysisFailure::Atomic => "an atomic read and write",
            AnalysisFailure::Step => "the step of an enclosing loop is not positive",
            AnalysisFailure::Alias => "the memrefs may share elements",
            AnalysisFailure::Budget => "the search has used up its budget",
        }
    }
}

/// Returns the results and the operands of an op and of all ops in its regions. The operands are in
/// program order.
pub fn results_and_operands_in(ir: &Ir, root: Op) -> (FxHashSet<Value>, Vec<Value>) {
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

/// The loops and accesses of a function or of a nest.
#[derive(Debug)]
pub struct FunctionBody {
    /// The scopes, each after its parent.
    pub scopes: Vec<LoopScope>,
    /// The loops, in program order.
    pub loops: Vec<NestLoop>,
    /// Loads and stores of single elements, in program order.
    pub accesses: Vec<Access>,
    /// Other ops with memory effects, each with its scope.
    pub effects: Vec<(Op, Option<u32>)>,
    pub quotients: Quotients,
    /// See [`Self::depth_of`].
    depths: FxHashMap<Value, u32>,
    forms: FxHashMap<Value, LinearForm>,
}

/// Maximum number of conjunctions in the constraints of a scope.
const MAX_CONJUNCTIONS: usize = 64;

/// Maximum length of a chain of `affine.apply` outside a nest. The rest of a longer chain is a
/// symbol.
const MAX_APPLY_CHAIN: usize = 64;

impl FunctionBody {
    /// Reads a function or another op with regions. The arguments of its entry blocks are symbols.
    pub fn new(ir: &Ir, function: Op) -> Self {
        let mut out = Self::empty();
        for &(_, region) in &ir.op(function).regions {
            out.visit_region(ir, region, None);
        }
        out
    }

    /// Reads a loop and its region. Values from outside are symbols, except constants and results
    /// of `affine.apply`.
    pub fn of_nest(ir: &Ir, root: Op) -> Self {
        let mut out = Self::empty();
        let (inside, used) = results_and_operands_in(ir, root);
        let outside = ir.op(root).parent;
        for value in used {
            if !inside.contains(&value) {
                out.set_outer_form(ir, value, outside, MAX_APPLY_CHAIN);
            }
        }
        out.visit_op(ir, root, None);
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

    /// Returns the index of the loop of an op; the outermost one if the op has several.
    pub fn loop_of(&self, op: Op) -> Option<u32> {
        self.loops.iter().position(|it| it.op == op).map(|it| it as u32)
    }

    /// Returns an op with unknown memory effects inside a loop, if there is one.
    pub fn effect_in(&self, loop_: u32) -> Option<Op> {
        let is_inside = |scope: Option<u32>| {
            let mut around = self.scopes_around(scope);
            around.any(|it| self.scopes[it as usize].kind == ScopeKind::Loop(loop_))
        };
        self.effects.iter().find(|it| is_inside(it.1)).map(|it| it.0)
    }

    /// Returns the number of outer loops that must be in the same iteration for a value to be the
    /// same: 0 for a symbol, the depth for a local.
    pub fn depth_of(&self, value: Value) -> u32 {
        self.depths.get(&value).copied().unwrap_or(0)
    }

    /// Returns the constraints under which the body of a scope runs, including those of all
    /// enclosing scopes, as a union of conjunctions. `None` if there are too many.
    pub fn conjunctions(&self, scope: Option<u32>) -> Option<Vec<Vec<&Constraint>>> {
        self.conjunctions_without(scope, None)
    }

    /// Returns the same as [`Self::conjunctions`], without the constraints of one loop.
    pub(crate) fn conjunctions_without(
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
            let when = &self.scopes[at as usize].constraints;
            if out.len() * when.len() > MAX_CONJUNCTIONS {
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
