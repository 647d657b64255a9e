//! Options for HEIR programs that are not in their text, and the names of HEIR's noise models
//! (`facts/noise/formulas.rs` implements the models).

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::real_range::RealRange;

/// Options of HEIR that the text of a program does not contain.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema,
)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct HeirOptions {
    /// Levels that a ciphertext may use between bootstraps, at least 1, like HEIR's `level-budget`.
    /// If it is set, `--fix` places bootstraps; otherwise the moduli determine the number of
    /// levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level_budget: Option<NonZeroU32>,
    /// Levels that a ciphertext must have left when it is bootstrapped, like HEIR's
    /// `bootstrap-waterline`: fixes do not use the last ones of `level-budget`.
    pub bootstrap_waterline: u32,
    /// The noise model for BGV and BFV programs with parameters, as HEIR spells it:
    /// `bgv-noise-kpz21`. If it is not set, `bgv-noise-kpz21` or `bfv-noise-kpz21` applies, and
    /// overflows are warnings instead of errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_model: Option<NoiseModelName>,
    /// True if you run HEIR with `before-mul-include-first-mul`: fresh and bootstrapped CKKS
    /// ciphertexts then have twice the default scale, if none is written.
    pub before_mul_include_first_mul: bool,
    /// The range of the numbers in encrypted arguments of CKKS programs: `[lower, upper]`, or as
    /// HEIR's `input-range` a number D for `[-D, D]`. With it, or with `noisy.range` on an
    /// argument, the ranges of all values are inferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_range: Option<RealRange>,
    /// The time of each operation, for the cost that an editor shows above functions.
    pub latency: OperationLatency,
}

/// Microseconds that operations of a scheme take. The defaults are measurements of the ACE
/// compiler's library in CKKS with ring dimension 65,536 at level 10 on one core, rounded
/// (`ckks_cost_model.cxx` in that project); a product with a plaintext is assumed to take half as
/// long as one of ciphertexts. They are good for comparing programs; for the time on your machine,
/// measure the operations there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct OperationLatency {
    /// A sum, a difference or a negation.
    pub add: u32,
    /// A product of two ciphertexts, before it is relinearized.
    pub multiply: u32,
    /// A product with a plaintext, and an adjustment of scale.
    pub multiply_plain: u32,
    /// A relinearization.
    pub relinearize: u32,
    /// A rotation of slots.
    pub rotate: u32,
    /// A switch to a smaller modulus, in CKKS a rescale.
    pub switch_modulus: u32,
    /// A bootstrap.
    pub bootstrap: u32,
}

impl Default for OperationLatency {
    fn default() -> Self {
        Self {
            add: 1_700,
            multiply: 9_300,
            multiply_plain: 4_600,
            relinearize: 150_000,
            rotate: 150_000,
            switch_modulus: 34_000,
            bootstrap: 35_000_000,
        }
    }
}

/// A noise model of HEIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, schemars::JsonSchema)]
pub enum NoiseModelName {
    /// BGV, bounds of coefficients on average.
    #[serde(rename = "bgv-noise-kpz21")]
    BgvKpz21,
    /// BGV, bounds of coefficients in the worst case.
    #[serde(rename = "bgv-noise-by-bound-coeff-worst-case")]
    BgvWorstCase,
    /// BGV, variances of coefficients.
    #[serde(rename = "bgv-noise-mp24")]
    BgvMp24,
    /// BGV, canonical embedding.
    #[serde(rename = "bgv-noise-mono")]
    BgvMono,
    /// BFV, bounds of coefficients on average.
    #[serde(rename = "bfv-noise-kpz21")]
    BfvKpz21,
    /// BFV, bounds of coefficients in the worst case.
    #[serde(rename = "bfv-noise-by-bound-coeff-worst-case")]
    BfvWorstCase,
    /// BFV, variances of coefficients with the degree in the key.
    #[serde(rename = "bfv-noise-bmcm23")]
    BfvBmcm23,
    /// BFV, canonical embedding.
    #[serde(rename = "bfv-noise-canon-emb")]
    BfvCanonEmb,
}

impl NoiseModelName {
    /// The models of BGV.
    pub const BGV: [NoiseModelName; 4] = [
        NoiseModelName::BgvKpz21,
        NoiseModelName::BgvWorstCase,
        NoiseModelName::BgvMp24,
        NoiseModelName::BgvMono,
    ];
    /// The models of BFV.
    pub const BFV: [NoiseModelName; 4] = [
        NoiseModelName::BfvKpz21,
        NoiseModelName::BfvWorstCase,
        NoiseModelName::BfvBmcm23,
        NoiseModelName::BfvCanonEmb,
    ];

    /// Its name, as HEIR spells it.
    pub fn name(self) -> &'static str {
        match self {
            NoiseModelName::BgvKpz21 => "bgv-noise-kpz21",
            NoiseModelName::BgvWorstCase => "bgv-noise-by-bound-coeff-worst-case",
            NoiseModelName::BgvMp24 => "bgv-noise-mp24",
            NoiseModelName::BgvMono => "bgv-noise-mono",
            NoiseModelName::BfvKpz21 => "bfv-noise-kpz21",
            NoiseModelName::BfvWorstCase => "bfv-noise-by-bound-coeff-worst-case",
            NoiseModelName::BfvBmcm23 => "bfv-noise-bmcm23",
            NoiseModelName::BfvCanonEmb => "bfv-noise-canon-emb",
        }
    }

    /// Returns true for a model of BFV.
    pub fn is_bfv(self) -> bool {
        NoiseModelName::BFV.contains(&self)
    }
}
