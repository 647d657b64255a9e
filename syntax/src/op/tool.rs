//! The tools with output that the printers reproduce.

/// The tool with output that the printers reproduce. Tools differ in a few defaults and in their
/// dialects: a tool prints types and attributes of unknown dialects as they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tool {
    /// `mlir-opt` of LLVM 19. An op of a dialect that it does not have is printed like the tools
    /// that have the dialect print it.
    #[default]
    Mlir19,
    /// `heir-opt` on LLVM 24.
    Heir24,
}
