//! Code for the tests of the whole workspace.

pub mod certificate;
