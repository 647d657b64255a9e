//! Finds annotated levels and polynomials that differ from those that follow from the ops.
//!
//! If an annotation states no number of polynomials, it is 2, in HEIR and here. Four kinds of
//! annotations are not checked: those on values whose level or polynomials HEIR does not know,
//! those after lowering to a scheme, goals, and 2 polynomials in a function without
//! relinearizations. *Goals* are the levels and polynomials of arguments and results of generics
//! and functions in which no op has an annotation and no `mgmt` op is placed:
//! `--ilp-bootstrap-placement` tries to reach them.
//!
//! HEIR annotates *remaining* levels; the analysis counts *used* levels. Their sum is the same for
//! all values: the largest level of the module. In an edited program, a vote determines this sum:
//! the most frequent sum among the annotations of a function, if at least two annotations agree,
//! else the most frequent sum in the part of the document, else the largest number of used levels.
//! So only the wrong annotation is reported, and not the annotations of all values that follow from
//! it.
//!
//! *Cost.* An update of an op is linear in its annotations; a query is linear in the mismatches and
//! the functions.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use noisy_syntax::{Attr, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::{Level, NumberSource};
use crate::facts::plaintext;
use crate::ops::rules;
use crate::text::annotation::{self, AnnotationHolder, WrittenNumber};
use noisy_dataflow::flow;

/// A written level that differs from the actual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelMismatch {
    /// The value.
    pub value: Value,
    /// The holder of the annotation.
    pub holder: AnnotationHolder,
    /// The written remaining levels.
    pub written: u32,
    /// The used levels.
    pub used: u32,
    /// The remaining levels of a fresh ciphertext.
    pub fresh_levels: u32,
}

/// A written number of polynomials, or the default of an annotation without one, that differs from
/// the actual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimensionMismatch {
    /// The value.
    pub value: Value,
    /// The holder of the annotation.
    pub holder: AnnotationHolder,
    /// The written number of polynomials; `None` if there is none, which means 2.
    pub written: Option<u32>,
    /// The actual number of polynomials.
    pub dimension: u32,
}

impl DimensionMismatch {
    /// Returns true if the annotation states 2 polynomials.
    pub(crate) fn has_two_polynomials(&self) -> bool {
        self.written.unwrap_or(annotation::DEFAULT_DIMENSION) == annotation::DEFAULT_DIMENSION
    }
}

/// An annotated level of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WrittenLevel {
    value: Value,
    holder: AnnotationHolder,
    written: u32,
    used: u32,
    /// True if the level is correct independent of the vote: the type of an encrypted value states
    /// it, or it is the last level and written as such.
    is_always_correct: bool,
}

impl WrittenLevel {
    /// Returns the remaining levels of a fresh ciphertext according to this annotation.
    fn fresh_levels(&self) -> u32 {
        self.written.saturating_add(self.used)
    }
}

/// The annotated levels of an op.
#[derive(Debug)]
struct WrittenOnOp {
    function: Option<Op>,
    part: usize,
    levels: SmallVec<[WrittenLevel; 1]>,
}

/// The annotations that vote for one sum of levels, and their ops.
#[derive(Debug, Default)]
struct Votes {
    n: usize,
    ops: FxHashSet<Op>,
}

/// The ops of a function with a wrong number of polynomials in their annotations.
#[derive(Debug, Default)]
struct MismatchesOfFunction {
    /// The ops with an annotation that states another number than 2.
    others: FxHashSet<Op>,
    /// The ops whose wrong annotations all state 2.
    twos: FxHashSet<Op>,
}

/// The progress of HEIR's passes in a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoweringStage {
    /// True if HEIR has placed `mgmt` ops.
    pub(crate) is_managed: bool,
    /// True if these include ops that use levels.
    pub(crate) has_level_uses: bool,
    /// True if these include relinearizations.
    pub(crate) is_relinearized: bool,
}

/// The functions whose annotations are goals.
#[derive(Debug, Default)]
struct GoalFunctions {
    functions: FxHashSet<Option<Op>>,
    /// The number of annotations in these functions for each sum of levels, by part of the
    /// document.
    n_votes: FxHashMap<(usize, u32), usize>,
    /// The properties of each function with a generic, a call or an annotated level from which
    /// goals follow.
    own_signs: FxHashMap<Option<Op>, GoalProperties>,
}

/// The properties of a function, without its callees, from which goals follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GoalProperties {
    /// True if only generics, calls outside of them and the function itself have annotated levels,
    /// and no op uses levels explicitly.
    is_open: bool,
    /// True if a generic of the function computes with ciphertexts.
    has_computing_generic: bool,
}

/// Returns the progress of HEIR's passes in a function.
pub(crate) type StageOf<'a> = &'a dyn Fn(Option<Op>) -> LoweringStage;

/// Returns the number with more votes than any other.
fn unique_maximum(votes: impl Iterator<Item = (u32, usize)> + Clone) -> Option<u32> {
    let most = votes.clone().map(|it| it.1).max()?;
    let mut first = votes.filter(|it| it.1 == most);
    let winner = first.next()?.0;
    first.next().is_none().then_some(winner)
}

/// The annotated levels and polynomials of a program.
#[derive(Debug, Default)]
pub(crate) struct AnnotationIndex {
    /// The annotated levels, by the op that holds them.
    by_op: FxHashMap<Op, WrittenOnOp>,
    /// The votes, by function and by the remaining levels of a fresh ciphertext.
    by_function: FxHashMap<Option<Op>, BTreeMap<u32, Votes>>,
    /// The number of votes for each sum, by part of the document.
    by_part: BTreeMap<usize, BTreeMap<u32, usize>>,
    /// The generics, by function.
    generics: FxHashMap<Option<Op>, Vec<Op>>,
    /// The functions that call others.
    callers: FxHashSet<Option<Op>>,
    /// Computed at the first query, and discarded when the annotations of a function change.
    goals: OnceLock<GoalFunctions>,
    /// The functions with ops that changed since then, each with true if its annotated levels
    /// changed.
    changed_functions: FxHashMap<Option<Op>, bool>,
    /// For each op that takes a plaintext, the ops that encode this plaintext or another use of its
    /// source.
    encoding_ops: FxHashMap<Op, SmallVec<[Op; 1]>>,
    /// The wrong numbers of polynomials, by the op that holds the annotations, with its function.
    dimension_mismatches: FxHashMap<Op, (Option<Op>, SmallVec<[DimensionMismatch; 1]>)>,
    dimension_mismatches_in: FxHashMap<Option<Op>, MismatchesOfFunction>,
}

impl AnnotationIndex {
    /// Returns the ops that encode a plaintext for this op, which must be updated with it.
    pub(crate) fn take_encoding_ops(&mut self, op: Op) -> SmallVec<[Op; 1]> {
        if self.encoding_ops.is_empty() {
            SmallVec::new()
        } else {
            self.encoding_ops.remove(&op).unwrap_or_default()
        }
    }

    /// Adds a generic or a call. Edits of these rebuild the whole index.
    pub(crate) fn add_generic_or_call(&mut self, ir: &Ir, op: Op) {
        let function = || ir.function_of(op);
        if ir.is_secret_generic(op) {
            self.generics.entry(function()).or_default().push(op);
        } else if ir.op(op).kind == OpKind::FuncCall {
            self.callers.insert(function());
        }
    }

    /// Updates the annotations of an op.
    pub(crate) fn update_op(&mut self, ir: &Ir, heir: &CiphertextFacts, op: Op) {
        let before = self.take_op(op);
        self.read_op(ir, heir, op);
        let now = self.by_op.get(&op);
        let said = |it: Option<&WrittenOnOp>| it.map(|it| it.levels.clone()).unwrap_or_default();
        let is_other = said(before.as_ref()) != said(now);
        *self.changed_functions.entry(ir.function_of(op)).or_default() |= is_other;
        // The callee may have changed.
        if ir.op(op).kind == OpKind::FuncCall {
            self.goals = OnceLock::new();
        }
    }

    /// Removes the annotations of an op.
    pub(crate) fn remove_op(&mut self, op: Op) {
        if let Some(WrittenOnOp { function, .. }) = self.take_op(op) {
            self.changed_functions.insert(function, true);
        }
    }

    /// Discards the goals if the changes since the last call affect them.
    pub(crate) fn update_goals(&mut self, ir: &Ir, heir: &CiphertextFacts, stage: StageOf<'_>) {
        let anew = std::mem::take(&mut self.changed_functions);
        let Some(goals) = self.goals.get() else { return };
        let is_other = |(&function, &is_other): (&Option<Op>, &bool)| {
            let before = goals.own_signs.get(&function).copied().unwrap_or_default();
            is_other && goals.functions.contains(&function)
                || before != self.compute_signs(ir, heir, function, stage(function))
        };
        if anew.iter().any(is_other) {
            self.goals = OnceLock::new();
        }
    }

    /// Reads and adds the annotations of an op.
    fn read_op(&mut self, ir: &Ir, heir: &CiphertextFacts, op: Op) {
        if ir.op_name(op) == "mgmt.init" && ir.attr(op, "mgmt.mgmt").is_some() {
            let data = ir.op(op);
            let source = data.operands.iter().filter_map(|it| it.value);
            for value in source.chain(data.results.iter().copied()) {
                let users = ir.value(value).uses.iter().map(|it| it.0);
                // An annotation may depend on the op around the yield that uses the plaintext.
                let around = |op: Op| ir.parent_op(op).filter(|_| flow::is_yield(ir, op));
                let users = users.flat_map(|it| [Some(it), around(it)]).flatten();
                for user in users.filter(|&it| ir.op_name(it) != "mgmt.init") {
                    let encoding = self.encoding_ops.entry(user).or_default();
                    if !encoding.contains(&op) {
                        encoding.push(op);
                    }
                }
            }
        }
        let note = |value: Value, holder: AnnotationHolder, written: u32| {
            let used = match heir.ciphertext(value).level() {
                Some(_) => heir.annotated_level(ir, value)?,
                None if heir.number_sources(value).level == NumberSource::Fresh => return None,
                // HEIR annotates 0 where it finds no ciphertexts.
                None if plaintext::is_init(ir, value) => {
                    if written == 0 && !heir.is_encoded(ir, value) {
                        return None;
                    }
                    heir.annotated_level(ir, value)?
                }
                // HEIR annotates the level of the decrypted ciphertext.
                None => {
                    let op =
                        ir.defining_op(value).filter(|&it| rules::is_decryption(ir.op_name(it)))?;
                    let mut taken = ir.op(op).operands.iter().filter_map(|it| it.value);
                    heir.annotated_level(
                        ir,
                        taken.find(|&it| heir.ciphertext(it).level().is_some())?,
                    )?
                }
            };
            // The type of the result of an encryption states its level.
            let is_encryption =
                ir.defining_op(value).is_some_and(|it| rules::is_encryption(ir.op_name(it)));
            // The result of a trivial encryption has whatever level is written.
            let is_trivial =
                ir.defining_op(value).is_some_and(|it| ir.op_name(it) == "lwe.trivial_encrypt");
            let is_typed = is_trivial
                || is_encryption && heir.level_by_type(ir, value) == usize::try_from(written).ok();
            // The last level is 0 even if a fresh ciphertext has more levels than are used.
            let is_last = heir.ciphertext(value).level() == Some(Level::All) && written == 0;
            Some(WrittenLevel {
                value,
                holder,
                written,
                used,
                is_always_correct: is_typed || is_last,
            })
        };
        let of = |value: Value| {
            let (holder, attr) = annotation::find_annotation(ir, value)?;
            Some((value, holder, attr))
        };
        let data = ir.op(op);
        let mut all: SmallVec<[(Value, AnnotationHolder, Attr); 1]> = SmallVec::new();
        // The op around a label annotates its arguments.
        if data.kind != OpKind::Label {
            all.extend(data.results.iter().copied().filter_map(of));
        }
        for &(_, region) in &data.regions {
            let args = ir.block(flow::entry_block(ir, region)).args.iter().copied();
            all.extend(args.filter_map(of));
        }
        if data.kind == OpKind::FuncFunc {
            all.extend((0..flow::n_results(ir, op)).filter_map(|at| {
                let (value, attr) = annotation::returned_annotation(ir, op, at)?;
                Some((value, AnnotationHolder::OfResult(op, at), attr))
            }));
        }
        let resized = all.iter().filter_map(|&(value, holder, attr)| {
            annotation::read_number(ir, attr, "level").number()?;
            let written = match annotation::read_number(ir, attr, "dimension") {
                WrittenNumber::Number(it) => Some(it),
                WrittenNumber::Absent => None,
                WrittenNumber::Unreadable => return None,
            };
            let dimension = heir.comparable_dimension(ir, value)?;
            let is_other = dimension != written.unwrap_or(annotation::DEFAULT_DIMENSION);
            is_other.then_some(DimensionMismatch { value, holder, written, dimension })
        });
        let resized: SmallVec<[DimensionMismatch; 1]> = resized.collect();
        let (function, part) = (ir.function_of(op), heir.settings().part_index(op));
        if !resized.is_empty() {
            let here = self.dimension_mismatches_in.entry(function).or_default();
            let says_two = resized.iter().all(DimensionMismatch::has_two_polynomials);
            if says_two { &mut here.twos } else { &mut here.others }.insert(op);
            self.dimension_mismatches.insert(op, (function, resized));
        }
        let levels = all.iter().filter_map(|&(value, holder, attr)| {
            note(value, holder, annotation::read_number(ir, attr, "level").number()?)
        });
        let found: SmallVec<[WrittenLevel; 1]> = levels.collect();
        if found.is_empty() {
            return;
        }
        let votes = self.by_function.entry(function).or_default();
        let of_part = self.by_part.entry(part).or_default();
        for it in &found {
            let all = votes.entry(it.fresh_levels()).or_default();
            all.n += 1;
            all.ops.insert(op);
            *of_part.entry(it.fresh_levels()).or_default() += 1;
        }
        self.by_op.insert(op, WrittenOnOp { function, part, levels: found });
    }

    /// Removes and returns the annotations of an op.
    fn take_op(&mut self, op: Op) -> Option<WrittenOnOp> {
        if let Some((function, _)) = self.dimension_mismatches.remove(&op)
            && let Some(here) = self.dimension_mismatches_in.get_mut(&function)
        {
            here.others.remove(&op);
            here.twos.remove(&op);
        }
        let noted = self.by_op.remove(&op)?;
        let WrittenOnOp { function, part, levels: ref said } = noted;
        let (Some(votes), Some(of_part)) =
            (self.by_function.get_mut(&function), self.by_part.get_mut(&part))
        else {
            return Some(noted);
        };
        for it in said {
            if let Some(all) = votes.get_mut(&it.fresh_levels()) {
                all.n -= 1;
                all.ops.remove(&op);
                if all.n == 0 {
                    votes.remove(&it.fresh_levels());
                }
            }
            if let Some(n) = of_part.get_mut(&it.fresh_levels()) {
                *n -= 1;
                if *n == 0 {
                    of_part.remove(&it.fresh_levels());
                }
            }
        }
        if votes.is_empty() {
            self.by_function.remove(&function);
        }
        Some(noted)
    }

    /// Returns the remaining levels of a fresh ciphertext in the function of a value.
    pub(crate) fn fresh_levels_of(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        stage: StageOf<'_>,
        value: Value,
    ) -> u32 {
        let Some(op) = ir.definition_site(value) else { return heir.largest_level() };
        self.fresh_levels_in(heir, self.goals(ir, heir, stage), ir.function_of(op), op)
    }

    /// Returns the remaining levels of a fresh ciphertext in a function that contains an op.
    fn fresh_levels_in(
        &self,
        heir: &CiphertextFacts,
        goals: &GoalFunctions,
        function: Option<Op>,
        op: Op,
    ) -> u32 {
        let votes = self.by_function.get(&function);
        let here = votes.and_then(|it| unique_maximum(it.iter().map(|it| (*it.0, it.1.n))));
        // A single annotation may be the wrong one.
        let is_said_twice = |all: &u32| votes.and_then(|it| it.get(all)).is_some_and(|it| it.n > 1);
        let of_part = || {
            let part = heir.settings().part_index(op);
            let votes = self.by_part.get(&part)?.iter().map(|(&all, &n)| {
                (all, n - goals.n_votes.get(&(part, all)).copied().unwrap_or_default())
            });
            unique_maximum(votes.filter(|it| it.1 > 0))
        };
        here.filter(is_said_twice).or_else(of_part).unwrap_or_else(|| heir.largest_level())
    }

    /// Returns true if the annotations of a function are goals.
    pub(crate) fn has_goals(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        stage: StageOf<'_>,
        function: Option<Op>,
    ) -> bool {
        self.by_function.contains_key(&function)
            && self.goals(ir, heir, stage).functions.contains(&function)
    }

    /// Computes the functions with goals: open functions ([`GoalProperties::is_open`]) in which a
    /// generic computes, and open functions that call functions with goals.
    fn goals(&self, ir: &Ir, heir: &CiphertextFacts, stage: StageOf<'_>) -> &GoalFunctions {
        self.goals.get_or_init(|| {
            let mut goals = GoalFunctions::default();
            let all = self.generics.keys().chain(&self.callers).chain(self.by_function.keys());
            for &function in all {
                let alone = || self.compute_signs(ir, heir, function, stage(function));
                goals.own_signs.entry(function).or_insert_with(alone);
            }
            let computing =
                goals.own_signs.iter().filter(|it| it.1.has_computing_generic).map(|it| *it.0);
            let mut stack: Vec<Option<Op>> = computing.collect();
            while let Some(function) = stack.pop() {
                let is_open = goals.own_signs.get(&function).is_some_and(|it| it.is_open);
                if is_open && goals.functions.insert(function) {
                    let callers = function.map(|it| flow::callers_of(ir, it));
                    stack.extend(callers.into_iter().flatten().map(Some));
                }
            }
            let of_goals = self.by_function.iter().filter(|it| goals.functions.contains(it.0));
            let ops: FxHashSet<&Op> =
                of_goals.flat_map(|it| it.1.values().flat_map(|it| &it.ops)).collect();
            let noted: Vec<&WrittenOnOp> =
                ops.into_iter().filter_map(|it| self.by_op.get(it)).collect();
            for it in noted {
                for said in &it.levels {
                    *goals.n_votes.entry((it.part, said.fresh_levels())).or_default() += 1;
                }
            }
            goals
        })
    }

    /// Computes the properties of a function, without its callees, from which goals follow.
    fn compute_signs(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        function: Option<Op>,
        stage: LoweringStage,
    ) -> GoalProperties {
        let is_in_generic = |op: Op| rules::enclosing_generic(ir, op).is_some();
        let is_rim = |&op: &Op| match ir.op(op).kind {
            OpKind::FuncFunc => true,
            OpKind::FuncCall => !is_in_generic(op),
            _ => ir.is_secret_generic(op),
        };
        let is_encrypted = |it: &Value| heir.ciphertext(*it).level().is_some();
        // A label computes nothing.
        let computes = |op: Op| {
            let data = ir.op(op);
            data.kind != OpKind::Label && data.results.iter().any(is_encrypted)
        };
        let generics = self.generics.get(&function).into_iter().flatten();
        let mut regions = generics.flat_map(|&it| &ir.op(it).regions);
        let mut written = self.by_function.get(&function).into_iter().flat_map(|it| it.values());
        GoalProperties {
            is_open: !stage.has_level_uses && written.all(|it| it.ops.iter().all(is_rim)),
            has_computing_generic: regions.any(|it| ir.items(it.1).any(computes)),
        }
    }

    /// Returns all wrong levels, in textual order.
    pub(crate) fn level_mismatches(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        stage: StageOf<'_>,
    ) -> Vec<LevelMismatch> {
        let goals = self.goals(ir, heir, stage);
        let wrong_in = |(&function, votes): (&Option<Op>, &BTreeMap<u32, Votes>)| {
            let Some(&op) = votes.values().find_map(|it| it.ops.iter().next()) else {
                return Vec::new();
            };
            if goals.functions.contains(&function) {
                return Vec::new();
            }
            let all = self.fresh_levels_in(heir, goals, function, op);
            let wrong = votes.iter().filter(|it| *it.0 != all);
            wrong.flat_map(|it| it.1.ops.iter().map(|&op| (op, all))).collect::<Vec<_>>()
        };
        let mut ops: Vec<(Op, u32)> = self.by_function.iter().flat_map(wrong_in).collect();
        ops.sort_by_cached_key(|it| (ir.start(it.0), it.0.index()));
        ops.dedup();
        ops.into_iter().flat_map(|(op, all)| self.level_mismatches_on(op, all)).collect()
    }

    /// Returns the wrong levels in the annotations of one op.
    pub(crate) fn level_mismatches_of(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        stage: StageOf<'_>,
        op: Op,
    ) -> Vec<LevelMismatch> {
        let Some(noted) = self.by_op.get(&op) else { return Vec::new() };
        let goals = self.goals(ir, heir, stage);
        if goals.functions.contains(&noted.function) {
            return Vec::new();
        }
        self.level_mismatches_on(op, self.fresh_levels_in(heir, goals, noted.function, op))
            .collect()
    }

    /// Returns the annotations of an op that contradict the remaining levels of a fresh ciphertext.
    fn level_mismatches_on(&self, op: Op, all: u32) -> impl Iterator<Item = LevelMismatch> {
        let said = self.by_op.get(&op).map_or(&[] as &[WrittenLevel], |it| &it.levels);
        said.iter().filter(move |it| it.fresh_levels() != all && !it.is_always_correct).map(
            move |&WrittenLevel { value, holder, written, used, .. }| LevelMismatch {
                value,
                holder,
                written,
                used,
                fresh_levels: all,
            },
        )
    }

    /// Returns the ops with a wrong number of polynomials in an annotation, in no particular order.
    /// Until HEIR relinearizes the function, 2 polynomials are correct.
    pub(crate) fn ops_with_dimension_mismatches(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        stage: StageOf<'_>,
    ) -> Vec<Op> {
        let of = |(&function, here): (&Option<Op>, &MismatchesOfFunction)| {
            let is_relinearized = stage(function).is_relinearized;
            let twos = here.twos.iter().filter(|_| is_relinearized);
            let found: Vec<Op> = here.others.iter().chain(twos).copied().collect();
            let is_goal = !found.is_empty() && self.has_goals(ir, heir, stage, function);
            if is_goal { Vec::new() } else { found }
        };
        self.dimension_mismatches_in.iter().flat_map(of).collect()
    }

    /// Returns the wrong numbers of polynomials in the annotations of an op.
    pub(crate) fn dimension_mismatches_of(&self, op: Op) -> &[DimensionMismatch] {
        self.dimension_mismatches.get(&op).map_or(&[], |it| &it.1)
    }
}
