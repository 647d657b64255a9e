//! Passes on ops of any dialect.

pub(crate) mod canonicalize;
pub(crate) mod composite;
pub(crate) mod cse;
pub(crate) mod inline;
pub(crate) mod licm;
pub(crate) mod mem2reg;
pub(crate) mod remove_dead;
pub(crate) mod sink;
pub(crate) mod symbols;
