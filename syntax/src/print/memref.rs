//! Writers of what `memref` ops have of their own; their readers are in `grammar/memref.rs`.

use super::printer::{Fits, Printer, Unfit, fits};
use crate::affine::{Body, Expr};
use crate::dialect::format::{RMW, STATIC_LISTS};
use crate::intern::Types;
use crate::{AttrData, OpKind, TokenKind, Type};

impl Printer<'_> {
    pub(super) fn write_permutation(&mut self, name: &str) -> Fits {
        let attr = self.op_attr(name).ok_or(Unfit)?;
        let ir = self.ir;
        let AttrData::Affine(map) = ir.interner.attr_data(attr) else { return Err(Unfit) };
        let Body::Map(results) = &map.body else { return Err(Unfit) };
        fits(map.n_symbols == 0 && results.iter().all(|it| matches!(it, Expr::Dim(_))))?;
        self.word(&map.to_string());
        Ok(())
    }

    pub(super) fn write_rmw_kind(&mut self) -> Fits {
        let kind = usize::try_from(self.int("kind")?).map_err(|_| Unfit)?;
        self.word(RMW.get(kind).ok_or(Unfit)?);
        Ok(())
    }

    pub(super) fn write_rmw_types(&mut self) -> Fits {
        let inputs = [self.operand_type(0)?, self.operand_type(1)?];
        let results = self.take_results()?;
        self.blank();
        self.text.function_type(&inputs, &results);
        Ok(())
    }

    pub(super) fn write_indices(&mut self, open: TokenKind) -> Fits {
        let (open, close) = if open == TokenKind::LParen { ("(", ")") } else { ("[", "]") };
        let is_alloc = matches!(self.kind(), OpKind::MemrefAlloc | OpKind::MemrefAlloca);
        let n = if is_alloc && open == "(" { self.segment_sizes::<2>()?[0] } else { self.n_left() };
        let values = self.take_operands(n)?;
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        if is_alloc && open == "[" && values.is_empty() {
            return Ok(());
        }
        self.text.push(open);
        self.values(&values)?;
        self.text.push(close);
        Ok(())
    }

    pub(super) fn write_static_lists(&mut self, open: [&str; 3]) -> Fits {
        for (open, name) in open.into_iter().zip(STATIC_LISTS) {
            let list = self.ints(name)?;
            self.write_mixed(open, &list, "]")?;
        }
        Ok(())
    }

    pub(super) fn write_global(&mut self) -> Fits {
        let ir = self.ir;
        if let Some(visibility) = self.op_attr("sym_visibility") {
            self.attr_word(visibility, Types::All);
        }
        if self.op_attr("constant").is_some() {
            self.word("constant");
        }
        let name = self.string("sym_name").ok_or(Unfit)?;
        self.blank();
        self.text.symbol(name);
        let ty = self.op_attr("type").ok_or(Unfit)?;
        self.word(": ");
        self.text.attr(ty);
        let Some(value) = self.op_attr("initial_value") else { return Ok(()) };
        self.word("= ");
        match ir.interner.attr_data(value) {
            AttrData::Unit => self.text.push("uninitialized"),
            AttrData::Elements(text, _) => self.text.push(ir.interner.str(*text)),
            _ => return Err(Unfit),
        }
        Ok(())
    }
}
