//! The noise model, as far as rewriting needs it.

use noisy_analyses::NoiseModel;

/// Largest budget for which weights of noise fit into 64 bits.
const MOST_BUDGET: u32 = 48;

/// Bits of a plaintext: a `!noisy.i32` holds an integer modulo 2^5.
pub(crate) const BITS: u32 = 5;

/// The numbers of a model in which a sum has the noise of its noisier operand plus one, and a
/// product the sum of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    /// Noise after a reduction.
    pub reset: u32,
    /// Largest legal noise.
    pub budget: u32,
    /// Noise that an addition or a subtraction adds.
    pub add: u32,
    /// Values are integers modulo this power of two, less one.
    pub mask: u64,
}

impl Scale {
    /// The numbers of a model; `None` if its noise grows by other rules.
    pub(crate) fn of(model: &NoiseModel) -> Option<Self> {
        let tutorial = NoiseModel::tutorial();
        let is_same = |name| model.rule(name) == tutorial.rule(name);
        let names = ["noisy.add", "noisy.sub", "noisy.mul", "noisy.reduce_noise", "noisy.encode"];
        let scale =
            Self { reset: model.fresh, budget: model.budget, add: 1, mask: (1 << BITS) - 1 };
        let is_fine = names.into_iter().all(is_same)
            && model.reset_name() == "reduce_noise"
            && scale.reset < scale.budget
            && scale.budget <= MOST_BUDGET;
        is_fine.then_some(scale)
    }

    #[cfg(test)]
    pub(crate) fn tutorial() -> Self {
        Self { reset: 12, budget: 26, add: 1, mask: (1 << BITS) - 1 }
    }

    /// The share of the budget that a term of a sum takes: a balanced sum of terms is legal if
    /// their weights add up to no more than the weight of the budget (the inequality of Kraft).
    pub(crate) fn weight(noise: u32) -> u64 {
        1 << noise.min(62)
    }
}
