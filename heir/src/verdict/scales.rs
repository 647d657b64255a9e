//! Finds ops that HEIR refuses because of the scales of their operands.
//!
//! `--populate-scale-ckks` raises the smaller scale of the operands of a sum, which repairs nearly
//! all programs. Two cases remain. Where it raises the scale of an operand of the first op of a
//! block, it treats the rest of the block as dead, and raises nothing there. Where it raises the
//! operand of a modulus switch, it uses the scales without this change for later ops: of two such
//! factors it raises one too much. It lowers no scale, so the scale of `mgmt.adjust_scale` must not
//! be below that of its operand. It raises scales by products of floats, so it refuses integers.
//!
//! `--populate-scale-bgv` computes the scales of adjusted ciphertexts, and changes no other scale.
//! It refuses sums of different scales, and a modulus switch that the canonicalizer moves to
//! another level, across a drop of levels or a second switch.
//!
//! *Law.* A generic is checked by its first op if the operands of this op are arguments of a
//! function or encoded plaintexts: their scales are known. Otherwise, sums in generics without
//! inner regions are checked by their facts. The scale of the result of an unknown op is unknown,
//! and nothing follows from it. *Cost.* Linear in the operands of a sum; if it is refused, also in
//! the ops that its operands follow from; if the first op of a generic is adjusted, in the generic.
//! *Source.* HEIR, `lib/Transforms/PopulateScale/PopulateScaleCKKS.cpp`, where `isBlockLive` is
//! called for the point before the first op; measured with HEIR 2026.9.1.

use noisy_syntax::{Def, Ir, Op, OpKind, TypeData, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::Ciphertext;
use crate::facts::plaintext::is_init;
use crate::facts::scale::{ScaleFacts, ScaleVariants, bgv_params, ckks_params, modulus_bits_at};
use crate::options::HeirOptions;
use crate::text::annotation::{self, WrittenNumber};
use crate::text::params::SchemeParams;
use crate::verdict::levels;
use noisy_dataflow::flow;

/// An op that HEIR refuses because of its scales.
#[derive(Clone, Debug)]
pub struct UnequalScales {
    /// The op.
    pub op: Op,
    /// The ciphertexts with the logarithms to base 2 of their scales. For two modulus switches that
    /// HEIR merges, only one.
    pub values: Vec<(Value, i64)>,
    /// The operands that HEIR raises, in textual order. If the program raises them explicitly, HEIR
    /// accepts the op. Empty for a modulus switch that HEIR merges with another one.
    pub raised: Vec<RaisedOperand>,
    /// The reason.
    pub cause: ScaleCause,
}

/// The reason why HEIR refuses an op because of its scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleCause {
    /// HEIR uses outdated scales of the operands: it has already changed them.
    Raised,
    /// HEIR raises an operand of the first op of the block, but none of later ops.
    AfterFirstOp,
    /// HEIR merges two modulus switches.
    Merged,
    /// The scale of `mgmt.adjust_scale` is below that of its operand.
    /// HEIR's message is `delta scale is negative`.
    Lowered,
    /// No scale is written on a `mgmt.adjust_scale` of CKKS.
    /// HEIR's message is `delta scale is negative`.
    Unwritten,
    /// HEIR raises the scale of integers. Its message is `must be floating-point-like`.
    Integers,
    /// The operands of a sum in BGV have different scales.
    Residues,
    /// HEIR moves a modulus switch of BGV to another level.
    Moved,
}

/// An operand whose scale HEIR raises.
#[derive(Clone, Copy, Debug)]
pub struct RaisedOperand {
    /// The op.
    pub op: Op,
    /// The operand.
    pub value: Value,
    /// The logarithm to base 2 of the new scale.
    pub raised_log2: i64,
    /// The remaining levels of the operand.
    pub level: u32,
}

/// Returns the operands of a sum that are ciphertexts or encoded plaintexts, with their scales
/// after HEIR has raised the smaller ones.
fn populated_summands(
    ir: &Ir,
    heir: &CiphertextFacts,
    scales: ScaleFacts<'_>,
    op: Op,
) -> Option<Vec<(Value, i64)>> {
    if !is_sum(ir.op_name(op)) {
        return None;
    }
    let values = scaled_operands(ir, heir, op);
    let bits: Option<Vec<ScaleVariants>> = values.iter().map(|&it| scales.variants(it)).collect();
    let bits = bits?;
    let most = bits.iter().map(|it| it.assumed).max()?;
    Some(values.into_iter().zip(bits.iter().map(|it| it.populated_summand(most))).collect())
}

fn is_sum(name: &str) -> bool {
    matches!(name, "arith.addf" | "arith.addi" | "arith.subf" | "arith.subi")
}

/// Returns the operand of a modulus switch that immediately follows another one, if HEIR does not
/// adjust its scale: the canonicalizer merges the two, and the scale of the result is wrong.
fn merged_operand(
    ir: &Ir,
    heir: &CiphertextFacts,
    scales: ScaleFacts<'_>,
    op: Op,
) -> Option<(Value, i64)> {
    if ir.op_name(op) != "mgmt.modreduce" {
        return None;
    }
    let &[value] = scaled_operands(ir, heir, op).as_slice() else { return None };
    let before = ir.defining_op(value).filter(|_| ir.value(value).uses.len() == 1)?;
    let (_, default) = ckks_params(heir.setting_of(op)?)?;
    let &result = ir.op(op).results.first()?;
    let is_kept = scales.variants(result)?.assumed >= default;
    let is_behind = ir.op_name(before) == "mgmt.modreduce" && is_kept;
    is_behind.then_some((value, scales.variants(value)?.populated))
}

/// Returns a cause that follows from an op and the scales of its operands, with these scales.
fn cause_by_op(
    ir: &Ir,
    heir: &CiphertextFacts,
    scales: ScaleFacts<'_>,
    op: Op,
) -> Option<(ScaleCause, Vec<(Value, i64)>)> {
    let setting = heir.setting_of(op)?;
    if let Some((params, t)) = bgv_params(setting) {
        return cause_by_op_in_bgv(ir, heir, scales, op, (params, t));
    }
    let (_, default) = ckks_params(setting)?;
    let name = ir.op_name(op);
    let values = scaled_operands(ir, heir, op);
    let bits =
        || values.iter().map(|&it| scales.variants(it)).collect::<Option<Vec<ScaleVariants>>>();
    let numbered = |bits: Vec<ScaleVariants>| {
        values.iter().zip(bits).map(|(&it, bits)| (it, bits.assumed)).collect::<Vec<_>>()
    };
    if name == "mgmt.adjust_scale" {
        let &[value] = values.as_slice() else { return None };
        return match annotation::number_on_result(ir, op, "scale") {
            WrittenNumber::Absent => {
                Some((ScaleCause::Unwritten, vec![(value, scales.variants(value)?.assumed)]))
            }
            WrittenNumber::Number(to) => {
                let from = scales.variants(value)?;
                let least = from.written.min(from.assumed).min(from.populated);
                let result = *ir.op(op).results.first()?;
                let pair = vec![(value, least), (result, to.into())];
                (i64::from(to) < least).then_some((ScaleCause::Lowered, pair))
            }
            WrittenNumber::Unreadable => None,
        };
    }
    let is_integer = |value: Value| match ir.interner.type_data(ir.value(value).ty) {
        TypeData::Tensor { element, .. } => {
            matches!(ir.interner.type_data(*element), TypeData::Int { .. })
        }
        _ => false,
    };
    if !values.first().is_some_and(|&it| is_integer(it)) {
        return None;
    }
    let bits = bits()?;
    let is_raised = if is_sum(name) {
        bits.iter().any(|it| it.assumed != bits[0].assumed)
    } else {
        let &result = ir.op(op).results.first()?;
        name == "mgmt.modreduce" && scales.variants(result)?.assumed < default
    };
    is_raised.then(|| (ScaleCause::Integers, numbered(bits)))
}

/// Returns an op that HEIR refuses because of the scales of its operands alone.
pub(crate) fn refused_by_op(
    ir: &Ir,
    heir: &CiphertextFacts,
    scales: ScaleFacts<'_>,
    op: Op,
) -> Option<UnequalScales> {
    let (cause, values) = cause_by_op(ir, heir, scales, op)?;
    Some(UnequalScales { op, values, raised: Vec::new(), cause })
}

/// Returns a cause as [`cause_by_op`] does, in BGV.
fn cause_by_op_in_bgv(
    ir: &Ir,
    heir: &CiphertextFacts,
    scales: ScaleFacts<'_>,
    op: Op,
    (params, t): (&SchemeParams, u64),
) -> Option<(ScaleCause, Vec<(Value, i64)>)> {
    let values = scaled_operands(ir, heir, op);
    let residue = |it: Value| Some((it, i64::try_from(scales.residue(it)?).ok()?));
    let name = ir.op_name(op);
    if is_sum(name) {
        let values: Vec<_> = values.into_iter().map(residue).collect::<Option<_>>()?;
        let differs = values.iter().any(|it| it.1 != values[0].1);
        // Dropping levels, as the diagnostic for unequal levels proposes, also changes scales.
        let is_level = levels::unequal_levels(ir, heir, op).is_some();
        return (differs && !is_level).then_some((ScaleCause::Residues, values));
    }
    let is_once = |it: Value| ir.value(it).uses.len() == 1;
    let &[value] = values.as_slice() else { return None };
    let switch = switched_before(ir, op, value).filter(|_| is_once(value))?;
    let from = heir.remaining_levels(ir.op(switch).operands.first()?.value?)?;
    let &result = ir.op(op).results.first()?;
    // After the move, the switch is at the level of the last one.
    let is_changed = match name {
        "mgmt.modreduce" => params.q.get(from)? % t != 1,
        "mgmt.level_reduce" if is_once(result) => {
            params.q.get(from)? % t != params.q.get(heir.remaining_levels(result)? + 1)? % t
        }
        _ => false,
    };
    is_changed.then_some((ScaleCause::Moved, vec![residue(value)?]))
}

/// Returns the modulus switch immediately before another one, or before a drop of levels.
fn switched_before(ir: &Ir, op: Op, value: Value) -> Option<Op> {
    let is_judged = matches!(ir.op_name(op), "mgmt.modreduce" | "mgmt.level_reduce");
    let switch = ir.defining_op(value).filter(|_| is_judged)?;
    (ir.op_name(switch) == "mgmt.modreduce").then_some(switch)
}

/// Returns true if HEIR may refuse an op because of its scales, according to the ops that define
/// its operands and to their facts. Other uses of these values are checked later: they may change
/// without the op.
pub(crate) fn is_candidate(
    ir: &Ir,
    heir: &CiphertextFacts,
    scales: Option<ScaleFacts<'_>>,
    op: Op,
) -> bool {
    let is_switched = || {
        let values = scaled_operands(ir, heir, op);
        matches!(*values, [value] if switched_before(ir, op, value).is_some())
    };
    scales.is_some() && (has_unequal_scales(ir, heir, scales, op) || is_switched())
}

/// Returns true if the operands of a sum have different scales after HEIR has raised the smaller
/// ones, or HEIR merges a modulus switch with the preceding one, or another cause follows from the
/// scales.
pub(crate) fn has_unequal_scales(
    ir: &Ir,
    heir: &CiphertextFacts,
    scales: Option<ScaleFacts<'_>>,
    op: Op,
) -> bool {
    let Some(scales) = scales else { return false };
    if cause_by_op(ir, heir, scales, op).is_some() || merged_operand(ir, heir, scales, op).is_some()
    {
        return true;
    }
    let values = populated_summands(ir, heir, scales, op).unwrap_or_default();
    values.iter().any(|it| it.1 != values[0].1)
}

/// Returns a sum whose operands have different scales, with the preceding modulus switches whose
/// operands HEIR raises; or a modulus switch that HEIR merges with the preceding one.
pub(crate) fn unequal_scales(
    ir: &Ir,
    heir: &CiphertextFacts,
    scales: ScaleFacts<'_>,
    op: Op,
) -> Option<UnequalScales> {
    if let Some(value) = merged_operand(ir, heir, scales, op) {
        let (values, raised) = (vec![value], Vec::new());
        return Some(UnequalScales { op, values, raised, cause: ScaleCause::Merged });
    }
    let values = populated_summands(ir, heir, scales, op)?;
    let is_off = |value: Value| scales.variants(value).is_some_and(|it| it.assumed != it.populated);
    let (mut stack, mut seen) = (vec![op], FxHashSet::default());
    let mut raised = Vec::new();
    while let Some(op) = stack.pop() {
        for value in scaled_operands(ir, heir, op).into_iter().filter(|&it| is_off(it)) {
            let Some(from) = ir.defining_op(value).filter(|&it| seen.insert(it)) else { continue };
            let before = scaled_operands(ir, heir, from);
            match before.as_slice() {
                &[operand] if ir.op_name(from) == "mgmt.modreduce" && !is_off(operand) => {
                    let (params, default) = ckks_params(heir.setting_of(from)?)?;
                    let left = heir.remaining_levels(operand)?;
                    let to = default + modulus_bits_at(params, left, default);
                    let level = u32::try_from(left).ok()?;
                    raised.push(RaisedOperand { op: from, value: operand, raised_log2: to, level });
                }
                _ => stack.push(from),
            }
        }
    }
    raised.sort_by_key(|it| ir.start(it.op));
    (!raised.is_empty()).then_some(UnequalScales { op, values, raised, cause: ScaleCause::Raised })
}

/// Returns true if a value has a scale in HEIR: ciphertexts and encoded plaintexts do.
fn has_scale(ir: &Ir, heir: &CiphertextFacts, value: Value) -> bool {
    is_init(ir, value) || matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. })
}

/// Returns the operands of an op that have scales.
fn scaled_operands(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Vec<Value> {
    let operands = ir.op(op).operands.iter().filter_map(|it| it.value);
    operands.filter(|&it| has_scale(ir, heir, it)).collect()
}

/// The treatment of the first op of a generic by HEIR.
pub(crate) enum FirstOpTreatment {
    /// HEIR raises no operand of the first op.
    Kept,
    /// HEIR raises an operand; contains the first later op that HEIR refuses because of its scales.
    Raised(Option<UnequalScales>),
}

/// Determines the treatment of the first op of a generic.
pub(crate) fn treatment_of_first_op(
    ir: &Ir,
    heir: &CiphertextFacts,
    options: HeirOptions,
    generic: Op,
) -> FirstOpTreatment {
    let Some((mut walk, raised)) = raised_by_first_op(ir, heir, options, generic) else {
        return FirstOpTreatment::Kept;
    };
    let region = ir.op(raised.op).parent;
    let mut behind = ir.block_ops(flow::entry_block(ir, region)).skip(1);
    let refused = behind.find_map(|op| Some((op, walk.follow(op).err()?)));
    FirstOpTreatment::Raised(refused.map(|(op, values)| {
        let raised = vec![raised];
        UnequalScales { op, values, raised, cause: ScaleCause::AfterFirstOp }
    }))
}

/// Returns the operand of the first op of a generic that HEIR raises, and the state after this op.
fn raised_by_first_op<'a>(
    ir: &'a Ir,
    heir: &'a CiphertextFacts,
    options: HeirOptions,
    generic: Op,
) -> Option<(ScaleWalk<'a>, RaisedOperand)> {
    let (params, default) = ckks_params(heir.setting_of(generic)?)?;
    let fresh = if options.before_mul_include_first_mul { 2 * default } else { default };
    let &(_, region) = ir.op(generic).regions.first()?;
    let block = flow::entry_block(ir, region);
    let mut walk = ScaleWalk { ir, heir, params, default, fresh, known: FxHashMap::default() };
    let op = ir.block_ops(block).next()?;
    let ScaleAdjustment { value, to, result } = walk.adjustment(op)?;
    let level = walk.level(value)?;
    walk.known.insert(*ir.op(op).results.first()?, result);
    Some((walk, RaisedOperand { op, value, raised_log2: to, level }))
}

/// An operand whose scale HEIR adjusts.
struct ScaleAdjustment {
    /// The operand.
    value: Value,
    /// The new scale of the operand.
    to: i64,
    /// The scale of the result.
    result: i64,
}

struct ScaleWalk<'a> {
    ir: &'a Ir,
    heir: &'a CiphertextFacts,
    params: &'a SchemeParams,
    default: i64,
    fresh: i64,
    /// The scales of the values of the block.
    known: FxHashMap<Value, i64>,
}

impl ScaleWalk<'_> {
    /// Returns the level in HEIR's annotation of a value.
    fn level(&self, value: Value) -> Option<u32> {
        let used = self.heir.level(self.ir, value)?;
        self.heir.largest_level_around(self.ir, value).checked_sub(used)
    }

    /// Returns the number of bits of the modulus at the level of a value.
    fn modulus_bits(&self, value: Value) -> Option<i64> {
        Some(modulus_bits_at(self.params, self.level(value)? as usize, self.default))
    }

    /// Returns the scale of a value.
    fn scale(&self, value: Value) -> Option<i64> {
        if let Some(&known) = self.known.get(&value) {
            return Some(known);
        }
        let ir = self.ir;
        match ir.value(value).def {
            Def::Result(op, _) if ir.op_name(op) == "mgmt.init" => {
                match annotation::number_on_result(ir, op, "scale") {
                    WrittenNumber::Number(it) => Some(it.into()),
                    WrittenNumber::Absent => Some(self.fresh),
                    WrittenNumber::Unreadable => None,
                }
            }
            Def::Result(..) => None,
            Def::Argument(block, _) => {
                let holder = ir.region(ir.block(block).region).parent?;
                if ir.op(holder).kind == OpKind::FuncFunc {
                    let is_encrypted =
                        matches!(self.heir.ciphertext(value), Ciphertext::Encrypted { .. });
                    return is_encrypted.then_some(self.fresh);
                }
                let from = annotation::forwarded_operand(ir, block, value)?;
                let is_generic = ir.is_secret_generic(holder);
                is_generic.then(|| self.scale(from))?
            }
        }
    }

    /// Returns the adjustment that HEIR makes at an op, if it makes one.
    fn adjustment(&self, op: Op) -> Option<ScaleAdjustment> {
        let &result = self.ir.op(op).results.first()?;
        match (self.ir.op_name(op), scaled_operands(self.ir, self.heir, op).as_slice()) {
            ("mgmt.modreduce", &[value]) => {
                let bits = self.modulus_bits(value)?;
                let is_low = self.scale(value)? - bits < self.default;
                let to = self.default + bits;
                is_low.then_some(ScaleAdjustment { value, to, result: self.default })
            }
            ("arith.mulf", &[left, right]) => {
                let (a, b) = (self.scale(left)?, self.scale(right)?);
                let target = self.default + self.modulus_bits(result)?;
                if a + b >= target {
                    return None;
                }
                if left == right {
                    let to = (target + 1) / 2;
                    return Some(ScaleAdjustment { value: left, to, result: 2 * to });
                }
                let (value, to) = if a < b { (left, target - b) } else { (right, target - a) };
                Some(ScaleAdjustment { value, to, result: target })
            }
            _ => None,
        }
    }

    /// Records the scale of the result of an op.
    ///
    /// # Errors
    /// The scales of its operands, if HEIR refuses these.
    fn follow(&mut self, op: Op) -> Result<(), Vec<(Value, i64)>> {
        let ir = self.ir;
        let &[result] = ir.op(op).results.as_slice() else { return Ok(()) };
        let values = scaled_operands(self.ir, self.heir, op);
        let scales: Option<Vec<(Value, i64)>> =
            values.iter().map(|&it| Some((it, self.scale(it)?))).collect();
        let Some(scales) = scales else { return Ok(()) };
        let Some(&(value, first)) = scales.first() else { return Ok(()) };
        let scale = match ir.op_name(op) {
            name if is_sum(name) => {
                if scales.iter().any(|it| it.1 != first) {
                    return Err(scales);
                }
                Some(first)
            }
            "arith.mulf" | "arith.muli" => Some(first + scales.get(1).map_or(first, |it| it.1)),
            "mgmt.modreduce" => {
                // The canonicalizer turns the first of two modulus switches into a drop of a level.
                let before = ir.defining_op(value).filter(|_| ir.value(value).uses.len() == 1);
                if before.is_some_and(|it| ir.op_name(it) == "mgmt.modreduce") {
                    return Err(scales);
                }
                self.modulus_bits(value).map(|it| first - it)
            }
            "mgmt.relinearize" | "mgmt.level_reduce" | "tensor_ext.rotate" | "arith.negf" => {
                Some(first)
            }
            "mgmt.bootstrap" => Some(self.fresh),
            _ => None,
        };
        if let Some(scale) = scale {
            self.known.insert(result, scale);
        }
        Ok(())
    }
}
