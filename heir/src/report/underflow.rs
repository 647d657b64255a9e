//! Finds values for which levels run out, and loops and recursive calls that change the level of a
//! ciphertext.
//!
//! *Law.* The first value without a level is reported, whose operands still have one. *Cost.* One
//! walk over the program.

use noisy_syntax::{Def, Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::{Ciphertext, Level};
use crate::facts::loops;
use crate::ops::rules;
use crate::text::annotation;
use noisy_dataflow::{cfg, flow};

/// A value for which no level remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelUnderflow {
    /// The value.
    pub value: Value,
    /// The levels that the value uses; `None` if all levels were dropped before.
    pub used_levels: Option<u32>,
    /// The available levels.
    pub n_available: u32,
}

/// Returns true if levels run out at a result of an op. `most` returns the available levels for a
/// value, if they are known.
pub(crate) fn is_out_of_levels(
    ir: &Ir,
    heir: &CiphertextFacts,
    most: &dyn Fn(Value) -> Option<u32>,
    value: Value,
) -> bool {
    let over = |value: Value| match heir.ciphertext(value) {
        _ if heir.is_level_unchecked(value) => false,
        Ciphertext::Encrypted { level, .. } => match level {
            Level::Used(n) => most(value).is_some_and(|most| n > most),
            Level::All => false,
            Level::Invalid => true,
        },
        _ => false,
    };
    let Def::Result(op, _) = ir.value(value).def else { return false };
    // Another check reports a value that a loop carries at another level.
    over(value)
        && ir.op(op).regions.is_empty()
        && rules::has_level_rule(ir.op_name(op))
        && !ir.op(op).operands.iter().filter_map(|it| it.value).any(over)
}

/// Creates the report for a value at which levels run out.
pub(crate) fn underflow(
    ir: &Ir,
    heir: &CiphertextFacts,
    most: &dyn Fn(Value) -> Option<u32>,
    value: Value,
) -> LevelUnderflow {
    let used = match heir.ciphertext(value).level() {
        Some(Level::Used(n)) => Some(n),
        _ => None,
    };
    let most = most(value).unwrap_or_else(|| heir.largest_level_around(ir, value));
    LevelUnderflow { value, used_levels: used, n_available: most }
}

/// A carried value of a loop whose initial and yielded values have different levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaryingLevel {
    /// The loop.
    pub op: Op,
    /// The initial value.
    pub init: Value,
    /// The block argument.
    pub carried: Option<Value>,
    /// The yielded value.
    pub yielded: Value,
    /// The used levels of the initial value.
    pub initial_levels: u32,
    /// True if HEIR lowers the loop next: it has placed modulus switches and chosen parameters.
    pub is_refused: bool,
}

/// Returns the carried values of a loop whose level changes; none for other ops.
pub(crate) fn varying_levels(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Vec<VaryingLevel> {
    let level = |value: Value| heir.ciphertext(value).level();
    let mut out = Vec::new();
    loops::visit_carried_by(ir, op, &mut |it| {
        let (Some(Level::Used(from)), Some(to)) = (level(it.init), level(it.yielded)) else {
            return;
        };
        // HEIR lowers a program according to the written levels.
        let written = |it: Value| annotation::annotated_number(ir, it, "level").number();
        let is_agreed = written(it.init).is_some() && written(it.init) == written(it.yielded);
        if it.is_repeated && to != Level::Used(from) && !is_agreed {
            out.push(VaryingLevel {
                op: it.op,
                init: it.init,
                carried: it.argument,
                yielded: it.yielded,
                initial_levels: from,
                is_refused: false,
            });
        }
    });
    out
}

/// A call in a recursion for which no level can be inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecursiveCall {
    /// The call.
    pub op: Op,
    /// The ciphertext.
    pub value: Value,
    /// The reason why it has no level.
    pub reason: NoLevelReason,
}

/// The reason why a ciphertext of a recursive call has no level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoLevelReason {
    /// Each recursive call passes it at another level.
    Passed,
    /// Each recursive call returns it at another level.
    Returned,
    /// No value is returned: the function calls itself before it returns.
    Endless,
}

/// Returns the first ciphertext of a call that has no level, and the reason. The call may be
/// outside of a recursion.
pub(crate) fn value_without_level(
    ir: &Ir,
    heir: &CiphertextFacts,
    op: Op,
) -> Option<(Value, NoLevelReason)> {
    let data = ir.op(op);
    if data.kind != OpKind::FuncCall {
        return None;
    }
    let level = |it: &Value| heir.ciphertext(*it).level();
    let mut operands = data.operands.iter().filter_map(|it| it.value);
    if let Some(it) = operands.clone().find(|it| level(it) == Some(Level::Invalid)) {
        return Some((it, NoLevelReason::Passed));
    }
    let mut results = data.results.iter().copied();
    if let Some(it) = results.clone().find(|it| level(it) == Some(Level::Invalid)) {
        return Some((it, NoLevelReason::Returned));
    }
    let is_reached = operands.any(|it| level(&it).is_some());
    let first = results.find(|&it| heir.ciphertext(it) == Ciphertext::Bottom);
    first.filter(|_| is_reached).map(|it| (it, NoLevelReason::Endless))
}

/// Returns the calls that are in a recursion, in the given order. *Cost.* Linear in the calls that
/// lead to the functions that contain `calls`.
pub(crate) fn recursions(ir: &Ir, heir: &CiphertextFacts, calls: &[Op]) -> Vec<RecursiveCall> {
    let (mut functions, mut numbers) = (Vec::new(), FxHashMap::default());
    let mut number = |functions: &mut Vec<Op>, it: Op| {
        *numbers.entry(it).or_insert_with(|| {
            functions.push(it);
            functions.len() as u32 - 1
        })
    };
    for function in calls.iter().filter_map(|&it| ir.function_of(it)) {
        number(&mut functions, function);
    }
    let mut callers: Vec<Vec<u32>> = Vec::new();
    while let Some(&function) = functions.get(callers.len()) {
        let of = flow::callers_of(ir, function).map(|it| number(&mut functions, it));
        callers.push(of.collect());
    }
    let mut callees = vec![Vec::new(); functions.len()];
    for (callee, of) in (0..).zip(&callers) {
        for &caller in of {
            callees[caller as usize].push(callee);
        }
    }
    let mut component = vec![0; functions.len()];
    for (at, functions) in cfg::components(&callees, &callers).iter().enumerate() {
        for &it in functions {
            component[it as usize] = at;
        }
    }
    let of = |function: Op| numbers.get(&function).map(|&it| component[it as usize]);
    let is_recursive = |&op: &Op| {
        let own = ir.function_of(op).and_then(of);
        own.is_some() && own == flow::callee(ir, op).and_then(of)
    };
    let calls = calls.iter().copied().filter(is_recursive);
    let of = |op: Op| {
        value_without_level(ir, heir, op).map(|(value, why)| RecursiveCall {
            op,
            value,
            reason: why,
        })
    };
    calls.filter_map(of).collect()
}
