//! The real `noisy-check` as a process.

mod fix;
mod formats;
mod inputs;
mod options;
mod tool;
