//! A progress bar on a terminal, for runs that take a while.

use std::io::IsTerminal;
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use noisy_analyses::ProgressCallback;
use noisy_output::shown_line;

/// Delay before the bar is shown. A shorter run shows no bar.
const BAR_DELAY: Duration = Duration::from_millis(500);

/// A bar on standard error, if that is a terminal and the run takes a while.
#[derive(Debug)]
pub(crate) struct RunProgress {
    bar: ProgressBar,
    /// True if the bar may be shown.
    is_shown: bool,
}

impl RunProgress {
    /// A bar for `n_files` files.
    pub(crate) fn new(n_files: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(n_files as u64), ProgressDrawTarget::hidden());
        let is_shown = std::io::stderr().is_terminal();
        if is_shown {
            let style = ProgressStyle::with_template(
                "{spinner} {elapsed} [{bar:12}] {pos}/{len} files {wide_msg}",
            );
            bar.set_style(
                style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "),
            );
            let bar = bar.downgrade();
            // The thread ends with the process at the latest.
            let _ = thread::Builder::new().spawn(move || {
                thread::sleep(BAR_DELAY);
                if let Some(bar) = bar.upgrade().filter(|it| !it.is_finished()) {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        Self { bar, is_shown }
    }

    /// Shows the name of the file that is being fixed.
    pub(crate) fn show_message(&self, what: &str) {
        if self.is_shown {
            self.bar.set_message(shown_line(what).into_owned());
        }
    }

    /// Shows the progress of the optimizer in a file.
    pub(crate) fn watch(&self, file: String) -> ProgressCallback {
        let bar = self.bar.clone();
        ProgressCallback::new(move |it| {
            bar.set_message(shown_line(&format!("{file} {it}")).into_owned());
        })
    }

    /// Runs `print` with the bar hidden, and counts `n_files` files as done.
    pub(crate) fn count_files<T>(&self, n_files: usize, print: impl FnOnce() -> T) -> T {
        if !self.is_shown {
            return print();
        }
        let done = self.bar.suspend(print);
        self.bar.inc(n_files as u64);
        done
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use noisy_analyses::{Document, PlacementOptions, insert_reduces};

    #[test]
    fn shows_the_progress_of_the_optimizer() {
        let text = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %0 = noisy.mul %a, %a : !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  return %1 : !noisy.i32
}";
        let progress = RunProgress::new(1);
        let document = Document::new(text);
        let options = PlacementOptions {
            watch: Some(progress.watch("a.mlir".into())),
            ..PlacementOptions::default()
        };
        let outcome = insert_reduces(&document, &document.ir().functions(), &options);
        assert!(outcome.is_ok_and(|it| it.fix.is_some()));
        assert_eq!(progress.bar.message(), "a.mlir @f: checking, cost 1, lower bound 1");
    }
}
