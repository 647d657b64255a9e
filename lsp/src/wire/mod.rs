//! Reads and writes the bytes of messages, writes answers as JSON text, and keeps the names of
//! documents as the client spells them. The module does not interpret the contents of messages.

pub(crate) mod json;
#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "only a program has streams"))]
pub(crate) mod outbox;
pub(crate) mod spelling;
#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "only a program has streams"))]
pub(crate) mod transport;
