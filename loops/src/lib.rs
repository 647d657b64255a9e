//! Loops.
