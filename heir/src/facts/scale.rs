//! The dataflow analysis of scales. In CKKS they are logarithms to base 2, as written in the text
//! and as `--populate-scale-ckks` will change them. In BGV they are residues modulo the plaintext
//! modulus, unless `OpenFHE` manages them itself.
//!
//! *Facts.* A fresh ciphertext, and the result of a bootstrap, has the default scale of the
//! parameters. A product has the sum of the scales of its operands, a modulus switch subtracts the
//! rounded logarithm of the modulus of its level, `mgmt.init` and `mgmt.adjust_scale` have the
//! scale in their `mgmt.mgmt`. A sum has the largest scale of its operands, the result of any other
//! op the scale of the first operand. *Source.* HEIR, `lib/Analysis/ScaleAnalysis`.
//!
//! In BGV a fresh ciphertext and a plaintext of `mgmt.init` have scale 1. A product has the product
//! of the scales, and a modulus switch divides by the modulus of its level. The scale of
//! `mgmt.adjust_scale` depends on the uses, and is unknown here.
//!
//! *Populated scales.* HEIR computes all scales once, and assumes that each product reaches its
//! target scale. Then it raises operands: the smaller factor of a product below its target, the
//! operand of a modulus switch whose result is below the default, the smaller operands of a sum. It
//! ignores that raising the operand of a modulus switch changes later scales. *Source.* HEIR,
//! `lib/Transforms/PopulateScale/PopulateScaleCKKS.cpp`.

use std::fmt;
use std::sync::Arc;

use noisy_syntax::{Op, OpKind, Value};
use num_integer::Integer;

use crate::facts::ciphertext;
use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::estimate::{Estimate, Measure};
use crate::facts::lower_layers::LowerLayers;
use crate::ops::rules;
use crate::options::HeirOptions;
use crate::text::annotation::{self, WrittenNumber};
use crate::text::params::SchemeParams;
use crate::text::setting::{DocumentSettings, ModuleSetting, Scheme};
use noisy_dataflow::sparse::{AnalysisContext, LoopPolicy, SparseForward, SparseSolver};
use noisy_dataflow::view::ProgramView;

/// The fact about the scale of a value; a plaintext that is not encoded has none.
pub(crate) type Scale = Estimate<ScaleNumber>;

/// The scale of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScaleNumber {
    /// In CKKS, logarithms to base 2.
    Log2(ScaleVariants),
    /// In BGV, a residue modulo the plaintext modulus.
    Residue(u64),
}

/// The logarithms to base 2 of the scales of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScaleVariants {
    /// The scale that follows from the text.
    pub written: i64,
    /// The scale by which HEIR decides which operands it raises.
    pub assumed: i64,
    /// The scale after HEIR has raised operands.
    pub populated: i64,
}

impl ScaleVariants {
    const fn equal(bits: i64) -> Self {
        Self { written: bits, assumed: bits, populated: bits }
    }

    fn combine(self, other: Self, f: impl Fn(i64, i64) -> i64) -> Self {
        Self {
            written: f(self.written, other.written),
            assumed: f(self.assumed, other.assumed),
            populated: f(self.populated, other.populated),
        }
    }

    /// Returns the scales of a product of different values; HEIR raises a factor if the product is
    /// below `target`.
    fn product(self, other: Self, target: i64) -> Self {
        let sum = self.combine(other, i64::saturating_add);
        if sum.assumed >= target {
            return sum;
        }
        let (small, large) =
            if self.assumed < other.assumed { (self, other) } else { (other, self) };
        let raised = target - large.assumed;
        debug_assert!(raised > small.assumed);
        Self { assumed: target, populated: large.populated.saturating_add(raised), ..sum }
    }

    /// Returns the scales of a square; see [`ScaleVariants::product`].
    fn square(self, target: i64) -> Self {
        let sum = self.combine(self, i64::saturating_add);
        if sum.assumed >= target {
            return sum;
        }
        let raised = 2 * ((target + 1) / 2);
        Self { assumed: raised, populated: raised, ..sum }
    }

    /// Returns the scales after a modulus switch by a modulus with this number of bits.
    fn switched(self, modulus: i64, default: i64) -> Self {
        let all = self.combine(Self::equal(modulus), i64::saturating_sub);
        if all.assumed < default { Self { populated: default, ..all } } else { all }
    }

    /// Returns the populated scale of an operand of a sum whose largest assumed scale is `most`.
    pub(crate) fn populated_summand(self, most: i64) -> i64 {
        if self.assumed < most { most } else { self.populated }
    }
}

impl Estimate<ScaleNumber> {
    fn log2(bits: ScaleVariants) -> Self {
        Self::Known(ScaleNumber::Log2(bits))
    }

    /// A scale that is the same by the text, as HEIR assumes it, and when populated.
    fn all_log2(bits: impl Into<i64>) -> Self {
        Self::log2(ScaleVariants::equal(bits.into()))
    }

    fn residue(residue: impl Into<u64>) -> Self {
        Self::Known(ScaleNumber::Residue(residue.into()))
    }

    fn as_log2(self) -> Option<ScaleVariants> {
        match self {
            Self::Known(ScaleNumber::Log2(bits)) => Some(bits),
            _ => None,
        }
    }

    fn as_residue(self) -> Option<u64> {
        match self {
            Self::Known(ScaleNumber::Residue(it)) => Some(it),
            _ => None,
        }
    }
}

impl Measure for ScaleNumber {
    fn join(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Log2(a), Self::Log2(b)) => Some(Self::Log2(a.combine(b, i64::max))),
            _ => (self == other).then_some(self),
        }
    }
}

impl fmt::Display for ScaleNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log2(bits) => bits.written.fmt(f),
            Self::Residue(it) => it.fmt(f),
        }
    }
}

/// The scale facts of a program.
#[derive(Clone, Copy, Debug)]
pub struct ScaleFacts<'a>(pub &'a SparseSolver<ScaleAnalysis>);

impl ScaleFacts<'_> {
    /// Returns the logarithm to base 2 of the scale of a value that follows from the text; `None`
    /// if it has none or it is unknown.
    pub fn log2(&self, value: Value) -> Option<i64> {
        self.variants(value).map(|it| it.written)
    }

    /// Returns all scales of a value in CKKS.
    pub(crate) fn variants(self, value: Value) -> Option<ScaleVariants> {
        self.0.fact(value)?.as_log2()
    }

    /// Returns the scale of a value in BGV.
    pub(crate) fn residue(self, value: Value) -> Option<u64> {
        self.0.fact(value)?.as_residue()
    }
}

/// The dataflow analysis of scales.
#[derive(Debug)]
pub struct ScaleAnalysis {
    settings: Arc<DocumentSettings>,
    /// The logarithm of the scale of a fresh or bootstrapped ciphertext, as a multiple of the
    /// default.
    fresh_factor: i64,
}

impl ScaleAnalysis {
    /// Creates the analysis of a program; `None` if no module has parameters of CKKS with a default
    /// scale, or parameters of BGV.
    pub fn new(heir: &CiphertextFacts, options: HeirOptions) -> Option<Self> {
        let fresh = if options.before_mul_include_first_mul { 2 } else { 1 };
        let is_scaled = |it: &ModuleSetting| ckks_params(it).is_some() || bgv_params(it).is_some();
        let settings = heir.settings();
        settings
            .all()
            .any(is_scaled)
            .then(|| Self { settings: settings.clone(), fresh_factor: fresh })
    }
}

/// Returns the CKKS parameters of a module, and the default scale.
pub(crate) fn ckks_params(setting: &ModuleSetting) -> Option<(&SchemeParams, i64)> {
    let (scheme, params) = annotation::scheme_and_params(setting)?;
    Some((params, (scheme == Scheme::Ckks).then_some(params.log_default_scale?)?.into()))
}

/// Returns the BGV parameters of a module, and the plaintext modulus, if HEIR manages scales.
pub(crate) fn bgv_params(setting: &ModuleSetting) -> Option<(&SchemeParams, u64)> {
    let (scheme, params) = annotation::scheme_and_params(setting)?;
    // As in HEIR, the product of two residues must fit in 64 bits.
    let t = params.plaintext_modulus.filter(|it| (2..1 << 31).contains(it))?;
    (scheme == Scheme::Bgv && !setting.is_openfhe()).then_some((params, t))
}

/// Returns the inverse of a number modulo another one; `None` if there is none.
pub(crate) fn modular_inverse(number: u64, modulus: u64) -> Option<i128> {
    let modulus = i128::from(modulus);
    let found = i128::from(number).checked_rem(modulus)?.extended_gcd(&modulus);
    (found.gcd == 1).then(|| found.x.rem_euclid(modulus))
}

/// Returns the scale after a modulus switch; `None` if the modulus has no inverse modulo the
/// plaintext modulus.
pub(crate) fn switched_residue(scale: u64, modulus: u64, plaintext_modulus: u64) -> Option<u64> {
    let product = i128::from(scale) * modular_inverse(modulus, plaintext_modulus)?;
    u64::try_from(product % i128::from(plaintext_modulus)).ok()
}

/// Returns the written scale, or `otherwise` if there is none; an unreadable scale is unknown.
fn written_scale(said: WrittenNumber, scale: fn(u32) -> Scale, otherwise: Scale) -> Scale {
    match said {
        WrittenNumber::Number(it) => scale(it),
        WrittenNumber::Absent => otherwise,
        WrittenNumber::Unreadable => Scale::Unknown,
    }
}

/// Computes the scale of a result in BGV.
fn transfer_residue(
    ir: &AnalysisContext<'_, LowerLayers>,
    op: Op,
    operands: &[Scale],
    (params, t): (&SchemeParams, u64),
) -> Scale {
    let name = ir.op_name(op);
    let annotated = |otherwise| {
        written_scale(annotation::number_on_result(ir, op, "scale"), Scale::residue, otherwise)
    };
    match name {
        "mgmt.init" => return annotated(Scale::residue(1_u64)),
        "mgmt.adjust_scale" => return annotated(Scale::Unknown),
        "secret.conceal" => return Scale::residue(1_u64),
        _ if rules::is_decryption(name) => return Scale::Plain,
        _ if ir.op(op).kind == OpKind::FuncCall || is_without_rule(name) => return Scale::Unknown,
        _ => {}
    }
    let operands: Vec<Scale> = rules::facts_of_operands(ir, op, operands);
    if let Some(it) = Scale::bottom_or_unknown(&operands) {
        return it;
    }
    let mut scales = operands.iter().filter_map(|it| it.as_residue());
    let Some(first) = scales.next() else { return Scale::Plain };
    match name {
        "arith.muli" | "arith.mulf" => {
            let product = u128::from(first) * u128::from(scales.next().unwrap_or(first));
            u64::try_from(product % u128::from(t)).map_or(Scale::Unknown, Scale::residue)
        }
        "mgmt.modreduce" => {
            let from = ir.op(op).operands.first().and_then(|it| it.value);
            let level = from.and_then(|it| ir.base_facts(it).remaining_levels);
            let modulus = level.and_then(|it| params.q.get(it));
            let scale = modulus.and_then(|&it| switched_residue(first, it, t));
            scale.map_or(Scale::Unknown, Scale::residue)
        }
        _ if rules::is_contraction(name) => Scale::Unknown,
        // HEIR uses the scale of the first operand.
        _ => Scale::residue(first),
    }
}

impl SparseForward for ScaleAnalysis {
    type Fact = Scale;
    type Base = LowerLayers;

    const LOOPS: LoopPolicy = LoopPolicy::Replayed;

    fn entry_argument_fact(
        &mut self,
        ir: &AnalysisContext<'_, LowerLayers>,
        op: Op,
        index: usize,
        value: Value,
        _: &[Scale],
    ) -> Scale {
        let setting = self.settings.of(op);
        let known = ir.base_facts(value);
        if setting.and_then(bgv_params).is_some() {
            let fresh = || {
                let said = annotation::number_on_argument(ir, op, index, "scale");
                (!known.is_lowered).then_some(written_scale(
                    said,
                    Scale::residue,
                    Scale::residue(1_u64),
                ))
            };
            return ciphertext::entry_fact(ir, op, known.ciphertext, Scale::Plain, fresh);
        }
        let Some((_, default)) = setting.and_then(ckks_params) else {
            return Scale::Unknown;
        };
        let fresh = || {
            // The scale is in the type after lowering.
            if known.is_lowered {
                return None;
            }
            let said = annotation::number_on_argument(ir, op, index, "scale");
            Some(written_scale(said, Scale::all_log2, Scale::all_log2(default * self.fresh_factor)))
        };
        ciphertext::entry_fact(ir, op, known.ciphertext, Scale::Plain, fresh)
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, LowerLayers>,
        op: Op,
        _: usize,
        operands: &[Scale],
    ) -> Scale {
        let name = ir.op_name(op);
        let setting = self.settings.of(op);
        if let Some(it) = setting.and_then(bgv_params) {
            return transfer_residue(ir, op, operands, it);
        }
        let Some((params, default)) = setting.and_then(ckks_params) else {
            return Scale::Unknown;
        };
        let annotated = |otherwise| {
            written_scale(annotation::number_on_result(ir, op, "scale"), Scale::all_log2, otherwise)
        };
        match name {
            "mgmt.init" => return annotated(Scale::all_log2(default)),
            "mgmt.adjust_scale" => return annotated(Scale::Unknown),
            "mgmt.bootstrap" | "secret.conceal" => {
                return Scale::all_log2(default * self.fresh_factor);
            }
            _ => {}
        }
        if rules::is_decryption(name) {
            return Scale::Plain;
        }
        if ir.op(op).kind == OpKind::FuncCall || is_without_rule(name) {
            return Scale::Unknown;
        }
        let operands: Vec<Scale> = rules::facts_of_operands(ir, op, operands);
        if let Some(it) = Scale::bottom_or_unknown(&operands) {
            return it;
        }
        let mut scales = operands.iter().filter_map(|it| it.as_log2());
        let Some(first) = scales.next() else { return Scale::Plain };
        match name {
            // A plaintext that is not encoded yet will get the scale of the other factor.
            "arith.mulf" | "arith.muli" => {
                let other = scales.next();
                let sum = || first.combine(other.unwrap_or(first), i64::saturating_add);
                let result =
                    ir.op(op).results.first().and_then(|&it| ir.base_facts(it).remaining_levels);
                let (true, Some(level)) = (name == "arith.mulf", result) else {
                    return Scale::log2(sum());
                };
                let target = default + modulus_bits_at(params, level, default);
                let factors = &ir.op(op).operands;
                let is_square = factors.len() == 2 && factors[0].value == factors[1].value;
                Scale::log2(match other {
                    Some(other) if !is_square => first.product(other, target),
                    _ if is_square => first.square(target),
                    _ => sum(),
                })
            }
            "arith.addf"
            | "arith.addi"
            | "arith.subf"
            | "arith.subi"
            | "tensor.insert"
            | "tensor.insert_slice" => {
                let all: Vec<ScaleVariants> = std::iter::once(first).chain(scales).collect();
                let most = all.iter().map(|it| it.assumed).max().unwrap_or(first.assumed);
                let populated = all.iter().map(|it| it.populated_summand(most)).max();
                let highest = all.iter().fold(first, |sum, &it| sum.combine(it, i64::max));
                Scale::log2(ScaleVariants { populated: populated.unwrap_or(most), ..highest })
            }
            "mgmt.modreduce" => {
                let from = ir.op(op).operands.first().and_then(|it| it.value);
                let Some(level) = from.and_then(|it| ir.base_facts(it).remaining_levels) else {
                    return Scale::Unknown;
                };
                Scale::log2(first.switched(modulus_bits_at(params, level, default), default))
            }
            _ if rules::is_contraction(name) && scales.next().is_some() => Scale::Unknown,
            _ => Scale::log2(first),
        }
    }

    fn unbounded(&self, fact: &Scale) -> Option<Scale> {
        match fact {
            // Larger than any modulus.
            Scale::Known(ScaleNumber::Log2(bits)) => {
                let most = bits.written.max(bits.assumed).max(bits.populated);
                (most > 1 << 16).then_some(Scale::Unknown)
            }
            Scale::Unknown => Some(Scale::Unknown),
            _ => None,
        }
    }
}

/// Returns true if the effect of an op on scales is unknown: ops of schemes and libraries, which
/// have scales in their types or manage them themselves, and evaluations of polynomials.
fn is_without_rule(name: &str) -> bool {
    let dialect = name.split_once('.').map_or("", |it| it.0);
    matches!(dialect, "bgv" | "ckks" | "lwe" | "openfhe" | "lattigo" | "kernel" | "orion")
}

/// Returns the number of bits of the modulus of a level.
pub(crate) fn modulus_bits_at(params: &SchemeParams, level: usize, default: i64) -> i64 {
    params.q.get(level).map_or(default, |&q| modulus_bits(q))
}

/// Returns the logarithm to base 2 of a modulus, rounded.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a logarithm that is rounded to an integer"
)]
pub(crate) fn modulus_bits(q: u64) -> i64 {
    (q as f64).log2().round() as i64
}

#[cfg(test)]
mod tests {
    use super::switched_residue;

    #[test]
    fn a_scale_is_divided_by_the_modulus() {
        for (modulus, plaintext_modulus) in
            [(17_179_967_489, 65_537), (67_239_937, 65_537), (7, 11)]
        {
            for scale in [0, 1, 5, plaintext_modulus - 1] {
                let quotient =
                    switched_residue(scale, modulus, plaintext_modulus).expect("an inverse");
                let product = u128::from(quotient) * u128::from(modulus);
                assert_eq!(product % u128::from(plaintext_modulus), u128::from(scale));
            }
        }
        assert_eq!(switched_residue(1, 22, 11), None);
        assert_eq!(switched_residue(1, 6, 4), None);
    }
}
