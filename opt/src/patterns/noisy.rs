//! Patterns of `noisy`. No pattern increases the noise of a value.

use noisy_syntax::{Op, OpKind};

use super::patterns;
use crate::rewrite::Rewriter;
use crate::rewrite::greedy::Pattern;

pub(super) const PATTERNS: &[Pattern] = patterns! {
    NoisyReduceNoise: reduce_of_fresh;
};

/// Removes a reduction of a value that was just encoded or reduced and therefore has fresh noise.
fn reduce_of_fresh(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let value = rewriter.operand(op, 0);
    let is_fresh = rewriter.defined_by(value, OpKind::NoisyReduceNoise).is_some()
        || rewriter.defined_by(value, OpKind::NoisyEncode).is_some();
    if is_fresh {
        rewriter.replace(op, &[value]);
    }
    is_fresh
}
