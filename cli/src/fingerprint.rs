//! What a finding is known by while lines move.

use std::collections::HashMap;

use ropey::Rope;
use sha2::{Digest, Sha256};

/// How many bytes of a line count.
const LINE: usize = 1024;

/// Gives the findings of a file their fingerprints, in their order. *Cost.* Linear in the findings and, where these come line by line, in
/// the text.
#[derive(Debug)]
pub(crate) struct Fingerprints<'a> {
    name: &'a str,
    text: &'a Rope,
    /// The line that was asked for last, by its number, and what counts of it.
    line: Option<(usize, Vec<u8>)>,
    /// How many findings were alike, by what they have in common.
    seen: HashMap<[u8; 32], usize>,
}

impl<'a> Fingerprints<'a> {
    pub(crate) fn new(name: &'a str, text: &'a Rope) -> Self {
        Self { name, text, line: None, seen: HashMap::new() }
    }

    /// A number that stays the same while lines move: the first 64 bits, in hexadecimal digits, of the SHA-256 of the name of the file,
    /// the code, the message, the text of the line without blanks at its ends (its first 1,024 bytes), and
    /// how many findings before it in the file have the same; each followed by a byte FF, which no UTF-8 has. Lines are counted from 0.
    pub(crate) fn of(&mut self, line: usize, code: &str, message: &str) -> String {
        if self.line.as_ref().is_none_or(|(of, _)| *of != line) {
            let text = self.text.get_line(line).map(|it| it.to_string()).unwrap_or_default();
            let text = text.trim().as_bytes();
            self.line = Some((line, text[..text.len().min(LINE)].to_vec()));
        }
        let text = self.line.as_ref().map_or(&[][..], |(_, text)| text);
        let mut hash = Sha256::new();
        for part in [self.name.as_bytes(), code.as_bytes(), message.as_bytes(), text] {
            hash.update(part);
            hash.update([0xff]);
        }
        let n_before = self.seen.entry(hash.clone().finalize().into()).or_default();
        hash.update(n_before.to_string());
        hash.update([0xff]);
        *n_before += 1;
        hash.finalize().iter().take(8).map(|it| format!("{it:02x}")).collect::<Vec<_>>().concat()
    }
}
