//! Flags and enumerations of custom forms, and the attributes they become.

use super::reader::{Reader, Res};
use crate::dialect::format::{FASTMATH, Flags, OVERFLOW, RMW, ROUNDING};
use crate::{Attr, AttrData, TokenKind};

/// An attribute of flags as it is printed, from its text; `None` if it is none of these, an error if it has other flags.
pub(super) fn flags_attr(text: &str) -> Option<Result<String, String>> {
    let all = [&OVERFLOW, &FASTMATH];
    let flags = all.into_iter().find(|it| text.starts_with(it.prefix))?;
    let body = &text[flags.prefix.len()..];
    if body.is_empty() {
        return Some(Err("expected '<'".to_owned()));
    }
    let body = body.strip_prefix('<')?.strip_suffix('>')?;
    let mut bits = 0;
    for word in body.split(',') {
        let Some((_, mask)) = flags.cases.iter().find(|it| it.0 == word.trim()) else {
            let names: Vec<_> = flags.cases.iter().map(|it| it.0).collect();
            return Some(Err(format!("expected some of {}", names.join(", "))));
        };
        bits |= mask;
    }
    Some(Ok(flags.text(bits)))
}

impl Reader<'_, '_> {
    /// `overflow<nsw, nuw>`, `fastmath<fast>` or nothing.
    pub(super) fn opt_flags(&mut self, flags: &'static Flags) -> Res {
        if flags.word.is_empty() {
            // `<no_inline>`
            if self.peek() == TokenKind::Less {
                self.at += 1;
                self.expect_word(flags.cases[0].0)?;
                self.expect(TokenKind::Greater)?;
                self.set_attr(flags.attr, Attr::UNIT);
            }
            return Ok(());
        }
        if !self.eat_word(flags.word) {
            return Ok(());
        }
        self.expect(TokenKind::Less)?;
        let mut bits = 0;
        loop {
            let names: Vec<_> = flags.cases.iter().map(|it| it.0).collect();
            let at = self.enum_case(&names)?;
            bits |= flags.cases[at].1;
            if self.eat(TokenKind::Greater) {
                break;
            }
            if !self.eat(TokenKind::Comma) {
                return Err(self.expected("'>' or ','"));
            }
        }
        if bits == 0 {
            return Ok(());
        }
        let text = flags.text(bits);
        let text = self.name(&text);
        let attr = self.env.interner.attr(AttrData::Text(text, None));
        self.set_attr(flags.attr, attr);
        Ok(())
    }

    /// `to_nearest_even` and the like, or nothing.
    pub(super) fn opt_rounding(&mut self) {
        if let Some(at) = ROUNDING.iter().position(|it| self.is_word(it)) {
            self.at += 1;
            let ty = self.i32_type();
            let attr = self.int_attr(at as i64, ty);
            self.set_attr("roundingmode", attr);
        }
    }

    /// Kinds of reductions.
    pub(super) fn rmw_kind(&mut self) -> Res<usize> {
        self.enum_case(RMW)
    }
}
