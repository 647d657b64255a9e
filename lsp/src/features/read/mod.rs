//! Information about the text: hovers, inlay hints, code lenses, semantic tokens, folding ranges,
//! shares of the noise budget, and the outline.

pub(crate) mod budget;
pub(crate) mod ciphertext;
pub(crate) mod folding;
pub(crate) mod hint;
pub(crate) mod hover;
pub(crate) mod lens;
pub(crate) mod symbol;
pub(crate) mod token;
