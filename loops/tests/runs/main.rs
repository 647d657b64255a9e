//! Compares the results of the crate with simple executions of random programs.

mod edit;
mod enumeration;
mod legality;
mod program;
mod space;
