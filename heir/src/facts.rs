//! The analyses: levels and polynomials, noise, scales, ranges of values.

pub(crate) mod changing_functions;
pub(crate) mod ciphertext;
pub(crate) mod ciphertext_facts;
pub(crate) mod clients;
pub(crate) mod conflicts;
pub(crate) mod estimate;
pub(crate) mod fact;
pub(crate) mod incremental;
pub(crate) mod loops;
pub(crate) mod lower_layers;
pub(crate) mod noise;
pub(crate) mod op_header;
pub(crate) mod plaintext;
pub(crate) mod scale;
pub(crate) mod value_range;
