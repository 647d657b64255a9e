//! Read access of analyses to a program.
//!
//! Folds, transfer functions and contracts read the program through [`ProgramView`]. Code outside
//! of the solver passes an [`Ir`]. The solver passes a [`crate::sparse::AnalysisContext`], which
//! records the reads of each op, so that an op is visited again when something that it read
//! changes.

use noisy_syntax::{Attr, Def, Interner, Ir, Name, Op, OpData, OpExtra, Type, Value};

/// Access to types, attributes and names, which never change.
pub trait HasInterner {
    /// Returns the table of types, attributes and names.
    fn interner(&self) -> &Interner;
}

/// Read access to a program, op by op.
pub trait ProgramView: HasInterner {
    /// Returns the data of an op.
    fn op(&self, op: Op) -> &OpData;

    /// Returns the optional data of an op: successors, symbols, argument attributes.
    fn extra(&self, op: Op) -> &OpExtra;

    /// Returns an attribute of an op by its name.
    fn attr(&self, op: Op, name: &str) -> Option<Attr>;

    /// Returns true if the own text of an op has a problem.
    fn has_problem(&self, op: Op) -> bool;

    /// Returns the full name of an op.
    fn op_name(&self, op: Op) -> &str;

    /// Returns the definition of a value.
    fn def(&self, value: Value) -> Def;

    /// Returns the type of a value.
    fn ty(&self, value: Value) -> Type;

    /// Returns the type of an operand; `None` if the operand names no value.
    fn operand_ty(&self, op: Op, index: usize) -> Option<Type> {
        Some(self.ty(self.op(op).operands.get(index)?.value?))
    }

    /// Returns the op that a symbol name resolves to, seen from `from`.
    fn resolve_symbol(&self, from: Op, name: Name) -> Option<Op>;
}

impl HasInterner for Interner {
    #[inline]
    fn interner(&self) -> &Interner {
        self
    }
}

impl HasInterner for Ir {
    #[inline]
    fn interner(&self) -> &Interner {
        &self.interner
    }
}

impl ProgramView for Ir {
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
