//! Checks of operands that HEIR's lowerings refuse, or that give wrong results at run time.

pub(in crate::checks) mod ciphertext_types;
pub(crate) mod insertion;
pub(in crate::checks) mod not_lowered;
pub(in crate::checks) mod out_of_range;
mod retyping;
pub(in crate::checks) mod scale_over_modulus;
pub(in crate::checks) mod unencoded_plaintext;
pub(in crate::checks) mod unequal_levels;
pub(in crate::checks) mod unequal_scales;
