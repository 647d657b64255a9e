//! The extent of the body of a dialect's type or attribute (`!a.b<..>`), which is one token.

use crate::identifier::{BARE, SUFFIX, has_class};
use crate::string::string_end;
use crate::{OpKind, SPLIT_MARKER};

/// The ends of dialect bodies found so far.
///
/// The end of a body depends only on the text from its `<` on. So a failed search also finds the
/// end of every `<` that it passed: bodies that are still open at the failure fail at the same
/// byte. Thus no byte is read twice, however many bodies are unclosed.
#[derive(Debug, Default)]
pub(super) struct DialectBodies {
    /// Each `<` that the last failed search passed, with the byte after its `>`; 0 if it is
    /// unclosed.
    passed: Vec<(u32, u32)>,
    /// The byte after the last one that the search read.
    looked: usize,
    /// The open brackets: the closing bracket of each, and its index in `passed` if it is a `<`.
    open: Vec<(u8, u32)>,
}

impl DialectBodies {
    pub(super) fn clear(&mut self) {
        self.passed.clear();
    }

    /// Returns the end of the body with the `<` at `start`, if it closes before a line that starts
    /// an op, and the byte after the last one that was read.
    pub(super) fn end(&mut self, bytes: &[u8], start: usize) -> (Option<usize>, usize) {
        if let Ok(found) = self.passed.binary_search_by_key(&(start as u32), |it| it.0) {
            return match self.passed[found].1 {
                0 => (None, self.looked),
                end => (Some(end as usize), end as usize),
            };
        }
        self.passed.clear();
        self.open.clear();
        let (end, looked) = self.search(bytes, start);
        #[cfg(test)]
        crate::work::count_steps(looked - start);
        self.looked = looked;
        if end.is_some() {
            self.passed.clear();
        }
        (end, looked)
    }

    fn search(&mut self, bytes: &[u8], start: usize) -> (Option<usize>, usize) {
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            let close = match byte {
                b'"' => {
                    let (end, is_fine) = string_end(bytes, at);
                    if !is_fine {
                        return (None, end);
                    }
                    at = end;
                    continue;
                }
                b'-' if bytes.get(at + 1) == Some(&b'>') => {
                    at += 2;
                    continue;
                }
                b'\n' | b'\r' => {
                    at += 1;
                    if let Some(looked) = line_starts_op(bytes, at) {
                        return (None, looked);
                    }
                    continue;
                }
                b'<' => b'>',
                b'(' => b')',
                b'[' => b']',
                b'{' => b'}',
                b'>' | b')' | b']' | b'}' => {
                    at += 1;
                    match self.open.pop() {
                        Some((close, passed)) if close == byte => {
                            if byte == b'>' {
                                self.passed[passed as usize].1 = at as u32;
                            }
                        }
                        _ => return (None, at),
                    }
                    if self.open.is_empty() {
                        return (Some(at), at);
                    }
                    continue;
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.open.push((close, self.passed.len() as u32));
            if byte == b'<' {
                self.passed.push((at as u32, 0));
            }
            at += 1;
        }
        (None, bytes.len())
    }
}

/// If the line at `at` surely starts an op (`%a, %b:2 = dialect.op`, or the name of a known op) or
/// splits the file, returns the end of the bytes that were read to decide this.
fn line_starts_op(bytes: &[u8], mut at: usize) -> Option<usize> {
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    if let Some(after) = bytes[at..].strip_prefix(SPLIT_MARKER.as_bytes()) {
        // The first byte that rules out a split may be the last byte of the body: read no further.
        let blanks = after.iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
        let is_split = match after.get(blanks) {
            None | Some(b'\n' | b'\r') => true,
            Some(_) => after[blanks..].starts_with(b"//"),
        };
        return is_split.then_some(at + SPLIT_MARKER.len() + blanks + 2);
    }
    let start = at;
    if bytes.get(at) == Some(&b'%') {
        while bytes.get(at).is_some_and(|&b| {
            has_class(b, SUFFIX) || matches!(b, b'%' | b',' | b' ' | b':' | b'\t')
        }) {
            at += 1;
        }
        return (bytes.get(at) == Some(&b'=')).then_some(at + 1);
    }
    while bytes.get(at).is_some_and(|&b| has_class(b, BARE)) {
        at += 1;
    }
    let word = std::str::from_utf8(&bytes[start..at]).ok()?;
    (word.contains('.') && OpKind::of(word) != OpKind::Unknown).then_some(at)
}
