//! Messages as bytes: read, written, answers written as JSON text, and names of documents as the client spells them. Nothing here
//! knows what they are about.

pub(crate) mod json;
pub(crate) mod outbox;
pub(crate) mod spelling;
pub(crate) mod transport;
