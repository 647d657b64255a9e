//! Reads the modules, types and attributes of HEIR.

pub(crate) mod annotation;
pub(crate) mod entries;
pub(crate) mod faults;
pub(crate) mod params;
pub(crate) mod places;
pub(crate) mod scheme_type;
pub(crate) mod setting;
pub(crate) mod types;
