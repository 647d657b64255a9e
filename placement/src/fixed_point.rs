//! Multipliers and bounds in integers, counted in units of `2^-SCALE`: sums of them are exact, so what they prove does not
//! depend on the rounding of a solver.

/// Bits after the point.
pub(crate) const SCALE: u32 = 32;

/// A multiplier as an integer, rounded down; at least zero.
pub(crate) fn from_multiplier(y: f64) -> i128 {
    if y.is_finite() { (y.max(0.0) * (1_u64 << SCALE) as f64) as i128 } else { 0 }
}

/// The least whole cost at or above a bound.
pub(crate) fn ceil_cost(bound: i128) -> u64 {
    let unit = 1_i128 << SCALE;
    u64::try_from((bound.max(0) + unit - 1) >> SCALE).unwrap_or(u64::MAX)
}
