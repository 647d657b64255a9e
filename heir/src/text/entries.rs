//! Reads the entries between the brackets of an attribute or a type of HEIR: the keys and values of
//! `#mgmt.mgmt<level = 3, dimension = 2>`.
//!
//! *Law.* The text is read token by token, as in HEIR's own parsers: comments and strings contain
//! no entries. An entry without a closing bracket is skipped. *Cost.* Linear in the text.

use std::ops::Range;

use noisy_syntax::TokenKind;
use noisy_syntax::lex::Lexer;
use smallvec::SmallVec;

/// `key = value`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttributeEntry<'a> {
    /// The key.
    pub(crate) key: &'a str,
    /// The range of the key in the text.
    pub(crate) key_range: Range<usize>,
    /// The range of the value; empty if there is none.
    pub(crate) value_range: Range<usize>,
    /// The tokens of the value.
    pub(crate) value_tokens: SmallVec<[&'a str; 1]>,
    /// The positions of the comma before the entry and of the comma after it.
    pub(crate) commas: [Option<usize>; 2],
}

impl AttributeEntry<'_> {
    /// Returns the value, if it is a single integer.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self.value_tokens.as_slice() {
            [it] => i64::try_from(parse_number(it)?).ok(),
            ["-", it] => i64::try_from(parse_number(it)?).ok().map(|it| -it),
            _ => None,
        }
    }
}

/// Parses a number in MLIR's syntax, in decimal or hexadecimal digits.
pub(crate) fn parse_number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// Returns the entries of an attribute or a type, in textual order.
pub(crate) fn entries(text: &str) -> AttributeEntries<'_> {
    let open = text.find('<');
    let base = open.map_or(text.len(), |it| it + 1);
    AttributeEntries { text, base, lexer: Lexer::new(false), comma: None, is_done: open.is_none() }
}

/// The iterator of [`entries`].
pub(crate) struct AttributeEntries<'a> {
    text: &'a str,
    /// The position of the first possible entry.
    base: usize,
    lexer: Lexer,
    /// The position of the comma before the next entry.
    comma: Option<usize>,
    is_done: bool,
}

impl<'a> Iterator for AttributeEntries<'a> {
    type Item = AttributeEntry<'a>;

    fn next(&mut self) -> Option<AttributeEntry<'a>> {
        let bytes = &self.text.as_bytes()[self.base..];
        while !self.is_done {
            let mut depth = 0_usize;
            let mut name: Option<Range<usize>> = None;
            let mut value: Option<Range<usize>> = None;
            let (mut words, mut has_value) = (SmallVec::new(), false);
            let end = loop {
                let token = self.lexer.next(bytes).0;
                let range = token.start as usize + self.base..token.end as usize + self.base;
                // The `<` of `<=` and the `>` of `>=` are not brackets.
                let compares = matches!(token.kind, TokenKind::Less | TokenKind::Greater)
                    && self.text.as_bytes().get(range.end) == Some(&b'=');
                match token.kind {
                    _ if compares => {}
                    TokenKind::Eof | TokenKind::Split => {
                        self.is_done = true;
                        return None;
                    }
                    TokenKind::Comma if depth == 0 => break Some(range.start),
                    TokenKind::Greater if depth == 0 => {
                        self.is_done = true;
                        break None;
                    }
                    TokenKind::Less
                    | TokenKind::LParen
                    | TokenKind::LSquare
                    | TokenKind::LBrace => depth += 1,
                    TokenKind::Greater
                    | TokenKind::RParen
                    | TokenKind::RSquare
                    | TokenKind::RBrace => depth = depth.saturating_sub(1),
                    TokenKind::Equal if name.is_some() && !has_value && words.is_empty() => {
                        has_value = true;
                        continue;
                    }
                    _ => {}
                }
                if name.is_none() {
                    name = Some(range);
                } else {
                    words.push(&self.text[range.clone()]);
                    let start = value.map_or(range.start, |it| it.start);
                    value = Some(start..range.end);
                }
            };
            let commas = [std::mem::replace(&mut self.comma, end), end];
            if let Some(name) = name {
                let value = value.unwrap_or(name.end..name.end);
                let key = &self.text[name.clone()];
                return Some(AttributeEntry {
                    key,
                    key_range: name,
                    value_range: value,
                    value_tokens: words,
                    commas,
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_no_entries() {
        let text = "#a.b<level = 3 // scale = 9, >\n , // level = 2\n s = \"// level = 4, x\", q = [1, // 2,\n 3], t = <a = 1, b>, n = -2, h = 0x1F, m = (d0) : (d0 >= 0), u>, z = 1>";
        let all: Vec<(&str, String, Option<i64>)> =
            entries(text).map(|it| (it.key, it.value_tokens.join(" "), it.integer())).collect();
        let of = |key, words: &str, integer| (key, words.to_owned(), integer);
        let expected = [
            of("level", "3", Some(3)),
            of("s", "\"// level = 4, x\"", None),
            of("q", "[ 1 , 3 ]", None),
            of("t", "< a = 1 , b >", None),
            of("n", "- 2", Some(-2)),
            of("h", "0x1F", Some(31)),
            of("m", "( d0 ) : ( d0 > = 0 )", None),
            of("u", "", None),
        ];
        assert_eq!(all, expected);
        let q = entries(text).find(|it| it.key == "q").expect("it is there");
        assert_eq!(&text[q.value_range.clone()], "[1, // 2,\n 3]");
        assert_eq!(q.commas.map(|it| it.map(|it| &text[it..=it])), [Some(","), Some(",")]);
    }

    #[test]
    fn skips_unclosed_entries() {
        let keys = |text| entries(text).map(|it| it.key).collect::<Vec<_>>();
        assert_eq!(keys("#a.b<x = 1, y = <2>"), ["x"]);
        assert!(keys("#a.b").is_empty() && keys("#a.b<").is_empty() && keys("#a.b<>").is_empty());
    }
}
