//! Messages as bytes: reading, writing, answers written as JSON text, and document names as the
//! client spells them. Nothing here knows their contents.

pub(crate) mod json;
pub(crate) mod outbox;
pub(crate) mod spelling;
pub(crate) mod transport;
