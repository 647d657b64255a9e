//! An index of the ops at which checks of HEIR programs report a problem.
//!
//! *Law.* Each set contains exactly the ops for which its rule holds. A rule reads an op, the ops
//! that define and use its values, and the facts of these values. *Cost.* One walk at first; then
//! an edit costs in proportion to the ops that it affects. If it affects a ciphertext with more
//! than two polynomials, missing relinearizations are computed again for all such ciphertexts.

mod listing;

use std::sync::OnceLock;

use noisy_syntax::{Ir, Op, OpKind, Value};
use rustc_hash::FxHashSet;

use crate::annotations::scales::{self, ScaleFault};
use crate::annotations::unreadable::{self};
use crate::annotations::votes::AnnotationIndex;
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::noise::HeirNoise;
use crate::facts::plaintext;
use crate::facts::scale::ScaleFacts;
use crate::facts::value_range::ValueRangeFacts;
use crate::ops::catalogue;
use crate::options::HeirOptions;
use crate::report::management::Management;
use crate::report::origins::source_values;
use crate::report::oversized::{self, OversizedOperand};
use crate::report::underflow::{self};
use crate::text::annotation;
use crate::verdict::levels::{self};
use crate::verdict::modulus::{self, OverModulus};
use crate::verdict::out_of_range::{self};
use crate::verdict::plaintexts::{self};
use crate::verdict::scales as verdict_scales;
use crate::verdict::types::{self, SchemeTypes};
use crate::verdict::unlowered::{self};

/// The inputs of the rules.
#[derive(Clone, Copy, Debug)]
pub struct HeirFacts<'a> {
    /// The program.
    pub ir: &'a Ir,
    /// Levels and polynomials.
    pub heir: &'a CiphertextFacts,
    /// Facts of noise, if the program has parameters for a model.
    pub noise: Option<HeirNoise<'a>>,
    /// Facts of scales, if the program has parameters for them.
    pub scales: Option<ScaleFacts<'a>>,
    /// Facts of ranges, if some ranges are stated.
    pub ranges: Option<ValueRangeFacts<'a>>,
    /// The options of the user.
    pub options: HeirOptions,
}

/// The sets of ops to report.
#[derive(Debug, Default)]
pub struct ReportSites {
    needless: FxHashSet<Op>,
    missing: FxHashSet<Op>,
    /// Ops with operands at different levels.
    unequal: FxHashSet<Op>,
    /// Ops that may have a plaintext operand without an encoding.
    unencoded: FxHashSet<Op>,
    /// Ops whose types contradict each other, for some library.
    mistyped: FxHashSet<Op>,
    types: SchemeTypes,
    /// Ops that may not be lowered.
    unlowered: FxHashSet<Op>,
    /// Ops whose result has a scale over its modulus, while no operand has.
    over_modulus: FxHashSet<Op>,
    /// Ops that may be refused because of their scales.
    unequal_scales: FxHashSet<Op>,
    out_of_range: FxHashSet<Op>,
    over_budget: FxHashSet<Op>,
    over_moduli: FxHashSet<Op>,
    values_over_noise_budget: FxHashSet<Op>,
    wrong_scale: FxHashSet<Op>,
    varying: FxHashSet<Op>,
    /// Calls that pass or return a ciphertext without a level.
    unsettled: FxHashSet<Op>,
    /// Functions and generics, in textual order. Edits that change these rebuild the index.
    functions_and_generics: Vec<Op>,
    no_scale: OnceLock<Option<ScaleFault>>,
    /// Ops with operands of more than two polynomials, and those of them that take fewer.
    wide: FxHashSet<Op>,
    over_two: FxHashSet<Op>,
    /// Terminators of generics among these: the number that they take depends on the users of the
    /// results of the generic.
    wide_ends: FxHashSet<Op>,
    oversized_operands: OnceLock<Vec<OversizedOperand>>,
    management: Management,
    annotations: AnnotationIndex,
    /// Ops with an annotation without a readable level, and ops with another unreadable attribute.
    unreadable_levels: FxHashSet<Op>,
    unreadable_attributes: FxHashSet<Op>,
}

impl ReportSites {
    /// Builds the index of a program.
    pub fn new(at: &HeirFacts<'_>) -> Self {
        let ir = at.ir;
        let mut it = Self::default();
        it.add_region(at, ir.root());
        it.update_goals(at);
        it
    }

    fn add_region(&mut self, at: &HeirFacts<'_>, region: noisy_syntax::Region) {
        let ir = at.ir;
        for op in ir.items(region) {
            let is_generic = ir.is_secret_generic(op);
            if ir.op(op).kind == OpKind::FuncFunc || is_generic {
                self.functions_and_generics.push(op);
            }
            self.annotations.add_generic_or_call(ir, op);
            self.update_op(at, op);
            for &(_, inner) in &ir.op(op).regions {
                self.add_region(at, inner);
            }
        }
    }

    /// Applies an edit that `at.heir` already contains: `ops` may have changed.
    pub fn update(&mut self, at: &HeirFacts<'_>, ops: &[Op], removed: &[Op]) {
        let ir = at.ir;
        let mut all = ops.to_vec();
        let mut seen: FxHashSet<Op> = ops.iter().copied().collect();
        for &op in ops.iter().chain(removed) {
            let others =
                self.annotations.take_encoding_ops(op).into_iter().filter(|&it| ir.is_alive(it));
            all.extend(others.filter(|&it| seen.insert(it)));
        }
        // An op lists the annotations of the arguments of its labels and of the operands of its
        // terminators. A removed op may have been a terminator.
        let is_rim = |op: &&Op| ir.op(**op).kind == OpKind::Label || ir.next(**op).is_none();
        let holders = ops.iter().filter(is_rim).chain(removed);
        let holders = holders.filter_map(|&it| ir.region(ir.op(it).parent).parent);
        all.extend(holders.filter(|&it| ir.is_alive(it) && seen.insert(it)));
        for &op in removed {
            self.remove_op(op);
        }
        for op in all {
            self.update_op(at, op);
        }
        self.update_goals(at);
        if !self.wide_ends.is_empty() {
            self.oversized_operands = OnceLock::new();
        }
        let holds = |op: &Op| !ir.op(*op).regions.is_empty() || ir.op(*op).kind == OpKind::Label;
        if ops.iter().any(holds) {
            self.no_scale = OnceLock::new();
        }
    }

    /// Returns true if the program has `mgmt` ops.
    pub(crate) fn has_management(&self) -> bool {
        !self.management.is_empty()
    }

    fn update_goals(&mut self, at: &HeirFacts<'_>) {
        let management = &self.management;
        self.annotations.update_goals(at.ir, at.heir, &|it| management.stage(it));
    }

    fn remove_op(&mut self, op: Op) {
        for set in [
            &mut self.needless,
            &mut self.missing,
            &mut self.unequal,
            &mut self.unencoded,
            &mut self.mistyped,
            &mut self.unlowered,
            &mut self.over_modulus,
            &mut self.unequal_scales,
            &mut self.out_of_range,
            &mut self.over_budget,
            &mut self.over_moduli,
            &mut self.values_over_noise_budget,
            &mut self.wrong_scale,
            &mut self.varying,
            &mut self.unsettled,
            &mut self.over_two,
            &mut self.wide_ends,
            &mut self.unreadable_levels,
            &mut self.unreadable_attributes,
        ] {
            insert_or_remove(set, op, false);
        }
        if self.management.forget(op) | self.wide.remove(&op) {
            self.oversized_operands = OnceLock::new();
        }
        self.annotations.remove_op(op);
    }

    fn update_op(&mut self, at: &HeirFacts<'_>, op: Op) {
        let HeirFacts { ir, heir, .. } = *at;
        let data = ir.op(op);
        let results = || data.results.iter().copied();
        insert_or_remove(
            &mut self.needless,
            op,
            oversized::is_needless_relinearization(ir, heir, op),
        );
        let is_missing =
            data.kind == OpKind::Unknown && catalogue::is_missing_heir_op(ir.op_name(op));
        insert_or_remove(&mut self.missing, op, is_missing);
        insert_or_remove(&mut self.unequal, op, levels::unequal_levels(ir, heir, op).is_some());
        insert_or_remove(
            &mut self.unencoded,
            op,
            plaintexts::unencoded_candidate(ir, heir, op).is_some(),
        );
        let is_mistyped = types::has_type_contradiction(ir, &mut self.types, op);
        insert_or_remove(&mut self.mistyped, op, is_mistyped);
        insert_or_remove(&mut self.unlowered, op, unlowered::is_candidate(ir, heir, op));
        let is_over = results().any(|it| first_over_modulus(at, it).is_some());
        insert_or_remove(&mut self.over_modulus, op, is_over);
        let may_differ = verdict_scales::is_candidate(ir, heir, at.scales, op);
        insert_or_remove(&mut self.unequal_scales, op, may_differ);
        let is_out = out_of_range::out_of_range(ir, at.ranges, op).is_some();
        insert_or_remove(&mut self.out_of_range, op, is_out);
        let most = |it: Value| heir.level_budget(ir, at.options, it);
        let is_over = results().any(|it| underflow::is_out_of_levels(ir, heir, &most, it));
        insert_or_remove(&mut self.over_budget, op, is_over);
        let most = |it: Value| heir.n_modulus_switches(ir, it);
        let is_over = results().any(|it| underflow::is_out_of_levels(ir, heir, &most, it));
        insert_or_remove(&mut self.over_moduli, op, is_over);
        let is_noisy = at.noise.is_some_and(|noise| {
            plaintext::defined_values(ir, op)
                .into_iter()
                .any(|it| is_first_over_budget(ir, noise, it))
        });
        insert_or_remove(&mut self.values_over_noise_budget, op, is_noisy);
        insert_or_remove(&mut self.wrong_scale, op, scales::contradiction(ir, heir, op).is_some());
        insert_or_remove(
            &mut self.varying,
            op,
            !underflow::varying_levels(ir, heir, op).is_empty(),
        );
        insert_or_remove(
            &mut self.unsettled,
            op,
            underflow::value_without_level(ir, heir, op).is_some(),
        );
        insert_or_remove(
            &mut self.unreadable_levels,
            op,
            annotation::has_unreadable_annotation(ir, op),
        );
        insert_or_remove(
            &mut self.unreadable_attributes,
            op,
            unreadable::first_unreadable(ir, op).is_some(),
        );
        self.update_wide(ir, heir, op);
        self.annotations.update_op(ir, heir, op);
    }

    fn update_wide(&mut self, ir: &Ir, heir: &CiphertextFacts, op: Op) {
        let is_other_stage = self.management.note(ir, op);
        let is_wide = oversized::has_wide_operand(ir, heir, op);
        if insert_or_remove(&mut self.wide, op, is_wide) || is_wide || is_other_stage {
            self.oversized_operands = OnceLock::new();
        }
        let is_end = is_wide && ir.op_name(op) == "secret.yield";
        insert_or_remove(&mut self.wide_ends, op, is_end);
        insert_or_remove(
            &mut self.over_two,
            op,
            is_end || is_wide && oversized::has_oversized_operand(ir, heir, op),
        );
    }
}

/// Inserts an op into a set or removes it; returns true if the set changed.
fn insert_or_remove(set: &mut FxHashSet<Op>, op: Op, is_in: bool) -> bool {
    if is_in { set.insert(op) } else { !set.is_empty() && set.remove(&op) }
}

/// Returns the scale and the modulus of a value, if the scale exceeds the modulus and no value that
/// it is computed from has such a scale.
fn first_over_modulus(at: &HeirFacts<'_>, value: Value) -> Option<OverModulus> {
    let over = |it: Value| modulus::over_modulus(at.ir, at.heir, at.scales, it);
    let found = over(value)?;
    (!source_values(at.ir, value).iter().any(|&it| over(it).is_some())).then_some(found)
}

/// Returns true if the noise of a value exceeds the budget of its level, but none of the values
/// that it is computed from does so.
fn is_first_over_budget(ir: &Ir, noise: HeirNoise<'_>, value: Value) -> bool {
    noise.noise_over_budget(value).is_some()
        && !source_values(ir, value).iter().any(|&it| noise.noise_over_budget(it).is_some())
}
