//! Checks of HEIR programs: levels, dimensions, scales and parameters.

pub(super) mod chain;
pub(super) mod dimension_mismatch;
pub(super) mod invalid_scheme;
pub(super) mod level_mismatch;
pub(super) mod level_underflow;
pub(super) mod missing_relinearize;
pub(super) mod missing_scale;
pub(super) mod needless_relinearize;
pub(super) mod noise_validation;
pub(crate) mod operands;
pub(super) mod scale_mismatch;
pub(super) mod too_few_moduli;
pub(super) mod unknown_heir_op;
pub(super) mod unreadable_attribute;
pub(super) mod varying_level;
