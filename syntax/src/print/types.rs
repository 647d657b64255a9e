//! Writers of the types of a custom form, and what types must agree with to be written; their readers are in `grammar/types.rs`.

use super::printer::{Fits, Printer, Unfit, fits};
use crate::dialect::format::Bind;
use crate::{OpKind, Type, TypeData};

impl Printer<'_> {
    pub(super) fn write_bound_type(&mut self, bind: Bind) -> Fits {
        let n = self.ir.op(self.op_id()).operands.len();
        let operands = |it: &Self| -> Fits<Option<Type>> {
            let types: Vec<Type> = (0..n).map(|at| it.operand_type(at)).collect::<Fits<_>>()?;
            fits(types.windows(2).all(|it| it[0] == it[1]))?;
            Ok(types.first().copied())
        };
        let ty = match bind {
            Bind::All => {
                let result = self.take_result()?;
                fits(operands(self)?.is_none_or(|it| it == result))?;
                result
            }
            Bind::Operands => operands(self)?.ok_or(Unfit)?,
            Bind::AllAnd(n) => {
                let ty = operands(self)?.ok_or(Unfit)?;
                for _ in 0..n {
                    fits(self.take_result()? == ty)?;
                }
                ty
            }
            Bind::Operand(at) => self.operand_type(at.into())?,
            Bind::FirstAndResult => {
                let ty = self.operand_type(0)?;
                fits(self.take_result()? == ty)?;
                ty
            }
            Bind::Result | Bind::NextResult => self.take_result()?,
            Bind::ElementOf(at) => {
                let ty = self.operand_type(at.into())?;
                fits(self.memref_element(ty)? == self.take_result()?)?;
                ty
            }
            Bind::StoreTo => {
                let ty = self.operand_type(1)?;
                fits(self.memref_element(ty)? == self.operand_type(0)?)?;
                ty
            }
            Bind::Compared => {
                let ty = operands(self)?.ok_or(Unfit)?;
                let result = self.take_result()?;
                fits(self.ir.interner.find_i1_like(ty) == Some(result))?;
                ty
            }
            Bind::Assumed => {
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

    pub(super) fn memref_element(&self, ty: Type) -> Fits<Type> {
        match self.ir.interner.type_data(ty) {
            TypeData::MemRef { element, .. } => Ok(*element),
            _ => Err(Unfit),
        }
    }

    /// `-> T`, `-> (T, U)` or nothing.
    pub(super) fn write_arrow_types(&mut self) -> Fits {
        let types = self.take_results()?;
        if !types.is_empty() {
            self.word("-> ");
            // Some ops put one type in parentheses, too.
            if matches!(self.kind(), OpKind::ScfIf | OpKind::MemrefAllocaScope) {
                self.text.push("(");
                self.text.types(&types);
                self.text.push(")");
            } else {
                self.text.result_types(&types);
            }
        }
        Ok(())
    }

    pub(super) fn write_function_type(&mut self, from: usize) -> Fits {
        let n = self.ir.op(self.op_id()).operands.len();
        let inputs: Vec<Type> = (from..n).map(|at| self.operand_type(at)).collect::<Fits<_>>()?;
        let results = self.take_results()?;
        if from == 1 {
            // The callee's own type.
            let callee = self.ir.interner.type_data(self.operand_type(0)?);
            let is_same = matches!(callee, TypeData::Function { inputs: i, results: r }
                if **i == inputs[..] && **r == results[..]);
            fits(is_same)?;
        }
        self.blank();
        self.text.function_type(&inputs, &results);
        Ok(())
    }

    pub(super) fn write_select(&mut self) -> Fits {
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
