#![doc = include_str!("../README.md")]

pub mod attributes;
pub mod cfg;
pub mod dense;
pub mod flow;
pub mod lattice;
#[cfg(test)]
mod random;
pub mod sparse;
pub mod twin;
pub mod view;
