//! The layers below noise and scales: facts of integers, and of the levels of ciphertexts.

use std::sync::OnceLock;

use noisy_syntax::{Delta, Interner, Ir, Type, Value};

use crate::facts::fact::Ciphertext;
use crate::facts::known::Heir;
use crate::facts::upkeep::{Kept, Upkept};
use noisy_dataflow::flow::Interval;
use noisy_dataflow::sparse::{Base, Moved};
use noisy_integers::Integers;

/// The facts of integers and of ciphertexts, always for the same text.
#[derive(Debug)]
pub struct Solved {
    integers: Integers,
    /// Computed at the first query, and updated after edits, or discarded.
    heir: OnceLock<Option<Box<Kept>>>,
}

/// The facts of a value below its noise and its scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LowerFacts {
    /// The kind of the value.
    pub(crate) ciphertext: Ciphertext,
    /// The remaining levels.
    pub(crate) left: Option<usize>,
    /// True if the type of the value is one of a scheme or a library.
    pub(crate) is_lowered: bool,
}

impl Solved {
    /// Solves integers from scratch.
    pub fn new(ir: &Ir) -> Self {
        Self::of(Integers::new(ir))
    }

    /// Solves several programs from scratch, step by step for all together.
    pub fn all<'a>(irs: impl Iterator<Item = &'a Ir> + Clone) -> Vec<Self> {
        Integers::all(irs).into_iter().map(Self::of).collect()
    }

    fn of(integers: Integers) -> Self {
        Self { integers, heir: OnceLock::new() }
    }

    /// Returns the facts of integers.
    pub fn integers(&self) -> &Integers {
        &self.integers
    }

    /// Returns the facts of ciphertexts; `None` if the program is not a HEIR program.
    pub fn heir(&self, ir: &Ir) -> Option<&Heir> {
        let kept = || Kept::new(ir, &self.integers).map(Box::new);
        self.heir.get_or_init(kept).as_deref().map(|it| &it.heir)
    }

    /// Applies an edit. Returns its effect on the facts of ciphertexts; `None` if these must be
    /// recomputed.
    pub fn update(&mut self, ir: &Ir, delta: &Delta) -> Option<Upkept> {
        self.integers.update(ir, delta);
        let integers = &self.integers;
        let moved = self.heir.get_mut()?.as_mut().and_then(|it| it.update(ir, integers, delta));
        if moved.is_none() {
            self.heir = OnceLock::new();
        }
        moved
    }

    /// Returns the values whose facts below noise and scales changed: those of integers, and
    /// `values`.
    pub fn moved(&self, values: Vec<Value>) -> Moved {
        self.integers.moved().and(&Moved::These(values))
    }
}

impl Base for Solved {
    type Facts<'a> = LowerFacts;

    fn known(&self, interner: &Interner, ty: Type, value: Value) -> LowerFacts {
        let kept = self.heir.get().and_then(Option::as_deref);
        let heir = kept.map(|it| &it.heir);
        heir.map_or_else(LowerFacts::default, |it| LowerFacts {
            ciphertext: it.ciphertext(value),
            left: it.left(value),
            is_lowered: it.is_lowered_type(interner, ty),
        })
    }

    fn interval(&self, interner: &Interner, ty: Type, value: Value) -> Interval {
        Base::interval(&self.integers, interner, ty, value)
    }
}
