//! Analyses that passes share: computed when a pass first asks for one, and kept for those after it in the pipeline on an op as long as passes say
//! that they preserve it.
//!
//! *Law.* What is kept says what would be computed anew; under `--verify-each` that is checked behind each pass of the
//! pipeline; passes that a pass runs by itself are not checked. *Cost.* A pass that preserves
//! what another one asked for costs one more computation where that is checked; a pass before which nobody asked costs nothing.

use std::any::{Any, TypeId};
use std::rc::Rc;

use noisy_syntax::{Ir, Op};

/// What can be found out of an op and what is in it.
pub trait Analysis: Any + Sized {
    /// Its name in messages.
    const NAME: &'static str;

    /// Finds it out.
    fn new(ir: &Ir, op: Op) -> Self;

    /// Whether it says the same as another one of the same op.
    fn is_same(&self, other: &Self, ir: &Ir, op: Op) -> bool;
}

/// An analysis of an op.
struct Kept {
    op: Op,
    key: TypeId,
    name: &'static str,
    found: Rc<dyn Any>,
    /// Whether it says what it would say if it were computed now.
    is_current: fn(&dyn Any, &Ir, Op) -> bool,
}

/// What a pass leaves as true as it was.
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

/// The analyses that are kept.
#[derive(Default)]
pub struct Analyses {
    kept: Vec<Kept>,
    /// By the pass that runs.
    preserved: Preserved,
}

impl std::fmt::Debug for Analyses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.kept.iter().map(|it| (it.op, it.name));
        f.debug_list().entries(names).finish()
    }
}

impl Analyses {
    /// An analysis of an op, the one that is kept or a new one.
    pub fn of<A: Analysis>(&mut self, ir: &Ir, op: Op) -> Rc<A> {
        let key = TypeId::of::<A>();
        let kept = self.kept.iter().find(|it| it.op == op && it.key == key);
        if let Some(found) = kept.and_then(|it| Rc::clone(&it.found).downcast().ok()) {
            return found;
        }
        let found = Rc::new(A::new(ir, op));
        let is_current = |found: &dyn Any, ir: &Ir, op: Op| {
            found.downcast_ref::<A>().is_some_and(|it| it.is_same(&A::new(ir, op), ir, op))
        };
        let any = Rc::clone(&found) as Rc<dyn Any>;
        self.kept.push(Kept { op, key, name: A::NAME, found: any, is_current });
        found
    }

    /// The pass that runs changes nothing.
    pub fn preserve_all(&mut self) {
        self.preserved = Preserved::All;
    }

    /// The pass that runs changes nothing that this analysis depends on.
    pub fn preserve<A: Analysis>(&mut self) {
        match &mut self.preserved {
            Preserved::Nothing => self.preserved = Preserved::These(vec![TypeId::of::<A>()]),
            Preserved::These(keys) => keys.push(TypeId::of::<A>()),
            Preserved::All => {}
        }
    }

    /// A pass on an op is done: forgets what it did not preserve of the op, of those around it and of those in it. If `checks`, gives
    /// the analyses that it preserved and that would say something else now.
    pub(crate) fn end_pass(&mut self, ir: &Ir, op: Op, checks: bool) -> Vec<&'static str> {
        let preserved = std::mem::take(&mut self.preserved);
        let is_near = |it: Op| ir.is_within(it, op) || ir.is_within(op, it);
        self.kept.retain(|it| preserved.has(it.key) || ir.is_alive(it.op) && !is_near(it.op));
        let mut wrong = Vec::new();
        if checks {
            self.kept.retain(|it| {
                let is_current = !is_near(it.op) || (it.is_current)(&*it.found, ir, it.op);
                if !is_current {
                    wrong.push(it.name);
                }
                is_current
            });
        }
        wrong
    }

    /// The pipeline on an op is done: forgets what is kept of it, so that not more is kept at a time than one op needs.
    pub(crate) fn end_pipeline(&mut self, op: Op) {
        self.kept.retain(|it| it.op != op);
    }
}
