//! Checks of noise and of its contracts.

pub(super) mod contract_violated;
pub(super) mod decode_over_budget;
pub(super) mod invalid_contract;
pub(super) mod missing_contract;
pub(super) mod noise_grows;
pub(super) mod noise_overflow;
pub(super) mod redundant_reduce;
pub(super) mod undecided;
