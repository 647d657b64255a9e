//! Names: who defines what, who uses it, and what is left without a definition.
//!
//! *Rule.* MLIR names never shadow, so resolving is a walk outward: the first region, from the use's own to the chunk's, in which the
//! name is defined. Textual order does not matter for that (a use before its definition is a forward reference); where a name
//! is defined twice in one region the first definition counts, and the second is a problem.
//!
//! *Region arguments of opaque ops.* A `%x` in the header of an op whose syntax is unknown is an argument of its region if the
//! name is not visible there yet. Such a header *may define* `%x`; the question is put when a use of `%x` inside is
//! resolved, so that the answer does not depend on the order of edits.
//!
//! *Law.* After every edit the tables and all resolved operands equal those made from scratch. *Cost.* An edit re-resolves only uses
//! of names that gained or lost a definition.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::grammar::Aliases;
use crate::{Block, Category, Def, Form, Ir, Name, Op, OpKind, Problem, Region, Span, Value};

/// The name tables of a document.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The definitions of each name.
    defs: Vec<Defs>,
    /// Arguments that the header of an opaque op may define.
    maybe: FxHashMap<(Region, Name), Value>,
    /// The ops with such headers, by name.
    maybe_ops: FxHashMap<Name, Vec<Op>>,
    /// Uses that resolve to nothing: op and operand index.
    unresolved: FxHashMap<Name, Vec<(Op, u32)>>,
    /// Labels per region, in textual order.
    labels: FxHashMap<(Region, Name), SmallVec<[Op; 1]>>,
    /// Successors that resolve to nothing.
    unresolved_successors: FxHashMap<(Region, Name), Vec<(Op, u32)>>,
    /// The blocks of labels.
    label_blocks: FxHashMap<Op, Block>,
    /// Symbols per region that holds their ops.
    symbols: FxHashMap<(Region, Name), SmallVec<[Op; 1]>>,
    /// Ops that refer to a symbol, by the last and the first name of the path.
    symbol_uses: FxHashMap<Name, Vec<Op>>,
    /// Names that may be defined twice where both are visible.
    dubious: FxHashSet<Name>,
    /// Definitions are being entered in textual order, all of them: a whole text is read.
    pub(crate) in_order: bool,
    /// Aliases per chunk region.
    pub(crate) aliases: FxHashMap<Region, Aliases>,
    /// Ops that have something wrong with them or with what they use.
    pub(crate) suspects: FxHashSet<Op>,
}

/// The definitions of one name: values (number 0 of a pack) by region, those of one region next to each other in textual order.
/// Most names are defined once; `%0` may be in every function.
#[derive(Debug, Default)]
struct Defs {
    all: SmallVec<[(Region, Value); 1]>,
    /// Where the definitions of a region start in `all`, once there are many.
    index: Option<Box<FxHashMap<Region, SmallVec<[Value; 1]>>>>,
}

/// With more definitions than this a name gets an index.
const MANY_DEFS: usize = 12;

impl Defs {
    /// The definitions in a region, in textual order.
    fn of(&self, region: Region) -> SmallVec<[Value; 1]> {
        if let Some(index) = &self.index {
            return index.get(&region).cloned().unwrap_or_default();
        }
        self.all.iter().filter(|it| it.0 == region).map(|it| it.1).collect()
    }

    /// Calls with the definitions in a region, in textual order.
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

    /// Enters a value as number `at` of its region, at most as the last.
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

    /// The regions that have definitions, in no particular order, some perhaps repeatedly.
    fn regions(&self) -> Vec<Region> {
        match &self.index {
            Some(index) => index.keys().copied().collect(),
            None => self.all.iter().map(|it| it.0).collect(),
        }
    }
}

/// A use that must be resolved anew.
pub(crate) type Use = (Op, u32);

impl Names {
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
    fn def_region(&self, value: Value) -> Region {
        match self.value(value).def {
            Def::Result(op, _) => self.op(op).parent,
            Def::Argument(block, _) => self.block(block).region,
        }
    }

    /// Orders the definitions of one region as the text does: header arguments first, then by item.
    fn def_order(&self, region: Region, value: Value) -> (usize, u32) {
        let data = self.value(value);
        match self.definer(value) {
            Some(op) if self.op(op).parent == region => (1 + self.rank(op), data.span.start),
            _ => (0, data.span.start),
        }
    }

    /// Makes the name of a value known. Returns the uses that may now mean it.
    pub(crate) fn add_def(&mut self, value: Value, retry: &mut Vec<Use>) {
        let (name, region) = (self.value(value).name, self.def_region(value));
        // Uses of a definition further out, from inside the region, now mean this one.
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
            self.names.defs.resize_with(self.interner.n_names(), Defs::default);
        }
        // In textual order an outer definition never comes before one that is already known further in.
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
                // Inside, a use may now mean the argument instead of what it meant.
                if let Some(value) = self.visible(self.op(op).parent, name) {
                    let uses = self.value(value).uses.iter().copied();
                    retry.extend(uses.filter(|&(it, _)| self.encloses(region, it)));
                }
            }
        }
    }

    /// Forgets the name of a value. Returns the uses that meant it (still linked).
    pub(crate) fn remove_def(&mut self, value: Value, retry: &mut Vec<Use>) {
        let (name, region) = (self.value(value).name, self.def_region(value));
        for it in self.value_pack(value) {
            retry.extend(self.value(it).uses.iter().copied());
        }
        if let Some(defs) = self.names.defs.get_mut(name.index()) {
            defs.remove(region, value);
        }
        // Another definition of the name may have the number that this one had not.
        if let Some(uses) = self.names.unresolved.get(&name) {
            retry.extend(uses.iter().copied());
        }
        self.retry_maybe(name, retry);
    }

    /// The values of the pack whose first is given.
    fn value_pack(&self, first: Value) -> SmallVec<[Value; 1]> {
        let data = self.value(first);
        match data.def {
            Def::Result(op, index) => {
                let results = &self.op(op).results[index as usize..];
                let same = results.iter().enumerate().take_while(|&(n, &it)| {
                    let it = self.value(it);
                    it.name == data.name && it.number as usize == n
                });
                same.map(|(_, &it)| it).collect()
            }
            Def::Argument(..) => smallvec::smallvec![first],
        }
    }

    /// Whether an op stands inside a region, however deep.
    pub fn encloses(&self, region: Region, op: Op) -> bool {
        self.region_encloses(region, self.op(op).parent)
    }

    fn region_encloses(&self, region: Region, inner: Region) -> bool {
        let mut at = inner;
        loop {
            if at == region {
                return true;
            }
            let Some(parent) = self.region(at).parent else { return false };
            at = self.op(parent).parent;
        }
    }

    /// The first value of the definition that a name means in a region.
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

    /// Whether a value's definition stands before an op in the text.
    pub(crate) fn is_defined_before(&self, value: Value, op: Op) -> bool {
        let region = self.def_region(value);
        let Some(definer) = self.definer(value) else { return true };
        if self.op(definer).parent != region {
            return true;
        }
        let mut at = op;
        while self.op(at).parent != region {
            match self.parent_op(at) {
                Some(parent) => at = parent,
                None => return true,
            }
        }
        self.is_before(definer, at)
    }

    fn resolve(&self, op: Op, index: u32) -> Option<Value> {
        let data = self.op(op);
        let operand = &data.operands[index as usize];
        let first = self.visible(data.parent, operand.name)?;
        if operand.number == 0 {
            return Some(first);
        }
        self.value_pack(first).get(operand.number as usize).copied()
    }

    /// Resolves a use that is not linked.
    pub(crate) fn link_use(&mut self, (op, index): Use) {
        let value = self.resolve(op, index);
        let operand = &mut self.ops[op.index()].operands[index as usize];
        operand.value = value;
        match value {
            Some(value) => self.values[value.index()].uses.push((op, index)),
            None => {
                let name = operand.name;
                if !operand.maybe_argument {
                    self.names.suspects.insert(op);
                }
                self.names.unresolved.entry(name).or_default().push((op, index));
            }
        }
    }

    /// Takes a use out of the tables.
    pub(crate) fn unlink_use(&mut self, (op, index): Use) {
        let operand = &mut self.ops[op.index()].operands[index as usize];
        let name = operand.name;
        if let Some(value) = operand.value.take() {
            let uses = &mut self.values[value.index()].uses;
            if let Some(at) = uses.iter().position(|&it| it == (op, index)) {
                uses.swap_remove(at);
            }
        } else if let Some(uses) = self.names.unresolved.get_mut(&name) {
            if let Some(at) = uses.iter().position(|&it| it == (op, index)) {
                uses.swap_remove(at);
            }
            if uses.is_empty() {
                self.names.unresolved.remove(&name);
            }
        }
    }

    /// Enters a use that lost its value among the unresolved ones.
    pub(crate) fn names_unresolved(&mut self, name: Name, use_: Use) {
        self.names.unresolved.entry(name).or_default().push(use_);
    }

    /// Enters a header argument of an opaque op that may be one.
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

    pub(crate) fn set_label_block(&mut self, label: Op, block: Option<Block>) {
        match block {
            Some(block) => self.names.label_blocks.insert(label, block),
            None => self.names.label_blocks.remove(&label),
        };
    }

    /// Makes a label known; returns the successors that may now mean it.
    pub(crate) fn add_label(&mut self, label: Op) -> Vec<Use> {
        let data = self.op(label);
        let key = (data.parent, data.name);
        let known = self.names.labels.get(&key).map_or(&[][..], |it| it.as_slice());
        let at = if self.names.in_order || known.is_empty() {
            known.len()
        } else {
            let rank = self.rank(label);
            known.partition_point(|&it| self.rank(it) < rank)
        };
        let first = known.first().copied();
        let mut retry = Vec::new();
        if let Some(first) = first {
            // All but the first are problems; the first may have become one.
            self.names.suspects.insert(label);
            self.names.suspects.insert(first);
            if at == 0 {
                retry.extend(self.block(self.label_block(first)).preds.iter().copied());
            }
        }
        self.names.labels.entry(key).or_default().insert(at, label);
        if let Some(uses) = self.names.unresolved_successors.get(&key) {
            retry.extend(uses.iter().copied());
        }
        retry
    }

    /// Forgets a label; returns the successors that meant it (still linked).
    pub(crate) fn remove_label(&mut self, label: Op) -> Vec<Use> {
        let data = self.op(label);
        let key = (data.parent, data.name);
        if let Some(labels) = self.names.labels.get_mut(&key) {
            labels.retain(|it| *it != label);
            if labels.is_empty() {
                self.names.labels.remove(&key);
            }
        }
        self.block(self.label_block(label)).preds.to_vec()
    }

    /// The first label of that name in a region.
    pub fn find_label(&self, region: Region, name: Name) -> Option<Op> {
        self.names.labels.get(&(region, name))?.first().copied()
    }

    pub(crate) fn link_successor(&mut self, (op, index): Use) {
        let region = self.op(op).parent;
        let Some(rest) = &self.ops[op.index()].rest else { return };
        let name = rest.successors[index as usize].name;
        let block = self.find_label(region, name).map(|label| self.label_block(label));
        if let Some(rest) = &mut self.ops[op.index()].rest {
            rest.successors[index as usize].block = block;
        }
        match block {
            Some(block) => self.blocks[block.index()].preds.push((op, index)),
            None => {
                self.names.suspects.insert(op);
                let uses = self.names.unresolved_successors.entry((region, name)).or_default();
                uses.push((op, index));
            }
        }
    }

    pub(crate) fn unlink_successor(&mut self, (op, index): Use) {
        let region = self.op(op).parent;
        let Some(rest) = &mut self.ops[op.index()].rest else { return };
        let successor = &mut rest.successors[index as usize];
        let name = successor.name;
        if let Some(block) = successor.block.take() {
            let preds = &mut self.blocks[block.index()].preds;
            if let Some(at) = preds.iter().position(|&it| it == (op, index)) {
                preds.swap_remove(at);
            }
        } else if let Some(uses) = self.names.unresolved_successors.get_mut(&(region, name)) {
            if let Some(at) = uses.iter().position(|&it| it == (op, index)) {
                uses.swap_remove(at);
            }
            if uses.is_empty() {
                self.names.unresolved_successors.remove(&(region, name));
            }
        }
    }

    pub(crate) fn add_symbols(&mut self, op: Op) {
        let region = self.op(op).parent;
        let Some(rest) = &self.ops[op.index()].rest else { return };
        if let Some((name, _)) = rest.symbol {
            self.names.symbols.entry((region, name)).or_default().push(op);
        }
        for &(last, first, _) in &rest.symbol_uses {
            self.names.symbol_uses.entry(last).or_default().push(op);
            if first != last {
                self.names.symbol_uses.entry(first).or_default().push(op);
            }
        }
    }

    pub(crate) fn remove_symbols(&mut self, op: Op) {
        let region = self.op(op).parent;
        let Some(rest) = &self.ops[op.index()].rest else { return };
        if let Some((name, _)) = rest.symbol
            && let Some(ops) = self.names.symbols.get_mut(&(region, name))
        {
            ops.retain(|it| *it != op);
            if ops.is_empty() {
                self.names.symbols.remove(&(region, name));
            }
        }
        for &(last, first, _) in &rest.symbol_uses {
            for name in [last, first] {
                if let Some(ops) = self.names.symbol_uses.get_mut(&name) {
                    ops.retain(|it| *it != op);
                    if ops.is_empty() {
                        self.names.symbol_uses.remove(&name);
                    }
                }
            }
        }
    }

    /// The op that a symbol (the first name of a path) means where an op stands: the definition in the nearest region outward,
    /// the first in textual order.
    pub fn resolve_symbol(&self, from: Op, name: Name) -> Option<Op> {
        let mut region = self.op(from).parent;
        loop {
            if let Some(ops) = self.names.symbols.get(&(region, name)) {
                return ops.iter().copied().min_by_key(|&op| self.rank(op));
            }
            region = self.op(self.region(region).parent?).parent;
        }
    }

    /// The definitions of a symbol in a region, in textual order.
    pub fn symbol_defs(&self, region: Region, name: Name) -> Vec<Op> {
        let ops = self.names.symbols.get(&(region, name)).map_or(&[][..], |it| it.as_slice());
        let mut ops = ops.to_vec();
        ops.sort_by_key(|&op| self.rank(op));
        ops
    }

    /// The ops that mention a symbol of that name, in no particular order, perhaps repeatedly.
    pub fn symbol_users(&self, name: Name) -> &[Op] {
        self.names.symbol_uses.get(&name).map_or(&[], Vec::as_slice)
    }

    /// The chunk that an op stands in.
    pub fn chunk_of(&self, op: Op) -> Op {
        let mut at = op;
        while let Some(parent) = self.parent_op(at) {
            at = parent;
        }
        at
    }

    /// The aliases of the chunk that an op stands in.
    pub fn aliases_at(&self, op: Op) -> Option<&Aliases> {
        let (_, region) = self.op(self.chunk_of(op)).regions.first()?;
        self.names.aliases.get(region)
    }

    /// What is wrong with an op, its own problems and those of the names that it uses. Spans are in its own text.
    pub fn problems_of(&self, op: Op) -> Vec<Problem> {
        let data = self.op(op);
        let mut out = self.rest(op).problems.clone();
        let named =
            |span: Span, code, message| Problem { category: Category::Name, code, span, message };
        if !self.is_judged(op) {
            return out;
        }
        let mut missing: SmallVec<[(Name, u32); 4]> = SmallVec::new();
        for operand in &data.operands {
            let key = (operand.name, operand.number);
            if operand.value.is_some() || operand.maybe_argument || missing.contains(&key) {
                continue;
            }
            missing.push(key);
            let name = self.interner.str(operand.name);
            if self.visible(data.parent, operand.name).is_some() {
                let message = format!("%{name} has no result number {}", operand.number);
                out.push(named(operand.span, "invalid-result-number", message));
            } else {
                out.push(named(
                    operand.span,
                    "undefined-value",
                    format!("use of undefined value %{name}"),
                ));
            }
        }
        for successor in &self.rest(op).successors {
            if successor.block.is_none() {
                let message =
                    format!("use of undefined block ^{}", self.interner.str(successor.name));
                out.push(named(successor.span, "undefined-block", message));
            }
        }
        if data.kind == OpKind::Label {
            let first = self.find_label(data.parent, data.name);
            if first != Some(op) {
                let message = format!("redefinition of block ^{}", self.interner.str(data.name));
                out.push(named(data.name_span, "redefined-block", message));
            }
        }
        if !self.rest(op).alias_uses.is_empty() {
            let aliases = self.aliases_at(op);
            for &(name, span) in &self.rest(op).alias_uses {
                let known = aliases
                    .is_some_and(|it| it.types.contains_key(&name) || it.attrs.contains_key(&name));
                if !known {
                    let text = self.interner.str(name);
                    out.push(named(
                        span,
                        "undefined-alias",
                        format!("use of undefined alias {text}"),
                    ));
                }
            }
        }
        out
    }

    /// Whether names that an op uses without a definition are an error: it is understood, and so is what holds it.
    pub(crate) fn is_judged(&self, op: Op) -> bool {
        let mut at = Some(op);
        while let Some(it) = at {
            let data = self.op(it);
            if data.form == Form::Opaque && data.kind.is_op() {
                return false;
            }
            at = self.parent_op(it);
        }
        true
    }

    /// Definitions that redefine a name that is already visible: the op in whose text each stands, and the problem.
    pub(crate) fn redefinitions(&self) -> Vec<(Op, Problem)> {
        let mut out = Vec::new();
        #[allow(clippy::iter_over_hash_type, reason = "the caller sorts by position")]
        for &name in &self.names.dubious {
            for region in self.names.regions_of(name) {
                let defs = self.names.defs(region, name);
                let outer = self
                    .region(region)
                    .parent
                    .and_then(|op| Some((op, self.visible(self.op(op).parent, name)?)))
                    .filter(|&(op, outer)| self.is_defined_before(outer, op));
                for &value in defs.iter().skip(usize::from(outer.is_none())) {
                    let Some(op) = self.definer(value) else { continue };
                    if !self.is_judged(op) || !outer.is_none_or(|(_, it)| self.is_sure(it)) {
                        continue;
                    }
                    let text = self.interner.str(name);
                    let problem = Problem {
                        category: Category::Name,
                        code: "redefined-value",
                        span: self.value(value).span,
                        message: format!("redefinition of value %{text}"),
                    };
                    out.push((op, problem));
                }
            }
        }
        out
    }

    /// Whether any region defines a `%value` or a `^label` of that name.
    pub(crate) fn is_defined_elsewhere(&self, text: &str) -> bool {
        let Some(name) = self.interner.find_name(text.get(1..).unwrap_or("")) else { return false };
        if text.starts_with('^') {
            return self.names.labels.keys().any(|it| it.1 == name);
        }
        !self.names.regions_of(name).is_empty()
    }

    fn is_sure(&self, value: Value) -> bool {
        self.definer(value).is_none_or(|op| self.is_judged(op))
    }

    pub(crate) fn note_duplicate(&mut self, region: Region, name: Name) {
        let known = self.names.defs.get(name.index());
        if known.is_some_and(|it| it.with(region, |it| it.len() > 1)) {
            self.names.dubious.insert(name);
        }
    }

    /// All ops that may have problems, in no particular order.
    pub(crate) fn suspects(&self) -> impl Iterator<Item = Op> + '_ {
        self.names.suspects.iter().copied()
    }
}
