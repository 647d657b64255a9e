//! The types of a custom form: whose they are when they are read, and what they must agree with to be written.

use super::reader::{Reader, Res};
use crate::dialect::format::Bind;
use crate::{Code, TokenKind, Type, TypeData};

impl Reader<'_, '_> {
    pub(super) fn bound_type(&mut self, bind: Bind) -> Res {
        let ty = self.ty()?;
        let out = &mut *self.out;
        match bind {
            Bind::All => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
                out.result_types.push(ty);
            }
            Bind::Operands => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
            }
            Bind::AllAnd(n) => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
                for _ in 0..n {
                    out.result_types.push(ty);
                }
            }
            Bind::Operand(at) => self.set_operand_type(at as usize, ty),
            Bind::FirstAndResult => {
                out.result_types.push(ty);
                self.set_operand_type(0, ty);
            }
            Bind::Result | Bind::NextResult => out.result_types.push(ty),
            Bind::ElementOf(at) => {
                self.set_operand_type(at as usize, ty);
                let element = self.memref_element_type(ty)?;
                self.out.result_types.push(element);
            }
            Bind::StoreTo => {
                self.set_operand_type(1, ty);
                let element = self.memref_element_type(ty)?;
                self.set_operand_type(0, element);
            }
            Bind::Compared => {
                for it in &mut out.operands {
                    it.ty = ty;
                }
                let i1 = self.i1_like(ty);
                self.out.result_types.push(i1);
            }
            Bind::Assumed => {
                self.set_operand_type(0, ty);
                if !self.out.results.is_empty() {
                    self.out.result_types.push(ty);
                }
            }
        }
        Ok(())
    }

    pub(super) fn set_operand_type(&mut self, at: usize, ty: Type) {
        if let Some(it) = self.out.operands.get_mut(at) {
            it.ty = ty;
        }
    }

    pub(super) fn memref_element_type(&mut self, ty: Type) -> Res<Type> {
        match self.env.interner.type_data(ty) {
            TypeData::MemRef { element, .. } => Ok(*element),
            TypeData::Unknown => Ok(ty),
            _ => {
                self.at -= 1;
                Err(self.wrong(Code::InvalidType, "expected a memref type"))
            }
        }
    }

    /// `i1`, or a shape of it.
    pub(super) fn i1_like(&mut self, ty: Type) -> Type {
        let data = self.env.interner.i1_like(ty);
        self.env.interner.ty(data)
    }

    pub(super) fn opt_arrow_types(&mut self) -> Res {
        if self.eat(TokenKind::Arrow) { self.arrow_types() } else { Ok(()) }
    }

    /// `T, U`: one for each result.
    pub(super) fn result_types(&mut self) -> Res {
        loop {
            let ty = self.ty()?;
            self.out.result_types.push(ty);
            if !self.eat(TokenKind::Comma) {
                return Ok(());
            }
        }
    }

    /// `T` or `(T, U)`, after `->`.
    pub(super) fn arrow_types(&mut self) -> Res {
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

    /// `: (A) -> B`: the types of operands `from..` and of the results.
    pub(super) fn function_type(&mut self, from: usize) -> Res {
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
                    self.mismatch(Code::OperandCount, span, message);
                }
                Ok(())
            }
            TypeData::Unknown => {
                out.guessed = true;
                Ok(())
            }
            _ => Err(self.broken(Code::InvalidType, span, "expected a function type".into())),
        }
    }

    /// `T`, or `C, T` where the condition has a type of its own.
    pub(super) fn select(&mut self) -> Res {
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
