//! Where control goes by what is known of integers: which way a branch or choice takes, and how often a loop runs.

use noisy_syntax::{AttrData, Form, Ir, Op, OpKind};

use super::Flow;
use crate::view::View;

/// Where an integer lies, read as a signed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Nowhere: it is never computed.
    Empty,
    /// Between two numbers, both included.
    Within {
        /// The least.
        lo: i128,
        /// The greatest.
        hi: i128,
    },
    /// Nothing is known, or it is no integer.
    Any,
}

impl Interval {
    /// The bounds, if there are any.
    pub fn bounds(self) -> Option<(i128, i128)> {
        match self {
            Interval::Within { lo, hi } => Some((lo, hi)),
            Interval::Empty | Interval::Any => None,
        }
    }
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trips {
    /// At least.
    pub least: u64,
    /// At most, if there is a limit that the facts give.
    pub most: Option<u64>,
}

impl Trips {
    /// Nothing is known.
    pub const ANY: Trips = Trips { least: 0, most: None };

    /// Just so often.
    pub fn exactly(n: u64) -> Self {
        Trips { least: n, most: Some(n) }
    }

    /// The number, if there is only one.
    pub fn count(self) -> Option<u64> {
        self.most.filter(|&it| it == self.least)
    }
}

/// Whether control may go from an op its way number `index` (successor, region; for `scf.condition` 0 is out of the loop, 1 around),
/// by where the operand that decides lies ([`super::decider`]).
pub fn may_take(ir: &Ir, op: Op, index: usize, decider: Interval) -> bool {
    let (lo, hi) = match decider {
        Interval::Empty => return false,
        Interval::Any => return true,
        Interval::Within { lo, hi } if lo == hi => return takes(ir, op, index, lo),
        Interval::Within { lo, hi } => (lo, hi),
    };
    let name = match ir.op(op).kind {
        OpKind::CfSwitch => "case_values",
        OpKind::ScfIndexSwitch => "cases",
        _ => return true,
    };
    let Some(at) = way(ir, op, index).checked_sub(1) else { return true };
    case(ir, op, name, at).is_none_or(|it| (lo..=hi).contains(&it))
}

/// Whether an op goes its way number `index` (successor, region; for `scf.condition` 0 is out of the loop, 1 around) when its
/// [`super::decider`] is this integer, sign-extended.
fn takes(ir: &Ir, op: Op, index: usize, decider: i128) -> bool {
    match ir.op(op).kind {
        OpKind::CfCondBr | OpKind::ScfIf => (decider != 0) == (index == 0),
        OpKind::ScfCondition => (decider != 0) == (index == 1),
        OpKind::CfSwitch => {
            let cases = ir.attr(op, "case_values").and_then(|it| ir.interner.integers(it));
            cases.is_none_or(|cases| match index.checked_sub(1) {
                None => !cases.contains(&decider),
                // The others are looked at for a case that fits only: all cases are asked about one by one.
                Some(at) => cases.get(at) == Some(&decider) && !cases[..at].contains(&decider),
            })
        }
        OpKind::ScfIndexSwitch => {
            let Some(at) = way(ir, op, index).checked_sub(1) else {
                return cases(ir, op, "cases").is_none_or(|it| !it.contains(&decider));
            };
            case(ir, op, "cases", at).is_none_or(|it| it == decider)
                && cases_before(ir, op, at).all(|it| it != decider)
        }
        _ => true,
    }
}

/// Which way of a switch its successor or region number `index` is: 0 the default, then the cases. The custom form of `scf.index_switch`
/// writes the default last, and regions are numbered as they are written.
pub fn way(ir: &Ir, op: Op, index: usize) -> usize {
    let data = ir.op(op);
    if data.kind != OpKind::ScfIndexSwitch || data.form == Form::Generic {
        return index;
    }
    if index + 1 == data.regions.len() { 0 } else { index + 1 }
}

/// The number of one case of a switch, sign-extended.
fn case(ir: &Ir, op: Op, name: &str, at: usize) -> Option<i128> {
    let attr = ir.attr(op, name)?;
    match ir.interner.attr_data(attr) {
        AttrData::DenseArray { values, .. } => ir.interner.int_value(*values.get(at)?),
        _ => ir.interner.integers(attr)?.get(at).copied(),
    }
}

/// The numbers of the cases of an `scf.index_switch` before one.
fn cases_before(ir: &Ir, op: Op, at: usize) -> impl Iterator<Item = i128> {
    (0..at).map_while(move |it| case(ir, op, "cases", it))
}

/// The numbers of the cases of a switch, sign-extended.
pub fn cases(ir: &Ir, op: Op, name: &str) -> Option<Vec<i128>> {
    let attr = ir.attr(op, name)?;
    match ir.interner.attr_data(attr) {
        AttrData::DenseArray { values, .. } => {
            values.iter().map(|&it| ir.interner.int_value(it)).collect()
        }
        _ => ir.interner.integers(attr).map(<[i128]>::to_vec),
    }
}

/// How often a [`Flow::For`] or [`Flow::Parallel`] runs its region, by the least and the greatest value of each of its operands, where
/// they are known.
pub fn trips(ir: &Ir, op: Op, operand: &dyn Fn(usize) -> Option<(i128, i128)>) -> Trips {
    match Flow::of(ir, op) {
        Flow::Parallel { first } => {
            let n = first / 3;
            (0..n).fold(Trips::exactly(1), |all, at| {
                let dimension = [operand(at), operand(n + at), operand(2 * n + at)];
                let it = match dimension {
                    [Some(lower), Some(upper), Some(step)] => counted([lower, upper, step]),
                    _ => Trips::ANY,
                };
                let most = match (all.most, it.most) {
                    (Some(0), _) | (_, Some(0)) => Some(0),
                    (Some(a), Some(b)) => a.checked_mul(b),
                    _ => None,
                };
                Trips { least: all.least.saturating_mul(it.least), most }
            })
        }
        _ => bounds(ir, op, operand).map_or(Trips::ANY, counted),
    }
}

/// How often a loop runs from a lower bound up to an upper one, by a step.
fn counted([lower, upper, step]: [(i128, i128); 3]) -> Trips {
    if step.0 <= 0 {
        return Trips::ANY;
    }
    let rounds = |from: i128, to: i128, step: i128| {
        let n = if to > from { (to - from + step - 1) / step } else { 0 };
        u64::try_from(n).unwrap_or(u64::MAX)
    };
    let most = rounds(lower.0, upper.1, step.0);
    Trips { least: rounds(lower.1, upper.0, step.1), most: (most < u64::MAX).then_some(most) }
}

/// The lower bound, the upper bound and the step of a [`Flow::For`], each with its least and greatest value.
pub fn bounds(
    ir: &impl View,
    op: Op,
    operand: &dyn Fn(usize) -> Option<(i128, i128)>,
) -> Option<[(i128, i128); 3]> {
    match ir.op(op).kind {
        OpKind::ScfFor => {
            let [lower, upper, step] = [operand(0)?, operand(1)?, operand(2)?];
            // Compared as unsigned numbers: the same as long as none is negative.
            let differs = ir.attr(op, "unsignedCmp").is_some() && (lower.0 < 0 || upper.0 < 0);
            (!differs).then_some([lower, upper, step])
        }
        OpKind::AffineFor => {
            let AttrData::Int { value: step, .. } = *ir.interner().attr_data(ir.attr(op, "step")?)
            else {
                return None;
            };
            let constant = |at: usize| operand(at).filter(|it| it.0 == it.1).map(|it| it.0);
            let lower_map = ir.interner().affine(ir.attr(op, "lowerBoundMap")?)?;
            let n = lower_map.n_inputs();
            let lower = lower_map.evaluate(&constant)?;
            let upper_map = ir.interner().affine(ir.attr(op, "upperBoundMap")?)?;
            let upper = upper_map.evaluate(&|at| constant(n + at))?;
            let (lower, upper) =
                (i128::from(*lower.iter().max()?), i128::from(*upper.iter().min()?));
            Some([(lower, lower), (upper, upper), (step, step)])
        }
        _ => None,
    }
}
