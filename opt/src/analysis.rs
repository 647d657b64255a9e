//! Analyses that passes share. They are computed at the first use, and cached for later passes on
//! the same op as long as passes preserve them.
//!
//! *Law.* A cached analysis equals a recomputed one. `--verify-each` checks this after each pass of
//! the pipeline, but not after a pass that another pass runs. *Cost.* The check recomputes each
//! preserved analysis. Unused analyses cost nothing.

use std::any::{Any, TypeId};
use std::rc::Rc;

use noisy_syntax::{Ir, Op};

/// An analysis of an op and its regions.
pub trait Analysis: Any + Sized {
    /// The name in messages.
    const NAME: &'static str;

    /// Computes the analysis.
    fn new(ir: &Ir, op: Op) -> Self;

    /// Returns true if the analysis equals another result for the same op.
    fn is_same(&self, other: &Self, ir: &Ir, op: Op) -> bool;
}

/// A cached analysis of an op.
struct CachedAnalysis {
    op: Op,
    key: TypeId,
    name: &'static str,
    found: Rc<dyn Any>,
    /// Compares the analysis with a recomputed one.
    is_current: fn(&dyn Any, &Ir, Op) -> bool,
}

/// The analyses that a pass preserves.
#[derive(Debug, Default)]
enum Preserved {
    #[default]
    Nothing,
    These(Vec<TypeId>),
    All,
}

impl Preserved {
    fn has(&self, key: TypeId) -> bool {
        match self {
            Preserved::Nothing => false,
            Preserved::These(keys) => keys.contains(&key),
            Preserved::All => true,
        }
    }
}

/// The cached analyses.
#[derive(Default)]
pub struct AnalysisCache {
    cached: Vec<CachedAnalysis>,
    /// The analyses that the running pass preserves.
    preserved: Preserved,
}

impl std::fmt::Debug for AnalysisCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.cached.iter().map(|it| (it.op, it.name));
        f.debug_list().entries(names).finish()
    }
}

impl AnalysisCache {
    /// Returns the cached analysis of an op, or computes it.
    pub fn get_or_compute<A: Analysis>(&mut self, ir: &Ir, op: Op) -> Rc<A> {
        let key = TypeId::of::<A>();
        let kept = self.cached.iter().find(|it| it.op == op && it.key == key);
        if let Some(found) = kept.and_then(|it| Rc::clone(&it.found).downcast().ok()) {
            return found;
        }
        let found = Rc::new(A::new(ir, op));
        let is_current = |found: &dyn Any, ir: &Ir, op: Op| {
            found.downcast_ref::<A>().is_some_and(|it| it.is_same(&A::new(ir, op), ir, op))
        };
        let any = Rc::clone(&found) as Rc<dyn Any>;
        self.cached.push(CachedAnalysis { op, key, name: A::NAME, found: any, is_current });
        found
    }

    /// Declares that the running pass changes nothing.
    pub fn preserve_all(&mut self) {
        self.preserved = Preserved::All;
    }

    /// Declares that the running pass preserves the analysis `A`.
    pub fn preserve<A: Analysis>(&mut self) {
        match &mut self.preserved {
            Preserved::Nothing => self.preserved = Preserved::These(vec![TypeId::of::<A>()]),
            Preserved::These(keys) => keys.push(TypeId::of::<A>()),
            Preserved::All => {}
        }
    }

    /// Ends a pass on an op: drops the analyses of the op, of enclosing ops, of nested ops and of
    /// erased ops, unless the pass preserves them. If `checks` is true, also drops the preserved
    /// analyses that are out of date, and returns their names.
    pub(crate) fn end_pass(&mut self, ir: &Ir, op: Op, checks: bool) -> Vec<&'static str> {
        let preserved = std::mem::take(&mut self.preserved);
        let is_near = |it: Op| ir.is_within(it, op) || ir.is_within(op, it);
        self.cached.retain(|it| preserved.has(it.key) || ir.is_alive(it.op) && !is_near(it.op));
        let mut wrong = Vec::new();
        if checks {
            self.cached.retain(|it| {
                let is_current = !is_near(it.op) || (it.is_current)(&*it.found, ir, it.op);
                if !is_current {
                    wrong.push(it.name);
                }
                is_current
            });
        }
        wrong
    }

    /// Ends the pipeline on an op: drops its analyses, so that the cache does not grow with the
    /// number of ops.
    pub(crate) fn end_pipeline(&mut self, op: Op) {
        self.cached.retain(|it| it.op != op);
    }
}
