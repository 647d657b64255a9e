//! What an editor asks for, one file each: functions from a document and an offset or a range to plain data in bytes. Nothing
//! here knows the protocol.

pub(crate) mod action;
pub(crate) mod completion;
pub(crate) mod cursor;
pub(crate) mod definition;
pub(crate) mod fold;
pub(crate) mod hierarchy;
pub(crate) mod hint;
pub(crate) mod hover;
pub(crate) mod lens;
pub(crate) mod link;
pub(crate) mod linked;
pub(crate) mod reference;
pub(crate) mod rename;
pub(crate) mod selection;
pub(crate) mod signature;
pub(crate) mod symbol;
pub(crate) mod token;
pub(crate) mod walk;
