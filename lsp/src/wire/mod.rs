//! Messages as bytes: read, written, and answers written as JSON text. Nothing here knows what they are about.

pub(crate) mod json;
pub(crate) mod outbox;
pub(crate) mod transport;
