//! Document links: the files that `loc("file":1:2)` names, and the codes in `// noisy:
//! allow(code)`.

use std::ops::Range;

use noisy_syntax::Source;

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// A position in a file: the path as written, and line and column from 1, or 0 if not given.
    File(String, u32, u32),
    /// The documentation of a code.
    Code(String),
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The clickable range, in bytes.
    pub range: Range<usize>,
    pub target: LinkTarget,
}

/// Approximate length of the text that one step searches, in bytes.
const BYTES_PER_STEP: usize = 4096;
/// Number of bytes that are read beyond the text of a step. A link that extends further is not
/// found.
const MAX_LINK_BYTES: usize = 1024;

/// Finds the links of a document in steps.
#[derive(Debug, Default)]
pub(crate) struct LinkJob {
    at: usize,
}

impl LinkJob {
    /// Runs one step; returns true if more steps remain.
    pub(crate) fn step(&mut self, source: &Source, found: &mut impl FnMut(Link)) -> bool {
        let text = source.text();
        let end = text.len_bytes();
        let boundary = |at: usize| text.char_to_byte(text.byte_to_char(at.min(end)));
        let next = boundary(self.at + BYTES_PER_STEP).max(boundary(self.at + 1));
        // Includes the ends of links that start in this piece.
        let piece = source.slice(self.at..boundary(next + MAX_LINK_BYTES));
        find_links(&piece, next - self.at, &mut |mut link| {
            link.range = self.at + link.range.start..self.at + link.range.end;
            found(link);
        });
        self.at = next;
        self.at < end
    }
}

/// Finds the links that start in the first `first` bytes of a text.
fn find_links(text: &str, first: usize, found: &mut impl FnMut(Link)) {
    for (at, word) in text.match_indices("loc(").take_while(|it| it.0 < first) {
        find_file_links(text, at + word.len(), found);
    }
    let mark = "noisy: allow(";
    for (at, word) in text.match_indices(mark).take_while(|it| it.0 < first) {
        let start = at + word.len();
        let inside = text[start..].split([')', '\n']).next().unwrap_or_default();
        let mut at = start;
        for part in inside.split(',') {
            let code = part.trim();
            let from = at + (part.len() - part.trim_start().len());
            if !code.is_empty() {
                let target = LinkTarget::Code(code.to_owned());
                found(Link { range: from..from + code.len(), target });
            }
            at += part.len() + 1;
        }
    }
}

/// Finds the files in a location, which may be nested:
fn find_file_links(text: &str, start: usize, found: &mut impl FnMut(Link)) {
    let mut depth = 1;
    let mut at = start;
    let bytes = text.as_bytes();
    while at < bytes.len() && depth > 0 {
        match bytes[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'l' if text[at..].starts_with("loc(") => return,
            b'"' => {
                let Some(len) = string_length(&bytes[at + 1..]) else { return };
                let path = &text[at + 1..at + 1 + len];
                at += 1 + len;
                if let Some((line, rest)) = number_after_colon(&text[at + 1..])
                    && !path.is_empty()
                    && !path.contains('\\')
                {
                    let column = number_after_colon(rest).map_or(0, |it| it.0);
                    let target = LinkTarget::File(path.to_owned(), line, column);
                    found(Link { range: at - len..at, target });
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The length of the contents of a string, up to its closing quote on the same line.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\n' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Parses a number after a colon, as in `: 7`. Returns the number and the text after it.
fn number_after_colon(text: &str) -> Option<(u32, &str)> {
    let text = text.trim_start().strip_prefix(':')?.trim_start();
    let n = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..n].parse().ok()?, &text[n..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[(&str, LinkTarget)]) {
        let source = Source::new(text);
        let mut all = Vec::new();
        let mut links = LinkJob::default();
        while links.step(&source, &mut |it| all.push((text[it.range].to_owned(), it.target))) {}
        let wanted: Vec<_> = wanted.iter().map(|it| (it.0.to_owned(), it.1.clone())).collect();
        assert_eq!(all, wanted, "{text:.200}");
    }

    fn file(path: &str, line: u32, column: u32) -> LinkTarget {
        LinkTarget::File(path.to_owned(), line, column)
    }

    #[test]
    fn locations_and_codes() {
        check(
            "\"t.a\"() : () -> () loc(\"a b.mlir\":3:7)\n",
            &[("a b.mlir", file("a b.mlir", 3, 7))],
        );
        check(
            "#l = loc(fused<\"x\">[\"a.mlir\":1:2, callsite(\"f\" at \"b.mlir\":30:4)])",
            &[("a.mlir", file("a.mlir", 1, 2)), ("b.mlir", file("b.mlir", 30, 4))],
        );
        check(
            "return loc(\"name\")\n// noisy: allow(a-b, c)\n",
            &[("a-b", LinkTarget::Code("a-b".into())), ("c", LinkTarget::Code("c".into()))],
        );
        check("loc(\"a", &[]);
        check("loc(\"a\\\"b.mlir\":1:2) loc(\"c.mlir\":3:4)", &[("c.mlir", file("c.mlir", 3, 4))]);
        check("loc(\"a\":x:1) loc() loc(unknown) noisy: allow(", &[]);
    }

    #[test]
    fn finds_lines_and_columns_in_every_nesting() {
        let place = |path, line, column| (path, file(path, line, column));
        for (text, wanted) in [
            (
                "callsite(\"a.py\":7:5 at \"b.py\":1:1)",
                &[place("a.py", 7, 5), place("b.py", 1, 1)][..],
            ),
            (
                "callsite(callsite(\"a\":1:2 at \"b\":3:4) at callsite(\"c\":5:6 at \"d\":7:8))",
                &[place("a", 1, 2), place("b", 3, 4), place("c", 5, 6), place("d", 7, 8)],
            ),
            (
                "callsite(\"f\"(\"a\":1:2) at fused<\"x\">[\"b\":3:4, \"g\"(callsite(\"c\":5:6\tat \"d\":7:8))])",
                &[place("a", 1, 2), place("b", 3, 4), place("c", 5, 6), place("d", 7, 8)],
            ),
            ("callsite(\"f\" at \"b\":3:4)", &[place("b", 3, 4)]),
            ("callsite( \"a\" : 1 : 2 at\n  \"b\":3:4)", &[place("a", 1, 2), place("b", 3, 4)]),
            ("\"a\":1:2 to 3:4", &[place("a", 1, 2)]),
            ("\"a\":1:2 to :4", &[place("a", 1, 2)]),
            ("\"a\":0:0", &[place("a", 0, 0)]),
            ("\"a\":7", &[place("a", 7, 0)]),
        ] {
            check(&format!("#l = loc({text})\n"), wanted);
        }
    }

    #[test]
    fn finds_links_across_the_ends_of_steps() {
        for n in BYTES_PER_STEP - 40..BYTES_PER_STEP + 10 {
            let text = format!("{}\nloc(\"\u{e9}.mlir\":1:2)\n", "x".repeat(n));
            check(&text, &[("\u{e9}.mlir", file("\u{e9}.mlir", 1, 2))]);
        }
    }
}
