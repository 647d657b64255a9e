//! Loops: unrolled if the trip count has a small upper bound, else a cycle of nodes.

use noisy_syntax::{Op, Region, Value};
use smallvec::SmallVec;

use super::build::{Builder, NodeKey};
use noisy_dataflow::flow;
use noisy_placement::{Node, NodeRule};

/// The nodes of the iteration arguments of a loop; `None` for an argument without noise.
type CycleNodes = SmallVec<[Option<Node>; 4]>;

impl Builder<'_> {
    pub(super) fn build_loop(&mut self, op: Op, first: usize) -> Result<(), String> {
        let ir = self.ir;
        let data = ir.op(op);
        let region = data.regions[0].1;
        let n_carried = data.operands.len() - first;
        let args = flow::carried_args(ir, region, n_carried);
        let trips = self.program.integers().trips(ir, op).for_replay();
        let inits = |it: &mut Self| -> CycleNodes {
            (first..data.operands.len()).map(|index| it.operand_node(op, index)).collect()
        };
        if trips.most == Some(0) {
            let inits = inits(self);
            for (&result, init) in data.results.iter().zip(inits) {
                self.define(result, NodeRule::Max(0), init.into_iter().collect())?;
            }
            return Ok(());
        }
        let model = self.program.model();
        let levels =
            u64::from(model.budget.saturating_sub(model.fresh.min(model.reset_level()))) + 2;
        let n_noisy = args.iter().filter(|&&it| self.carries(it)).count() as u64;
        // The possible final values of the iteration arguments.
        let mut ends = Vec::new();
        if trips.most.is_none() || trips.least == 0 {
            ends.push(inits(self));
        }
        // Without a noisy iteration argument all iterations are equal and need no unrolling.
        if let Some(most) = trips.most.filter(|&it| it <= levels * n_noisy) {
            let inits = inits(self);
            self.unroll(op, trips.least, most, args, inits, &mut ends)?;
        } else {
            // Over-approximation: several iteration arguments need not have their maxima in the
            // same iteration.
            self.is_exact &= trips.most.is_none() || n_noisy <= 1;
            for &arg in args {
                self.define_join(arg)?;
            }
            self.build_region(region)?;
            ends.push(self.yielded(region));
        }
        for (index, &result) in data.results.iter().enumerate() {
            let fed = ends.iter().filter_map(|it| it.get(index).copied().flatten()).collect();
            self.define(result, NodeRule::Max(0), fed)?;
        }
        Ok(())
    }

    /// Returns the nodes of the yielded values of a region with one block.
    fn yielded(&mut self, region: Region) -> CycleNodes {
        let ir = self.ir;
        let end = flow::yield_ops(ir, region).first().copied();
        end.map_or(SmallVec::new(), |end| {
            flow::yielded_operands(ir, end).map(|index| self.operand_node(end, index)).collect()
        })
    }

    /// Unrolls a loop, and adds the yielded values of each possible last iteration to `ends`.
    fn unroll(
        &mut self,
        op: Op,
        least: u64,
        most: u64,
        args: &[Value],
        inits: CycleNodes,
        ends: &mut Vec<CycleNodes>,
    ) -> Result<(), String> {
        let region = self.ir.op(op).regions[0].1;
        let mut inside = Vec::new();
        noisy_dataflow::sparse::values_within(self.ir, op, &mut inside);
        let mut starts = inits;
        for round in 0..most {
            for value in &inside {
                self.env.remove(&NodeKey::Value(*value));
                for &group in self.groups_of.get(value).into_iter().flatten() {
                    self.env.remove(&NodeKey::Group(group));
                }
            }
            for (&arg, start) in args.iter().zip(&starts) {
                if let Some(start) = *start {
                    self.define(arg, NodeRule::Max(0), SmallVec::from_slice(&[start]))?;
                }
            }
            self.build_region(region)?;
            // All nodes of this iteration are read before the next iteration replaces any.
            starts = self.yielded(region);
            if round + 1 >= least {
                ends.push(starts.clone());
            }
        }
        Ok(())
    }
}
