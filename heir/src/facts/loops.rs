//! Values that loops carry from iteration to iteration.
//!
//! After lowering, the level is part of the type of a ciphertext, so HEIR requires that the yielded
//! value has the level of the initial value. A loop that runs once has no next iteration. Source:
//! HEIR, `lib/Analysis/LevelAnalysis`.

use noisy_syntax::{Def, Ir, Op, OpKind, Region, Value};

use noisy_dataflow::flow::{self, Flow};
use noisy_dataflow::view::ProgramView;

/// A value that a loop carries.
pub(crate) struct CarriedValue {
    /// The loop.
    pub(crate) op: Op,
    /// The initial value.
    pub(crate) init: Value,
    /// The block argument in each iteration.
    pub(crate) argument: Option<Value>,
    /// The value that is yielded to the next iteration.
    pub(crate) yielded: Value,
    /// The operand of the loop that is the initial value, and the operand of the terminator that is
    /// the yielded value.
    pub(crate) uses: [(Op, u32); 2],
    /// True if the loop may run more than once, according to the bounds that HEIR analyzes.
    pub(crate) is_repeated: bool,
}

/// Returns true if an op is a loop.
pub(crate) fn is_loop(ir: &Ir, op: Op) -> bool {
    matches!(Flow::of(ir, op), Flow::For { .. } | Flow::While)
}

/// Calls `tell` for each carried value of the loops in a region, in textual order.
pub(crate) fn visit_carried(ir: &Ir, within: Region, tell: &mut dyn FnMut(&CarriedValue)) {
    ir.walk(within, &mut |op| visit_carried_by(ir, op, tell));
}

/// Calls `tell` for each carried value of an op, if it is a loop.
pub(crate) fn visit_carried_by(ir: &Ir, op: Op, tell: &mut dyn FnMut(&CarriedValue)) {
    let data = ir.op(op);
    let (first, last) = match Flow::of(ir, op) {
        Flow::For { first } => (first, data.regions.first()),
        Flow::While => (0, data.regions.last()),
        _ => return,
    };
    let Some(&(_, region)) = last else { return };
    let is_repeated = trip_count(ir, op) != Some(1);
    let n = data.operands.len() - first;
    for at in 0..n {
        let Some(init) = data.operands[first + at].value else { continue };
        for end in flow::yield_ops(ir, region) {
            let index = flow::yielded_operands(ir, end).start + at;
            let Some(yielded) = ir.op(end).operands.get(index).and_then(|it| it.value) else {
                continue;
            };
            let argument = flow::carried_args(ir, data.regions[0].1, n).get(at).copied();
            let uses = [(op, (first + at) as u32), (end, index as u32)];
            tell(&CarriedValue { op, init, argument, yielded, uses, is_repeated });
        }
    }
}

/// Returns the trip count of a loop as HEIR computes it. The bounds of an `affine.for` must be
/// single constants in its maps. The bounds of an `scf.for` must be constants or casts of
/// constants.
pub(crate) fn trip_count(ir: &impl ProgramView, op: Op) -> Option<u64> {
    let is_affine = ir.op(op).kind == OpKind::AffineFor;
    let is_one = |name: &str| {
        let map = ir.attr(op, name).and_then(|it| ir.interner().affine(it));
        map.and_then(|it| it.evaluate(&|_| None)).is_some_and(|it| it.len() == 1)
    };
    if is_affine && !["lowerBoundMap", "upperBoundMap"].into_iter().all(is_one) {
        return None;
    }
    let given = |at: usize| {
        let number =
            constant_through_casts(ir, ir.op(op).operands.get(at)?.value.filter(|_| !is_affine)?)?;
        Some((number, number))
    };
    let [lower, upper, step] = flow::loop_bounds(ir, op, &given)?;
    let is_exact = [lower, upper, step].iter().all(|it| it.0 == it.1);
    if !is_exact || step.0 <= 0 {
        return None;
    }
    u64::try_from((upper.0 - lower.0 + step.0 - 1).max(0) / step.0).ok()
}

/// The longest chain of casts that is followed.
const MAX_CASTS: usize = 8;

/// Returns true if an op casts an integer. The result is the same number if it is not negative and
/// fits in the type.
fn is_cast(ir: &impl ProgramView, op: Op) -> bool {
    let name = ir.op_name(op);
    matches!(name, "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui")
}

/// Returns the number of a constant or of a cast of one.
fn constant_through_casts(ir: &impl ProgramView, mut value: Value) -> Option<i128> {
    for n_casts in 0..=MAX_CASTS {
        let Def::Result(by, _) = ir.def(value) else { return None };
        if ir.op(by).kind == OpKind::ArithConstant {
            let number = ir.interner().int_value(ir.attr(by, "value")?)?;
            // A cast to a narrower type, or a zero extension, may change the number.
            let ty = ir.interner().short_type_text(ir.ty(value));
            let is_wide = matches!(&*ty, "index" | "i8" | "i16" | "i32" | "i64");
            let is_small = (0..=i128::from(i8::MAX)).contains(&number);
            let is_same = n_casts == 0 || is_wide && is_small;
            return is_same.then_some(number);
        }
        if !is_cast(ir, by) {
            return None;
        }
        value = ir.op(by).operands.first()?.value?;
    }
    None
}

/// Returns the loops whose bounds are the result of a constant or a cast, also through further
/// casts.
pub(crate) fn loops_bounded_by(ir: &Ir, op: Op) -> Vec<Op> {
    let mut out = Vec::new();
    let mut stack: Vec<(Op, usize)> = vec![(op, 0)];
    while let Some((op, n_casts)) = stack.pop() {
        if ir.op(op).kind != OpKind::ArithConstant && !is_cast(ir, op) || n_casts > MAX_CASTS {
            continue;
        }
        for &value in &ir.op(op).results {
            for &(user, at) in &ir.value(value).uses {
                match Flow::of(ir, user) {
                    Flow::For { first } if (at as usize) < first => out.push(user),
                    _ => stack.push((user, n_casts + 1)),
                }
            }
        }
    }
    out
}
