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
use crate::facts::estimate::{Estimate, Measure};
use crate::facts::known::Heir;
use crate::facts::layers::Solved;
use crate::ops::rules;
use crate::options::Options;
use crate::text::annotation::{self, Said};
use crate::text::params::SchemeParams;
use crate::text::setting::{Scheme, Setting, Settings};
use noisy_dataflow::sparse::{AnalysisContext, Loops, Sparse, SparseForward};
use noisy_dataflow::view::View;

/// The fact about the scale of a value; a plaintext that is not encoded has none.
pub(crate) type Scale = Estimate<ScaleNumber>;

/// The scale of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScaleNumber {
    /// In CKKS, logarithms to base 2.
    Log2(Bits),
    /// In BGV, a residue modulo the plaintext modulus.
    Residue(u64),
}

/// The logarithms to base 2 of the scales of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    /// The scale that follows from the text.
    pub written: i64,
    /// The scale by which HEIR decides which operands it raises.
    pub assumed: i64,
    /// The scale after HEIR has raised operands.
    pub populated: i64,
}

impl Bits {
    const fn all(bits: i64) -> Self {
        Self { written: bits, assumed: bits, populated: bits }
    }

    fn map(self, other: Self, f: impl Fn(i64, i64) -> i64) -> Self {
        Self {
            written: f(self.written, other.written),
            assumed: f(self.assumed, other.assumed),
            populated: f(self.populated, other.populated),
        }
    }

    /// Returns the scales of a product of different values; HEIR raises a factor if the product is
    /// below `target`.
    fn product(self, other: Self, target: i64) -> Self {
        let sum = self.map(other, i64::saturating_add);
        if sum.assumed >= target {
            return sum;
        }
        let (small, large) =
            if self.assumed < other.assumed { (self, other) } else { (other, self) };
        let raised = target - large.assumed;
        debug_assert!(raised > small.assumed);
        Self { assumed: target, populated: large.populated.saturating_add(raised), ..sum }
    }

    /// Returns the scales of a square; see [`Bits::product`].
    fn square(self, target: i64) -> Self {
        let sum = self.map(self, i64::saturating_add);
        if sum.assumed >= target {
            return sum;
        }
        let raised = 2 * ((target + 1) / 2);
        Self { assumed: raised, populated: raised, ..sum }
    }

    /// Returns the scales after a modulus switch by a modulus with this number of bits.
    fn switched(self, modulus: i64, default: i64) -> Self {
        let all = self.map(Self::all(modulus), i64::saturating_sub);
        if all.assumed < default { Self { populated: default, ..all } } else { all }
    }

    /// Returns the populated scale of an operand of a sum whose largest assumed scale is `most`.
    pub(crate) fn summand(self, most: i64) -> i64 {
        if self.assumed < most { most } else { self.populated }
    }
}

impl Estimate<ScaleNumber> {
    fn log2(bits: Bits) -> Self {
        Self::Is(ScaleNumber::Log2(bits))
    }

    /// A scale that is the same by the text, as HEIR assumes it, and when populated.
    fn all_log2(bits: impl Into<i64>) -> Self {
        Self::log2(Bits::all(bits.into()))
    }

    fn residue(residue: impl Into<u64>) -> Self {
        Self::Is(ScaleNumber::Residue(residue.into()))
    }

    fn as_log2(self) -> Option<Bits> {
        match self {
            Self::Is(ScaleNumber::Log2(bits)) => Some(bits),
            _ => None,
        }
    }

    fn as_residue(self) -> Option<u64> {
        match self {
            Self::Is(ScaleNumber::Residue(it)) => Some(it),
            _ => None,
        }
    }
}

impl Measure for ScaleNumber {
    fn join(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Log2(a), Self::Log2(b)) => Some(Self::Log2(a.map(b, i64::max))),
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
pub struct Scales<'a>(pub &'a Sparse<ScaleBits>);

impl Scales<'_> {
    /// Returns the logarithm to base 2 of the scale of a value that follows from the text; `None`
    /// if it has none or it is unknown.
    pub fn log2(&self, value: Value) -> Option<i64> {
        self.bits(value).map(|it| it.written)
    }

    /// Returns all scales of a value in CKKS.
    pub(crate) fn bits(self, value: Value) -> Option<Bits> {
        self.0.fact(value)?.as_log2()
    }

    /// Returns the scale of a value in BGV.
    pub(crate) fn residue(self, value: Value) -> Option<u64> {
        self.0.fact(value)?.as_residue()
    }
}

/// The dataflow analysis of scales.
#[derive(Debug)]
pub struct ScaleBits {
    settings: Arc<Settings>,
    /// The logarithm of the scale of a fresh or bootstrapped ciphertext, as a multiple of the
    /// default.
    fresh: i64,
}

impl ScaleBits {
    /// Creates the analysis of a program; `None` if no module has parameters of CKKS with a default
    /// scale, or parameters of BGV.
    pub fn new(heir: &Heir, options: Options) -> Option<Self> {
        let fresh = if options.before_mul_include_first_mul { 2 } else { 1 };
        let is_scaled = |it: &Setting| params(it).is_some() || residues(it).is_some();
        let settings = heir.settings();
        settings.all().any(is_scaled).then(|| Self { settings: settings.clone(), fresh })
    }
}

/// Returns the CKKS parameters of a module, and the default scale.
pub(crate) fn params(setting: &Setting) -> Option<(&SchemeParams, i64)> {
    let (scheme, params) = annotation::params(setting)?;
    Some((params, (scheme == Scheme::Ckks).then_some(params.log_default_scale?)?.into()))
}

/// Returns the BGV parameters of a module, and the plaintext modulus, if HEIR manages scales.
pub(crate) fn residues(setting: &Setting) -> Option<(&SchemeParams, u64)> {
    let (scheme, params) = annotation::params(setting)?;
    // As in HEIR, the product of two residues must fit in 64 bits.
    let t = params.plaintext_modulus.filter(|it| (2..1 << 31).contains(it))?;
    (scheme == Scheme::Bgv && !setting.is_openfhe()).then_some((params, t))
}

/// Returns the inverse of a number modulo another one; `None` if there is none.
pub(crate) fn inverse(number: u64, modulus: u64) -> Option<i128> {
    let modulus = i128::from(modulus);
    let found = i128::from(number).checked_rem(modulus)?.extended_gcd(&modulus);
    (found.gcd == 1).then(|| found.x.rem_euclid(modulus))
}

/// Returns the scale after a modulus switch; `None` if the modulus has no inverse modulo the
/// plaintext modulus.
pub(crate) fn divided(scale: u64, modulus: u64, plaintext_modulus: u64) -> Option<u64> {
    let product = i128::from(scale) * inverse(modulus, plaintext_modulus)?;
    u64::try_from(product % i128::from(plaintext_modulus)).ok()
}

/// Returns the written scale, or `otherwise` if there is none; an unreadable scale is unknown.
fn written(said: Said, scale: fn(u32) -> Scale, otherwise: Scale) -> Scale {
    match said {
        Said::Number(it) => scale(it),
        Said::Nothing => otherwise,
        Said::Unreadable => Scale::Unknown,
    }
}

/// Computes the scale of a result in BGV.
fn transfer_residue(
    ir: &AnalysisContext<'_, Solved>,
    op: Op,
    operands: &[Scale],
    (params, t): (&SchemeParams, u64),
) -> Scale {
    let name = ir.op_name(op);
    let annotated =
        |otherwise| written(annotation::on_result(ir, op, "scale"), Scale::residue, otherwise);
    match name {
        "mgmt.init" => return annotated(Scale::residue(1_u64)),
        "mgmt.adjust_scale" => return annotated(Scale::Unknown),
        "secret.conceal" => return Scale::residue(1_u64),
        _ if rules::decrypts(name) => return Scale::Plain,
        _ if ir.op(op).kind == OpKind::FuncCall || is_without_rule(name) => return Scale::Unknown,
        _ => {}
    }
    let operands: Vec<Scale> = rules::known_operands(ir, op, operands);
    if let Some(it) = Scale::undetermined(&operands) {
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
            let level = from.and_then(|it| ir.known(it).left);
            let modulus = level.and_then(|it| params.q.get(it));
            let scale = modulus.and_then(|&it| divided(first, it, t));
            scale.map_or(Scale::Unknown, Scale::residue)
        }
        _ if rules::contracts(name) => Scale::Unknown,
        // HEIR uses the scale of the first operand.
        _ => Scale::residue(first),
    }
}

impl SparseForward for ScaleBits {
    type Fact = Scale;
    type Base = Solved;

    const LOOPS: Loops = Loops::Replayed;

    fn entry(
        &mut self,
        ir: &AnalysisContext<'_, Solved>,
        op: Op,
        index: usize,
        value: Value,
        _: &[Scale],
    ) -> Scale {
        let setting = self.settings.of(op);
        let known = ir.known(value);
        if setting.and_then(residues).is_some() {
            let fresh = || {
                let said = annotation::on_argument(ir, op, index, "scale");
                (!known.is_lowered).then_some(written(said, Scale::residue, Scale::residue(1_u64)))
            };
            return ciphertext::entry(ir, op, known.ciphertext, Scale::Plain, fresh);
        }
        let Some((_, default)) = setting.and_then(params) else {
            return Scale::Unknown;
        };
        let fresh = || {
            // The scale is in the type after lowering.
            if known.is_lowered {
                return None;
            }
            let said = annotation::on_argument(ir, op, index, "scale");
            Some(written(said, Scale::all_log2, Scale::all_log2(default * self.fresh)))
        };
        ciphertext::entry(ir, op, known.ciphertext, Scale::Plain, fresh)
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Solved>,
        op: Op,
        _: usize,
        operands: &[Scale],
    ) -> Scale {
        let name = ir.op_name(op);
        let setting = self.settings.of(op);
        if let Some(it) = setting.and_then(residues) {
            return transfer_residue(ir, op, operands, it);
        }
        let Some((params, default)) = setting.and_then(params) else {
            return Scale::Unknown;
        };
        let annotated =
            |otherwise| written(annotation::on_result(ir, op, "scale"), Scale::all_log2, otherwise);
        match name {
            "mgmt.init" => return annotated(Scale::all_log2(default)),
            "mgmt.adjust_scale" => return annotated(Scale::Unknown),
            "mgmt.bootstrap" | "secret.conceal" => return Scale::all_log2(default * self.fresh),
            _ => {}
        }
        if rules::decrypts(name) {
            return Scale::Plain;
        }
        if ir.op(op).kind == OpKind::FuncCall || is_without_rule(name) {
            return Scale::Unknown;
        }
        let operands: Vec<Scale> = rules::known_operands(ir, op, operands);
        if let Some(it) = Scale::undetermined(&operands) {
            return it;
        }
        let mut scales = operands.iter().filter_map(|it| it.as_log2());
        let Some(first) = scales.next() else { return Scale::Plain };
        match name {
            // A plaintext that is not encoded yet will get the scale of the other factor.
            "arith.mulf" | "arith.muli" => {
                let other = scales.next();
                let sum = || first.map(other.unwrap_or(first), i64::saturating_add);
                let result = ir.op(op).results.first().and_then(|&it| ir.known(it).left);
                let (true, Some(level)) = (name == "arith.mulf", result) else {
                    return Scale::log2(sum());
                };
                let target = default + modulus_at(params, level, default);
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
                let all: Vec<Bits> = std::iter::once(first).chain(scales).collect();
                let most = all.iter().map(|it| it.assumed).max().unwrap_or(first.assumed);
                let populated = all.iter().map(|it| it.summand(most)).max();
                let highest = all.iter().fold(first, |sum, &it| sum.map(it, i64::max));
                Scale::log2(Bits { populated: populated.unwrap_or(most), ..highest })
            }
            "mgmt.modreduce" => {
                let from = ir.op(op).operands.first().and_then(|it| it.value);
                let Some(level) = from.and_then(|it| ir.known(it).left) else {
                    return Scale::Unknown;
                };
                Scale::log2(first.switched(modulus_at(params, level, default), default))
            }
            _ if rules::contracts(name) && scales.next().is_some() => Scale::Unknown,
            _ => Scale::log2(first),
        }
    }

    fn unbounded(&self, fact: &Scale) -> Option<Scale> {
        match fact {
            // Larger than any modulus.
            Scale::Is(ScaleNumber::Log2(bits)) => {
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
pub(crate) fn modulus_at(params: &SchemeParams, level: usize, default: i64) -> i64 {
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
    use super::divided;

    #[test]
    fn a_scale_is_divided_by_the_modulus() {
        for (modulus, plaintext_modulus) in
            [(17_179_967_489, 65_537), (67_239_937, 65_537), (7, 11)]
        {
            for scale in [0, 1, 5, plaintext_modulus - 1] {
                let quotient = divided(scale, modulus, plaintext_modulus).expect("an inverse");
                let product = u128::from(quotient) * u128::from(modulus);
                assert_eq!(product % u128::from(plaintext_modulus), u128::from(scale));
            }
        }
        assert_eq!(divided(1, 22, 11), None);
        assert_eq!(divided(1, 6, 4), None);
    }
}
