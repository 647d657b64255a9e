//! What an analysis runs on: the program, and the analyses that were solved before.

use std::ops::Deref;

use noisy_syntax::{Interner, Ir, Type, Value};

use crate::flow::Interval;

/// What an analysis stands on, solved before. It answers from its facts alone, of which it tells which moved.
pub trait Base {
    /// What it knows of a value.
    type Known<'a>
    where
        Self: 'a;

    /// What it knows of a value of a type.
    fn known(&self, interner: &Interner, ty: Type, value: Value) -> Self::Known<'_>;

    /// Where an integer of a type lies: it decides where control goes and how often loops run.
    fn interval(&self, interner: &Interner, ty: Type, value: Value) -> Interval;
}

/// An analysis that stands on nothing.
impl Base for () {
    type Known<'a> = ();

    fn known(&self, _: &Interner, _: Type, _: Value) {}

    fn interval(&self, _: &Interner, _: Type, _: Value) -> Interval {
        Interval::Any
    }
}

/// What an analysis is run on: the program, and what was solved before. It reads as the [`Ir`].
#[derive(Debug)]
pub struct Input<'a, B> {
    /// The program.
    pub ir: &'a Ir,
    /// What the analysis stands on.
    pub base: &'a B,
}

impl<B> Deref for Input<'_, B> {
    type Target = Ir;

    #[inline]
    fn deref(&self) -> &Ir {
        self.ir
    }
}
