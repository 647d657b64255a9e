//! The noise models of HEIR, four for BGV and four for BFV, as functions on the noise of
//! ciphertexts.
//!
//! *Notation.* `N` the ring dimension, `t` the plaintext modulus, `q_0..q_L` the ciphertext moduli,
//! `L` the level (the highest for BFV), `P` the special primes, `s` = 3.2 the standard deviation of
//! fresh errors, `B` = 6 s, `delta` the expansion factor of the ring (2 sqrt N on average, N in the
//! worst case), `dm` the same for a ternary secret (4 sqrt N; N), `k` = 1 + 2 N / 3.
//!
//! Models by bounds ([`NoiseModelName::BgvKpz21`] and its worst case) track the largest coefficient
//! of the error. Models by variance ([`NoiseModelName::BgvMp24`], [`NoiseModelName::BfvBmcm23`])
//! track the variance of a coefficient. Models in the canonical embedding
//! ([`NoiseModelName::BgvMono`], [`NoiseModelName::BfvCanonEmb`]) track the norm in that embedding.
//!
//! *Sources.* HEIR, `lib/Analysis/NoiseAnalysis/{BGV,BFV}`; the papers Kim, Polyakov, Zucca
//! (KPZ21), Mono et al., Murphy and Player (MP24), Biasioli et al. (BMCM23). *Law.* Every function
//! is monotone in the noise of its operands. Numbers are logarithms, so nothing overflows.

use crate::facts::noise::log2::Log2;
use crate::options::NoiseModelName;
use crate::text::params::{EncryptionKey, SchemeParams};

/// The standard deviation of fresh errors.
const SIGMA: f64 = 3.2;
/// The bound of a fresh error in standard deviations; it is exceeded with a probability of at most
/// 2^-32.
const TAIL: f64 = 6.0;

/// The noise of a ciphertext under a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelNoise {
    /// The bound, variance or norm.
    pub(crate) value: Log2,
    /// The degree in the secret key, which only [`NoiseModelName::BfvBmcm23`] counts.
    pub(crate) degree: u32,
}

impl ModelNoise {
    /// Returns the larger value and the larger degree.
    #[must_use]
    pub(crate) fn max(self, other: ModelNoise) -> ModelNoise {
        let value = if self.value < other.value { other.value } else { self.value };
        ModelNoise { value, degree: self.degree.max(other.degree) }
    }
}

/// A noise model with the parameters of a scheme.
#[derive(Clone, Debug)]
pub(crate) struct NoiseFormulas {
    model: NoiseModelName,
    params: SchemeParams,
    n: f64,
    t: f64,
    /// The product of all ciphertext moduli.
    modulus: Log2,
    delta: f64,
    delta_m: f64,
}

impl NoiseFormulas {
    /// Creates the model for these parameters; `None` without a plaintext modulus.
    pub(crate) fn new(model: NoiseModelName, params: &SchemeParams) -> Option<Self> {
        let n = params.ring_dimension();
        #[allow(
            clippy::cast_precision_loss,
            reason = "a modulus of 2^53 and more is rounded by less than a bit's hundredth"
        )]
        let t = params.plaintext_modulus? as f64;
        let is_worst = matches!(model, NoiseModelName::BgvWorstCase | NoiseModelName::BfvWorstCase);
        let (delta, delta_m) = if is_worst { (n, n) } else { (2.0 * n.sqrt(), 4.0 * n.sqrt()) };
        let modulus = params.q.iter().fold(Log2::ONE, |all, &q| all * prime(q));
        Some(NoiseFormulas { model, params: params.clone(), n, t, modulus, delta, delta_m })
    }

    fn without_degree(value: Log2) -> ModelNoise {
        ModelNoise { value, degree: 0 }
    }

    /// Returns the noise of a fresh ciphertext at a level.
    pub(crate) fn fresh(&self, level: usize) -> ModelNoise {
        let bound = TAIL * SIGMA;
        let is_public = self.params.has_extended_encryption
            || self.params.encryption == EncryptionKey::PublicKey;
        let ternary = 1.0 + 2.0 * self.n / 3.0;
        let s2 = SIGMA * SIGMA;
        let standard = match self.model {
            NoiseModelName::BgvKpz21
            | NoiseModelName::BgvWorstCase
            | NoiseModelName::BfvKpz21
            | NoiseModelName::BfvWorstCase => {
                Log2::of(bound) * if is_public { 1.0 + 2.0 * self.delta } else { 1.0 }
            }
            NoiseModelName::BgvMp24 => {
                Log2::of(self.t).pow(2.0)
                    * s2
                    * if is_public { 4.0 * self.n / 3.0 + 1.0 } else { 1.0 }
            }
            NoiseModelName::BgvMono => {
                let inner = if is_public {
                    1.0 / 12.0 + 4.0 * self.n * s2 / 3.0 + 2.0 / 3.0
                } else {
                    1.0 / 12.0 + s2
                };
                Log2::of(TAIL * self.t) * Log2::of(self.n * inner).sqrt()
            }
            NoiseModelName::BfvBmcm23 => {
                Log2::of(s2) * if is_public { 4.0 * self.n / 3.0 + 1.0 } else { 1.0 }
            }
            NoiseModelName::BfvCanonEmb => {
                let inner = if is_public { 4.0 * self.n * s2 / 3.0 + 2.0 / 3.0 } else { s2 };
                Log2::of(TAIL) * Log2::of(self.n * inner).sqrt()
            }
        };
        let degree = u32::from(self.model == NoiseModelName::BfvBmcm23 && is_public);
        if !self.params.has_extended_encryption {
            return ModelNoise { value: standard, degree };
        }
        let switched = match self.model {
            NoiseModelName::BfvKpz21 | NoiseModelName::BfvWorstCase => {
                Log2::of(f64::midpoint(1.0, self.delta_m))
            }
            NoiseModelName::BfvBmcm23 => Log2::of(ternary / 12.0),
            NoiseModelName::BfvCanonEmb => {
                standard / self.q(self.params.max_level())
                    + Log2::of(TAIL) * Log2::of(self.n / 12.0 * ternary).sqrt()
            }
            _ => self.modulus_switch(NoiseFormulas::without_degree(standard), level).value,
        };
        ModelNoise { value: switched, degree }
    }

    /// Returns the noise of a plaintext operand.
    pub(crate) fn plaintext(&self) -> ModelNoise {
        NoiseFormulas::without_degree(match self.model {
            NoiseModelName::BgvKpz21
            | NoiseModelName::BgvWorstCase
            | NoiseModelName::BfvKpz21
            | NoiseModelName::BfvWorstCase
            | NoiseModelName::BfvBmcm23 => Log2::ZERO,
            NoiseModelName::BgvMp24 => Log2::of(self.t).pow(2.0) * (1.0 / 12.0),
            NoiseModelName::BgvMono => Log2::of(self.t * self.n / 2.0),
            NoiseModelName::BfvCanonEmb => Log2::of(self.t * (self.n / 12.0).sqrt()),
        })
    }

    /// Returns the noise of a sum or difference.
    pub(crate) fn add(&self, a: ModelNoise, b: ModelNoise) -> ModelNoise {
        let sum = a.value + b.value;
        let value = match self.model {
            NoiseModelName::BgvKpz21
            | NoiseModelName::BgvWorstCase
            | NoiseModelName::BfvKpz21
            | NoiseModelName::BfvWorstCase => sum + Log2::ONE,
            _ => sum,
        };
        ModelNoise { value, degree: a.degree.max(b.degree) }
    }

    /// Returns the noise of a product.
    pub(crate) fn mul(&self, a: ModelNoise, b: ModelNoise) -> ModelNoise {
        let (product, sum) = (a.value * b.value, a.value + b.value);
        let (n, t, delta, delta_m) = (self.n, self.t, self.delta, self.delta_m);
        let ternary = 1.0 + 2.0 * n / 3.0;
        let mut degree = a.degree.max(b.degree);
        let value = match self.model {
            NoiseModelName::BgvKpz21 | NoiseModelName::BgvWorstCase => {
                product * (delta * t) + (sum + Log2::ONE) * (n * t / 2.0).floor()
            }
            NoiseModelName::BgvMp24 => product * n,
            NoiseModelName::BgvMono => product,
            NoiseModelName::BfvKpz21 | NoiseModelName::BfvWorstCase => {
                product * (delta * t) / self.modulus
                    + sum * (delta * t / 2.0 * (4.0 + delta_m))
                    + Log2::of((1.0 + delta_m + delta * delta_m) / 2.0)
            }
            NoiseModelName::BfvBmcm23 => {
                let nt2 = Log2::of(t).pow(2.0) * n;
                let mut value = product * nt2 / self.modulus.pow(2.0) + sum * nt2 * (1.0 / 12.0);
                if !a.value.is_zero() && !b.value.is_zero() {
                    let weighted =
                        a.value * f64::from(a.degree + 1) + b.value * f64::from(b.degree + 1);
                    value = value + weighted * (ternary / 12.0) * nt2;
                    degree += 1;
                }
                value
            }
            NoiseModelName::BfvCanonEmb => {
                product * t / self.modulus + sum * t * (TAIL * (n / 12.0 * ternary).sqrt())
            }
        };
        ModelNoise { value, degree }
    }

    /// Returns the noise after a modulus switch from a level to the next lower one (BGV).
    pub(crate) fn modulus_switch(&self, a: ModelNoise, level: usize) -> ModelNoise {
        let q = self.q(level);
        let rounding = 1.0 + 2.0 * self.n / 3.0;
        let value = match self.model {
            NoiseModelName::BgvMp24 => {
                a.value / q.pow(2.0) + Log2::of(self.t).pow(2.0) * (rounding / 12.0)
            }
            NoiseModelName::BgvMono => a.value / q + self.scaling_bound(),
            _ => a.value / q + Log2::of(f64::midpoint(1.0, self.delta_m)),
        };
        ModelNoise { value, ..a }
    }

    /// Returns the noise after a hybrid key switch at a level, for a rotation or a relinearization.
    pub(crate) fn switch_key(&self, a: ModelNoise, level: usize) -> ModelNoise {
        let level = if self.model.is_bfv() { self.params.max_level() } else { level };
        let digits = self.params.n_key_switch_digits();
        let chunks = (level + 1).div_ceil(digits) as f64 + 1.0;
        let rounding = 1.0 + 2.0 * self.n / 3.0;
        let (s2, n) = (SIGMA * SIGMA, self.n);
        let added = match self.model {
            NoiseModelName::BgvKpz21
            | NoiseModelName::BgvWorstCase
            | NoiseModelName::BfvKpz21
            | NoiseModelName::BfvWorstCase => {
                Log2::of(chunks * self.delta * TAIL * SIGMA / 2.0)
                    + Log2::of(f64::midpoint(1.0, self.delta_m))
            }
            NoiseModelName::BgvMp24 => {
                Log2::of(self.t).pow(2.0) * (chunks * n * s2 / 12.0)
                    + Log2::of(self.t).pow(2.0) * (rounding / 12.0)
            }
            NoiseModelName::BgvMono => {
                let special = &self.params.p;
                let all = special.iter().fold(Log2::ONE, |all, &p| all * prime(p));
                let largest = special.iter().max().map_or(Log2::ONE, |&p| prime(p));
                let count = (digits * (level + 1)) as f64;
                let errors = Log2::of(TAIL * self.t * n * (s2 / 12.0).sqrt());
                Log2::of(count).sqrt() * largest.pow(level.div_ceil(digits) as f64) * errors / all
                    + self.scaling_bound() * (special.len() as f64).sqrt()
            }
            NoiseModelName::BfvBmcm23 => {
                Log2::of(self.t).pow(2.0) * (chunks * n * s2 / 12.0) + Log2::of(rounding / 12.0)
            }
            NoiseModelName::BfvCanonEmb => Log2::ZERO,
        };
        ModelNoise { value: a.value + added, ..a }
    }

    /// Returns the bits of noise that users see.
    pub(crate) fn bits(&self, noise: ModelNoise) -> f64 {
        match self.model {
            NoiseModelName::BgvKpz21 | NoiseModelName::BgvWorstCase => {
                (noise.value * self.t).bits()
            }
            NoiseModelName::BgvMp24 | NoiseModelName::BfvBmcm23 => {
                let quantile = (-(32.0_f64.exp2().recip()) / self.n).exp();
                f64::midpoint(1.0, noise.value.bits()) + erf_inv(quantile).log2()
            }
            _ => noise.value.bits(),
        }
    }

    /// Returns the noise budget at a level, in bits.
    pub(crate) fn total_bits(&self, level: usize) -> f64 {
        let sum = |primes: &[u64]| primes.iter().map(|&q| prime(q).bits()).sum::<f64>();
        match self.model {
            NoiseModelName::BfvKpz21 | NoiseModelName::BfvWorstCase | NoiseModelName::BfvBmcm23 => {
                self.modulus.bits() - self.t.log2() - 1.0
            }
            _ => sum(&self.params.q[..=level.min(self.params.max_level())]) - 1.0,
        }
    }

    /// Returns the noise that rounding adds in the canonical embedding.
    fn scaling_bound(&self) -> Log2 {
        let rounding = 1.0 + 2.0 * self.n / 3.0;
        Log2::of(TAIL * self.t * (self.n / 12.0 * rounding).sqrt())
    }

    fn q(&self, level: usize) -> Log2 {
        prime(self.params.q[level.min(self.params.max_level())])
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "the logarithm of a rounded prime differs in the 53rd bit"
)]
fn prime(q: u64) -> Log2 {
    Log2::of(q as f64)
}

/// Evaluates the inverse of the error function like HEIR's `lib/Utils/MathUtils.cpp`: by
/// polynomials in `ln(1 - x^2)` that were fitted for single precision (N. Juffa's `my_erfinvf`).
/// For arguments closer to 1 than single precision can represent, the result is up to 1.5 times the
/// exact one, so the shown bits are up to 0.8 too many. Users compare with HEIR's numbers, so the
/// error is kept.
fn erf_inv(x: f64) -> f64 {
    const CENTRAL: [f64; 10] = [
        5.438_778_32e-9,
        1.432_854_48e-7,
        1.227_747_93e-6,
        1.129_636_26e-7,
        -5.615_307_60e-5,
        -1.476_976_32e-4,
        2.314_686_78e-3,
        1.153_925_81e-2,
        -2.320_154_76e-1,
        8.862_268_92e-1,
    ];
    const OUTER: [f64; 9] = [
        3.036_975_67e-10,
        2.932_431_01e-8,
        1.221_503_34e-6,
        2.841_089_55e-5,
        3.935_529_68e-4,
        3.026_988_12e-3,
        4.831_857_98e-3,
        -2.646_461_43e-1,
        8.400_164_84e-1,
    ];
    let t = ((1.0 - x) * (1.0 + x)).ln();
    let coefficients = if t.abs() > 6.125 { OUTER.as_slice() } else { &CENTRAL };
    coefficients.iter().fold(0.0, |sum, it| sum * t + it) * x
}

#[cfg(test)]
#[path = "formulas_tests.rs"]
mod tests;
