//! The syntax of flags, enumerations and constants, and their attributes.

use super::element::{Element, Syntax};
use crate::grammar::flags::{self, FlagSyntax};
use crate::grammar::reader::{ReadResult, Reader};
use crate::intern::NumberTypes;
use crate::print::printer::{PrintResult, Printer, Unfit, fits};
use crate::{Attr, AttrData, Code, TokenKind, Tool, Type};

/// Predicates of `arith.cmpi`. The attribute is the index in this list.
const CMPI_PREDICATES: &[&str] =
    &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

/// Predicates of `arith.cmpf`. The attribute is the index in this list.
const CMPF_PREDICATES: &[&str] = &[
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
    "une", "uno", "true",
];

/// Rounding modes. The attribute is the index in this list.
const ROUNDING: &[&str] =
    &["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"];

/// `overflow<nsw, nuw>` or nothing.
pub(in crate::dialect) const OPT_OVERFLOW: Element = Element::Custom(&Syntax {
    read: |it| it.opt_flags(&flags::OVERFLOW),
    write: |it| it.write_flags(&flags::OVERFLOW),
    attributes: &["overflowFlags"],
    ..Syntax::EMPTY
});

/// `fastmath<nnan,ninf>` or nothing.
pub(in crate::dialect) const OPT_FASTMATH: Element = Element::Custom(&Syntax {
    read: |it| it.opt_flags(&flags::FASTMATH),
    write: |it| it.write_flags(&flags::FASTMATH),
    attributes: &["fastmath"],
    ..Syntax::EMPTY
});

/// `<no_inline>` or nothing.
pub(in crate::dialect) const OPT_NO_INLINE: Element = Element::Custom(&Syntax {
    read: |it| {
        if it.eat(TokenKind::Less) {
            it.expect_word("no_inline")?;
            it.expect(TokenKind::Greater)?;
            it.set_attr("no_inline", Attr::UNIT);
        }
        Ok(())
    },
    write: |it| {
        let Some(attr) = it.op_attr("no_inline") else { return Ok(()) };
        fits(attr == Attr::UNIT)?;
        if it.tool != Tool::Mlir19 {
            it.word("<no_inline>");
        }
        Ok(())
    },
    attributes: &["no_inline"],
    is_newer_than_mlir19: true,
    ..Syntax::EMPTY
});

/// An optional rounding mode, such as `to_nearest_even`.
pub(in crate::dialect) const OPT_ROUNDING: Element = Element::Custom(&Syntax {
    read: |it| {
        if let Some(at) = ROUNDING.iter().position(|mode| it.is_word(mode)) {
            it.at += 1;
            let ty = it.i32_type();
            let attr = it.int_attr(at as i64, ty);
            it.set_attr("roundingmode", attr);
        }
        Ok(())
    },
    write: |it| {
        if it.op_attr("roundingmode").is_some() {
            it.write_enum_case("roundingmode", ROUNDING)?;
        }
        Ok(())
    },
    attributes: &["roundingmode"],
    ..Syntax::EMPTY
});

/// `slt`, a predicate of `arith.cmpi`.
pub(in crate::dialect) const CMPI_PREDICATE: Element = Element::Custom(&Syntax {
    read: |it| it.predicate(CMPI_PREDICATES),
    write: |it| it.write_enum_case("predicate", CMPI_PREDICATES),
    snippet: " «eq»",
    attributes: &["predicate"],
    ..Syntax::EMPTY
});

/// `olt`, a predicate of `arith.cmpf`.
pub(in crate::dialect) const CMPF_PREDICATE: Element = Element::Custom(&Syntax {
    read: |it| it.predicate(CMPF_PREDICATES),
    write: |it| it.write_enum_case("predicate", CMPF_PREDICATES),
    snippet: " «false»",
    attributes: &["predicate"],
    ..Syntax::EMPTY
});

/// `7 : i32`: the attribute `value`, which has the type of the result.
pub(in crate::dialect) const CONSTANT_VALUE: Element = Element::Custom(&Syntax {
    read: |it| it.constant_value(),
    write: |it| {
        let value = it.op_attr("value").ok_or(Unfit)?;
        fits(it.ir.interner.attr_type(value) == Some(it.take_result()?))?;
        it.attr_word(value, NumberTypes::All);
        Ok(())
    },
    snippet: " «0» : «i32»",
    attributes: &["value"],
    ..Syntax::EMPTY
});

impl Reader<'_, '_> {
    /// Parses an optional `overflow<nsw, nuw>` or `fastmath<fast>`.
    fn opt_flags(&mut self, flags: &FlagSyntax) -> ReadResult {
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
        let attr = self.env.interner.intern_attr(AttrData::Text(text, None));
        self.set_attr(flags.attr, attr);
        Ok(())
    }

    /// Parses the attribute `predicate`: its value is the index of the name in `names`.
    fn predicate(&mut self, names: &[&str]) -> ReadResult {
        let at = self.enum_case(names)?;
        let attr = self.int_attr(at as i64, Type::I64);
        self.set_attr("predicate", attr);
        Ok(())
    }

    fn constant_value(&mut self) -> ReadResult {
        let span = self.token().span();
        if self.peek() == TokenKind::Eof {
            return Err(self.expected("an attribute value"));
        }
        let attr = self.attr()?;
        let Some(ty) = self.env.interner.attr_type(attr) else {
            return Err(self.error_at(
                Code::InvalidAttribute,
                span,
                "a constant needs a value with a type".into(),
            ));
        };
        self.set_attr("value", attr);
        self.out.result_types.push(ty);
        Ok(())
    }
}

impl Printer<'_> {
    fn write_flags(&mut self, flags: &FlagSyntax) -> PrintResult {
        let Some(attr) = self.op_attr(flags.attr) else { return Ok(()) };
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

    /// Prints the name at the index that an integer attribute states.
    fn write_enum_case(&mut self, attribute: &str, names: &[&str]) -> PrintResult {
        let at = usize::try_from(self.int(attribute)?).map_err(|_| Unfit)?;
        self.word(names.get(at).ok_or(Unfit)?);
        Ok(())
    }
}
