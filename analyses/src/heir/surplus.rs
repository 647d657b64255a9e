//! Ciphertexts with more polynomials than an op takes: where a relinearization is missing.
//!
//! *Law.* A rotation, a modulus switch, a bootstrap and the end of a generic take two polynomials. What comes out of such an op
//! although it got more is not told of again further down. *Cost.* That of the ops with operands of more than two
//! polynomials.
//!
//! Only programs that are managed are looked at: before HEIR has placed its `mgmt` ops nothing is missing yet.
//!
//! *Source.* HEIR, `lib/Analysis/OptimizeRelinearizationAnalysis` and issue 3149; that its ILP placement of bootstraps loses
//! relinearizations was measured.

use noisy_syntax::{Def, Ir, Op, Value};
use rustc_hash::FxHashSet;

use super::{Ciphertext, Dimension, Heir, rows};
use crate::flow;

/// An operand with more than two polynomials where an op takes two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surplus {
    /// The op.
    pub(crate) op: Op,
    /// Its operand.
    pub(crate) value: Value,
    /// How many polynomials it has.
    pub(crate) dimension: u32,
    /// Whether its function relinearizes anything. If not, HEIR may still be going to.
    pub(crate) is_relinearized: bool,
}

/// All of a program. `wide` are the ops with an operand of more than two polynomials, in textual order; `managed` are the functions into which
/// `mgmt` ops are placed, and whether relinearizations are.
pub(super) fn surpluses(
    ir: &Ir,
    heir: &Heir,
    wide: &[Op],
    managed: &dyn Fn(Option<Op>) -> Option<bool>,
) -> Vec<Surplus> {
    let mut told = Told { ir, values: FxHashSet::default() };
    let mut out = Vec::new();
    for &op in wide {
        let data = ir.op(op);
        let mut is_told = false;
        for (at, operand) in data.operands.iter().enumerate() {
            let Some(value) = operand.value else { continue };
            let Some(dimension) = width(heir, value) else { continue };
            if told.knows(value) {
                is_told = true;
            } else if let Some(is_relinearized) = managed(ir.function_of(op))
                && takes_two(ir, op, at)
            {
                out.push(Surplus { op, value, dimension, is_relinearized });
                is_told = true;
                break;
            }
        }
        if is_told {
            told.values.extend(data.results.iter().copied());
            // What is yielded is the result of the op around.
            if flow::is_yield(ir, op) {
                told.values.extend(data.operands.iter().filter_map(|it| it.value));
            }
        }
    }
    out
}

/// Whether an op has an operand of more than two polynomials and does not relinearize it.
pub(super) fn is_wide(ir: &Ir, heir: &Heir, op: Op) -> bool {
    let data = ir.op(op);
    let mut values = data.operands.iter().filter_map(|it| it.value);
    data.regions.is_empty()
        && data.kind.is_op()
        && values.any(|it| width(heir, it).is_some())
        && rows::dimension(ir.op_name(op)) != Some(rows::DimensionRule::Relinearize)
}

/// Whether an op has such an operand where it takes two polynomials.
pub(super) fn is_over(ir: &Ir, heir: &Heir, op: Op) -> bool {
    let mut operands = ir.op(op).operands.iter().enumerate();
    operands.any(|(at, it)| {
        it.value.is_some_and(|it| width(heir, it).is_some()) && takes_two(ir, op, at)
    })
}

/// The polynomials of a value, if they are more than two.
fn width(heir: &Heir, value: Value) -> Option<u32> {
    match heir.ciphertext(value) {
        Ciphertext::Encrypted { dimension: Dimension::Known(n @ 3..), .. } => Some(n),
        _ => None,
    }
}

fn takes_two(ir: &Ir, op: Op, at: usize) -> bool {
    match ir.op_name(op) {
        "secret.yield" => leaves(ir, op, at),
        name => rows::takes_two(name),
    }
}

/// Whether what the end of a generic gives is used by anything but another generic, which may relinearize it.
pub(super) fn leaves(ir: &Ir, end: Op, at: usize) -> bool {
    let result = ir.parent_op(end).and_then(|it| ir.op(it).results.get(at).copied());
    result.is_none_or(|it| {
        let uses = &ir.value(it).uses;
        uses.is_empty() || uses.iter().any(|it| ir.op_name(it.0) != "secret.generic")
    })
}

/// The values with too many polynomials that were told of, or follow from such.
struct Told<'a> {
    ir: &'a Ir,
    values: FxHashSet<Value>,
}

impl Told<'_> {
    /// Whether a value is one, or is fed by one without an op that computes.
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
