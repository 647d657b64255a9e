//! Navigation: the entity at an offset, its definition and its references.

pub(crate) mod cursor;
pub(crate) mod definition;
pub(crate) mod hierarchy;
pub(crate) mod link;
pub(crate) mod reference;
pub(crate) mod selection;
