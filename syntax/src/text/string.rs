//! String literals: their bytes, and a unique text for each sequence of bytes.
//!
//! A string of MLIR is a sequence of bytes: `"\FF"` is one byte that is not UTF-8. The IR stores
//! strings as text, so that they can be shown. The text of a sequence of bytes consists of:
//!
//! - the bytes themselves, if they are UTF-8 and do not contain the escape of a byte beyond ASCII
//!   (a backslash and two upper-case hexadecimal digits from `80` to `FF`);
//! - otherwise the bytes with each backslash doubled and each byte that is not UTF-8 escaped:
//!   `a\FF`; a literal backslash before two letters becomes `\\FF`.
//!
//! *Law.* Different bytes have different texts ([`bytes_of_text`] is the inverse of
//! [`text_of_bytes`]). So strings are equal if their texts are. Their order is that of their bytes,
//! which may differ from the order of their texts ([`compare_by_bytes`]).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::ops::Range;

use memchr::memchr2;

/// Returns the length of a string literal in bytes, including its quotes.
pub(crate) fn string_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    (at + 1).min(bytes.len())
}

/// Returns the symbol names in the body of an attribute or type of a dialect (`#d.a<@f, "@g">` has
/// one): their ranges with the `@`, in order.
pub(crate) fn symbols_in_body(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr2(b'@', b'"', &bytes[at..]) {
        let start = at + found;
        let is_symbol = bytes[start] == b'@';
        let name = start + usize::from(is_symbol);
        at = if bytes.get(name) == Some(&b'"') {
            name + string_len(&text[name..])
        } else {
            let is_end = |it: &u8| !it.is_ascii_alphanumeric() && !b"_$.".contains(it);
            bytes[name..].iter().position(is_end).map_or(bytes.len(), |it| name + it)
        };
        let is_name = |it: &u8| it.is_ascii_alphabetic() || b"_\"".contains(it);
        if is_symbol && bytes.get(name).is_some_and(is_name) {
            out.push(start..at);
        }
    }
    out
}

/// Returns the end of the string that starts at `at`, and true if it is well-formed. An
/// unterminated string ends at the end of its line.
pub(crate) fn string_end(bytes: &[u8], mut at: usize) -> (usize, bool) {
    at += 1;
    let mut is_fine = true;
    loop {
        match bytes.get(at) {
            Some(b'"') => return (at + 1, is_fine),
            None | Some(b'\n' | 0x0B | 0x0C) => return (at, false),
            Some(b'\\') => {
                let escape = Escape::at(bytes, at);
                is_fine &= escape.is_some();
                at += escape.map_or(1, Escape::len);
            }
            Some(_) => at += 1,
        }
    }
}

/// An escape in a string literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// `\n`, `\t`, `\"` or `\\`.
    Short(u8),
    /// `\0A`
    Hex(u8),
}

impl Escape {
    /// Parses the escape with the backslash at `at`, if MLIR accepts it.
    #[inline]
    pub(crate) fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let digit = |at: usize| bytes.get(at).and_then(|&it| char::from(it).to_digit(16));
        match bytes.get(at + 1)? {
            b'n' => Some(Self::Short(b'\n')),
            b't' => Some(Self::Short(b'\t')),
            it @ (b'"' | b'\\') => Some(Self::Short(*it)),
            _ => Some(Self::Hex((digit(at + 1)? << 4 | digit(at + 2)?) as u8)),
        }
    }

    /// Length of the escape in bytes.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Short(_) => 2,
            Self::Hex(_) => 3,
        }
    }
}

/// Returns the bytes of a literal without its quotes. A backslash that starts no escape is a byte
/// of the string.
fn unescape(inside: &str) -> Vec<u8> {
    let bytes = inside.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = if bytes[at] == b'\\' { Escape::at(bytes, at) } else { None };
        match escape {
            Some(Escape::Short(byte) | Escape::Hex(byte)) => out.push(byte),
            None => out.push(bytes[at]),
        }
        at += escape.map_or(1, Escape::len);
    }
    out
}

/// True if a text contains the escape of a byte beyond ASCII. Such a text is not equal to its
/// bytes.
fn is_escaped(text: &str) -> bool {
    let is_high = |it: u8| matches!(it, b'8' | b'9' | b'A'..=b'F');
    let is_low = |it: u8| matches!(it, b'0'..=b'9' | b'A'..=b'F');
    let mut triples = text.as_bytes().windows(3);
    text.contains('\\') && triples.any(|it| it[0] == b'\\' && is_high(it[1]) && is_low(it[2]))
}

/// Returns the text of a sequence of bytes.
pub fn text_of_bytes(bytes: Vec<u8>) -> String {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) if !is_escaped(&text) => return text,
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let mut out = String::with_capacity(bytes.len() + 2);
    for chunk in bytes.utf8_chunks() {
        out.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\{byte:02X}");
        }
    }
    out
}

/// Returns the bytes of a text that [`text_of_bytes`] returned.
pub fn bytes_of_text(text: &str) -> Cow<'_, [u8]> {
    if is_escaped(text) { unescape(text).into() } else { text.as_bytes().into() }
}

/// Compares the bytes of two texts.
pub fn compare_by_bytes(a: &str, b: &str) -> Ordering {
    let (x, y) = (a.as_bytes(), b.as_bytes());
    let same = x.iter().zip(y).take_while(|it| it.0 == it.1).count();
    // A text is equal to its bytes if it has no backslash up to the first difference.
    let has_escape = |it: &[u8]| it.iter().take(same + 1).any(|it| *it == b'\\');
    if has_escape(x) || has_escape(y) {
        return bytes_of_text(a).cmp(&bytes_of_text(b));
    }
    x[same..].cmp(&y[same..])
}

/// Returns the text of a string literal; a bare name is returned unchanged.
pub fn unquoted(literal: &str) -> Cow<'_, str> {
    let inside = literal.strip_prefix('"').unwrap_or(literal);
    let inside = inside.strip_suffix('"').unwrap_or(inside);
    if inside.contains('\\') { text_of_bytes(unescape(inside)).into() } else { inside.into() }
}

/// Appends the literal of a text. Each byte that is not printable ASCII is escaped, as in MLIR.
pub fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    if is_escaped(text) {
        for &byte in bytes_of_text(text).iter() {
            push_byte(out, byte);
        }
    } else {
        // Text without escapes is copied in one piece.
        let mut from = 0;
        for (at, byte) in text.bytes().enumerate().filter(|it| !is_plain(it.1)) {
            // Consecutive escaped bytes have no text between them.
            if from < at {
                out.push_str(&text[from..at]);
            }
            from = at + 1;
            push_byte(out, byte);
        }
        out.push_str(&text[from..]);
    }
    out.push('"');
}

/// True for printable ASCII that needs no escape.
fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7e) && byte != b'\\' && byte != b'"'
}

fn push_byte(out: &mut String, byte: u8) {
    if byte == b'\\' {
        out.push_str("\\\\");
    } else if is_plain(byte) {
        out.push(char::from(byte));
    } else {
        let _ = write!(out, "\\{byte:02X}");
    }
}

/// Returns the literal of a text.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_in_a_body_are_found_outside_of_strings() {
        let text = r#"#d.a<@f, "@g \" @h", [@"i j"]::@k, @1 -> @, !e<@l->x>>"#;
        let found: Vec<&str> = symbols_in_body(text).into_iter().map(|it| &text[it]).collect();
        assert_eq!(found, ["@f", "@\"i j\"", "@k", "@l"]);
    }

    #[test]
    fn escapes_each_byte_that_is_not_printable_ascii() {
        for (text, wanted) in [
            ("", r#""""#),
            ("a b~", r#""a b~""#),
            ("\"\\", r#""\22\\""#),
            ("é", r#""\C3\A9""#),
            ("aéb\u{1f600}c\n", r#""a\C3\A9b\F0\9F\98\80c\0A""#),
            ("\u{7f}é", r#""\7F\C3\A9""#),
        ] {
            assert_eq!(quoted(text), wanted, "{text:?}");
            assert_eq!(unquoted(&quoted(text)), text);
        }
    }

    #[test]
    fn quoting_and_unquoting_are_inverse() {
        let all: String = (0..=0x7f_u8).map(char::from).chain("é€𝄞".chars()).collect();
        let quoted = quoted(&all);
        assert!(quoted.bytes().all(|it| (0x20..=0x7e).contains(&it)), "{quoted}");
        assert_eq!(string_len(&format!("{quoted} \"x\"")), quoted.len());
        assert_eq!(unquoted(&quoted), all);
    }

    #[test]
    fn shows_utf8_as_text_and_other_bytes_as_escapes() {
        for (literal, text, printed) in [
            (r#""\FF""#, r"\FF", r#""\FF""#),
            (r#""\\FF""#, r"\\FF", r#""\\FF""#),
            (r#""\5CFF""#, r"\\FF", r#""\\FF""#),
            (r#""\\\FF""#, r"\\\FF", r#""\\\FF""#),
            (r#""\\\\FF""#, r"\\\\FF", r#""\\\\FF""#),
            (r#""\61\C3\A9\ff\n""#, "aé\\FF\n", r#""a\C3\A9\FF\0A""#),
            // A backslash that does not start an escape of a byte is unchanged.
            (r#""C:\\dir\\7F\\ff""#, r"C:\dir\7F\ff", r#""C:\\dir\\7F\\ff""#),
            // The first bytes of a three-byte character.
            (r#""\E2\82""#, r"\E2\82", r#""\E2\82""#),
            (r#""\C0\80""#, r"\C0\80", r#""\C0\80""#),
        ] {
            assert_eq!(unquoted(literal), text, "{literal}");
            assert_eq!(quoted(text), printed, "{literal}");
        }
    }

    #[test]
    fn keeps_the_order_of_bytes() {
        let mut texts = [vec![0xff], vec![b'z'], b"\\FF".to_vec(), "é".into(), b"\\".to_vec()]
            .map(text_of_bytes)
            .to_vec();
        texts.sort_by(|a, b| compare_by_bytes(a, b));
        assert_eq!(texts, ["\\", "\\\\FF", "z", "é", "\\FF"]);
    }

    /// The bytes of a literal, decoded one character at a time.
    fn decoded(literal: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = literal[1..literal.len() - 1].bytes();
        while let Some(byte) = rest.next() {
            out.push(match byte {
                b'\\' => match rest.next().expect("an escape") {
                    b'\\' => b'\\',
                    high => {
                        let low = rest.next().expect("two digits");
                        let digits = String::from_utf8(vec![high, low]).expect("ASCII");
                        u8::from_str_radix(&digits, 16).expect("hexadecimal")
                    }
                },
                byte => byte,
            });
        }
        out
    }

    #[test]
    fn distinct_bytes_have_distinct_texts() {
        use proptest::prelude::*;
        // Bytes, and text that resembles escapes.
        let piece = prop_oneof![
            any::<u8>().prop_map(|it| vec![it]),
            Just(b"\\".to_vec()),
            Just(b"\\FF".to_vec()),
            Just("é".into()),
            any::<u8>().prop_map(|it| format!("\\{it:02X}").into_bytes()),
        ];
        let bytes = prop::collection::vec(piece, 0..24).prop_map(|it| it.concat());
        // Two texts with a common prefix.
        let both = (bytes.clone(), bytes.clone(), bytes)
            .prop_map(|(start, one, other)| [[&start[..], &one].concat(), [start, other].concat()]);
        proptest!(|([bytes, other] in both)| {
            let text = text_of_bytes(bytes.clone());
            prop_assert_eq!(bytes_of_text(&text), bytes.clone());
            prop_assert_eq!(compare_by_bytes(&text, &text_of_bytes(other.clone())), bytes.cmp(&other));
            let literal = quoted(&text);
            prop_assert_eq!(decoded(&literal), bytes);
            prop_assert_eq!(unquoted(&literal), text);
        });
    }
}
