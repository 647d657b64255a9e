//! The ops that changed the level or degree of a ciphertext of HEIR's, as related information.

use noisy_syntax::Value;

use crate::explain::value_range;
use crate::program::Program;
use crate::report::diagnostic::Related;
use noisy_heir::{Heir, NumberKind};

/// The ops that used up levels or multiplied, up to a value.
pub(in crate::checks) fn related(
    program: &Program,
    heir: &Heir,
    value: Value,
    of: NumberKind,
) -> Vec<Related> {
    let ir = program.ir();
    let steps = noisy_heir::chain(ir, heir, value, of).into_iter();
    steps.map(|(value, message)| Related { range: value_range(ir, value), message }).collect()
}
