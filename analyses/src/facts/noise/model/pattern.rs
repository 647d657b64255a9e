//! Patterns of the text of types, in which `*` matches any characters. Blanks are ignored.

use noisy_syntax::{Interner, Type, TypeData};

/// A pattern that matches one or more types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypePattern(String);

impl TypePattern {
    /// Creates a pattern from the text of a type as MLIR prints it.
    pub(super) fn new(text: &str) -> Self {
        TypePattern(text.chars().filter(|it| !it.is_ascii_whitespace()).collect())
    }

    /// Returns true if the pattern is empty and so matches no type.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if the text `head` followed by `tail` matches.
    pub(super) fn is_match(&self, head: &str, tail: &str) -> bool {
        let pattern = self.0.as_bytes();
        let (head, tail) = (head.as_bytes(), tail.as_bytes());
        let at = |i: usize| head.get(i).or_else(|| tail.get(i.wrapping_sub(head.len())));
        let (mut p, mut t) = (0, 0);
        // The position from which to retry if the text after the last star does not match.
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

/// Returns true if a type matches any of the patterns.
pub(super) fn any_matches(patterns: &[TypePattern], interner: &Interner, ty: Type) -> bool {
    match interner.type_data(ty) {
        TypeData::Unknown => false,
        // Dialect types are stored as text without the `!`.
        TypeData::Dialect(name) => {
            let name = interner.str(*name);
            patterns.iter().any(|it| it.is_match("!", name))
        }
        _ if patterns.iter().all(|it| it.0.starts_with('!')) => false,
        _ => {
            // `None` for a text that is too long for any pattern.
            let text = interner.insertable_type_text(ty);
            text.is_some_and(|text| patterns.iter().any(|it| it.is_match("", &text)))
        }
    }
}
