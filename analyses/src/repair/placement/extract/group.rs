//! Groups of uses: the uses of a value in a block that is executed less often than its definition.
//! Each group has its own site.

use noisy_syntax::{Block, Op, Region, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::build::{Builder, NodeKey};
use super::{SitePosition, UseGroup};
use noisy_placement::Node;

impl Builder<'_> {
    /// Computes the groups of uses of all values defined in a region and in nested regions.
    pub(super) fn group_uses(&mut self, region: Region) {
        let ir = self.ir;
        let mut stack = vec![region];
        while let Some(region) = stack.pop() {
            for block in ir.blocks(region) {
                for &arg in &ir.block(block).args {
                    self.group_uses_of(arg, block);
                }
                for op in ir.block_ops(block) {
                    for &result in &ir.op(op).results {
                        self.group_uses_of(result, block);
                    }
                    stack.extend(ir.op(op).regions.iter().map(|it| it.1));
                }
            }
        }
    }

    fn group_uses_of(&mut self, value: Value, home: Block) {
        let ir = self.ir;
        let region = ir.block(home).region;
        let is_far = |op: Op| ir.op(op).parent != region || ir.block_of(op) != home;
        let uses = &ir.value(value).uses;
        if !self.carries(value) || uses.iter().all(|it| !is_far(it.0)) {
            return;
        }
        let mut far: Vec<(Op, u32)> = uses.iter().copied().filter(|it| is_far(it.0)).collect();
        far.sort_by_cached_key(|&(op, index)| (ir.start(op), index));
        let mut known: FxHashMap<Block, usize> = FxHashMap::default();
        for (op, index) in far {
            // The enclosing blocks of the use, innermost first, each with its op that contains the
            // use.
            let mut around: SmallVec<[(Block, Op); 4]> = SmallVec::new();
            let mut at = op;
            loop {
                let block = ir.block_of(at);
                if block == home {
                    break;
                }
                around.push((block, at));
                if ir.block(block).region == region {
                    break;
                }
                let Some(parent) = ir.parent_op(at) else { break };
                at = parent;
            }
            let (mut least, mut outer) = (self.weights.of(home), None);
            for (block, anchor) in around.into_iter().rev() {
                let weight = self.weights.of(block);
                if weight < least {
                    least = weight;
                    let group = *known.entry(block).or_insert_with(|| {
                        self.groups.push(UseGroup { value, anchor, outer });
                        self.groups_of.entry(value).or_default().push(self.groups.len() - 1);
                        self.groups.len() - 1
                    });
                    outer = Some(group);
                }
            }
            if let Some(group) = outer {
                self.group_of.insert((op, index), group);
            }
        }
    }

    pub(super) fn group_node(&mut self, index: usize) -> Node {
        let group = self.groups[index];
        let key = NodeKey::Group(index);
        if let Some(&node) = self.env.get(&key) {
            return node;
        }
        let from = match group.outer {
            Some(outer) => self.group_node(outer),
            None => self.draft(NodeKey::Value(group.value), group.value),
        };
        let weight = self.weights.of(self.ir.block_of(group.anchor));
        let site = self.site(key, SitePosition::BeforeGroup(index), weight);
        let node = self.draft(key, group.value);
        let draft = &mut self.nodes[node.0 as usize];
        (draft.operands, draft.site, draft.is_defined) =
            (SmallVec::from_slice(&[from]), Some(site), true);
        node
    }
}
