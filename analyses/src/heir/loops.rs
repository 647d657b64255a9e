//! What a loop carries with another level than it takes it.
//!
//! The level is part of a ciphertext's type after lowering, so HEIR demands that what a loop carries round has the level that it came in with. Where the level
//! that is yielded differs, the carried argument, the result, and what is yielded have no level. Source: HEIR, `lib/Analysis/LevelAnalysis`.

use noisy_syntax::{Def, Ir, Value};
use rustc_hash::FxHashSet;

use super::ciphertext::Ciphertexts;
use crate::flow::{self, Flow};
use crate::sparse::Sparse;

/// The values of all loops that vary.
pub(super) fn variant(ir: &Ir, facts: &Sparse<Ciphertexts>) -> FxHashSet<Value> {
    let level = |value: Value| facts.fact(value).and_then(|it| it.level());
    let mut out = FxHashSet::default();
    ir.walk(ir.root(), &mut |op| {
        let data = ir.op(op);
        let (first, last) = match Flow::of(ir, op) {
            Flow::For { first } => (first, data.regions.first()),
            Flow::While => (0, data.regions.last()),
            _ => return,
        };
        let Some(&(_, region)) = last else { return };
        let n = data.operands.len() - first;
        for at in 0..n {
            let Some(init) = data.operands[first + at].value else { continue };
            for end in flow::yields(ir, region) {
                let index = flow::yielded(ir, end).start + at;
                let Some(yielded) = ir.op(end).operands.get(index).and_then(|it| it.value) else {
                    continue;
                };
                let (Some(from), Some(to)) = (level(init), level(yielded)) else { continue };
                if from != to {
                    let entry = data.regions[0].1;
                    out.extend(flow::carried_args(ir, entry, n).get(at).copied());
                    out.extend(data.results.get(at).copied());
                    yielded_by(ir, yielded, &mut out);
                }
            }
        }
    });
    out
}

/// What is yielded, and if that is the result of a choice, what its branches yield.
fn yielded_by(ir: &Ir, value: Value, out: &mut FxHashSet<Value>) {
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        if !out.insert(value) {
            continue;
        }
        if let Def::Result(op, _) = ir.value(value).def
            && Flow::of(ir, op) == Flow::Choice
        {
            stack.extend(flow::feeders(ir, value).into_iter().map(|it| it.1));
        }
    }
}
