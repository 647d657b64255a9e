//! Loops and branches whose values differ from those of the rewritten program.

use noisy_syntax::{Ir, Op, OpKind, Value};

use super::integers::{constant_value, is_fully_parsed};

/// A value of one of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProgramValue {
    /// A value of the first program, in a context. Values outside of all loops that are compared
    /// several iterations at a time have context 0.
    Old(u32, Value),
    /// A value of the second program.
    New(Value),
}

/// The contexts: iterations of loops, which may be nested.
#[derive(Default)]
pub(super) struct IterationContexts {
    /// The enclosing context and the loop of each context, from number 1 on.
    all: Vec<(u32, Op)>,
}

impl IterationContexts {
    /// Adds an iteration of the loop `of`, and returns its number.
    pub(super) fn add(&mut self, around: u32, of: Op) -> u32 {
        self.all.push((around, of));
        self.all.len() as u32
    }

    /// Returns the key of a value that is used in a context, with the context in which it is
    /// defined.
    pub(super) fn key(&self, ir: &Ir, context: u32, value: Value) -> ProgramValue {
        let holder = ir.region(ir.def_region(value)).parent;
        let mut at = context;
        while let Some(&(around, of)) = (at as usize).checked_sub(1).and_then(|it| self.all.get(it))
        {
            if holder.is_some_and(|it| ir.is_within(it, of)) {
                break;
            }
            at = around;
        }
        ProgramValue::Old(at, value)
    }
}

/// A value that a loop of the first program carries, in terms of a value of the second program.
#[derive(Clone, Copy, Debug)]
pub(super) struct CarriedRelation {
    pub value: Value,
    /// The initial values in both programs; their difference is added to `value`.
    pub initial_values: Option<(ProgramValue, Value)>,
}

/// The relation of a value of the first program to values of the second program.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueRelation {
    Carried(CarriedRelation),
    /// The same as another value: the value that the preceding iteration yields.
    PreviousYield(ProgramValue),
    /// An induction variable of the second program, plus a number.
    InductionVariable(Value, i128),
    /// A result of a loop whose last iterations are evaluated, with the index of the loop.
    LoopResult(usize),
    /// The result of a branch: the index of the branch, the index of the result, and this result in
    /// the second program.
    BranchResult(usize, usize, Value),
}

/// A loop whose last iterations are evaluated.
pub(super) struct RemainingIterations {
    pub op: Op,
    pub n_left: u64,
    /// The values that the loop carries before these iterations.
    pub carried: Vec<CarriedRelation>,
}

/// A branch of the first program, paired with one of the second program.
pub(super) struct BranchPair {
    pub old: Op,
    pub new: Op,
    /// For each result, the values that the cases yield in both programs.
    pub cases: Vec<Vec<(ProgramValue, Value)>>,
}

/// A loop with constant bounds.
pub(super) struct ConstantLoop {
    pub lower: i128,
    pub step: i128,
    pub n_trips: u64,
    /// Initial values of the carried arguments.
    pub inits: Vec<Value>,
    /// The induction variable.
    pub induction_variable: Value,
    pub args: Vec<Value>,
    /// The ops of the body without the terminator.
    pub body: Vec<Op>,
    /// Operands of the terminator.
    pub yielded: Vec<Value>,
}

impl ConstantLoop {
    pub(super) fn of(ir: &Ir, op: Op) -> Option<Self> {
        let data = ir.op(op);
        let n = data.results.len();
        let operands: Vec<Value> =
            data.operands.iter().map(|it| it.value).collect::<Option<_>>()?;
        let (first, lower, upper, step) = match data.kind {
            // Another attribute may make the comparison of the bounds unsigned.
            OpKind::ScfFor if ir.extra(op).attrs.is_empty() || has_only_segments(ir, op) => {
                let bound = |at: usize| constant_value(ir, *operands.get(at)?);
                (3, bound(0)?, bound(1)?, bound(2)?)
            }
            OpKind::AffineFor => {
                let step = ir.interner.int_value(ir.attr(op, "step")?)?;
                (
                    0,
                    constant_bound(ir, op, "lowerBoundMap")?,
                    constant_bound(ir, op, "upperBoundMap")?,
                    step,
                )
            }
            _ => return None,
        };
        let [(_, region)] = data.regions[..] else { return None };
        let block = ir.only_block(region)?;
        let mut body: Vec<Op> = ir.block_ops(block).collect();
        let end = ir.op(body.pop()?);
        let yielded: Vec<Value> = end.operands.iter().map(|it| it.value).collect::<Option<_>>()?;
        let args = &ir.block(block).args;
        let fits = operands.len() == first + n && args.len() == 1 + n && yielded.len() == n;
        let is_end = matches!(end.kind, OpKind::ScfYield | OpKind::AffineYield);
        if !fits || !is_end || step <= 0 {
            return None;
        }
        let rounds = upper.checked_sub(lower)?.max(0).checked_add(step - 1)? / step;
        Some(Self {
            lower,
            step,
            induction_variable: args[0],
            n_trips: u64::try_from(rounds).ok()?,
            inits: operands[first..].to_vec(),
            args: args[1..].to_vec(),
            body,
            yielded,
        })
    }

    /// Returns true if the attributes of a loop are its bounds and its step only.
    pub(super) fn has_only_bounds(ir: &Ir, op: Op) -> bool {
        let bounds = ["lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes"];
        let mut names = ir.extra(op).attrs.iter().map(|it| ir.interner.str(it.0));
        names.all(|it| bounds.contains(&it)) && is_fully_parsed(ir.op(op).form)
    }
}

fn has_only_segments(ir: &Ir, op: Op) -> bool {
    let names = ir.extra(op).attrs.iter().map(|it| ir.interner.str(it.0));
    names.into_iter().all(|it| it == "operandSegmentSizes")
}

/// Returns a constant bound of an `affine.for`.
fn constant_bound(ir: &Ir, op: Op, name: &str) -> Option<i128> {
    let map = ir.interner.affine(ir.attr(op, name)?)?;
    match (map.n_inputs(), &map.evaluate(&|_| None)?[..]) {
        (0, &[bound]) => Some(i128::from(bound)),
        _ => None,
    }
}
