//! The ops that the optimizer places.

/// An op that the optimizer places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacedOp {
    /// `mgmt.relinearize`
    Relinearize,
    /// `mgmt.bootstrap`, with this number of levels between two bootstraps.
    Bootstrap(u32),
}

impl PlacedOp {
    /// Returns the full name of the op.
    pub fn name(self) -> &'static str {
        match self {
            PlacedOp::Relinearize => "mgmt.relinearize",
            PlacedOp::Bootstrap(_) => "mgmt.bootstrap",
        }
    }
}
