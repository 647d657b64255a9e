//! Text and its tokens.

pub(crate) mod dialect_body;
pub(crate) mod edit;
pub mod identifier;
pub mod lex;
pub(crate) mod near;
pub(crate) mod problem;
pub mod string;
pub(crate) mod token;
pub(crate) mod token_stream;
