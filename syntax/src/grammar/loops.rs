//! The headers of `scf` ops.

use super::reader::{Reader, Res};
use super::{ParsedArgument, ParsedOperand};
use crate::dialect::format::DYNAMIC;
use crate::{Attr, AttrData, Code, Span, TokenKind, Type, TypeData};

impl Reader<'_, '_> {
    /// `%i` where it is defined.
    pub(super) fn argument(&mut self, ty: Type) -> Res<ParsedArgument> {
        let operand = self.value(ty)?;
        if self.tokens[self.at - 1].kind == TokenKind::Hash {
            self.at -= 1;
            let message = "result number not allowed in argument list";
            return Err(self.wrong(Code::InvalidResultNumber, message));
        }
        self.opt_location()?;
        Ok(ParsedArgument { name: Some(operand.name), span: operand.span, ty, attrs: None })
    }

    /// `(%x = %y, ...)` after the parenthesis: arguments to the header's, values to the operands.
    pub(super) fn assignments(&mut self) -> Res<usize> {
        let first = self.out.operands.len();
        self.list(TokenKind::RParen, |it| {
            let argument = it.argument(Type::UNKNOWN)?;
            it.expect(TokenKind::Equal)?;
            it.operand(Type::UNKNOWN)?;
            it.header_arguments.push(argument);
            Ok(())
        })?;
        Ok(first)
    }

    /// Types for the values carried from operand `first` on, and for the arguments that are theirs, the last of the header.
    pub(super) fn carry(&mut self, first: usize, types: &[Type], what: &str) {
        let n = self.out.operands.len() - first;
        if n != types.len() {
            let message = format!("{n} {what} but {} types", types.len());
            self.mismatch(Code::OperandCount, self.out.name_span, message);
        }
        let n_before = self.header_arguments.len().saturating_sub(n);
        let arguments = self.header_arguments[n_before..].iter_mut();
        for ((operand, argument), ty) in
            self.out.operands[first..].iter_mut().zip(arguments).zip(types)
        {
            operand.ty = *ty;
            argument.ty = *ty;
        }
    }

    /// `iter_args(%x = %y) -> (T)` or nothing.
    pub(super) fn opt_iter_args(&mut self) -> Res<usize> {
        let mut first = self.out.operands.len();
        if self.eat_word("iter_args") {
            self.expect(TokenKind::LParen)?;
            first = self.assignments()?;
            self.expect(TokenKind::Arrow)?;
            self.arrow_types()?;
            let types = self.out.result_types.clone();
            self.carry(first, &types, "loop-carried values");
        }
        Ok(first)
    }

    /// `[unsigned] %i = %l to %u step %s [iter_args(..) -> (..)] [: T]`
    pub(super) fn scf_for(&mut self) -> Res {
        if self.eat_word("unsigned") {
            self.set_attr("unsignedCmp", Attr::UNIT);
        }
        let variable = self.argument(Type::INDEX)?;
        self.header_arguments.push(variable);
        self.expect(TokenKind::Equal)?;
        self.operand(Type::INDEX)?;
        self.expect_word("to")?;
        self.operand(Type::INDEX)?;
        self.expect_word("step")?;
        self.operand(Type::INDEX)?;
        self.opt_iter_args()?;
        if self.eat(TokenKind::Colon) {
            let ty = self.ty()?;
            self.header_arguments[0].ty = ty;
            for it in &mut self.out.operands[..3] {
                it.ty = ty;
            }
        }
        Ok(())
    }

    /// `(%x = %y, ...) : (A) -> B`
    pub(super) fn scf_while(&mut self) -> Res {
        if self.eat(TokenKind::LParen) {
            self.assignments()?;
        }
        self.expect(TokenKind::Colon)?;
        let span = self.token().span();
        let ty = self.ty()?;
        match self.env.interner.type_data(ty).clone() {
            TypeData::Function { inputs, results } => {
                self.out.result_types.extend_from_slice(&results);
                self.carry(0, &inputs, "operands");
                Ok(())
            }
            TypeData::Unknown => {
                self.out.guessed = true;
                Ok(())
            }
            _ => Err(self.broken(Code::InvalidType, span, "expected a function type".into())),
        }
    }

    /// `(%i, %j)` of a loop, as arguments of its region.
    pub(super) fn variables(&mut self) -> Res<usize> {
        self.expect(TokenKind::LParen)?;
        self.list(TokenKind::RParen, |it| {
            let argument = it.argument(Type::INDEX)?;
            it.header_arguments.push(argument);
            Ok(())
        })?;
        Ok(self.header_arguments.len())
    }

    fn index_list(&mut self, n: usize) -> Res {
        let span = self.token().span();
        self.expect(TokenKind::LParen)?;
        let first = self.out.operands.len();
        self.list(TokenKind::RParen, |it| it.operand(Type::INDEX).map(|_| ()))?;
        let found = self.out.operands.len() - first;
        if found != n {
            self.mismatch(
                Code::OperandCount,
                span,
                format!("expected {n} operands, found {found}"),
            );
        }
        Ok(())
    }

    /// `(%i) = (%l) to (%u) step (%s) [init (%v)] [-> T]`
    pub(super) fn scf_parallel(&mut self) -> Res {
        let n = self.variables()?;
        self.expect(TokenKind::Equal)?;
        self.index_list(n)?;
        self.expect_word("to")?;
        self.index_list(n)?;
        self.expect_word("step")?;
        self.index_list(n)?;
        let first = self.out.operands.len();
        if self.eat_word("init") {
            self.expect(TokenKind::LParen)?;
            self.list(TokenKind::RParen, |it| it.operand(Type::UNKNOWN).map(|_| ()))?;
        }
        self.opt_arrow_types()?;
        let n_inits = self.out.operands.len() - first;
        if n_inits != self.out.result_types.len() {
            let message = format!(
                "{n_inits} initial values but {} result types",
                self.out.result_types.len()
            );
            self.mismatch(Code::OperandCount, self.out.name_span, message);
        }
        for (operand, ty) in self.out.operands[first..].iter_mut().zip(&self.out.result_types) {
            operand.ty = *ty;
        }
        let n = n as i64;
        self.segments(&[n, n, n, n_inits as i64]);
        Ok(())
    }

    /// `(%a, %b : T, U) {..}, {..}`
    pub(super) fn scf_reduce(&mut self) -> Res {
        if self.eat(TokenKind::LParen) {
            self.uses_types()?;
            self.expect(TokenKind::RParen)?;
        }
        if self.peek() == TokenKind::Region
            && !(self.out.operands.is_empty() && self.is_empty_region())
        {
            loop {
                self.region()?;
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// `%use` or an integer, in a list: operands are added, and [`DYNAMIC`] stands for them.
    pub(super) fn mixed_list(&mut self, close: TokenKind) -> Res<Vec<i64>> {
        let mut out = Vec::new();
        self.list(close, |it| {
            if it.peek() == TokenKind::Percent {
                it.operand(Type::INDEX)?;
                out.push(DYNAMIC);
            } else if matches!(it.peek(), TokenKind::Int | TokenKind::Minus)
                || it.peek() == TokenKind::Bare && matches!(it.word(), "true" | "false")
            {
                out.push(it.integer()?);
            } else {
                return Err(it.expected("an SSA value or an integer"));
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// `(%i) in (..)`, `(%i) = (..) to (..) step (..)`, then `shared_outs(%o = %t) -> (T)`
    pub(super) fn scf_forall(&mut self) -> Res {
        let n = self.variables()?;
        let (lower, upper, step);
        if self.eat_word("in") {
            self.expect(TokenKind::LParen)?;
            upper = self.mixed_list(TokenKind::RParen)?;
            (lower, step) = (vec![0; upper.len()], vec![1; upper.len()]);
        } else {
            if !self.eat(TokenKind::Equal) {
                return Err(self.expected("'in' or '='"));
            }
            self.expect(TokenKind::LParen)?;
            lower = self.mixed_list(TokenKind::RParen)?;
            self.expect_word("to")?;
            self.expect(TokenKind::LParen)?;
            upper = self.mixed_list(TokenKind::RParen)?;
            self.expect_word("step")?;
            self.expect(TokenKind::LParen)?;
            step = self.mixed_list(TokenKind::RParen)?;
        }
        for it in [&lower, &upper, &step] {
            if it.len() != n {
                let message = format!("expected {n} bounds, found {}", it.len());
                self.mismatch(Code::OperandCount, self.out.name_span, message);
            }
        }
        let dynamic = |it: &[i64]| it.iter().filter(|it| **it == DYNAMIC).count() as i64;
        let mut sizes = [dynamic(&lower), dynamic(&upper), dynamic(&step), 0];
        let first = self.out.operands.len();
        if self.eat_word("shared_outs") {
            self.expect(TokenKind::LParen)?;
            self.assignments()?;
            self.expect(TokenKind::Arrow)?;
            self.arrow_types()?;
            let types = self.out.result_types.clone();
            self.carry(first, &types, "shared outputs");
        }
        sizes[3] = (self.out.operands.len() - first) as i64;
        self.segments(&sizes);
        for (name, values) in
            [("staticLowerBound", lower), ("staticUpperBound", upper), ("staticStep", step)]
        {
            let attr = self.dense_array(Type::I64, &values);
            self.set_attr(name, attr);
        }
        Ok(())
    }

    /// `case 0 {..} case 1 {..} default {..}`
    pub(super) fn index_switch(&mut self) -> Res {
        let mut cases = Vec::new();
        while self.eat_word("case") {
            cases.push(self.bits()?);
            self.region()?;
        }
        self.expect_word("default")?;
        self.region()?;
        let attr = self.dense_array(Type::I64, &cases);
        self.set_attr("cases", attr);
        Ok(())
    }

    /// An array of integers, `[1, 2]`, of type `i64`.
    pub(super) fn i64_array(&mut self, values: &[i64]) -> Attr {
        let values = values.iter().map(|it| self.int_attr(*it, Type::I64)).collect();
        self.env.interner.attr(AttrData::Array(values))
    }

    /// Operands at the end of the list from elsewhere.
    pub(super) fn push_operands(&mut self, operands: impl IntoIterator<Item = ParsedOperand>) {
        self.out.operands.extend(operands);
    }

    /// Tells of an op's own syntax at its name.
    pub(super) fn span_of_name(&self) -> Span {
        self.out.name_span
    }
}
