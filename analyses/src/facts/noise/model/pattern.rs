//! Types by their text: exact, or with `*` for any run of characters. Blanks at both ends are
//! ignored.

use noisy_syntax::{Interner, Type, TypeData};

/// A type, or many of them by one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern(String);

impl Pattern {
    /// A pattern from the text of a type as MLIR prints it.
    pub(super) fn new(text: &str) -> Self {
        Pattern(text.chars().filter(|it| !it.is_ascii_whitespace()).collect())
    }

    /// Returns true if it matches no type.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if a text, given in two pieces, matches.
    pub(super) fn fits(&self, head: &str, tail: &str) -> bool {
        let pattern = self.0.as_bytes();
        let (head, tail) = (head.as_bytes(), tail.as_bytes());
        let at = |i: usize| head.get(i).or_else(|| tail.get(i.wrapping_sub(head.len())));
        let (mut p, mut t) = (0, 0);
        // The place to go on from if the text after the last star does not match.
        let mut star = None;
        loop {
            while at(t).is_some_and(u8::is_ascii_whitespace) {
                t += 1;
            }
            match (pattern.get(p), at(t)) {
                (Some(b'*'), _) => {
                    star = Some((p, t));
                    p += 1;
                }
                (None, None) => return true,
                (Some(a), Some(b)) if a == b => (p, t) = (p + 1, t + 1),
                _ => {
                    let Some((back, from)) = star.filter(|it| at(it.1).is_some()) else {
                        return false;
                    };
                    star = Some((back, from + 1));
                    (p, t) = (back + 1, from + 1);
                }
            }
        }
    }
}

/// Returns true if a type matches a pattern.
pub(super) fn any(patterns: &[Pattern], interner: &Interner, ty: Type) -> bool {
    match interner.type_data(ty) {
        TypeData::Unknown => false,
        // The types of dialects are kept as text without the `!`.
        TypeData::Dialect(name) => {
            let name = interner.str(*name);
            patterns.iter().any(|it| it.fits("!", name))
        }
        _ if patterns.iter().all(|it| it.0.starts_with('!')) => false,
        _ => {
            // A pattern is shorter than that.
            let text = interner.written_type_text(ty);
            text.is_some_and(|text| patterns.iter().any(|it| it.fits("", &text)))
        }
    }
}
