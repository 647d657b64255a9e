//! Updates levels and polynomials after edits.
//!
//! *Law.* After an incremental update, all facts equal those from scratch. All facts are recomputed
//! from scratch at the next query after an edit that
//!
//! - adds or removes an op with regions, or changes a part of one that affects other ops
//!   (`op_header.rs`),
//! - changes the levels that bootstraps use, if the program has bootstraps,
//! - changes the largest level of the program, if the level of some value depends on it,
//! - is in a file with several parts or with nested modules.
//!
//! *Cost.* Linear in the facts that the edit changes, and in the calls of the program.

use std::collections::BTreeMap;

use noisy_syntax::{Attr, Def, Delta, Ir, Name, Op, OpKind, Region, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::ciphertext_facts::{CiphertextFacts, is_current};
use crate::facts::fact::{Ciphertext, Level};
use crate::facts::op_header::OpHeader;
use crate::facts::{clients, conflicts, loops, plaintext};
use crate::ops::rules;
use crate::text::annotation;
use crate::text::setting::{DocumentSettings, SettingDifference};
use noisy_dataflow::flow;
use noisy_dataflow::sparse::{AnalysisInput, ChangedValues};
use noisy_integers::Integers;
use std::sync::{Arc, OnceLock};

/// The values and ops that an edit may have affected.
#[derive(Debug, Default)]
pub struct AffectedByEdit {
    /// Values whose facts may have changed.
    pub(crate) values: Vec<Value>,
    /// The ops that changed, those that define or use these values, and those that encode
    /// plaintexts for any of these ops; all alive, each once.
    pub ops: Vec<Op>,
}

impl AffectedByEdit {
    /// Collects the values whose facts depend on those of `moved`, and the ops near these values
    /// and near the changed ops.
    pub fn new(ir: &Ir, heir: &CiphertextFacts, moved: &[Value], delta: &Delta) -> Self {
        let mut values: Vec<Value> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack: Vec<Value> = moved.to_vec();
        while let Some(value) = stack.pop() {
            if !is_current(ir, value) || !seen.insert(value) {
                continue;
            }
            values.push(value);
            // The level of a value may follow from the values that feed it.
            for &(user, index) in &ir.value(value).uses {
                if !ir.op(user).regions.is_empty() || flow::is_yield(ir, user) {
                    stack.extend(flow::fed_values(ir, user, index as usize));
                }
            }
        }
        let mut ops = delta.changed.clone();
        let mut seen: FxHashSet<Op> = ops.iter().copied().collect();
        for &value in &values {
            let users = ir.value(value).uses.iter().map(|it| it.0);
            for op in ir.definition_site(value).into_iter().chain(users) {
                if ir.is_alive(op) && seen.insert(op) {
                    ops.push(op);
                }
            }
        }
        // The trip count of a loop follows from constants. These are not ciphertexts, so `moved`
        // does not contain them.
        let bounded = delta.changed.iter().flat_map(|&it| loops::loops_bounded_by(ir, it));
        ops.extend(bounded.filter(|&it| seen.insert(it)));
        let is_init = |op: Op| ir.op_name(op) == "mgmt.init";
        // Returns the op around a use, if a plaintext that an op needs at a level becomes its
        // argument or result.
        let around = |&(user, index): &(Op, u32)| {
            if flow::is_yield(ir, user) {
                return ir.parent_op(user);
            }
            Some(user).filter(|_| !flow::fed_values(ir, user, index as usize).is_empty())
        };
        let mut at = 0;
        let mut looked_at: FxHashSet<Value> = FxHashSet::default();
        while let Some(&op) = ops.get(at) {
            at += 1;
            let data = ir.op(op);
            let near = if is_init(op) {
                data.results.to_vec()
            } else {
                plaintext::plaintexts_of(ir, op, &|it| heir.ciphertext(it))
            };
            let wants = data.regions.is_empty() && !flow::is_yield(ir, op);
            for value in near.into_iter().filter(|&it| looked_at.insert(it)) {
                let uses = &ir.value(value).uses;
                let meeting = uses.iter().filter(|_| wants).filter_map(around);
                let near = ir.defining_op(value).into_iter().chain(uses.iter().map(|it| it.0));
                let encoding = near.filter(|&it| is_init(it));
                ops.extend(encoding.chain(meeting).filter(|&it| seen.insert(it)));
            }
        }
        Self { values, ops }
    }
}

/// The parts of the definition of a value in the text on which facts of other values depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DefinitionText {
    ty: Type,
    annotation: Option<Attr>,
    /// The name of the op.
    op_name: Option<Name>,
}

impl DefinitionText {
    fn of(ir: &Ir, value: Value) -> Self {
        Self {
            ty: ir.value(value).ty,
            annotation: annotation::find_annotation(ir, value).map(|it| it.1),
            op_name: ir.defining_op(value).map(|it| ir.op(it).name),
        }
    }
}

/// Encoding of the levels of the results of an op: a flag for an unknown level, a flag for the last
/// level, and the mask of the largest used level.
const UNKNOWN_LEVEL: u32 = 1 << 31;
const LAST_LEVEL: u32 = 1 << 30;
const LARGEST_LEVEL_MASK: u32 = LAST_LEVEL - 1;

/// The effect of an edit on levels and on the layers above.
#[derive(Debug)]
pub struct HeirEdit {
    /// Values whose facts may have changed.
    pub values: Vec<Value>,
    /// True if the parameters changed, so that noise, scales and reports must be recomputed from
    /// scratch.
    pub has_other_params: bool,
}

/// The levels and polynomials of a program, updated incrementally after edits where possible.
#[derive(Debug)]
pub(crate) struct IncrementalHeir {
    /// The facts.
    pub(crate) heir: CiphertextFacts,
    /// The index for edits; `None` if every edit needs a solution from scratch.
    edit_index: Option<EditIndex>,
}

impl IncrementalHeir {
    /// Analyzes a program; `None` if it is not a HEIR program.
    pub(crate) fn new(ir: &Ir, integers: &Integers) -> Option<Self> {
        let heir = CiphertextFacts::new(ir, integers)?;
        let upkeep = EditIndex::new(ir, &heir);
        Some(Self { heir, edit_index: upkeep })
    }

    /// Applies an edit that `integers` already contains; `None` if everything must be recomputed.
    pub(crate) fn update(
        &mut self,
        ir: &Ir,
        integers: &Integers,
        delta: &Delta,
    ) -> Option<HeirEdit> {
        let mut upkeep = self.edit_index.take()?;
        let heir = &mut self.heir;
        if upkeep.is_structural(ir, delta) {
            return None;
        }
        let is_module = |it: &&Op| ir.op(**it).kind == OpKind::BuiltinModule;
        let difference = match delta.changed.iter().find(is_module) {
            Some(_) => update_settings(heir, ir, &upkeep)?,
            None => SettingDifference::default(),
        };
        for &op in &delta.changed {
            heir.facts.analysis.update_declaration_call(ir, op);
        }
        let mut functions = delta.changed.iter().filter(|&&it| ir.op(it).kind == OpKind::FuncFunc);
        if functions.any(|&it| heir.facts.analysis.has_changed_declaration(ir, it)) {
            return None;
        }
        let input = AnalysisInput { ir, base: integers.constants() };
        heir.facts.update(&input, delta, integers.changed_values());
        let ChangedValues::These(moved) = heir.facts.changed_values() else { return None };
        let mut moved = moved.clone();
        let near = near_values(ir, &AffectedByEdit::new(ir, heir, &moved, delta));
        let before = heir.facts.analysis.conflicts.keys().copied();
        let near = conflicts::affected_values(ir, near.into_iter().chain(before));
        let changed = heir.find_conflicts(ir, &near);
        if !changed.is_empty() {
            heir.facts.refine_again(&input, &changed);
            let ChangedValues::These(also) = heir.facts.changed_values() else { return None };
            moved.extend(also);
        }
        if clients::entry_facts(ir, &heir.facts) != heir.facts.analysis.entry_facts {
            return None;
        }
        // The terminator of a loop determines the level that the loop carries.
        let edited = delta.changed.iter().chain(&delta.removed);
        let holders = edited.filter_map(|&it| ir.region(ir.op(it).parent).parent);
        let loops: FxHashSet<Op> =
            holders.filter(|&it| ir.is_alive(it) && loops::is_loop(ir, it)).collect();
        let carried = loops.into_iter().flat_map(|it| plaintext::defined_values(ir, it));
        heir.remaining_levels.resize(ir.n_slots().1, None);
        moved.extend(carried.filter(|&it| {
            heir.compute_remaining_levels(ir, it) != heir.remaining_levels[it.index()]
        }));
        moved.extend(upkeep.changed_definitions(ir, heir, delta));
        let touched = AffectedByEdit::new(ir, heir, &moved, delta);
        upkeep.recount(ir, heir, &touched.ops, &delta.removed)?;
        let largest = vec![upkeep.largest()];
        if largest != heir.largest_levels && upkeep.has_last_level() {
            return None;
        }
        heir.largest_levels = largest;
        heir.encoded_levels = OnceLock::new();
        heir.changing_functions = Default::default();
        let all =
            if difference.has_other_moduli_count { plaintext::all_values(ir) } else { Vec::new() };
        for &value in touched.values.iter().chain(&all) {
            heir.remaining_levels[value.index()] = heir.compute_remaining_levels(ir, value);
        }
        self.edit_index = Some(upkeep);
        let has_other_params = difference.has_other_params
            || difference.has_other_moduli_count
            || difference.has_other_library;
        Some(HeirEdit { values: touched.values, has_other_params })
    }
}

/// Applies the changed attributes of modules; `None` if levels depend on the change.
fn update_settings(
    heir: &mut CiphertextFacts,
    ir: &Ir,
    upkeep: &EditIndex,
) -> Option<SettingDifference> {
    let settings = DocumentSettings::new(ir);
    let difference = heir.settings().difference(&settings)?;
    let says_so =
        heir.facts.analysis.has_any_secret_marks() || settings.all().any(|it| it.scheme.is_some());
    if !says_so || difference.has_other_library && upkeep.is_library_dependent() {
        return None;
    }
    heir.facts.analysis.settings = Arc::new(settings);
    Some(difference)
}

/// The index that incremental updates need.
#[derive(Debug)]
pub(crate) struct EditIndex {
    /// Calls and ops with regions, with their headers; `None` if the header cannot be compared.
    headers: FxHashMap<Op, Option<OpHeader>>,
    calls: Vec<Op>,
    /// The text of the definition of each value.
    definitions: Vec<Option<DefinitionText>>,
    /// For each op, the levels of its results; see [`result_levels`].
    levels: Vec<u32>,
    /// The ops whose effect on levels depends on the library of the module.
    library_ops: FxHashSet<Op>,
    /// For each level, the number of ops whose results have this largest level.
    n_with: BTreeMap<u32, usize>,
    n_unknown: usize,
    n_last: usize,
}

impl EditIndex {
    /// Builds the index of a program; `None` if every edit needs a solution from scratch.
    pub(crate) fn new(ir: &Ir, heir: &CiphertextFacts) -> Option<Self> {
        let known = &heir.facts.analysis;
        let says_so =
            known.has_any_secret_marks() || heir.settings().all().any(|it| it.scheme.is_some());
        if !says_so || !heir.settings().has_one_setting() {
            return None;
        }
        let mut it = Self {
            headers: FxHashMap::default(),
            calls: Vec::new(),
            definitions: vec![None; ir.n_slots().1],
            levels: vec![0; ir.n_slots().0],
            library_ops: FxHashSet::default(),
            n_with: BTreeMap::new(),
            n_unknown: 0,
            n_last: 0,
        };
        it.add_region(ir, heir, ir.root())?;
        Some(it)
    }

    /// Adds the ops of a region; `None` if the levels of an op are too large to count.
    fn add_region(&mut self, ir: &Ir, heir: &CiphertextFacts, region: Region) -> Option<()> {
        for op in ir.items(region) {
            if is_structural_op(ir, op) {
                self.headers.insert(op, OpHeader::of(ir, op));
                if ir.op(op).kind == OpKind::FuncCall {
                    self.calls.push(op);
                }
            }
            self.set_levels(op, result_levels(ir, heir, op)?);
            self.update_library_op(ir, op);
            for value in plaintext::defined_values(ir, op) {
                self.definitions[value.index()] = Some(DefinitionText::of(ir, value));
            }
            for &(_, inner) in &ir.op(op).regions {
                self.add_region(ir, heir, inner)?;
            }
        }
        Some(())
    }

    /// Returns the values defined by changed ops that are new, or whose definition in the text or
    /// whose remaining levels changed.
    pub(crate) fn changed_definitions(
        &mut self,
        ir: &Ir,
        heir: &CiphertextFacts,
        delta: &Delta,
    ) -> Vec<Value> {
        self.definitions.resize(ir.n_slots().1, None);
        // The op around a label annotates its arguments.
        let entries = delta.changed.iter().flat_map(|&it| {
            let regions = ir.op(it).regions.iter();
            regions.flat_map(|it| &ir.block(flow::entry_block(ir, it.1)).args).copied()
        });
        let defined = delta.changed.iter().flat_map(|&it| plaintext::defined_values(ir, it));
        let defined: FxHashSet<Value> = defined.chain(entries).collect();
        let is_other = |&value: &Value| {
            let now = Some(DefinitionText::of(ir, value));
            let before = std::mem::replace(&mut self.definitions[value.index()], now);
            before != now
                || heir.compute_remaining_levels(ir, value) != heir.remaining_levels[value.index()]
        };
        defined.into_iter().filter(is_other).collect()
    }

    fn update_library_op(&mut self, ir: &Ir, op: Op) {
        if rules::has_library_level(ir.op_name(op)) {
            self.library_ops.insert(op);
        } else if !self.library_ops.is_empty() {
            self.library_ops.remove(&op);
        }
    }

    /// Returns true if the effect of some op on levels depends on the library of the module.
    pub(crate) fn is_library_dependent(&self) -> bool {
        !self.library_ops.is_empty()
    }

    /// Returns true if an edit changes an op with regions in a way that affects other ops.
    pub(crate) fn is_structural(&mut self, ir: &Ir, delta: &Delta) -> bool {
        if delta.removed.iter().any(|it| self.headers.contains_key(it)) {
            return true;
        }
        for &op in &delta.changed {
            let is_other = match self.headers.get(&op) {
                Some(before) => match (before, OpHeader::of(ir, op)) {
                    (Some(before), Some(now)) => {
                        let is_renamed =
                            || before.has_only_other_name(&now) && !self.has_function_references();
                        *before != now && !is_renamed()
                    }
                    _ => true,
                },
                None => is_structural_op(ir, op),
            };
            if is_other {
                return true;
            }
        }
        // The first and the last op of an enclosing op may have changed.
        let all = delta.changed.iter().chain(&delta.removed);
        let holders = all.filter_map(|&it| ir.region(ir.op(it).parent).parent);
        let mut holders: Vec<Op> = holders.filter(|it| self.headers.contains_key(it)).collect();
        holders.sort_unstable();
        holders.dedup();
        for op in holders {
            let now = OpHeader::of(ir, op);
            let before = self.headers.get(&op).and_then(Option::as_ref);
            // The op around a label feeds its arguments.
            if before.map(OpHeader::n_arguments) != now.as_ref().map(OpHeader::n_arguments) {
                return true;
            }
            self.headers.insert(op, now);
        }
        false
    }

    /// Returns true if the program has calls or client functions, which refer to functions by name.
    fn has_function_references(&self) -> bool {
        !self.calls.is_empty() || self.headers.values().flatten().any(OpHeader::is_client_function)
    }

    /// Updates the counts for the levels of ops; `None` if a level is too large to count.
    pub(crate) fn recount(
        &mut self,
        ir: &Ir,
        heir: &CiphertextFacts,
        ops: &[Op],
        removed: &[Op],
    ) -> Option<()> {
        self.levels.resize(ir.n_slots().0, 0);
        for &op in removed {
            self.set_levels(op, 0);
            self.library_ops.remove(&op);
        }
        for &op in ops {
            self.set_levels(op, result_levels(ir, heir, op)?);
            self.update_library_op(ir, op);
        }
        Some(())
    }

    fn set_levels(&mut self, op: Op, now: u32) {
        let before = std::mem::replace(&mut self.levels[op.index()], now);
        if before == now {
            return;
        }
        let (was, is) = (before & LARGEST_LEVEL_MASK, now & LARGEST_LEVEL_MASK);
        if was > 0
            && let Some(n) = self.n_with.get_mut(&was)
        {
            *n -= 1;
            if *n == 0 {
                self.n_with.remove(&was);
            }
        }
        if is > 0 {
            *self.n_with.entry(is).or_default() += 1;
        }
        self.n_unknown += usize::from(now & UNKNOWN_LEVEL != 0);
        self.n_unknown -= usize::from(before & UNKNOWN_LEVEL != 0);
        self.n_last += usize::from(now & LAST_LEVEL != 0);
        self.n_last -= usize::from(before & LAST_LEVEL != 0);
    }

    /// Returns the largest level of any ciphertext, and true if no ciphertext has an unknown level.
    pub(crate) fn largest(&self) -> (u32, bool) {
        (self.n_with.last_key_value().map_or(0, |it| *it.0), self.n_unknown == 0)
    }

    /// Returns true if some ciphertext has the last level, which depends on the largest level.
    pub(crate) fn has_last_level(&self) -> bool {
        self.n_last > 0
    }
}

/// Returns true if a change of an op may affect ops around it or elsewhere.
fn is_structural_op(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    !data.regions.is_empty()
        || matches!(data.kind, OpKind::FuncFunc | OpKind::FuncCall)
        || matches!(data.kind, OpKind::Chunk | OpKind::BuiltinModule)
}

/// Returns the operands and definitions of touched ops, the values that loops yield, and the values
/// that calls pass as touched arguments.
fn near_values(ir: &Ir, touched: &AffectedByEdit) -> Vec<Value> {
    let mut out = Vec::new();
    for &value in &touched.values {
        let Def::Argument(block, index) = ir.value(value).def else { continue };
        let holder = ir.region(ir.block(block).region).parent;
        let Some(function) = holder.filter(|&it| ir.op(it).kind == OpKind::FuncFunc) else {
            continue;
        };
        let calls = flow::calls_of(ir, function).0.into_iter();
        out.extend(calls.filter_map(|it| ir.op(it).operands.get(index as usize)?.value));
    }
    for &op in &touched.ops {
        out.extend(ir.op(op).operands.iter().filter_map(|it| it.value));
        out.extend(plaintext::defined_values(ir, op));
        let holder = if flow::is_yield(ir, op) { ir.parent_op(op) } else { None };
        for op in holder.into_iter().chain([op]) {
            loops::visit_carried_by(ir, op, &mut |it| out.push(it.yielded));
        }
    }
    out
}

/// Returns the largest level of the results of an op with the flags [`UNKNOWN_LEVEL`] and
/// [`LAST_LEVEL`]; `None` if it is too large to count.
fn result_levels(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<u32> {
    let mut out = 0;
    for value in plaintext::defined_values(ir, op) {
        out = match heir.ciphertext(value) {
            Ciphertext::Encrypted { level: Level::Used(n), .. } => {
                if n > LARGEST_LEVEL_MASK {
                    return None;
                }
                (out & !LARGEST_LEVEL_MASK) | n.max(out & LARGEST_LEVEL_MASK)
            }
            Ciphertext::Encrypted { level: Level::All, .. } => out | LAST_LEVEL,
            Ciphertext::Unknown => out | UNKNOWN_LEVEL,
            _ => out,
        };
    }
    Some(out)
}
