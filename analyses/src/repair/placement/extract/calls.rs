//! The calls of a program: callees, functions that are connected by calls, and the number of
//! entries of each function.
//!
//! The number of entries of a function is the number of executions of its calls, plus one if it may
//! be called from outside. For recursive functions, the entries from outside of the recursion are
//! multiplied by [`UNKNOWN_TRIPS`].

use noisy_syntax::{Ir, Op, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::weight::{UNIT, UNKNOWN_TRIPS, Weights};
use crate::program::Program;
use noisy_dataflow::sparse::{followed_callee, may_have_unknown_callers};

/// The live calls of a program that are followed into their callees.
#[derive(Clone, Debug, Default)]
pub struct LiveCalls {
    /// The callee of each call.
    callee: FxHashMap<Op, Op>,
    /// The calls of each function, with the functions that contain them.
    calls_to: FxHashMap<Op, Vec<(Op, Op)>>,
    /// The calls in each function, with their callees.
    calls_in: FxHashMap<Op, Vec<(Op, Op)>>,
    /// Functions that may call themselves, directly or indirectly.
    recursive: FxHashSet<Op>,
    /// The number of entries of each calling or called function, in units of 1 / [`UNIT`].
    entries: FxHashMap<Op, u64>,
}

impl LiveCalls {
    /// Finds the calls of a program. *Cost.* Nearly linear in the program.
    pub fn new(program: &Program) -> LiveCalls {
        let ir = program.ir();
        let mut it = LiveCalls::default();
        let mut functions = Vec::new();
        ir.walk(ir.root(), &mut |op| match ir.op(op).kind {
            OpKind::FuncFunc => functions.push(op),
            OpKind::FuncCall => {
                let (Some(callee), Some(caller)) = (followed_callee(ir, op), ir.function_of(op))
                else {
                    return;
                };
                if program.noise_solver().is_live(ir, op) {
                    it.callee.insert(op, callee);
                    it.calls_to.entry(callee).or_default().push((op, caller));
                    it.calls_in.entry(caller).or_default().push((op, callee));
                }
            }
            _ => {}
        });
        if !it.callee.is_empty() {
            functions.retain(|function| {
                it.calls_to.contains_key(function) || it.calls_in.contains_key(function)
            });
            it.count(program, &functions);
        }
        it
    }

    /// Returns the callee of a call, if the call is followed.
    pub fn callee(&self, call: Op) -> Option<Op> {
        self.callee.get(&call).copied()
    }

    /// Returns true if a function is called.
    pub fn is_called(&self, function: Op) -> bool {
        self.calls_to.contains_key(&function)
    }

    /// Returns true if a function may call itself, directly or indirectly.
    pub(super) fn is_recursive(&self, function: Op) -> bool {
        self.recursive.contains(&function)
    }

    /// Returns the number of entries of a function, in units of 1 / [`UNIT`].
    pub(super) fn entries(&self, function: Op) -> u64 {
        self.entries.get(&function).copied().unwrap_or(UNIT)
    }

    /// The calls of a function, with the functions that contain them.
    pub(super) fn calls_of(&self, function: Op) -> Vec<(Op, Op)> {
        self.calls_to.get(&function).cloned().unwrap_or_default()
    }

    /// Returns the functions that calls connect with `functions`, in textual order. Functions in
    /// `closed` are excluded, and no connection leads through them.
    pub fn connected(&self, ir: &Ir, functions: &[Op], closed: &FxHashSet<Op>) -> Vec<Op> {
        let mut seen: FxHashSet<Op> = FxHashSet::default();
        let mut out: Vec<Op> = Vec::new();
        let mut stack: Vec<Op> = functions.to_vec();
        while let Some(function) = stack.pop() {
            if closed.contains(&function) || !seen.insert(function) {
                continue;
            }
            out.push(function);
            stack.extend(self.calls_in.get(&function).into_iter().flatten().map(|it| it.1));
            stack.extend(self.calls_to.get(&function).into_iter().flatten().map(|it| it.1));
        }
        if out.len() > 1 {
            out.sort_by_cached_key(|&it| ir.start(it));
        }
        out
    }

    /// Computes the recursive functions and the numbers of entries.
    fn count(&mut self, program: &Program, functions: &[Op]) {
        let ir = program.ir();
        // Number of executions of each call.
        let mut executed: FxHashMap<Op, u64> = FxHashMap::default();
        for group in self.callers_first(functions) {
            let mut entries = 0_u64;
            let mut is_recursive = false;
            for &function in &group {
                if may_have_unknown_callers(ir, function) {
                    entries = entries.saturating_add(UNIT);
                }
                for (call, caller) in self.calls_to.get(&function).into_iter().flatten() {
                    let is_inside = group.contains(caller);
                    is_recursive |= is_inside;
                    if let Some(&n) = executed.get(call).filter(|_| !is_inside) {
                        entries = entries.saturating_add(n);
                    }
                }
            }
            if is_recursive {
                entries = entries.saturating_mul(UNKNOWN_TRIPS);
                self.recursive.extend(&group);
            }
            for &function in &group {
                self.entries.insert(function, entries.max(1));
                let Some(calls) = self.calls_in.get(&function) else { continue };
                let mut weights = Weights::default();
                for &(_, region) in &ir.op(function).regions {
                    weights.add(ir, program.integers(), region, entries.max(1), false);
                }
                executed.extend(calls.iter().map(|it| (it.0, weights.of(ir.block_of(it.0)))));
            }
        }
    }

    /// Returns the strongly connected components of the call graph, callers before callees
    /// (Tarjan's algorithm).
    fn callers_first(&self, functions: &[Op]) -> Vec<SmallVec<[Op; 1]>> {
        const NEW: usize = usize::MAX;
        let index: FxHashMap<Op, usize> =
            functions.iter().enumerate().map(|(at, &it)| (it, at)).collect();
        let callees: Vec<Vec<usize>> = functions
            .iter()
            .map(|it| {
                let calls = self.calls_in.get(it).into_iter().flatten();
                calls.filter_map(|it| index.get(&it.1).copied()).collect()
            })
            .collect();
        let n = functions.len();
        let (mut number, mut low) = (vec![NEW; n], vec![NEW; n]);
        let mut is_open = vec![false; n];
        let (mut open, mut out) = (Vec::new(), Vec::new());
        let mut next = 0;
        let mut stack: Vec<(usize, usize)> = Vec::new();
        for root in 0..n {
            if number[root] == NEW {
                stack.push((root, 0));
            }
            while let Some((at, done)) = stack.last_mut() {
                let at = *at;
                if *done == 0 && number[at] == NEW {
                    (number[at], low[at]) = (next, next);
                    next += 1;
                    open.push(at);
                    is_open[at] = true;
                }
                if let Some(&to) = callees[at].get(*done) {
                    *done += 1;
                    if number[to] == NEW {
                        stack.push((to, 0));
                    } else if is_open[to] {
                        low[at] = low[at].min(number[to]);
                    }
                    continue;
                }
                stack.pop();
                if let Some(&(parent, _)) = stack.last() {
                    low[parent] = low[parent].min(low[at]);
                }
                if low[at] == number[at] {
                    let from = open.iter().rposition(|&it| it == at).unwrap_or(0);
                    let group: SmallVec<[Op; 1]> = open
                        .drain(from..)
                        .inspect(|&it| is_open[it] = false)
                        .map(|it| functions[it])
                        .collect();
                    out.push(group);
                }
            }
        }
        out.reverse();
        out
    }
}
