//! Names: their definitions, their uses, and the uses that have no definition.
//!
//! *Rule.* MLIR names never shadow, so resolving is a walk outward: the first region, from that of
//! the use to that of the chunk, in which the name is defined. Textual order does not matter for
//! this (a use before its definition is a forward reference). If a name is defined twice in one
//! region, the first definition counts, and the second is a problem.
//!
//! *Region arguments of opaque ops.* A `%x` in the header of an op whose syntax is unknown is an
//! argument of its region if the name is not visible there yet. Such a header *may define* `%x`.
//! This is decided when a use of `%x` inside is resolved, so that the answer does not depend on the
//! order of edits.
//!
//! *Law.* After every edit the tables and all resolved operands equal those made from scratch.
//! *Cost.* An edit re-resolves only uses of names that gained or lost a definition.

mod aliases;
mod labels;
mod problems;
mod symbols;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::slack::{keep_slack, keep_slack_in_map, reserve_with_slack};
use crate::{Block, Def, Ir, Name, Op, Region, Value};
use aliases::AliasTable;
pub(crate) use aliases::Stale;

/// The name tables of a document.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The definitions of each name.
    defs: Vec<Defs>,
    /// Arguments that the header of an opaque op may define.
    maybe: FxHashMap<(Region, Name), Value>,
    /// The opaque ops whose headers may define a name, by the name.
    maybe_ops: FxHashMap<Name, Vec<Op>>,
    /// Uses that resolve to nothing: op and operand index.
    unresolved: FxHashMap<Name, Vec<(Op, u32)>>,
    /// Labels per region, in textual order.
    labels: FxHashMap<(Region, Name), SmallVec<[Op; 1]>>,
    /// Successors that resolve to nothing.
    unresolved_successors: FxHashMap<(Region, Name), Vec<(Op, u32)>>,
    label_blocks: FxHashMap<Op, Block>,
    /// Symbols per region that holds their ops, in textual order.
    symbols: FxHashMap<(Region, Name), SmallVec<[Op; 1]>>,
    /// Ops that refer to a symbol, by the last and the first name of the path.
    symbol_uses: FxHashMap<Name, Vec<Op>>,
    /// Names that may be defined twice where both are visible.
    dubious: FxHashSet<Name>,
    /// True while a whole text is read: all definitions are entered, in textual order.
    pub(crate) in_order: bool,
    pub(crate) aliases: AliasTable,
    /// Ops that may have problems.
    pub(crate) suspects: FxHashSet<Op>,
    /// The names that the current edit has touched so far.
    pub(crate) touched: Touched,
}

impl Names {
    /// Reserves some room for later edits.
    pub(crate) fn keep_slack(&mut self) {
        keep_slack(&mut self.defs);
        keep_slack_in_map(&mut self.labels);
        keep_slack_in_map(&mut self.label_blocks);
        keep_slack_in_map(&mut self.symbols);
        keep_slack_in_map(&mut self.symbol_uses);
    }
}

/// The names that an edit touched and on which ops elsewhere may depend. Some may occur repeatedly
/// or no longer exist.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Regions where a label came or went (`None`), or where the successors of an op did.
    pub(crate) flows: Vec<(Region, Option<Op>)>,
    /// Symbols whose definition came, went or was read again.
    pub(crate) symbols: Vec<(Region, Name)>,
    /// Ops whose regions stayed while their own text was read again and gave the regions another
    /// signature.
    pub(crate) signature_changed: Vec<Op>,
    /// Aliases, by the region of their chunk, whose definition came, went or was read again.
    pub(crate) aliases: Vec<(Region, Name)>,
    /// Values that lost their last use.
    pub(crate) idle: Vec<Value>,
    /// The stretches of regions whose items were replaced.
    pub(crate) runs: Vec<Replaced>,
}

impl Touched {
    /// Forgets everything, but keeps the memory.
    pub(crate) fn forget(&mut self) {
        self.flows.clear();
        self.symbols.clear();
        self.signature_changed.clear();
        self.aliases.clear();
        self.idle.clear();
        self.runs.clear();
    }
}

/// A stretch of a region whose items were replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaced {
    pub(crate) region: Region,
    /// The rank of its first item.
    pub(crate) rank: usize,
    /// Its items now.
    pub(crate) n: usize,
}

/// The definitions of one name: values (number 0 of a pack) by region, those of one region next to
/// each other in textual order. Most names are defined once; `%0` may be in every function.
#[derive(Debug, Default)]
struct Defs {
    all: SmallVec<[(Region, Value); 1]>,
    /// The definitions of each region, once there are many; `all` is then empty.
    index: Option<Box<FxHashMap<Region, SmallVec<[Value; 1]>>>>,
}

/// A name with more definitions than this gets an index.
const MANY_DEFS: usize = 12;

impl Defs {
    /// The definitions in a region, in textual order.
    fn of(&self, region: Region) -> SmallVec<[Value; 1]> {
        if let Some(index) = &self.index {
            return index.get(&region).cloned().unwrap_or_default();
        }
        self.all.iter().filter(|it| it.0 == region).map(|it| it.1).collect()
    }

    /// Calls `f` with the definitions in a region, in textual order.
    fn with<R>(&self, region: Region, f: impl FnOnce(&[Value]) -> R) -> R {
        match &self.index {
            Some(index) => f(index.get(&region).map_or(&[], SmallVec::as_slice)),
            None => f(&self.of(region)),
        }
    }

    fn first(&self, region: Region) -> Option<Value> {
        if let Some(index) = &self.index {
            return index.get(&region)?.first().copied();
        }
        self.all.iter().find(|it| it.0 == region).map(|it| it.1)
    }

    /// Enters a value at position `at` among those of its region, or at the end.
    fn insert(&mut self, region: Region, value: Value, at: usize) {
        if let Some(index) = &mut self.index {
            let values = index.entry(region).or_default();
            values.insert(at.min(values.len()), value);
            return;
        }
        let mut of_region = self.all.iter().enumerate().filter(|(_, it)| it.0 == region);
        let place = of_region.nth(at).map_or(self.all.len(), |(place, _)| place);
        self.all.insert(place, (region, value));
        if self.all.len() > MANY_DEFS {
            let mut index: FxHashMap<Region, SmallVec<[Value; 1]>> = FxHashMap::default();
            for (region, value) in self.all.drain(..) {
                index.entry(region).or_default().push(value);
            }
            self.index = Some(Box::new(index));
        }
    }

    fn remove(&mut self, region: Region, value: Value) {
        if let Some(index) = &mut self.index {
            if let Some(values) = index.get_mut(&region) {
                values.retain(|it| *it != value);
                if values.is_empty() {
                    index.remove(&region);
                }
            }
        } else {
            self.all.retain(|it| it.1 != value);
        }
    }

    /// The regions that have definitions, in no particular order, perhaps repeatedly.
    fn regions(&self) -> Vec<Region> {
        match &self.index {
            Some(index) => index.keys().copied().collect(),
            None => self.all.iter().map(|it| it.0).collect(),
        }
    }
}

/// A use of a value: the op and the index of its operand.
pub(crate) type Use = (Op, u32);

impl Names {
    /// Forgets the tables that only a text needs: the names of values and labels, aliases,
    /// problems.
    pub(crate) fn forget_text(&mut self) {
        *self = Names {
            label_blocks: std::mem::take(&mut self.label_blocks),
            symbols: std::mem::take(&mut self.symbols),
            symbol_uses: std::mem::take(&mut self.symbol_uses),
            ..Names::default()
        };
    }

    pub(crate) fn label_block(&self, label: Op) -> Block {
        self.label_blocks[&label]
    }

    pub(crate) fn defs(&self, region: Region, name: Name) -> SmallVec<[Value; 1]> {
        self.defs.get(name.index()).map_or_else(SmallVec::new, |it| it.of(region))
    }

    fn first_def(&self, region: Region, name: Name) -> Option<Value> {
        self.defs.get(name.index())?.first(region)
    }

    /// The regions in which a name is defined.
    fn regions_of(&self, name: Name) -> Vec<Region> {
        self.defs.get(name.index()).map_or_else(Vec::new, Defs::regions)
    }
}

impl Ir {
    /// The region in which a value's name is defined.
    pub fn def_region(&self, value: Value) -> Region {
        match self.value(value).def {
            Def::Result(op, _) => self.op(op).parent,
            Def::Argument(block, _) => self.block(block).region,
        }
    }

    /// Orders the definitions of one region as the text does: header arguments first, then by item.
    fn def_order(&self, region: Region, value: Value) -> (usize, u32) {
        let data = self.value(value);
        match self.definition_site(value) {
            Some(op) if self.op(op).parent == region => (1 + self.rank(op), data.span.start),
            _ => (0, data.span.start),
        }
    }

    /// Enters the definition of a value. Adds the uses that may now refer to it to `retry`.
    pub(crate) fn add_def(&mut self, value: Value, retry: &mut Vec<Use>) {
        let (name, region) = (self.value(value).name, self.def_region(value));
        // Uses inside the region of a definition further out now refer to this one.
        if let Some(outer) = self.visible(region, name) {
            self.names.dubious.insert(name);
            let moved: Vec<Use> = self
                .value_pack(outer)
                .iter()
                .flat_map(|&it| self.value(it).uses.iter().copied())
                .filter(|&(op, _)| self.encloses(region, op))
                .collect();
            retry.extend(moved);
        }
        if self.names.defs.len() <= name.index() {
            reserve_with_slack(&mut self.names.defs, self.interner.n_names());
            self.names.defs.resize_with(self.interner.n_names(), Defs::default);
        }
        // If definitions are entered in textual order, those already known further in come before
        // this one in the text: no conflict.
        if !self.names.in_order && !self.names.dubious.contains(&name) {
            let inner = self.names.regions_of(name);
            if inner.iter().any(|&it| it != region && self.region_encloses(region, it)) {
                self.names.dubious.insert(name);
            }
        }
        let at = if self.names.in_order {
            usize::MAX
        } else {
            // The definitions of a region are kept in textual order.
            let order = self.def_order(region, value);
            let known = &self.names.defs[name.index()];
            known.with(region, |known| {
                known.partition_point(|&it| self.def_order(region, it) < order)
            })
        };
        self.names.defs[name.index()].insert(region, value, at);
        if let Some(uses) = self.names.unresolved.remove(&name) {
            retry.extend(uses.iter().copied());
            self.names.unresolved.insert(name, uses);
        }
        self.retry_maybe(name, retry);
    }

    fn retry_maybe(&self, name: Name, retry: &mut Vec<Use>) {
        for &op in self.names.maybe_ops.get(&name).map_or(&[][..], Vec::as_slice) {
            for &(_, region) in &self.op(op).regions {
                if let Some(&value) = self.names.maybe.get(&(region, name)) {
                    retry.extend(self.value(value).uses.iter().copied());
                }
                // A use inside may now refer to the argument instead.
                if let Some(value) = self.visible(self.op(op).parent, name) {
                    let uses = self.value(value).uses.iter().copied();
                    retry.extend(uses.filter(|&(it, _)| self.encloses(region, it)));
                }
            }
        }
    }

    /// Forgets the definition of a value. Adds the uses that referred to it (still linked) to
    /// `retry`.
    pub(crate) fn remove_def(&mut self, value: Value, retry: &mut Vec<Use>) {
        let (name, region) = (self.value(value).name, self.def_region(value));
        for it in self.value_pack(value) {
            retry.extend(self.value(it).uses.iter().copied());
        }
        if let Some(defs) = self.names.defs.get_mut(name.index()) {
            defs.remove(region, value);
        }
        // Another definition of the name may have a number in its pack that this one lacked.
        if let Some(uses) = self.names.unresolved.get(&name) {
            retry.extend(uses.iter().copied());
        }
        self.retry_maybe(name, retry);
    }

    /// The values of the pack that starts with `first`.
    fn value_pack(&self, first: Value) -> SmallVec<[Value; 1]> {
        (0..).map_while(|number| self.pack_value(first, number)).collect()
    }

    /// The value with this number in the pack that starts with `first`.
    fn pack_value(&self, first: Value, number: usize) -> Option<Value> {
        let data = self.value(first);
        let value = match data.def {
            Def::Result(op, index) => *self.op(op).results.get(index as usize + number)?,
            Def::Argument(..) if number == 0 => first,
            Def::Argument(..) => return None,
        };
        // Numbers go up from 0 within a pack: the value at this index with this name and number
        // belongs to the pack.
        let it = self.value(value);
        (it.name == data.name && it.number as usize == number).then_some(value)
    }

    /// Returns true if an op is inside a region, at any depth.
    pub fn encloses(&self, region: Region, op: Op) -> bool {
        self.region_encloses(region, self.op(op).parent)
    }

    /// Returns true if an op is `outer` or inside it, at any depth.
    pub fn is_within(&self, op: Op, outer: Op) -> bool {
        std::iter::successors(Some(op), |&it| self.parent_op(it)).any(|it| it == outer)
    }

    /// Returns true if a region is `inner` or encloses it, at any depth.
    pub fn region_encloses(&self, region: Region, inner: Region) -> bool {
        let mut at = inner;
        loop {
            if at == region {
                return true;
            }
            let Some(parent) = self.region(at).parent else { return false };
            at = self.op(parent).parent;
        }
    }

    /// The first value of the definition that a name refers to in a region.
    pub fn visible(&self, region: Region, name: Name) -> Option<Value> {
        let mut region = region;
        loop {
            if let Some(value) = self.names.first_def(region, name) {
                return Some(value);
            }
            let parent = self.region(region).parent?;
            let maybe = if self.names.maybe.is_empty() {
                None
            } else {
                self.names.maybe.get(&(region, name))
            };
            if let Some(&value) = maybe {
                // An argument, unless the name is visible before the op.
                return match self.visible(self.op(parent).parent, name) {
                    Some(outer) if self.is_defined_before(outer, parent) => Some(outer),
                    _ => Some(value),
                };
            }
            region = self.op(parent).parent;
        }
    }

    /// Returns true if a value is defined before an op in the text.
    pub(crate) fn is_defined_before(&self, value: Value, op: Op) -> bool {
        let region = self.def_region(value);
        let Some(defining_op) = self.definition_site(value) else { return true };
        if self.op(defining_op).parent != region {
            return true;
        }
        let mut at = op;
        while self.op(at).parent != region {
            match self.parent_op(at) {
                Some(parent) => at = parent,
                None => return true,
            }
        }
        self.is_before(defining_op, at)
    }

    fn resolve(&self, op: Op, index: u32) -> Option<Value> {
        let data = self.op(op);
        let operand = &data.operands[index as usize];
        let first = self.visible(data.parent, operand.name)?;
        if operand.number == 0 {
            return Some(first);
        }
        self.pack_value(first, operand.number as usize)
    }

    /// Resolves a use that is not linked.
    pub(crate) fn link_use(&mut self, (op, index): Use) {
        #[cfg(test)]
        crate::work::count(1);
        let value = self.resolve(op, index);
        let operand = &mut self.ops[op.index()].operands[index as usize];
        operand.value = value;
        match value {
            Some(value) => {
                let uses = &mut self.values[value.index()].uses;
                operand.slot = uses.len() as u32;
                uses.push((op, index));
            }
            None => {
                if !operand.maybe_argument {
                    self.names.suspects.insert(op);
                }
                self.note_unresolved((op, index));
            }
        }
    }

    /// Removes a use from the tables. A new use need not be in them.
    pub(crate) fn unlink_use(&mut self, (op, index): Use) {
        let operand = &mut self.ops[op.index()].operands[index as usize];
        let (name, slot) = (operand.name, operand.slot as usize);
        let moved = if let Some(value) = operand.value.take() {
            let uses = &mut self.values[value.index()].uses;
            uses.swap_remove(slot);
            if uses.is_empty() {
                self.names.touched.idle.push(value);
            }
            uses.get(slot).copied()
        } else if let Some(uses) = self.names.unresolved.get_mut(&name)
            && uses.get(slot) == Some(&(op, index))
        {
            uses.swap_remove(slot);
            let moved = uses.get(slot).copied();
            if uses.is_empty() {
                self.names.unresolved.remove(&name);
            }
            moved
        } else {
            None
        };
        if let Some((op, index)) = moved {
            self.ops[op.index()].operands[index as usize].slot = slot as u32;
        }
    }

    /// Enters a use without a definition among the unresolved ones.
    pub(crate) fn note_unresolved(&mut self, (op, index): Use) {
        let operand = &mut self.ops[op.index()].operands[index as usize];
        let uses = self.names.unresolved.entry(operand.name).or_default();
        operand.slot = uses.len() as u32;
        uses.push((op, index));
    }

    /// Enters an argument that the header of an opaque op may define.
    pub(crate) fn add_maybe(&mut self, op: Op, region: Region, name: Name, value: Value) {
        self.names.maybe.insert((region, name), value);
        self.names.maybe_ops.entry(name).or_default().push(op);
    }

    pub(crate) fn remove_maybe(
        &mut self,
        op: Op,
        region: Region,
        name: Name,
        retry: &mut Vec<Use>,
    ) {
        if let Some(value) = self.names.maybe.remove(&(region, name)) {
            retry.extend(self.value(value).uses.iter().copied());
        }
        if let Some(ops) = self.names.maybe_ops.get_mut(&name) {
            ops.retain(|it| *it != op);
            if ops.is_empty() {
                self.names.maybe_ops.remove(&name);
            }
        }
    }

    pub(crate) fn note_duplicate(&mut self, region: Region, name: Name) {
        let known = self.names.defs.get(name.index());
        if known.is_some_and(|it| it.with(region, |it| it.len() > 1)) {
            self.names.dubious.insert(name);
        }
    }

    /// The chunk that contains an op.
    pub fn chunk_of(&self, op: Op) -> Op {
        let mut at = op;
        while let Some(parent) = self.parent_op(at) {
            at = parent;
        }
        at
    }

    /// Marks the names defined in a region as dubious if they are also visible around it.
    pub(crate) fn note_shadows(&mut self, region: Region) {
        let Some(parent) = self.region(region).parent else { return };
        let around = self.op(parent).parent;
        let mut names: Vec<Name> = Vec::new();
        let mut add = |ir: &Ir, value: Value| names.push(ir.value(value).name);
        for &value in &self.block(self.region(region).entry).args {
            add(self, value);
        }
        for op in self.items(region) {
            for &value in &self.op(op).results {
                add(self, value);
            }
        }
        for name in names {
            if self.visible(around, name).is_some() {
                self.names.dubious.insert(name);
            }
        }
    }
}
