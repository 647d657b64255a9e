//! Tests the parser and the printers with the programs of `tests/corpus`, compared with `mlir-opt`
//! of LLVM 19.
//!
//! The generic forms that `mlir-opt` prints are recorded, so most of these tests do not need it. If
//! it is missing, the others print that they are skipped, or fail if `CI` is set.

mod custom;
mod generic;
mod normal;
mod oracle;
mod programs;
