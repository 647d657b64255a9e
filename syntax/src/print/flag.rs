//! Writers of flags and enumerations; their readers are in `grammar/flag.rs`.

use super::printer::{Fits, Printer, Unfit, fits};
use crate::dialect::format::{Flags, ROUNDING};
use crate::{Attr, AttrData, Tool};

impl Printer<'_> {
    pub(super) fn write_flags(&mut self, flags: &'static Flags) -> Fits {
        let Some(attr) = self.op_attr(flags.attr) else { return Ok(()) };
        if flags.word.is_empty() {
            fits(attr == Attr::UNIT)?;
            if self.tool != Tool::Mlir19 {
                self.word("<");
                self.text.push(flags.cases[0].0);
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
