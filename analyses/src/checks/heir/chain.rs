//! The ops that changed the level or dimension of a HEIR ciphertext, as related information.

use noisy_syntax::Value;

use crate::explain::value_range;
use crate::program::Program;
use crate::report::diagnostic::Related;
use noisy_heir::{Heir, NumberKind};

/// Returns the ops on the path to a value that changed its level or its dimension.
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
