//! Facts in words.

use noisy_syntax::Value;

use crate::constant::is_written;
use crate::program::Program;

/// Where an integer lies, in words, if that is more than its type says and it is no constant as it is written.
pub fn integer_in_words(program: &Program, value: Value) -> Option<String> {
    let is_written = is_written(program.ir(), value);
    (!is_written).then(|| program.integers().range(value).in_words()).flatten()
}
