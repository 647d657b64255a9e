//! The lines around ops, for edits that add and remove whole lines.

use std::ops::Range;

use crate::lex::ends_in_comment;
use crate::{Op, Source, TextEdit};

impl Source {
    /// Returns the text from a byte to the end of its line, and the line break.
    pub fn rest_of_line(&self, at: usize) -> (String, &'static str) {
        let rest = self.text().byte_slice(at..);
        let end = rest.bytes().position(|it| matches!(it, b'\n' | b'\r'));
        let end = end.unwrap_or_else(|| rest.len_bytes());
        let mut bytes = rest.bytes_at(end);
        let newline = match (bytes.next(), bytes.next()) {
            (Some(b'\r'), Some(b'\n')) => "\r\n",
            (Some(b'\r'), _) => "\r",
            (Some(_), _) => "\n",
            (None, _) => "",
        };
        (self.slice(at..at + end), newline)
    }

    /// Returns the line break of the line of a byte; a line feed if the line has none.
    pub fn newline(&self, at: usize) -> &'static str {
        match self.rest_of_line(at).1 {
            "" => "\n",
            it => it,
        }
    }

    /// Returns the range to delete for an op: its whole lines if there is nothing else on them but
    /// perhaps a comment that goes with it; otherwise the op and the blanks after it.
    pub fn lines_of(&self, op: Op, takes_comment: bool) -> Range<usize> {
        let range = self.ir().range(op);
        let (rest, newline) = self.rest_of_line(range.end);
        let behind = rest.trim_start();
        let is_alone = behind.is_empty() || takes_comment && behind.starts_with("//");
        if is_alone && self.is_first_on_line(range.start) {
            return self.line_start(range.start)..range.end + rest.len() + newline.len();
        }
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        range.start..range.end + blanks
    }

    /// Completes an edit that replaces code: if the new text ends in a comment, which would swallow
    /// the code after the range, this code moves to a new line with the indentation of the range.
    pub fn keep_code_after(&self, mut edit: TextEdit) -> TextEdit {
        let (rest, newline) = self.rest_of_line(edit.range.end);
        let code = rest.trim_start();
        if !code.is_empty() && !code.starts_with("//") && ends_in_comment(&edit.text) {
            edit.text += if newline.is_empty() { "\n" } else { newline };
            edit.text += &self.indentation(edit.range.start);
            edit.range.end += rest.len() - code.len();
        }
        edit
    }

    /// Returns the edit that inserts lines before an op, with its indentation.
    pub fn in_front_of(&self, op: Op, lines: &[String]) -> TextEdit {
        let at = self.ir().range(op).start;
        let end = if self.is_first_on_line(at) {
            format!("{}{}", self.newline(at), self.indentation(at))
        } else {
            " ".to_owned()
        };
        let text = lines.iter().flat_map(|it| [it.as_str(), &end]).collect();
        TextEdit { range: at..at, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_end_like_the_line_of_their_op() {
        for newline in ["\n", "\r\n", "\r"] {
            let source = Source::new(&format!("  %a = a.b : i1{newline}  a.c{newline}"));
            let op = source.ir().item_at(4).expect("an op");
            let edit = source.in_front_of(op, &["a.d".to_owned()]);
            assert_eq!((edit.range, edit.text), (2..2, format!("a.d{newline}  ")));
            assert_eq!(source.lines_of(op, false), 0..15 + newline.len());
        }
    }

    #[test]
    fn code_after_an_inserted_comment_moves_to_a_new_line() {
        let source = Source::new("  a.b a.c\n  a.d // d\n  a.e\n");
        for (text, range, wanted) in [
            ("a.x // x", 2..5, Some("a.x // x\n  ")),
            ("a.x \"//\"", 2..5, None),
            ("// x\na.x", 2..5, None),
            ("a.x // x", 12..15, None),
            ("a.x // x", 23..26, None),
        ] {
            let edit = TextEdit { range: range.clone(), text: text.to_owned() };
            let found = source.keep_code_after(edit);
            assert_eq!(found.text, wanted.unwrap_or(text), "{text} {range:?}");
            assert_eq!(found.range.end - range.end, usize::from(wanted.is_some()), "{text}");
        }
    }

    #[test]
    fn a_comment_goes_with_its_op_if_it_is_asked_for() {
        let source = Source::new("a.b // of it\na.c a.d");
        let op = |at| source.ir().item_at(at).expect("an op");
        assert_eq!(source.lines_of(op(0), true), 0..13);
        assert_eq!(source.lines_of(op(0), false), 0..4);
    }
}
