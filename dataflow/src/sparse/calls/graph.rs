//! The call graph and its strongly connected components, callees before callers.
//!
//! # Notation
//!
//! The *component* of a unit is its strongly connected component in the call graph. The *rank* of a
//! unit is the number of its component, in an order in which callees come first. A unit is
//! *recursive* if its component has several units, or it calls itself.
//!
//! # Law
//!
//! The callee of a call has a lower rank than the unit of the call, or the same component. *Cost.*
//! Linear in the units and calls of the document; no other op is read. The graph is rebuilt after
//! edits of calls or symbols.
//!
//! Where all vectors are joined
//! ([`CallPolicy::CONTEXT_INSENSITIVE`](crate::sparse::CallPolicy::CONTEXT_INSENSITIVE)), the
//! arguments of a function depend on its callers, and its results on its callees. A call is then an
//! edge in both directions, and all functions that are connected by calls are one component.

use noisy_syntax::{Ir, Op};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::index::CallIndex;
use crate::flow;

/// The components of all units with calls or callers.
#[derive(Debug, Default)]
pub(super) struct CallGraph {
    rank: FxHashMap<Op, u32>,
    /// Units in the order of their ranks.
    units: Vec<Op>,
    /// Index of the first unit, by rank.
    starts: Vec<u32>,
    /// By rank.
    is_recursive: Vec<bool>,
}

/// Indices of the callees of a unit.
type Callees = SmallVec<[u32; 4]>;

/// A unit on the path of the depth-first search.
struct PathStep {
    unit: usize,
    /// Number of visited callees.
    n_seen: usize,
}

impl CallGraph {
    /// Builds the graph of a document. If `goes_both_ways`, each call is an edge in both
    /// directions.
    pub(super) fn new(ir: &Ir, index: &CallIndex, goes_both_ways: bool) -> Self {
        let mut units: Vec<Op> = index.callers().collect();
        units.sort_unstable();
        let mut numbers: FxHashMap<Op, u32> = units.iter().copied().zip(0..).collect();
        let mut callees: Vec<Callees> = Vec::with_capacity(units.len());
        let mut it = Self::default();
        for at in 0..units.len() {
            let mut of = Callees::new();
            for &call in index.calls_in(units[at]) {
                let Some(callee) = flow::callee(ir, call) else { continue };
                let number = *numbers.entry(callee).or_insert_with(|| {
                    units.push(callee);
                    units.len() as u32 - 1
                });
                of.push(number);
            }
            callees.push(of);
        }
        callees.resize(units.len(), Callees::new());
        if goes_both_ways {
            for (caller, of) in (0..).zip(callees.clone()) {
                for callee in of {
                    callees[callee as usize].push(caller);
                }
            }
        }
        it.find_components(&units, &callees);
        it
    }

    /// Finds the components (Tarjan's algorithm, without recursion).
    fn find_components(&mut self, units: &[Op], callees: &[Callees]) {
        const UNSEEN: usize = usize::MAX;
        let mut index = vec![UNSEEN; units.len()];
        let mut low = vec![0; units.len()];
        let mut is_open = vec![false; units.len()];
        let (mut open, mut path): (Vec<usize>, Vec<PathStep>) = (Vec::new(), Vec::new());
        self.rank.reserve(units.len());
        let mut next = 0;
        for root in 0..units.len() {
            if index[root] == UNSEEN {
                path.push(PathStep { unit: root, n_seen: 0 });
            }
            while let Some(&mut PathStep { unit, ref mut n_seen }) = path.last_mut() {
                if *n_seen == 0 && index[unit] == UNSEEN {
                    (index[unit], low[unit], is_open[unit]) = (next, next, true);
                    next += 1;
                    open.push(unit);
                }
                if let Some(&callee) = callees[unit].get(*n_seen) {
                    let callee = callee as usize;
                    if index[callee] == UNSEEN {
                        path.push(PathStep { unit: callee, n_seen: 0 });
                        continue;
                    }
                    *n_seen += 1;
                    if is_open[callee] {
                        low[unit] = low[unit].min(low[callee]);
                    }
                    continue;
                }
                path.pop();
                if low[unit] < index[unit] {
                    continue;
                }
                let rank = self.starts.len() as u32;
                let start = open.iter().rposition(|&it| it == unit).unwrap_or(0);
                let first = self.units.len();
                self.starts.push(first as u32);
                for member in open.drain(start..) {
                    is_open[member] = false;
                    self.rank.insert(units[member], rank);
                    self.units.push(units[member]);
                }
                self.units[first..].sort_unstable();
                let is_alone = self.units.len() - first == 1;
                self.is_recursive.push(!is_alone || callees[unit].contains(&(unit as u32)));
            }
        }
    }

    /// Returns the rank of a unit, `u32::MAX` for a unit without calls and callers.
    pub(super) fn rank(&self, unit: Op) -> u32 {
        self.rank.get(&unit).copied().unwrap_or(u32::MAX)
    }

    /// Returns true if a unit has calls or callers.
    pub(super) fn contains(&self, unit: Op) -> bool {
        self.rank.contains_key(&unit)
    }

    /// Returns the units of a component, in the order of their ids.
    pub(super) fn component(&self, rank: u32) -> &[Op] {
        let Some(&start) = self.starts.get(rank as usize) else { return &[] };
        let end = self.starts.get(rank as usize + 1).map_or(self.units.len(), |&it| it as usize);
        &self.units[start as usize..end]
    }

    /// Returns the first unit of the component of a unit. It is the key of the component in tables.
    pub(super) fn first(&self, unit: Op) -> Op {
        self.component(self.rank(unit)).first().copied().unwrap_or(unit)
    }

    pub(super) fn is_recursive(&self, unit: Op) -> bool {
        self.is_recursive.get(self.rank(unit) as usize).is_some_and(|&it| it)
    }
}
