//! Whether a fusion gains, by counted ops: how much more is computed, and how much less memory lies between source and target.
//!
//! *Model.* A loop costs its iterations times the ops of its body but the terminator, loops inside counted so. Of the depths in the target, from the innermost
//! on, the one is taken whose part writes the smallest region, if what is computed twice stays below a fraction of all.

use noisy_syntax::{Ir, Op, OpKind};
use rustc_hash::FxHashMap;

use super::super::for_loop::For;

/// Iterations of loops, where they are not those that the loop says.
pub(super) type Trips = FxHashMap<Op, i128>;

/// The ops that a nest runs; `None` if a loop has no known number of iterations.
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
