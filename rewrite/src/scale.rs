//! The parameters of the noise model for rewriting.

use noisy_analyses::NoiseModel;

/// Largest supported budget: sums of weights ([`NoiseParameters::weight`]) then fit into 64 bits.
const MAX_BUDGET: u32 = 48;

/// Number of bits of a plaintext: a `!noisy.i32` contains an integer modulo 2^5.
pub(crate) const PLAINTEXT_BITS: u32 = 5;

/// The parameters of a model in which the noise of a sum is the maximum over its operands plus
/// `add`, and the noise of a product is the sum over its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoiseParameters {
    /// Noise after a reduction.
    pub reset: u32,
    /// Largest legal noise.
    pub budget: u32,
    /// Noise that an addition or a subtraction adds.
    pub add: u32,
    /// The modulus of the plaintexts minus one; the modulus is a power of two.
    pub mask: u64,
}

impl NoiseParameters {
    /// Returns the parameters of a model; `None` if its noise grows by other rules.
    pub(crate) fn of(model: &NoiseModel) -> Option<Self> {
        let tutorial = NoiseModel::tutorial();
        let is_same = |name| model.rule(name) == tutorial.rule(name);
        let names = ["noisy.add", "noisy.sub", "noisy.mul", "noisy.reduce_noise", "noisy.encode"];
        let scale = Self {
            reset: model.fresh,
            budget: model.budget,
            add: 1,
            mask: (1 << PLAINTEXT_BITS) - 1,
        };
        let is_fine = names.into_iter().all(is_same)
            && model.reset_name() == "reduce_noise"
            && scale.reset < scale.budget
            && scale.budget <= MAX_BUDGET;
        is_fine.then_some(scale)
    }

    #[cfg(test)]
    pub(crate) fn tutorial() -> Self {
        Self { reset: 12, budget: 26, add: 1, mask: (1 << PLAINTEXT_BITS) - 1 }
    }

    /// Returns the weight `2^noise` of a term of a sum. A balanced sum is legal if the weights of
    /// its terms add up to at most the weight of the budget (Kraft's inequality).
    pub(crate) fn weight(noise: u32) -> u64 {
        1 << noise.min(62)
    }
}
