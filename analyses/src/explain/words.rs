//! Facts in words.

use noisy_syntax::Value;

use crate::facts::noise::model::Bits;
use crate::program::Program;
use noisy_integers::constant::is_defined_by_constant_op;

/// Describes the range of an integer in words; `None` for a constant, and for a range that is not
/// smaller than that of its type.
pub fn integer_in_words(program: &Program, value: Value) -> Option<String> {
    let is_written = is_defined_by_constant_op(program.ir(), value);
    (!is_written).then(|| program.integers().range(value).description()).flatten()
}

/// Describes noise over the budget: `%5: noise may reach 48 bits at iteration 3 of the loop, 22
/// over the 26-bit budget`. `at` is the iteration with a leading blank, or empty.
pub(crate) fn excess_in_words(program: &Program, value: Value, noise: Bits, at: &str) -> String {
    let (name, budget) = (program.ir().value_text(value), program.model().budget);
    if noise == Bits::MAX {
        return format!("{name}: noise may exceed 2^32 bits{at}, over the {budget}-bit budget");
    }
    let over = noise.saturating_sub(budget);
    format!("{name}: noise may reach {noise} bits{at}, {over} over the {budget}-bit budget")
}

/// Returns the name of an op without its dialect: `reduce_noise`.
pub(crate) fn short_name(op: &str) -> &str {
    op.rsplit('.').next().unwrap_or_default()
}
