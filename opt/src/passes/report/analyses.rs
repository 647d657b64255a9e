//! Passes that print analyses, used by upstream's tests of them: `test-liveness-analysis`,
//! `test-print-dominance`.
//!
//! *Cost.* The dominance of all pairs of blocks is printed, so programs should be small.

use std::fmt::Write as _;
use std::io::Write as _;

use noisy_dataflow::cfg::Cfg;
use noisy_syntax::dominance::DominatorTree;
use noisy_syntax::{AttrData, Block, Ir, Op, Region, Value};
use rustc_hash::FxHashMap;

use crate::passes::general::remove_dead::Live;
use crate::passes::report::printers::say;
use crate::passes::{Context, Failure, Options, PassInfo};
use crate::rewrite::nested_first;

pub(crate) const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "test-liveness-analysis",
        class: "TestLivenessAnalysisPass",
        anchor: None,
        summary: "Print which operands and results of ops with a `tag` are live",
        options: &[],
        run: liveness,
    },
    PassInfo {
        name: "test-print-dominance",
        class: "TestDominancePass",
        anchor: Some("func.func"),
        summary: "Print the dominance information for multiple regions.",
        options: &[],
        run: dominance,
    },
];

fn liveness(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let live = cx.analyses.of::<Live>(cx.ir, op);
    cx.analyses.preserve_all();
    let ir = &*cx.ir;
    let mut out = String::new();
    for op in nested_first(ir, op) {
        let Some(AttrData::String(tag, _)) = ir.attr(op, "tag").map(|it| ir.interner.attr_data(it))
        else {
            continue;
        };
        let _ = writeln!(out, "test_tag: {}:", ir.interner.str(*tag));
        let mut line = |what: &str, at: usize, value: Option<Value>| {
            let is_live = value.is_some_and(|it| live.has(it));
            let _ = writeln!(out, " {what} #{at}: {}live", if is_live { "" } else { "not " });
        };
        for (at, operand) in ir.op(op).operands.iter().enumerate() {
            line("operand", at, operand.value);
        }
        for (at, &result) in ir.op(op).results.iter().enumerate() {
            line("result", at, Some(result));
        }
    }
    let _ = std::io::stdout().write_all(out.as_bytes());
    Ok(())
}

/// The dominator tree of a region, or its postdominator tree.
#[derive(Debug)]
struct Tree {
    cfg: Cfg,
    dominators: DominatorTree,
    /// Number of nodes before the blocks: one exit node for postdominators.
    n_before: usize,
}

impl Tree {
    fn new(ir: &Ir, region: Region, is_backward: bool) -> Self {
        let cfg = Cfg::new(ir, region);
        if !is_backward {
            let dominators = cfg.dominators();
            return Self { cfg, dominators, n_before: 0 };
        }
        let n = cfg.blocks.len();
        let mut edges: Vec<Vec<u32>> = vec![Vec::new(); n + 1];
        for (node, targets) in cfg.successors.iter().enumerate() {
            if targets.is_empty() {
                edges[0].push(node as u32 + 1);
            }
            for &target in targets {
                edges[target as usize + 1].push(node as u32 + 1);
            }
        }
        // An infinite loop counts as an exit from its last block.
        loop {
            let dominators = DominatorTree::new(&edges);
            match (0..n).rev().find(|it| !dominators.is_reachable(it + 1)) {
                Some(node) => edges[0].push(node as u32 + 1),
                None => return Self { cfg, dominators, n_before: 1 },
            }
        }
    }

    fn node(&self, block: Block) -> Option<usize> {
        Some(self.cfg.node(block)? + self.n_before)
    }

    fn dominates(&self, a: Block, b: Block) -> bool {
        self.node(a).zip(self.node(b)).is_some_and(|(a, b)| self.dominators.dominates(a, b))
    }

    /// Returns the nearest common dominator of both.
    fn nearest(&self, a: Block, b: Block) -> Option<Block> {
        let (mut at, b) = (self.node(a)?, self.node(b)?);
        while !self.dominators.dominates(at, b) {
            at = self.dominators.idom(at)?;
        }
        self.cfg.blocks.get(at.checked_sub(self.n_before)?).copied()
    }
}

/// The blocks of a function, including that of the module, with their trees.
struct Trees<'a> {
    ir: &'a Ir,
    trees: FxHashMap<(Region, bool), Tree>,
}

impl Trees<'_> {
    fn tree(&mut self, region: Region, is_backward: bool) -> &Tree {
        let ir = self.ir;
        self.trees
            .entry((region, is_backward))
            .or_insert_with(|| Tree::new(ir, region, is_backward))
    }

    /// Returns the block of a region that contains a block, or is it.
    fn within(&self, region: Region, block: Block) -> Option<Block> {
        let mut at = block;
        while self.ir.block(at).region != region {
            let around = self.ir.region(self.ir.block(at).region).parent?;
            if !self.ir.op(around).kind.is_op() {
                return None;
            }
            at = self.ir.block_of(around);
        }
        Some(at)
    }

    fn nearest(&mut self, a: Block, b: Block, is_backward: bool) -> Option<Block> {
        let mut region = self.ir.block(a).region;
        let (a, b) = loop {
            if let (Some(a), Some(b)) = (self.within(region, a), self.within(region, b)) {
                break (a, b);
            }
            let around = self.ir.region(region).parent.filter(|&it| self.ir.op(it).kind.is_op())?;
            region = self.ir.op(around).parent;
        };
        if a == b { Some(a) } else { self.tree(region, is_backward).nearest(a, b) }
    }

    fn dominates(&mut self, a: Block, b: Block, is_backward: bool) -> bool {
        let region = self.ir.block(a).region;
        let Some(b) = self.within(region, b) else { return false };
        a == b || self.tree(region, is_backward).dominates(a, b)
    }
}

/// Maximum number of blocks for which the dominance of all pairs is printed.
const MOST_BLOCKS: usize = 1000;

fn dominance(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    cx.analyses.preserve_all();
    let ir = &*cx.ir;
    let mut blocks: Vec<Block> = Vec::new();
    let mut numbers: FxHashMap<Block, usize> = FxHashMap::default();
    for op in nested_first(ir, op) {
        let block = ir.block_of(op);
        numbers.entry(block).or_insert_with(|| {
            blocks.push(block);
            blocks.len() - 1
        });
    }
    let n = blocks.len();
    if n > MOST_BLOCKS {
        let text = format!("{n} blocks: pairs are printed only up to {MOST_BLOCKS} blocks");
        return Err(Failure(Some(text)));
    }
    let mut trees = Trees { ir, trees: FxHashMap::default() };
    let name = ir.extra(op).symbol.map_or("", |it| ir.interner.str(it.0));
    let mut out = format!("Testing : {name}\n");
    for (is_backward, title) in [(false, "DominanceInfo"), (true, "PostDominanceInfo")] {
        let _ = writeln!(out, "--- {title} ---");
        for (n, &a) in blocks.iter().enumerate() {
            for (m, &b) in blocks.iter().enumerate() {
                let nearest = trees.nearest(a, b, is_backward).and_then(|it| numbers.get(&it));
                let nearest = nearest.map_or("<no dom>".to_owned(), usize::to_string);
                let _ = writeln!(out, "Nearest({n}, {m}) = {nearest}");
            }
        }
    }
    let kinds = [(false, "Dominance", "dominates"), (true, "PostDominance", "postdominates")];
    for (is_backward, title, verb) in kinds {
        let _ = writeln!(out, "--- Block {title} relationship ---");
        for (n, &a) in blocks.iter().enumerate() {
            for (m, &b) in blocks.iter().enumerate() {
                let is_so = trees.dominates(a, b, is_backward);
                let _ = writeln!(out, "{verb}({n}, {m}) = {is_so}");
            }
        }
    }
    say(&out);
    Ok(())
}
