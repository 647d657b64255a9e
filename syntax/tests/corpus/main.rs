//! The reader and the printers on the programs of `tests/corpus`, compared with `mlir-opt` of LLVM
//! 19.
//!
//! The generic forms that `mlir-opt` prints are recorded, so most of these tests run without it.
//! The others print that they are skipped where it is missing, and fail where `CI` is set.

mod custom;
mod generic;
mod normal;
mod oracle;
mod programs;
