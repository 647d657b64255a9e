//! The syntax of types: the values to which a type in the text applies. Types that must agree are
//! written once.

use super::element::{Element, Syntax, TypeBinding};
use crate::grammar::reader::{ReadResult, Reader};
use crate::print::printer::{PrintResult, Printer, Unfit, fits};
use crate::{Code, TokenKind, Type, TypeData};

/// Optional types of the results: `-> (T)` or `-> (T, U)`, with parentheses even around a single
/// one.
pub(in crate::dialect) const OPT_ARROW_PAREN_TYPES: Element = Element::Custom(&Syntax {
    read: |it| it.opt_arrow_types(),
    write: |it| {
        let types = it.take_results()?;
        if !types.is_empty() {
            it.word("-> (");
            it.text.types(&types);
            it.text.push(")");
        }
        Ok(())
    },
    ..Syntax::EMPTY
});

/// The types of `arith.select`: `T`, or `C, T` if the condition is not `i1`.
pub(in crate::dialect) const SELECT_TYPES: Element = Element::Custom(&Syntax {
    read: |it| it.select(),
    write: |it| it.write_select(),
    snippet: " «i32»",
    ..Syntax::EMPTY
});

impl Reader<'_, '_> {
    pub(crate) fn bound_type(&mut self, bind: TypeBinding) -> ReadResult {
        let ty = self.ty()?;
        let out = &mut *self.out;
        match bind {
            TypeBinding::All => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
                out.result_types.push(ty);
            }
            TypeBinding::Operands => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
            }
            TypeBinding::AllAnd(n) => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
                for _ in 0..n {
                    out.result_types.push(ty);
                }
            }
            TypeBinding::Operand(at) => self.set_operand_type(at as usize, ty),
            TypeBinding::FirstAndResult => {
                out.result_types.push(ty);
                self.set_operand_type(0, ty);
            }
            TypeBinding::Result | TypeBinding::NextResult => out.result_types.push(ty),
            TypeBinding::ElementOf(at) => {
                self.set_operand_type(at as usize, ty);
                let element = self.memref_element_type(ty)?;
                self.out.result_types.push(element);
            }
            TypeBinding::StoreTo => {
                self.set_operand_type(1, ty);
                let element = self.memref_element_type(ty)?;
                self.set_operand_type(0, element);
            }
            TypeBinding::Compared => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
                let i1 = self.i1_like(ty);
                self.out.result_types.push(i1);
            }
            TypeBinding::Assumed => {
                self.set_operand_type(0, ty);
                if !self.out.results.is_empty() {
                    self.out.result_types.push(ty);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn set_operand_type(&mut self, at: usize, ty: Type) {
        if let Some(it) = self.out.operands.get_mut(at) {
            it.ty = ty;
        }
    }

    pub(crate) fn memref_element_type(&mut self, ty: Type) -> ReadResult<Type> {
        match self.env.interner.type_data(ty) {
            TypeData::MemRef { element, .. } => Ok(*element),
            TypeData::Unknown => Ok(ty),
            _ => {
                self.at -= 1;
                Err(self.error_here(Code::InvalidType, "expected a memref type"))
            }
        }
    }

    /// Returns `i1`, or a shape of `i1` like `ty`.
    pub(crate) fn i1_like(&mut self, ty: Type) -> Type {
        let data = self.env.interner.i1_like(ty);
        self.env.interner.intern_type(data)
    }

    pub(crate) fn opt_arrow_types(&mut self) -> ReadResult {
        if self.eat(TokenKind::Arrow) { self.arrow_types() } else { Ok(()) }
    }

    /// Parses `T, U`: one type for each result.
    pub(crate) fn result_types(&mut self) -> ReadResult {
        loop {
            let ty = self.ty()?;
            self.out.result_types.push(ty);
            if !self.eat(TokenKind::Comma) {
                return Ok(());
            }
        }
    }

    /// Parses `T` or `(T, U)`, after `->`.
    pub(crate) fn arrow_types(&mut self) -> ReadResult {
        if self.eat(TokenKind::LParen) {
            return self.list(TokenKind::RParen, |it| {
                let ty = it.ty()?;
                it.out.result_types.push(ty);
                Ok(())
            });
        }
        let ty = self.simple_type()?;
        self.out.result_types.push(ty);
        Ok(())
    }

    /// Parses `(A) -> B`: the types of the operands from index `from` on, and of the results.
    pub(crate) fn function_type(&mut self, from: usize) -> ReadResult {
        let span = self.token().span();
        let ty = self.ty()?;
        let out = &mut *self.out;
        match self.env.interner.type_data(ty) {
            TypeData::Function { inputs, results } => {
                out.result_types.extend_from_slice(results);
                let n = out.operands.len() - from;
                for (operand, ty) in out.operands[from..].iter_mut().zip(inputs) {
                    operand.ty = *ty;
                }
                let n_inputs = inputs.len();
                if from == 1 {
                    out.operands[0].ty = ty;
                }
                if n != n_inputs {
                    let span = out.operands.get(from).map_or(span, |it| it.span);
                    let message = format!("{n} operands present, but expected {n_inputs}");
                    self.report_mismatch(Code::OperandCount, span, message);
                }
                Ok(())
            }
            TypeData::Unknown => {
                out.is_guessed = true;
                Ok(())
            }
            _ => Err(self.error_at(Code::InvalidType, span, "expected a function type".into())),
        }
    }

    /// Parses `T`, or `C, T` if the condition is not `i1`.
    pub(crate) fn select(&mut self) -> ReadResult {
        let mut condition = Type::I1;
        let mut ty = self.ty()?;
        if self.eat(TokenKind::Comma) {
            condition = ty;
            ty = self.ty()?;
        }
        self.set_operand_type(0, condition);
        self.set_operand_type(1, ty);
        self.set_operand_type(2, ty);
        self.out.result_types.push(ty);
        Ok(())
    }
}

impl Printer<'_> {
    pub(crate) fn write_bound_type(&mut self, bind: TypeBinding) -> PrintResult {
        let n = self.ir.op(self.op_id()).operands.len();
        let operands = |it: &Self| -> PrintResult<Option<Type>> {
            let types: Vec<Type> =
                (0..n).map(|at| it.operand_type(at)).collect::<PrintResult<_>>()?;
            fits(types.windows(2).all(|it| it[0] == it[1]))?;
            Ok(types.first().copied())
        };
        let ty = match bind {
            TypeBinding::All => {
                let result = self.take_result()?;
                fits(operands(self)?.is_none_or(|it| it == result))?;
                result
            }
            TypeBinding::Operands => operands(self)?.ok_or(Unfit)?,
            TypeBinding::AllAnd(n) => {
                let ty = operands(self)?.ok_or(Unfit)?;
                for _ in 0..n {
                    fits(self.take_result()? == ty)?;
                }
                ty
            }
            TypeBinding::Operand(at) => self.operand_type(at.into())?,
            TypeBinding::FirstAndResult => {
                let ty = self.operand_type(0)?;
                fits(self.take_result()? == ty)?;
                ty
            }
            TypeBinding::Result | TypeBinding::NextResult => self.take_result()?,
            TypeBinding::ElementOf(at) => {
                let ty = self.operand_type(at.into())?;
                fits(self.memref_element(ty)? == self.take_result()?)?;
                ty
            }
            TypeBinding::StoreTo => {
                let ty = self.operand_type(1)?;
                fits(self.memref_element(ty)? == self.operand_type(0)?)?;
                ty
            }
            TypeBinding::Compared => {
                let ty = operands(self)?.ok_or(Unfit)?;
                let result = self.take_result()?;
                fits(self.ir.interner.find_i1_like(ty) == Some(result))?;
                ty
            }
            TypeBinding::Assumed => {
                let ty = self.operand_type(0)?;
                if !self.ir.op(self.op_id()).results.is_empty() {
                    fits(self.take_result()? == ty)?;
                }
                ty
            }
        };
        self.blank();
        self.text.ty(ty);
        Ok(())
    }

    pub(crate) fn memref_element(&self, ty: Type) -> PrintResult<Type> {
        match self.ir.interner.type_data(ty) {
            TypeData::MemRef { element, .. } => Ok(*element),
            _ => Err(Unfit),
        }
    }

    /// Prints an optional `-> T` or `-> (T, U)`.
    pub(crate) fn write_arrow_types(&mut self) -> PrintResult {
        let types = self.take_results()?;
        if !types.is_empty() {
            self.word("-> ");
            self.text.result_types(&types);
        }
        Ok(())
    }

    pub(crate) fn write_function_type(&mut self, from: usize) -> PrintResult {
        let n = self.ir.op(self.op_id()).operands.len();
        let inputs: Vec<Type> =
            (from..n).map(|at| self.operand_type(at)).collect::<PrintResult<_>>()?;
        let results = self.take_results()?;
        if from == 1 {
            // The callee is operand 0 and has this function type.
            let callee = self.ir.interner.type_data(self.operand_type(0)?);
            let is_same = matches!(callee, TypeData::Function { inputs: i, results: r }
                if **i == inputs[..] && **r == results[..]);
            fits(is_same)?;
        }
        self.blank();
        self.text.function_type(&inputs, &results);
        Ok(())
    }

    pub(crate) fn write_select(&mut self) -> PrintResult {
        let [condition, yes, no] = [0, 1, 2].map(|it| self.operand_type(it));
        let (condition, yes) = (condition?, yes?);
        fits(no? == yes && self.take_result()? == yes)?;
        self.blank();
        if condition != Type::I1 {
            self.text.ty(condition);
            self.text.push(", ");
        }
        self.text.ty(yes);
        Ok(())
    }
}
