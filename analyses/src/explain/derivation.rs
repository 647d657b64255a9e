//! Derivations: the chain of ops from which the noise of a value comes, as data.
//!
//! The walk starts at the value and goes backward, at each step to the noisiest operand. Unknown
//! noise counts as the largest, and the first of equal operands is chosen. The walk ends at a
//! source: a fresh value, a reset, an argument, or an op with unknown noise. Most chains are short,
//! because only few ops can add noise before the budget is exceeded. But a chain may have many
//! values without growth (block arguments, results of regions), so the walk ends after
//! [`MAX_STEPS`].

use std::collections::hash_map::Entry;
use std::ops::Range;

use noisy_syntax::{Def, Form, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::noise::Noise;
use crate::facts::noise::contract::{self, ValueSide};
use crate::facts::noise::model::{Bits, Growth};
use crate::program::Program;
use noisy_dataflow::flow;

use super::place::value_range;
use super::words::short_name;

/// Maximum number of steps of a derivation.
pub const MAX_STEPS: usize = 64;

/// Rule of a value that is passed on with unbounded noise.
const UNBOUNDED: &str = "unbounded";
/// Rule of a value with unbounded noise to which a loop or an op adds.
const GROWS: &str = "grows with each iteration: unbounded";
/// Replaces both if the noise saturates because of sums and not because of a loop.
const TOO_LARGE: &str = "over 2^32 bits";
/// Rule of a value with an operand of unknown noise.
const UNKNOWN_OPERAND: &str = "unknown: the noise of an operand is unknown";

/// A step of a derivation: a value and the rule from which its noise follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivationStep {
    pub value: Value,
    /// The op that defines the value; for a block argument, the label or the parent op.
    pub op: Option<Op>,
    /// The core of the op that computes the value, or the name of an argument, in bytes of the
    /// text.
    pub range: Range<usize>,
    pub noise: Noise,
    /// The rule with its numbers, in bits: `12 + 12 = 24`, `max(24, 12) + 1 = 25`, `freshly
    /// encoded: 12`.
    pub rule: String,
}

/// The derivation of the noise of a value, from a source to the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derivation {
    /// The steps, ending at the value itself. Empty for a value without noise.
    pub steps: Vec<DerivationStep>,
    /// True if the chain is longer than [`MAX_STEPS`] and the steps nearest to its source are
    /// omitted.
    pub is_shortened: bool,
}

impl Derivation {
    /// Returns at most `n` steps: a third from the start, the others from the end. If steps are
    /// omitted, also returns their index and number.
    pub fn brief(&self, n: usize) -> (Vec<&DerivationStep>, Option<(usize, usize)>) {
        let len = self.steps.len();
        if len <= n || n < 2 {
            return (self.steps.iter().collect(), None);
        }
        let head = n / 3;
        let tail = n - head;
        let shown = self.steps[..head].iter().chain(&self.steps[len - tail..]).collect();
        (shown, Some((head, len - n)))
    }
}

/// Derives the noise of a value; `known` caches the results of [`saturates`].
pub fn derivation(program: &Program, value: Value, known: &mut SaturationCache) -> Derivation {
    let ir = program.ir();
    let mut out = Derivation::default();
    let mut seen = FxHashSet::default();
    let mut at = Some(value);
    while let Some(value) = at {
        let noise = *program.noise(value);
        if noise == Noise::Bottom {
            break;
        }
        if out.steps.len() == MAX_STEPS {
            out.is_shortened = true;
            break;
        }
        if !seen.insert(value) {
            break;
        }
        let (rule, next) = explain(program, value, noise);
        out.steps.push(DerivationStep {
            value,
            op: ir.definition_site(value),
            range: value_range(ir, value),
            noise,
            rule,
        });
        at = next;
    }
    out.steps.reverse();
    if saturates(program, value, known) {
        for step in &mut out.steps {
            if step.rule == UNBOUNDED || step.rule == GROWS {
                TOO_LARGE.clone_into(&mut step.rule);
            }
        }
    }
    out
}

/// Cache of [`saturates`]: values whose noise is `Bits::MAX`, with true if it became so large
/// without a loop.
pub type SaturationCache = FxHashMap<Value, bool>;

/// Returns true if the noise of a value is `Bits::MAX` because sums saturate: the walk to the
/// noisiest operands then reaches a value with less noise. If instead a loop adds noise in each
/// iteration, the walk ends in a cycle. The result is cached for all values of the walk.
pub fn saturates(program: &Program, value: Value, known: &mut SaturationCache) -> bool {
    let mut way = Vec::new();
    let mut at = value;
    let answer = loop {
        let noise = *program.noise(at);
        if noise.hi() != Some(Bits::MAX) {
            break !way.is_empty();
        }
        // A value that the walk reaches again is in a loop; its entry is still `false`.
        match known.entry(at) {
            Entry::Occupied(it) => break *it.get(),
            Entry::Vacant(it) => it.insert(false),
        };
        way.push(at);
        match explain(program, at, noise).1 {
            Some(next) => at = next,
            None => break false,
        }
    };
    known.extend(way.into_iter().map(|it| (it, answer)));
    answer
}

/// Returns the rule from which the noise of a value follows, with numbers, and the noisiest
/// operand.
fn explain(program: &Program, value: Value, noise: Noise) -> (String, Option<Value>) {
    let ir = program.ir();
    let feeders = flow::feeding_values(ir, value);
    if !feeders.is_empty() {
        let mut values: Vec<Value> = Vec::new();
        for (_, value) in feeders {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let noises: Vec<Noise> = values.iter().map(|&it| *program.noise(it)).collect();
        let blamed = values.get(noisiest(&noises)).copied();
        return (join_text(ir, value, &noises, noise), blamed);
    }
    match ir.value(value).def {
        Def::Argument(block, index) => {
            let region = ir.block(block).region;
            let holder = ir.region(region).parent;
            let function = holder.filter(|&it| ir.op(it).kind == OpKind::FuncFunc);
            let (Some(function), Some(hi)) = (function, noise.hi()) else {
                return (format!("argument: {noise}"), None);
            };
            explain_argument(program, function, index as usize, hi)
        }
        Def::Result(op, index) => explain_result(program, op, index, noise),
    }
}

/// Returns the rule of a function argument, and the operand of a call that passes its noise.
fn explain_argument(
    program: &Program,
    function: Op,
    index: usize,
    hi: Bits,
) -> (String, Option<Value>) {
    let ir = program.ir();
    if contract::of(ir, function, ValueSide::Argument, index).is_some() {
        return (format!("declared bound: {hi}"), None);
    }
    let contexts = program.contexts(function);
    let context =
        contexts.iter().find(|it| it.args.get(index).is_some_and(|it| it.hi() == Some(hi)));
    let call = context
        .filter(|it| !it.is_assumed)
        .and_then(|it| it.calls().min_by_key(|&it| ir.start(it)));
    match call {
        Some(call) => {
            let passed = ir.op(call).operands.get(index).and_then(|it| it.value);
            let how = if hi == Bits::MAX {
                UNBOUNDED.to_owned()
            } else {
                format!("passed by a call: {hi}")
            };
            (how, passed)
        }
        None => (format!("argument, assumed fresh: {hi}"), None),
    }
}

/// Returns the rule of a call with an analyzed callee, and its noisiest operand.
fn explain_call(program: &Program, call: Op, noise: Noise) -> Option<(String, Option<Value>)> {
    let ir = program.ir();
    let function = flow::callee(ir, call)?;
    flow::function_body(ir, function)?;
    let hi = noise.hi()?;
    let values: Vec<Option<Value>> = ir.op(call).operands.iter().map(|it| it.value).collect();
    let values: Vec<Value> =
        values.into_iter().flatten().filter(|&it| program.is_noisy(it)).collect();
    let noises: Vec<Noise> = values.iter().map(|&it| *program.noise(it)).collect();
    let blamed = values.get(noisiest(&noises)).copied();
    if hi == Bits::MAX {
        return Some((UNBOUNDED.to_owned(), blamed));
    }
    let name = program.function_name(function);
    Some((format!("@{name}({}) = {hi}", numbers(&noises).join(", ")), blamed))
}

fn explain_result(program: &Program, op: Op, index: u32, noise: Noise) -> (String, Option<Value>) {
    let (ir, model) = (program.ir(), program.model());
    if ir.op(op).kind == OpKind::FuncCall
        && let Some(it) = explain_call(program, op, noise)
    {
        return it;
    }
    let name = ir.op_name(op);
    let rule = model.rule(name).filter(|_| ir.op(op).form != Form::Broken);
    let Some(rule) = rule else {
        let what = match noise.hi() {
            Some(hi) => match flow::callee(ir, op).filter(|_| ir.op(op).kind == OpKind::FuncCall) {
                Some(function) => {
                    format!("declared bound of @{}: {hi}", program.function_name(function))
                }
                None => format!("declared bound: {hi}"),
            },
            None if name.is_empty() => "unknown: this op has an error".to_owned(),
            None => format!("unknown: the noise model has no rule for {name}"),
        };
        return (what, None);
    };
    let Some(growth) = model.growth(ir, op, rule) else {
        return (
            format!("unknown: the noise rule of {name} needs an attribute that is missing"),
            None,
        );
    };
    if !model.is_noisy_result(rule, index as usize) {
        return ("carries no noise: 0".to_owned(), None);
    }
    let values: Vec<Option<Value>> = model.carriers(ir, op, rule).collect();
    let noises: Vec<Noise> = values
        .iter()
        .map(|it| it.map_or(Noise::Unknown, |it| program.noise_or_unknown(it)))
        .collect();
    let blamed = values.get(noisiest(&noises)).copied().flatten();
    let Some(hi) = noise.hi() else {
        return (UNKNOWN_OPERAND.to_owned(), blamed);
    };
    if hi == Bits::MAX {
        return (GROWS.to_owned(), blamed);
    }
    let text = match growth {
        Growth::Fresh(_) => return (format!("freshly encoded: {hi}"), None),
        Growth::Reset(_) => return (format!("after {}: {hi}", short_name(name)), None),
        Growth::Max(k) => {
            let all = numbers(&noises);
            let all = match &all[..] {
                [one] => one.clone(),
                all => format!("max({})", all.join(", ")),
            };
            equation(&all, k, hi)
        }
        Growth::Sum(k) => equation(&numbers(&noises).join(" + "), k, hi),
    };
    // In a loop, the operands need not have their largest noise in the same iteration.
    let now = Noise::after(growth, &noises);
    if now.hi() == Some(hi) {
        (text, blamed)
    } else {
        (format!("at most {hi} in any iteration"), blamed)
    }
}

fn equation(left: &str, k: Bits, hi: Bits) -> String {
    if k == 0 { format!("{left} = {hi}") } else { format!("{left} + {k} = {hi}") }
}

fn numbers(noises: &[Noise]) -> Vec<String> {
    noises.iter().map(|it| it.hi().map_or("?".to_owned(), |hi| hi.to_string())).collect()
}

/// Returns the rule of a value that joins several incoming values: a block argument, or a result of
/// an op with regions.
fn join_text(ir: &Ir, value: Value, noises: &[Noise], noise: Noise) -> String {
    let Some(hi) = noise.hi() else { return UNKNOWN_OPERAND.to_owned() };
    let (is_carried, how) = match ir.value(value).def {
        Def::Result(..) => (false, "yielded"),
        Def::Argument(block, _) if ir.block(block).label.is_some() => (true, "passed by branch"),
        Def::Argument(..) => (true, "passed to the region"),
    };
    if hi == Bits::MAX {
        return if is_carried { GROWS } else { UNBOUNDED }.to_owned();
    }
    let reached: Vec<Noise> = noises.iter().copied().filter(|it| *it != Noise::Bottom).collect();
    if reached.iter().filter_map(|it| it.hi()).max() != Some(hi) {
        return format!("at most {hi} in any iteration");
    }
    match numbers(&reached).as_slice() {
        [one] => format!("{how}: {one}"),
        all if all.len() <= 4 => format!("max({}) = {hi}", all.join(", ")),
        all => format!("max of {} incoming values = {hi}", all.len()),
    }
}

/// Returns the index of the largest noise. Unknown counts as the largest; the first of equal ones
/// is chosen.
fn noisiest(noises: &[Noise]) -> usize {
    let rank = |noise: &Noise| match *noise {
        Noise::Bottom => 0,
        Noise::AtMost(hi) => 1 + u64::from(hi),
        Noise::Unknown => u64::MAX,
    };
    let mut best = 0;
    for (index, noise) in noises.iter().enumerate() {
        if rank(noise) > rank(&noises[best]) {
            best = index;
        }
    }
    best
}
