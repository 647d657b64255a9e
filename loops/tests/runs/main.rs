//! Random programs, run in the plainest way, against what the crate says of them.

mod edit;
mod enumeration;
mod legality;
mod program;
mod space;
