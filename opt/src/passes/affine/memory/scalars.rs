//! `affine-scalrep`: replaces loads of known values, and removes stores that are overwritten before
//! a load, and memrefs that are only stored to.
//!
//! *Query.* Given an access and a later one that it dominates, in the same iteration of the n loops
//! around the first: may another access write (or read) the element between the two? A dependence
//! at level n or less comes from an earlier iteration of these loops, so its source ran before the
//! first access. At deeper levels, an access that precedes the first in the text ran before it. So
//! only dependences at levels above n matter, with a source that follows the first access in the
//! text.
//!
//! *Law.* Loads and stores read and write the same values as before. *Cost.* Dependences are
//! computed once, because replacing a load changes no other dependence.

use noisy_loops::{AnalysisFailure, FunctionBody, InstancePairs, Legality, LinearForm, LinearTerm};
use noisy_syntax::{Ir, Op, OpKind, Value};
use rustc_hash::FxHashSet;

use crate::passes::affine::legal;
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::rewrite::{operand, operands};

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-scalrep",
    class: "AffineScalarReplacement",
    anchor: Some("func.func"),
    summary: "Replace affine memref accesses by scalars by forwarding stores to loads and eliminating redundant loads",
    options: &[],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let body = legal::body_of(cx.ir, op);
    let Some(legality) = legal::of_function(cx, op, &body) else { return Ok(()) };
    let mut it =
        ScalarReplacement { body: &body, legality: &legality, erased: FxHashSet::default() };
    let mut memrefs: Vec<Value> = Vec::new();
    let all = 0..body.accesses.len();
    for load in all.clone() {
        if let Some((value, memref)) = it.stored_value(cx.ir, load) {
            it.replace(cx.ir, load, value);
            if !memrefs.contains(&memref) {
                memrefs.push(memref);
            }
        }
    }
    for store in all.clone() {
        if it.is_overwritten(cx.ir, store) {
            it.erase(cx.ir, store);
        }
    }
    for memref in memrefs {
        erase_unused(cx.ir, memref);
    }
    it.erased.extend(all.clone().filter(|&at| !cx.ir.is_alive(body.accesses[at].op)));
    for load in all {
        if let Some(value) = it.loaded_value(cx.ir, load) {
            it.replace(cx.ir, load, value);
        }
    }
    Ok(())
}

fn is_load(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::AffineLoad | OpKind::AffineVectorLoad)
}

fn is_store(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::AffineStore | OpKind::AffineVectorStore)
}

/// Returns the memref of an affine access.
fn memref(ir: &Ir, op: Op) -> Option<Value> {
    operand(ir, op, usize::from(is_store(ir, op)))
}

/// Returns the op in the block of `above` that is or contains `op`.
fn ancestor_beside(ir: &Ir, above: Op, op: Op) -> Option<Op> {
    let block = ir.block_of(above);
    let mut around = std::iter::successors(Some(op), |&it| ir.parent_op(it));
    around.find(|&it| ir.op(it).kind.is_op() && ir.block_of(it) == block)
}

/// The accesses of a function, of which some were already erased.
struct ScalarReplacement<'a> {
    body: &'a FunctionBody,
    legality: &'a Legality<'a>,
    /// The erased accesses.
    erased: FxHashSet<usize>,
}

impl ScalarReplacement<'_> {
    fn op(&self, access: usize) -> Op {
        self.body.accesses[access].op
    }

    fn replace(&mut self, ir: &mut Ir, load: usize, value: Value) {
        ir.replace(self.op(load), &[value]).expect("its result was replaced");
        self.erased.insert(load);
    }

    fn erase(&mut self, ir: &mut Ir, store: usize) {
        ir.erase(self.op(store)).expect("a store has no results");
        self.erased.insert(store);
    }

    /// Returns true if both accesses use the same element of the same memref in each iteration of
    /// the loops around the first.
    fn is_same_element(&self, ir: &Ir, first: usize, second: usize) -> bool {
        let (one, other) = (&self.body.accesses[first], &self.body.accesses[second]);
        let depth = self.legality.loops_around(first).len() as u32;
        let is_same_memref =
            memref(ir, one.op) == memref(ir, other.op) && one.memref.depth <= depth;
        is_same_memref
            && match (&one.subscripts, &other.subscripts) {
                (Ok(element), Ok(as_well)) => {
                    element == as_well
                        && element.iter().all(|it| self.is_invariant_within(it, depth))
                }
                (Err(AnalysisFailure::Vector), Err(AnalysisFailure::Vector)) => {
                    let indices =
                        |op: Op| operands(ir, op)[1 + usize::from(is_store(ir, op))..].to_vec();
                    let is_settled = |it: &Value| self.body.depth_of(*it) <= depth;
                    ir.attr(one.op, "map") == ir.attr(other.op, "map")
                        && indices(one.op) == indices(other.op)
                        && indices(one.op).iter().all(is_settled)
                }
                _ => false,
            }
    }

    /// Returns true if a form has only one value in each iteration of the n outermost loops.
    fn is_invariant_within(&self, form: &LinearForm, n: u32) -> bool {
        form.terms.iter().all(|it| match it.0 {
            LinearTerm::Local(value) => self.body.depth_of(value) <= n,
            LinearTerm::Quotient(at) => {
                self.is_invariant_within(&self.body.quotients.get(at).form, n)
            }
            _ => true,
        })
    }

    fn writes(&self, access: usize) -> bool {
        let it = &self.body.accesses[access];
        it.is_store || it.subscripts == Err(AnalysisFailure::Atomic)
    }

    fn live_dependences(&self) -> impl Iterator<Item = &InstancePairs> {
        let is_alive = |it: usize| !self.erased.contains(&it);
        self.legality
            .dependences()
            .iter()
            .filter(move |it| is_alive(it.source) && is_alive(it.target))
    }

    /// Returns true if no op may write the element between an access and a later one that it
    /// dominates.
    fn is_unwritten_between(&self, ir: &Ir, first: usize, last: usize) -> bool {
        let n = self.legality.loops_around(first).len();
        let comes_between = |it: &InstancePairs| {
            it.target == last && it.level > n && it.source > first && self.writes(it.source)
        };
        !self.has_effect_between(ir, first, last) && !self.live_dependences().any(comes_between)
    }

    /// Returns true if an op with unknown effects may run between two accesses, the first of which
    /// dominates the second.
    fn has_effect_between(&self, ir: &Ir, first: usize, last: usize) -> bool {
        let first = self.op(first);
        let Some(end) = ancestor_beside(ir, first, self.op(last)) else { return true };
        self.body.effects.iter().any(|&(op, _)| {
            ir.is_alive(op)
                && ancestor_beside(ir, first, op).is_some_and(|it| {
                    ir.is_before(first, it) && (it == end || ir.is_before(it, end))
                })
        })
    }

    /// Returns the last preceding access with `is_meant` that dominates an access and has the same
    /// element.
    fn last_dominating(
        &self,
        ir: &Ir,
        access: usize,
        is_meant: fn(&Ir, Op) -> bool,
    ) -> Option<usize> {
        let op = self.op(access);
        (0..access).rev().find(|&it| {
            !self.erased.contains(&it)
                && is_meant(ir, self.op(it))
                && ancestor_beside(ir, self.op(it), op)
                    .is_some_and(|above| ir.is_before(self.op(it), above))
                && self.is_same_element(ir, it, access)
        })
    }

    /// Returns the value of a load, and its memref, if a dominating store wrote it.
    fn stored_value(&self, ir: &Ir, load: usize) -> Option<(Value, Value)> {
        is_load(ir, self.op(load)).then_some(())?;
        let store = self.last_dominating(ir, load, is_store)?;
        let value = operand(ir, self.op(store), 0)?;
        let result = *ir.op(self.op(load)).results.first()?;
        let n = self.legality.loops_around(store).len();
        let exists =
            |it: &InstancePairs| it.source == store && it.target == load && it.level == n + 1;
        let fits = ir.value(value).ty == ir.value(result).ty
            && self.live_dependences().any(exists)
            && self.is_unwritten_between(ir, store, load);
        fits.then_some((value, memref(ir, self.op(load))?))
    }

    /// Returns the value of a load if a dominating load read the same value.
    fn loaded_value(&self, ir: &Ir, load: usize) -> Option<Value> {
        let is_candidate = !self.erased.contains(&load) && is_load(ir, self.op(load));
        is_candidate.then_some(())?;
        let first = self.last_dominating(ir, load, is_load)?;
        let value = *ir.op(self.op(first)).results.first()?;
        let result = *ir.op(self.op(load)).results.first()?;
        let fits =
            ir.value(value).ty == ir.value(result).ty && self.is_unwritten_between(ir, first, load);
        fits.then_some(value)
    }

    /// Returns true if a later store in the same block writes the same element, and no load reads
    /// it in between.
    fn is_overwritten(&self, ir: &Ir, store: usize) -> bool {
        let op = self.op(store);
        if !is_store(ir, op) {
            return false;
        }
        let n = self.legality.loops_around(store).len();
        let ty = |access: usize| operand(ir, self.op(access), 0).map(|it| ir.value(it).ty);
        let next = (store + 1..self.body.accesses.len()).find(|&it| {
            !self.erased.contains(&it)
                && is_store(ir, self.op(it))
                && ir.block_of(self.op(it)) == ir.block_of(op)
                && self.is_same_element(ir, store, it)
                && ty(it) == ty(store)
        });
        let Some(next) = next else { return false };
        let is_read = |it: &InstancePairs| {
            let reads = !self.body.accesses[it.target].is_store
                || self.body.accesses[it.target].subscripts == Err(AnalysisFailure::Atomic);
            it.source == store && it.level > n && it.target < next && reads
        };
        !self.has_effect_between(ir, store, next) && !self.live_dependences().any(is_read)
    }
}

/// Erases a memref and its stores if it is allocated locally and never read.
fn erase_unused(ir: &mut Ir, memref: Value) {
    let Some(op) = ir.defining_op(memref) else { return };
    if !matches!(ir.op(op).kind, OpKind::MemrefAlloc | OpKind::MemrefAlloca) {
        return;
    }
    let uses = ir.value(memref).uses.clone();
    let is_unread = |&(user, index): &(Op, u32)| {
        (is_store(ir, user) && index == 1) || ir.op(user).kind == OpKind::MemrefDealloc
    };
    if uses.iter().all(is_unread) {
        for (user, _) in uses {
            ir.erase(user).expect("a store has no results");
        }
        ir.erase(op).expect("its users are erased");
    }
}
