//! The locations of ops and block arguments (`loc(..)`), for printers. A program has no locations
//! unless they were requested when it was parsed ([`Source::into_located_ir`]).
//!
//! [`Source::into_located_ir`]: crate::Source::into_located_ir

use rustc_hash::FxHashMap;

use crate::{Attr, Ir, Op, Value};

/// The locations of a program.
#[derive(Debug, Default)]
pub(crate) struct Locations {
    pub(crate) ops: FxHashMap<Op, Attr>,
    pub(crate) arguments: FxHashMap<Value, Attr>,
    /// The location of new ops.
    pub(crate) new: Option<Attr>,
}

impl Ir {
    /// Returns true if the program has locations.
    pub fn has_locations(&self) -> bool {
        self.locations.is_some()
    }

    /// Returns the location of an op, if the program has locations.
    pub fn location(&self, op: Op) -> Option<Attr> {
        self.locations.as_ref()?.ops.get(&op).copied()
    }

    /// Returns the location of a block argument, if the program has locations.
    pub(crate) fn argument_location(&self, value: Value) -> Option<Attr> {
        self.locations.as_ref()?.arguments.get(&value).copied()
    }
}
