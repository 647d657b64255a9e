//! Whole-system tests.

pub mod certificate;
