#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod attributes;
pub mod cfg;
pub mod dense;
pub mod flow;
pub mod lattice;
#[cfg(test)]
mod random;
pub mod sparse;
pub mod view;
