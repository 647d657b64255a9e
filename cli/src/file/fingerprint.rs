//! Fingerprints that identify findings even if lines move.

use std::collections::HashMap;

use ropey::Rope;
use sha2::{Digest, Sha256};

/// Maximum number of bytes of a line that are hashed.
const MAX_LINE_BYTES: usize = 1024;

/// Computes the fingerprints of a file's findings, in their order. *Cost.* Linear in the findings
/// and, if they come in order of lines, in the text.
#[derive(Debug)]
pub(crate) struct Fingerprints<'a> {
    /// Hash state after the name of the file.
    named: Sha256,
    text: &'a Rope,
    /// Number and hashed part of the last line.
    line: Option<(usize, Vec<u8>)>,
    /// Number of equal findings so far, by hash.
    seen: HashMap<[u8; 32], usize>,
}

impl<'a> Fingerprints<'a> {
    /// `name` is the name of the file, or empty if the name is stored beside the fingerprints.
    pub(crate) fn new(name: &str, text: &'a Rope) -> Self {
        let mut named = Sha256::new();
        add_part(&mut named, name.as_bytes());
        Self { named, text, line: None, seen: HashMap::new() }
    }

    /// Returns a number that stays the same when lines move: the first 64 bits, in hexadecimal
    /// digits, of a SHA-256 of the name of the file, the code, the message without line numbers,
    /// the text of the line without blanks at its ends (its first 1,024 bytes), and the number of
    /// equal findings before it in the file. Each of these is followed by a byte FF, which never
    /// occurs in UTF-8. Lines are counted from 0.
    pub(crate) fn of(&mut self, line: usize, code: &str, message: &str) -> String {
        if self.line.as_ref().is_none_or(|(of, _)| *of != line) {
            let text = self.text.get_line(line).map(|it| it.to_string()).unwrap_or_default();
            let text = text.trim().as_bytes();
            self.line = Some((line, text[..text.len().min(MAX_LINE_BYTES)].to_vec()));
        }
        let text = self.line.as_ref().map_or(&[][..], |(_, text)| text);
        let mut hash = self.named.clone();
        add_part(&mut hash, code.as_bytes());
        add_part(&mut hash, without_line_numbers(message).as_bytes());
        add_part(&mut hash, text);
        let n_before = self.seen.entry(hash.clone().finalize().into()).or_default();
        add_part(&mut hash, n_before.to_string().as_bytes());
        *n_before += 1;
        hash.finalize().iter().take(8).map(|it| format!("{it:02x}")).collect::<Vec<_>>().concat()
    }
}

fn add_part(hash: &mut Sha256, part: &[u8]) {
    hash.update(part);
    hash.update([0xff]);
}

/// A message without the line numbers in it: `%1 is the same value as %0 in line `.
fn without_line_numbers(message: &str) -> String {
    const BEFORE: &str = "line ";
    let mut parts = message.split(BEFORE);
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|it| it.trim_start_matches(|it: char| it.is_ascii_digit()));
    rest.fold(first, |out, it| out + BEFORE + it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_line_numbers_in_messages() {
        assert_eq!(
            without_line_numbers("%1 is the same as %0 in line 12"),
            "%1 is the same as %0 in line "
        );
        assert_eq!(without_line_numbers("line 3 and line 4, 5"), "line  and line , 5");
        for message in ["", "noise 48", "on this line", "%line 7"] {
            let wanted = message.replace("line 7", "line ");
            assert_eq!(without_line_numbers(message), wanted);
        }
        let text = Rope::from_str("a\nb\n");
        let of = |name: &str, message: &str| Fingerprints::new(name, &text).of(1, "code", message);
        assert_eq!(of("f", "as in line 2"), of("f", "as in line 30"));
        assert_ne!(of("f", "as in line 2"), of("f", "as on line 2"));
        assert_ne!(of("f", "as in line 2"), of("g", "as in line 2"));
    }

    #[test]
    fn numbers_equal_findings() {
        let text = Rope::from_str("a\n  a\nb\n");
        let mut all = Fingerprints::new("f", &text);
        let first = all.of(0, "code", "as in line 2");
        assert_ne!(all.of(1, "code", "as in line 3"), first);
        assert_ne!(all.of(2, "code", "as in line 2"), first);
        assert_eq!(Fingerprints::new("f", &text).of(1, "code", "as in line 9"), first);
    }
}
