//! The syntax of branches: successors, cases, weights.

use super::element::{Element, Syntax};
use crate::grammar::ParsedSuccessor;
use crate::grammar::reader::{ReadResult, Reader};
use crate::print::printer::{PrintResult, Printer, Unfit, fits};
use crate::{AttrData, Dim, TokenKind, Tool, TypeData};

/// `weights([1, 2])` or nothing.
pub(in crate::dialect) const OPT_WEIGHTS: Element = Element::Custom(&Syntax {
    read: |it| it.opt_weights(),
    write: |it| it.write_weights(),
    attributes: &["branch_weights"],
    is_newer_than_mlir19: true,
    ..Syntax::EMPTY
});

/// `default: ^bb, 1: ^bb(%a : i32)`
pub(in crate::dialect) const SWITCH_CASES: Element = Element::Custom(&Syntax {
    read: |it| it.switch(),
    write: |it| it.write_switch(),
    snippet: " default: ^«bb1»",
    attributes: &["case_operand_segments", "case_values", "operandSegmentSizes"],
    ..Syntax::EMPTY
});

/// No text: `operandSegmentSizes` is one operand of the op, then the number of operands of each
/// successor.
pub(in crate::dialect) const SUCCESSOR_SEGMENTS: Element = Element::Custom(&Syntax {
    read: |it| {
        let counts = it.out.successors.iter().map(|it| it.operands.len() as i64);
        let sizes: Vec<i64> = std::iter::once(1).chain(counts).collect();
        it.set_segment_sizes(&sizes);
        Ok(())
    },
    write: |it| {
        let sizes = it.segment_sizes::<3>()?;
        fits(sizes[0] == 1)
    },
    attributes: &["operandSegmentSizes"],
    ..Syntax::EMPTY
});

impl Reader<'_, '_> {
    pub(crate) fn block_name(&mut self) -> ReadResult {
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

    pub(crate) fn successor(&mut self) -> ReadResult {
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

    /// Parses `default: ^bb, 1: ^bb(%a : i32)`, between the brackets of `cf.switch`.
    pub(crate) fn switch(&mut self) -> ReadResult {
        self.expect_word("default")?;
        self.expect(TokenKind::Colon)?;
        self.successor()?;
        let mut cases = Vec::new();
        while self.eat(TokenKind::Comma) {
            cases.push(self.integer_bits()?);
            self.expect(TokenKind::Colon)?;
            self.successor()?;
        }
        let sizes: Vec<i64> =
            self.out.successors.iter().map(|it| it.operands.len() as i64).collect();
        self.set_segment_sizes(&[1, sizes[0], sizes[1..].iter().sum()]);
        let i32_type = self.i32_type();
        let segments = self.dense_array(i32_type, &sizes[1..]);
        self.set_attr("case_operand_segments", segments);
        if !cases.is_empty() {
            let flag = self.out.operands[0].ty;
            // MLIR parses 64 bits. A narrower flag type keeps the low bits; a wider one is
            // zero-extended.
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
            let ty = self.env.interner.intern_type(TypeData::Vector { dims, element: flag });
            let text = self.name(&text);
            let attr = self.env.interner.intern_attr(AttrData::Elements(text, ty));
            self.set_attr("case_values", attr);
        }
        Ok(())
    }

    /// Parses an optional `weights([1, 2])`.
    pub(crate) fn opt_weights(&mut self) -> ReadResult {
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

impl Printer<'_> {
    pub(crate) fn write_successor(&mut self) -> PrintResult {
        let ir = self.ir;
        let (block, range) = self.take_successor()?;
        let values = self.take_operands(range.len())?;
        fits(range.end as usize == ir.op(self.op_id()).operands.len() - self.n_left())?;
        self.blank();
        self.block_name(block)?;
        if !values.is_empty() {
            self.text.push("(");
            self.values_types(&values)?;
            self.text.push(")");
        }
        Ok(())
    }

    pub(crate) fn write_switch(&mut self) -> PrintResult {
        let ir = self.ir;
        let n = ir.extra(self.op_id()).successors.len();
        let cases = match self.op_attr("case_values") {
            None => Vec::new(),
            Some(cases) => {
                let cases = ir.interner.sign_extended_elements(cases).ok_or(Unfit)?;
                // A splat gives the value of all cases.
                let is_one = cases.len() == 1;
                let cases = cases.iter().cycle().take(if is_one {
                    n.saturating_sub(1)
                } else {
                    cases.len()
                });
                cases.map(|&it| self.unsigned_case(it).ok_or(Unfit)).collect::<Result<_, _>>()?
            }
        };
        fits(n == cases.len() + 1)?;
        self.text.push("\n");
        for at in 0..n {
            self.line_start(1);
            match at.checked_sub(1) {
                None => self.text.push("default:"),
                Some(at) => self.text.push(&format!("{}:", cases[at])),
            }
            self.write_successor()?;
            self.text.push(if at + 1 < n { ",\n" } else { "\n" });
        }
        self.line_start(0);
        Ok(())
    }

    /// Returns a case as an unsigned number with the width of the flag, as MLIR prints it; `None`
    /// if it exceeds 64 bits.
    fn unsigned_case(&self, case: i128) -> Option<u64> {
        let flag = self.ir.op(self.op_id()).operands.first()?.value?;
        let bits = match self.ir.interner.type_data(self.ir.value(flag).ty) {
            TypeData::Int { width: width @ 1..=64, .. } => {
                case.cast_unsigned() & (u128::MAX >> (128 - width))
            }
            _ => case.cast_unsigned(),
        };
        u64::try_from(bits).ok()
    }

    pub(crate) fn write_weights(&mut self) -> PrintResult {
        if self.tool != Tool::Mlir19 && self.op_attr("branch_weights").is_some() {
            let weights = self.ints("branch_weights")?;
            self.word("weights(");
            self.text.ints(&weights);
            self.text.push(")");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Source, print};

    #[test]
    fn cases_are_unsigned() {
        let printed = |ty: &str, cases: &str| {
            let cases: Vec<String> = cases.split(' ').map(|it| format!(", {it}: ^b")).collect();
            let cases = cases.concat();
            let text = format!(
                "func.func @f(%a: {ty}) {{\n  cf.switch %a : {ty}, [default: ^b{cases}]\n^b:\n  return\n}}\n"
            );
            let source = Source::new(&text);
            assert!(source.problems().is_empty(), "{:?}", source.problems());
            let printed = print::custom(source.ir());
            let numbers =
                printed.lines().filter_map(|it| it.trim().split_once(": ^")).map(|it| it.0);
            numbers.skip(1).collect::<Vec<_>>().join(" ")
        };
        // The output of mlir-opt 19.
        assert_eq!(printed("i64", "-1 5"), "18446744073709551615 5");
        assert_eq!(printed("i64", "-1 -1"), "18446744073709551615 18446744073709551615");
        assert_eq!(printed("i8", "-1 255 128"), "255 255 128");
        assert_eq!(printed("i128", "-1 7"), "18446744073709551615 7");
    }
}
