//! `--split-input-file`: a file as several programs.

use std::ops::Range;

/// What stands between two programs, anywhere in a line, as in `mlir-opt`.
const MARKER: &str = "// -----";

/// The programs of a text, in bytes; the markers belong to none. Without splitting the text is one program.
pub(crate) fn chunks(text: &str, split: bool) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    if split {
        for (at, marker) in text.match_indices(MARKER) {
            out.push(start..at);
            start = at + marker.len();
        }
    }
    out.push(start..text.len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_between_markers() {
        let text = "a\n// -----\nb // -----";
        assert_eq!(chunks(text, true), [0..2, 10..13, 21..21]);
        assert_eq!(chunks(text, false).first(), Some(&(0..text.len())));
        assert_eq!(chunks("", true).first(), Some(&(0..0)));
    }
}
