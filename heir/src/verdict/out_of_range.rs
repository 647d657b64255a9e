//! Finds operands outside of the range that an op accepts.
//!
//! *Law.* A bootstrap, and the evaluation of a Chebyshev polynomial, is accurate for numbers in
//! `[-1, 1]`; an approximation, for numbers in its domain. An op is reported if the range of its
//! operand is known and is not within the accepted range. *Cost.* Linear in the operands. *Source.*
//! HEIR issues 1823 and 3225, Lattigo issue 488, `lib/Dialect/Kernel/IR/KernelOps.td` and
//! `lib/Transforms/PolynomialApproximation/PolynomialApproximation.cpp` in HEIR.

use noisy_syntax::{Ir, Op, OpKind, Value};
use smallvec::SmallVec;

use crate::facts::value_range::{self, StatedRange, ValueRangeFacts};
use crate::ops::rules;
use crate::real_range::RealRange;
use noisy_dataflow::flow;

/// The attributes with the bounds of the domain of an approximation.
const DOMAIN_ATTRIBUTES: [&str; 2] = ["domain_lower", "domain_upper"];

/// An operand that may be outside of the range that its op accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfRange {
    /// The op.
    pub op: Op,
    /// The operand.
    pub value: Value,
    /// The range of the operand.
    pub range: RealRange,
    /// The range that the op accepts.
    pub accepted: RealRange,
    /// The reason why the range is limited.
    pub reason: RangeReason,
}

/// The reason why an op accepts only some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeReason {
    /// The op is a bootstrap.
    Bootstrap,
    /// The op is approximated on a domain.
    Approximation,
    /// The op calls a function that states the range of an argument.
    Argument,
}

/// Returns the first operand of an op that may be outside of the range that the op accepts.
pub(crate) fn out_of_range(
    ir: &Ir,
    ranges: Option<ValueRangeFacts<'_>>,
    op: Op,
) -> Option<OutOfRange> {
    let ranges = ranges?;
    let told = |value: Value, accepted: RealRange, by: RangeReason| {
        let range = ranges.of(value)?;
        let is_told = !accepted.contains_nearly(range);
        is_told.then_some(OutOfRange { op, value, range, accepted, reason: by })
    };
    let data = ir.op(op);
    if data.kind == OpKind::FuncCall
        && let Some(function) = flow::callee(ir, op)
        && let Some(found) = data.operands.iter().enumerate().find_map(|(at, it)| {
            match value_range::stated_range(ir, function, at)? {
                StatedRange::Range(stated) => told(it.value?, stated, RangeReason::Argument),
                StatedRange::Unreadable => None,
            }
        })
    {
        return Some(found);
    }
    let mut operands = data.operands.iter().filter_map(|it| it.value);
    let name = ir.op_name(op);
    if rules::is_bootstrap(name) {
        return operands.find_map(|it| told(it, RealRange::UNIT, RangeReason::Bootstrap));
    }
    let accepted = if name == "kernel.eval_chebyshev" { RealRange::UNIT } else { domain(ir, op)? };
    let operands: SmallVec<[Value; 2]> = operands.collect();
    // The other operand of an approximated binary op is a constant.
    let is_number = |it: &&Value| {
        ranges.of(**it).map(RealRange::bounds).is_some_and(|(lower, upper)| lower >= upper)
    };
    let operand = match *operands {
        [operand] => operand,
        _ => {
            let mut others = operands.iter().filter(|it| !is_number(it));
            *others.next().filter(|_| others.next().is_none())?
        }
    };
    told(operand, accepted, RangeReason::Approximation)
}

/// Returns the domain that an op states, with HEIR's default for a missing bound.
fn domain(ir: &Ir, op: Op) -> Option<RealRange> {
    let written = DOMAIN_ATTRIBUTES.map(|it| ir.attr(op, it));
    if written == [None; 2] || !ir.op(op).regions.is_empty() {
        return None;
    }
    let (lower, upper) = RealRange::UNIT.bounds();
    let bound = |at: usize, default: f64| match written[at] {
        Some(attr) => value_range::number_of_attr(ir, attr),
        None => Some(default),
    };
    RealRange::new(bound(0, lower)?, bound(1, upper)?)
}

/// Returns true if an op that is approximated by a polynomial states an empty domain. HEIR's
/// message is `domain_lower must be strictly less than domain_upper`. Source: HEIR,
/// `lib/Transforms/PolynomialApproximation/PolynomialApproximation.cpp`.
pub(crate) fn has_empty_domain(ir: &Ir, op: Op) -> bool {
    let name = ir.op_name(op);
    // The exponential function is approximated in another way.
    let is_approximated = name != "math.exp"
        && (name.starts_with("math.")
            || matches!(
                name,
                "arith.maximumf" | "arith.minimumf" | "arith.maxnumf" | "arith.minnumf"
            ));
    let bounds = || {
        DOMAIN_ATTRIBUTES
            .map(|it| ir.attr(op, it).and_then(|it| value_range::number_of_attr(ir, it)))
    };
    is_approximated && matches!(bounds(), [Some(lower), Some(upper)] if lower >= upper)
}
