//! The tools whose prints are reproduced.

/// The tool whose print is reproduced. Tools differ in a few defaults, and in the dialects that
/// they know: a tool prints types and attributes of dialects that it does not know as they are
/// written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tool {
    /// `mlir-opt` of LLVM 19; what it does not know is spelled as by the tools that do.
    #[default]
    Mlir19,
    /// `heir-opt` on LLVM 24.
    Heir24,
}
