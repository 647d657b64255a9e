//! The analyses: levels and polynomials, noise, scales, ranges of values.

pub(crate) mod changing_functions;
pub(crate) mod ciphertext;
pub(crate) mod clients;
pub(crate) mod conflicts;
pub(crate) mod estimate;
pub(crate) mod fact;
pub(crate) mod header;
pub(crate) mod known;
pub(crate) mod layers;
pub(crate) mod loops;
pub(crate) mod noise;
pub(crate) mod plaintext;
pub(crate) mod scale;
pub(crate) mod upkeep;
pub(crate) mod value_range;
