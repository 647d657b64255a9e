//! Finds ciphertexts with more polynomials than an op takes: missing relinearizations.
//!
//! *Law.* `verdict/requirements.rs` lists the ops that take two polynomials, and the consequence
//! for a program in which they get more. The initial and the yielded value of a loop that runs more
//! than once must have the same number of polynomials, which is part of their type. The results of
//! a reported op are not reported again at later ops, unless the consequence there is more severe.
//! *Cost.* Linear in the ops with operands of more than two polynomials.
//!
//! Only functions that HEIR would lower next are checked: before HEIR has placed its `mgmt` ops,
//! nothing is missing yet.
//!
//! *Source.* HEIR, `lib/Dialect/LWE/IR/LWEOps.h`, and two measurements: `--secret-to-bgv` and
//! `--secret-to-ckks` refuse such loops, and its pipelines relinearize unrolled loops only.

use noisy_syntax::{Def, Ir, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::{Ciphertext, Dimension};
use crate::facts::loops;
use crate::ops::rules;
use crate::question;
use crate::verdict::requirements::{self, Condition, Consequence};
use noisy_dataflow::flow;

/// An operand with more polynomials than an op takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OversizedOperand {
    /// The op.
    pub op: Op,
    /// The value of the operand.
    pub value: Value,
    /// Number of polynomials of the operand.
    pub dimension: u32,
    /// Number of polynomials that the op takes.
    pub n_accepted: u32,
    /// True if the op is a loop or the terminator of one.
    pub is_carried: bool,
    /// The consequence.
    pub consequence: Consequence,
    /// True if HEIR lowers the function next. Otherwise it may still insert relinearizations.
    pub is_lowered_next: bool,
}

/// The progress of HEIR's passes at an op, as far as missing relinearizations are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ManagementProgress {
    /// True if HEIR has placed some of its `mgmt` ops in the function.
    pub(crate) is_managed: bool,
    /// True if HEIR lowers the function next, or has lowered it.
    pub(crate) is_lowered_next: bool,
}

/// Returns all missing relinearizations of a program. `wide` are the ops with an operand of more
/// than two polynomials, in textual order; `progress` returns the progress of HEIR at an op.
pub(crate) fn oversized_operands(
    ir: &Ir,
    heir: &CiphertextFacts,
    wide: &[Op],
    progress: &dyn Fn(Op) -> ManagementProgress,
) -> Vec<OversizedOperand> {
    let mut told = ReportedValues { ir, values: FxHashMap::default() };
    let mut out = Vec::new();
    for &op in wide {
        let data = ir.op(op);
        let is_carried =
            loops::is_loop(ir, op) || !ir.is_secret_yield(op) && flow::is_yield(ir, op);
        let requirement =
            requirements::requirement_on_op(ir.op_name(op), Condition::TwoPolynomials);
        let outcome = requirement.map_or(Consequence::Refused, |it| it.consequence);
        let ManagementProgress { is_managed, is_lowered_next } = progress(op);
        // The cost of a program without `mgmt` ops is unknown until HEIR places them.
        let is_judged = is_managed || is_lowered_next && outcome != Consequence::Slow;
        let limits = operand_limits(ir, heir, op);
        let mut now = None;
        for (at, operand) in data.operands.iter().enumerate() {
            let Some(value) = operand.value else { continue };
            let Some(dimension) = dimension_above_two(heir, value) else { continue };
            let before = told.most_severe(value);
            if before.is_some_and(|it| it <= outcome) {
                // The body of a loop may relinearize the value.
                now = before.filter(|_| data.regions.is_empty());
            } else if let Some(taken) = limits[at].filter(|&it| is_judged && it < dimension) {
                out.push(OversizedOperand {
                    op,
                    value,
                    dimension,
                    n_accepted: taken,
                    is_carried,
                    consequence: outcome,
                    is_lowered_next,
                });
                now = Some(outcome);
                break;
            } else if before.is_some() {
                now = before.filter(|_| data.regions.is_empty());
            }
        }
        if let Some(outcome) = now {
            told.add(&data.results, outcome);
            // The yielded value becomes the result of the op around.
            if flow::is_yield(ir, op) {
                let operands: Vec<Value> = data.operands.iter().filter_map(|it| it.value).collect();
                told.add(&operands, outcome);
            }
        }
    }
    out
}

/// Returns true if an op without regions, or a loop, has an operand of more than two polynomials
/// and does not relinearize it.
pub(crate) fn has_wide_operand(ir: &Ir, heir: &CiphertextFacts, op: Op) -> bool {
    let data = ir.op(op);
    let mut values = data.operands.iter().filter_map(|it| it.value);
    (data.regions.is_empty() || loops::is_loop(ir, op))
        && data.kind.is_op()
        && values.any(|it| dimension_above_two(heir, it).is_some())
        && rules::dimension_rule(ir.op_name(op)) != Some(rules::DimensionRule::Relinearize)
}

/// Returns true if an op relinearizes a ciphertext of two polynomials.
pub(crate) fn is_needless_relinearization(ir: &Ir, heir: &CiphertextFacts, op: Op) -> bool {
    let [operand] = ir.op(op).operands.as_slice() else { return false };
    let Some(value) = operand.value.filter(|_| ir.op_name(op) == "mgmt.relinearize") else {
        return false;
    };
    // An argument of a function or a generic may have more polynomials than assumed, and a value
    // with an assumed dimension of 2 may be a product.
    let is_two = matches!(
        heir.ciphertext(value),
        Ciphertext::Encrypted { dimension: Dimension::Known(2), .. }
    );
    ir.defining_op(value).is_some() && is_two && !heir.is_dimension_unchecked(value)
}

/// Returns true if an op has an operand with more polynomials than the op takes for this operand.
pub(crate) fn has_oversized_operand(ir: &Ir, heir: &CiphertextFacts, op: Op) -> bool {
    let mut operands = ir.op(op).operands.iter().zip(operand_limits(ir, heir, op));
    operands.any(|(it, taken)| {
        let dimension = it.value.and_then(|it| dimension_above_two(heir, it));
        taken.is_some_and(|taken| dimension > Some(taken))
    })
}

/// Returns the number of polynomials of a value, if it is more than two.
fn dimension_above_two(heir: &CiphertextFacts, value: Value) -> Option<u32> {
    match heir.ciphertext(value) {
        Ciphertext::Encrypted { dimension: Dimension::Known(n @ 3..), .. } => Some(n),
        _ => None,
    }
}

/// Returns the largest number of polynomials that an op takes for each operand; `None` for any
/// number.
fn operand_limits(ir: &Ir, heir: &CiphertextFacts, op: Op) -> SmallVec<[Option<u32>; 4]> {
    let n = ir.op(op).operands.len();
    let name = ir.op_name(op);
    if ir.is_secret_yield(op) {
        return (0..n)
            .map(|at| question::is_used_outside_generics(ir, op, at).then_some(2))
            .collect();
    }
    if requirements::requirement_on_op(name, Condition::TwoPolynomials).is_some() {
        return smallvec![Some(2); n];
    }
    let mut out = smallvec![None; n];
    let around = if flow::is_yield(ir, op) { ir.parent_op(op) } else { Some(op) };
    let Some(around) = around.filter(|&it| loops::is_loop(ir, it)) else { return out };
    loops::visit_carried_by(ir, around, &mut |it| {
        let [taken, given] = it.uses;
        for ((user, at), other) in [(taken, it.yielded), (given, it.init)] {
            if user == op
                && it.is_repeated
                && let Some(Dimension::Known(n)) = heir.ciphertext(other).dimension()
                && let Some(slot) = out.get_mut(at as usize)
            {
                *slot = slot.map_or(Some(n), |it: u32| Some(it.min(n)));
            }
        }
    });
    out
}

/// The reported values with too many polynomials and the values that follow from them, each with
/// the most severe consequence.
struct ReportedValues<'a> {
    ir: &'a Ir,
    values: FxHashMap<Value, Consequence>,
}

impl ReportedValues<'_> {
    fn add(&mut self, values: &[Value], outcome: Consequence) {
        for &it in values {
            let known = self.values.entry(it).or_insert(outcome);
            *known = outcome.min(*known);
        }
    }

    /// Returns the most severe consequence that was reported for a value, or for a value that feeds
    /// it without a computing op.
    fn most_severe(&self, value: Value) -> Option<Consequence> {
        let mut gravest: Option<Consequence> = None;
        let mut seen = FxHashSet::default();
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            if let Some(&it) = self.values.get(&value) {
                gravest = Some(gravest.map_or(it, |before| before.min(it)));
                continue;
            }
            let is_computed = match self.ir.value(value).def {
                Def::Result(op, _) => self.ir.op(op).regions.is_empty(),
                Def::Argument(..) => false,
            };
            if !is_computed && seen.insert(value) {
                stack.extend(flow::feeding_values(self.ir, value).into_iter().map(|it| it.1));
            }
        }
        gravest
    }
}
