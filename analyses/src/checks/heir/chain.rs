//! The ops that changed the level or dimension of a HEIR ciphertext, as related information.

use noisy_syntax::Value;

use crate::explain::value_range;
use crate::program::Program;
use crate::report::diagnostic::RelatedLocation;
use noisy_heir::{CiphertextFacts, NumberKind};

/// Returns the ops on the path to a value that changed its level or its dimension.
pub(in crate::checks) fn chain_locations(
    program: &Program,
    heir: &CiphertextFacts,
    value: Value,
    of: NumberKind,
) -> Vec<RelatedLocation> {
    let ir = program.ir();
    let steps = noisy_heir::number_chain(ir, heir, value, of).into_iter();
    steps
        .map(|(value, message)| RelatedLocation { range: value_range(ir, value), message })
        .collect()
}
