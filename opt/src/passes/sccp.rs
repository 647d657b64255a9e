//! `sccp`: values that the constants analysis knows become constants.

use noisy_analyses::constant::{Constant, Constants};
use noisy_analyses::sparse::{Scene, Sparse};
use noisy_syntax::{Ir, Op, Region, Traits, Type, Value};

use super::{Context, Failure, Options, PassInfo};
use crate::effects;
use crate::rewrite::constants::{self, Uniqued};
use crate::rewrite::Rewriter;

pub(super) const PASSES: &[PassInfo] = &[PassInfo {
    name: "sccp",
    class: "SCCP",
    anchor: None,
    summary: "Sparse Conditional Constant Propagation",
    options: &[],
    run,
}];

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let facts = Sparse::new(&Scene { ir: cx.ir, base: &() }, Constants::default());
    let regions: Vec<Region> = cx.ir.op(op).regions.iter().map(|it| it.1).collect();
    let mut rewriter = Rewriter::new(cx.ir);
    let mut uniqued = Uniqued::default();
    let mut n = 0;
    for region in regions {
        // From the end, so that constants stand in the order of what they replace.
        let mut steps = Vec::new();
        visit(rewriter.ir, region, &facts, &mut steps);
        for step in steps.into_iter().rev() {
            n += step.replace(&mut rewriter, &facts, &mut uniqued);
        }
    }
    cx.count("num-folded - Number of values that became constants", n);
    Ok(())
}

/// Something whose values may be constants.
enum Step {
    Op(Op),
    /// The arguments of a block, with an op of it.
    Block(noisy_syntax::Block),
}

/// Blocks that are reached, and ops in them, in order.
fn visit(ir: &Ir, region: Region, facts: &Sparse<Constants>, out: &mut Vec<Step>) {
    for block in ir.blocks(region) {
        if !facts.is_block_live(block) {
            continue;
        }
        out.push(Step::Block(block));
        for op in ir.block_ops(block) {
            out.push(Step::Op(op));
            for &(_, inner) in &ir.op(op).regions {
                visit(ir, inner, facts, out);
            }
        }
    }
}

/// The attribute of a value that is known and worth a constant.
fn known(
    rewriter: &mut Rewriter<'_>,
    facts: &Sparse<Constants>,
    value: Value,
) -> Option<(noisy_syntax::Attr, Type)> {
    if rewriter.ir.value(value).uses.is_empty() {
        return None;
    }
    let fact = facts.fact(value).copied().unwrap_or(Constant::Unknown);
    let ty = rewriter.ty(value);
    let attr = constants::to_attr(rewriter.ir, &facts.analysis.lists, fact, ty)?;
    constants::constant_op(rewriter.ir, attr, ty)?;
    Some((attr, ty))
}

impl Step {
    fn replace(
        &self,
        rewriter: &mut Rewriter<'_>,
        facts: &Sparse<Constants>,
        uniqued: &mut Uniqued,
    ) -> usize {
        let (values, user) = match *self {
            Step::Op(op) => {
                if rewriter.ir.op(op).kind.has(Traits::CONSTANT) {
                    return 0;
                }
                (rewriter.ir.op(op).results.to_vec(), Some(op))
            }
            Step::Block(block) => {
                let first = rewriter.ir.block_ops(block).next();
                (rewriter.ir.block(block).args.to_vec(), first)
            }
        };
        let Some(user) = user else { return 0 };
        let mut n = 0;
        for value in values {
            let Some((attr, ty)) = known(rewriter, facts, value) else { continue };
            if let Some(constant) = uniqued.get(rewriter, attr, ty, user) {
                rewriter.replace_uses(value, constant);
                n += 1;
            }
        }
        if let Step::Op(op) = *self
            && n > 0
            && effects::is_trivially_dead(rewriter.ir, op)
        {
            rewriter.erase(op);
        }
        n
    }
}
