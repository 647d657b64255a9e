//! Identifiers: the characters that they are made of.
//!
//! *Source.* The grammar of MLIR's language reference:
//!
//! ```text
//! bare-id   ::= (letter | [_]) (letter | digit | [_$.])*
//! suffix-id ::= digit+ | (letter | [$._-]) (letter | digit | [$._-])*
//! ```
//!
//! A bare identifier is a keyword, the name of an op or of an attribute, or stands after `@`; a
//! suffix identifier stands after `%`, `^`, `#` or `!`.

/// A byte that a bare identifier may start with.
pub(crate) const BARE_START: u8 = 1;
/// A byte of a bare identifier.
pub(crate) const BARE: u8 = 2;
/// A byte that a suffix identifier that is no number may start with.
pub(crate) const SUFFIX_START: u8 = 4;
/// A byte of a suffix identifier.
pub(crate) const SUFFIX: u8 = 8;
pub(crate) const DIGIT: u8 = 16;
/// A byte of a name after which a body may follow in the pretty form of a dialect type or
/// attribute: no `$`.
const WORD: u8 = 32;

/// The classes of each byte; none beyond ASCII.
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut b = 0;
    while b < 128 {
        let c = b as u8;
        if c.is_ascii_alphabetic() || c == b'_' {
            class[b] = BARE_START | BARE | SUFFIX_START | SUFFIX | WORD;
        } else if c.is_ascii_digit() {
            class[b] = BARE | SUFFIX | DIGIT | WORD;
        } else if c == b'.' {
            class[b] = BARE | SUFFIX_START | SUFFIX | WORD;
        } else if c == b'$' {
            class[b] = BARE | SUFFIX_START | SUFFIX;
        } else if c == b'-' {
            class[b] = SUFFIX_START | SUFFIX;
        }
        b += 1;
    }
    class
};

/// Returns true if a byte is of a class.
pub(crate) fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// The first byte from `at` on that is not of a class.
pub(crate) fn skip(bytes: &[u8], mut at: usize, class: u8) -> usize {
    while bytes.get(at).is_some_and(|&byte| is(byte, class)) {
        at += 1;
    }
    at
}

/// Length in bytes of the suffix identifier at the start of the text.
pub(crate) fn prefixed_len(text: &str) -> usize {
    skip(text.as_bytes(), 0, SUFFIX)
}

/// Length in bytes of the bare identifier at the start of the text; digits may come first.
pub(crate) fn bare_len(text: &str) -> usize {
    skip(text.as_bytes(), 0, BARE)
}

/// Number of letters, digits, `_` and `.` at the start of the text.
pub(crate) fn word_len(text: &str) -> usize {
    skip(text.as_bytes(), 0, WORD)
}

/// Returns true if a byte may occur in an identifier of any kind.
pub fn is_identifier_byte(byte: u8) -> bool {
    is(byte, SUFFIX)
}

/// Returns true for a bare identifier, which needs no quotes as a symbol or the name of an
/// attribute.
pub fn is_bare(text: &str) -> bool {
    text.bytes().next().is_some_and(|it| is(it, BARE_START)) && bare_len(text) == text.len()
}

/// Returns true for a suffix identifier, which may follow `%`, `^`, `#` and `!`.
pub fn is_suffix(text: &str) -> bool {
    let bytes = text.as_bytes();
    let class = match bytes.first() {
        Some(&first) if is(first, DIGIT) => DIGIT,
        Some(&first) if is(first, SUFFIX_START) => SUFFIX,
        _ => return false,
    };
    skip(bytes, 0, class) == bytes.len()
}

/// The end of the number whose first digit is at `at`, and whether it is a float: `12`, `0x1F`,
/// `1.`, `2.5e-3`.
#[inline]
pub(crate) fn number_end(bytes: &[u8], at: usize) -> (usize, bool) {
    let peek = |at: usize| bytes.get(at).copied().unwrap_or(0);
    if peek(at) == b'0' && peek(at + 1) == b'x' && peek(at + 2).is_ascii_hexdigit() {
        let mut end = at + 2;
        while peek(end).is_ascii_hexdigit() {
            end += 1;
        }
        return (end, false);
    }
    let whole = skip(bytes, at, DIGIT);
    if peek(whole) != b'.' {
        return (whole, false);
    }
    let end = skip(bytes, whole + 1, DIGIT);
    if matches!(peek(end), b'e' | b'E') {
        let signed = usize::from(matches!(peek(end + 1), b'+' | b'-'));
        if is(peek(end + 1 + signed), DIGIT) {
            return (skip(bytes, end + 1 + signed, DIGIT), true);
        }
    }
    (end, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_those_of_the_language_reference() {
        for (text, bare, suffix) in [
            ("a", true, true),
            ("_", true, true),
            ("a.b$1", true, true),
            ("a-b", false, true),
            ("-", false, true),
            ("$a", false, true),
            (".a", false, true),
            ("12", false, true),
            ("1a", false, false),
            ("", false, false),
            ("é", false, false),
            ("aé", false, false),
            ("a b", false, false),
        ] {
            assert_eq!((is_bare(text), is_suffix(text)), (bare, suffix), "{text:?}");
        }
    }
}
