//! Random programs, run in the plainest way, against what the crate says of them.

mod enumeration;
mod legality;
mod program;
mod space;
