//! The ops that the optimizer places.

/// An op that the optimizer places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// `mgmt.relinearize`
    Relinearize,
    /// `mgmt.bootstrap`, with this number of levels between two bootstraps.
    Bootstrap(u32),
}

impl Placed {
    /// Returns the full name of the op.
    pub fn op(self) -> &'static str {
        match self {
            Placed::Relinearize => "mgmt.relinearize",
            Placed::Bootstrap(_) => "mgmt.bootstrap",
        }
    }
}
