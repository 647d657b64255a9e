//! The tools whose output is reproduced.

/// The tool whose output is reproduced. Tools differ in a few defaults, and in the dialects that
/// they know: a tool prints types and attributes of unknown dialects as they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tool {
    /// `mlir-opt` of LLVM 19. Ops of dialects that it does not know are printed as by the tools
    /// that know them.
    #[default]
    Mlir19,
    /// `heir-opt` on LLVM 24.
    Heir24,
}
