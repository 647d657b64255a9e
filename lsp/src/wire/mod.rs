//! Messages as bytes: reading, writing, answers written as JSON text, and document names as the
//! client spells them. The module does not know their contents.

pub(crate) mod json;
pub(crate) mod outbox;
pub(crate) mod spelling;
pub(crate) mod transport;
