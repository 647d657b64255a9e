//! `cse`: an op that computes what another one that dominates it has computed gives way to it.
//!
//! *Law.* Two ops are the same if they have the same name, attributes, operands (in any order, if they commute), result types and
//! regions, and run where the first has run whenever the second does. Ops that only read memory are the same if nothing between them,
//! in one block, may have written. *Cost.* Linear in the ops, but for runs of equal loads far apart: each walks to the op before it, once.

use std::hash::{Hash as _, Hasher as _};

use hashbrown::HashTable;
use noisy_analyses::cfg::Cfg;
use noisy_syntax::{Block, Ir, Op, OpKind, Region, Traits, Value};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::{Context, Failure, Options, PassInfo};
use crate::actions::place;
use crate::effects::{self, Access};
use crate::rewrite::{Rewriter, preorder};

pub(super) const PASSES: &[PassInfo] = &[PassInfo {
    name: "cse",
    class: "CSE",
    anchor: None,
    summary: "Eliminate common sub-expressions",
    options: &[],
    run,
}];

/// Ops that were seen, by what they compute.
#[derive(Debug, Default)]
struct Known {
    seen: Seen,
    /// How far the walk from an op to a later one of its block has found nothing that writes.
    clear: FxHashMap<(Op, Block), Op>,
    n_replaced: usize,
    n_dead: usize,
    dead: Vec<Op>,
}

/// One op for each thing that is computed in the open scopes: the last that was seen.
#[derive(Debug, Default)]
struct Seen {
    /// With the hash of what each computes.
    table: HashTable<(u64, Op)>,
    /// Each op that came in, its hash, and the one whose place it took.
    undo: Vec<(u64, Op, Option<Op>)>,
    /// Where in `undo` each open scope starts.
    marks: Vec<usize>,
}

impl Seen {
    fn open(&mut self) {
        self.marks.push(self.undo.len());
    }

    fn find(&self, ir: &Ir, hash: u64, op: Op) -> Option<Op> {
        self.table.find(hash, |it| it.0 == hash && computes_same(ir, it.1, op)).map(|it| it.1)
    }

    /// Lets an op stand for what it computes, in the place of `old`.
    fn enter(&mut self, hash: u64, op: Op, old: Option<Op>) {
        self.put(hash, old, Some(op));
        self.undo.push((hash, op, old));
    }

    fn put(&mut self, hash: u64, old: Option<Op>, new: Option<Op>) {
        let found = old.and_then(|old| self.table.find_entry(hash, |it| it.1 == old).ok());
        match (found, new) {
            (Some(mut found), Some(new)) => found.get_mut().1 = new,
            (Some(found), None) => {
                found.remove();
            }
            (None, Some(new)) => {
                self.table.insert_unique(hash, (hash, new), |it| it.0);
            }
            (None, None) => {}
        }
    }

    /// Forgets what was learned since the last mark.
    fn close(&mut self) {
        let to = self.marks.pop().unwrap_or(0);
        if self.marks.is_empty() {
            // The outermost scope: nothing is left.
            self.table.clear();
            self.undo.clear();
        }
        while self.undo.len() > to {
            let Some((hash, op, old)) = self.undo.pop() else { return };
            self.put(hash, Some(op), old);
        }
    }
}

/// What is still to be done; no recursion with the depth of the program.
enum Step {
    Ops(Vec<Op>, usize),
    Region(Region),
    Open,
    Close,
    /// What is known around an isolated op, kept for behind it.
    Restore(Box<Seen>),
}

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let mut known = Known::default();
    cx.timing.enter("(A) DominanceInfo");
    cx.timing.leave();
    let mut rewriter = Rewriter::new(cx.ir);
    let mut steps: Vec<Step> =
        rewriter.ir.op(op).regions.iter().rev().map(|it| Step::Region(it.1)).collect();
    while let Some(step) = steps.pop().filter(|_| cx.actions.goes_on()) {
        match step {
            Step::Region(region) => {
                cx.timing.enter("(A) DominanceInfo");
                enter(rewriter.ir, region, &mut steps);
                cx.timing.leave();
            }
            Step::Open => known.seen.open(),
            Step::Close => known.seen.close(),
            Step::Restore(old) => known.seen = *old,
            Step::Ops(ops, from) => {
                for at in from..ops.len() {
                    let op = ops[at];
                    let n_replaced = known.n_replaced;
                    let is_meant = cx.actions.is_meant(rewriter.ir, op);
                    let inner = known.visit(&mut rewriter, op, is_meant);
                    if known.n_replaced != n_replaced {
                        let ir = &*rewriter.ir;
                        cx.actions.step(ir, "another op computes the same", || place(ir, op));
                        if !cx.actions.goes_on() {
                            break;
                        }
                    }
                    if inner.is_empty() {
                        continue;
                    }
                    steps.push(Step::Ops(ops, at + 1));
                    let kind = rewriter.ir.op(op).kind;
                    if kind.has(Traits::ISOLATED) || kind == OpKind::Unknown {
                        let old = std::mem::take(&mut known.seen);
                        steps.push(Step::Restore(Box::new(old)));
                    }
                    for region in inner.into_iter().rev() {
                        steps.push(Step::Region(region));
                    }
                    break;
                }
            }
        }
    }
    for op in std::mem::take(&mut known.dead) {
        if rewriter.ir.is_alive(op) && cx.actions.goes_on() {
            let at = place(rewriter.ir, op);
            rewriter.erase(op);
            cx.actions.step(rewriter.ir, "nothing uses it", || at);
        }
    }
    cx.count("num-cse'd - Number of operations CSE'd", known.n_replaced);
    cx.count("num-dce'd - Number of operations DCE'd", known.n_dead);
    Ok(())
}

/// The steps of a region: its blocks in the order of the dominator tree, each forgotten behind what it dominates.
fn enter(ir: &Ir, region: Region, steps: &mut Vec<Step>) {
    let blocks = ir.blocks(region);
    let graph = ir
        .region(region)
        .parent
        .is_some_and(|it| ir.op(it).kind.has(Traits::GRAPH_REGION) && blocks.len() <= 1);
    if let [block] = blocks[..] {
        steps.push(Step::Close);
        // In a graph region an op may be used before it is there; nothing dominates anything.
        let ops: Vec<Op> = ir.block_ops(block).collect();
        if graph {
            for op in ops.into_iter().rev() {
                for &(_, inner) in ir.op(op).regions.iter().rev() {
                    steps.push(Step::Region(inner));
                }
            }
        } else {
            steps.push(Step::Ops(ops, 0));
        }
        steps.push(Step::Open);
        return;
    }
    let cfg = Cfg::new(ir, region);
    let tree = cfg.dominators();
    let n = cfg.blocks.len();
    if n == 0 {
        return;
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    for node in 1..n {
        if let Some(idom) = tree.idom(node) {
            children[idom].push(node);
        }
    }
    // A block, then what it dominates, then its end.
    let mut order: Vec<(usize, bool)> = Vec::new();
    let mut stack = vec![(0, false)];
    while let Some((node, is_end)) = stack.pop() {
        order.push((node, is_end));
        if !is_end {
            stack.push((node, true));
            stack.extend(children[node].iter().rev().map(|&it| (it, false)));
        }
    }
    for (node, is_end) in order.into_iter().rev() {
        if is_end {
            steps.push(Step::Close);
        } else {
            steps.push(Step::Ops(ir.block_ops(cfg.blocks[node]).collect(), 0));
            steps.push(Step::Open);
        }
    }
}

impl Known {
    /// Looks at an op, which may go if it is meant; gives the regions to look into.
    fn visit(&mut self, rewriter: &mut Rewriter<'_>, op: Op, is_meant: bool) -> Vec<Region> {
        let ir = &*rewriter.ir;
        let data = ir.op(op);
        let regions: Vec<Region> = data.regions.iter().map(|it| it.1).collect();
        if data.kind.has(Traits::TERMINATOR) {
            return regions;
        }
        if is_meant && effects::is_trivially_dead(ir, op) {
            self.dead.push(op);
            self.n_dead += 1;
            return Vec::new();
        }
        // What holds several blocks is not compared.
        let is_simple = regions.iter().all(|&it| ir.only_block(it).is_some());
        let is_plain = effects::is_free_of_effects(ir, op);
        let is_read = !is_plain && only_reads(ir, op);
        if !is_simple || !(is_plain || is_read) || data.results.is_empty() {
            return regions;
        }
        let Some(hash) = hash(ir, op) else { return regions };
        let same = self.seen.find(ir, hash, op);
        if let Some(same) = same.filter(|_| is_meant)
            && (is_plain || self.is_unwritten(ir, same, op))
        {
            let values = ir.op(same).results.clone();
            let results = ir.op(op).results.clone();
            for (&old, &new) in results.iter().zip(&values) {
                rewriter.replace_uses(old, new);
            }
            self.dead.push(op);
            self.n_replaced += 1;
            return Vec::new();
        }
        self.seen.enter(hash, op, same);
        regions
    }

    /// Whether nothing between two ops of one block may write.
    fn is_unwritten(&mut self, ir: &Ir, first: Op, second: Op) -> bool {
        let block = ir.block_of(second);
        if ir.block_of(first) != block {
            return false;
        }
        let from = self.clear.get(&(first, block)).copied().unwrap_or(first);
        let mut at = ir.next(from);
        while let Some(it) = at {
            if it == second {
                self.clear.insert((first, block), second);
                return true;
            }
            if may_write(ir, it) {
                return false;
            }
            at = ir.next(it);
        }
        false
    }
}

/// Whether an op may write, in its regions included.
fn may_write(ir: &Ir, op: Op) -> bool {
    let mut stack = vec![op];
    while let Some(op) = stack.pop() {
        if !ir.op(op).kind.is_op() {
            continue;
        }
        match effects::accesses(ir, op) {
            None => return true,
            Some(it) if it.iter().any(|it| matches!(it.0, Access::Write | Access::Free)) => {
                return true;
            }
            Some(_) => {}
        }
        for &(_, region) in &ir.op(op).regions {
            stack.extend(ir.items(region));
        }
    }
    false
}

fn only_reads(ir: &Ir, op: Op) -> bool {
    ir.op(op).regions.is_empty()
        && effects::accesses(ir, op).is_some_and(|it| it.iter().all(|it| it.0 == Access::Read))
}

/// The operands of an op, in one order for all that compute the same.
fn operands(ir: &Ir, op: Op) -> Option<SmallVec<[Value; 4]>> {
    let data = ir.op(op);
    let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
    for operand in &data.operands {
        operands.push(operand.value?);
    }
    if data.kind.has(Traits::COMMUTATIVE) {
        operands.sort_unstable();
    }
    Some(operands)
}

/// A hash of what an op computes; `None` if it is not compared.
fn hash(ir: &Ir, op: Op) -> Option<u64> {
    let data = ir.op(op);
    let mut state = FxHasher::default();
    data.name.hash(&mut state);
    for operand in operands(ir, op)? {
        operand.hash(&mut state);
    }
    ir.extra(op).attrs.hash(&mut state);
    for &result in &data.results {
        ir.value(result).ty.hash(&mut state);
    }
    if !data.regions.is_empty() {
        inside(ir, op)?.hash(&mut state);
    }
    Some(state.finish())
}

/// Whether two ops without effects compute the same, wherever they stand.
pub fn computes_same(ir: &Ir, a: Op, b: Op) -> bool {
    let (x, y) = (ir.op(a), ir.op(b));
    let types = |op: Op| ir.op(op).results.iter().map(|&it| ir.value(it).ty);
    x.name == y.name
        && x.operands.len() == y.operands.len()
        && operands(ir, a) == operands(ir, b)
        && ir.extra(a).attrs == ir.extra(b).attrs
        && types(a).eq(types(b))
        && x.regions.len() == y.regions.len()
        && (x.regions.is_empty() || inside(ir, a).is_some_and(|it| Some(it) == inside(ir, b)))
}

/// What is in the regions of an op, numbered in order, so that equal regions give equal numbers; `None` if it is not compared.
fn inside(ir: &Ir, op: Op) -> Option<Vec<u64>> {
    let mut out = Vec::new();
    let mut local: FxHashMap<Value, u64> = FxHashMap::default();
    for &(_, region) in &ir.op(op).regions {
        out.push(u64::MAX);
        for &block in &ir.blocks(region) {
            for &arg in &ir.block(block).args {
                out.push(ir.value(arg).ty.index() as u64);
                local.insert(arg, local.len() as u64);
            }
        }
        for inner in preorder(ir, region) {
            let it = ir.op(inner);
            if !it.regions.is_empty() || !ir.extra(inner).successors.is_empty() {
                return None;
            }
            out.extend([u64::MAX - 1, it.name.index() as u64]);
            for operand in &it.operands {
                let value = operand.value?;
                let number = local.get(&value).map(|it| it << 1 | 1);
                out.push(number.unwrap_or((value.index() as u64) << 1));
            }
            out.push(u64::MAX - 2);
            for &(name, attr) in &ir.extra(inner).attrs {
                out.extend([name.index() as u64, attr.index() as u64]);
            }
            out.push(u64::MAX - 3);
            for &result in &it.results {
                out.push(ir.value(result).ty.index() as u64);
                local.insert(result, local.len() as u64);
            }
        }
    }
    Some(out)
}
