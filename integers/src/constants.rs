//! Constant propagation through blocks, loops and calls (conditional constant propagation, Wegman
//! and Zadeck).
//!
//! ```text
//! Bottom < 0, 1, 2, ..., 1.5, ..., [1, 2], ..., @f < Unknown
//! ```
//!
//! The lattice has height two. So no widening is needed, and the solver reaches the least fixpoint
//! in any order. Ops fold as in MLIR (`fold.rs`). Some fold with one known operand or none (`x *
//! 0`, `x - x`). If MLIR does not fold an op because its result is undefined (a division by zero, a
//! shift by the width or more), the result is unknown.

use noisy_syntax::{Form, Interner, Op, OpKind, Type, TypeData, Value};

use super::constant::Constant;
use super::elements::ElementLists;
use super::fold;
use noisy_dataflow::flow::Interval;
use noisy_dataflow::sparse::{
    AnalysisContext, BaseAnalyses, CallPolicy, SparseForward, SparseSolver,
};
use noisy_dataflow::view::ProgramView;

#[derive(Debug)]
pub struct Constants {
    /// The lists to which facts of the form [`Constant::Elements`] refer.
    pub lists: ElementLists,
    calls: CallPolicy,
}

impl Constants {
    /// Returns the intraprocedural analysis: arguments of functions and results of calls are
    /// unknown.
    pub fn without_calls() -> Self {
        Self { calls: CallPolicy::Opaque, ..Self::default() }
    }

    /// Returns the analysis of MLIR's `sccp`. The arguments of a private function are joined over
    /// all its calls, and every call gets the joined results.
    pub fn with_joined_calls() -> Self {
        Self { calls: CallPolicy::CONTEXT_INSENSITIVE, ..Self::default() }
    }
}

impl Default for Constants {
    /// Returns the context-sensitive analysis: a function is evaluated once for each vector of
    /// constant arguments.
    fn default() -> Self {
        Self { lists: ElementLists::default(), calls: CallPolicy::FOR_DISPLAY }
    }
}

/// The constants of a program, as the base of other analyses.
#[derive(Debug)]
pub struct ConstantFacts(pub SparseSolver<Constants>);

impl BaseAnalyses for ConstantFacts {
    type Facts<'a> = ConstantWithElements<'a>;

    fn facts_of(&self, _: &Interner, _: Type, value: Value) -> ConstantWithElements<'_> {
        let constant = self.0.fact(value).copied().unwrap_or(Constant::Unknown);
        ConstantWithElements { constant, list: self.0.analysis.lists.elements(constant) }
    }

    fn interval(&self, interner: &Interner, ty: Type, value: Value) -> Interval {
        self.0.fact(value).map_or(Interval::Unknown, |it| it.interval(interner, ty))
    }
}

/// A constant, with its elements if they are not all equal.
#[derive(Clone, Copy, Debug)]
pub struct ConstantWithElements<'a> {
    pub constant: Constant,
    /// The elements of a [`Constant::Elements`], in order.
    pub list: Option<&'a [Constant]>,
}

impl SparseForward for Constants {
    type Fact = Constant;
    type Base = ();

    fn calls(&self) -> CallPolicy {
        self.calls
    }

    fn has_fact(&self, interner: &Interner, ty: Type) -> bool {
        !matches!(
            interner.type_data(ty),
            TypeData::Dialect(_) | TypeData::MemRef { .. } | TypeData::Token
        )
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, ()>,
        op: Op,
        result: usize,
        operands: &[Constant],
    ) -> Constant {
        let data = ir.op(op);
        if matches!(data.form, Form::Broken | Form::Opaque) {
            return Constant::Unknown;
        }
        if data.kind == OpKind::ArithConstant || data.kind == OpKind::FuncConstant {
            let attr = ir.attr(op, "value");
            let ty = ir.ty(data.results[result]);
            let Some(attr) = attr else { return Constant::Unknown };
            let elements = self.lists.read(ir, attr, ty);
            return elements.unwrap_or_else(|| Constant::of_attr(ir, attr, ty));
        }
        fold::fold(ir, op, result, operands, &mut self.lists)
    }

    fn interval(&self, interner: &Interner, ty: Type, fact: &Constant) -> Option<Interval> {
        Some(fact.interval(interner, ty))
    }
}
