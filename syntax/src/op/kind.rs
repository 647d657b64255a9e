//! The identity of an op: a number, which is faster to compare than a name.

/// The identity of an op, or of another item at the position of an op (a label, an alias, junk).
///
/// Each built-in op has a constant (`OpKind::ArithAddi`) that patterns can match. Ops that are
/// registered at run time get the numbers after those.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpKind(u16);

impl OpKind {
    /// Returns the kind with this number.
    pub(crate) const fn from_index(index: u16) -> Self {
        Self(index)
    }

    /// Returns the number of the kind. Numbers are dense: those of built-in ops are below
    /// [`crate::dialect::N_BUILT_IN`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
