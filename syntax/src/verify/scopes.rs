//! Dominance and isolation: whether each operand is there when the op runs, and from where it comes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Verifier, is_in_known_regions};
use crate::{Block, Def, Ir, Op, OpKind, Region, Traits, Value};

impl Verifier<'_> {
    pub(super) fn scopes(&mut self, op: Op) {
        if self.ir.op(op).operands.is_empty() || !is_in_known_regions(self.ir, op) {
            return;
        }
        for at in 0..self.ir.op(op).operands.len() {
            let operand = self.ir.op(op).operands[at];
            let Some(value) = operand.value else { continue };
            match self.reaches(op, value) {
                Reach::Dominates => {}
                Reach::Isolated => {
                    self.tell_at(
                        operand.span,
                        "isolated",
                        "uses a value defined outside of the isolated region",
                    );
                }
                Reach::Not => {
                    let name = self.ir.value_text(value);
                    self.tell_at(
                        operand.span,
                        "dominance",
                        format!("operand {name} does not dominate this use"),
                    );
                }
            }
        }
    }

    fn reaches(&mut self, op: Op, value: Value) -> Reach {
        let ir = self.ir;
        let (region, definer) = match ir.value(value).def {
            Def::Result(it, _) => (ir.op(it).parent, Some(it)),
            Def::Argument(block, _) => (ir.block(block).region, None),
        };
        // The op around the use that stands in the region of the definition.
        let mut user = op;
        while ir.op(user).parent != region {
            let Some(parent) = ir.parent_op(user) else { return Reach::Not };
            if ir.op(parent).kind.has(Traits::ISOLATED) {
                return Reach::Isolated;
            }
            user = parent;
        }
        let is_graph = ir.region(region).parent.is_none_or(|it| {
            let kind = ir.op(it).kind;
            kind == OpKind::Chunk || kind.has(Traits::GRAPH_REGION)
        });
        if is_graph {
            return Reach::Dominates;
        }
        let at = ir.block_of(user);
        let from = match (ir.value(value).def, definer) {
            (Def::Argument(block, _), _) => block,
            (_, Some(it)) => ir.block_of(it),
            _ => return Reach::Dominates,
        };
        if from == at {
            return match definer {
                // Its own results are not there yet, nor inside its regions.
                Some(it) if it == user => self.unless_unreachable(region, at),
                Some(it) if !ir.is_before(it, user) => self.unless_unreachable(region, at),
                _ => Reach::Dominates,
            };
        }
        self.block_dominates(region, from, at)
    }

    fn unless_unreachable(&mut self, region: Region, block: Block) -> Reach {
        let entry = self.ir.blocks(region).first().copied();
        let idoms = self.idoms(region);
        let is_reachable = entry == Some(block) || idoms.contains_key(&block);
        if is_reachable { Reach::Not } else { Reach::Dominates }
    }

    fn block_dominates(&mut self, region: Region, from: Block, mut at: Block) -> Reach {
        let entry = self.ir.blocks(region).first().copied();
        let idoms = self.idoms(region);
        if entry != Some(at) && !idoms.contains_key(&at) {
            // Nothing is wrong in code that is never reached.
            return Reach::Dominates;
        }
        while let Some(&up) = idoms.get(&at) {
            if up == from {
                return Reach::Dominates;
            }
            at = up;
        }
        Reach::Not
    }

    /// The immediate dominator of each reachable block but the entry.
    fn idoms(&mut self, region: Region) -> &FxHashMap<Block, Block> {
        let ir = self.ir;
        self.dominators.entry(region).or_insert_with(|| dominators(ir, region))
    }
}

enum Reach {
    Dominates,
    Not,
    Isolated,
}

/// Cooper, Harvey and Kennedy: iterate over reverse postorder, intersecting along the tree.
fn dominators(ir: &Ir, region: Region) -> FxHashMap<Block, Block> {
    let Some(&entry) = ir.blocks(region).first() else { return FxHashMap::default() };
    let successors = |block: Block| -> Vec<Block> {
        let last = ir.last_op(block);
        last.map_or_else(Vec::new, |it| {
            ir.rest(it).successors.iter().filter_map(|it| it.block).collect()
        })
    };
    let mut postorder = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![(entry, successors(entry))];
    seen.insert(entry);
    while let Some((block, rest)) = stack.last_mut() {
        if let Some(next) = rest.pop() {
            if ir.block(next).region == region && seen.insert(next) {
                stack.push((next, successors(next)));
            }
        } else {
            postorder.push(*block);
            stack.pop();
        }
    }
    let number: FxHashMap<Block, usize> =
        postorder.iter().enumerate().map(|(i, it)| (*it, i)).collect();
    let mut preds: FxHashMap<Block, Vec<Block>> = FxHashMap::default();
    for &block in &postorder {
        for next in successors(block) {
            preds.entry(next).or_default().push(block);
        }
    }
    let mut idom: FxHashMap<Block, Block> = FxHashMap::default();
    loop {
        let mut changed = false;
        for &block in postorder.iter().rev() {
            if block == entry {
                continue;
            }
            let mut best: Option<Block> = None;
            for &pred in preds.get(&block).into_iter().flatten() {
                if pred != entry && !idom.contains_key(&pred) {
                    continue;
                }
                best = Some(match best {
                    None => pred,
                    Some(other) => {
                        let (mut a, mut b) = (pred, other);
                        while a != b {
                            if number[&a] < number[&b] {
                                a = idom[&a];
                            } else {
                                b = idom[&b];
                            }
                        }
                        a
                    }
                });
            }
            if let Some(best) = best
                && idom.get(&block) != Some(&best)
            {
                idom.insert(block, best);
                changed = true;
            }
        }
        if !changed {
            return idom;
        }
    }
}
