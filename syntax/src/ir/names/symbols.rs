//! Symbols: the ops that define `@name` in a region, and the ops that use it.

use crate::op_traits::Traits;
use crate::{Ir, Name, Op, OpKind, Region};

impl Ir {
    /// Enters the symbol that an op defines and those that it uses. The op must already be in its
    /// sequence.
    pub(crate) fn add_symbols(&mut self, op: Op) {
        let region = self.op(op).parent;
        let Some(extra) = &self.ops[op.index()].extra else { return };
        for &(last, first, _) in &extra.symbol_uses {
            self.names.symbol_uses.entry(last).or_default().push(op);
            if first != last {
                self.names.symbol_uses.entry(first).or_default().push(op);
            }
        }
        let Some((name, _)) = extra.symbol else { return };
        let key = (region, name);
        let known = self.symbol_defs(region, name);
        let at = if self.names.is_in_order || known.is_empty() {
            known.len()
        } else {
            let rank = self.rank(op);
            known.partition_point(|&it| self.rank(it) < rank)
        };
        self.names.symbols.entry(key).or_default().insert(at, op);
        self.names.touched.symbols.push(key);
    }

    pub(crate) fn remove_symbols(&mut self, op: Op) {
        let region = self.op(op).parent;
        let Some(extra) = &self.ops[op.index()].extra else { return };
        for &(last, first, _) in &extra.symbol_uses {
            for name in [last, first] {
                if let Some(ops) = self.names.symbol_uses.get_mut(&name) {
                    ops.retain(|it| *it != op);
                    if ops.is_empty() {
                        self.names.symbol_uses.remove(&name);
                    }
                }
            }
        }
        let Some((name, _)) = extra.symbol else { return };
        let key = (region, name);
        if let Some(ops) = self.names.symbols.get_mut(&key) {
            ops.retain(|it| *it != op);
            if ops.is_empty() {
                self.names.symbols.remove(&key);
            }
        }
        self.names.touched.symbols.push(key);
    }

    /// Resolves a symbol (the first name of a path) that is used at the op `from`: the first
    /// definition in the nearest symbol table, as in MLIR's `lookupNearestSymbolFrom`. An op
    /// without a row may be a symbol table. If it defines the symbol, that definition is used;
    /// otherwise the search continues outside. The regions of other ops, such as functions, define
    /// no symbols.
    pub fn resolve_symbol(&self, from: Op, name: Name) -> Option<Op> {
        let mut region = self.op(from).parent;
        loop {
            let parent = self.region(region).parent;
            if parent.is_none_or(|it| self.may_be_symbol_table(it))
                && let Some(&op) = self.symbol_defs(region, name).first()
            {
                return Some(op);
            }
            let parent = parent?;
            if self.is_symbol_table(parent) {
                return None;
            }
            region = self.op(parent).parent;
        }
    }

    /// Returns true if an op is a symbol table, or may be one because its kind is unknown.
    pub fn may_be_symbol_table(&self, op: Op) -> bool {
        self.is_symbol_table(op) || self.op(op).kind == OpKind::Unknown
    }

    /// The nearest enclosing op that may be a symbol table. Each symbol has the same meaning at all
    /// ops with the same result.
    pub fn symbol_table_around(&self, op: Op) -> Option<Op> {
        let mut around = std::iter::successors(self.parent_op(op), |&it| self.parent_op(it));
        around.find(|&it| self.may_be_symbol_table(it))
    }

    /// Returns true if an op is a symbol table: ops inside it see its symbols and no outer ones.
    /// The top level of a chunk is an implicit module.
    pub(crate) fn is_symbol_table(&self, op: Op) -> bool {
        let kind = self.op(op).kind;
        kind == OpKind::Chunk || kind.has(Traits::SYMBOL_TABLE)
    }

    /// The definitions of a symbol in a region, in textual order.
    pub fn symbol_defs(&self, region: Region, name: Name) -> &[Op] {
        self.names.symbols.get(&(region, name)).map_or(&[], |it| it.as_slice())
    }

    /// Every symbol with the region that defines it, in no particular order.
    #[allow(clippy::iter_over_hash_type, reason = "the caller fills a table")]
    pub(crate) fn all_symbols(&self) -> impl Iterator<Item = (Region, Name)> + '_ {
        self.names.symbols.keys().copied()
    }

    /// Every op that defines or uses a symbol, in no particular order, possibly with duplicates.
    #[allow(clippy::iter_over_hash_type, reason = "the caller fills a table")]
    pub fn symbol_ops(&self) -> impl Iterator<Item = Op> + '_ {
        let uses = self.names.symbol_uses.values();
        uses.flatten().chain(self.names.symbols.values().flatten()).copied()
    }

    /// Returns true if any region defines a symbol of that name.
    pub(crate) fn is_symbol_anywhere(&self, name: Name) -> bool {
        self.names.symbols.keys().any(|it| it.1 == name)
    }

    /// The ops that use a symbol of that name, in no particular order, possibly with duplicates.
    pub fn symbol_users(&self, name: Name) -> &[Op] {
        self.names.symbol_uses.get(&name).map_or(&[], Vec::as_slice)
    }
}
