//! The lists that checks report, made from the sets of ops. Rules that read more than an op and the
//! facts of its values are applied here.

use std::borrow::Borrow;

use noisy_syntax::{Ir, Op, OpKind, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{HeirFacts, ReportSites, first_over_modulus, is_first_over_budget};
use crate::annotations::scales::{self, ScaleFault};
use crate::annotations::unreadable::{self, UnreadableAttribute};
use crate::annotations::votes::{DimensionMismatch, LevelMismatch, LoweringStage};
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::noise::HeirNoise;
use crate::facts::plaintext;
use crate::ops::rules;
use crate::options::HeirOptions;
use crate::report::oversized::{self, ManagementProgress, OversizedOperand};
use crate::report::underflow::{self, LevelUnderflow, RecursiveCall, VaryingLevel};
use crate::verdict::levels::{self, UnequalLevels};
use crate::verdict::liveness::LivenessCache;
use crate::verdict::modulus::OverModulus;
use crate::verdict::out_of_range::{self, OutOfRange};
use crate::verdict::plaintexts::{self, UnencodedPlaintext};
use crate::verdict::requirements::Consequence;
use crate::verdict::scales::{self as verdict_scales, FirstOpTreatment, UnequalScales};
use crate::verdict::types::remedy::{self, TypeRemedy};
use crate::verdict::types::{self, LoweringTarget, SchemeTypes, TypeContradiction};
use crate::verdict::unlowered::{LoweringJudge, Unlowered};

impl ReportSites {
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
