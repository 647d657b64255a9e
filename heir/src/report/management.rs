//! The progress of HEIR in each function, by the `mgmt` ops that it has placed.

use noisy_syntax::{Ir, Op};
use rustc_hash::FxHashMap;

use crate::annotations::votes::LoweringStage;
use crate::ops::rules;

/// Numbers of `mgmt` ops in a function.
#[derive(Clone, Copy, Debug, Default)]
struct ManagementCounts {
    n_ops: usize,
    n_relinearizations: usize,
    n_using_levels: usize,
}

impl ManagementCounts {
    fn stage(self) -> LoweringStage {
        LoweringStage {
            is_managed: self.n_ops > 0,
            has_level_uses: self.n_using_levels > 0,
            is_relinearized: self.n_relinearizations > 0,
        }
    }
}

/// The `mgmt` ops of a program: by op, with their functions, and by function.
#[derive(Debug, Default)]
pub(crate) struct Management {
    ops: FxHashMap<Op, (Option<Op>, bool, bool)>,
    functions: FxHashMap<Option<Op>, ManagementCounts>,
}

impl Management {
    /// Returns true if there is no `mgmt` op.
    pub(crate) fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The progress of HEIR in a function.
    pub(crate) fn stage(&self, function: Option<Op>) -> LoweringStage {
        self.functions.get(&function).copied().unwrap_or_default().stage()
    }

    /// Takes note of an op, in place of what was noted of it; returns true if the stage of a
    /// function changed on the way.
    pub(crate) fn note(&mut self, ir: &Ir, op: Op) -> bool {
        let has_left = self.forget(op);
        let name = ir.op_name(op);
        if !rules::is_management_op(name) {
            return has_left;
        }
        let (relinearizes, uses_levels) = (name == "mgmt.relinearize", rules::is_level_use(name));
        let function = ir.function_of(op);
        self.ops.insert(op, (function, relinearizes, uses_levels));
        let here = self.functions.entry(function).or_default();
        let before = here.stage();
        here.n_ops += 1;
        here.n_relinearizations += usize::from(relinearizes);
        here.n_using_levels += usize::from(uses_levels);
        has_left || here.stage() != before
    }

    /// Forgets an op; returns true if the stage of its function changed.
    pub(crate) fn forget(&mut self, op: Op) -> bool {
        let Some((function, relinearizes, uses_levels)) = self.ops.remove(&op) else {
            return false;
        };
        let Some(here) = self.functions.get_mut(&function) else { return false };
        let before = here.stage();
        here.n_ops -= 1;
        here.n_relinearizations -= usize::from(relinearizes);
        here.n_using_levels -= usize::from(uses_levels);
        here.stage() != before
    }
}
