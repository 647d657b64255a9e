//! How the rules of an analysis read a program.
//!
//! A rule (a fold, a transfer function, a contract) is written against [`View`]. Code outside of the solver passes an [`Ir`]. The solver
//! passes a [`crate::sparse::AnalysisContext`], which records what each op read, so that the op is visited again when that changes.

use noisy_syntax::{Attr, Def, Interner, Ir, Name, Op, OpData, OpExtra, Type, Value};

/// Types, attributes and names, which never change.
pub trait Types {
    /// Where they are.
    fn interner(&self) -> &Interner;
}

/// A program that is read.
pub trait View: Types {
    /// An op.
    fn op(&self, op: Op) -> &OpData;

    /// What only some ops have.
    fn extra(&self, op: Op) -> &OpExtra;

    /// An attribute of an op.
    fn attr(&self, op: Op, name: &str) -> Option<Attr>;

    /// Whether anything is wrong with the text of an op itself.
    fn has_problem(&self, op: Op) -> bool;

    /// The full name of an op.
    fn op_name(&self, op: Op) -> &str;

    /// What defines a value.
    fn def(&self, value: Value) -> Def;

    /// The type of a value.
    fn ty(&self, value: Value) -> Type;

    /// The type of an operand; `None` if it names no value.
    fn operand_ty(&self, op: Op, index: usize) -> Option<Type> {
        Some(self.ty(self.op(op).operands.get(index)?.value?))
    }

    /// The op that a name means where an op refers to it.
    fn resolve_symbol(&self, from: Op, name: Name) -> Option<Op>;
}

impl Types for Interner {
    #[inline]
    fn interner(&self) -> &Interner {
        self
    }
}

impl Types for Ir {
    #[inline]
    fn interner(&self) -> &Interner {
        &self.interner
    }
}

impl View for Ir {
    #[inline]
    fn op(&self, op: Op) -> &OpData {
        self.op(op)
    }

    #[inline]
    fn extra(&self, op: Op) -> &OpExtra {
        self.extra(op)
    }

    #[inline]
    fn attr(&self, op: Op, name: &str) -> Option<Attr> {
        self.attr(op, name)
    }

    #[inline]
    fn has_problem(&self, op: Op) -> bool {
        self.has_problem(op)
    }

    #[inline]
    fn op_name(&self, op: Op) -> &str {
        self.op_name(op)
    }

    #[inline]
    fn def(&self, value: Value) -> Def {
        self.value(value).def
    }

    #[inline]
    fn ty(&self, value: Value) -> Type {
        self.value(value).ty
    }

    #[inline]
    fn resolve_symbol(&self, from: Op, name: Name) -> Option<Op> {
        self.resolve_symbol(from, name)
    }
}
