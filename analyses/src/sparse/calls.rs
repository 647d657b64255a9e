//! Facts that flow through calls: into private functions from those who call them, and back from what they return.
//!
//! A function whose every use is a call in this document, and that is private, is entered with the join of what the live
//! calls pass; any other with [`SparseForward::entry`]. The results of a call are the join of what the live returns of its callee give. Both are
//! kept in a [`Port`] of the function. A private function that no live call reaches is analyzed as if anybody might call
//! it, so that an editor has something to say about it, and what it calls in turn does not count.
//!
//! The functions between which facts flow are a *family*. It is solved as a whole: every function is swept, the ports are
//! joined anew, and the functions whose ports changed are swept again. Ports only rise and the lattice is of finite height, so
//! this ends at the least solution, recursion included. *Cost.* Every edit of a document that has a family solves
//! all of it anew: an edit may end what flowed through a call in ways that no queue of ops sees.

use noisy_syntax::{Delta, Op, OpKind, Value};
use rustc_hash::FxHashSet;

use super::{Scene, Sparse, SparseForward};
use crate::flow;
use crate::lattice::Lattice;

/// What a function is called with and what it returns.
#[derive(Clone, Debug)]
pub(super) struct Port<F> {
    /// By argument, if all calls are known.
    args: Option<Vec<F>>,
    /// By result.
    results: Vec<F>,
    /// Whether a live call reaches it, or anybody may call it.
    is_entered: bool,
    /// No live call reaches it: it is analyzed for its own sake.
    is_alone: bool,
}

impl<A: SparseForward> Sparse<A> {
    /// The callee of a call whose results are what it returns.
    pub(super) fn linked_callee(&self, ir: &Scene<'_, A::Base>, op: Op) -> Option<Op> {
        let callee = flow::callee(ir, op).filter(|it| self.ports.contains_key(it))?;
        flow::caller(ir, op).map(|_| callee)
    }

    /// What a function returns at an index.
    pub(super) fn returned(&self, function: Op, index: usize) -> A::Fact {
        let port = self.ports.get(&function);
        let fact = port.and_then(|it| it.results.get(index));
        fact.cloned().unwrap_or_else(|| self.analysis.unknown())
    }

    /// What a function is called with at an index, if all calls are known.
    pub(super) fn passed_in(&self, function: Op, index: usize) -> Option<A::Fact> {
        let port = self.ports.get(&function)?;
        if port.is_alone {
            return Some(self.analysis.unknown());
        }
        let args = port.args.as_ref()?;
        Some(args.get(index).cloned().unwrap_or_else(|| self.analysis.unknown()))
    }

    /// Whether the body of a function is to be looked at.
    pub(super) fn is_entered(&self, function: Op) -> bool {
        self.ports.get(&function).is_none_or(|it| it.is_entered || it.is_alone)
    }

    /// Whether a function is called in such a way that facts flow.
    fn port(&self, ir: &Scene<'_, A::Base>, function: Op) -> Option<Port<A::Fact>> {
        let body = flow::body(ir, function)?;
        let (calls, is_all) = flow::calls_of(ir, function);
        if calls.is_empty() {
            return None;
        }
        let args = &ir.block(flow::entry_block(ir, body)).args;
        let carries = |value: &Value| self.analysis.carries(ir, *value);
        let n_results = flow::n_results(ir, function);
        let is_closed = is_all && flow::is_private(ir, function);
        let flows_in = is_closed && args.iter().any(carries);
        let flows_out = calls.iter().any(|it| ir.op(*it).results.iter().any(carries));
        (flows_in || flows_out).then(|| Port {
            args: is_closed.then(|| vec![A::Fact::bottom(); args.len()]),
            results: vec![A::Fact::bottom(); n_results],
            is_entered: !is_closed,
            is_alone: false,
        })
    }

    /// Finds the functions between which facts flow, and gives them their ports.
    pub(super) fn find_family(&mut self, ir: &Scene<'_, A::Base>) {
        self.ports.clear();
        self.family.clear();
        if !A::LINKS {
            return;
        }
        let functions = flow::functions(ir);
        let mut family: FxHashSet<Op> = FxHashSet::default();
        for &function in &functions {
            if let Some(port) = self.port(ir, function) {
                self.ports.insert(function, port);
                family.insert(function);
                let calls = flow::calls_of(ir, function).0;
                family.extend(calls.into_iter().filter_map(|it| flow::caller(ir, it)));
            }
        }
        self.family.extend(functions.into_iter().filter(|it| family.contains(it)));
    }

    /// Whether an edit to a document without a family may give it one.
    pub(super) fn gains_family(&self, ir: &Scene<'_, A::Base>, delta: &Delta) -> bool {
        A::LINKS
            && delta.changed.iter().any(|&op| {
                let data = ir.op(op);
                data.kind == OpKind::FuncFunc
                    || data
                        .rest
                        .as_ref()
                        .is_some_and(|it| it.symbol.is_some() || !it.symbol_uses.is_empty())
            })
            && flow::functions(ir).iter().any(|&it| self.port(ir, it).is_some())
    }

    fn sweep_functions(&mut self, ir: &Scene<'_, A::Base>, functions: &[Op]) {
        for &function in functions {
            self.reset_within(ir, function);
        }
        for &function in functions {
            self.clock += 1;
            self.cycle_start = self.clock;
            let live = self.is_live(ir, function);
            let _ = self.run(ir, function, live);
            self.cycle_start = 0;
        }
    }

    /// After the functions of the family were swept: joins their ports and sweeps again what these concern, until nothing changes.
    pub(super) fn settle_calls(&mut self, ir: &Scene<'_, A::Base>) {
        if self.family.is_empty() {
            return;
        }
        let family = self.family.clone();
        let linked: Vec<(Op, Vec<Op>)> = family
            .iter()
            .filter(|it| self.ports.contains_key(it))
            .map(|&it| (it, flow::calls_of(ir, it).0))
            .collect();
        loop {
            let mut again: FxHashSet<Op> = FxHashSet::default();
            for (function, calls) in &linked {
                self.join_port(ir, *function, calls, &mut again);
            }
            if again.is_empty() {
                for (function, _) in &linked {
                    if let Some(port) = self.ports.get_mut(function)
                        && !port.is_entered
                        && !port.is_alone
                    {
                        port.is_alone = true;
                        again.insert(*function);
                    }
                }
            }
            if again.is_empty() {
                return;
            }
            let functions: Vec<Op> =
                family.iter().copied().filter(|it| again.contains(it)).collect();
            self.sweep_functions(ir, &functions);
        }
    }

    /// Joins the port of a function from its calls and returns, and says which functions that concerns.
    fn join_port(
        &mut self,
        ir: &Scene<'_, A::Base>,
        function: Op,
        calls: &[Op],
        again: &mut FxHashSet<Op>,
    ) {
        let Some(mut port) = self.ports.remove(&function) else { return };
        if let Some(args) = &mut port.args {
            let mut changed = false;
            for &call in calls {
                let caller = flow::caller(ir, call);
                let counts = caller.is_none_or(|it| {
                    it == function && !port.is_alone
                        || self.ports.get(&it).is_none_or(|it| !it.is_alone)
                });
                if !self.reached[call.index()] || !counts || port.is_alone {
                    continue;
                }
                changed |= !port.is_entered;
                port.is_entered = true;
                for (at, fact) in args.iter_mut().enumerate() {
                    changed |= fact.join(&self.read_passed(ir, call, at)).is_yes();
                }
            }
            if changed {
                again.insert(function);
            }
        }
        let returns = flow::body(ir, function).map(|it| flow::yields(ir, it)).unwrap_or_default();
        let mut changed = false;
        for end in returns {
            if !self.reached[end.index()] {
                continue;
            }
            for (at, fact) in port.results.iter_mut().enumerate() {
                changed |= fact.join(&self.read_passed(ir, end, at)).is_yes();
            }
        }
        if changed {
            again.extend(calls.iter().filter_map(|it| flow::caller(ir, *it)));
        }
        self.ports.insert(function, port);
    }
}
