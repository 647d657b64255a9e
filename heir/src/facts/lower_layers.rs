//! The layers below noise and scales: facts of integers, and of the levels of ciphertexts.

use std::sync::OnceLock;

use noisy_syntax::{Delta, Interner, Ir, Type, Value};

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::Ciphertext;
use crate::facts::incremental::{HeirEdit, IncrementalHeir};
use noisy_dataflow::flow::Interval;
use noisy_dataflow::sparse::{BaseAnalyses, ChangedValues};
use noisy_integers::Integers;

/// The facts of integers and of ciphertexts, always for the same text.
#[derive(Debug)]
pub struct LowerLayers {
    integers: Integers,
    /// Computed at the first query, and updated after edits, or discarded.
    heir: OnceLock<Option<Box<IncrementalHeir>>>,
}

/// The facts of a value below its noise and its scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LowerFacts {
    /// The kind of the value.
    pub(crate) ciphertext: Ciphertext,
    /// The remaining levels.
    pub(crate) remaining_levels: Option<usize>,
    /// True if the type of the value is one of a scheme or a library.
    pub(crate) is_lowered: bool,
}

impl LowerLayers {
    /// Solves integers from scratch.
    pub fn new(ir: &Ir) -> Self {
        Self::of(Integers::new(ir))
    }

    /// Solves several programs from scratch, step by step for all together.
    pub fn solve_all<'a>(irs: impl Iterator<Item = &'a Ir> + Clone) -> Vec<Self> {
        Integers::solve_all(irs).into_iter().map(Self::of).collect()
    }

    fn of(integers: Integers) -> Self {
        Self { integers, heir: OnceLock::new() }
    }

    /// Returns the facts of integers.
    pub fn integers(&self) -> &Integers {
        &self.integers
    }

    /// Returns the facts of ciphertexts; `None` if the program is not a HEIR program.
    pub fn heir(&self, ir: &Ir) -> Option<&CiphertextFacts> {
        let kept = || IncrementalHeir::new(ir, &self.integers).map(Box::new);
        self.heir.get_or_init(kept).as_deref().map(|it| &it.heir)
    }

    /// Applies an edit. Returns its effect on the facts of ciphertexts; `None` if these must be
    /// recomputed.
    pub fn update(&mut self, ir: &Ir, delta: &Delta) -> Option<HeirEdit> {
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
    pub fn changed_values(&self, values: Vec<Value>) -> ChangedValues {
        self.integers.changed_values().union(&ChangedValues::These(values))
    }
}

impl BaseAnalyses for LowerLayers {
    type Facts<'a> = LowerFacts;

    fn facts_of(&self, interner: &Interner, ty: Type, value: Value) -> LowerFacts {
        let kept = self.heir.get().and_then(Option::as_deref);
        let heir = kept.map(|it| &it.heir);
        heir.map_or_else(LowerFacts::default, |it| LowerFacts {
            ciphertext: it.ciphertext(value),
            remaining_levels: it.remaining_levels(value),
            is_lowered: it.is_lowered_type(interner, ty),
        })
    }

    fn interval(&self, interner: &Interner, ty: Type, value: Value) -> Interval {
        BaseAnalyses::interval(&self.integers, interner, ty, value)
    }
}
