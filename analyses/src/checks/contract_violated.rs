//! contract-violated: more noise than a contract allows
//!
//! A call passes a value that may have more noise than the callee states for its argument, or a function returns one that may have more
//! than it states for its result. The place of the contract comes along, and the chain that fed the noise.
//!
//! ```mlir
//! func.func private @g(!noisy.i32 {noisy.bound = 12 : i64})
//! func.func @f(%x: i5) {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32      // noise 24
//!   call @g(%1) : (!noisy.i32) -> ()        // at most 12
//!   return
//! }
//! ```
//!
//! Reduce the value first, or allow more.
//!
//! ```mlir
//! func.func private @g(!noisy.i32 {noisy.bound = 12 : i64})
//! func.func @f(%x: i5) {
//!   %0 = noisy.encode %x : i5 -> !noisy.i32
//!   %1 = noisy.mul %0, %0 : !noisy.i32      // 24
//!   %2 = noisy.reduce_noise %1 : !noisy.i32 // 12
//!   call @g(%2) : (!noisy.i32) -> ()
//!   return
//! }
//! ```

use noisy_syntax::{Op, OpKind};

use super::Check;
use super::noise_overflow::related;
use crate::contract::{self, Contract, Side};
use crate::flow;
use crate::model::Bits;
use crate::{Category, Diagnostic, Document, Related, Severity};

pub(super) const CHECK: Check = Check {
    code: "contract-violated",
    category: Category::Noise,
    severity: Severity::Error,
    tag: None,
    source: include_str!("contract_violated.rs"),
    run: check,
    fix: None,
};

fn check(document: &Document, out: &mut Vec<Diagnostic>) {
    let ir = document.ir();
    #[allow(clippy::iter_over_hash_type, reason = "diagnostics are sorted at the end")]
    for &function in &document.candidates().bound {
        for (side, index, stated) in contract::all(ir, function) {
            let Contract::Bound(bound) = stated else { continue };
            let givers = match side {
                Side::Argument => calls(document, function),
                Side::Result => {
                    let regions = ir.op(function).regions.iter();
                    let ends = regions.flat_map(|it| flow::yields(ir, it.1));
                    ends.filter(|&it| ir.op(it).kind == OpKind::FuncReturn).collect()
                }
            };
            for giver in givers {
                out.extend(judge(document, giver, index, bound, (function, side)));
            }
        }
    }
}

/// The calls of a function in textual order.
fn calls(document: &Document, function: Op) -> Vec<Op> {
    let ir = document.ir();
    let Some((name, _)) = ir.extra(function).symbol else { return Vec::new() };
    let users = ir.symbol_users(name).iter().copied();
    let mut out: Vec<Op> = users.filter(|&it| flow::callee(ir, it) == Some(function)).collect();
    out.sort_by_key(|&it| ir.start(it));
    out.dedup();
    out
}

/// What is wrong with what an op gives for a contract. What is over the budget was said where it first was.
fn judge(
    document: &Document,
    giver: Op,
    index: usize,
    bound: Bits,
    (function, side): (Op, Side),
) -> Option<Diagnostic> {
    let (ir, budget) = (document.ir(), document.model().budget);
    let operand = ir.op(giver).operands.get(index)?;
    let value = operand.value?;
    if !document.facts().is_live(ir, giver) || !document.is_noisy(value) {
        return None;
    }
    let noise = document.noise(value).hi().filter(|&it| it > bound && it <= budget)?;
    let name = document.function_name(function);
    let what = match side {
        Side::Argument => format!("@{name} takes at most {bound}"),
        Side::Result => format!("@{name} promises at most {bound}"),
    };
    let message = format!("noise {noise} is more than the contract allows: {what}");
    let mut it = CHECK.at(ir.absolute(giver, operand.span), message);
    it.related = related(document, value);
    it.related.push(Related {
        range: contract::range(document, function, side, index),
        message: format!("the contract: at most {bound}"),
    });
    it.help = Some(format!("reduce {} first, or allow more", ir.value_text(value)));
    Some(it)
}
