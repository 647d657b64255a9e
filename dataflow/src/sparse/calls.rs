//! Facts that flow through calls: into private functions from those who call them, and back from what they return.
//!
//! A function whose every use is a call in this document, and that is private, is entered with the join of what the live
//! calls pass whose operands are all computed; any other with [`SparseForward::entry`]. The results of a call are the join of what the live returns of its callee give. Both are
//! kept in a [`CallSummary`] of the function. A private function that no live call reaches is analyzed as if anybody might call
//! it, so that an editor has something to say about it, and what it calls in turn does not count.
//!
//! Every function is passed over once; then the summaries are joined from it, and a function whose summary rises, or that calls one whose
//! results rise, is passed over again, in textual order. Summaries only rise, and the lattice is of finite height or is widened in a summary that goes on to rise, so this
//! ends; at the least solution where nothing is widened, recursion included, whatever the order.

use std::collections::BTreeSet;

use noisy_syntax::{Ir, Op, Value};
use rustc_hash::FxHashMap;

use super::{Domain, Input, Observer, Sparse, SparseForward};
use crate::flow;
use crate::lattice::Lattice;

/// How often what a function is called with or returns rises before it is widened.
const MOST_RISES: u64 = 64;

/// What a function is called with and what it returns.
#[derive(Clone, Debug)]
pub(super) struct CallSummary<F> {
    /// By argument, if all calls are known.
    args: Option<Vec<F>>,
    /// By result.
    results: Vec<F>,
    /// Whether a live call reaches it, or anybody may call it.
    is_entered: bool,
    /// No live call reaches it: it is analyzed for its own sake.
    is_alone: bool,
    /// How often what it is called with rose, or what it returns.
    rises: u64,
}

impl<A: SparseForward, O: Observer<A>> Sparse<A, O> {
    /// The callee of a call whose results are what it returns.
    pub(super) fn linked_callee(&self, ir: &Input<'_, A::Base>, op: Op) -> Option<Op> {
        let callee = flow::callee(ir.ir, op).filter(|it| self.summaries.contains_key(it))?;
        flow::caller(ir, op).map(|_| callee)
    }

    /// What a call of a function gives at an index. What is found of a function that no live call reaches counts for others of that kind only.
    pub(super) fn returned(&self, ir: &Ir, call: Op, function: Op, index: usize) -> A::Fact {
        let is_alone = |it: Op| self.summaries.get(&it).is_some_and(|it| it.is_alone);
        if is_alone(function) && !flow::caller(ir, call).is_some_and(is_alone) {
            return A::Fact::bottom();
        }
        let summary = self.summaries.get(&function);
        let fact = summary.and_then(|it| it.results.get(index));
        fact.cloned().unwrap_or_else(A::Fact::unknown)
    }

    /// What a function is called with at an index, if all calls are known and there are some.
    pub(super) fn passed_in(&self, function: Op, index: usize) -> Option<A::Fact> {
        let summary = self.summaries.get(&function)?;
        if summary.is_alone {
            return None;
        }
        let args = summary.args.as_ref()?;
        Some(args.get(index).cloned().unwrap_or_else(A::Fact::unknown))
    }

    /// Whether the body of a function is to be looked at.
    pub(super) fn is_entered(&self, function: Op) -> bool {
        self.summaries.get(&function).is_none_or(|it| it.is_entered || it.is_alone)
    }

    /// Whether a function is called in such a way that facts flow.
    fn summary_of(&self, ir: &Input<'_, A::Base>, function: Op) -> Option<CallSummary<A::Fact>> {
        let body = flow::body(ir, function)?;
        let (calls, is_all) = flow::calls_of(ir, function);
        let is_private = flow::is_private(ir, function);
        if calls.is_empty() {
            // What it calls does not count.
            let is_dead = is_all && is_private && !self.call_index.calls_in(function).is_empty();
            let args = Some(Vec::new());
            return is_dead.then_some(CallSummary {
                args,
                results: Vec::new(),
                is_entered: false,
                is_alone: false,
                rises: 0,
            });
        }
        let args = &ir.block(flow::entry_block(ir, body)).args;
        let carries = |value: &Value| self.carries(ir, *value);
        let n_results = flow::n_results(ir, function);
        let is_closed = is_all && is_private;
        let flows_in = is_closed && args.iter().any(carries);
        let flows_out = calls.iter().any(|it| ir.op(*it).results.iter().any(carries));
        (flows_in || flows_out).then(|| CallSummary {
            args: is_closed.then(|| vec![A::Fact::bottom(); args.len()]),
            results: vec![A::Fact::bottom(); n_results],
            is_entered: !is_closed,
            is_alone: false,
            rises: 0,
        })
    }

    /// Gives the functions among these units through which facts flow their summaries, as they are before anything is known.
    pub(super) fn find_summaries(&mut self, ir: &Input<'_, A::Base>, units: &[Op]) {
        for &unit in units {
            match self.summary_of(ir, unit) {
                Some(summary) => self.summaries.insert(unit, summary),
                None => self.summaries.remove(&unit),
            };
        }
    }

    /// Whether facts flow into a function or out of it, or did.
    pub(super) fn flows(&self, ir: &Input<'_, A::Base>, function: Op) -> bool {
        self.summaries.contains_key(&function) || self.summary_of(ir, function).is_some()
    }

    /// After a pass over functions, all that are connected: joins their summaries and passes over again what these concern, until nothing
    /// changes.
    pub(super) fn settle_calls(&mut self, ir: &Input<'_, A::Base>, functions: &[Op]) {
        let places: FxHashMap<Op, usize> =
            functions.iter().enumerate().map(|(at, &it)| (it, at)).collect();
        if !functions.iter().any(|it| self.summaries.contains_key(it)) {
            return;
        }
        let mut again: BTreeSet<usize> = BTreeSet::new();
        for &function in functions {
            self.publish(ir, function, &places, &mut again);
        }
        loop {
            while let Some(at) = again.pop_first() {
                let function = functions[at];
                self.reset_within(ir, function);
                self.run_whole(ir, function);
                self.publish(ir, function, &places, &mut again);
            }
            for (at, function) in functions.iter().enumerate() {
                if let Some(summary) = self.summaries.get_mut(function)
                    && !summary.is_entered
                    && !summary.is_alone
                {
                    summary.is_alone = true;
                    again.insert(at);
                }
            }
            if again.is_empty() {
                return;
            }
        }
    }

    /// Joins what a function passes and returns into the summaries, and says which functions that concerns.
    fn publish(
        &mut self,
        ir: &Input<'_, A::Base>,
        function: Op,
        places: &FxHashMap<Op, usize>,
        again: &mut BTreeSet<usize>,
    ) {
        let is_alone = self.summaries.get(&function).is_some_and(|it| it.is_alone);
        let calls = if is_alone { Vec::new() } else { self.call_index.calls_in(function).to_vec() };
        for call in calls.into_iter().filter(|it| self.reached[it.index()]) {
            let Some(callee) = self.linked_callee(ir, call) else { continue };
            // An operand that is never computed: it does not come to the call.
            let n = ir.op(call).operands.len();
            if (0..n).any(|at| self.read_passed(ir, call, at) == A::Fact::bottom()) {
                continue;
            }
            let Some(mut summary) = self.summaries.remove(&callee) else { continue };
            if let Some(args) = summary.args.as_mut().filter(|_| !summary.is_alone) {
                let mut changed = !summary.is_entered;
                summary.is_entered = true;
                for (at, fact) in args.iter_mut().enumerate() {
                    let before = fact.clone();
                    if fact.join(&self.read_passed(ir, call, at)).is_yes() {
                        changed = true;
                        if summary.rises >= MOST_RISES {
                            *fact = before.widened(fact.clone());
                        }
                    }
                }
                if changed {
                    summary.rises += 1;
                    again.extend(places.get(&callee));
                }
            }
            self.summaries.insert(callee, summary);
        }
        let Some(mut summary) = self.summaries.remove(&function) else { return };
        let returns = flow::body(ir, function).map(|it| flow::yields(ir, it)).unwrap_or_default();
        let mut changed = false;
        for end in returns.into_iter().filter(|it| self.reached[it.index()]) {
            for (at, fact) in summary.results.iter_mut().enumerate() {
                let before = fact.clone();
                if fact.join(&self.read_passed(ir, end, at)).is_yes() {
                    changed = true;
                    if summary.rises >= MOST_RISES {
                        *fact = before.widened(fact.clone());
                    }
                }
            }
        }
        summary.rises += u64::from(changed);
        self.summaries.insert(function, summary);
        if changed {
            let calls = flow::calls_of(ir, function).0;
            let callers = calls.into_iter().filter_map(|it| flow::caller(ir, it));
            again.extend(callers.filter_map(|it| places.get(&it)));
        }
    }
}
