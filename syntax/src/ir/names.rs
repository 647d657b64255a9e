//! Names: definitions, uses and unresolved uses.
//!
//! *Rule.* MLIR names never shadow. A use resolves to the definition in the first region that
//! defines the name, from the region of the use outward to the region of the chunk. Textual order
//! does not matter (a use before its definition is a forward reference). If a name is defined twice
//! in one region, uses resolve to the first definition, and the second is a problem.
//!
//! *Region arguments of opaque ops.* A `%x` in the header of an op with unknown syntax is an
//! argument of its region if no `%x` is visible before the op. This is decided when a use of `%x`
//! inside the region is resolved, so the result does not depend on the order of edits.
//!
//! *Law.* After every edit the tables and all resolved operands equal those built from scratch.
//! *Cost.* An edit resolves again only uses of names that gained or lost a definition.

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
pub(crate) struct NameTables {
    /// The definitions of each name.
    defs: Vec<Defs>,
    /// Arguments that the header of an opaque op may define, by region and name.
    possible_arguments: FxHashMap<(Region, Name), Value>,
    /// For each name, the opaque ops whose headers may define it as an argument.
    possible_argument_ops: FxHashMap<Name, Vec<Op>>,
    /// Unresolved uses: op and operand index.
    unresolved: FxHashMap<Name, Vec<(Op, u32)>>,
    /// Labels of each region, in textual order.
    labels: FxHashMap<(Region, Name), SmallVec<[Op; 1]>>,
    /// Unresolved successors: op and successor index.
    unresolved_successors: FxHashMap<(Region, Name), Vec<(Op, u32)>>,
    label_blocks: FxHashMap<Op, Block>,
    /// Symbols of each region, in textual order of the ops that define them.
    symbols: FxHashMap<(Region, Name), SmallVec<[Op; 1]>>,
    /// Ops that refer to a symbol, by the last and the first name of the path.
    symbol_uses: FxHashMap<Name, Vec<Op>>,
    /// Names that may have two definitions of which one is visible at the other.
    possible_duplicates: FxHashSet<Name>,
    /// True while a whole text is parsed: definitions are entered in textual order.
    pub(crate) is_in_order: bool,
    pub(crate) aliases: AliasTable,
    /// Ops that may have problems.
    pub(crate) suspects: FxHashSet<Op>,
    /// The names that the current edit has touched so far.
    pub(crate) touched: TouchedNames,
}

impl NameTables {
    /// Reserves some capacity for later edits.
    pub(crate) fn keep_slack(&mut self) {
        keep_slack(&mut self.defs);
        keep_slack_in_map(&mut self.labels);
        keep_slack_in_map(&mut self.label_blocks);
        keep_slack_in_map(&mut self.symbols);
        keep_slack_in_map(&mut self.symbol_uses);
    }
}

/// Definitions, labels and uses that an edit changed and on which other ops may depend. An entry
/// may occur repeatedly, or may no longer exist.
#[derive(Debug, Default)]
pub(crate) struct TouchedNames {
    /// Regions with an added or removed label (`None`), or with an op whose successors changed.
    pub(crate) control_flow: Vec<(Region, Option<Op>)>,
    /// Symbols whose definition was added, removed or parsed again.
    pub(crate) symbols: Vec<(Region, Name)>,
    /// Ops whose signature changed when their own text was parsed again, while their regions
    /// remained.
    pub(crate) signature_changed: Vec<Op>,
    /// Aliases whose definition was added, removed or parsed again, with the region of their chunk.
    pub(crate) aliases: Vec<(Region, Name)>,
    /// Values that lost their last use.
    pub(crate) unused_values: Vec<Value>,
    /// The stretches of regions whose items were replaced.
    pub(crate) runs: Vec<ReplacedItems>,
}

impl TouchedNames {
    /// Clears all lists but keeps their capacity.
    pub(crate) fn clear(&mut self) {
        self.control_flow.clear();
        self.symbols.clear();
        self.signature_changed.clear();
        self.aliases.clear();
        self.unused_values.clear();
        self.runs.clear();
    }
}

/// A stretch of a region whose items were replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplacedItems {
    pub(crate) region: Region,
    /// The rank of its first item.
    pub(crate) rank: usize,
    /// Number of its items after the edit.
    pub(crate) n_items: usize,
}

/// The definitions of one name: values (number 0 of a pack) by region. Those of one region are
/// adjacent, in textual order. Most names are defined once, but `%0` may be in every function.
#[derive(Debug, Default)]
struct Defs {
    all: SmallVec<[(Region, Value); 1]>,
    /// The definitions by region, if there are many; `all` is then empty.
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

    /// The regions with definitions, in no particular order, possibly with duplicates.
    fn regions(&self) -> Vec<Region> {
        match &self.index {
            Some(index) => index.keys().copied().collect(),
            None => self.all.iter().map(|it| it.0).collect(),
        }
    }
}

/// A use of a value: the op and the index of its operand.
pub(crate) type Use = (Op, u32);

impl NameTables {
    /// Clears the tables that are only needed while the IR has a text: names of values and labels,
    /// aliases, problems.
    pub(crate) fn forget_text(&mut self) {
        *self = NameTables {
            label_blocks: std::mem::take(&mut self.label_blocks),
            symbols: std::mem::take(&mut self.symbols),
            symbol_uses: std::mem::take(&mut self.symbol_uses),
            ..NameTables::default()
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
    /// The region that contains the definition of a value.
    pub fn def_region(&self, value: Value) -> Region {
        match self.value(value).def {
            Def::Result(op, _) => self.op(op).parent,
            Def::Argument(block, _) => self.block(block).region,
        }
    }

    /// Sort key of the definitions of one region in textual order: header arguments first, then by
    /// item.
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
        // Uses inside the region that refer to an outer definition now refer to this one.
        if let Some(outer) = self.visible_value(region, name) {
            self.names.possible_duplicates.insert(name);
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
        // If definitions are entered in textual order, existing definitions in nested regions
        // precede this one in the text, so there is no conflict.
        if !self.names.is_in_order && !self.names.possible_duplicates.contains(&name) {
            let inner = self.names.regions_of(name);
            if inner.iter().any(|&it| it != region && self.region_encloses(region, it)) {
                self.names.possible_duplicates.insert(name);
            }
        }
        let at = if self.names.is_in_order {
            usize::MAX
        } else {
            // The definitions of a region are sorted in textual order.
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
        self.retry_possible_arguments(name, retry);
    }

    fn retry_possible_arguments(&self, name: Name, retry: &mut Vec<Use>) {
        for &op in self.names.possible_argument_ops.get(&name).map_or(&[][..], Vec::as_slice) {
            for &(_, region) in &self.op(op).regions {
                if let Some(&value) = self.names.possible_arguments.get(&(region, name)) {
                    retry.extend(self.value(value).uses.iter().copied());
                }
                // A use inside may now refer to the argument instead.
                if let Some(value) = self.visible_value(self.op(op).parent, name) {
                    let uses = self.value(value).uses.iter().copied();
                    retry.extend(uses.filter(|&(it, _)| self.encloses(region, it)));
                }
            }
        }
    }

    /// Removes the definition of a value. Adds the uses that refer to it (still linked) to `retry`.
    pub(crate) fn remove_def(&mut self, value: Value, retry: &mut Vec<Use>) {
        let (name, region) = (self.value(value).name, self.def_region(value));
        for it in self.value_pack(value) {
            retry.extend(self.value(it).uses.iter().copied());
        }
        if let Some(defs) = self.names.defs.get_mut(name.index()) {
            defs.remove(region, value);
        }
        // Another definition of the name may have a pack with more values.
        if let Some(uses) = self.names.unresolved.get(&name) {
            retry.extend(uses.iter().copied());
        }
        self.retry_possible_arguments(name, retry);
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
        // Numbers in a pack increase from 0, so a value at this index with this name and number is
        // part of the pack.
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
    pub fn visible_value(&self, region: Region, name: Name) -> Option<Value> {
        let mut region = region;
        loop {
            if let Some(value) = self.names.first_def(region, name) {
                return Some(value);
            }
            let parent = self.region(region).parent?;
            let maybe = if self.names.possible_arguments.is_empty() {
                None
            } else {
                self.names.possible_arguments.get(&(region, name))
            };
            if let Some(&value) = maybe {
                // It is an argument unless the name is visible before the op.
                return match self.visible_value(self.op(parent).parent, name) {
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
        let first = self.visible_value(data.parent, operand.name)?;
        if operand.number == 0 {
            return Some(first);
        }
        self.pack_value(first, operand.number as usize)
    }

    /// Resolves a use that is not linked.
    pub(crate) fn link_use(&mut self, (op, index): Use) {
        #[cfg(test)]
        crate::work::count_steps(1);
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
                if !operand.may_be_argument {
                    self.names.suspects.insert(op);
                }
                self.note_unresolved((op, index));
            }
        }
    }

    /// Removes a use from the tables. A new use may be absent from them.
    pub(crate) fn unlink_use(&mut self, (op, index): Use) {
        let operand = &mut self.ops[op.index()].operands[index as usize];
        let (name, slot) = (operand.name, operand.slot as usize);
        let moved = if let Some(value) = operand.value.take() {
            let uses = &mut self.values[value.index()].uses;
            uses.swap_remove(slot);
            if uses.is_empty() {
                self.names.touched.unused_values.push(value);
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

    /// Adds a use without a definition to the unresolved uses.
    pub(crate) fn note_unresolved(&mut self, (op, index): Use) {
        let operand = &mut self.ops[op.index()].operands[index as usize];
        let uses = self.names.unresolved.entry(operand.name).or_default();
        operand.slot = uses.len() as u32;
        uses.push((op, index));
    }

    /// Enters an argument that the header of an opaque op may define.
    pub(crate) fn add_possible_argument(
        &mut self,
        op: Op,
        region: Region,
        name: Name,
        value: Value,
    ) {
        self.names.possible_arguments.insert((region, name), value);
        self.names.possible_argument_ops.entry(name).or_default().push(op);
    }

    pub(crate) fn remove_possible_argument(
        &mut self,
        op: Op,
        region: Region,
        name: Name,
        retry: &mut Vec<Use>,
    ) {
        if let Some(value) = self.names.possible_arguments.remove(&(region, name)) {
            retry.extend(self.value(value).uses.iter().copied());
        }
        if let Some(ops) = self.names.possible_argument_ops.get_mut(&name) {
            ops.retain(|it| *it != op);
            if ops.is_empty() {
                self.names.possible_argument_ops.remove(&name);
            }
        }
    }

    pub(crate) fn note_duplicate(&mut self, region: Region, name: Name) {
        let known = self.names.defs.get(name.index());
        if known.is_some_and(|it| it.with(region, |it| it.len() > 1)) {
            self.names.possible_duplicates.insert(name);
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
            if self.visible_value(around, name).is_some() {
                self.names.possible_duplicates.insert(name);
            }
        }
    }
}
