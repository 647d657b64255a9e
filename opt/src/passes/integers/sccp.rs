//! `sccp`: replaces values by constants, by conditional constant propagation.

use noisy_dataflow::sparse::SparseSolver;
use noisy_integers::constant::Constant;
use noisy_integers::constants::Constants;
use noisy_syntax::{Block, Ir, Op, Region, Value};

use crate::actions::target_of;
use crate::passes::integers::facts::CachedConstants;
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::Rewriter;
use crate::rewrite::constants::{self, UniquedConstants};
use noisy_analyses::facts::effects;

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "sccp",
    class: "SCCP",
    anchor: None,
    summary: "Sparse Conditional Constant Propagation",
    options: &[],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let facts = cx.analyses.get_or_compute::<CachedConstants>(cx.ir, op);
    let facts = &facts.0;
    let regions: Vec<Region> = cx.ir.op(op).regions.iter().map(|it| it.1).collect();
    let mut rewriter = Rewriter::new(cx.ir);
    let mut known = ConstantReplacement { facts, uniqued: UniquedConstants::default() };
    let mut n = 0;
    let mut stack: Vec<Block> = Vec::new();
    let add = |ir: &Ir, regions: &[Region], stack: &mut Vec<Block>| {
        for &region in regions {
            stack.extend(ir.blocks(region).into_iter().rev());
        }
    };
    add(rewriter.ir, &regions, &mut stack);
    while let Some(block) = stack.pop() {
        let is_live = facts.is_block_live(block);
        let ops: Vec<Op> = rewriter.ir.block_ops(block).collect();
        for op in ops {
            let results = rewriter.ir.op(op).results.to_vec();
            let mut n_replaced = 0;
            for &value in results.iter().filter(|_| is_live) {
                n_replaced += usize::from(known.replace(&mut rewriter, value, op));
            }
            n += n_replaced;
            if n_replaced > 0 {
                let ir = &*rewriter.ir;
                cx.actions.record_step(ir, "its value is known", || target_of(ir, op));
                if !cx.actions.is_within_limit() {
                    return Ok(());
                }
            }
            let is_whole = !results.is_empty() && n_replaced == results.len();
            // A constant that replaced itself is still used, so it is not dead.
            if is_whole && effects::is_trivially_dead(rewriter.ir, op) {
                rewriter.erase(op);
                continue;
            }
            let inner: Vec<Region> = rewriter.ir.op(op).regions.iter().map(|it| it.1).collect();
            add(rewriter.ir, &inner, &mut stack);
        }
        let first = rewriter.ir.block_ops(block).next();
        let args = rewriter.ir.block(block).args.clone();
        for value in args {
            if let Some(first) = first.filter(|_| is_live) {
                n += usize::from(known.replace(&mut rewriter, value, first));
            }
        }
    }
    if n == 0 {
        cx.analyses.preserve_all();
    }
    cx.add_statistic("num-folded - Number of values that became constants", n);
    Ok(())
}

/// The facts, and the constants that were created.
struct ConstantReplacement<'a> {
    facts: &'a SparseSolver<Constants>,
    uniqued: UniquedConstants,
}

impl ConstantReplacement<'_> {
    /// Replaces a value by a constant if it is known. Returns true if the value is known.
    fn replace(&mut self, rewriter: &mut Rewriter<'_>, value: Value, user: Op) -> bool {
        let fact = self.facts.fact(value).copied().unwrap_or(Constant::Unknown);
        let ty = rewriter.ty(value);
        let lists = &self.facts.analysis.lists;
        let Some(attr) = constants::to_attr(rewriter.ir, lists, fact, ty) else { return false };
        let Some(constant) = self.uniqued.get_or_create(rewriter, attr, ty, user) else {
            return false;
        };
        if constant != value {
            rewriter.replace_uses(value, constant);
        }
        true
    }
}
