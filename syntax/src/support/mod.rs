//! Helpers that are independent of programs: threads, tables, dominators.

pub mod dominance;
pub mod parallel;
pub(crate) mod slack;
#[cfg(test)]
pub(crate) mod work;
