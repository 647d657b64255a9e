//! Changes of the text: completion, renames, refactorings and code actions.

pub(crate) mod action;
pub(crate) mod completion;
pub(crate) mod fill;
pub(crate) mod linked;
pub(crate) mod refactor;
pub(crate) mod rename;
pub(crate) mod signature;
pub(crate) mod snippet;
