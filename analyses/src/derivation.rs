//! Where a number comes from: the chain of ops that fed the noise of a value, as data.

use std::ops::Range;

use noisy_syntax::{Op, Value};

use crate::fact::Noise;

/// One step of a derivation: a value and the rule that gave it its noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The value.
    pub value: Value,
    /// The op that defines it, or the label or the op whose header does.
    pub op: Option<Op>,
    /// The part of the op that computes it, in bytes of the text.
    pub range: Range<usize>,
    /// Its noise.
    pub noise: Noise,
    /// The rule with its numbers: `12 + 12 = 24`, `max(24, 12) + 1 = 25`, `fresh: 12`.
    pub rule: String,
}

/// How the noise of a value came about, from a source to the value, following the noisier operand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derivation {
    /// The steps, the value's own last. Empty for a value without noise.
    pub steps: Vec<Step>,
    /// The chain is longer: its first steps were left out.
    pub shortened: bool,
}
