//! The input of an analysis: the program, and the analyses that were solved before.

use std::ops::Deref;

use noisy_syntax::{Interner, Ir, Type, Value};

use crate::flow::Interval;

/// The analyses that are solved before another analysis, which reads their facts.
pub trait BaseAnalyses {
    /// The facts of all these analyses about a value.
    type Facts<'a>
    where
        Self: 'a;

    /// Returns the facts about a value, which has the type `ty`.
    fn facts_of(&self, interner: &Interner, ty: Type, value: Value) -> Self::Facts<'_>;

    /// Returns the range of an integer, which has the type `ty`. It determines the taken
    /// branches and the trip counts.
    fn interval(&self, interner: &Interner, ty: Type, value: Value) -> Interval;
}

/// The base of an analysis that reads no other analysis.
impl BaseAnalyses for () {
    type Facts<'a> = ();

    fn facts_of(&self, _: &Interner, _: Type, _: Value) {}

    fn interval(&self, _: &Interner, _: Type, _: Value) -> Interval {
        Interval::Unknown
    }
}

/// The input of an analysis. It dereferences to the [`Ir`].
#[derive(Debug)]
pub struct AnalysisInput<'a, B> {
    /// The program.
    pub ir: &'a Ir,
    /// The analyses that were solved before.
    pub base: &'a B,
}

impl<B> Deref for AnalysisInput<'_, B> {
    type Target = Ir;

    #[inline]
    fn deref(&self) -> &Ir {
        self.ir
    }
}
