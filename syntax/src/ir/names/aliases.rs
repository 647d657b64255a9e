//! Aliases: the meaning of `!name` and `#name` in a chunk, and the items that depend on it.
//!
//! *Rule.* As in MLIR, an alias is defined once, at the top level, before its first use. The one
//! exception is an alias that is the whole content of the `loc(..)` of an op or argument: it may be
//! defined anywhere. If a name is defined twice, the first definition is used, and the second is a
//! problem.
//!
//! *Edits.* Each item stores the aliases that were looked up when it was parsed, with the results
//! ([`crate::OpExtra::alias_reads`]). When a definition is added or removed, these look-ups are
//! repeated for the items that use its name. An item with a different result is *stale* and is
//! parsed again. Stale items are parsed in textual order, because an item may itself be a
//! definition.
//!
//! *Law.* No item is stale after an edit. *Cost.* The cost of an edit of an alias is proportional
//! to the number of items that use its name.

use std::collections::BTreeMap;

use ropey::Rope;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::grammar::{Alias, Aliases};
use crate::identifier::suffix_id_len;
use crate::{Ir, Name, Op, OpKind, Region};

/// The aliases of a document.
#[derive(Debug, Default)]
pub(crate) struct AliasTable {
    chunks: FxHashMap<Region, ChunkAliases>,
    /// For each name, the items whose parse looked up an alias of that name.
    readers: FxHashMap<Name, FxHashSet<Op>>,
}

/// The aliases of a chunk.
#[derive(Debug, Default)]
struct ChunkAliases {
    /// The definitions of each name, in textual order.
    defs: FxHashMap<Name, SmallVec<[Op; 1]>>,
    /// The meaning of each name by its first definition.
    first: Aliases,
}

impl AliasTable {
    /// The meanings of the aliases of a chunk, wherever they are defined.
    pub(crate) fn meanings_in(&mut self, chunk: Region) -> &Aliases {
        &self.chunks.entry(chunk).or_default().first
    }

    /// Removes the aliases of a removed chunk.
    pub(crate) fn forget(&mut self, chunk: Region) {
        self.chunks.remove(&chunk);
    }

    fn defs(&self, chunk: Region, name: Name) -> &[Op] {
        let defs = self.chunks.get(&chunk).and_then(|it| it.defs.get(&name));
        defs.map_or(&[], SmallVec::as_slice)
    }
}

/// Items that were parsed with outdated meanings of aliases, by their start.
pub(crate) type Stale = BTreeMap<usize, Op>;

impl Ir {
    /// Enters the alias that an item defines, if it defines one. The item must already be in its
    /// sequence, unless definitions are entered in textual order.
    pub(crate) fn define_alias(&mut self, op: Op) {
        let Some(alias) = self.extra(op).alias else { return };
        let data = self.op(op);
        let (chunk, name) = (data.parent, data.name);
        let known = self.names.aliases.defs(chunk, name);
        let at = if self.names.is_in_order || known.is_empty() {
            known.len()
        } else {
            let rank = self.rank(op);
            known.partition_point(|&it| self.rank(it) < rank)
        };
        // Each definition after the first is a problem.
        let later = if at == 0 { known.first().copied() } else { Some(op) };
        self.names.suspects.extend(later);
        let table = self.names.aliases.chunks.entry(chunk).or_default();
        table.defs.entry(name).or_default().insert(at, op);
        if at == 0 {
            table.first.insert(name, alias);
        }
        self.names.touched.aliases.push((chunk, name));
    }

    /// Enters the names of the aliases that were looked up for an item.
    pub(crate) fn add_alias_reads(&mut self, op: Op) {
        let Some(extra) = &self.ops[op.index()].extra else { return };
        for &(name, _) in &extra.alias_reads {
            self.names.aliases.readers.entry(name).or_default().insert(op);
        }
    }

    /// Removes the alias that an item defines and its look-ups of aliases from the tables.
    pub(crate) fn remove_aliases(&mut self, op: Op) {
        let data = &self.ops[op.index()];
        let Some(extra) = &data.extra else { return };
        let table = &mut self.names.aliases;
        for (name, _) in &extra.alias_reads {
            if let Some(readers) = table.readers.get_mut(name) {
                readers.remove(&op);
                if readers.is_empty() {
                    table.readers.remove(name);
                }
            }
        }
        if extra.alias.is_none() {
            return;
        }
        let (chunk, name) = (data.parent, data.name);
        let Some(table) = table.chunks.get_mut(&chunk) else { return };
        let Some(defs) = table.defs.get_mut(&name) else { return };
        defs.retain(|it| *it != op);
        let first = defs.first().and_then(|it| self.ops[it.index()].extra.as_ref()?.alias);
        match first {
            Some(alias) => table.first.insert(name, alias),
            None => table.first.remove(&name),
        };
        if defs.is_empty() {
            table.defs.remove(&name);
        }
        self.names.touched.aliases.push((chunk, name));
    }

    /// The names of the aliases that the chunk of an op defines, in alphabetical order, at most
    /// `most`.
    pub(crate) fn alias_names(&self, from: Op, most: usize) -> Vec<String> {
        let chunk = self.chunk_region(self.op(from).parent);
        let names = self.names.aliases.chunks.get(&chunk).map(|it| it.defs.keys());
        let mut out: Vec<String> =
            names.into_iter().flatten().map(|it| self.interner.str(*it).to_owned()).collect();
        out.sort_unstable();
        out.truncate(most);
        out
    }

    pub(crate) fn find_alias(&self, from: Op, name: Name) -> Option<Op> {
        let chunk = self.chunk_region(self.op(from).parent);
        self.names.aliases.defs(chunk, name).first().copied()
    }

    /// The meaning of an alias at an item; `None` unless its definition precedes the item. `name`
    /// includes the `!` or `#`.
    pub fn alias(&self, at: Op, name: Name) -> Option<Alias> {
        let def = self.find_alias(at, name)?;
        let chunk = self.op(def).parent;
        let mut outermost = at;
        while self.op(outermost).parent != chunk {
            outermost = self.parent_op(outermost)?;
        }
        if self.is_before(def, outermost) { self.extra(def).alias } else { None }
    }

    /// The meanings of the aliases that may be named in the text of an item.
    pub(crate) fn aliases_named(&self, rope: &Rope, op: Op) -> Aliases {
        let mut out = Aliases::default();
        let mut note = |text: &str| {
            let mut rest = text;
            while let Some(at) = rest.find(['!', '#']) {
                let len = 1 + suffix_id_len(&rest[at + 1..]);
                if let Some(name) = self.interner.find_name(&rest[at..at + len])
                    && let Some(alias) = self.alias(op, name)
                {
                    out.insert(name, alias);
                }
                rest = &rest[at + len..];
            }
        };
        let data = self.op(op);
        let (mut at, mut own) = (self.start(op), 0);
        let regions = data.regions.iter().map(|&(to, region)| (to, self.region_len(region)));
        for (to, len) in regions.chain([(data.own_len, 0)]) {
            let n = (to - own) as usize;
            note(&rope.byte_slice(at..at + n).to_string());
            (at, own) = (at + n + len, to);
        }
        out
    }

    /// Adds the items that became stale because the definition of an alias was added or removed,
    /// and the stale items of `changed`.
    pub(crate) fn note_stale(&mut self, changed: &[Op], stale: &mut Stale) {
        let touched = std::mem::take(&mut self.names.touched.aliases);
        let mut note = |op: Op| {
            if self.is_alive(op) && self.is_stale(op) {
                stale.insert(self.start(op), op);
            }
        };
        for &op in changed {
            note(op);
        }
        for (chunk, name) in touched {
            let readers = self.names.aliases.readers.get(&name).into_iter().flatten();
            for &op in readers {
                if self.chunk_region(self.op(op).parent) == chunk {
                    note(op);
                }
            }
        }
    }

    /// Returns true if an alias had another meaning when the item was parsed than it has now.
    pub(crate) fn is_stale(&self, op: Op) -> bool {
        self.extra(op).alias_reads.iter().any(|&(name, found)| self.alias(op, name) != found)
    }

    /// Returns true if an item defines an alias that an earlier item defines.
    pub(super) fn is_redefinition(&self, op: Op) -> bool {
        let data = self.op(op);
        matches!(data.kind, OpKind::TypeAlias | OpKind::AttrAlias)
            && self.names.aliases.defs(data.parent, data.name).first().is_some_and(|it| *it != op)
    }
}
