//! The real `noisy-check` as a process.

#[cfg(unix)]
mod action;
mod again;
mod documentation;
mod expectations;
mod files;
mod fix;
mod format;
mod formats;
mod inputs;
mod lints;
mod options;
mod pages;
#[cfg(target_os = "linux")]
mod stamps;
mod tool;
