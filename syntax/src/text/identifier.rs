//! Identifiers and their characters.
//!
//! *Source.* The grammar of MLIR's language reference:
//!
//! ```text
//! bare-id   ::= (letter | [_]) (letter | digit | [_$.])*
//! suffix-id ::= digit+ | (letter | [$._-]) (letter | digit | [$._-])*
//! ```
//!
//! A bare identifier is a keyword or the name of an op or an attribute, or follows `@`. A suffix
//! identifier follows `%`, `^`, `#` or `!`.

/// A byte that may start a bare identifier.
pub(crate) const BARE_START: u8 = 1;
/// A byte inside a bare identifier.
pub(crate) const BARE: u8 = 2;
/// A byte that may start a suffix identifier that is not a number.
pub(crate) const SUFFIX_START: u8 = 4;
/// A byte inside a suffix identifier.
pub(crate) const SUFFIX: u8 = 8;
pub(crate) const DIGIT: u8 = 16;
/// A byte of a name before the body of a dialect type or attribute in pretty form: no `$`.
const WORD: u8 = 32;

/// The classes of each byte; none for bytes beyond ASCII.
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

/// Returns true if the byte has the class.
pub(crate) fn has_class(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Returns the first byte from `at` on that does not have the class.
pub(crate) fn skip_class(bytes: &[u8], mut at: usize, class: u8) -> usize {
    while bytes.get(at).is_some_and(|&byte| has_class(byte, class)) {
        at += 1;
    }
    at
}

/// Returns the length in bytes of the suffix identifier at the start of the text.
pub(crate) fn suffix_id_len(text: &str) -> usize {
    skip_class(text.as_bytes(), 0, SUFFIX)
}

/// Returns the length in bytes of the bare identifier at the start of the text, which may also
/// start with a digit.
pub(crate) fn bare_id_len(text: &str) -> usize {
    skip_class(text.as_bytes(), 0, BARE)
}

/// Returns the number of letters, digits, `_` and `.` at the start of the text.
pub(crate) fn word_len(text: &str) -> usize {
    skip_class(text.as_bytes(), 0, WORD)
}

/// Returns true if a byte may occur in an identifier of any kind.
pub fn is_identifier_byte(byte: u8) -> bool {
    has_class(byte, SUFFIX)
}

/// Returns true for a bare identifier. A symbol or an attribute name of this form needs no quotes.
pub fn is_bare_id(text: &str) -> bool {
    text.bytes().next().is_some_and(|it| has_class(it, BARE_START))
        && bare_id_len(text) == text.len()
}

/// Returns true for a suffix identifier, which may follow `%`, `^`, `#` and `!`.
pub fn is_suffix_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    let class = match bytes.first() {
        Some(&first) if has_class(first, DIGIT) => DIGIT,
        Some(&first) if has_class(first, SUFFIX_START) => SUFFIX,
        _ => return false,
    };
    skip_class(bytes, 0, class) == bytes.len()
}

/// Returns the end of the number with its first digit at `at`, and true if it is a float: `12`,
/// `0x1F`, `1.`, `2.5e-3`.
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
    let whole = skip_class(bytes, at, DIGIT);
    if peek(whole) != b'.' {
        return (whole, false);
    }
    let end = skip_class(bytes, whole + 1, DIGIT);
    if matches!(peek(end), b'e' | b'E') {
        let signed = usize::from(matches!(peek(end + 1), b'+' | b'-'));
        if has_class(peek(end + 1 + signed), DIGIT) {
            return (skip_class(bytes, end + 1 + signed, DIGIT), true);
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
            assert_eq!((is_bare_id(text), is_suffix_id(text)), (bare, suffix), "{text:?}");
        }
    }
}
