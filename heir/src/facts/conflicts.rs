//! Values whose uses disagree. HEIR may annotate them with other numbers than those that follow
//! from the ops that compute them:
//!
//! - A plaintext that ops need at several levels. HEIR encodes it once, for the largest level, and
//!   assumes this level for all values that are computed with it.
//! - A ciphertext where branches meet or a loop starts, if one of its possible values is a
//!   plaintext that is encoded for more used levels or with more polynomials.
//! - A value with a ciphertext type that a call passes at another level than the callee takes.
//! - A value that a loop carries, if the yielded value has more levels used and is computed with a
//!   plaintext. HEIR carries the larger of both levels.
//! - A yielded value of a loop, also through branches that meet, if it has more levels used or more
//!   polynomials than the initial value of the loop.
//!
//! *Source.* HEIR 2026.9.1, measured with `--annotate-level` and `--annotate-mgmt`. *Cost.* The
//! uses of a value.

use noisy_syntax::{Def, Ir, OpKind, Value};
use rustc_hash::FxHashSet;

use crate::facts::fact::{Ciphertext, Dimension, Level, NumberSources};
use crate::facts::loops;
use crate::facts::plaintext::{self, DemandOf};
use crate::ops::rules;
use crate::text::types;
use noisy_dataflow::flow::{self, Flow};

/// Returns the sources of the numbers of a value; unchecked where its uses disagree.
pub(crate) fn conflicting_numbers(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
    source: DemandOf<'_>,
) -> NumberSources {
    let mut out = NumberSources::FRESH;
    let (level, dimension) = match of(value) {
        Ciphertext::Plain => {
            let mut wanted = |it: Value| source(it).level;
            let most = plaintext::conflicting_level(ir, of, value, &mut wanted);
            out.level.set_unchecked_if(most.is_some());
            return out;
        }
        Ciphertext::Encrypted { level, dimension } => (level, dimension),
        Ciphertext::Bottom | Ciphertext::Unknown => return out,
    };
    if is_passed_at_other_level(ir, value, of) {
        return NumberSources::UNCHECKED;
    }
    if !matches!(ir.value(value).def, Def::Result(op, _) if ir.op(op).regions.is_empty()) {
        out = plaintext::numbers_raised_by_plaintexts(ir, value, of, source);
        out.level.set_unchecked_if(is_varying_with_plaintext(ir, value, of));
    }
    for (taken_level, taken_dimension) in initial_numbers_of_loops(ir, value, of) {
        out.level.set_unchecked_if(taken_level < level);
        out.dimension.set_unchecked_if(taken_dimension < dimension);
    }
    out
}

/// Returns true if a loop carries a value, and the yielded value has more levels used and is
/// computed with a plaintext.
fn is_varying_with_plaintext(ir: &Ir, value: Value, of: &dyn Fn(Value) -> Ciphertext) -> bool {
    let holder = match ir.value(value).def {
        Def::Result(op, _) => Some(op),
        Def::Argument(block, _) => ir.region(ir.block(block).region).parent,
    };
    let Some(holder) = holder.filter(|&it| loops::is_loop(ir, it)) else { return false };
    let feeders = flow::feeding_values(ir, value);
    let taken = feeders.iter().find(|it| it.0 == holder).and_then(|it| of(it.1).level());
    let meets_plaintext = |value: Value| {
        let Def::Result(op, _) = ir.value(value).def else { return false };
        ir.op(op).operands.iter().enumerate().any(|(at, it)| {
            it.value.is_some_and(|it| of(it) == Ciphertext::Plain)
                && rules::is_plaintext_operand(ir, op, at)
        })
    };
    loops::trip_count(ir, holder) != Some(1)
        && feeders.iter().any(|&(op, yielded)| {
            op != holder && taken < of(yielded).level() && meets_plaintext(yielded)
        })
        && taken.is_some()
}

/// Returns true if a call passes a value at another level than its callee takes, and the type of
/// the value is that of a ciphertext.
pub(crate) fn is_passed_at_other_level(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
) -> bool {
    let differs = |&(user, index): &(_, u32)| {
        if ir.op(user).kind != OpKind::FuncCall {
            return false;
        }
        let body = flow::callee(ir, user).and_then(|it| flow::function_body(ir, it));
        let args = body.map(|it| &ir.block(flow::entry_block(ir, it)).args);
        let arg = args.and_then(|it| it.get(index as usize));
        arg.is_some_and(|&it| of(it).level() != of(value).level())
    };
    ir.value(value).uses.iter().any(differs) && types::has_ciphertext_type(ir, value)
}

/// Returns the levels and dimensions of the initial values of the loops that yield a value, also
/// through branches that meet.
fn initial_numbers_of_loops(
    ir: &Ir,
    value: Value,
    of: &dyn Fn(Value) -> Ciphertext,
) -> Vec<(Level, Dimension)> {
    let mut out = Vec::new();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        for &(user, index) in &ir.value(value).uses {
            let Some(holder) = ir.parent_op(user).filter(|_| flow::is_yield(ir, user)) else {
                continue;
            };
            if Flow::of(ir, holder) == Flow::Choice {
                stack.extend(flow::fed_values(ir, user, index as usize));
                continue;
            }
            loops::visit_carried_by(ir, holder, &mut |it| {
                if it.uses[1] == (user, index)
                    && it.is_repeated
                    && let Ciphertext::Encrypted { level, dimension } = of(it.init)
                {
                    out.push((level, dimension));
                }
            });
        }
    }
    out
}

/// Returns the values whose conflict may have changed because facts near some values changed: these
/// values, the plaintexts that encode them, and the plaintexts that become them where branches
/// meet.
pub(crate) fn affected_values(ir: &Ir, values: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut out = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack: Vec<Value> = values.collect();
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        out.push(value);
        let users = ir.value(value).uses.iter().map(|it| it.0);
        let carried = ir.value(value).uses.iter().filter(|it| flow::is_yield(ir, it.0));
        stack.extend(carried.flat_map(|&(user, index)| flow::fed_values(ir, user, index as usize)));
        let encoding = users.filter(|&it| ir.op_name(it) == "mgmt.init");
        stack.extend(encoding.flat_map(|it| ir.op(it).results.iter().copied()));
        if let Def::Result(op, _) = ir.value(value).def
            && Flow::of(ir, op) == Flow::Choice
        {
            stack.extend(flow::feeding_values(ir, value).into_iter().map(|it| it.1));
        }
    }
    out
}
