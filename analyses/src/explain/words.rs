//! Facts in words.

use noisy_syntax::Value;

use crate::integers::constant::is_written;
use crate::noise::model::Bits;
use crate::program::Program;

/// Where an integer lies, in words, if that is more than its type says and it is no constant as it is written.
pub fn integer_in_words(program: &Program, value: Value) -> Option<String> {
    let is_written = is_written(program.ir(), value);
    (!is_written).then(|| program.integers().range(value).in_words()).flatten()
}

/// What noise over the budget says of a value: `%5: noise may reach 48 bits at iteration 3 of the loop, 22 over the 26-bit budget`.
/// `at` says when, with a blank in front, or nothing.
pub(crate) fn excess_in_words(program: &Program, value: Value, noise: Bits, at: &str) -> String {
    let (name, budget) = (program.ir().value_text(value), program.model().budget);
    if noise == Bits::MAX {
        return format!("{name}: noise may exceed 2^32 bits{at}, over the {budget}-bit budget");
    }
    let over = noise.saturating_sub(budget);
    format!("{name}: noise may reach {noise} bits{at}, {over} over the {budget}-bit budget")
}

/// An op's name without its dialect: `reduce_noise`.
pub(crate) fn short_name(op: &str) -> &str {
    op.rsplit('.').next().unwrap_or_default()
}
