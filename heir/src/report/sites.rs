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
use crate::annotations::unreadable::{self, Unreadable};
use crate::annotations::votes::{Mismatch, Resized, Stage, Written};
use crate::facts::known::Heir;
use crate::facts::noise::HeirNoise;
use crate::facts::plaintext;
use crate::facts::scale::Scales;
use crate::facts::value_range::Ranges;
use crate::ops::{catalogue, rules};
use crate::options::Options;
use crate::report::management::Management;
use crate::report::origins::made_of;
use crate::report::oversized::{self, OversizedOperand, Progress};
use crate::report::underflow::{self, Recursion, Underflow, Varying};
use crate::text::annotation;
use crate::verdict::levels::{self, UnequalLevels};
use crate::verdict::liveness::Liveness;
use crate::verdict::modulus::{self, OverModulus};
use crate::verdict::out_of_range::{self, OutOfRange};
use crate::verdict::plaintexts::{self, Unencoded};
use crate::verdict::requirements::Outcome;
use crate::verdict::scales::{self as verdict_scales, FirstOp, UnequalScales};
use crate::verdict::types::remedy::{self, Remedy};
use crate::verdict::types::{self, Mistyped, SchemeTypes, Target};
use crate::verdict::unlowered::{self, Judge, Unlowered};

/// The inputs of the rules.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The program.
    pub ir: &'a Ir,
    /// Levels and polynomials.
    pub heir: &'a Heir,
    /// Facts of noise, if the program has parameters for a model.
    pub noise: Option<HeirNoise<'a>>,
    /// Facts of scales, if the program has parameters for them.
    pub scales: Option<Scales<'a>>,
    /// Facts of ranges, if some ranges are stated.
    pub ranges: Option<Ranges<'a>>,
    /// The options of the user.
    pub options: Options,
}

/// The sets of ops to report.
#[derive(Debug, Default)]
pub struct Sites {
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
    over_noise: FxHashSet<Op>,
    wrong_scale: FxHashSet<Op>,
    varying: FxHashSet<Op>,
    /// Calls that pass or return a ciphertext without a level.
    unsettled: FxHashSet<Op>,
    /// Functions and generics, in textual order. Edits that change these rebuild the index.
    holders: Vec<Op>,
    no_scale: OnceLock<Option<ScaleFault>>,
    /// Ops with operands of more than two polynomials, and those of them that take fewer.
    wide: FxHashSet<Op>,
    over_two: FxHashSet<Op>,
    /// Terminators of generics among these: the number that they take depends on the users of the
    /// results of the generic.
    wide_ends: FxHashSet<Op>,
    oversized_operands: OnceLock<Vec<OversizedOperand>>,
    management: Management,
    written: Written,
    /// Ops with an annotation without a readable level, and ops with another unreadable attribute.
    unreadable: FxHashSet<Op>,
    garbled: FxHashSet<Op>,
}

impl Sites {
    /// Builds the index of a program.
    pub fn new(at: &Sight<'_>) -> Self {
        let ir = at.ir;
        let mut it = Self::default();
        it.add_all(at, ir.root());
        it.settle(at);
        it
    }

    fn add_all(&mut self, at: &Sight<'_>, region: noisy_syntax::Region) {
        let ir = at.ir;
        for op in ir.items(region) {
            let is_generic = ir.is_secret_generic(op);
            if ir.op(op).kind == OpKind::FuncFunc || is_generic {
                self.holders.push(op);
            }
            self.written.add(ir, op);
            self.note(at, op);
            for &(_, inner) in &ir.op(op).regions {
                self.add_all(at, inner);
            }
        }
    }

    /// Applies an edit that `at.heir` already contains: `ops` may have changed.
    pub fn update(&mut self, at: &Sight<'_>, ops: &[Op], removed: &[Op]) {
        let ir = at.ir;
        let mut all = ops.to_vec();
        let mut seen: FxHashSet<Op> = ops.iter().copied().collect();
        for &op in ops.iter().chain(removed) {
            let others = self.written.stands_on(op).into_iter().filter(|&it| ir.is_alive(it));
            all.extend(others.filter(|&it| seen.insert(it)));
        }
        // An op lists the annotations of the arguments of its labels and of the operands of its
        // terminators. A removed op may have been a terminator.
        let is_rim = |op: &&Op| ir.op(**op).kind == OpKind::Label || ir.next(**op).is_none();
        let holders = ops.iter().filter(is_rim).chain(removed);
        let holders = holders.filter_map(|&it| ir.region(ir.op(it).parent).parent);
        all.extend(holders.filter(|&it| ir.is_alive(it) && seen.insert(it)));
        for &op in removed {
            self.forget(op);
        }
        for op in all {
            self.note(at, op);
        }
        self.settle(at);
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

    fn settle(&mut self, at: &Sight<'_>) {
        let management = &self.management;
        self.written.settle(at.ir, at.heir, &|it| management.stage(it));
    }

    fn forget(&mut self, op: Op) {
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
            &mut self.over_noise,
            &mut self.wrong_scale,
            &mut self.varying,
            &mut self.unsettled,
            &mut self.over_two,
            &mut self.wide_ends,
            &mut self.unreadable,
            &mut self.garbled,
        ] {
            put(set, op, false);
        }
        if self.management.forget(op) | self.wide.remove(&op) {
            self.oversized_operands = OnceLock::new();
        }
        self.written.forget(op);
    }

    fn note(&mut self, at: &Sight<'_>, op: Op) {
        let Sight { ir, heir, .. } = *at;
        let data = ir.op(op);
        let results = || data.results.iter().copied();
        put(&mut self.needless, op, oversized::is_needless(ir, heir, op));
        let is_missing = data.kind == OpKind::Unknown && catalogue::is_missing(ir.op_name(op));
        put(&mut self.missing, op, is_missing);
        put(&mut self.unequal, op, levels::unequal(ir, heir, op).is_some());
        put(&mut self.unencoded, op, plaintexts::candidate(ir, heir, op).is_some());
        let is_mistyped = types::is_mistyped(ir, &mut self.types, op);
        put(&mut self.mistyped, op, is_mistyped);
        put(&mut self.unlowered, op, unlowered::is_candidate(ir, heir, op));
        let is_over = results().any(|it| first_over_modulus(at, it).is_some());
        put(&mut self.over_modulus, op, is_over);
        let may_differ = verdict_scales::is_candidate(ir, heir, at.scales, op);
        put(&mut self.unequal_scales, op, may_differ);
        let is_out = out_of_range::out_of_range(ir, at.ranges, op).is_some();
        put(&mut self.out_of_range, op, is_out);
        let most = |it: Value| heir.budget(ir, at.options, it);
        let is_over = results().any(|it| underflow::runs_out(ir, heir, &most, it));
        put(&mut self.over_budget, op, is_over);
        let most = |it: Value| heir.switches(ir, it);
        let is_over = results().any(|it| underflow::runs_out(ir, heir, &most, it));
        put(&mut self.over_moduli, op, is_over);
        let is_noisy = at.noise.is_some_and(|noise| {
            plaintext::defined(ir, op).into_iter().any(|it| is_first_over(ir, noise, it))
        });
        put(&mut self.over_noise, op, is_noisy);
        put(&mut self.wrong_scale, op, scales::wrong(ir, heir, op).is_some());
        put(&mut self.varying, op, !underflow::varying(ir, heir, op).is_empty());
        put(&mut self.unsettled, op, underflow::unsettled(ir, heir, op).is_some());
        put(&mut self.unreadable, op, annotation::is_unreadable(ir, op));
        put(&mut self.garbled, op, unreadable::unreadable(ir, op).is_some());
        self.note_wide(ir, heir, op);
        self.written.note(ir, heir, op);
    }

    fn note_wide(&mut self, ir: &Ir, heir: &Heir, op: Op) {
        let is_other_stage = self.management.note(ir, op);
        let is_wide = oversized::is_wide(ir, heir, op);
        if put(&mut self.wide, op, is_wide) || is_wide || is_other_stage {
            self.oversized_operands = OnceLock::new();
        }
        let is_end = is_wide && ir.op_name(op) == "secret.yield";
        put(&mut self.wide_ends, op, is_end);
        put(&mut self.over_two, op, is_end || is_wide && oversized::is_over(ir, heir, op));
    }

    /// Returns relinearizations of ciphertexts with two polynomials, in textual order.
    pub fn needless(&self, ir: &Ir) -> Vec<Op> {
        in_order(ir, &self.needless)
    }

    /// Returns ops of HEIR's dialects that the catalogue lacks, in textual order.
    pub fn missing(&self, ir: &Ir) -> Vec<Op> {
        in_order(ir, &self.missing)
    }

    /// Returns the values at which the levels of the options run out, in textual order.
    pub fn over_budget(&self, ir: &Ir, heir: &Heir, options: Options) -> Vec<Underflow> {
        underflows(ir, heir, &|it| heir.budget(ir, options, it), &self.over_budget)
    }

    /// Returns the values at which the moduli of the parameters run out, in textual order.
    pub fn over_moduli(&self, ir: &Ir, heir: &Heir) -> Vec<Underflow> {
        underflows(ir, heir, &|it| heir.switches(ir, it), &self.over_moduli)
    }

    /// Returns the first values whose noise exceeds the budget of their level, in textual order.
    pub fn over_noise(&self, ir: &Ir, noise: HeirNoise<'_>) -> Vec<Value> {
        let all = in_order(ir, &self.over_noise).into_iter();
        all.flat_map(|it| plaintext::defined(ir, it))
            .filter(|&it| is_first_over(ir, noise, it))
            .collect()
    }

    /// Returns the carried values of loops whose yielded value has another level than the initial
    /// value, in textual order.
    pub fn varying(&self, ir: &Ir, heir: &Heir) -> Vec<Varying> {
        let all = in_order(ir, &self.varying).into_iter();
        let all = all.flat_map(|it| underflow::varying(ir, heir, it));
        let is_refused =
            |op: Op| has_params(heir, op) && self.stage(ir.function_of(op)).uses_levels;
        all.map(|it| Varying { is_refused: is_refused(it.op), ..it }).collect()
    }

    /// Returns the recursive calls that pass or return ciphertexts without a level, in textual
    /// order.
    pub fn recursions(&self, ir: &Ir, heir: &Heir) -> Vec<Recursion> {
        underflow::recursions(ir, heir, &in_order(ir, &self.unsettled))
    }

    /// Returns the impossible written scales, in textual order; if scales are missing, only the
    /// first missing one.
    pub fn scale_faults(&self, ir: &Ir, heir: &Heir) -> Vec<ScaleFault> {
        let missing = || scales::missing(ir, heir, &self.holders);
        match self.no_scale.get_or_init(missing) {
            Some(it) => vec![it.clone()],
            None => {
                let all = in_order(ir, &self.wrong_scale).into_iter();
                all.filter_map(|it| scales::wrong(ir, heir, it)).collect()
            }
        }
    }

    /// Returns the operands with more polynomials than their op takes, in textual order.
    pub fn oversized_operands(&self, ir: &Ir, heir: &Heir) -> Vec<OversizedOperand> {
        let all = self.oversized_operands.get_or_init(|| {
            if self.over_two.is_empty() {
                return Vec::new();
            }
            let progress = |op: Op| Progress {
                is_managed: self.stage(ir.function_of(op)).is_managed,
                is_lowered_next: self.is_lowered_next(ir, heir, op),
            };
            oversized::oversized_operands(ir, heir, &in_order(ir, &self.wide), &progress)
        });
        let mut liveness = Liveness::default();
        let mut is_kept =
            |it: &OversizedOperand| it.outcome != Outcome::Refused || liveness.is_live(ir, it.op);
        all.iter().filter(|it| is_kept(it)).copied().collect()
    }

    /// Returns the ops with operands at different levels that HEIR lowers or has lowered, in
    /// textual order.
    pub fn unequal_levels(&self, ir: &Ir, heir: &Heir) -> Vec<UnequalLevels> {
        let mut liveness = Liveness::default();
        let all = in_order(ir, &self.unequal).into_iter();
        // HEIR's verifiers also check ops without uses.
        let mut is_kept = |it: Op| types::is_of_scheme(ir, it) || liveness.is_live(ir, it);
        all.filter(|&it| is_judged(ir, heir, it) && is_kept(it))
            .filter_map(|it| levels::unequal(ir, heir, it))
            .collect()
    }

    /// Returns the ops whose types contradict each other, in textual order; for a type that is
    /// invalid itself, only the first value. Ops with operands at different levels, and rotations
    /// of too many polynomials, are left to the more specific checks.
    pub fn mistyped(&self, ir: &Ir, heir: &Heir) -> Vec<Mistyped> {
        if self.mistyped.is_empty() {
            return Vec::new();
        }
        let unequal = self.unequal_levels(ir, heir).into_iter();
        let unequal = unequal.map(|it| (it.op, it.requirement.outcome));
        let oversized = self.oversized_operands(ir, heir).into_iter();
        let oversized = oversized.filter(|it| !it.is_carried).map(|it| (it.op, it.outcome));
        let told = unequal.chain(oversized).filter(|it| it.1 == Outcome::Refused);
        let told: FxHashSet<Op> = told.map(|it| it.0).collect();
        let mut types = SchemeTypes::default();
        let mut refused = FxHashSet::default();
        let mut found = Vec::new();
        for op in in_order(ir, &self.mistyped).into_iter().filter(|it| !told.contains(it)) {
            let target = Target::of(heir.setting_of(op));
            let Some(it) = types::mistyped(ir, target, &mut types, op) else { continue };
            if it.ty.is_none_or(|it| refused.insert(it)) {
                found.push(it);
            }
        }
        found
    }

    /// Returns a change after which the types of an op are consistent.
    pub fn remedy(ir: &Ir, heir: &Heir, op: Op) -> Option<Remedy> {
        let target = Target::of(heir.setting_of(op));
        remedy::remedy(ir, target, &mut SchemeTypes::default(), op)
    }

    /// Returns the ring of the type of a ciphertext, as the text of an attribute.
    pub fn ring_text(ir: &Ir, ty: Type) -> Option<String> {
        remedy::ring_text(&mut SchemeTypes::default(), ir, ty)
    }

    /// Returns the operands of one op at different levels; see [`Sites::unequal_levels`].
    pub fn unequal_levels_of(ir: &Ir, heir: &Heir, op: Op) -> Option<UnequalLevels> {
        levels::unequal(ir, heir, op)
    }

    /// Returns the first ciphertexts whose scale exceeds the modulus, in functions in which HEIR
    /// has placed ops that use levels, in textual order.
    pub fn over_modulus(&self, at: &Sight<'_>) -> Vec<OverModulus> {
        let Sight { ir, .. } = *at;
        let is_managed =
            |op: &Op| self.stage(ir.function_of(*op)).uses_levels || is_lowered(ir, *op);
        let all = in_order(ir, &self.over_modulus).into_iter().filter(is_managed);
        let results = all.flat_map(|it| ir.op(it).results.clone());
        results.filter_map(|it| first_over_modulus(at, it)).collect()
    }

    /// Returns the ops that HEIR does not lower, in textual order.
    pub fn unlowered(&self, ir: &Ir, heir: &Heir) -> Vec<Unlowered> {
        let mut liveness = Liveness::default();
        let is_judged = |it: Op| {
            let is_outside = ir.is_secret_generic(it) || ir.op(it).kind == OpKind::FuncCall;
            is_outside && has_params(heir, it) || is_judged(ir, heir, it) && !is_lowered(ir, it)
        };
        let all = in_order(ir, &self.unlowered);
        let judge = Judge::new(ir, heir, &all);
        let mut out: Vec<Unlowered> =
            all.iter().filter_map(|&it| judge.refused_early(it)).collect();
        let all = all.into_iter().filter(|&it| is_judged(it));
        out.extend(all.flat_map(|it| judge.unlowered(it)));
        let is_managed = |it: Op| self.stage(ir.function_of(it)).is_managed;
        out.retain(|it| {
            let is_late = !it.may_pass(ir) || is_managed(it.op);
            it.is_early() || is_late && is_judged(it.op) && liveness.is_live(ir, it.op)
        });
        // Only the first of several reasons for one op is reported.
        out.sort_by_cached_key(|it| (ir.start(it.op), it.op, it.reason));
        out.dedup_by_key(|it| it.op);
        out
    }

    /// Returns the operands outside of the ranges that their ops accept, in textual order.
    pub fn out_of_range(&self, at: &Sight<'_>) -> Vec<OutOfRange> {
        let all = in_order(at.ir, &self.out_of_range).into_iter();
        all.filter_map(|it| out_of_range::out_of_range(at.ir, at.ranges, it)).collect()
    }

    /// Returns the plaintext operands without an encoding that HEIR refuses, in textual order.
    pub fn unencoded(&self, ir: &Ir, heir: &Heir) -> Vec<Unencoded> {
        let mut liveness = Liveness::default();
        let all = in_order(ir, &self.unencoded).into_iter();
        all.filter(|&it| is_judged(ir, heir, it) && liveness.is_live(ir, it))
            .filter_map(|it| plaintexts::unencoded(ir, heir, it))
            .collect()
    }

    /// Returns the plaintext operand of one op that is not encoded; see [`Sites::unencoded`].
    pub fn unencoded_of(ir: &Ir, heir: &Heir, op: Op) -> Option<Unencoded> {
        plaintexts::unencoded(ir, heir, op)
    }

    /// Returns the ops that HEIR refuses because of their scales, in textual order: at most one for
    /// each generic.
    pub fn unequal_scales(&self, at: &Sight<'_>) -> Vec<UnequalScales> {
        let (ir, heir) = (at.ir, at.heir);
        let mut liveness = Liveness::default();
        let stage = |it: Op| self.stage(ir.function_of(it));
        let generics = self.holders.iter().copied();
        let generics = generics
            .filter(|&it| ir.is_alive(it) && ir.is_secret_generic(it) && stage(it).is_managed);
        let mut ops: FxHashMap<Op, Vec<Op>> = FxHashMap::default();
        for op in in_order(ir, &self.unequal_scales) {
            ops.entry(rules::generic_around(ir, op).unwrap_or(op)).or_default().push(op);
        }
        let mut found: Vec<UnequalScales> = Vec::new();
        for generic in generics {
            let ops = ops.get(&generic).into_iter().flatten().copied();
            let ops: Vec<Op> = ops.filter(|&it| liveness.is_live(ir, it)).collect();
            let simple = |&op: &Op| verdict_scales::refused(ir, heir, at.scales?, op);
            if let Some(it) = ops.iter().find_map(simple) {
                found.push(it);
                continue;
            }
            if !stage(generic).uses_levels && !stage(generic).is_relinearized {
                continue;
            }
            match verdict_scales::first_op(ir, heir, at.options, generic) {
                FirstOp::Raised(it) => found.extend(it.filter(|it| liveness.is_live(ir, it.op))),
                FirstOp::Kept => {
                    let is_own = |it: &&Op| {
                        ir.parent_op(**it) == Some(generic)
                            && verdict_scales::differ(ir, heir, at.scales, **it)
                    };
                    let Some(&first) = ops.iter().find(is_own) else { continue };
                    let mut inside = ir.op(generic).regions.iter().flat_map(|it| ir.items(it.1));
                    if inside.any(|it| !ir.op(it).regions.is_empty()) {
                        continue;
                    }
                    let scales = at.scales;
                    found
                        .extend(scales.and_then(|it| verdict_scales::unequal(ir, heir, it, first)));
                }
            }
        }
        found
    }

    /// Returns true if HEIR lowers an op next: it has placed ops that use levels or relinearize, or
    /// the module has parameters. Also true for an op that is already lowered.
    fn is_lowered_next(&self, ir: &Ir, heir: &Heir, op: Op) -> bool {
        let stage = self.stage(ir.function_of(op));
        stage.uses_levels || stage.is_relinearized || is_lowered(ir, op) || has_params(heir, op)
    }

    /// Returns the annotations with a wrong level, in textual order.
    pub fn mismatches(&self, ir: &Ir, heir: &Heir) -> Vec<Mismatch> {
        self.written.mismatches(ir, heir, &|it| self.stage(it))
    }

    /// Returns the annotations of one op with a wrong level; see [`Sites::mismatches`].
    pub fn mismatches_of(&self, ir: &Ir, heir: &Heir, op: Op) -> Vec<Mismatch> {
        self.written.mismatches_of(ir, heir, &|it| self.stage(it), op)
    }

    /// Returns true if the annotations in the function of a value are goals.
    pub fn is_goal(&self, ir: &Ir, heir: &Heir, value: Value) -> bool {
        let function = ir.definition_site(value).and_then(|it| ir.function_of(it));
        self.written.is_goal(ir, heir, &|it| self.stage(it), function)
    }

    /// Returns the annotations with a wrong number of polynomials, in textual order.
    pub fn resized(&self, ir: &Ir, heir: &Heir) -> Vec<Resized> {
        let all = in_order(ir, self.written.resized(ir, heir, &|it| self.stage(it)));
        let of = |op: Op| {
            let is_relinearized = self.stage(ir.function_of(op)).is_relinearized;
            let found = self.written.resized_of(op).iter();
            found.filter(move |it| is_relinearized || !it.says_two()).copied()
        };
        all.into_iter().flat_map(of).collect()
    }

    fn stage(&self, function: Option<Op>) -> Stage {
        self.management.stage(function)
    }

    /// Returns the annotations of one op with a wrong number of polynomials; see
    /// [`Sites::resized`].
    pub fn resized_of(&self, op: Op) -> &[Resized] {
        self.written.resized_of(op)
    }

    /// Returns ops with an annotation without a readable level, in textual order.
    pub fn unreadable(&self, ir: &Ir) -> Vec<Op> {
        in_order(ir, &self.unreadable)
    }

    /// Returns missing and unreadable attributes, one for each op, in textual order.
    pub fn garbled(&self, ir: &Ir) -> Vec<(Op, Unreadable)> {
        let all = in_order(ir, &self.garbled).into_iter();
        all.filter_map(|it| Some((it, unreadable::unreadable(ir, it)?))).collect()
    }

    /// Returns the remaining levels of a fresh ciphertext at the definition of a value.
    pub fn fresh_levels(&self, ir: &Ir, heir: &Heir, value: Value) -> u32 {
        self.written.levels(ir, heir, &|it| self.stage(it), value)
    }
}

/// Returns true if HEIR lowers an op or has lowered it: it is in a generic of a module with
/// parameters, which HEIR chooses after it has placed its `mgmt` ops, or it is an op of a scheme or
/// a library.
fn is_judged(ir: &Ir, heir: &Heir, op: Op) -> bool {
    is_lowered(ir, op) || has_params(heir, op) && rules::generic_around(ir, op).is_some()
}

/// Returns true if the module around an op has parameters of a scheme.
fn has_params(heir: &Heir, op: Op) -> bool {
    heir.setting_of(op).is_some_and(|it| matches!(it.params, Some(Ok(_))))
}

/// Returns true for an op of a scheme or a library.
fn is_lowered(ir: &Ir, op: Op) -> bool {
    let dialect = ir.op_name(op).split_once('.').map_or("", |it| it.0);
    matches!(dialect, "ckks" | "bgv" | "lwe" | "openfhe" | "lattigo")
}

/// Returns the scale and the modulus of a value, if the scale exceeds the modulus and no value that
/// it is computed from has such a scale.
fn first_over_modulus(at: &Sight<'_>, value: Value) -> Option<OverModulus> {
    let over = |it: Value| modulus::over(at.ir, at.heir, at.scales, it);
    let found = over(value)?;
    (!made_of(at.ir, value).iter().any(|&it| over(it).is_some())).then_some(found)
}

/// Inserts an op into a set or removes it; returns true if the set changed.
fn put(set: &mut FxHashSet<Op>, op: Op, is_in: bool) -> bool {
    if is_in { set.insert(op) } else { !set.is_empty() && set.remove(&op) }
}

fn in_order(ir: &Ir, set: impl IntoIterator<Item = impl Borrow<Op>>) -> Vec<Op> {
    let mut out: Vec<Op> = set.into_iter().map(|it| *it.borrow()).collect();
    out.sort_by_cached_key(|&it| (ir.start(it), it.index()));
    out
}

fn underflows(
    ir: &Ir,
    heir: &Heir,
    most: &dyn Fn(Value) -> Option<u32>,
    set: &FxHashSet<Op>,
) -> Vec<Underflow> {
    let values = in_order(ir, set).into_iter().flat_map(|it| ir.op(it).results.clone());
    let over = values.filter(|&it| underflow::runs_out(ir, heir, most, it));
    over.map(|it| underflow::underflow(ir, heir, most, it)).collect()
}

/// Returns true if the noise of a value exceeds the budget of its level, but none of the values
/// that it is computed from does so.
fn is_first_over(ir: &Ir, noise: HeirNoise<'_>, value: Value) -> bool {
    noise.excess(value).is_some()
        && !made_of(ir, value).iter().any(|&it| noise.excess(it).is_some())
}
