//! Operations on one file: check, fix, cache, replace.

pub(crate) mod baseline;
pub(crate) mod cache;
pub(crate) mod cache_key;
pub(crate) mod check;
pub(crate) mod equality;
pub(crate) mod fingerprint;
pub(crate) mod fix;
pub(crate) mod line_col;
pub(crate) mod settle;
pub(crate) mod stamp;
pub(crate) mod verify;
pub(crate) mod write;
