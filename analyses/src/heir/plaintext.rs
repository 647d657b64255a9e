//! The level at which a plaintext is needed: that of the ciphertexts that it meets.
//!
//! A plaintext is encoded for one level (`mgmt.init` once for each use). Its level is the largest of what its uses want: a use by an op with a ciphertext operand
//! wants the level of these operands, a use by an op on plaintexts what its results are wanted at. Source: HEIR, `lib/Analysis/LevelAnalysis`, the backward analysis.

use noisy_syntax::{Ir, Op, Region, Value};
use rustc_hash::FxHashSet;

use super::{Ciphertext, Dimension, Heir, Level};
use crate::flow;

/// How many plaintext ops are looked through from one value.
const MOST: usize = 10_000;

/// The largest of what the uses of a plaintext want; `wanted` says what an op wants of its operands, if it has ciphertext operands.
pub(super) fn needed(ir: &Ir, value: Value, wanted: &dyn Fn(Op) -> Option<u32>) -> Option<u32> {
    let mut found = None;
    let mut seen: FxHashSet<Value> = FxHashSet::default();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        if !seen.insert(value) || seen.len() > MOST {
            continue;
        }
        for &(user, at) in &ir.value(value).uses {
            let here = wanted(user);
            found = found.max(here);
            if here.is_none() {
                stack.extend(ir.op(user).results.iter().copied());
            }
            stack.extend(flow::feeds(ir, user, at as usize));
        }
    }
    found
}

/// Level and dimension of each ciphertext operand of an op without regions.
pub(super) fn ciphertexts(
    heir: &Heir,
    ir: &Ir,
    op: Op,
) -> impl Iterator<Item = (Level, Dimension)> {
    let data = ir.op(op);
    let operands = if data.regions.is_empty() { data.operands.as_slice() } else { &[] };
    operands.iter().filter_map(|it| match heir.ciphertext(it.value?) {
        Ciphertext::Encrypted { level, dimension } => Some((level, dimension)),
        _ => None,
    })
}

/// All values of a program, in textual order.
pub(crate) fn values(ir: &Ir) -> Vec<Value> {
    fn within(ir: &Ir, region: Region, out: &mut Vec<Value>) {
        out.extend(ir.block(ir.region(region).entry).args.iter().copied());
        for op in ir.items(region) {
            out.extend(ir.op(op).results.iter().copied());
            for &(_, inner) in &ir.op(op).regions {
                within(ir, inner, out);
            }
        }
    }
    let mut out = Vec::new();
    within(ir, ir.root(), &mut out);
    out
}
