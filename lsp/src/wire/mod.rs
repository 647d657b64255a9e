//! Messages as bytes: reading, writing, answers written as JSON text, and document names as the
//! client spells them. The module does not interpret the contents.

pub(crate) mod json;
#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "only a program has streams"))]
pub(crate) mod outbox;
pub(crate) mod spelling;
#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "only a program has streams"))]
pub(crate) mod transport;
