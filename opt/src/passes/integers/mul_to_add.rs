//! `mul-to-add`: replaces products with a constant by sums, as in the MLIR tutorial
//! (j2kun/mlir-tutorial).
//!
//! *Cost.* At most two sums per bit of the constant. A product with an even constant is twice the
//! product with half of the constant. A product with an odd constant is the value plus the product
//! with the constant minus 1.

use noisy_syntax::rewrite::NewOp;
use noisy_syntax::{Op, OpKind, Sign, TypeData};

use crate::passes::general::canonicalize::rewrite;
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::Rewriter;
use crate::rewrite::greedy::{GreedyConfig, Pattern, Patterns};
use crate::rewrite::regions::SimplificationLevel;

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "mul-to-add",
    class: "MulToAdd",
    anchor: None,
    summary: "Convert multiplications by constants to repeated additions",
    options: &[],
    run,
}];

const PATTERNS: &[Pattern] =
    &[Pattern { name: "sum_of_halves", kind: OpKind::ArithMuli, rewrite: product_as_sum }];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let config = GreedyConfig {
        is_top_down: true,
        is_folding: true,
        simplify: SimplificationLevel::Normal,
        max_iterations: None,
        max_rewrites: None,
    };
    rewrite(cx, op, &Patterns::new(PATTERNS.iter().copied()), config, true)
}

/// Rewrites one step of a product with a constant that is positive, or a power of two as an
/// unsigned number. Sums wrap like products, and have no overflow flags.
fn product_as_sum(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let (value, by) = (rewriter.operand(op, 0), rewriter.operand(op, 1));
    let ty = rewriter.ty(by);
    let &TypeData::Int { width: width @ 2..=64, sign: Sign::Signless } =
        rewriter.ir.interner.type_data(ty)
    else {
        return false;
    };
    let Some(signed) = rewriter.int_of(by) else { return false };
    let factor = signed & ((1 << width) - 1);
    let is_power = factor.count_ones() == 1;
    if factor < 2 || signed < 0 && !is_power {
        return false;
    }
    let is_even = factor % 2 == 0;
    let rest = rewriter.int(if is_even { factor / 2 } else { factor - 1 }, ty, op);
    let rest = NewOp::new("arith.muli").operands(&[value, rest]).results(&[ty]);
    let rest = rewriter.insert_value(rest, op);
    let other = if is_even { rest } else { value };
    rewriter.replace_with(op, NewOp::new("arith.addi").operands(&[rest, other]).results(&[ty]));
    true
}
