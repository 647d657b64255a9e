//! `file:line: [code] message`, one line each, as pylint prints with `--output-format=parseable`.
//! The format has no columns.

use std::fmt::Write as _;

use noisy_output::shown_line;

use super::{findings, plain_name};
use crate::file::check::FileReport;

pub(super) fn file(checked: &FileReport) -> String {
    let name = plain_name(checked);
    let mut out = String::new();
    for it in findings(checked) {
        // One line per finding, even if the message has several.
        let message = it.message.replace('\n', " ");
        let line = format!("{name}:{}: [{}] {message}", it.start.line, it.code);
        let _ = writeln!(out, "{}", shown_line(&line));
    }
    out
}
