//! The analyses that passes share ([`Analysis`]): constants, ranges, and live values.
//!
//! *Cost.* Constants and ranges are linear in the size of the program, except for loops. The
//! comparison of two results is linear in the number of values.

use noisy_dataflow::sparse::{AnalysisInput, SparseSolver};
use noisy_integers::Integers;
use noisy_integers::constants::Constants;
use noisy_syntax::{Block, Ir, Op, OpKind, Region, Value};

use crate::analysis::Analysis;
use crate::passes::general::remove_dead::{LiveValues, live_values};
use crate::rewrite::nested_ops;

/// Returns the blocks and ops in the regions of an op, in order.
pub(crate) fn blocks_and_ops(ir: &Ir, op: Op) -> (Vec<Block>, Vec<Op>) {
    let ops = nested_ops(ir, op);
    let mut regions: Vec<Region> = ir.op(op).regions.iter().map(|it| it.1).collect();
    for &it in &ops {
        regions.extend(ir.op(it).regions.iter().map(|it| it.1));
    }
    let blocks = regions.iter().flat_map(|&it| ir.blocks(it)).collect();
    (blocks, ops)
}

/// Returns true if predicates hold for all values that are defined in an op, and for all blocks in
/// it.
fn all_facts_hold(
    ir: &Ir,
    op: Op,
    mut of_value: impl FnMut(Value) -> bool,
    mut of_block: impl FnMut(Block) -> bool,
) -> bool {
    let (blocks, ops) = blocks_and_ops(ir, op);
    let args = blocks.iter().flat_map(|&it| ir.block(it).args.iter());
    let results = ops.iter().flat_map(|&it| ir.op(it).results.iter());
    args.chain(results).all(|&it| of_value(it)) && blocks.iter().all(|&it| of_block(it))
}

/// Returns true if a pass on an op analyzes it in isolation: if the op is a function.
fn is_analyzed_alone(ir: &Ir, op: Op) -> bool {
    ir.op(op).kind == OpKind::FuncFunc
}

/// The constants in an op. In a function, the arguments are unknown.
pub(crate) struct CachedConstants(pub(crate) SparseSolver<Constants>);

impl Analysis for CachedConstants {
    const NAME: &'static str = "constants";

    fn new(ir: &Ir, op: Op) -> Self {
        let input = AnalysisInput { ir, base: &() };
        Self(if is_analyzed_alone(ir, op) {
            SparseSolver::of_op(&input, Constants::without_calls(), op)
        } else {
            SparseSolver::new(&input, Constants::with_joined_calls())
        })
    }

    fn is_same(&self, other: &Self, ir: &Ir, op: Op) -> bool {
        let (a, b) = (&self.0, &other.0);
        all_facts_hold(
            ir,
            op,
            |it| a.fact(it) == b.fact(it),
            |it| a.is_block_live(it) == b.is_block_live(it),
        )
    }
}

/// The ranges of integers in an op. In a function, the arguments are unknown.
pub(crate) struct CachedRanges(pub(crate) Integers);

impl Analysis for CachedRanges {
    const NAME: &'static str = "ranges";

    fn new(ir: &Ir, op: Op) -> Self {
        Self(if is_analyzed_alone(ir, op) { Integers::of_op(ir, op) } else { Integers::new(ir) })
    }

    fn is_same(&self, other: &Self, ir: &Ir, op: Op) -> bool {
        let (a, b) = (&self.0, &other.0);
        all_facts_hold(
            ir,
            op,
            |it| a.bounds(ir, it) == b.bounds(ir, it) && a.constant(ir, it) == b.constant(ir, it),
            |it| a.is_block_live(it) == b.is_block_live(it),
        )
    }
}

impl Analysis for LiveValues {
    const NAME: &'static str = "needed values";

    fn new(ir: &Ir, op: Op) -> Self {
        live_values(ir, op)
    }

    fn is_same(&self, other: &Self, ir: &Ir, op: Op) -> bool {
        all_facts_hold(ir, op, |it| self.is_live(it) == other.is_live(it), |_| true)
    }
}

#[cfg(test)]
mod tests {
    use noisy_syntax::Source;

    use super::*;

    /// Functions of different lengths with a branch, a loop and a call.
    fn functions(n: usize) -> String {
        let function = |at: usize| {
            let more = "    %more = arith.addi %i, %c3 : index\n".repeat(1 + at % 3);
            let more = (0..)
                .zip(more.lines())
                .map(|(i, line)| line.replace("more", &format!("m{i}")) + "\n");
            format!(
                "func.func @f{at}(%b: i1, %x: i32) -> i32 {{\n  %c1 = arith.constant {at} : i32\n  %c3 = arith.constant 3 : index\n  \
                 %r = scf.for %i = %c3 to %c3 step %c3 iter_args(%a = %c1) -> i32 {{\n{}    scf.yield %a : i32\n  }}\n  \
                 cf.cond_br %b, ^one(%r : i32), ^two\n^one(%p: i32):\n  %s = arith.addi %p, %c1 : i32\n  return %s : i32\n^two:\n  \
                 %d = call @f0(%b, %c1) : (i1, i32) -> i32\n  %e = arith.addi %d, %x : i32\n  return %e : i32\n}}\n",
                more.collect::<String>()
            )
        };
        (0..n).map(function).collect()
    }

    #[test]
    fn isolated_function_has_the_facts_and_cost_of_the_program() {
        let source = Source::new(&functions(40));
        assert_eq!(source.problems().len(), 0, "{:?}", source.problems());
        let ir = source.ir();
        let input = AnalysisInput { ir, base: &() };
        let whole = SparseSolver::new(&input, Constants::without_calls());
        let mut n_visits = 0;
        for function in noisy_dataflow::flow::functions(ir) {
            let facts = CachedConstants::new(ir, function);
            assert!(facts.is_same(
                &CachedConstants(SparseSolver::new(&input, Constants::without_calls())),
                ir,
                function
            ));
            n_visits += facts.0.n_visits();
        }
        assert!(n_visits <= whole.n_visits(), "{n_visits} and {}", whole.n_visits());
    }
}
