//! Converts protocol types to plain data ([`params`]) and back, by feature. [`view`] is the
//! document that a query reads, with its positions in the client's encoding.

pub(crate) mod action;
pub(crate) mod config_file;
pub(crate) mod diagnostic;
pub(crate) mod edit;
pub(crate) mod markup;
pub(crate) mod navigation;
pub(crate) mod overlay;
pub(crate) mod params;
pub(crate) mod symbol;
pub(crate) mod token;
pub(crate) mod view;
pub(crate) mod writing;
