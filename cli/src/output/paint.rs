//! Colors of the output for people.

use noisy_analyses::Severity;
use noisy_output::shown;

/// The style of the output for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputStyle {
    /// True if colors are used.
    pub has_color: bool,
    /// True if the output is a terminal. A copy of a file then shows its control characters;
    /// otherwise the copy is exact.
    pub is_terminal: bool,
    /// True if formats without severities report warnings as failures too.
    pub fails_on_warnings: bool,
}

/// The terminal color of a severity, one of the first 8.
pub(crate) fn color_number(severity: Severity) -> u8 {
    match severity {
        Severity::Error => 1,
        Severity::Warning => 3,
        Severity::Info => 4,
        Severity::Hint => 6,
    }
}

/// Text in a color from 0 to 7.
pub(crate) fn colored(text: &str, number: u8) -> String {
    format!("\x1b[3{number}m{text}\x1b[0m")
}

/// Bold text.
pub(crate) fn bold(text: &str) -> String {
    format!("\x1b[1m{text}\x1b[0m")
}

/// Prepares a copy of a file, or of a part of it, for the output.
pub(crate) fn copied_text(text: String, look: OutputStyle) -> String {
    if look.is_terminal { shown(&text).into_owned() } else { text }
}

/// Prepares a unified diff for the output.
pub(crate) fn colored_diff(text: String, look: OutputStyle) -> String {
    let text = copied_text(text, look);
    if !look.has_color {
        return text;
    }
    let mut out = String::with_capacity(text.len() * 2);
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let painted = match content.as_bytes() {
            [b'-' | b'+', b'-' | b'+', b'-' | b'+', b' ', ..] => bold(content),
            [b'@', b'@', ..] => colored(content, 6),
            [b'-', ..] => colored(content, 1),
            [b'+', ..] => colored(content, 2),
            _ => content.to_owned(),
        };
        out.push_str(&painted);
        out.push_str(&line[content.len()..]);
    }
    out
}
