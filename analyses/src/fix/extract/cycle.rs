//! Loops: round by round where it is known how few there are, else as a cycle.

use noisy_syntax::{Op, Region, Value};
use smallvec::SmallVec;

use super::build::{Builder, Key};
use crate::flow;
use crate::placement::{Node, NodeRule};

impl Builder<'_> {
    pub(super) fn loop_(&mut self, op: Op, first: usize) -> Result<(), String> {
        let ir = self.ir;
        let data = ir.op(op);
        let region = data.regions[0].1;
        let n_carried = data.operands.len() - first;
        let args = flow::carried_args(ir, region, n_carried);
        let trips = self.program.integers().trip_count(ir, op);
        let inits = |it: &mut Self| -> SmallVec<[Option<Node>; 4]> {
            (first..data.operands.len()).map(|index| it.operand(op, index)).collect()
        };
        if trips == Some(0) {
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
        if let Some(n) = trips.filter(|&it| it <= levels * n_noisy.max(1)) {
            let inits = inits(self);
            self.unroll(op, n, &args, inits)?;
        } else {
            // Values that change places need not all be at their highest at once.
            self.is_exact &= trips.is_none() || n_noisy <= 1;
            for &arg in &args {
                self.define_meet(arg)?;
            }
            self.region(region)?;
        }
        let yielded = self.yielded(region);
        let inits = inits(self);
        for (index, &result) in data.results.iter().enumerate() {
            let mut fed: SmallVec<[Node; 2]> = SmallVec::new();
            fed.extend(yielded.get(index).copied().flatten());
            if trips.is_none() {
                fed.extend(inits.get(index).copied().flatten());
            }
            self.define(result, NodeRule::Max(0), fed)?;
        }
        Ok(())
    }

    /// What the yield of a region of one block gives.
    fn yielded(&mut self, region: Region) -> SmallVec<[Option<Node>; 4]> {
        let ir = self.ir;
        let end = flow::yields(ir, region).first().copied();
        end.map_or(SmallVec::new(), |end| {
            flow::yielded(ir, end).map(|index| self.operand(end, index)).collect()
        })
    }

    /// Builds a loop round by round.
    fn unroll(
        &mut self,
        op: Op,
        n: u64,
        args: &[Value],
        inits: SmallVec<[Option<Node>; 4]>,
    ) -> Result<(), String> {
        let region = self.ir.op(op).regions[0].1;
        let mut inside = Vec::new();
        crate::sparse::values_within(self.ir, op, &mut inside);
        let mut starts = inits;
        for round in 0..n {
            if round > 0 {
                // All nodes of the round before are looked up before any is replaced.
                starts = self.yielded(region);
            }
            for value in &inside {
                self.env.remove(&Key::Value(*value));
                for &group in self.groups_of.get(value).into_iter().flatten() {
                    self.env.remove(&Key::Group(group));
                }
            }
            for (&arg, start) in args.iter().zip(&starts) {
                if let Some(start) = *start {
                    self.define(arg, NodeRule::Max(0), SmallVec::from_slice(&[start]))?;
                }
            }
            self.region(region)?;
        }
        Ok(())
    }
}
