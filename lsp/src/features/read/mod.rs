//! Information about the text: hovers, hints, lenses, tokens and the outline.

pub(crate) mod budget;
pub(crate) mod ciphertext;
pub(crate) mod fold;
pub(crate) mod hint;
pub(crate) mod hover;
pub(crate) mod lens;
pub(crate) mod symbol;
pub(crate) mod token;
