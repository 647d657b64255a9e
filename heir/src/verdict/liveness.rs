//! Finds ops that HEIR keeps. Its canonicalizer removes ops without a used result before the
//! lowering, so such ops are never refused.

use noisy_syntax::{Ir, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use noisy_dataflow::flow;

/// A cache of the liveness of ops: true if a result of the op is used in the end.
#[derive(Debug, Default)]
pub(crate) struct LivenessCache {
    known: FxHashMap<Op, bool>,
}

impl LivenessCache {
    /// Returns true if a result of an op reaches the end of a region, a call, or an op with effects
    /// or regions. *Cost.* Each op is visited once over all queries.
    pub(crate) fn is_live(&mut self, ir: &Ir, op: Op) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = vec![op];
        let mut found = false;
        while let Some(op) = stack.pop() {
            if !seen.insert(op) {
                continue;
            }
            let data = ir.op(op);
            let ends = data.results.is_empty() || !data.regions.is_empty();
            match self.known.get(&op) {
                Some(false) => continue,
                Some(true) => found = true,
                None => found = ends || flow::is_yield(ir, op) || has_effects(ir, op),
            }
            if found {
                break;
            }
            stack.extend(data.results.iter().flat_map(|&it| &ir.value(it).uses).map(|it| it.0));
        }
        if found {
            self.known.insert(op, true);
        } else {
            // All transitive users of a dead op are dead.
            self.known.extend(seen.into_iter().map(|it| (it, false)));
        }
        found
    }
}

/// Returns true if an op may do more than compute: HEIR's ops on ciphertexts and those of `arith`
/// and `tensor` do not.
fn has_effects(ir: &Ir, op: Op) -> bool {
    let dialect = ir.op_name(op).split_once('.').map_or("", |it| it.0);
    !matches!(
        dialect,
        "arith" | "mgmt" | "tensor" | "tensor_ext" | "ckks" | "bgv" | "lwe" | "kernel" | "math"
    )
}
