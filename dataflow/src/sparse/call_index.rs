//! The graph of calls by name: which units an edit can concern, found from the edit outward.
//!
//! # Notation
//!
//! A *unit* is what stands in a module or at the top of the file: a function, or anything else. Facts flow from one unit into another only
//! through calls. A unit is *connected* to the units that it calls, to those that call it, and to all that these are connected to. Names
//! decide, so that a call connects units even if the solver does not follow it.
//!
//! # Law
//!
//! After any edits the tables equal those made from scratch. *Cost.* The tables hold the ops that define or mention a symbol, so a document
//! that mentions no symbols has empty ones. An edit costs what it changes in them; the connected units are found in time linear in them.

use noisy_syntax::{Delta, Ir, Name, Op, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::flow::Flow;

/// What an op has to do with symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SymbolOp {
    unit: Op,
    defines: Option<Name>,
    /// What it refers to; a call calls it.
    mentions: SmallVec<[Name; 1]>,
    is_call: bool,
}

impl SymbolOp {
    fn of(ir: &Ir, op: Op) -> Option<Self> {
        let rest = ir.op(op).extra.as_ref()?;
        // What only groups is no unit, and a call of it connects nothing.
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

/// The op itself or the outermost op around it that does more than to group.
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

/// Few mostly, which take no room of their own.
type Ops = SmallVec<[Op; 4]>;

/// The calls in a document and what they may call.
#[derive(Debug, Default)]
pub(super) struct CallIndex {
    of: FxHashMap<Op, SymbolOp>,
    /// The calls in each unit that has any.
    calls: FxHashMap<Op, Ops>,
    /// The calls of each name.
    callers: FxHashMap<Name, Ops>,
    /// What defines each name.
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
    /// Those of a whole document.
    pub(super) fn new(ir: &Ir) -> Self {
        let mut it = Self::default();
        // In the order of the arena, which is that of the memory.
        let mut ops: Vec<Op> = ir.symbol_ops().collect();
        ops.sort_unstable();
        ops.dedup();
        it.of.reserve(ops.len());
        for op in ops {
            let _ = it.insert(ir, op);
        }
        it
    }

    /// Whether nothing calls anything.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes in an edit. The units with calls or callers, before or after it, that define or call what the edit defines, calls or mentions
    /// in another way; of a call that came, changed or left only its own unit. What is `entered` is as if the edit had changed it.
    pub(super) fn update(&mut self, ir: &Ir, delta: &Delta, entered: &[Op]) -> Vec<Op> {
        let touched = || delta.removed.iter().chain(&delta.changed).copied();
        let mut names: FxHashSet<Name> = FxHashSet::default();
        let mut out: FxHashSet<Op> = FxHashSet::default();
        let mut olds: FxHashMap<Op, SymbolOp> = FxHashMap::default();
        for op in touched().chain(entered.iter().copied()) {
            if self.of.contains_key(&op) {
                self.concerned(op, &mut names, &mut out);
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
            self.concerned(op, &mut names, &mut out);
            let is_same = olds.remove(&op).is_some_and(|it| self.of.get(&op) == Some(&it));
            self.has_changed |= !is_same;
        }
        self.has_changed |= !olds.is_empty();
        let mut out: Vec<Op> = out.into_iter().filter(|&it| ir.is_alive(it)).collect();
        out.sort_unstable();
        out
    }

    /// Whether any symbol, or what names one, came, changed or left since this was asked.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// How many units have calls in them.
    pub(super) fn n_units(&self) -> usize {
        self.calls.len()
    }

    /// The units with calls in them, in no particular order.
    pub(super) fn callers(&self) -> impl Iterator<Item = Op> {
        self.calls.keys().copied()
    }

    /// Adds the connected units that name what an op names, and its own; `seen` are names that were asked for.
    fn concerned(&self, op: Op, seen: &mut FxHashSet<Name>, out: &mut FxHashSet<Op>) {
        let Some(tie) = self.of.get(&op) else { return };
        out.extend(Some(tie.unit).filter(|&it| self.is_connected(it)));
        if tie.is_call {
            return;
        }
        for name in tie.defines.iter().chain(&tie.mentions) {
            // A mention that is no call says that anybody may call what it names.
            let always = tie.mentions.contains(name);
            let define = self.definitions.get(name).into_iter().flatten();
            let define = define.filter_map(|it| Some(self.of.get(it)?.unit));
            out.extend(define.filter(|&it| always || self.is_connected(it)));
            if seen.insert(*name) {
                let callers = self.callers.get(name).into_iter().flatten();
                out.extend(callers.filter_map(|it| Some(self.of.get(it)?.unit)));
            }
        }
    }

    /// Enters an op. Whether it names a symbol.
    fn insert(&mut self, ir: &Ir, op: Op) -> bool {
        let Some(tie) = SymbolOp::of(ir, op) else { return false };
        if tie.is_call {
            push(&mut self.calls, tie.unit, op);
            for &name in &tie.mentions {
                push(&mut self.callers, name, op);
            }
        }
        if let Some(name) = tie.defines {
            push(&mut self.definitions, name, op);
        }
        self.of.insert(op, tie);
        true
    }

    fn take(&mut self, op: Op) -> Option<SymbolOp> {
        let tie = self.of.remove(&op)?;
        if tie.is_call {
            remove(&mut self.calls, &tie.unit, op);
            for name in &tie.mentions {
                remove(&mut self.callers, name, op);
            }
        }
        if let Some(name) = &tie.defines {
            remove(&mut self.definitions, name, op);
        }
        Some(tie)
    }

    /// The calls in a unit, in no particular order.
    pub(super) fn calls_in(&self, unit: Op) -> &[Op] {
        self.calls.get(&unit).map_or(&[], Ops::as_slice)
    }

    /// Whether an op names a symbol or is one.
    pub(super) fn contains(&self, op: Op) -> bool {
        self.of.contains_key(&op)
    }

    /// Whether a unit calls anything, or something in the document calls it.
    pub(super) fn is_connected(&self, unit: Op) -> bool {
        let name = self.of.get(&unit).and_then(|it| it.defines);
        self.calls.contains_key(&unit) || name.is_some_and(|it| self.callers.contains_key(&it))
    }

    /// A unit and those that it is connected to, in textual order.
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
                    // What is defined further inside is not followed.
                    let found = self.definitions.get(name).into_iter().flatten();
                    found
                        .filter(|it| self.of.get(it).is_some_and(|tie| tie.unit == **it))
                        .for_each(|it| reach(*it));
                }
            }
        }
        out.retain(|&it| ir.is_alive(it) && Flow::of(ir, it) != Flow::Group);
        out.sort_by_cached_key(|&it| ir.start(it));
        out
    }
}
