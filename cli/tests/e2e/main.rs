//! The real `noisy-check` as a process.

#[cfg(unix)]
mod action;
mod again;
mod baseline;
mod documentation;
mod expectations;
mod expected;
mod files;
mod fix;
mod format;
mod formats;
mod inputs;
mod lints;
mod names;
mod options;
mod pages;
#[cfg(target_os = "linux")]
mod stamps;
mod tool;
#[cfg(unix)]
mod walking;
