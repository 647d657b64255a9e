//! An index of the ops at which checks of HEIR programs report a problem.
//!
//! *Law.* Each set contains exactly the ops for which its rule holds. A rule reads an op, the ops
//! that define and use its values, and the facts of these values. *Cost.* One walk at first; then
//! an edit costs in proportion to the ops that it affects. If it affects a ciphertext with more
//! than two polynomials, missing relinearizations are computed again for all such ciphertexts.

use std::borrow::Borrow;
use std::sync::OnceLock;

use noisy_syntax::{Ir, Op, OpKind, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::annotations::scales::{self, ScaleFault};
use crate::annotations::unreadable::{self, UnreadableAttribute};
use crate::annotations::votes::{AnnotationIndex, DimensionMismatch, LevelMismatch, LoweringStage};
use crate::facts::known::CiphertextFacts;
use crate::facts::noise::HeirNoise;
use crate::facts::plaintext;
use crate::facts::scale::ScaleFacts;
use crate::facts::value_range::ValueRangeFacts;
use crate::ops::{catalogue, rules};
use crate::options::HeirOptions;
use crate::report::management::Management;
use crate::report::origins::source_values;
use crate::report::oversized::{self, ManagementProgress, OversizedOperand};
use crate::report::underflow::{self, LevelUnderflow, RecursiveCall, VaryingLevel};
use crate::text::annotation;
use crate::verdict::levels::{self, UnequalLevels};
use crate::verdict::liveness::LivenessCache;
use crate::verdict::modulus::{self, OverModulus};
use crate::verdict::out_of_range::{self, OutOfRange};
use crate::verdict::plaintexts::{self, UnencodedPlaintext};
use crate::verdict::requirements::Consequence;
use crate::verdict::scales::{self as verdict_scales, FirstOpTreatment, UnequalScales};
use crate::verdict::types::remedy::{self, TypeRemedy};
use crate::verdict::types::{self, LoweringTarget, SchemeTypes, TypeContradiction};
use crate::verdict::unlowered::{self, LoweringJudge, Unlowered};

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

    /// Returns relinearizations of ciphertexts with two polynomials, in textual order.
    pub fn needless_relinearizations(&self, ir: &Ir) -> Vec<Op> {
        in_textual_order(ir, &self.needless)
    }

    /// Returns ops of HEIR's dialects that the catalogue lacks, in textual order.
    pub fn unknown_heir_ops(&self, ir: &Ir) -> Vec<Op> {
        in_textual_order(ir, &self.missing)
    }

    /// Returns the values at which the levels of the options run out, in textual order.
    pub fn over_budget(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        options: HeirOptions,
    ) -> Vec<LevelUnderflow> {
        underflows(ir, heir, &|it| heir.level_budget(ir, options, it), &self.over_budget)
    }

    /// Returns the values at which the moduli of the parameters run out, in textual order.
    pub fn over_moduli(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<LevelUnderflow> {
        underflows(ir, heir, &|it| heir.n_modulus_switches(ir, it), &self.over_moduli)
    }

    /// Returns the first values whose noise exceeds the budget of their level, in textual order.
    pub fn values_over_noise_budget(&self, ir: &Ir, noise: HeirNoise<'_>) -> Vec<Value> {
        let all = in_textual_order(ir, &self.values_over_noise_budget).into_iter();
        all.flat_map(|it| plaintext::defined_values(ir, it))
            .filter(|&it| is_first_over_budget(ir, noise, it))
            .collect()
    }

    /// Returns the carried values of loops whose yielded value has another level than the initial
    /// value, in textual order.
    pub fn varying_levels(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<VaryingLevel> {
        let all = in_textual_order(ir, &self.varying).into_iter();
        let all = all.flat_map(|it| underflow::varying_levels(ir, heir, it));
        let is_refused =
            |op: Op| has_params(heir, op) && self.stage(ir.function_of(op)).has_level_uses;
        all.map(|it| VaryingLevel { is_refused: is_refused(it.op), ..it }).collect()
    }

    /// Returns the recursive calls that pass or return ciphertexts without a level, in textual
    /// order.
    pub fn recursions(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<RecursiveCall> {
        underflow::recursions(ir, heir, &in_textual_order(ir, &self.unsettled))
    }

    /// Returns the impossible written scales, in textual order; if scales are missing, only the
    /// first missing one.
    pub fn scale_faults(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<ScaleFault> {
        let missing = || scales::first_missing(ir, heir, &self.functions_and_generics);
        match self.no_scale.get_or_init(missing) {
            Some(it) => vec![it.clone()],
            None => {
                let all = in_textual_order(ir, &self.wrong_scale).into_iter();
                all.filter_map(|it| scales::contradiction(ir, heir, it)).collect()
            }
        }
    }

    /// Returns the operands with more polynomials than their op takes, in textual order.
    pub fn oversized_operands(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<OversizedOperand> {
        let all = self.oversized_operands.get_or_init(|| {
            if self.over_two.is_empty() {
                return Vec::new();
            }
            let progress = |op: Op| ManagementProgress {
                is_managed: self.stage(ir.function_of(op)).is_managed,
                is_lowered_next: self.is_lowered_next(ir, heir, op),
            };
            oversized::oversized_operands(ir, heir, &in_textual_order(ir, &self.wide), &progress)
        });
        let mut liveness = LivenessCache::default();
        let mut is_kept = |it: &OversizedOperand| {
            it.consequence != Consequence::Refused || liveness.is_live(ir, it.op)
        };
        all.iter().filter(|it| is_kept(it)).copied().collect()
    }

    /// Returns the ops with operands at different levels that HEIR lowers or has lowered, in
    /// textual order.
    pub fn unequal_levels(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<UnequalLevels> {
        let mut liveness = LivenessCache::default();
        let all = in_textual_order(ir, &self.unequal).into_iter();
        // HEIR's verifiers also check ops without uses.
        let mut is_kept = |it: Op| types::is_scheme_op(ir, it) || liveness.is_live(ir, it);
        all.filter(|&it| is_subject_to_lowering(ir, heir, it) && is_kept(it))
            .filter_map(|it| levels::unequal_levels(ir, heir, it))
            .collect()
    }

    /// Returns the ops whose types contradict each other, in textual order; for a type that is
    /// invalid itself, only the first value. Ops with operands at different levels, and rotations
    /// of too many polynomials, are left to the more specific checks.
    pub fn type_contradictions(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<TypeContradiction> {
        if self.mistyped.is_empty() {
            return Vec::new();
        }
        let unequal = self.unequal_levels(ir, heir).into_iter();
        let unequal = unequal.map(|it| (it.op, it.requirement.consequence));
        let oversized = self.oversized_operands(ir, heir).into_iter();
        let oversized = oversized.filter(|it| !it.is_carried).map(|it| (it.op, it.consequence));
        let told = unequal.chain(oversized).filter(|it| it.1 == Consequence::Refused);
        let told: FxHashSet<Op> = told.map(|it| it.0).collect();
        let mut types = SchemeTypes::default();
        let mut refused = FxHashSet::default();
        let mut found = Vec::new();
        for op in in_textual_order(ir, &self.mistyped).into_iter().filter(|it| !told.contains(it)) {
            let target = LoweringTarget::of(heir.setting_of(op));
            let Some(it) = types::type_contradiction(ir, target, &mut types, op) else { continue };
            if it.ty.is_none_or(|it| refused.insert(it)) {
                found.push(it);
            }
        }
        found
    }

    /// Returns a change after which the types of an op are consistent.
    pub fn type_remedy(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<TypeRemedy> {
        let target = LoweringTarget::of(heir.setting_of(op));
        remedy::remedy(ir, target, &mut SchemeTypes::default(), op)
    }

    /// Returns the ring of the type of a ciphertext, as the text of an attribute.
    pub fn ring_text(ir: &Ir, ty: Type) -> Option<String> {
        remedy::ring_text(&mut SchemeTypes::default(), ir, ty)
    }

    /// Returns the operands of one op at different levels; see [`ReportSites::unequal_levels`].
    pub fn unequal_levels_of(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<UnequalLevels> {
        levels::unequal_levels(ir, heir, op)
    }

    /// Returns the first ciphertexts whose scale exceeds the modulus, in functions in which HEIR
    /// has placed ops that use levels, in textual order.
    pub fn over_modulus(&self, at: &HeirFacts<'_>) -> Vec<OverModulus> {
        let HeirFacts { ir, .. } = *at;
        let is_managed =
            |op: &Op| self.stage(ir.function_of(*op)).has_level_uses || is_lowered(ir, *op);
        let all = in_textual_order(ir, &self.over_modulus).into_iter().filter(is_managed);
        let results = all.flat_map(|it| ir.op(it).results.clone());
        results.filter_map(|it| first_over_modulus(at, it)).collect()
    }

    /// Returns the ops that HEIR does not lower, in textual order.
    pub fn unlowered(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<Unlowered> {
        let mut liveness = LivenessCache::default();
        let is_judged = |it: Op| {
            let is_outside = ir.is_secret_generic(it) || ir.op(it).kind == OpKind::FuncCall;
            is_outside && has_params(heir, it)
                || is_subject_to_lowering(ir, heir, it) && !is_lowered(ir, it)
        };
        let all = in_textual_order(ir, &self.unlowered);
        let judge = LoweringJudge::new(ir, heir, &all);
        let mut out: Vec<Unlowered> =
            all.iter().filter_map(|&it| judge.refused_early(it)).collect();
        let all = all.into_iter().filter(|&it| is_judged(it));
        out.extend(all.flat_map(|it| judge.unlowered(it)));
        let is_managed = |it: Op| self.stage(ir.function_of(it)).is_managed;
        out.retain(|it| {
            let is_late = !it.is_possibly_lowered_later(ir) || is_managed(it.op);
            it.is_refused_before_parameters()
                || is_late && is_judged(it.op) && liveness.is_live(ir, it.op)
        });
        // Only the first of several reasons for one op is reported.
        out.sort_by_cached_key(|it| (ir.start(it.op), it.op, it.reason));
        out.dedup_by_key(|it| it.op);
        out
    }

    /// Returns the operands outside of the ranges that their ops accept, in textual order.
    pub fn out_of_range(&self, at: &HeirFacts<'_>) -> Vec<OutOfRange> {
        let all = in_textual_order(at.ir, &self.out_of_range).into_iter();
        all.filter_map(|it| out_of_range::out_of_range(at.ir, at.ranges, it)).collect()
    }

    /// Returns the plaintext operands without an encoding that HEIR refuses, in textual order.
    pub fn unencoded_plaintexts(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<UnencodedPlaintext> {
        let mut liveness = LivenessCache::default();
        let all = in_textual_order(ir, &self.unencoded).into_iter();
        all.filter(|&it| is_subject_to_lowering(ir, heir, it) && liveness.is_live(ir, it))
            .filter_map(|it| plaintexts::unencoded(ir, heir, it))
            .collect()
    }

    /// Returns the plaintext operand of one op that is not encoded; see
    /// [`ReportSites::unencoded_plaintexts`].
    pub fn unencoded_plaintext_of(
        ir: &Ir,
        heir: &CiphertextFacts,
        op: Op,
    ) -> Option<UnencodedPlaintext> {
        plaintexts::unencoded(ir, heir, op)
    }

    /// Returns the ops that HEIR refuses because of their scales, in textual order: at most one for
    /// each generic.
    pub fn unequal_scales(&self, at: &HeirFacts<'_>) -> Vec<UnequalScales> {
        let (ir, heir) = (at.ir, at.heir);
        let mut liveness = LivenessCache::default();
        let stage = |it: Op| self.stage(ir.function_of(it));
        let generics = self.functions_and_generics.iter().copied();
        let generics = generics
            .filter(|&it| ir.is_alive(it) && ir.is_secret_generic(it) && stage(it).is_managed);
        let mut ops: FxHashMap<Op, Vec<Op>> = FxHashMap::default();
        for op in in_textual_order(ir, &self.unequal_scales) {
            ops.entry(rules::enclosing_generic(ir, op).unwrap_or(op)).or_default().push(op);
        }
        let mut found: Vec<UnequalScales> = Vec::new();
        for generic in generics {
            let ops = ops.get(&generic).into_iter().flatten().copied();
            let ops: Vec<Op> = ops.filter(|&it| liveness.is_live(ir, it)).collect();
            let simple = |&op: &Op| verdict_scales::refused_by_op(ir, heir, at.scales?, op);
            if let Some(it) = ops.iter().find_map(simple) {
                found.push(it);
                continue;
            }
            if !stage(generic).has_level_uses && !stage(generic).is_relinearized {
                continue;
            }
            match verdict_scales::treatment_of_first_op(ir, heir, at.options, generic) {
                FirstOpTreatment::Raised(it) => {
                    found.extend(it.filter(|it| liveness.is_live(ir, it.op)));
                }
                FirstOpTreatment::Kept => {
                    let is_own = |it: &&Op| {
                        ir.parent_op(**it) == Some(generic)
                            && verdict_scales::has_unequal_scales(ir, heir, at.scales, **it)
                    };
                    let Some(&first) = ops.iter().find(is_own) else { continue };
                    let mut inside = ir.op(generic).regions.iter().flat_map(|it| ir.items(it.1));
                    if inside.any(|it| !ir.op(it).regions.is_empty()) {
                        continue;
                    }
                    let scales = at.scales;
                    found.extend(
                        scales.and_then(|it| verdict_scales::unequal_scales(ir, heir, it, first)),
                    );
                }
            }
        }
        found
    }

    /// Returns true if HEIR lowers an op next: it has placed ops that use levels or relinearize, or
    /// the module has parameters. Also true for an op that is already lowered.
    fn is_lowered_next(&self, ir: &Ir, heir: &CiphertextFacts, op: Op) -> bool {
        let stage = self.stage(ir.function_of(op));
        stage.has_level_uses || stage.is_relinearized || is_lowered(ir, op) || has_params(heir, op)
    }

    /// Returns the annotations with a wrong level, in textual order.
    pub fn level_mismatches(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<LevelMismatch> {
        self.annotations.level_mismatches(ir, heir, &|it| self.stage(it))
    }

    /// Returns the annotations of one op with a wrong level; see [`ReportSites::level_mismatches`].
    pub fn level_mismatches_of(
        &self,
        ir: &Ir,
        heir: &CiphertextFacts,
        op: Op,
    ) -> Vec<LevelMismatch> {
        self.annotations.level_mismatches_of(ir, heir, &|it| self.stage(it), op)
    }

    /// Returns true if the annotations in the function of a value are goals.
    pub fn has_goals(&self, ir: &Ir, heir: &CiphertextFacts, value: Value) -> bool {
        let function = ir.definition_site(value).and_then(|it| ir.function_of(it));
        self.annotations.has_goals(ir, heir, &|it| self.stage(it), function)
    }

    /// Returns the annotations with a wrong number of polynomials, in textual order.
    pub fn dimension_mismatches(&self, ir: &Ir, heir: &CiphertextFacts) -> Vec<DimensionMismatch> {
        let all = in_textual_order(
            ir,
            self.annotations.ops_with_dimension_mismatches(ir, heir, &|it| self.stage(it)),
        );
        let of = |op: Op| {
            let is_relinearized = self.stage(ir.function_of(op)).is_relinearized;
            let found = self.annotations.dimension_mismatches_of(op).iter();
            found.filter(move |it| is_relinearized || !it.has_two_polynomials()).copied()
        };
        all.into_iter().flat_map(of).collect()
    }

    fn stage(&self, function: Option<Op>) -> LoweringStage {
        self.management.stage(function)
    }

    /// Returns the annotations of one op with a wrong number of polynomials; see
    /// [`ReportSites::dimension_mismatches`].
    pub fn dimension_mismatches_of(&self, op: Op) -> &[DimensionMismatch] {
        self.annotations.dimension_mismatches_of(op)
    }

    /// Returns ops with an annotation without a readable level, in textual order.
    pub fn unreadable_levels(&self, ir: &Ir) -> Vec<Op> {
        in_textual_order(ir, &self.unreadable_levels)
    }

    /// Returns missing and unreadable attributes, one for each op, in textual order.
    pub fn unreadable_attributes(&self, ir: &Ir) -> Vec<(Op, UnreadableAttribute)> {
        let all = in_textual_order(ir, &self.unreadable_attributes).into_iter();
        all.filter_map(|it| Some((it, unreadable::first_unreadable(ir, it)?))).collect()
    }

    /// Returns the remaining levels of a fresh ciphertext at the definition of a value.
    pub fn fresh_levels(&self, ir: &Ir, heir: &CiphertextFacts, value: Value) -> u32 {
        self.annotations.fresh_levels_of(ir, heir, &|it| self.stage(it), value)
    }
}

/// Returns true if HEIR lowers an op or has lowered it: it is in a generic of a module with
/// parameters, which HEIR chooses after it has placed its `mgmt` ops, or it is an op of a scheme or
/// a library.
fn is_subject_to_lowering(ir: &Ir, heir: &CiphertextFacts, op: Op) -> bool {
    is_lowered(ir, op) || has_params(heir, op) && rules::enclosing_generic(ir, op).is_some()
}

/// Returns true if the module around an op has parameters of a scheme.
fn has_params(heir: &CiphertextFacts, op: Op) -> bool {
    heir.setting_of(op).is_some_and(|it| matches!(it.params, Some(Ok(_))))
}

/// Returns true for an op of a scheme or a library.
fn is_lowered(ir: &Ir, op: Op) -> bool {
    let dialect = ir.op_name(op).split_once('.').map_or("", |it| it.0);
    matches!(dialect, "ckks" | "bgv" | "lwe" | "openfhe" | "lattigo")
}

/// Returns the scale and the modulus of a value, if the scale exceeds the modulus and no value that
/// it is computed from has such a scale.
fn first_over_modulus(at: &HeirFacts<'_>, value: Value) -> Option<OverModulus> {
    let over = |it: Value| modulus::over_modulus(at.ir, at.heir, at.scales, it);
    let found = over(value)?;
    (!source_values(at.ir, value).iter().any(|&it| over(it).is_some())).then_some(found)
}

/// Inserts an op into a set or removes it; returns true if the set changed.
fn insert_or_remove(set: &mut FxHashSet<Op>, op: Op, is_in: bool) -> bool {
    if is_in { set.insert(op) } else { !set.is_empty() && set.remove(&op) }
}

fn in_textual_order(ir: &Ir, set: impl IntoIterator<Item = impl Borrow<Op>>) -> Vec<Op> {
    let mut out: Vec<Op> = set.into_iter().map(|it| *it.borrow()).collect();
    out.sort_by_cached_key(|&it| (ir.start(it), it.index()));
    out
}

fn underflows(
    ir: &Ir,
    heir: &CiphertextFacts,
    most: &dyn Fn(Value) -> Option<u32>,
    set: &FxHashSet<Op>,
) -> Vec<LevelUnderflow> {
    let values = in_textual_order(ir, set).into_iter().flat_map(|it| ir.op(it).results.clone());
    let over = values.filter(|&it| underflow::is_out_of_levels(ir, heir, most, it));
    over.map(|it| underflow::underflow(ir, heir, most, it)).collect()
}

/// Returns true if the noise of a value exceeds the budget of its level, but none of the values
/// that it is computed from does so.
fn is_first_over_budget(ir: &Ir, noise: HeirNoise<'_>, value: Value) -> bool {
    noise.excess(value).is_some()
        && !source_values(ir, value).iter().any(|&it| noise.excess(it).is_some())
}
