//! Merging of perfectly nested `scf.for` loops.
//!
//! *Law.* If trip counts are unknown, negative ones are clamped to 0, because the product of two
//! negative numbers is positive. The step of an inner loop must be known, because its trip count is
//! computed even if the loop did not run, and a division by 0 must not be added. Trip counts of
//! type `index` are assumed not to wrap. Those of other types must be known, and their product must
//! fit.

use noisy_syntax::{Block, Ir, Op, OpKind, Type, TypeData, Value};

use super::MAX_TRIPS;
use crate::rewrite::{Rewriter, operands, preorder};
use noisy_analyses::facts::effects;

/// The parts of an `scf.for`.
#[derive(Clone, Debug)]
struct ScfFor {
    op: Op,
    low: Value,
    high: Value,
    step: Value,
    inits: Vec<Value>,
    iv: Value,
    body: Block,
}

impl ScfFor {
    fn of(ir: &Ir, op: Op) -> Option<Self> {
        if ir.op(op).kind != OpKind::ScfFor {
            return None;
        }
        let all = operands(ir, op);
        let [low, high, step, ..] = all[..] else { return None };
        let [(_, region)] = ir.op(op).regions[..] else { return None };
        let body = ir.only_block(region)?;
        let iv = *ir.block(body).args.first()?;
        Some(Self { op, low, high, step, inits: all[3..].to_vec(), iv, body })
    }

    fn ty(&self, ir: &Ir) -> Type {
        ir.value(self.iv).ty
    }

    /// Returns the inner loop if it is the only op of the body, and carried values are passed
    /// through unchanged.
    fn only_inner(&self, ir: &Ir) -> Option<Self> {
        let all: Vec<Op> = ir.block_ops(self.body).collect();
        let [inner, end] = all[..] else { return None };
        let inner = Self::of(ir, inner)?;
        let carried = &ir.block(self.body).args[1..];
        let is_plain = inner.inits[..] == *carried
            && operands(ir, end)[..] == ir.op(inner.op).results[..]
            && inner.ty(ir) == self.ty(ir);
        is_plain.then_some(inner)
    }

    /// Returns the trip count if it is known.
    fn trip_count(&self, rewriter: &Rewriter<'_>) -> Option<i128> {
        let of = |it| rewriter.int_of(it);
        let (low, high, step) = (of(self.low)?, of(self.high)?, of(self.step)?);
        let size = high.checked_sub(low)?.max(0);
        (step > 0).then(|| size / step + i128::from(size % step != 0))
    }
}

/// Merges the loops of all nests in an op, inner bands first.
pub(super) fn run(ir: &mut Ir, op: Op) {
    let mut all = Vec::new();
    for &(_, region) in &ir.op(op).regions {
        all.extend(preorder(ir, region));
    }
    let mut done: Vec<Op> = Vec::new();
    let mut rewriter = Rewriter::new(ir);
    for op in all {
        if done.contains(&op) {
            continue;
        }
        let first = ScfFor::of(rewriter.ir, op);
        let nest: Vec<ScfFor> =
            std::iter::successors(first, |it| it.only_inner(rewriter.ir)).collect();
        done.extend(nest.iter().map(|it| it.op));
        for band in bands(&rewriter, &nest).into_iter().rev() {
            if band.len() > 1 {
                coalesce(&mut rewriter, band);
            }
        }
    }
}

/// Splits a nest into bands that can be merged: bounds and steps are defined outside of the band,
/// and the product of the trip counts fits.
fn bands<'a>(rewriter: &Rewriter<'_>, nest: &'a [ScfFor]) -> Vec<&'a [ScfFor]> {
    let ir = &*rewriter.ir;
    let mut out = Vec::new();
    let mut start = 0;
    for end in 1..=nest.len() {
        let goes_on = nest.get(end).is_some_and(|it| {
            let outer = ir.block(nest[start].body).region;
            let is_free =
                [it.low, it.high, it.step].iter().all(|v| effects::is_outside(ir, *v, outer));
            is_free && rewriter.int_of(it.step).is_some_and(|it| it > 0)
        });
        if !goes_on || !has_fitting_trip_count(rewriter, &nest[start..=end]) {
            out.push(&nest[start..end]);
            start = end;
        }
    }
    out
}

/// Returns true if the product of the trip counts fits into the type of the loops.
fn has_fitting_trip_count(rewriter: &Rewriter<'_>, band: &[ScfFor]) -> bool {
    let most = match rewriter.ir.interner.type_data(band[0].ty(rewriter.ir)) {
        TypeData::Index => None,
        TypeData::Int { width, .. } if *width <= 64 => Some((1_i128 << (width - 1)) - 1),
        _ => return false,
    };
    let trips: Vec<_> = band.iter().map(|it| it.trip_count(rewriter)).collect();
    let known = trips.iter().flatten().map(|it| (*it).max(1));
    let product = known.into_iter().try_fold(1_i128, i128::checked_mul);
    let limit = most.unwrap_or(i128::from(MAX_TRIPS));
    (most.is_none() || trips.iter().all(Option::is_some)) && product.is_some_and(|it| it <= limit)
}

/// Returns true if the computed trip count of a loop is known to be nonnegative.
fn is_never_negative(rewriter: &Rewriter<'_>, it: &ScfFor) -> bool {
    let is_size = rewriter.defined_by(it.high, OpKind::MemrefDim).is_some();
    it.trip_count(rewriter).is_some() || (is_size && rewriter.int_of(it.low) == Some(0))
}

/// Creates the trip count of a loop before an op.
fn create_trip_count(rewriter: &mut Rewriter<'_>, it: &ScfFor, before: Op) -> Value {
    let ty = it.ty(rewriter.ir);
    let counts_by_1 = rewriter.int_of(it.low) == Some(0) && rewriter.int_of(it.step) == Some(1);
    if counts_by_1 && rewriter.int_of(it.high).is_none_or(|it| it >= 0) {
        return it.high;
    }
    if let Some(trips) = it.trip_count(rewriter) {
        return rewriter.int(trips, ty, before);
    }
    let size = match rewriter.int_of(it.low) {
        Some(0) => it.high,
        _ => rewriter.insert_binary("arith.subi", it.high, it.low, before),
    };
    match rewriter.int_of(it.step) {
        Some(1) => size,
        _ => rewriter.insert_binary("arith.ceildivsi", size, it.step, before),
    }
}

fn coalesce(rewriter: &mut Rewriter<'_>, band: &[ScfFor]) {
    let (root, innermost) = (&band[0], &band[band.len() - 1]);
    let ty = root.ty(rewriter.ir);
    let mut counts = Vec::new();
    let mut unsure = 0;
    for it in band {
        let mut own = create_trip_count(rewriter, it, root.op);
        if !is_never_negative(rewriter, it) {
            unsure += 1;
            // If only one factor is negative, the product is not positive, and the loop does not
            // run.
            if unsure > 1 {
                let zero = rewriter.int(0, ty, root.op);
                own = rewriter.insert_binary("arith.maxsi", own, zero, root.op);
            }
        }
        counts.push(own);
    }
    let zero = rewriter.int(0, ty, root.op);
    let one = rewriter.int(1, ty, root.op);
    let mut product = counts[0];
    for &it in &counts[1..] {
        product = rewriter.insert_binary("arith.muli", product, it, root.op);
    }
    // Collect the uses before new ops use the variable of the first loop, too.
    let uses: Vec<_> = band.iter().map(|it| rewriter.ir.value(it.iv).uses.to_vec()).collect();
    let inner = band[1].op;
    // The innermost loop varies fastest.
    let mut rest = root.iv;
    let mut values = Vec::new();
    for &count in counts[1..].iter().rev() {
        values.push(rewriter.insert_binary("arith.remsi", rest, count, inner));
        rest = rewriter.insert_binary("arith.divsi", rest, count, inner);
    }
    values.push(rest);
    values.reverse();
    for ((it, mut value), uses) in band.iter().zip(values).zip(uses).rev() {
        if uses.is_empty() {
            continue;
        }
        if rewriter.int_of(it.step) != Some(1) {
            value = rewriter.insert_binary("arith.muli", value, it.step, inner);
        }
        if rewriter.int_of(it.low) != Some(0) {
            value = rewriter.insert_binary("arith.addi", value, it.low, inner);
        }
        for (user, index) in uses {
            rewriter.set_operand(user, index as usize, value);
        }
    }
    // Move the body of the innermost loop into the outermost one.
    let args = rewriter.ir.block(root.body).args.to_vec();
    let Some(last) = rewriter.ir.last_op(root.body) else { return };
    rewriter.inline_block_without_terminator(innermost.body, inner, &args);
    let Some(end) = rewriter.ir.last_op(innermost.body) else { return };
    let yielded = operands(rewriter.ir, end);
    rewriter.set_operands(last, &yielded);
    rewriter.erase(inner);
    let all = [&[zero, product, one][..], &root.inits].concat();
    rewriter.set_operands(root.op, &all);
}
