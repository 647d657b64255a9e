//! Calls and callees by name. The index finds the units that an edit can affect.
//!
//! # Notation
//!
//! Facts flow from one unit into another only through calls. A unit is *connected* to its callees,
//! to its callers, and to all units that these are connected to. Only names count, so a call
//! connects units even if the solver does not follow it.
//!
//! # Law
//!
//! After any edits the tables equal those built from scratch. *Cost.* The tables contain the ops
//! that define or mention a symbol, so they are empty for a document without symbols. The cost of
//! an edit is proportional to its changes in the tables. The connected units are found in time
//! linear in their number.

use noisy_syntax::{Delta, Ir, Name, Op, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::flow::Flow;

/// The symbols of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SymbolOp {
    unit: Op,
    defines: Option<Name>,
    /// Symbols that the op refers to, such as the callee of a call.
    mentions: SmallVec<[Name; 1]>,
    is_call: bool,
}

impl SymbolOp {
    fn of(ir: &Ir, op: Op) -> Option<Self> {
        let rest = ir.op(op).extra.as_ref()?;
        // A module is not a unit, and a call to it connects nothing.
        let is_unit = Flow::of(ir, op) != Flow::Group;
        let defines = rest.symbol.filter(|_| is_unit).map(|it| it.0);
        if defines.is_none() && rest.symbol_uses.is_empty() {
            return None;
        }
        let mut mentions = SmallVec::new();
        for &(last, first, _) in &rest.symbol_uses {
            for name in [last, first] {
                if !mentions.contains(&name) {
                    mentions.push(name);
                }
            }
        }
        let is_call = ir.op(op).kind == OpKind::FuncCall;
        Some(Self { unit: unit_of(ir, op), defines, mentions, is_call })
    }
}

/// Returns the unit of an op: the outermost enclosing op that is not a module, or the op itself.
pub(super) fn unit_of(ir: &Ir, op: Op) -> Op {
    let (mut unit, mut at) = (op, op);
    while let Some(parent) = ir.parent_op(at) {
        if Flow::of(ir, parent) != Flow::Group {
            unit = parent;
        }
        at = parent;
    }
    unit
}

/// A list of ops that is mostly short.
type Ops = SmallVec<[Op; 4]>;

/// The calls in a document and their possible callees.
#[derive(Debug, Default)]
pub(super) struct CallIndex {
    of: FxHashMap<Op, SymbolOp>,
    /// Calls by unit.
    calls: FxHashMap<Op, Ops>,
    /// Calls by name of the callee.
    callers: FxHashMap<Name, Ops>,
    /// Ops that define each name.
    definitions: FxHashMap<Name, Ops>,
    has_changed: bool,
}

fn push<K: std::hash::Hash + Eq>(table: &mut FxHashMap<K, Ops>, key: K, op: Op) {
    table.entry(key).or_default().push(op);
}

fn remove<K: std::hash::Hash + Eq>(table: &mut FxHashMap<K, Ops>, key: &K, op: Op) {
    if let Some(ops) = table.get_mut(key) {
        ops.retain(|it| *it != op);
        if ops.is_empty() {
            table.remove(key);
        }
    }
}

impl CallIndex {
    pub(super) fn new(ir: &Ir) -> Self {
        let mut it = Self::default();
        // In the order of ids, accesses to the arena are sequential.
        let mut ops: Vec<Op> = ir.symbol_ops().collect();
        ops.sort_unstable();
        ops.dedup();
        it.of.reserve(ops.len());
        for op in ops {
            let _ = it.insert(ir, op);
        }
        it
    }

    /// Returns true if there is no call.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Updates the index after an edit. The ops in `entered` count as changed, too. Returns the
    /// connected units, before or after the edit, that define or call a name that an added, changed
    /// or removed op defines or mentions. For a changed call, returns only its own unit.
    pub(super) fn update(&mut self, ir: &Ir, delta: &Delta, entered: &[Op]) -> Vec<Op> {
        let touched = || delta.removed.iter().chain(&delta.changed).copied();
        let mut names: FxHashSet<Name> = FxHashSet::default();
        let mut out: FxHashSet<Op> = FxHashSet::default();
        let mut olds: FxHashMap<Op, SymbolOp> = FxHashMap::default();
        for op in touched().chain(entered.iter().copied()) {
            if self.of.contains_key(&op) {
                self.add_affected(op, &mut names, &mut out);
            }
        }
        for op in touched() {
            if let Some(old) = self.take(op) {
                olds.insert(op, old);
            }
        }
        let news: Vec<Op> =
            delta.changed.iter().copied().filter(|&it| self.insert(ir, it)).collect();
        for op in news {
            self.add_affected(op, &mut names, &mut out);
            let is_same = olds.remove(&op).is_some_and(|it| self.of.get(&op) == Some(&it));
            self.has_changed |= !is_same;
        }
        self.has_changed |= !olds.is_empty();
        let mut out: Vec<Op> = out.into_iter().filter(|&it| ir.is_alive(it)).collect();
        out.sort_unstable();
        out
    }

    /// Returns true if an op that defines or mentions a symbol was added, changed or removed since
    /// the last call of this method.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// Number of units that contain calls.
    pub(super) fn n_units(&self) -> usize {
        self.calls.len()
    }

    /// Returns the units that contain calls, in no particular order.
    pub(super) fn callers(&self) -> impl Iterator<Item = Op> {
        self.calls.keys().copied()
    }

    /// Adds the connected units that define or call the names of an op, and the unit of the op.
    /// `seen` are the names whose callers were added before.
    fn add_affected(&self, op: Op, seen: &mut FxHashSet<Name>, out: &mut FxHashSet<Op>) {
        let Some(symbols) = self.of.get(&op) else { return };
        out.extend(Some(symbols.unit).filter(|&it| self.is_connected(it)));
        if symbols.is_call {
            return;
        }
        for name in symbols.defines.iter().chain(&symbols.mentions) {
            // If an op other than a call mentions a function, the function may have unknown
            // callers.
            let always = symbols.mentions.contains(name);
            let define = self.definitions.get(name).into_iter().flatten();
            let define = define.filter_map(|it| Some(self.of.get(it)?.unit));
            out.extend(define.filter(|&it| always || self.is_connected(it)));
            if seen.insert(*name) {
                let callers = self.callers.get(name).into_iter().flatten();
                out.extend(callers.filter_map(|it| Some(self.of.get(it)?.unit)));
            }
        }
    }

    /// Inserts an op. Returns true if it defines or mentions a symbol.
    fn insert(&mut self, ir: &Ir, op: Op) -> bool {
        let Some(symbols) = SymbolOp::of(ir, op) else { return false };
        if symbols.is_call {
            push(&mut self.calls, symbols.unit, op);
            for &name in &symbols.mentions {
                push(&mut self.callers, name, op);
            }
        }
        if let Some(name) = symbols.defines {
            push(&mut self.definitions, name, op);
        }
        self.of.insert(op, symbols);
        true
    }

    fn take(&mut self, op: Op) -> Option<SymbolOp> {
        let symbols = self.of.remove(&op)?;
        if symbols.is_call {
            remove(&mut self.calls, &symbols.unit, op);
            for name in &symbols.mentions {
                remove(&mut self.callers, name, op);
            }
        }
        if let Some(name) = &symbols.defines {
            remove(&mut self.definitions, name, op);
        }
        Some(symbols)
    }

    /// Returns the calls in a unit, in no particular order.
    pub(super) fn calls_in(&self, unit: Op) -> &[Op] {
        self.calls.get(&unit).map_or(&[], Ops::as_slice)
    }

    /// Returns true if an op defines or mentions a symbol.
    pub(super) fn contains(&self, op: Op) -> bool {
        self.of.contains_key(&op)
    }

    /// Returns true if a unit contains calls, or a call names it.
    pub(super) fn is_connected(&self, unit: Op) -> bool {
        let name = self.of.get(&unit).and_then(|it| it.defines);
        self.calls.contains_key(&unit) || name.is_some_and(|it| self.callers.contains_key(&it))
    }

    /// Returns a unit and all units that it is connected to, in textual order.
    pub(super) fn component(&self, ir: &Ir, unit: Op) -> Vec<Op> {
        let mut seen: FxHashSet<Op> = FxHashSet::default();
        seen.insert(unit);
        let mut out = vec![unit];
        let mut next = 0;
        while let Some(&unit) = out.get(next) {
            next += 1;
            let mut reach = |unit: Op| {
                if seen.insert(unit) {
                    out.push(unit);
                }
            };
            let own = self.of.get(&unit).and_then(|it| it.defines);
            for call in own.and_then(|it| self.callers.get(&it)).into_iter().flatten() {
                self.of.get(call).into_iter().for_each(|it| reach(it.unit));
            }
            for call in self.calls_in(unit) {
                for name in self.of.get(call).map_or(&[][..], |it| &it.mentions) {
                    // Symbols that are defined within units are not followed.
                    let found = self.definitions.get(name).into_iter().flatten();
                    found
                        .filter(|it| self.of.get(it).is_some_and(|symbols| symbols.unit == **it))
                        .for_each(|it| reach(*it));
                }
            }
        }
        out.retain(|&it| ir.is_alive(it) && Flow::of(ir, it) != Flow::Group);
        out.sort_by_cached_key(|&it| ir.start(it));
        out
    }
}
