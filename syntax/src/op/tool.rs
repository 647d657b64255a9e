//! The tools whose prints are reproduced.

/// Whose print is reproduced. They differ in a few defaults, and in what they know: a tool prints
/// types and attributes of dialects that it does not know as they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tool {
    /// `mlir-opt` of LLVM 19; the spelling of what it does not know is that of who does.
    #[default]
    Mlir19,
    /// `heir-opt` on LLVM 24.
    Heir24,
}
