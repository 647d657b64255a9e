//! What a loop carries with another level than it takes it.
//!
//! The level is part of a ciphertext's type after lowering, so HEIR demands that what a loop carries round has the level that it came in with. Where the level
//! that is yielded differs, the carried argument, the result, and what is yielded have no level. Source: HEIR, `lib/Analysis/LevelAnalysis`.

use noisy_syntax::{Def, Ir, Op, Region, Value};
use rustc_hash::FxHashSet;

use crate::flow::{self, Flow};

/// What a loop carries.
pub(super) struct Carried {
    /// The loop.
    pub(super) op: Op,
    /// What it takes.
    pub(super) init: Value,
    /// The argument that it is in each round.
    pub(super) argument: Option<Value>,
    /// What it is when it is done.
    pub(super) result: Option<Value>,
    /// What is given to the next round.
    pub(super) yielded: Value,
}

/// Tells all that loops of a region carry, in textual order.
pub(super) fn carried(ir: &Ir, within: Region, tell: &mut dyn FnMut(&Carried)) {
    ir.walk(within, &mut |op| {
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
                let argument = flow::carried_args(ir, data.regions[0].1, n).get(at).copied();
                let result = data.results.get(at).copied();
                tell(&Carried { op, init, argument, result, yielded });
            }
        }
    });
}

/// The arguments and results of all loops that vary in something.
pub(super) fn variant<T: PartialEq>(ir: &Ir, of: &dyn Fn(Value) -> Option<T>) -> FxHashSet<Value> {
    let mut out = FxHashSet::default();
    carried(ir, ir.root(), &mut |it| {
        let (Some(from), Some(to)) = (of(it.init), of(it.yielded)) else { return };
        if from != to {
            out.extend(it.argument);
            out.extend(it.result);
        }
    });
    out
}

/// What loops that vary give to their next rounds, and if that is the result of a choice, what its branches yield. They have levels, but HEIR writes on them what it writes on the result.
pub(super) fn yielded(ir: &Ir, variant: &FxHashSet<Value>) -> FxHashSet<Value> {
    let mut stack = Vec::new();
    carried(ir, ir.root(), &mut |it| {
        if it.result.is_some_and(|it| variant.contains(&it)) {
            stack.push(it.yielded);
        }
    });
    let mut out = FxHashSet::default();
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
    out
}
