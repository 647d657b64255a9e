//! The identity of an op: a number that code compares where it would otherwise compare names.

/// The identity of an op, or of another item that stands where ops stand.
///
/// Each built-in op has a constant (`OpKind::ArithAddi`) that can be matched on. Ops whose rows are
/// registered at run time get the numbers after those.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpKind(u16);

impl OpKind {
    /// The kind with this number.
    pub(crate) const fn from_index(index: u16) -> Self {
        Self(index)
    }

    /// The number of the kind. Numbers are dense: those of built-in ops are below
    /// [`crate::dialect::N_BUILT_IN`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
