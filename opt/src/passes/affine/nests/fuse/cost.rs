//! The cost model of fusion, which counts ops: additional computation against less memory between
//! source and target.
//!
//! *Model.* The cost of a loop is its trip count times the number of ops in its body except the
//! terminator; the cost of inner loops is computed in the same way. Of all depths in the target,
//! innermost first, the one is chosen whose slice writes the smallest region, if the repeated
//! computation is below a fraction of the total.

use noisy_syntax::{Ir, Op, OpKind};
use rustc_hash::FxHashMap;

use crate::passes::affine::for_loop::AffineFor;

/// Trip counts that replace those of the loops.
pub(super) type TripCounts = FxHashMap<Op, i128>;

/// Returns the number of ops that a nest executes. `extra` adds ops to the body of a loop. `None`
/// if a trip count is unknown, or on overflow.
pub(super) fn n_executed_ops(
    ir: &Ir,
    op: Op,
    trips: &TripCounts,
    extra: Option<(Op, i128)>,
) -> Option<i128> {
    let it = AffineFor::of(ir, op)?;
    let mut all = 0_i128;
    for inner in ir.block_ops(it.body) {
        let n = match ir.op(inner).kind {
            OpKind::AffineFor => n_executed_ops(ir, inner, trips, extra)?,
            OpKind::AffineYield => 0,
            _ => 1,
        };
        all = all.checked_add(n)?;
    }
    if let Some((_, more)) = extra.filter(|it| it.0 == op) {
        all = all.checked_add(more)?;
    }
    let trips = match trips.get(&op) {
        Some(&it) => it,
        None => i128::from(it.trip_count()?),
    };
    trips.checked_mul(all)
}
