//! How far it is, on a terminal, when it takes a while.

use std::io::IsTerminal;
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is done in this time needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar on standard error, if that is a terminal and the work takes a while.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar for so many files.
    pub(crate) fn new(n_files: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(n_files as u64), ProgressDrawTarget::hidden());
        if std::io::stderr().is_terminal() {
            let style = ProgressStyle::with_template(
                "{spinner} {elapsed} [{bar:30}] {pos} of {len} files {msg}",
            );
            bar.set_style(
                style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "),
            );
            let bar = bar.downgrade();
            // Ends with the process at the latest; what it waits for may be over by then.
            let _ = thread::Builder::new().spawn(move || {
                thread::sleep(PATIENCE);
                if let Some(bar) = bar.upgrade().filter(|it| !it.is_finished()) {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        Self(bar)
    }

    /// Says what takes so long.
    pub(crate) fn say(&self, what: String) {
        self.0.set_message(what);
    }

    /// Does what prints, with the bar out of the way, and counts a file.
    pub(crate) fn step<T>(&self, print: impl FnOnce() -> T) -> T {
        let done = self.0.suspend(print);
        self.0.inc(1);
        done
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
