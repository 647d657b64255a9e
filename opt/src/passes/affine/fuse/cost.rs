//! The profit of a fusion by counted ops: the additional computation, and the reduced memory
//! between source and target.
//!
//! *Model.* A loop costs its iterations times the ops of its body except the terminator, with inner
//! loops counted in the same way. Of the depths in the target, from the innermost on, the one is
//! chosen whose slice writes the smallest region, if the repeated computation stays below a
//! fraction of the total.

use noisy_syntax::{Ir, Op, OpKind};
use rustc_hash::FxHashMap;

use super::super::for_loop::For;

/// Numbers of iterations that replace those of the loops.
pub(super) type Trips = FxHashMap<Op, i128>;

/// Returns the number of ops that a nest runs. `None` if the number of iterations of a loop is
/// unknown.
pub(super) fn n_ops(ir: &Ir, op: Op, trips: &Trips, extra: Option<(Op, i128)>) -> Option<i128> {
    let it = For::of(ir, op)?;
    let mut all = 0_i128;
    for inner in ir.block_ops(it.body) {
        let n = match ir.op(inner).kind {
            OpKind::AffineFor => n_ops(ir, inner, trips, extra)?,
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
