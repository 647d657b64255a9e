//! Liveness: the values that are used after control enters or leaves a block.
//!
//! A value is live at a point if a path leads from the point to a use of the value without passing
//! its definition. Uses inside the regions of an op are uses by the op. The analysis is backward
//! over the blocks of one region ([`noisy_dataflow::dense`]); the sets contain only values that
//! cross a boundary of blocks.

use noisy_syntax::{Block, Def, Ir, Op, Region, Value};
use rustc_hash::FxHashSet;

use noisy_dataflow::cfg::Cfg;
use noisy_dataflow::dense::{self, Backward, BlockStates, DenseAnalysis};
use noisy_dataflow::lattice::{Changed, Lattice};

/// A sorted set of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueSet(Vec<Value>);

impl ValueSet {
    /// Returns true if a value is in the set. *Cost.* O(log n).
    pub(crate) fn contains(&self, value: Value) -> bool {
        self.0.binary_search(&value).is_ok()
    }

    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }
}

impl FromIterator<Value> for ValueSet {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        let mut values: Vec<Value> = values.into_iter().collect();
        values.sort_unstable();
        values.dedup();
        Self(values)
    }
}

impl Lattice for ValueSet {
    fn bottom() -> Self {
        Self::default()
    }

    fn join(&mut self, other: &Self) -> Changed {
        if other.0.iter().all(|it| self.contains(*it)) {
            return Changed::No;
        }
        *self = self.0.iter().chain(&other.0).copied().collect();
        Changed::Yes
    }
}

/// The liveness of the values of a region.
#[derive(Debug)]
pub struct Liveness {
    cfg: Cfg,
    states: BlockStates<ValueSet>,
}

/// For each block, the values that it uses but does not define, and the values that it defines.
struct BlockUses {
    uses: Vec<ValueSet>,
    defs: Vec<FxHashSet<Value>>,
}

impl DenseAnalysis for BlockUses {
    type State = ValueSet;
    type Direction = Backward;

    fn boundary(&self) -> ValueSet {
        ValueSet::bottom()
    }

    fn transfer(&self, node: usize, state: &mut ValueSet) {
        state.0.retain(|it| !self.defs[node].contains(it));
        let _ = state.join(&self.uses[node]);
    }
}

impl Liveness {
    /// Computes the liveness in a region. *Cost.* Linear in the ops and in the sizes of the sets.
    pub fn new(ir: &Ir, region: Region) -> Self {
        let cfg = Cfg::new(ir, region);
        let mut blocks = BlockUses { uses: Vec::new(), defs: Vec::new() };
        for &block in &cfg.blocks {
            let mut defs: FxHashSet<Value> = ir.block(block).args.iter().copied().collect();
            let mut uses: Vec<Value> = Vec::new();
            for op in ir.block_ops(block) {
                used_by(ir, op, &mut |value| uses.push(value));
                defs.extend(ir.op(op).results.iter().copied());
            }
            uses.retain(|it| !defs.contains(it));
            blocks.uses.push(uses.into_iter().collect());
            blocks.defs.push(defs);
        }
        let states = dense::solve(&cfg, &blocks);
        Self { cfg, states }
    }

    /// Returns the values that are live at the start of a block, without its arguments.
    pub fn live_in(&self, block: Block) -> Option<&ValueSet> {
        self.cfg.node(block).map(|it| &self.states.outflow[it])
    }

    /// Returns the values that are live at the end of a block.
    pub(crate) fn live_out(&self, block: Block) -> Option<&ValueSet> {
        self.cfg.node(block).map(|it| &self.states.inflow[it])
    }

    /// Returns the ops of the region after which a value is no longer live: its last use in each
    /// block, in no particular order, or the defining op of an unused value. *Cost.* Linear in its
    /// uses.
    pub fn last_uses(&self, ir: &Ir, region: Region, value: Value) -> Vec<Op> {
        let mut last: Vec<(Block, Op)> = Vec::new();
        for &(user, _) in &ir.value(value).uses {
            let mut at = user;
            while ir.op(at).parent != region {
                match ir.parent_op(at) {
                    Some(parent) => at = parent,
                    None => break,
                }
            }
            if ir.op(at).parent != region {
                continue;
            }
            let block = ir.block_of(at);
            if self.live_out(block).is_some_and(|it| it.contains(value)) {
                continue;
            }
            match last.iter_mut().find(|it| it.0 == block) {
                Some((_, op)) if ir.is_before(*op, at) => *op = at,
                Some(_) => {}
                None => last.push((block, at)),
            }
        }
        if last.is_empty()
            && ir.value(value).uses.is_empty()
            && let Def::Result(op, _) = ir.value(value).def
        {
            return vec![op];
        }
        last.into_iter().map(|it| it.1).collect()
    }
}

/// Calls `visit` for each value that an op or an op in its regions uses.
fn used_by(ir: &Ir, op: Op, visit: &mut dyn FnMut(Value)) {
    let mut stack = vec![op];
    while let Some(it) = stack.pop() {
        ir.op(it).operands.iter().filter_map(|it| it.value).for_each(&mut *visit);
        for &(_, region) in &ir.op(it).regions {
            stack.extend(ir.items(region));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;
    use noisy_dataflow::lattice::check_laws;

    #[test]
    fn sets_are_a_lattice() {
        let set = |of: &[usize]| of.iter().map(|&it| Value::from_index(it)).collect::<ValueSet>();
        assert_eq!(
            check_laws(&[set(&[]), set(&[1]), set(&[2]), set(&[1, 2]), set(&[0, 2, 5])]),
            Ok(())
        );
    }

    /// Computes liveness by its definition: walks back from each use to the definition of the
    /// value.
    fn live_at_starts(ir: &Ir, cfg: &Cfg, region: Region, value: Value) -> Vec<bool> {
        let mut live = vec![false; cfg.blocks.len()];
        let home = match ir.value(value).def {
            Def::Result(op, _) => (ir.op(op).parent == region).then(|| ir.block_of(op)),
            Def::Argument(block, _) => Some(block),
        };
        let mut stack: Vec<usize> = Vec::new();
        for (node, &block) in cfg.blocks.iter().enumerate() {
            let mut is_used = false;
            for op in ir.block_ops(block) {
                used_by(ir, op, &mut |it| is_used |= it == value);
            }
            if is_used {
                stack.push(node);
            }
        }
        while let Some(node) = stack.pop() {
            if Some(cfg.blocks[node]) == home || std::mem::replace(&mut live[node], true) {
                continue;
            }
            stack.extend(cfg.predecessors[node].iter().map(|&it| it as usize));
        }
        live
    }

    #[test]
    fn liveness_equals_a_walk_from_the_uses() {
        for seed in 1..=300 {
            let text = crate::laws::program(seed);
            let document = Document::new(&text);
            let ir = document.ir();
            for function in ir.functions() {
                let region = ir.op(function).regions[0].1;
                let liveness = Liveness::new(ir, region);
                let cfg = Cfg::new(ir, region);
                let mut values = Vec::new();
                noisy_dataflow::sparse::values_within(ir, function, &mut values);
                for value in values {
                    if ir.def_region(value) != region {
                        continue;
                    }
                    let expected = live_at_starts(ir, &cfg, region, value);
                    for (node, &block) in cfg.blocks.iter().enumerate() {
                        let found = liveness.live_in(block).is_some_and(|it| it.contains(value));
                        assert_eq!(found, expected[node], "{} {text}", ir.value_text(value));
                    }
                }
            }
        }
    }

    #[test]
    fn finds_last_uses_on_each_path() {
        let text = "func.func @f(%a: i32, %c: i1) -> i32 {
  %0 = arith.addi %a, %a : i32
  cf.cond_br %c, ^1, ^2
^1:
  %1 = arith.muli %0, %a : i32
  return %1 : i32
^2:
  %2 = arith.subi %0, %0 : i32
  %3 = arith.addi %2, %0 : i32
  return %3 : i32
}
";
        let document = Document::new(text);
        let ir = document.ir();
        let function = ir.functions()[0];
        let region = ir.op(function).regions[0].1;
        let liveness = Liveness::new(ir, region);
        let mut found = Vec::new();
        ir.walk(region, &mut |op| {
            for &value in &ir.op(op).results {
                let mut last: Vec<String> = liveness
                    .last_uses(ir, region, value)
                    .into_iter()
                    .map(|it| ir.op_name(it).to_owned())
                    .collect();
                last.sort();
                found.push(format!("{} {}", ir.value_text(value), last.join(" ")));
            }
        });
        assert_eq!(
            found,
            ["%0 arith.addi arith.muli", "%1 func.return", "%2 arith.addi", "%3 func.return"]
        );
    }
}
