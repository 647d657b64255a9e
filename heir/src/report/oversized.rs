//! Ciphertexts with more polynomials than an op takes: missing relinearizations.
//!
//! *Law.* A rotation, a modulus switch, a bootstrap and the end of a generic take two polynomials.
//! A loop that runs more than once takes as many as it gives to its next round, and gives as many
//! as it takes, since they are part of a type. The results of an op that is reported are not
//! reported again further down. *Cost.* That of the ops with operands of more than two polynomials.
//!
//! Only managed functions are judged: before HEIR has placed its `mgmt` ops nothing is missing yet.
//!
//! *Source.* HEIR, `lib/Analysis/OptimizeRelinearizationAnalysis` and issue 3149. Three facts were
//! measured: its ILP placement of bootstraps loses relinearizations, `--secret-to-bgv` and
//! `--secret-to-ckks` refuse such loops, and its pipelines relinearize unrolled loops only.

use noisy_syntax::{Def, Ir, Op, Value};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use crate::facts::ciphertext::{Ciphertext, Dimension};
use crate::facts::known::Heir;
use crate::facts::loops;
use crate::ops::rules;
use crate::question;
use noisy_dataflow::flow;

/// An operand with more polynomials than an op takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OversizedOperand {
    /// The op.
    pub op: Op,
    /// Its operand.
    pub value: Value,
    /// How many polynomials it has.
    pub dimension: u32,
    /// How many the op takes.
    pub taken: u32,
    /// True if a loop, or the end of one, takes them.
    pub is_carried: bool,
    /// True if its function has a relinearization. If not, HEIR may still insert some.
    pub is_relinearized: bool,
}

/// All missing relinearizations of a program. `wide` are the ops with an operand of more than two
/// polynomials, in textual order; `managed` says of a function with `mgmt` ops if it has
/// relinearizations.
pub(crate) fn oversized_operands(
    ir: &Ir,
    heir: &Heir,
    wide: &[Op],
    managed: &dyn Fn(Option<Op>) -> Option<bool>,
) -> Vec<OversizedOperand> {
    let mut told = Told { ir, values: FxHashSet::default() };
    let mut out = Vec::new();
    for &op in wide {
        let data = ir.op(op);
        let is_carried =
            loops::is_loop(ir, op) || !ir.is_secret_yield(op) && flow::is_yield(ir, op);
        let limits = limits(ir, heir, op);
        let mut is_told = false;
        for (at, operand) in data.operands.iter().enumerate() {
            let Some(value) = operand.value else { continue };
            let Some(dimension) = width(heir, value) else { continue };
            if told.knows(value) {
                // A loop may relinearize it.
                is_told = data.regions.is_empty();
            } else if let Some(is_relinearized) = managed(ir.function_of(op))
                && let Some(taken) = limits[at].filter(|&it| it < dimension)
            {
                out.push(OversizedOperand {
                    op,
                    value,
                    dimension,
                    taken,
                    is_carried,
                    is_relinearized,
                });
                is_told = true;
                break;
            }
        }
        if is_told {
            told.values.extend(data.results.iter().copied());
            // The result of the op around is the yielded value.
            if flow::is_yield(ir, op) {
                told.values.extend(data.operands.iter().filter_map(|it| it.value));
            }
        }
    }
    out
}

/// Returns true if an op, perhaps a loop, has an operand of more than two polynomials and does not
/// relinearize it.
pub(crate) fn is_wide(ir: &Ir, heir: &Heir, op: Op) -> bool {
    let data = ir.op(op);
    let mut values = data.operands.iter().filter_map(|it| it.value);
    (data.regions.is_empty() || loops::is_loop(ir, op))
        && data.kind.is_op()
        && values.any(|it| width(heir, it).is_some())
        && rules::dimension(ir.op_name(op)) != Some(rules::DimensionRule::Relinearize)
}

/// Returns true if an op has such an operand in a place that takes fewer polynomials.
pub(crate) fn is_over(ir: &Ir, heir: &Heir, op: Op) -> bool {
    let mut operands = ir.op(op).operands.iter().zip(limits(ir, heir, op));
    operands.any(|(it, taken)| {
        let dimension = it.value.and_then(|it| width(heir, it));
        taken.is_some_and(|taken| dimension > Some(taken))
    })
}

/// The polynomials of a value, if they are more than two.
fn width(heir: &Heir, value: Value) -> Option<u32> {
    match heir.ciphertext(value) {
        Ciphertext::Encrypted { dimension: Dimension::Known(n @ 3..), .. } => Some(n),
        _ => None,
    }
}

/// How many polynomials an op takes of each operand; `None`: any number.
fn limits(ir: &Ir, heir: &Heir, op: Op) -> SmallVec<[Option<u32>; 4]> {
    let n = ir.op(op).operands.len();
    let name = ir.op_name(op);
    if ir.is_secret_yield(op) {
        return (0..n).map(|at| question::leaves(ir, op, at).then_some(2)).collect();
    }
    if rules::takes_two(name) {
        return smallvec![Some(2); n];
    }
    let mut out = smallvec![None; n];
    let around = if flow::is_yield(ir, op) { ir.parent_op(op) } else { Some(op) };
    let Some(around) = around.filter(|&it| loops::is_loop(ir, it)) else { return out };
    loops::carried_by(ir, around, &mut |it| {
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

/// The values with too many polynomials that were told of, or follow from such.
struct Told<'a> {
    ir: &'a Ir,
    values: FxHashSet<Value>,
}

impl Told<'_> {
    /// Returns true if a value is one, or is fed by one without an op that computes.
    fn knows(&self, value: Value) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            if self.values.contains(&value) {
                return true;
            }
            let is_computed = match self.ir.value(value).def {
                Def::Result(op, _) => self.ir.op(op).regions.is_empty(),
                Def::Argument(..) => false,
            };
            if !is_computed && seen.insert(value) {
                stack.extend(flow::feeders(self.ir, value).into_iter().map(|it| it.1));
            }
        }
        false
    }
}
