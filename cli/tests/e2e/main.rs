//! The real `noisy-check` as a process.

mod expectations;
mod fix;
mod formats;
mod inputs;
mod options;
mod tool;
