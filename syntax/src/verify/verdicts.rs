//! The verdicts of the verifier on a document, updated after each edit.
//!
//! *Inputs of rules.* In addition to the op itself, a rule may read the following. The op is
//! verified again in the given event:
//!
//! | input of the rule | event |
//! |---|---|
//! | the definitions of its operands and successors, and the types of those values | [`Delta::changed`] contains the op |
//! | the following item of its block, if any | the next item was added or removed |
//! | the items before a label at the start of its region | they were added or removed |
//! | the kind and the signature of the enclosing op | that op was parsed again and its signature changed ([`TouchedNames::signature_changed`]) |
//! | for an op with regions: their labels, the last ops of their blocks, types of operands | one of those is verified again |
//! | the computation of an index that is used in an affine map or as a step | an op of that computation changed |
//! | the order of definition and use in one block | none: remaining items keep their order |
//! | the dominators of its block | they changed when the dominators of the region were computed again |
//! | the definition of a symbol, and its type | that definition changed: the ops that use the symbol ([`TouchedNames::symbols`]) |
//!
//! No verdict depends on broken syntax elsewhere. Problems are always stored;
//! [`crate::Source::problems`] decides which of them are *reported*. *Law.* After every edit the
//! verdicts equal those of [`Verdicts::new`]. *Cost.* An edit of an op in a block verifies that op,
//! the users of its results whose type changed, and possibly the preceding op. An edit of labels or
//! branches computes the dominators of the region in O(m log n), and verifies the ops in blocks
//! whose dominators changed.

use rustc_hash::{FxHashMap, FxHashSet};

use super::affine::MAX_STEPS;
use super::flow::{RegionDominators, blocks_with_changed_dominators};
use super::symbols::SymbolDefinition;
use super::{ItemOrder, Verdict, Verifier};
use crate::ir::names::{ReplacedItems, TouchedNames};
use crate::ir::seq;
use crate::parallel::map_in_order;
use crate::{Delta, Ir, Name, Op, OpKind, Region, Traits, Type};

/// Minimum number of items that a thread verifies.
const MIN_ITEMS_PER_THREAD: usize = 4096;

/// The verdicts on the ops with problems, and the facts on which verdicts depend.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    by_op: FxHashMap<Op, Verdict>,
    /// The dominators of each region with several blocks.
    dominators: FxHashMap<Region, RegionDominators>,
    /// The definition of each symbol.
    symbol_definitions: FxHashMap<(Region, Name), SymbolDefinition>,
    /// True if the program has, or had, an op with a rule that reads the computation of an index.
    reads_indices: bool,
}

impl Verdicts {
    /// Verifies all ops, on `n_threads` threads in addition to the caller's.
    pub(crate) fn new(ir: &Ir, n_threads: usize) -> Self {
        let mut out = Self::default();
        let order = ItemOrder::of(ir);
        for &region in &order.with_labels {
            let flow = RegionDominators::of(ir, region, &|op| order.blocks[op.index()]);
            out.dominators.extend(flow.map(|it| (region, it)));
        }
        for (region, name) in ir.all_symbols() {
            out.symbol_definitions
                .extend(SymbolDefinition::of(ir, region, name).map(|it| ((region, name), it)));
        }
        out.reads_indices = order.reads_indices;
        let flows = &out.dominators;
        let of = |items: &[Op]| -> Vec<(Op, Verdict)> {
            let mut verifier = Verifier::new(ir, flows, Some(&order));
            let verdicts = items.iter().map(|&op| (op, verifier.verify(op)));
            verdicts.filter(|it| !it.1.is_empty()).collect()
        };
        let share = order.items.len().div_ceil(n_threads.max(1)).max(MIN_ITEMS_PER_THREAD);
        let shares: Vec<&[Op]> = order.items.chunks(share).collect();
        // One share is not worth a thread.
        let n_threads = if shares.len() > 1 { n_threads } else { 0 };
        let mut found: Vec<(Op, Verdict)> = Vec::new();
        map_in_order(
            n_threads,
            shares.len(),
            |n| of(shares[n]),
            |some| {
                found.extend(some);
                true
            },
        );
        out.by_op = found.into_iter().collect();
        out
    }

    /// All verdicts with problems, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Op, &Verdict)> {
        self.by_op.iter().map(|(op, verdict)| (*op, verdict))
    }

    /// Verifies the items that an edit may have affected. Returns their number.
    pub(crate) fn update(&mut self, ir: &Ir, delta: &Delta, touched: &TouchedNames) -> usize {
        for op in &delta.removed {
            self.by_op.remove(op);
        }
        let mut again = delta.changed.clone();
        for &run in &touched.runs {
            self.add_neighbors(ir, run, &mut again);
        }
        for &op in touched.signature_changed.iter().filter(|&&op| ir.is_alive(op)) {
            for &(_, region) in &ir.op(op).regions {
                again.extend(seq::first(ir, region));
                again.extend(ir.blocks(region).into_iter().filter_map(|it| ir.last_op(it)));
            }
        }
        self.reads_indices |= again.iter().any(|&op| reads_indices(ir.op(op).kind));
        if self.reads_indices {
            add_index_readers(ir, &delta.changed, &mut again);
        }
        self.update_dominators(ir, touched, &mut again);
        self.update_symbol_definitions(ir, &touched.symbols, &mut again);
        // The rules of the enclosing op may read the labels and the last ops of its blocks.
        for n in 0..again.len() {
            if ir.op(again[n]).kind == OpKind::Label || ends_block(ir, again[n]) {
                again.extend(ir.parent_op(again[n]));
            }
        }
        again.sort_unstable();
        again.dedup();
        let mut verifier = Verifier::new(ir, &self.dominators, None);
        for &op in &again {
            let verdict = verifier.verify(op);
            if verdict.is_empty() {
                self.by_op.remove(&op);
            } else {
                self.by_op.insert(op, verdict);
            }
        }
        again.len()
    }

    /// Adds the items before and after a replaced stretch if their verdicts may depend on their
    /// neighbors. Adds the enclosing op if the stretch was the start of the region and is now
    /// empty.
    fn add_neighbors(&self, ir: &Ir, run: ReplacedItems, again: &mut Vec<Op>) {
        let after = seq::nth(ir, run.region, run.rank + run.n_items);
        again.extend(after.filter(|&it| run.rank == 0 && ir.op(it).kind == OpKind::Label));
        let before = run.rank.checked_sub(1).and_then(|rank| seq::nth(ir, run.region, rank));
        let Some(before) = before else {
            if run.n_items == 0 {
                again.extend(ir.region(run.region).parent);
            }
            return;
        };
        let kind = ir.op(before).kind;
        if kind == OpKind::Label
            || kind.has(Traits::TERMINATOR)
            || !ir.extra(before).successors.is_empty()
            || ends_block(ir, before)
            || self.by_op.contains_key(&before)
        {
            again.push(before);
        }
    }

    fn update_dominators(&mut self, ir: &Ir, touched: &TouchedNames, again: &mut Vec<Op>) {
        let mut seen: FxHashSet<Region> = FxHashSet::default();
        for &(region, op) in &touched.control_flow {
            if seen.contains(&region) {
                continue;
            }
            if !is_alive(ir, region) {
                self.dominators.remove(&region);
                continue;
            }
            let before = self.dominators.get(&region);
            let branch = op.filter(|&op| ir.is_alive(op) && ir.op(op).parent == region);
            if let (Some(op), Some(before)) = (branch, before)
                && before.has_same_successors(ir, op)
            {
                continue;
            }
            seen.insert(region);
            again.extend(ir.region(region).parent);
            let now = RegionDominators::of(ir, region, &|op| ir.block_of(op));
            for block in blocks_with_changed_dominators(ir, region, before, now.as_ref()) {
                for op in ir.block_ops(block) {
                    add_nested(ir, op, again);
                }
            }
            if before.is_none() != now.is_none() {
                // The number of blocks may determine if they need a terminator.
                again.extend(ir.blocks(region).into_iter().filter_map(|it| ir.last_op(it)));
            }
            match now {
                Some(flow) => self.dominators.insert(region, flow),
                None => self.dominators.remove(&region),
            };
        }
        for &run in touched.runs.iter().filter(|it| seen.contains(&it.region)) {
            add_regrouped_items(ir, run, again);
        }
    }

    fn update_symbol_definitions(
        &mut self,
        ir: &Ir,
        touched: &[(Region, Name)],
        again: &mut Vec<Op>,
    ) {
        for &(region, name) in touched {
            let key = (region, name);
            let now =
                if is_alive(ir, region) { SymbolDefinition::of(ir, region, name) } else { None };
            if self.symbol_definitions.get(&key) == now.as_ref() {
                continue;
            }
            again.extend(ir.symbol_users(name));
            match now {
                Some(callee) => self.symbol_definitions.insert(key, callee),
                None => self.symbol_definitions.remove(&key),
            };
            // Another definition may now be the first one.
            if is_alive(ir, region) {
                again.extend(ir.symbol_defs(region, name));
            }
        }
    }
}

/// Adds the items of a replaced stretch and the following items up to the next label, and the users
/// of their results: if labels were added or removed, these items are in another block.
fn add_regrouped_items(ir: &Ir, run: ReplacedItems, again: &mut Vec<Op>) {
    let Some(first) = seq::nth(ir, run.region, run.rank) else { return };
    let after = ir.items_from(first).enumerate();
    for (_, op) in after.take_while(|&(n, op)| n < run.n_items || ir.op(op).kind != OpKind::Label) {
        add_nested(ir, op, again);
        for &value in &ir.op(op).results {
            again.extend(ir.value(value).uses.iter().map(|it| it.0));
        }
    }
}

/// Adds the ops with rules that depend on the computation of their indices, if `ops` take part in
/// that computation.
fn add_index_readers(ir: &Ir, ops: &[Op], again: &mut Vec<Op>) {
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

/// Returns true if a rule depends on the computation of the op's indices: indices of affine maps,
/// and steps that must be positive.
pub(super) fn reads_indices(kind: OpKind) -> bool {
    let rules = &kind.spec().rules;
    rules.indices.is_some() || rules.reads_indices
}

/// Adds an op and its contents.
fn add_nested(ir: &Ir, op: Op, again: &mut Vec<Op>) {
    again.push(op);
    for &(_, region) in &ir.op(op).regions {
        for op in ir.items(region) {
            add_nested(ir, op, again);
        }
    }
}

fn is_alive(ir: &Ir, region: Region) -> bool {
    ir.region(region)
        .parent
        .is_some_and(|op| ir.is_alive(op) && ir.op(op).regions.iter().any(|it| it.1 == region))
}

/// Returns true if the op is the last one of its block.
pub(super) fn ends_block(ir: &Ir, op: Op) -> bool {
    ir.next(op).is_none_or(|it| ir.op(it).kind == OpKind::Label)
}
