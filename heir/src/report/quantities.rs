//! The numbers of a ciphertext for an editor: level, polynomials, scale and noise.
//!
//! *Law.* Each number comes from its own analysis; an unknown number is absent, and nothing is
//! assumed instead. Levels are remaining levels, as in HEIR's annotations. *Cost.* For each value,
//! linear in the depth and the functions of the program.

use std::fmt;

use noisy_syntax::{Ir, Value};

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::{Ciphertext, Dimension, Level};
use crate::facts::noise::HeirNoise;
use crate::facts::scale::ScaleFacts;
use crate::facts::value_range::ValueRangeFacts;
use crate::real_range::RealRange;
use crate::report::sites::ReportSites;
use crate::text::setting::Scheme;
use crate::text::types;

/// The numbers of a ciphertext.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CiphertextNumbers {
    /// The remaining levels.
    pub remaining_levels: Option<u32>,
    /// The used levels.
    pub used_levels: Option<u32>,
    /// The number of polynomials.
    pub dimension: Option<u32>,
    /// The logarithm to base 2 of the scale (CKKS).
    pub scale: Option<i64>,
    /// The range of the encrypted numbers (CKKS).
    pub range: Option<RealRange>,
    /// The noise in bits (BGV and BFV); infinite if it has no bound.
    pub noise: Option<f64>,
    /// The noise budget at the level of the value, in bits.
    pub budget: Option<f64>,
    /// True if HEIR has not placed the ops that use levels yet, so that there are no levels to
    /// show.
    pub is_without_level_uses: bool,
}

impl CiphertextNumbers {
    /// Returns true if no number is known.
    pub fn is_empty(&self) -> bool {
        *self == Self { is_without_level_uses: self.is_without_level_uses, ..Self::default() }
    }

    /// Returns the remaining bits of noise; negative if the noise exceeds the budget.
    pub(crate) fn remaining_bits(&self) -> Option<f64> {
        Some(self.budget? - self.noise?)
    }

    /// Returns true if the noise exceeds the budget.
    pub fn is_over_budget(&self) -> bool {
        self.remaining_bits().is_some_and(|it| it < 0.0)
    }
}

/// Writes `L3 D2 s45 in [-1, 1]`; unknown numbers are left out.
impl fmt::Display for CiphertextNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.remaining_levels.map(|it| format!("L{it}"));
        let dimension = self.dimension.map(|it| format!("D{it}"));
        let scale = self.scale.map(|it| format!("s{it}"));
        let range = self.range.map(|it| format!("in {it}"));
        let parts: Vec<String> = [level, dimension, scale, range].into_iter().flatten().collect();
        f.write_str(&parts.join(" "))
    }
}

/// Computes the numbers of the ciphertexts of a program from the facts.
#[derive(Clone, Copy, Debug)]
pub struct ProgramNumbers<'a> {
    pub ir: &'a Ir,
    pub heir: &'a CiphertextFacts,
    pub sites: &'a ReportSites,
    pub noise: Option<HeirNoise<'a>>,
    pub scales: Option<ScaleFacts<'a>>,
    pub ranges: Option<ValueRangeFacts<'a>>,
}

impl ProgramNumbers<'_> {
    /// Returns the numbers of a value; `None` for a plaintext and if no number is known.
    pub fn of(&self, value: Value) -> Option<CiphertextNumbers> {
        let Self { ir, heir, .. } = *self;
        let Ciphertext::Encrypted { level, dimension } = heir.ciphertext(value) else {
            return None;
        };
        let is_unplaced = self.is_without_level_uses(value);
        let used = heir.level(ir, value).filter(|_| !is_unplaced);
        let left = match level {
            Level::All => used.map(|_| 0),
            _ => used.and_then(|it| self.sites.fresh_levels(ir, heir, value).checked_sub(it)),
        };
        let bits = self.noise.and_then(|it| it.bits(value));
        let quantity = CiphertextNumbers {
            remaining_levels: left,
            used_levels: used,
            is_without_level_uses: is_unplaced,
            dimension: match dimension {
                Dimension::Known(n) if !heir.is_dimension_unchecked(value) => Some(n),
                _ => None,
            },
            scale: self.scales.and_then(|it| it.log2(value)),
            range: self.ranges.and_then(|it| it.of(value)),
            noise: bits,
            budget: bits.and(self.noise).and_then(|it| it.budget(value)),
        };
        (!quantity.is_empty()).then_some(quantity)
    }

    /// Returns true if no op of the program uses levels yet, and HEIR will place such ops. BFV uses
    /// no levels, and the types of a lowered program state them.
    fn is_without_level_uses(&self, value: Value) -> bool {
        let Self { ir, heir, sites, .. } = *self;
        !sites.has_management()
            && heir.largest_level_around(ir, value) == 0
            && !types::has_lowered_type(ir, value)
            && heir.setting_of_value(ir, value).is_none_or(|it| it.scheme != Some(Scheme::Bfv))
    }

    /// Returns the name of the noise model, if the program has parameters for one.
    pub fn model(&self) -> Option<&'static str> {
        self.noise.map(|it| it.name())
    }
}
