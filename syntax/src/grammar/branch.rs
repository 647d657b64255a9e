//! Successors and the headers of `cf` branches.

use super::ParsedSuccessor;
use super::reader::{Reader, Res};
use crate::{AttrData, Dim, TokenKind, TypeData};

impl Reader<'_, '_> {
    pub(super) fn block_name(&mut self) -> Res {
        if self.peek() != TokenKind::Caret {
            return Err(self.expected("a block name"));
        }
        let token = self.bump();
        let text = self.slice(token);
        let name = self.name(&text[1..]);
        let at = self.out.operands.len() as u32;
        self.out.successors.push(ParsedSuccessor { name, span: token.span(), operands: at..at });
        Ok(())
    }

    pub(super) fn successor(&mut self) -> Res {
        self.block_name()?;
        if self.eat(TokenKind::LParen) {
            if self.peek() != TokenKind::Percent {
                return Err(self.expected("an SSA value"));
            }
            self.uses_types()?;
            self.expect(TokenKind::RParen)?;
            let n = self.out.operands.len() as u32;
            if let Some(it) = self.out.successors.last_mut() {
                it.operands.end = n;
            }
        }
        Ok(())
    }

    /// `default: ^bb, 1: ^bb(%a : i32)`, between the brackets of `cf.switch`.
    pub(super) fn switch(&mut self) -> Res {
        self.expect_word("default")?;
        self.expect(TokenKind::Colon)?;
        self.successor()?;
        let mut cases = Vec::new();
        while self.eat(TokenKind::Comma) {
            cases.push(self.bits()?);
            self.expect(TokenKind::Colon)?;
            self.successor()?;
        }
        let sizes: Vec<i64> =
            self.out.successors.iter().map(|it| it.operands.len() as i64).collect();
        self.segments(&[1, sizes[0], sizes[1..].iter().sum()]);
        let i32_type = self.i32_type();
        let segments = self.dense_array(i32_type, &sizes[1..]);
        self.set_attr("case_operand_segments", segments);
        if !cases.is_empty() {
            let flag = self.out.operands[0].ty;
            // MLIR reads 64 bits, of which a narrower flag has the low ones, and a wider one has zeros before them.
            let width = match self.env.interner.type_data(flag) {
                TypeData::Int { width, .. } => *width,
                _ => 64,
            };
            let number = |&it: &i64| match width {
                1 => (it & 1 == 1).to_string(),
                2..=64 => (it << (64 - width) >> (64 - width)).to_string(),
                _ => it.cast_unsigned().to_string(),
            };
            let n = cases.len() as u64;
            let all: Vec<String> = cases.iter().map(number).collect();
            let is_splat = all.iter().all(|it| *it == all[0]);
            let text = if is_splat {
                format!("dense<{}>", all[0])
            } else {
                format!("dense<[{}]>", all.join(", "))
            };
            let dims = [Dim::Fixed(n)].into();
            let ty = self.env.interner.ty(TypeData::Vector { dims, element: flag });
            let text = self.name(&text);
            let attr = self.env.interner.attr(AttrData::Elements(text, ty));
            self.set_attr("case_values", attr);
        }
        Ok(())
    }

    /// `weights([1, 2])` or nothing.
    pub(super) fn opt_weights(&mut self) -> Res {
        if !self.eat_word("weights") {
            return Ok(());
        }
        self.expect(TokenKind::LParen)?;
        self.expect(TokenKind::LSquare)?;
        let mut weights = Vec::new();
        self.list(TokenKind::RSquare, |it| {
            weights.push(it.integer()?);
            Ok(())
        })?;
        self.expect(TokenKind::RParen)?;
        let ty = self.i32_type();
        let attr = self.dense_array(ty, &weights);
        self.set_attr("branch_weights", attr);
        Ok(())
    }
}
