//! The findings of the verifier in a document, kept up to date.
//!
//! *What a rule may read* of an op besides the op itself, and what therefore verifies it again:
//!
//! | it reads | again when |
//! |---|---|
//! | what its operands and successors mean, and the types of those values | [`Delta::changed`] names it |
//! | whether an item follows it in its block | the item after it came or went |
//! | whether a label is the first item of its region | items before it came or went |
//! | the kind and the signature of the op around it | that op was read again with another ([`Touched::signature_changed`]) |
//! | for the op around: the labels of its regions, the last ops of their blocks, operand types | one of those is verified again |
//! | how an index is computed, if it stands in an affine map or is a step | one of the ops that compute it changed |
//! | the order of definition and use in one block | never: items that stay keep their order |
//! | which block dominates which | the flow of the region is computed anew: ops in blocks with other dominators |
//! | which symbol means what, and its type | that definition changed: the ops that mention it ([`Touched::symbols`]) |
//!
//! No verdict depends on broken syntax elsewhere: a problem is kept, and whether it is *reported*
//! is decided when problems are listed. *Law.* After every edit, equal to [`Verdicts::new`].
//! *Cost.* An edit of an op in a block verifies that op, the users of values that it defines with
//! another type, and perhaps the op before it; an edit of labels or branches computes the
//! dominators of its region, O(m log n), and verifies the ops in blocks that gained or lost a
//! dominator.

use rustc_hash::{FxHashMap, FxHashSet};

use super::affine::MAX_STEPS;
use super::flow::{RegionDominators, moved};
use super::symbols::Callee;
use super::{Order, Verdict, Verifier};
use crate::ir::names::{Replaced, Touched};
use crate::ir::seq;
use crate::parallel::in_order;
use crate::{Delta, Ir, Name, Op, OpKind, Region, Traits, Type};

/// Minimum number of items that a thread verifies.
const SHARE: usize = 4096;

/// The verdict on each op with a problem, and the facts that the verdicts depend on.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    of_ops: FxHashMap<Op, Verdict>,
    /// The dominators of each region with several blocks.
    flows: FxHashMap<Region, RegionDominators>,
    /// The definition of each symbol, as its users see it.
    callees: FxHashMap<(Region, Name), Callee>,
    /// True if there may be an op that reads how an index is computed: there was one.
    reads_indices: bool,
}

impl Verdicts {
    /// Verifies everything, on `n_threads` threads besides the caller's.
    pub(crate) fn new(ir: &Ir, n_threads: usize) -> Self {
        let mut out = Self::default();
        let order = Order::of(ir);
        for &region in &order.with_labels {
            let flow = RegionDominators::of(ir, region, &|op| order.block[op.index()]);
            out.flows.extend(flow.map(|it| (region, it)));
        }
        for (region, name) in ir.all_symbols() {
            out.callees.extend(Callee::of(ir, region, name).map(|it| ((region, name), it)));
        }
        out.reads_indices = order.reads_indices;
        let flows = &out.flows;
        let of = |items: &[Op]| -> Vec<(Op, Verdict)> {
            let mut verifier = Verifier::new(ir, flows, Some(&order));
            let verdicts = items.iter().map(|&op| (op, verifier.verify(op)));
            verdicts.filter(|it| !it.1.is_empty()).collect()
        };
        let share = order.items.len().div_ceil(n_threads.max(1)).max(SHARE);
        let shares: Vec<&[Op]> = order.items.chunks(share).collect();
        // One share is not worth a thread.
        let n_threads = if shares.len() > 1 { n_threads } else { 0 };
        let mut found: Vec<(Op, Verdict)> = Vec::new();
        in_order(
            n_threads,
            shares.len(),
            |n| of(shares[n]),
            |some| {
                found.extend(some);
                true
            },
        );
        out.of_ops = found.into_iter().collect();
        out
    }

    /// All verdicts that name problems, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Op, &Verdict)> {
        self.of_ops.iter().map(|(op, verdict)| (*op, verdict))
    }

    /// Verifies the items that an edit may have affected. Returns their number.
    pub(crate) fn update(&mut self, ir: &Ir, delta: &Delta, touched: &Touched) -> usize {
        for op in &delta.removed {
            self.of_ops.remove(op);
        }
        let mut again = delta.changed.clone();
        for &run in &touched.runs {
            self.beside(ir, run, &mut again);
        }
        for &op in touched.signature_changed.iter().filter(|&&op| ir.is_alive(op)) {
            for &(_, region) in &ir.op(op).regions {
                again.extend(seq::first(ir, region));
                again.extend(ir.blocks(region).into_iter().filter_map(|it| ir.last_op(it)));
            }
        }
        self.reads_indices |= again.iter().any(|&op| reads_indices(ir.op(op).kind));
        if self.reads_indices {
            readers_of_indices(ir, &delta.changed, &mut again);
        }
        self.update_flows(ir, touched, &mut again);
        self.update_callees(ir, &touched.symbols, &mut again);
        // An op around may read how its blocks start and end.
        for n in 0..again.len() {
            if ir.op(again[n]).kind == OpKind::Label || ends_block(ir, again[n]) {
                again.extend(ir.parent_op(again[n]));
            }
        }
        again.sort_unstable();
        again.dedup();
        let mut verifier = Verifier::new(ir, &self.flows, None);
        for &op in &again {
            let verdict = verifier.verify(op);
            if verdict.is_empty() {
                self.of_ops.remove(&op);
            } else {
                self.of_ops.insert(op, verdict);
            }
        }
        again.len()
    }

    /// Adds the items before and after a replaced stretch, if their verdict may depend on their
    /// neighbors, and the op around it if no items are left between them.
    fn beside(&self, ir: &Ir, run: Replaced, again: &mut Vec<Op>) {
        let after = seq::nth(ir, run.region, run.rank + run.n);
        again.extend(after.filter(|&it| run.rank == 0 && ir.op(it).kind == OpKind::Label));
        let before = run.rank.checked_sub(1).and_then(|rank| seq::nth(ir, run.region, rank));
        let Some(before) = before else {
            if run.n == 0 {
                again.extend(ir.region(run.region).parent);
            }
            return;
        };
        let kind = ir.op(before).kind;
        if kind == OpKind::Label
            || kind.has(Traits::TERMINATOR)
            || !ir.extra(before).successors.is_empty()
            || ends_block(ir, before)
            || self.of_ops.contains_key(&before)
        {
            again.push(before);
        }
    }

    fn update_flows(&mut self, ir: &Ir, touched: &Touched, again: &mut Vec<Op>) {
        let mut seen: FxHashSet<Region> = FxHashSet::default();
        for &(region, op) in &touched.flows {
            if seen.contains(&region) {
                continue;
            }
            if !is_alive(ir, region) {
                self.flows.remove(&region);
                continue;
            }
            let before = self.flows.get(&region);
            let branch = op.filter(|&op| ir.is_alive(op) && ir.op(op).parent == region);
            if let (Some(op), Some(before)) = (branch, before)
                && before.agrees(ir, op)
            {
                continue;
            }
            seen.insert(region);
            again.extend(ir.region(region).parent);
            let now = RegionDominators::of(ir, region, &|op| ir.block_of(op));
            for block in moved(ir, region, before, now.as_ref()) {
                for op in ir.block_ops(block) {
                    enter(ir, op, again);
                }
            }
            if before.is_none() != now.is_none() {
                // The number of blocks may decide if they need a terminator.
                again.extend(ir.blocks(region).into_iter().filter_map(|it| ir.last_op(it)));
            }
            match now {
                Some(flow) => self.flows.insert(region, flow),
                None => self.flows.remove(&region),
            };
        }
        for &run in touched.runs.iter().filter(|it| seen.contains(&it.region)) {
            rejoined(ir, run, again);
        }
    }

    fn update_callees(&mut self, ir: &Ir, touched: &[(Region, Name)], again: &mut Vec<Op>) {
        for &(region, name) in touched {
            let key = (region, name);
            let now = if is_alive(ir, region) { Callee::of(ir, region, name) } else { None };
            if self.callees.get(&key) == now.as_ref() {
                continue;
            }
            again.extend(ir.symbol_users(name));
            match now {
                Some(callee) => self.callees.insert(key, callee),
                None => self.callees.remove(&key),
            };
            // Another definition may now be the first.
            if is_alive(ir, region) {
                again.extend(ir.symbol_defs(region, name));
            }
        }
    }
}

/// Where labels came or went the items that follow, up to the next label, are in another block:
/// they, and the users of what they define.
fn rejoined(ir: &Ir, run: Replaced, again: &mut Vec<Op>) {
    let Some(first) = seq::nth(ir, run.region, run.rank) else { return };
    let after = ir.items_from(first).enumerate();
    for (_, op) in after.take_while(|&(n, op)| n < run.n || ir.op(op).kind != OpKind::Label) {
        enter(ir, op, again);
        for &value in &ir.op(op).results {
            again.extend(ir.value(value).uses.iter().map(|it| it.0));
        }
    }
}

/// The ops that use the results of these ops and depend on how they are computed, also through
/// other ops.
fn readers_of_indices(ir: &Ir, ops: &[Op], again: &mut Vec<Op>) {
    let mut level: Vec<Op> = ops.to_vec();
    let mut seen: FxHashSet<Op> = FxHashSet::default();
    for _ in 0..MAX_STEPS {
        let mut next = Vec::new();
        for op in level {
            let results = ir.op(op).results.iter().map(|&it| ir.value(it));
            for &(user, _) in results.filter(|it| it.ty == Type::INDEX).flat_map(|it| &it.uses) {
                let kind = ir.op(user).kind;
                if reads_indices(kind) {
                    again.push(user);
                }
                if kind.is_pure() && seen.insert(user) {
                    next.push(user);
                }
            }
        }
        level = next;
    }
}

/// Returns true if a rule depends on how the indices of the op are computed: in affine maps, and
/// for steps that must be positive.
pub(super) fn reads_indices(kind: OpKind) -> bool {
    let rules = &kind.spec().rules;
    rules.indices.is_some() || rules.reads_indices
}

/// An op and all that it holds.
fn enter(ir: &Ir, op: Op, again: &mut Vec<Op>) {
    again.push(op);
    for &(_, region) in &ir.op(op).regions {
        for op in ir.items(region) {
            enter(ir, op, again);
        }
    }
}

fn is_alive(ir: &Ir, region: Region) -> bool {
    ir.region(region)
        .parent
        .is_some_and(|op| ir.is_alive(op) && ir.op(op).regions.iter().any(|it| it.1 == region))
}

/// Returns true if no op follows in the block.
pub(super) fn ends_block(ir: &Ir, op: Op) -> bool {
    ir.next(op).is_none_or(|it| ir.op(it).kind == OpKind::Label)
}
