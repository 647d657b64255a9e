//! Flags and enumerations of custom forms, and the attributes they become.

use super::reader::{Reader, Res};
use crate::dialect::format::{FASTMATH, Flags, OVERFLOW, RMW, ROUNDING};
use crate::print::{Fits, Printer, Tool, Unfit, fits};
use crate::{Attr, AttrData, TokenKind};

/// `#arith.overflow<nsw, nuw>`: the attribute of these flags.
fn flags_text(flags: &Flags, bits: u32) -> String {
    let mut left = bits;
    let mut names = Vec::new();
    for (name, mask) in flags.flags {
        if left & mask == *mask && (*mask != 0 || bits == 0) {
            names.push(*name);
            left &= !mask;
        }
    }
    format!("{}<{}>", flags.prefix, names.join(flags.separator))
}

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
        let Some((_, mask)) = flags.flags.iter().find(|it| it.0 == word.trim()) else {
            let names: Vec<_> = flags.flags.iter().map(|it| it.0).collect();
            return Some(Err(format!("expected some of {}", names.join(", "))));
        };
        bits |= mask;
    }
    Some(Ok(flags_text(flags, bits)))
}

impl Reader<'_, '_> {
    /// `overflow<nsw, nuw>`, `fastmath<fast>` or nothing.
    pub(super) fn opt_flags(&mut self, flags: &'static Flags) -> Res {
        if flags.word.is_empty() {
            // `<no_inline>`
            if self.peek() == TokenKind::Less {
                self.at += 1;
                self.expect_word(flags.flags[0].0)?;
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
            let names: Vec<_> = flags.flags.iter().map(|it| it.0).collect();
            let at = self.enum_case(&names)?;
            bits |= flags.flags[at].1;
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
        let text = flags_text(flags, bits);
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

impl Printer<'_> {
    pub(super) fn write_flags(&mut self, flags: &'static Flags) -> Fits {
        let Some(attr) = self.op_attr(flags.attr) else { return Ok(()) };
        if flags.word.is_empty() {
            fits(attr == Attr::UNIT)?;
            if self.tool != Tool::Mlir19 {
                self.word("<");
                self.text.push(flags.flags[0].0);
                self.text.push(">");
            }
            return Ok(());
        }
        let AttrData::Text(text, None) = self.ir.interner.attr_data(attr) else {
            return Err(Unfit);
        };
        let body = self.ir.interner.str(*text).strip_prefix(flags.prefix).ok_or(Unfit)?;
        if body != "<none>" {
            self.word(flags.word);
            self.text.push(body);
        }
        Ok(())
    }

    pub(super) fn write_rounding(&mut self) -> Fits {
        if self.op_attr("roundingmode").is_some() {
            let at = usize::try_from(self.int("roundingmode")?).map_err(|_| Unfit)?;
            self.word(ROUNDING.get(at).ok_or(Unfit)?);
        }
        Ok(())
    }
}
